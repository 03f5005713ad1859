use std::path::Path;

use priolane_core::rng::{Purpose, Stream};

use priolane_core::ids::CoflowId;

use super::*;
use crate::flow_list::{OptionalColumn, Row, Writer};

mod send_ends;

fn goal(text: &str) -> Result<ImportedFlows, InputError> {
    goal_with(text, &Options::default())
}

fn goal_with(text: &str, options: &Options) -> Result<ImportedFlows, InputError> {
    read_goal(&mut Lines::new(text.as_bytes(), "x.goal"), options)
}

fn written(imported: &ImportedFlows) -> String {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &[OptionalColumn::Coflow, OptionalColumn::After]).unwrap();
    imported.rows.iter().for_each(|row| writer.row(row).unwrap());
    String::from_utf8(out).unwrap()
}

const THREE: &str = "num_ranks 3\n\
    // a chain\n\
    rank 0 {\n\
    l1: calc 1500 cpu 0\n\
    l2: send 64b to 1 tag 7 cpu 0 nic 1\n\
    l2 requires l1\n\
    }\n\
    rank 1 { /* two\n\
    lines */ r1: recv 64b from 0 tag 7\n\
    c: calc 200\n\
    c requires r1\n\
    s: send 10b to 2\n\
    s requires c }\n\
    rank 2 {\n\
    recv 10b from 1\n\
    }\n";

#[test]
fn a_chain_of_ranks_is_a_chain_of_rows() {
    let imported = goal(THREE).unwrap();
    let expected = "start_ns,src,dst,bytes,coflow,after,delay_ns\n\
        0,0,0,0,,,1500\n\
        0,0,1,64,,0,\n\
        0,1,1,0,,1,200\n\
        0,1,2,10,,2,\n";
    assert_eq!(written(&imported), expected);
    let report =
        JobReport { ranks: 3, sends: 2, receives: 2, computations: 2, steps: 2, ..JobReport::default() };
    assert_eq!(imported.job, Some(JobReport { compute_ps: 1_700_000, ..report }));
    assert_eq!((imported.hosts, imported.names.len(), imported.read), (3, 3, 6));
}

#[test]
fn a_rank_goes_on_when_it_has_sent_and_when_it_has_received_and_what_came_before_has_ended() {
    let text = "num_ranks 2\nrank 0 {\na: calc 5\nb: calc 7\ns: send 9b to 1\ns requires a\ns requires b\n\
                c: calc 3\nc requires s\nd: calc 4\nd irequires c\n}\n\
                rank 1 {\na: calc 5\nr: recv 9b from 0\nr requires a\nc: calc 1\nc requires r\n}\n";
    // The send waits for both computations through a join, after which the rank computes.
    let expected = "start_ns,src,dst,bytes,coflow,after,delay_ns\n\
        0,0,0,0,,,5\n0,0,0,0,,,7\n0,1,1,0,,,5\n0,0,0,0,,0+1,\n0,0,1,9,,3,\n0,0,0,0,,3,3\n\
        0,1,1,0,,2+4,\n0,0,0,0,,3,4\n0,1,1,0,,6,1\n";
    assert_eq!(written(&goal(text).unwrap()), expected);
}

#[test]
fn what_a_schedule_lacks_is_counted() {
    let text = "num_ranks 3\nrank 0 {\nsend 5b to 1 tag 1\nsend 0b to 1 tag 2\nsend 8b to 2\nsend 1b to 2 tag 9\n\
                calc 3\ncalc 4\n}\n\
                rank 1 {\nrecv 6b from 0 tag 1\nrecv 0b from -1 tag -1\nrecv 4b from 2\n}\nrank 2 {\nrecv 8b from 0\n}\n";
    let report = goal(text).unwrap().job.unwrap();
    let expected = JobReport {
        ranks: 3,
        sends: 4,
        receives: 4,
        computations: 2,
        steps: 2,
        unmatched_sends: 1,
        unmatched_receives: 1,
        any_source: 1,
        unequal_bytes: 1,
        empty_messages: 1,
        overlapping: 1,
        compute_ps: 4_000,
        ..JobReport::default()
    };
    assert_eq!(report, expected);
}

