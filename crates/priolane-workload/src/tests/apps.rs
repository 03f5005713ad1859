use super::*;
use crate::listed::ListedFlows;
use crate::offered::{Fabric, Volume, Window, offered};
use std::collections::BTreeMap;

fn incast() -> Incast {
    Incast {
        epochs: Epochs::Every,
        period: Some(Span::from_ms(10)),
        load: None,
        fan_in: 5,
        size: 30_000,
        receiver: Some(HostId(2)),
        starts: Starts::within(Span::ZERO),
    }
}

#[test]
fn incast_has_whole_epochs_of_distinct_senders() {
    let network = Network::new();
    let flows = generate(&App::Incast(incast()), &network.site()).unwrap();
    // Epochs at 0, 10 .. 990 ms.
    assert_eq!(flows.len(), 100 * 5);
    let mut senders = [0u32; 16];
    for (k, epoch) in (0..).zip(flows.chunks(5)) {
        assert!(epoch.iter().all(|f| f.start == Time(k * Span::from_ms(10).0) && f.dst == HostId(2)));
        assert!(epoch.windows(2).all(|f| f[0].src < f[1].src) && epoch.iter().all(|f| f.src != f.dst));
        epoch.iter().for_each(|f| senders[f.src.index()] += 1);
    }
    // Each of 15 hosts is drawn 500 / 15 = 33 times, with a standard deviation of 4.7.
    assert!(senders.iter().enumerate().all(|(h, n)| if h == 2 { *n == 0 } else { (14..54).contains(n) }));
}

#[test]
fn incast_draws_receivers_and_spreads_starts() {
    let network = Network::new();
    let jitter = Span::from_us(100);
    let app = Incast {
        epochs: Epochs::Poisson,
        period: Some(Span::from_ms(1)),
        receiver: None,
        starts: Starts::within(jitter),
        ..incast()
    };
    let site = WorkloadContext { until: Until::Flows(9_998), ..network.site() };
    let flows = generate(&App::Incast(app), &site).unwrap();
    // Whole epochs: 9998 flows require 2000 epochs.
    assert_eq!(flows.len(), 10_000);
    let mut received = BTreeMap::new();
    flows.iter().for_each(|flow| *received.entry(flow.dst).or_insert(0u32) += 1);
    assert_eq!(received.len(), 16);
    assert!(received.values().all(|n| n % 5 == 0 && (400..850).contains(n)), "{received:?}");
    // 2000 gaps of 1 ms: 2 s, with a standard deviation of 45 ms.
    let last = flows.last().unwrap().start.as_secs_f64();
    assert!((1.8..2.2).contains(&last), "{last}");
    let plain = generate(&App::Incast(Incast { starts: Starts::within(Span::ZERO), ..app }), &site).unwrap();
    let late: Vec<u64> = by_sender(&flows).zip(by_sender(&plain)).map(|(a, b)| a.0 - b.0).collect();
    assert!(late.iter().all(|&ps| ps <= jitter.0));
    let mean = late.iter().map(|&ps| ps as f64).sum::<f64>() / 1e4;
    assert!((mean / (0.5 * jitter.0 as f64) - 1.0).abs() < 0.03, "{mean}");
}

/// Returns starts in order, sender by sender: jitter changes the k-th start of a sender by at most the jitter.
fn by_sender(flows: &[FlowSpec]) -> impl Iterator<Item = Time> {
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| (flow.src, flow.start));
    flows.into_iter().map(|flow| flow.start)
}

#[test]
fn incast_refuses_what_cannot_be() {
    let network = Network::new();
    let error = |app: Incast| generate(&App::Incast(app), &network.site()).unwrap_err();
    for fan_in in [0, 16] {
        assert_eq!(error(Incast { fan_in, ..incast() }), AppError::FanIn { asked: fan_in, available: 15 });
    }
    // Any of the 16 hosts may receive, and sends nothing then.
    let drawn = Incast { receiver: None, fan_in: 16, ..incast() };
    assert_eq!(error(drawn), AppError::FanIn { asked: 16, available: 15 });
    assert_eq!(error(Incast { period: Some(Span::ZERO), ..incast() }), AppError::Period);
    assert_eq!(error(Incast { size: 0, ..incast() }), AppError::Size(0));
    assert_eq!(error(Incast { period: Some(Span(1)), ..incast() }), AppError::TooMany);
    let far = Some(HostId(99));
    assert_eq!(error(Incast { receiver: far, ..incast() }), AppError::UnknownHost(HostId(99)));
}

