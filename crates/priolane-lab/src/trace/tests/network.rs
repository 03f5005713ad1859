//! Traces of all flows: the same rows as traces of single flows, and what is refused.

use std::collections::BTreeSet;

use super::{Bench, flow, only, read};
use crate::execute::Failure;
use crate::trace::{NetworkReport, NetworkRequest, trace_network};
use priolane_source::InputError;
use std::ops::ControlFlow;

fn request(senders: &[u32]) -> NetworkRequest {
    NetworkRequest {
        seed: Some(1),
        point: flow(0).point,
        senders: senders.to_vec(),
        from_ps: 0,
        until_ps: u64::MAX,
        most_hops: usize::MAX,
    }
}

impl Bench {
    fn network(&self, request: &NetworkRequest) -> Result<NetworkReport, Failure> {
        let progress = &mut |_| ControlFlow::Continue(());
        trace_network(&self.file(), &only("dctcp", &[]), request, &self.out(), progress)
    }
}

#[test]
fn the_rows_of_each_flow_are_those_of_its_own_trace() {
    let bench = Bench::new();
    let report = bench.network(&request(&[1])).unwrap();
    let columns =
        ["flow", "hop", "kind", "offset", "made_ps", "port", "class", "queued_ps", "end_ps", "fate"];
    let (all, _) = read(&report.files[0], &columns);
    let (state, _) = read(&report.files[1], &["flow", "t_ps", "metric", "value"]);
    for id in 0..3 {
        let one = bench.trace(&only("dctcp", &[]), &flow(id)).unwrap();
        assert_eq!((&one.run, &one.digest), (&report.run, &report.digest));
        let own: Vec<&String> = all.iter().filter(|row| row.starts_with(&format!("{id} "))).collect();
        let (expected, _) = read(&one.files[0], &columns);
        assert_eq!(own, expected.iter().collect::<Vec<_>>());
        if id == 1 {
            assert_eq!(state, read(&one.files[1], &["flow", "t_ps", "metric", "value"]).0);
        }
        let flow_info = report.flows.iter().find(|flow| flow.id == id).unwrap();
        assert_eq!(
            (flow_info.src, flow_info.start_ps, flow_info.fct_ps),
            (one.flow.src, one.flow.start_ps, one.flow.fct_ps)
        );
    }
    assert_eq!(report.full_ps, None);
}

#[test]
fn the_network_is_told_by_nodes_and_links() {
    let report = Bench::new().network(&request(&[])).unwrap();
    let names: Vec<(&str, u8)> = report.nodes.iter().map(|node| (node.name.as_str(), node.tier)).collect();
    assert_eq!(&names[..2], [("h0", 0), ("h1", 0)]);
    assert_eq!(names[names.len() - 1], ("s0", 1));
    let first = &report.links[0];
    assert_eq!((first.port.as_str(), first.from, first.to as usize), ("h0->s0", 0, names.len() - 1));
    assert_eq!((first.rate_bps, first.delay_ps), (10_000_000_000, 1_000_000));
}

#[test]
fn a_part_has_the_packets_and_flows_of_its_time() {
    let bench = Bench::new();
    // The first flow is over by 16 us; the others start at 40 us.
    let late = NetworkRequest { from_ps: 30_000_000, ..request(&[]) };
    let report = bench.network(&late).unwrap();
    assert_eq!(report.flows.iter().map(|flow| flow.id).collect::<Vec<_>>(), [1, 2]);
    let full = bench.network(&NetworkRequest { most_hops: 10, ..request(&[]) }).unwrap();
    let (rows, _) = read(&full.files[0], &["flow"]);
    assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), [String::from("0")].into());
    // The six packets of the first flow are ten hops and more; the next one is sent at 40 us.
    assert_eq!(full.full_ps, Some(40_000_000));
}

#[test]
fn a_sender_that_does_not_exist_is_refused() {
    let bench = Bench::new();
    let refused: InputError = match bench.network(&request(&[1, 3])) {
        Err(Failure::Input(error)) => error,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!((refused.key.as_str(), refused.what.as_str()), ("--flow", "the run has no flow 3"));
    assert_eq!(refused.fix, "a flow from 0 to 2");
    assert!(!bench.out().exists());
}

#[test]
fn a_flow_that_waits_has_the_start_that_its_predecessor_gave_it() {
    let bench = Bench::new();
    let list = "start_ns,src,dst,bytes,class,after,delay_ns\n\
                5000,0,1,3020,2,,\n5000,1,2,1460,0,0,1000\n40000,0,1,1460,0,,\n";
    std::fs::write(bench.0.path().join("flows.csv"), list).unwrap();
    let report = bench.network(&request(&[])).unwrap();
    let starts: Vec<u64> = report.flows.iter().map(|flow| flow.start_ps).collect();
    // The first flow is whole 5.8336 us after its start, and the second begins 1 us later.
    assert_eq!(starts, [5_000_000, 11_833_600, 40_000_000]);
    let alone = bench.trace(&only("dctcp", &[]), &flow(1)).unwrap();
    assert_eq!(alone.flow.start_ps, 11_833_600);
}
