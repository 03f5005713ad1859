//! The ends of sends: rows in full, random jobs against the graph of their ops, and mistakes.

use priolane_core::units::Rate;

use super::*;

/// The options of a user, as on the command line.
fn with(name: &str, eager: Option<u64>, nic_rate: Option<&str>) -> Options {
    Options { send_ends: SendEnds::stated(Some(name), eager, nic_rate).unwrap(), ..Options::default() }
}

/// Rank 0 sends, and computes when the send has ended; rank 1 computes before it receives.
fn one_message(bytes: u64) -> String {
    format!(
        "num_ranks 2\nrank 0 {{\ns: send {bytes}b to 1\nc: calc 7\nc requires s\n}}\n\
         rank 1 {{\nb: calc 50\nr: recv {bytes}b from 0\nr requires b\n}}\n"
    )
}

fn rows(text: &str, options: &Options) -> String {
    written(&goal_with(text, options).unwrap()).split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_rank_goes_on_at_the_end_that_is_asked_for() {
    let text = one_message(70_000);
    let begin = "0,0,1,70000,,,\n0,1,1,0,,,50\n";
    let check = |options: &Options, rest: &str| assert_eq!(rows(&text, options), format!("{begin}{rest}"));
    check(&with("at-once", None, None), "0,0,0,0,,,7\n");
    // 70 kB are 560,000 bits: 5.6 us at 100 Gbps.
    let at_nic = with("at-nic", None, Some("100Gbps"));
    assert_eq!(rows(&text, &at_nic), "0,0,1,70000,,,\n0,0,0,0,,,5600\n0,1,1,0,,,50\n0,0,0,0,,1,7\n");
    // The computation waits for the message, whose arrival at host 1 host 0 knows after the app's delay.
    check(&with("delivered", Some(0), None), "0,0,0,0,,0,7\n");
    // The receive is a join at host 1, which a message of one byte tells host 0.
    let received = with("received", Some(0), None);
    check(&received, "0,1,1,0,,0+1,\n0,1,0,1,,2,\n0,0,0,0,,3,7\n");
    assert_eq!(goal_with(&text, &received).unwrap().job.unwrap().receipts, 1);
}

#[test]
fn schedules_have_the_rules_of_their_simulator_unless_others_are_stated() {
    // LogGOPSim: eager up to 65,535 bytes, above them a rendezvous.
    let (eager, at_once) = (one_message(65_535), with("at-once", None, None));
    assert_eq!(rows(&eager, &Options::default()), rows(&eager, &at_once));
    let above = one_message(65_536);
    assert_eq!(rows(&above, &Options::default()), rows(&above, &with("received", None, None)));
    assert_ne!(rows(&above, &Options::default()), rows(&above, &at_once));
    // A NIC takes time for each message, and nobody waits for it if messages of this size end at once.
    assert_ne!(rows(&eager, &with("at-nic", None, Some("1Gbps"))), rows(&eager, &at_once));
    assert_eq!(rows(&eager, &with("at-nic", Some(65_535), Some("1Gbps"))), rows(&eager, &at_once));
    // ASTRA-sim: a COMM_SEND ends with the arrival, however small; the messages of a collective do not.
    let directory = tempfile::tempdir().unwrap();
    let sends = trace(&[
        (&[(1, 1), (3, 5)], &[("comm_size", 9), ("comm_dst", 1), ("comm_tag", 2)]),
        (&[(1, 2), (3, 4), (7, 3), (5, 1)], &[]),
    ]);
    let receives = trace(&[(&[(1, 7), (3, 6)], &[("comm_size", 9), ("comm_src", 0), ("comm_tag", 2)])]);
    let list = |options: &Options| {
        written(&chakra(directory.path(), &[sends.clone(), receives.clone()], options).unwrap())
    };
    assert!(list(&Options::default()).ends_with("0,0,1,9,,,\n0,0,0,0,,0,3000\n"));
    assert!(list(&at_once).ends_with("0,0,1,9,,,\n0,0,0,0,,,3000\n"));
    let rings = tempfile::tempdir().unwrap();
    let ring = |options: &Options| written(&chakra(rings.path(), &reducing(), options).unwrap());
    assert_eq!(ring(&Options::default()), ring(&at_once));
}

#[test]
fn messages_of_random_jobs_arrive_when_the_graph_says_for_every_end() {
    let mut random = Stream::new(9, Purpose::Endpoint, 0);
    let (mut receipts, mut different) = (0, 0);
    let rate = Rate::from_bps(1_000_000_000).unwrap();
    for _ in 0..priolane_rounds::rounds(800, 30_000) {
        let job = drawn(&mut random);
        let text = text(&job);
        let at_once = arrivals_of_job(&job, SendEnd::AtOnce);
        for end in [SendEnd::AtNic(rate), SendEnd::Delivered, SendEnd::Received] {
            let stated = SendEnds { larger: Some(end), eager: Some(0) };
            let options = Options { send_ends: Some(stated), ..Options::default() };
            let imported = goal_with(&text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let expected = arrivals_of_job(&job, end);
            assert_eq!(Some(arrivals_of_rows(&imported.rows)), expected, "{end:?}\n{text}");
            receipts += imported.job.clone().unwrap().receipts;
            different += u64::from(expected != at_once);
            let list = written(&ImportedFlows { job: None, ..imported.clone() });
            if !imported.rows.is_empty() {
                let read = crate::flow_list::read_rows(list.as_bytes(), "f", 4);
                assert_eq!(read.unwrap(), imported.rows, "{list}");
            }
        }
    }
    assert!(receipts > 500 && different > 500, "{receipts} {different}");
}

#[test]
fn two_ranks_that_send_before_they_receive_wait_for_each_other_only_in_a_rendezvous() {
    let op = Drawn::Send;
    let rank = |to| {
        let send = DrawnOp { kind: op(70_000 + to as u64, to), requires: vec![], irequires: vec![] };
        let receive =
            DrawnOp { kind: Drawn::Receive(70_001 - to as u64, to), requires: vec![0], irequires: vec![] };
        vec![send, receive]
    };
    let job = [rank(1), rank(0)];
    for (name, end) in [("at-once", SendEnd::AtOnce), ("delivered", SendEnd::Delivered)] {
        assert!(arrivals_of_job(&job, end).is_some());
        assert!(goal_with(&text(&job), &with(name, None, None)).is_ok());
    }
    assert_eq!(arrivals_of_job(&job, SendEnd::Received), None);
    let found = goal(&text(&job)).unwrap_err().to_string();
    assert!(found.starts_with("x.goal: op 1 of rank 0, counted from 0, waits for itself"), "{found}");
    assert!(found.contains("--send-ends at-once"), "{found}");
}

#[test]
fn options_that_do_not_fit_together_have_one_message_each() {
    let stated = |name, eager, rate| SendEnds::stated(name, eager, rate).unwrap_err().to_string();
    for (found, expected) in [
        (stated(Some("later"), None, None), "--send-ends: unknown end \"later\""),
        (stated(Some("at-nic"), None, None), "--send-ends: at-nic needs the rate of the NICs"),
        (stated(Some("at-nic"), None, Some("100")), "--nic-rate: "),
        (stated(Some("at-nic"), None, Some("0Gbps")), "--nic-rate: "),
        (stated(Some("delivered"), None, Some("1Gbps")), "--nic-rate: the rate of the NICs is for"),
        (stated(None, None, Some("1Gbps")), "--nic-rate: the rate of the NICs is for"),
        (stated(Some("at-once"), Some(5), None), "--eager: all sends end at once"),
        (stated(None, Some(1 << 48), None), "--eager: 281474976710656 is above 2^47"),
    ] {
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(SendEnds::stated(None, None, None), Ok(None));
}
