//! Tests of the choice of the traced run, of the remains of dead writers, and of the descriptions of nodes and flows.

use super::*;
use crate::trace::{NetworkRequest, trace_network};

const DELAY: &str = "topology.host_link.delay";

#[test]
fn a_request_that_fits_no_run_or_several_says_what_to_add() {
    let bench = Bench::new();
    let file = bench.file().display().to_string();
    let refused = |options: &Options, request: &Request| {
        bench.refused(options, request).to_string().replace(&file, "x.toml")
    };
    let one = flow(0);
    let both = Options::default();
    assert_eq!(
        refused(&both, &Request { seed: None, point: Vec::new(), ..one.clone() }),
        "x.toml: 8 runs match. Add --scheme dctcp|newreno and --seed K (from 1 to 2) and \
         --point topology.host_link.delay=1us|5us."
    );
    assert_eq!(refused(&both, &one), "x.toml: 2 runs match. Add --scheme dctcp|newreno.");
    let dctcp = only("dctcp", &[]);
    assert_eq!(
        refused(&dctcp, &Request { seed: None, ..one.clone() }),
        "x.toml: 2 runs match. Add --seed K (from 1 to 2)."
    );
    assert_eq!(
        refused(&dctcp, &Request { seed: Some(3), ..one.clone() }),
        "x.toml: --seed: the experiment has no seed 3. Use a seed from 1 to 2, or --set 'seeds=[3]'."
    );
    let listed = only("dctcp", &[("seeds", "[4, 7]")]);
    assert_eq!(
        refused(&listed, &Request { seed: Some(3), ..one.clone() }),
        "x.toml: --seed: the experiment has no seed 3. Use one of 4, 7, or --set 'seeds=[3]'."
    );
    assert_eq!(
        refused(&listed, &Request { seed: None, ..one.clone() }),
        "x.toml: 2 runs match. Add --seed K (one of 4, 7)."
    );
    let at = |key: &str, value: &str| Request { point: vec![(key.into(), value.into())], ..one.clone() };
    assert_eq!(
        refused(&dctcp, &at(DELAY, "2us")),
        "x.toml: --point: \"topology.host_link.delay\" never has the value 2us. Use one of 1us, 5us."
    );
    assert_eq!(
        refused(&dctcp, &at("time.flows", "3")),
        "x.toml: --point: \"time.flows\" is not swept. Use one of topology.host_link.delay; --set changes any other key."
    );
    let unswept = only("dctcp", &[(DELAY, "1us")]);
    assert_eq!(
        refused(&unswept, &at("time.flows", "3")),
        "x.toml: --point: \"time.flows\" is not swept. Use --set, which changes any key: the experiment has no sweep."
    );
    let twice =
        Request { point: vec![(DELAY.into(), "1us".into()), (DELAY.into(), "5us".into())], ..one.clone() };
    assert_eq!(refused(&dctcp, &twice), "x.toml: --point: no run matches. Use a point of the sweep.");
    assert_eq!(refused(&dctcp, &flow(3)), "x.toml: --flow: the run has no flow 3. Use a flow from 0 to 2.");
    // A number is the same with a fraction of zero.
    let numbers = only("dctcp", &[(DELAY, "1us")]);
    let chosen = bench.trace(&numbers, &Request { point: Vec::new(), ..one }).unwrap();
    assert_eq!(chosen.flow.src, 0);
}

#[test]
fn files_of_dead_writers_are_removed_and_no_others() {
    let bench = Bench::new();
    fs::create_dir(bench.out()).unwrap();
    let temporary = bench.out().join(".trace-7.parquet.1.tmp");
    let kept = ["notes.txt", "trace-9.parquet", "x.tmp"];
    let locked = bench.out().join(".trace-8.pcap.2.tmp");
    let writer = File::create(&locked).unwrap();
    writer.lock().unwrap();
    for network in [false, true] {
        fs::write(&temporary, "half").unwrap();
        kept.iter().for_each(|name| fs::write(bench.out().join(name), "mine").unwrap());
        if network {
            let request = NetworkRequest {
                seed: Some(1),
                point: flow(0).point,
                senders: Vec::new(),
                from_ps: 0,
                until_ps: u64::MAX,
                most_hops: usize::MAX,
            };
            let go_on = &mut |_| ControlFlow::Continue(());
            trace_network(&bench.file(), &only("dctcp", &[]), &request, &bench.out(), go_on).unwrap();
        } else {
            bench.trace(&only("dctcp", &[]), &flow(0)).unwrap();
        }
        assert!(!temporary.exists() && locked.exists(), "{network}");
        assert!(kept.iter().all(|name| fs::read_to_string(bench.out().join(name)).unwrap() == "mine"));
    }
}

#[test]
fn nodes_have_the_tiers_of_a_fat_tree_and_flows_their_ends() {
    let bench = Bench::new();
    let text = EXPERIMENT.replace(
        "kind = \"single_switch\"\nhosts = 3\n",
        "kind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nfabric_link = { rate = \"40Gbps\", delay = \"2us\" }\n",
    );
    fs::write(bench.file(), text).unwrap();
    let request = NetworkRequest {
        seed: Some(2),
        point: flow(0).point,
        senders: vec![2],
        from_ps: 0,
        until_ps: u64::MAX,
        most_hops: usize::MAX,
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    let report = trace_network(&bench.file(), &only("dctcp", &[]), &request, &bench.out(), go_on).unwrap();
    let tiers: Vec<u8> = report.nodes.iter().map(|node| node.tier).collect();
    assert_eq!(tiers, [0, 0, 0, 0, 1, 1, 2, 2]);
    let seen: Vec<_> =
        report.flows.iter().map(|flow| (flow.id, flow.src, flow.dst, flow.bytes, flow.start_ps)).collect();
    let expected = [
        (0, 0, 1, Some(3_020), 5_000_000),
        (1, 0, 1, Some(438_000), 40_000_000),
        (2, 2, 1, Some(438_000), 40_000_000),
    ];
    assert_eq!(seen, expected);
    let fabric: Vec<_> = report.links.iter().filter(|link| link.rate_bps == 40_000_000_000).collect();
    assert!(fabric.len() == 8 && fabric.iter().all(|link| link.delay_ps == 2_000_000), "{fabric:?}");
}