#[test]
fn computations_overlap_on_one_cpu_and_not_beside_it() {
    let overlapping = |cpus: [u8; 3]| {
        let calc = cpus.map(|cpu| format!("calc 3 cpu {cpu}\n")).concat();
        goal(&format!("num_ranks 2\nrank 0 {{\n{calc}send 5b to 1\n}}\nrank 1 {{\nrecv 5b from 0\n}}\n"))
            .unwrap()
            .job
            .unwrap()
            .overlapping
    };
    // Those that begin while one of their cpu computes: without dependencies, all but the first of each cpu.
    let cases = [([0, 0, 0], 2), ([0, 0, 1], 1), ([0, 1, 0], 1), ([7, 255, 7], 1), ([1, 2, 3], 0)];
    assert_eq!(cases.map(|(cpus, _)| overlapping(cpus)), cases.map(|(_, count)| count));
}

#[test]
fn each_mistake_of_a_schedule_has_a_message_with_its_line() {
    let rank = |lines: &str| format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\n");
    let cases = [
        (String::new(), "x.goal: the schedule has no ranks"),
        ("rank 0 {\n}\n".into(), "x.goal:1: rank 0 is not one of the 0 of num_ranks"),
        ("num_ranks 70000\n".into(), "x.goal:1: \"70000\" is not a whole number up to 65536"),
        ("num_ranks 2\nrank 2 {\n".into(), "x.goal:2: rank 2 is not one of the 2"),
        ("num_ranks 2\nrank 1 {\n".into(), "x.goal: rank 1 does not end"),
        ("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n".into(), "x.goal:4: rank 1 is there twice"),
        ("num_ranks 2\n}\n".into(), "x.goal:2: there is no rank to end"),
        ("num_ranks 2\ncalc 5\n".into(), "x.goal:2: \"calc 5\" is no statement"),
        (rank("a: send 5b to 2"), "x.goal:3: \"2\" is not a whole number up to 1"),
        (rank("a: send -5b to 1"), "x.goal:3: \"-5\" is not a whole number"),
        (rank("a: send 5b to -1"), "x.goal:3: \"-1\" is not a whole number"),
        (rank("a: send 5b from 1"), "x.goal:3: \"send 5b from 1\" is no statement"),
        (rank("a: calc 5 tag 7"), "x.goal:3: \"calc 5 tag 7\" is no statement"),
        (rank("a: calc 5 cpu"), "x.goal:3: \"calc 5 cpu\" is no statement"),
        (rank("a: calc 2246400000000001"), "x.goal:3: \"2246400000000001\" is not"),
        (rank("a: calc 5\na: calc 6"), "x.goal:4: rank 0 has two ops \"a\""),
        (rank("a: calc 5\nb requires a"), "x.goal:4: rank 0 has no op \"b\" above"),
        (rank("a: calc 5\na requires a"), "x.goal: op 0 of rank 0, counted from 0, waits for itself"),
        (
            rank("a: calc 2246400000000000\nb: calc 1\nb requires a"),
            "x.goal: the job takes more than 26 days",
        ),
    ];
    for (text, message) in cases {
        let found = goal(&text).unwrap_err().to_string();
        assert!(found.starts_with(message), "{found}");
    }
}

/// An op as it is drawn: the oracle does not read the text.
#[derive(Clone, Debug)]
enum Drawn {
    Compute(u64),
    Send(u64, usize),
    Receive(u64, usize),
}

#[derive(Clone, Debug)]
struct DrawnOp {
    kind: Drawn,
    requires: Vec<usize>,
    irequires: Vec<usize>,
}