#[test]
fn an_incast_comes_as_often_as_its_load_says() {
    let network = Network::new();
    let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.3 };
    let app = Incast { period: None, load: Some(load), receiver: None, ..incast() };
    let site = network.site();
    let flows = generate(&App::Incast(app), &site).unwrap();
    // 5 flows of 30 kB at 0.3 of 16 links: every 1.2 Mbit / (0.3 x 16 x rate).
    let period = 1.2e6 / (0.3 * 16.0 * site.host_rate.bps() as f64);
    let second = flows[5].start.as_secs_f64();
    assert!((second / period - 1.0).abs() < 1e-9, "{second} is not {period}");
    let bits: f64 = flows.iter().map(|flow| 8.0 * flow.size.unwrap() as f64).sum();
    let Until::Time(end) = site.until else { panic!("a window") };
    let offered = bits / (16.0 * site.host_rate.bps() as f64 * end.as_secs_f64());
    assert!((offered / 0.3 - 1.0).abs() < 0.01, "{offered}");
    // On the wire the same load is fewer flows.
    let wire = Load { counts: Counts::Wire, ..load };
    let fewer = generate(&App::Incast(Incast { load: Some(wire), ..app }), &site).unwrap();
    assert!(fewer.len() < flows.len());
}

#[test]
fn a_permutation_has_each_host_once_at_both_ends() {
    let network = Network::new();
    let jitter = Span::from_us(10);
    let app = App::Permutation(Permutation { size: Some(1000), starts: Starts { start: Span(7), jitter } });
    let flows = generate(&app, &network.site()).unwrap();
    let ends = |end: fn(&FlowSpec) -> HostId| distinct(&flows.iter().map(end).collect::<Vec<_>>());
    assert_eq!(flows.len(), 16);
    assert_eq!((ends(|f| f.src), ends(|f| f.dst)), (network.hosts.clone(), network.hosts.clone()));
    assert!(flows.iter().all(|f| f.src != f.dst && (7..=7 + jitter.0).contains(&f.start.0)));
    let one = WorkloadContext { hosts: &network.hosts[..1], ..network.site() };
    assert_eq!(generate(&app, &one).unwrap_err(), AppError::NoDestination(HostId(0)));
}

#[test]
fn all_derangements_are_equally_likely() {
    let network = Network::of(4);
    let app = App::Permutation(Permutation { size: None, starts: Starts::within(Span::ZERO) });
    let mut counts = BTreeMap::new();
    for seed in 0..9_000 {
        let flows = generate(&app, &WorkloadContext { seed, ..network.site() }).unwrap();
        let image: Vec<u16> = flows.iter().map(|flow| flow.dst.0).collect();
        *counts.entry(image).or_insert(0) += 1;
    }
    // Four elements have 9 derangements; 1000 each, plus or minus 5 standard deviations of 30.
    assert_eq!(counts.len(), 9);
    assert!(counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
}

fn shift(by: u32) -> Rule {
    Rule::Shift(Shift { by })
}

fn long_lived(pairs: Pairs) -> App {
    App::LongLived(LongLived { pairs, size: None, starts: Starts::within(Span::ZERO) })
}

fn ends(flows: &[FlowSpec]) -> Vec<(u16, u16)> {
    flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
}

#[test]
fn long_lived_pairs_are_as_listed() {
    let network = Network::new();
    let pair = |src, dst, count, path| PairFlows { src: HostId(src), dst: HostId(dst), count, path };
    let listed = long_lived(Pairs::Listed(vec![pair(4, 1, 2, Some(3)), pair(0, 5, 1, None)]));
    let flows = generate(&listed, &network.site()).unwrap();
    assert_eq!(ends(&flows), [(0, 5), (4, 1), (4, 1)]);
    assert_eq!((flows[1].entropy, flows[2].entropy, flows[0].size), (3, 3, None));
    let error = |pairs| generate(&long_lived(Pairs::Listed(pairs)), &network.site()).unwrap_err();
    assert_eq!(error(vec![]), AppError::Empty);
    assert_eq!(error(vec![pair(1, 1, 1, None)]), AppError::ToItself(HostId(1)));
    assert_eq!(error(vec![pair(1, 16, 1, None)]), AppError::UnknownHost(HostId(16)));
    assert_eq!(error(vec![pair(1, 2, u32::MAX, None)]), AppError::TooMany);
}

#[test]
fn long_lived_rules_name_the_pairs() {
    let network = Network::of(8);
    let rule = |rule| {
        ends(&generate(&long_lived(Pairs::ByRule(RulePairs { rule, count: 1 })), &network.site()).unwrap())
    };
    assert_eq!(rule(Rule::AllPairs).len(), 8 * 7);
    assert_eq!(rule(Rule::OtherRacks).len(), 8 * 4);
    let shifted = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 0), (6, 1), (7, 2)];
    assert_eq!(rule(shift(3)), shifted);
    assert_eq!(rule(shift(11)), shifted);
    assert_eq!(rule(Rule::ToOne(ToOne { host: HostId(2) })), [0, 1, 3, 4, 5, 6, 7].map(|src| (src, 2)));
    let still = long_lived(Pairs::ByRule(RulePairs { rule: shift(8), count: 1 }));
    assert_eq!(generate(&still, &network.site()).unwrap_err(), AppError::ToItself(HostId(0)));
}

