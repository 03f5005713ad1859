use super::*;
use crate::admission_job::{AdmittedFlow, tests::aequitas};
use crate::host_jobs::tests::{host_job, plain};
use crate::job::{Bins, Change, FlowChange};

/// Returns the bounds for host 0 at 100 Mbit/s, which sends messages 1 and 2 of a kilobyte, receives message 3 and the
/// endless flow 4, and reports after 10 s.
fn bounds() -> ReportBounds {
    let back = |id, kind| Flow { src: 1, dst: 0, kind, bytes: 1_000_000, ..plain(id) };
    let late = Flow { start_ns: 2_000_000_000, ..plain(2) };
    let flows = vec![plain(1), late, back(3, FlowKind::Message), back(4, FlowKind::Endless)];
    let mut job = host_job(0, flows);
    job.line_bps = 100_000_000;
    job.bins = Some(Bins { every_ns: 1_000, count: 2 });
    job.changes = vec![FlowChange { at_ns: 5, flow: 1, change: Change::Abort }];
    ReportBounds::new(job, Duration::from_secs(10))
}

fn sent(id: u32, at_ns: u64) -> SentMessage {
    let (retransmits, timeouts, changes) = (3, 2, 0);
    let acked_ns = Some(at_ns + 5);
    SentMessage { id, at_ns, admitted: None, acked_ns, retransmits, timeouts, changes, failed: None }
}

fn right() -> HostReport {
    let mut report = HostReport::empty(0);
    report.sent = vec![SentMessage { changes: 1, ..sent(1, 7) }, sent(2, 2_000_000_001)];
    report.arrived = vec![ArrivedMessage { id: 3, at_ns: 9_000_000_000, missing: 1 }];
    report.progress = vec![FlowProgress { id: 4, bytes: vec![600_000, 400_000] }];
    report.wrong = 4;
    report.counts = [("marked".to_owned(), 1_000), ("delivered_bytes".to_owned(), 2_000)].into();
    report
}

fn read(bounds: &ReportBounds, report: &HostReport) -> Result<HostReport, String> {
    bounds.read(&serde_json::to_string(report).unwrap())
}

/// Returns the error for the valid report after `change`.
fn error(change: impl FnOnce(&mut HostReport)) -> String {
    let mut report = right();
    change(&mut report);
    let what = read(&bounds(), &report).unwrap_err();
    what.strip_prefix("its report cannot be: ").map_or(what.clone(), str::to_owned)
}

#[test]
fn a_report_that_can_be_is_taken_as_it_is() {
    assert_eq!(read(&bounds(), &right()), Ok(right()));
    assert_eq!(read(&bounds(), &HostReport::empty(0)), Ok(HostReport::empty(0)));
}

#[test]
fn times_beyond_the_run_cannot_be() {
    // 10 s, a hundredth of it for drift, and 100 ms.
    let last = 10_200_000_000;
    let mut report = right();
    report.arrived[0].at_ns = last;
    report.sent[0].acked_ns = Some(last);
    assert!(read(&bounds(), &report).is_ok());
    let late = error(|report| report.arrived[0].at_ns = last + 1);
    assert_eq!(late, "message 3 arrived at 10200000001 ns, and the run lasted 10200000000 ns at most");
    let late = error(|report| report.sent[0].at_ns = u64::MAX);
    assert!(late.starts_with("message 1 was sent at 18446744073709551615 ns"), "{late}");
    let late = error(|report| report.sent[0].acked_ns = Some(last + 1));
    assert!(late.starts_with("message 1 was acknowledged at 10200000001 ns"), "{late}");
    // A clock that may be wrong by a nanosecond more.
    report.arrived[0].at_ns = last + 1;
    assert!(read(&bounds().with_clock_error(1), &report).is_ok());
}

#[test]
fn what_comes_before_its_start_or_faster_than_the_line_cannot_be() {
    let early = error(|report| report.sent[1].at_ns = 1_799_999_999);
    assert_eq!(early, "message 2 was sent at 1799999999 ns, and is due at 2000000000 ns");
    let early = error(|report| report.sent[0].acked_ns = Some(6));
    assert_eq!(early, "message 1 was acknowledged at 6 ns, and sent at 7 ns");
    // 10 MB at 100 Mbit/s take 800 ms; half of that is allowed for, less 200 ms for clocks.
    let mut job = HostJob::clone(&bounds().job);
    job.flows[2].bytes = 10_000_000;
    let bounds = ReportBounds::new(job, Duration::from_secs(10));
    let came = |at_ns, missing| {
        let arrived = vec![ArrivedMessage { id: 3, at_ns, missing }];
        read(&bounds, &HostReport { arrived, ..HostReport::empty(0) })
    };
    assert!(came(200_000_000, 0).is_ok());
    let early = came(199_999_999, 0).unwrap_err();
    assert!(
        early.ends_with("arrived at 199999999 ns, and is due and sent at 200000000 ns at the earliest"),
        "{early}"
    );
    assert!(came(0, 10_000_000).is_ok());
}