fn drawn(random: &mut Stream) -> Vec<Vec<DrawnOp>> {
    let ranks = 2 + random.below(3) as usize;
    let mut job: Vec<Vec<DrawnOp>> = vec![Vec::new(); ranks];
    for message in 0..random.below(14) {
        let from = random.below(ranks as u64) as usize;
        let to = (from + 1 + random.below(ranks as u64 - 1) as usize) % ranks;
        let own = |random: &mut Stream, rank: usize, kind: Drawn, job: &mut Vec<Vec<DrawnOp>>| {
            let (mut requires, mut irequires) = (Vec::new(), Vec::new());
            for earlier in 0..job[rank].len() {
                match random.below(5) {
                    0 => requires.push(earlier),
                    1 => irequires.push(earlier),
                    _ => {}
                }
            }
            job[rank].push(DrawnOp { kind, requires, irequires });
        };
        let bytes = 2 + message * 17;
        let takes = random.below(4) * 333;
        own(random, from, Drawn::Compute(takes), &mut job);
        own(random, from, Drawn::Send(bytes, to), &mut job);
        own(random, to, Drawn::Receive(bytes, from), &mut job);
    }
    job
}

fn text(job: &[Vec<DrawnOp>]) -> String {
    let mut text = format!("num_ranks {}\n", job.len());
    for (rank, ops) in job.iter().enumerate() {
        text += &format!("rank {rank} {{\n");
        for (place, op) in ops.iter().enumerate() {
            text += &match op.kind {
                Drawn::Compute(ns) => format!("l{place}: calc {ns}\n"),
                Drawn::Send(bytes, to) => format!("l{place}: send {bytes}b to {to} tag 3\n"),
                Drawn::Receive(bytes, from) => format!("l{place}: recv {bytes}b from {from} tag 3\n"),
            };
            op.requires.iter().for_each(|first| text += &format!("l{place} requires l{first}\n"));
            op.irequires.iter().for_each(|first| text += &format!("l{place} irequires l{first}\n"));
        }
        text += "}\n";
    }
    text
}

/// Nanoseconds that a message takes.
fn flight(bytes: u64) -> u64 {
    1_000 + bytes
}

/// Nanoseconds after which another host knows that a message arrived.
const NOTICE: u64 = 1_001;

/// When each message arrives, by its bytes, which differ for all messages: relaxed until nothing changes. `None` if ops wait
/// for each other.
fn arrivals_of_job(job: &[Vec<DrawnOp>], send_end: SendEnd) -> Option<Vec<(u64, u64)>> {
    let mut begin: Vec<Vec<u64>> = job.iter().map(|ops| vec![0; ops.len()]).collect();
    let mut end = begin.clone();
    let mut left = 2 * job.iter().map(Vec::len).sum::<usize>() + 2;
    loop {
        let before = (begin.clone(), end.clone());
        left = left.checked_sub(1)?;
        for (rank, ops) in job.iter().enumerate() {
            for (place, op) in ops.iter().enumerate() {
                let ended = op.requires.iter().map(|&first| before.1[rank][first]);
                let begun = op.irequires.iter().map(|&first| before.0[rank][first]);
                let start = ended.chain(begun).max().unwrap_or(0);
                begin[rank][place] = start;
                end[rank][place] = match op.kind {
                    Drawn::Compute(ns) => start + ns,
                    Drawn::Send(bytes, to) => match send_end {
                        SendEnd::AtOnce => start,
                        SendEnd::AtNic(rate) => start + bytes * 8_000_000_000 / rate.bps(),
                        SendEnd::Delivered => start + flight(bytes) + NOTICE,
                        SendEnd::Received => {
                            let is_receive =
                                |op: &DrawnOp| matches!(op.kind, Drawn::Receive(sent, _) if sent == bytes);
                            before.1[to][job[to].iter().position(is_receive).unwrap()] + NOTICE
                        }
                    },
                    Drawn::Receive(bytes, from) => {
                        let is_send = |op: &DrawnOp| matches!(op.kind, Drawn::Send(sent, _) if sent == bytes);
                        let send = job[from].iter().position(is_send).unwrap();
                        start.max(before.0[from][send] + flight(bytes))
                    }
                };
            }
        }
        if (&begin, &end) == (&before.0, &before.1) {
            break;
        }
    }
    let sends = job.iter().zip(&begin).flat_map(|(ops, begin)| ops.iter().zip(begin));
    let mut arrivals: Vec<(u64, u64)> = sends
        .filter_map(|(op, begin)| match op.kind {
            Drawn::Send(bytes, _) => Some((bytes, begin + flight(bytes))),
            _ => None,
        })
        .collect();
    arrivals.sort_unstable();
    Some(arrivals)
}