#[test]
fn listed_flows_keep_what_is_theirs() {
    let network = Network::new();
    let mut second = flow(5, 1, 2, Some(10));
    (second.class, second.deadline) = (3, Some(Time(9)));
    let list = vec![flow(8, 1, 3, None), second];
    let site = WorkloadContext { group: 2, ..network.site() };
    let listed = |list: Vec<FlowSpec>| ListedFlows::plain(FlowList::from(list)).traffic(&site);
    let mut flows: Vec<FlowSpec> = listed(list).unwrap().flows.iter().collect();
    flows.sort_by_key(|flow| flow.start);
    assert_eq!(flows[0], FlowSpec { group: 2, entropy: flows[0].entropy, ..second });
    assert_eq!((flows[1].start, flows[1].size), (Time(8), None));
    assert_ne!(flows[0].entropy, flows[1].entropy);
    let error = |list| listed(list).unwrap_err();
    assert_eq!(error(vec![]), AppError::Empty);
    assert_eq!(error(vec![flow(0, 1, 1, None)]), AppError::ToItself(HostId(1)));
    assert_eq!(error(vec![flow(0, 1, 99, None)]), AppError::UnknownHost(HostId(99)));
    assert_eq!(error(vec![flow(0, 1, 2, Some(0))]), AppError::Size(0));
    assert_eq!(error(vec![flow(u64::MAX, 1, 2, None)]), AppError::TooLate);
}

#[test]
fn merged_lists_are_ordered_and_numbered() {
    let of = |group, flows: &[FlowSpec]| flows.iter().map(|f| FlowSpec { group, ..*f }).collect::<FlowList>();
    let first = of(0, &[flow(5, 9, 1, None), flow(5, 9, 2, None), flow(7, 0, 1, None)]);
    let second = of(1, &[flow(4, 3, 1, None), flow(5, 2, 1, None)]);
    let merged = merge(vec![second.clone(), first.clone()]);
    assert_eq!(merged, merge(vec![first, second]));
    let got: Vec<_> = merged.iter().map(|f| (f.id.0, f.start.0, f.group, f.src.0, f.dst.0)).collect();
    assert_eq!(got, [(0, 4, 1, 3, 1), (1, 5, 0, 9, 1), (2, 5, 0, 9, 2), (3, 5, 1, 2, 1), (4, 7, 0, 0, 1)]);
}

#[test]
fn offered_load_counts_hosts_core_payload_and_wire() {
    let rack = [0, 0, 1];
    let (host_rate, core_rate_bps) = (Rate::from_gbps(1), 2_000_000_000);
    let fabric = Fabric { rack: &rack, host_rate, core_rate_bps, frame: Frame::ETHERNET };
    let us = |us| Span::from_us(us).0;
    let flows = FlowList::from_iter([
        flow(us(1), 0, 1, Some(1460)),
        flow(us(2), 0, 2, Some(2920)),
        flow(us(3), 1, 2, None),
        flow(us(0), 1, 2, Some(999)),
        flow(us(101), 1, 2, Some(999)),
    ]);
    let window = Window { from: Time(us(1)), until: Time(us(101)) };
    let got = offered(&flows, &fabric, window);
    assert_eq!((got.flows, got.endless), (2, 1));
    assert_eq!(got.sent[0], Volume { payload: 4380, wire: 3 * 1538 });
    assert_eq!(got.received[2], Volume { payload: 2920, wire: 2 * 1538 });
    // 100 us at 1 Gbps carry 12500 B; at the core's 2 Gbps 25000 B.
    assert_eq!(got.host_load(&[HostId(0)], Counts::Payload), Some(4380.0 / 12500.0));
    assert_eq!(got.host_load(&[HostId(0), HostId(1)], Counts::Wire), Some(3.0 * 1538.0 / 25000.0));
    assert_eq!(got.core_load(Counts::Payload), Some(2920.0 / 25000.0));
    let no_core = offered(&flows, &Fabric { core_rate_bps: 0, ..fabric }, window);
    assert_eq!((no_core.core_load(Counts::Wire), no_core.host_load(&[], Counts::Wire)), (None, None));
}

#[test]
fn app_errors_name_the_key_and_the_cure() {
    let message = |error: AppError| error.in_file("a.toml", "group.all").to_string();
    assert_eq!(
        message(AppError::Load(80.0)),
        "a.toml: group.all.load.value: the load 80 is out of range. Use a share above 0 and at most 20, \
         such as 0.8 for 80 %."
    );
    assert_eq!(
        message(AppError::FanIn { asked: 16, available: 15 }),
        "a.toml: group.all.fan_in: fan_in is 16, but 15 hosts can send to one receiver. Use a number from 1 \
         to that number of hosts."
    );
    assert_eq!(
        message(AppError::TooMany),
        "a.toml: group.all: there would be more than 50 million flows. Use a shorter time or a lower load."
    );
}