#[test]
fn counts_beyond_what_the_run_has_room_for_cannot_be() {
    // 84 bytes at 100 Mbit/s in 10.2 s are 1,517,857 packets.
    let many = error(|report| report.sent[0].retransmits = u32::MAX);
    assert_eq!(many, "4294967298 packets were sent again, and the line carries 3045714 at most");
    let many = error(|report| report.sent[1].timeouts = 1_020_002);
    assert_eq!(many, "message 2 had 1020002 timeouts, and the run had time for 1020001 at most");
    assert_eq!(error(|report| report.sent[0].changes = 2), "message 1 was changed 2 times of 1");
    assert_eq!(error(|report| report.wrong = 5), "5 wrong messages of 4");
    let missing = error(|report| report.arrived[0].missing = 1_000_001);
    assert_eq!(missing, "1000001 bytes of message 3 are missing, and it has 1000000");
    let bytes = error(|report| report.progress[0].bytes = vec![u64::MAX; 2]);
    assert_eq!(bytes, "36893488147419103230 bytes of flow 4 arrived");
    assert_eq!(error(|report| report.progress[0].bytes = vec![1]), "flow 4 has 1 bins of 2");
    let count = error(|report| report.counts = [("marked".to_owned(), u64::MAX)].into());
    assert_eq!(count, "marked is 18446744073709551615, and 1020010000 at most in that time");
    let count = error(|report| report.counts = [("\u{1b}[2J".to_owned(), 0)].into());
    assert_eq!(count, "it counts \"�[2J\", which no host does");
}

#[test]
fn messages_of_others_and_messages_twice_cannot_be() {
    assert_eq!(error(|report| report.host = 1), "its report is of host 1");
    assert_eq!(error(|report| report.sent[0].id = 3), "message 3 is not sent by this host");
    assert_eq!(error(|report| report.sent[0].id = 99), "message 99 is not sent by this host");
    assert_eq!(error(|report| report.sent[1] = report.sent[0].clone()), "message 1 was sent twice");
    assert_eq!(error(|report| report.arrived[0].id = 1), "message 1 is not for this host");
    assert_eq!(error(|report| report.arrived[0].id = 4), "message 4 is not for this host");
    assert_eq!(error(|report| report.arrived.push(report.arrived[0].clone())), "message 3 arrived twice");
    assert_eq!(error(|report| report.progress[0].id = 3), "flow 3 is not an endless one for this host");
    assert_eq!(error(|report| report.progress.push(report.progress[0].clone())), "flow 4 is counted twice");
}

#[test]
fn admission_is_believed_only_of_a_host_that_has_it() {
    let given = |class| Some(AdmittedFlow { class, held_ns: 0 });
    let call = |flow, at_ns, call| AdmissionEvent { at_ns, flow, call };
    assert_eq!(error(|report| report.sent[0].admitted = given(1)), "message 1 was admitted by no policy");
    let asked = AdmissionCall::Asked { given: Some(1) };
    assert_eq!(
        error(|report| report.admission = vec![call(1, 7, asked)]),
        "admission was called 1 times of 0"
    );
    let mut job = HostJob::clone(&bounds().job);
    job.scheme.admission = Some(aequitas());
    let bounds = ReportBounds::new(job, Duration::from_secs(10));
    let mut report = right();
    report.sent[0].admitted = given(15);
    // Asked, and told of its end.
    report.admission =
        vec![call(1, 7, asked), call(1, 9, AdmissionCall::Aborted), call(2, 9, asked), call(2, 9, asked)];
    assert!(read(&bounds, &report).is_ok(), "{:?}", read(&bounds, &report));
    let error = |change: &dyn Fn(&mut HostReport)| {
        let mut report = report.clone();
        change(&mut report);
        read(&bounds, &report).unwrap_err().split_once("cannot be: ").unwrap().1.to_owned()
    };
    assert_eq!(error(&|report| report.sent[0].admitted = given(16)), "message 1 was admitted to class 16");
    let end = |elapsed_ns, rtt_ns, timeouts| {
        AdmissionCall::Completed(EndOfMessage {
            elapsed_ns,
            rtt_ns,
            retransmitted: 0,
            retransmits: 0,
            timeouts,
        })
    };
    for (event, what) in [
        (call(3, 7, asked), "message 3 is not sent by this host"),
        (call(1, u64::MAX, asked), "message 1 was passed to admission at 18446744073709551615 ns"),
        (call(1, 7, AdmissionCall::Asked { given: Some(16) }), "message 1 was admitted to class 16"),
        (call(1, 7, end(u64::MAX, 0, 0)), "message 1 was delivered at 18446744073709551615 ns"),
        (call(1, 7, end(0, u64::MAX, 0)), "message 1 had a round trip at 18446744073709551615 ns"),
        (call(1, 7, end(0, 0, u32::MAX)), "message 1 had 4294967295 timeouts"),
    ] {
        let found = error(&|report| report.admission[0] = event);
        assert!(found.starts_with(what), "{found}");
    }
    let many = error(&|report| report.admission.push(call(1, 9, AdmissionCall::Aborted)));
    assert_eq!(many, "admission was called 5 times of 4");
}

#[test]
fn texts_are_shown_without_what_a_terminal_obeys() {
    let mut report = right();
    report.sent[0].failed = Some(format!("\u{1b}[31m{}", "A".repeat(10_000)));
    report.not_real_time = Some("x\ny\u{202e}".to_owned());
    let read = read(&bounds(), &report).unwrap();
    let failed = read.sent[0].failed.clone().unwrap();
    assert!(failed.starts_with("�[31mA") && failed.chars().count() == FAILURE_SHOWN, "{failed}");
    assert_eq!(read.not_real_time.unwrap(), "x␊y�");
    let none = bounds().read("{\"host\":0,\"\u{1b}[2J\":1}").unwrap_err();
    assert!(none.starts_with("its report: ") && !none.contains('\u{1b}'), "{none}");
}