/// The same of the rows, in nanoseconds.
fn arrivals_of_rows(rows: &[Row]) -> Vec<(u64, u64)> {
    let mut ends = vec![0; rows.len()];
    let mut arrivals = Vec::new();
    // Rows name rows before them only.
    for (place, row) in rows.iter().enumerate() {
        let signal = |first: &crate::flow_list::After| {
            let other = &rows[first.row.index()];
            ends[first.row.index()] + row.stated_delay(first, other).map_or(NOTICE, |delay| delay.0 / 1_000)
        };
        let start = row.after.iter().map(signal).max().unwrap_or(0);
        let bytes = row.flow.size.unwrap();
        ends[place] =
            start + if bytes == 0 { row.delay.map_or(0, |delay| delay.0 / 1_000) } else { flight(bytes) };
        if bytes > 1 {
            arrivals.push((bytes, ends[place]));
        }
    }
    arrivals.sort_unstable();
    arrivals
}

#[test]
fn messages_of_random_jobs_arrive_when_the_graph_says() {
    let mut random = Stream::new(4, Purpose::Endpoint, 0);
    let (mut messages, mut joins) = (0, 0);
    for _ in 0..priolane_rounds::rounds(1_500, 50_000) {
        let job = drawn(&mut random);
        let text = text(&job);
        let imported = goal(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(Some(arrivals_of_rows(&imported.rows)), arrivals_of_job(&job, SendEnd::AtOnce), "{text}");
        let report = imported.job.unwrap();
        assert_eq!((report.unmatched_sends, report.unmatched_receives, report.unequal_bytes), (0, 0, 0));
        messages += report.sends;
        joins += report.steps;
        // What is written is a list that can be read.
        let list = written(&ImportedFlows { job: None, ..goal(&text).unwrap() });
        if !imported.rows.is_empty() {
            assert_eq!(
                crate::flow_list::read_rows(list.as_bytes(), "f", 4).unwrap(),
                imported.rows,
                "{list}"
            );
        }
    }
    assert!(messages > 5_000 && joins > 1_000, "{messages} {joins}");
}

#[test]
fn ranks_get_hosts_in_the_order_that_is_asked_for() {
    let hosts = |order, first, ranks, of| {
        let placement = Placement { order, first };
        placement
            .hosts(ranks, of, "x")
            .map(|(hosts, all)| (hosts.iter().map(|host| host.0).collect::<Vec<_>>(), all))
    };
    assert_eq!(hosts(Order::Packed, 0, 3, None), Ok((vec![0, 1, 2], 3)));
    assert_eq!(hosts(Order::Packed, 2, 3, Some(8)), Ok((vec![2, 3, 4], 8)));
    assert_eq!(hosts(Order::RoundRobin { rack: 4 }, 0, 5, Some(8)), Ok((vec![0, 4, 1, 5, 2], 8)));
    let (random, _) = hosts(Order::Random { seed: 7 }, 0, 5, Some(8)).unwrap();
    let (rest, _) = hosts(Order::Random { seed: 7 }, 5, 3, Some(8)).unwrap();
    let mut all: Vec<u16> = random.iter().chain(&rest).copied().collect();
    assert_ne!(all, (0..8).collect::<Vec<_>>());
    all.sort_unstable();
    assert_eq!(all, (0..8).collect::<Vec<_>>(), "jobs that follow each other share no host");
    assert_eq!(hosts(Order::Packed, 0, 5, Some(2)), Ok((vec![0, 1, 0, 1, 0], 2)));
    assert!(hosts(Order::Packed, 8, 5, Some(8)).is_err());
    assert!(hosts(Order::Packed, 1, 65_536, None).is_err());
    // Ranks of one host pass messages on at once.
    let folded = goal_with(THREE, &Options { hosts: Some(2), ..Options::default() }).unwrap();
    assert_eq!((folded.fold.unwrap().to, folded.job.unwrap().local), (2, 0));
    let one = "num_ranks 4\nrank 0 {\na: calc 5\ns: send 9b to 2\ns requires a\n}\nrank 2 {\nr: recv 9b from 0\nc: calc 2\n\
               c requires r\n}\n";
    let folded = goal_with(one, &Options { hosts: Some(2), ..Options::default() }).unwrap();
    let expected = "start_ns,src,dst,bytes,coflow,after,delay_ns\n0,0,0,0,,,5\n0,0,0,0,,0,2\n";
    assert_eq!((written(&folded).as_str(), folded.job.unwrap().local), (expected, 1));
}

/// A trace: `GlobalMetadata`, then nodes of fields (number, value), and attributes (name, value).
type TraceNode<'a> = (&'a [(u64, u64)], &'a [(&'a str, u64)]);

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

