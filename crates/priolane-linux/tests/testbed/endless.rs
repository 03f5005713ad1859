//! Tests of endless flows: their rates over time, their aborts, and their weights.

use priolane_linux::job::{Bins, Change, Flow, FlowChange, FlowKind};
use priolane_linux::network::Network;
use priolane_linux::run::{Ends, RunJob, TestbedReport};
use serde_json::json;

use crate::made::{line, plan};
use crate::runs::{dctcp, fct_ms, flow, job, measured, port, scheme};

const BIN_MS: u64 = 100;

/// Returns an endless flow to host 2, whose 1 GB would take 80 s.
fn endless(id: u32, src: u16, start_ms: u64) -> Flow {
    Flow { kind: FlowKind::Endless, ..flow(id, (src, 2), 1_000_000_000, start_ms) }
}

/// Returns the job of a run that ends exactly after `count` bins.
fn for_bins(count: u32, job: RunJob) -> RunJob {
    let every_ns = BIN_MS * 1_000_000;
    let bins = Some(Bins { every_ns, count: count + 1 });
    RunJob { bins, ends: Ends::AtLimit, limit_ns: u64::from(count) * every_ns, ..job }
}

/// Returns the payload rate of a flow in each bin, in Mbit/s.
fn rates(measured: &TestbedReport, id: u32) -> Vec<f64> {
    let progress = measured.hosts[2].progress.iter().find(|flow| flow.id == id).unwrap();
    progress.bytes.iter().map(|&bytes| bytes as f64 * 8.0 / (BIN_MS as f64 * 1e3)).collect()
}

fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

#[test]
fn an_endless_flow_is_counted_by_bin_until_it_is_aborted_and_others_go_on() {
    let flows = vec![endless(0, 0, 0), endless(1, 1, 500), flow(2, (1, 0), 100_000, 1_100)];
    let abort = FlowChange { at_ns: 1_000_000_000, flow: 0, change: Change::Abort };
    let job =
        RunJob { changes: vec![abort], ..job(plan("e", Network::star(3, &line(port()))), dctcp(), flows) };
    let Some(measured) = measured(&for_bins(50, job)) else { return };
    let (first, second) = (rates(&measured, 0), rates(&measured, 1));
    println!("Mbit/s in bins of 100 ms: {first:.1?}, {second:.1?}");
    // 1456 of 1538 bytes on the wire are payload. What a switch has let through by the end of a bin may not have been read until
    // then, so that a single bin may have more than the line carries meanwhile, and all bins until then have not.
    let most = 100.0 * 1_456.0 / 1_538.0;
    let mut sum = 0.0;
    for (bin, (one, other)) in first.iter().zip(&second).enumerate() {
        sum += one + other;
        assert!(sum <= 1.01 * most * (bin + 1) as f64, "until bin {bin}: {sum}");
    }
    assert_eq!(second[..5], [0.0; 5], "before its start");
    // Hosts on a busy machine may be late: the abort has three seconds more.
    assert_eq!(first[40..50], [0.0; 10], "after its abort");
    assert!(first[..40].iter().sum::<f64>() > 0.0, "{first:?}");
    assert!(second[40..50].iter().sum::<f64>() > 0.0, "{second:?}");
    assert!(measured.elapsed_ns >= 5_000_000_000);
    let sent = |id| measured.hosts.iter().flat_map(|host| &host.sent).find(|sent| sent.id == id).unwrap();
    assert_eq!([0, 1].map(|id| (&sent(id).failed, sent(id).acked_ns)), [(&None, None); 2]);
    assert_eq!([0, 1].map(|id| sent(id).changes), [1, 0]);
    // A message beside them is received whole; what is counted is not.
    assert!(fct_ms(&measured, 2) > 8.0);
    assert_eq!(measured.hosts[2].arrived, []);
    assert_eq!(measured.hosts.iter().map(|host| host.wrong).sum::<u64>(), 0);
    assert_eq!(measured.hosts[2].counts["receiving_bytes"], 0);
}

/// Other tests check that hosts pass changes on in order. Rates on real hosts depend on the machine and are only printed.
#[test]
fn endless_flows_go_on_when_their_weights_change() {
    let paccp = json!({ "kind": "paccp", "r_cos": 3, "min_rto": "300ms", "initial_rto": "300ms" });
    let paid = |flow, w_milli| Flow { w_milli, ..flow };
    let flows = vec![paid(endless(0, 0, 0), 1_000), paid(endless(1, 1, 0), 4_000)];
    let weight = |flow, w_milli| FlowChange {
        at_ns: 1_500_000_000,
        flow,
        change: Change::Weights { theta_bps: None, w_milli },
    };
    let changes = vec![weight(0, 4_000), weight(1, 1_000)];
    let job = RunJob { changes, ..job(plan("p", Network::star(3, &line(port()))), scheme(paccp), flows) };
    let Some(measured) = measured(&for_bins(30, job)) else { return };
    let (low, high) = (rates(&measured, 0), rates(&measured, 1));
    let [early, late] = [5..15, 20..30].map(|bins| mean(&high[bins.clone()]) / mean(&low[bins]));
    println!("four times the weight has {early:.2} times the rate, a quarter of it {late:.2} times");
    for rates in [&low, &high] {
        assert!(mean(&rates[..15]) > 0.0 && mean(&rates[15..]) > 0.0, "{rates:?}");
    }
    let mut sent = measured.hosts.iter().flat_map(|host| &host.sent).collect::<Vec<_>>();
    sent.sort_by_key(|sent| sent.id);
    let ends: Vec<_> = sent.iter().map(|sent| (sent.id, sent.changes, sent.failed.as_ref())).collect();
    assert_eq!(ends, [(0, 1, None), (1, 1, None)]);
}

#[test]
fn a_run_ends_at_its_limit_although_flows_start_and_change_later() {
    let flows = vec![endless(0, 0, 0), endless(1, 1, 9_000)];
    let abort = FlowChange { at_ns: 8_000_000_000, flow: 0, change: Change::Abort };
    let job =
        RunJob { changes: vec![abort], ..job(plan("l", Network::star(3, &line(port()))), dctcp(), flows) };
    let Some(measured) = measured(&for_bins(3, job)) else { return };
    assert!((300_000_000..8_000_000_000).contains(&measured.elapsed_ns), "{} ns", measured.elapsed_ns);
    let sent: Vec<u32> = measured.hosts.iter().flat_map(|host| &host.sent).map(|sent| sent.id).collect();
    assert_eq!(sent, [0]);
}