fn field(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put(out, number << 3 | 2);
    put(out, bytes.len() as u64);
    out.extend(bytes);
}

fn trace(nodes: &[TraceNode<'_>]) -> Vec<u8> {
    let mut out = vec![0];
    for (fields, attributes) in nodes {
        let mut node = Vec::new();
        for &(number, value) in *fields {
            put(&mut node, number << 3);
            put(&mut node, value);
        }
        field(&mut node, 2, b"a name");
        for &(name, value) in *attributes {
            let mut attribute = Vec::new();
            field(&mut attribute, 1, name.as_bytes());
            put(&mut attribute, 9 << 3);
            put(&mut attribute, value);
            field(&mut node, 10, &attribute);
        }
        put(&mut out, node.len() as u64);
        out.extend(node);
    }
    out
}

fn chakra(directory: &Path, traces: &[Vec<u8>], options: &Options) -> Result<ImportedFlows, InputError> {
    for (rank, trace) in traces.iter().enumerate() {
        std::fs::write(directory.join(format!("job.{rank}.et")), trace).unwrap();
    }
    read_chakra(&directory.join("job"), options).map(|(imported, _)| imported)
}

#[test]
fn a_trace_computes_sends_and_receives() {
    let directory = tempfile::tempdir().unwrap();
    let first = trace(&[
        (&[(1, 10), (3, 4), (7, 3)], &[]),
        (&[(1, 11), (3, 5), (5, 10)], &[("comm_size", 4_096), ("comm_dst", 1), ("comm_tag", 2)]),
        (&[(1, 12), (3, 4), (4, 11), (5, 99)], &[]),
    ]);
    let second = trace(&[
        (&[(1, 7), (3, 6)], &[("comm_size", 4_096), ("comm_src", 0), ("comm_tag", 2)]),
        (&[(1, 8), (3, 4), (7, 5), (4, 7)], &[]),
    ]);
    let imported = chakra(directory.path(), &[first, second], &Options::default()).unwrap();
    let expected =
        "start_ns,src,dst,bytes,coflow,after,delay_ns\n0,0,0,0,,,3000\n0,0,1,4096,,0,\n0,1,1,0,,1,5000\n";
    assert_eq!(written(&imported), expected);
    let report = imported.job.unwrap();
    assert_eq!((report.ranks, report.untimed, report.missing_dependencies), (2, 1, 1));
    assert_eq!((report.computations, report.sends, report.receives), (3, 1, 1));
}

/// Four ranks that compute for 2 us, reduce 1 kB, and compute again.
fn reducing() -> Vec<Vec<u8>> {
    let nodes: [TraceNode<'_>; 3] = [
        (&[(1, 0), (3, 4), (7, 2)], &[]),
        (&[(1, 1), (3, 7), (4, 0)], &[("comm_type", 0), ("comm_size", 1_000)]),
        (&[(1, 2), (3, 4), (7, 9), (5, 1)], &[]),
    ];
    vec![trace(&nodes); 4]
}

#[test]
fn a_collective_is_the_messages_of_its_algorithm() {
    let directory = tempfile::tempdir().unwrap();
    for (name, algorithm, messages, bytes) in [
        ("ring", Algorithm::Ring, 24, 250),
        ("tree", Algorithm::Tree, 6, 1_000),
        ("halving_doubling", Algorithm::HalvingDoubling, 16, 500),
    ] {
        let options = Options { collectives: Some(algorithm), ..Options::default() };
        let imported = chakra(directory.path(), &reducing(), &options).unwrap();
        let flows: Vec<&Row> = imported.rows.iter().filter(|row| !row.is_step()).collect();
        assert_eq!((flows.len(), flows[0].flow.size), (messages, Some(bytes)), "{name}");
        assert!(flows.iter().all(|row| row.flow.coflow == CoflowId::new(0) && !row.after.is_empty()));
        let report = imported.job.unwrap();
        assert_eq!(
            (report.collectives, report.compute_ps, report.unmatched_sends),
            (1, 11_000_000, 0),
            "{name}"
        );
    }
}

#[test]
fn traces_that_do_not_fit_together_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let fault = |traces: &[Vec<u8>]| {
        let error = chakra(directory.path(), traces, &Options::default()).unwrap_err();
        error.to_string().split_once("/job").unwrap().1.to_owned()
    };
    let send = |to| trace(&[(&[(1, 0), (3, 5)], &[("comm_size", 5), ("comm_dst", to)])]);
    assert!(fault(&[send(3)]).starts_with(": rank 0 sends to rank 3, which has no trace"));
    let no_size = trace(&[(&[(1, 0), (3, 5)], &[("comm_dst", 0)])]);
    assert!(fault(&[no_size]).starts_with(".0.et: node 0 has no comm_size"));
    let twice = trace(&[(&[(1, 4), (3, 4)], &[]), (&[(1, 4), (3, 4)], &[])]);
    assert!(fault(&[twice]).starts_with(".0.et: two nodes have the id 4"));
    let long = trace(&[(&[(1, 4), (3, 4), (7, 1 << 50)], &[])]);
    assert!(fault(&[long]).starts_with(".0.et: node 4 takes more than 26 days"));
    let unknown = trace(&[(&[(1, 4), (3, 7)], &[("comm_size", 5), ("comm_type", 77)])]);
    assert!(fault(&[unknown]).starts_with(".0.et: node 4 has the unknown comm_type 77"));
    let of = |bytes| trace(&[(&[(1, 4), (3, 7)], &[("comm_size", bytes), ("comm_type", 2)])]);
    let found = fault(&[of(5), of(6)]);
    assert!(found.contains("AllGather of 6 bytes at rank 1, and AllGather of 5 bytes at rank 0"), "{found}");
    let two = trace(&[
        (&[(1, 4), (3, 7)], &[("comm_size", 5), ("comm_type", 2)]),
        (&[(1, 5), (3, 7)], &[("comm_size", 5), ("comm_type", 2)]),
    ]);
    assert!(fault(&[of(5), two]).contains("rank 1 has 2 collectives of a group of which rank 0 has 1"));
    assert!(fault(&[vec![0, 5, 8]]).starts_with(".0.et: record 1 is cut off"));
    assert!(fault(&[vec![0, 1, 15]]).starts_with(".0.et: record 1 is no node"));
}

#[test]
fn damaged_jobs_are_refused_or_read_and_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Stream::new(8, Purpose::Ties, 0);
    let mut read = 0;
    for _ in 0..priolane_rounds::rounds(400, 20_000) {
        let mut text = THREE.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let place = random.below(text.len() as u64) as usize;
            let with = THREE.as_bytes()[random.below(THREE.len() as u64) as usize];
            match random.below(3) {
                0 => text[place] = with,
                1 => text.insert(place, with),
                _ => drop(text.remove(place)),
            }
        }
        read += u64::from(goal(&String::from_utf8(text).unwrap()).is_ok());
        let mut traces = reducing();
        let trace = &mut traces[random.below(4) as usize];
        for _ in 0..1 + random.below(3) {
            let place = random.below(trace.len() as u64) as usize;
            trace[place] = random.below(256) as u8;
        }
        read += u64::from(chakra(directory.path(), &traces, &Options::default()).is_ok());
    }
    assert!(read > 100, "{read}");
}
