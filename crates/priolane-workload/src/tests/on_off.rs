use priolane_core::sizes::SizeDistribution;

use super::*;
use crate::offered::{Fabric, Window, offered};

const MEAN_BYTES: f64 = 20_000.0;

fn mean(value: f64) -> OpenLoop {
    let load = Load { of: LoadOf::Host, counts: Counts::Payload, value };
    let sizes = SizeDistribution::fixed(MEAN_BYTES).unwrap();
    OpenLoop { sizes: sizes_of(sizes), load, reach: DestinationScope::AnyHost }
}

fn on_off(per: Bursts, burst_load: f64, burst_flows: u32) -> App {
    let (open_loop, draw) = (mean(0.5), SizeDraw::Independent);
    App::OnOff(OnOff { open_loop, draw, burst_load, burst_flows, per, reading: BurstModel::Bursts })
}

/// Returns the start times in seconds.
fn starts(flows: &[FlowSpec]) -> Vec<f64> {
    flows.iter().map(|flow| flow.start.as_secs_f64()).collect()
}

/// Returns variance over mean of the numbers of starts in windows of `window` seconds: 1 for Poisson arrivals.
fn dispersion(flows: &[FlowSpec], window: f64) -> f64 {
    let starts = starts(flows);
    let mut counts = vec![0.0; (starts[starts.len() - 1] / window) as usize];
    let whole = counts.len();
    starts.iter().map(|s| (s / window) as usize).filter(|&i| i < whole).for_each(|i| counts[i] += 1.0);
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n / mean
}

#[test]
fn the_mean_load_is_the_asked_one_whatever_the_bursts() {
    let network = Network::new();
    let site = WorkloadContext { until: Until::Time(Time(Span::from_ms(4_000).0)), ..network.site() };
    let WorkloadContext { rack, host_rate, core_rate_bps, frame, .. } = site;
    let fabric = Fabric { rack, host_rate, core_rate_bps, frame };
    let window = Window { from: Time::ZERO, until: Time(Span::from_ms(4_000).0) };
    for bursts in [Bursts::PerHost, Bursts::PerPair] {
        for (burst_load, burst_flows) in [(0.5, 1), (0.7, 4), (2.0, 4), (5.0, 40)] {
            let flows = generate(&on_off(bursts, burst_load, burst_flows), &site).unwrap();
            let load = offered(&flows.iter().copied().collect(), &fabric, window)
                .host_load(site.hosts, Counts::Payload)
                .unwrap();
            // 3125 flows per second from each of 16 hosts: 200,000, in cycles of n flows whose lengths have a
            // relative deviation of 1/sqrt(n). One standard error is 0.22 %, and slightly more because 240 pairs
            // end within a cycle.
            assert!((load / 0.5 - 1.0).abs() < 0.01, "{bursts:?} {burst_load} {burst_flows}: {load}");
        }
    }
}

#[test]
fn the_load_is_that_from_the_first_instant_on() {
    // The first 2 ms of 400 groups: 16 hosts x 3125 flows/s x 2 ms x 400 = 40,000 flows are expected. If each
    // source started with a burst, there would be more than twice as many: a burst of 20 at 4 x 3125 flows/s is
    // over after 1.6 ms.
    let network = Network::new();
    let flows = |group| {
        let until = Until::Time(Time(Span::from_ms(2).0));
        let site = WorkloadContext { group, until, ..network.site() };
        generate(&on_off(Bursts::PerHost, 2.0, 20), &site).unwrap().len()
    };
    let all: usize = (0..400).map(flows).sum();
    // The number in 2 ms varies as if bursts arrived as a whole: deviation about sqrt(40,000 x 16) = 800.
    assert!(all.abs_diff(40_000) < 3_200, "{all}");
}

#[test]
fn arrivals_cluster_as_bursts_do_and_a_burst_load_of_the_mean_is_poisson() {
    let network = Network::new();
    let site = WorkloadContext { hosts: &network.hosts[..1], until: Until::Flows(200_000), ..network.site() };
    let of = |app: &App, window| dispersion(&generate(app, &site).unwrap(), window);
    // 3125 flows/s on average, 12,500 in a burst of 50: busy for 4 ms, idle for 12 ms. Windows of 2 ms within a
    // burst have 25 flows, others none: about (625 + 25) / 4 - 6.25^2 = 123 over 6.25, less at the edges.
    let bursts = of(&on_off(Bursts::PerHost, 2.0, 50), 0.002);
    assert!((8.0..20.0).contains(&bursts), "{bursts}");
    // Over many cycles bursts average out: a cycle has 50 flows and a length with a relative deviation of
    // 1/sqrt(50).
    let long = of(&on_off(Bursts::PerHost, 2.0, 50), 0.4);
    assert!(long < 2.5, "{long}");
    for plain in [
        App::Poisson(Poisson { open_loop: mean(0.5), draw: SizeDraw::Independent }),
        on_off(Bursts::PerHost, 0.5, 50),
    ] {
        let got = of(&plain, 0.002);
        // 32,000 windows: deviation sqrt(2 / 32,000) = 0.8 %.
        assert!((got - 1.0).abs() < 0.04, "{plain:?}: {got}");
    }
}

#[test]
fn idle_times_are_what_the_burst_before_them_asks() {
    // One pair, bursts of 8 flows at 4 times the mean rate: the first gap of a burst includes idle = 3 x busy.
    let network = Network::new();
    let ends = [HostId(0), HostId(5)];
    let site =
        WorkloadContext { hosts: &ends[..1], to: &ends[1..], until: Until::Flows(50_000), ..network.site() };
    let starts = starts(&generate(&on_off(Bursts::PerPair, 2.0, 8), &site).unwrap());
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean_gap = 1.0 / 12_500.0;
    // The index of the first flows of bursts: there the mean gap is 1 + 3 x 8 mean gaps, elsewhere 1.
    let at =
        |place: usize| gaps.iter().skip(place).step_by(8).sum::<f64>() / (gaps.len() / 8) as f64 / mean_gap;
    let mut means: Vec<f64> = (0..8).map(at).collect();
    means.sort_by(f64::total_cmp);
    assert!(means[..7].iter().all(|m| (m - 1.0).abs() < 0.06), "{means:?}");
    assert!((means[7] / 25.0 - 1.0).abs() < 0.03, "{means:?}");
}

#[test]
fn as_the_simulator_counts_there_is_one_burst_and_then_poisson_arrivals() {
    let network = Network::new();
    let ends = [HostId(0), HostId(5)];
    let site =
        WorkloadContext { hosts: &ends[..1], to: &ends[1..], until: Until::Flows(50_000), ..network.site() };
    let (open_loop, draw, burst_flows) = (mean(0.5), SizeDraw::Independent, 10_000);
    let reading = BurstModel::CompatYaps;
    let app =
        App::OnOff(OnOff { open_loop, draw, burst_load: 2.0, burst_flows, per: Bursts::PerPair, reading });
    let flows = generate(&app, &site).unwrap();
    let starts = starts(&flows);
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (burst, rest) = gaps.split_at(9_999);
    let mean_of = |values: &mut dyn Iterator<Item = f64>, count: usize| values.sum::<f64>() / count as f64;
    let first = |gaps: &[f64]| mean_of(&mut gaps.iter().copied(), gaps.len());
    let second = |gaps: &[f64]| mean_of(&mut gaps.iter().map(|gap| gap * gap), gaps.len());
    // Four times as fast within the burst; exponential afterwards: the second moment is twice the square of the
    // mean.
    let ratio = first(rest) / first(burst);
    assert!((ratio / 4.0 - 1.0).abs() < 0.05, "{ratio}");
    let shape = second(rest) / (first(rest) * first(rest));
    assert!((shape / 2.0 - 1.0).abs() < 0.05, "{shape}");
}

#[test]
fn pairs_burst_on_their_own_and_each_gets_its_part() {
    let network = Network::new();
    let site = WorkloadContext { until: Until::Flows(480_000), ..network.site() };
    let flows = generate(&on_off(Bursts::PerPair, 2.0, 4), &site).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    flows.iter().for_each(|flow| *counts.entry((flow.src, flow.dst)).or_insert(0u32) += 1);
    assert_eq!(counts.len(), 16 * 15);
    // 2000 each; cycles of 4 with a relative deviation of 1/2: sqrt(2000) = 45.
    assert!(counts.values().all(|c| c.abs_diff(2000) < 5 * 45), "{counts:?}");
}

#[test]
fn other_hosts_do_not_move_a_sources_bursts_and_seed_and_group_do() {
    let (small, large) = (Network::of(8), Network::of(16));
    let life = |flow: &FlowSpec| (flow.start, flow.size, flow.entropy);
    let app = on_off(Bursts::PerHost, 2.0, 4);
    let (few, many) = (generate(&app, &small.site()).unwrap(), generate(&app, &large.site()).unwrap());
    for host in &small.hosts {
        let of = |flows: &[FlowSpec]| -> Vec<_> {
            flows.iter().filter(|flow| flow.src == *host).map(life).collect()
        };
        assert!(of(&few).len() > 100);
        assert_eq!(of(&few), of(&many), "{host:?}");
    }
    // A pair's bursts do not depend on the other sources either, if its host has the same number of destinations.
    let pairs = on_off(Bursts::PerPair, 2.0, 4);
    let some = generate(&pairs, &WorkloadContext { hosts: &large.hosts[..3], ..large.site() }).unwrap();
    let all = generate(&pairs, &large.site()).unwrap();
    let of = |flows: &[FlowSpec]| -> Vec<_> {
        flows.iter().filter(|f| f.src == HostId(2)).map(|f| (f.dst, life(f))).collect()
    };
    assert_eq!(of(&some), of(&all));
    for other in [WorkloadContext { seed: 2, ..large.site() }, WorkloadContext { group: 1, ..large.site() }] {
        assert_ne!(of(&generate(&pairs, &other).unwrap()), of(&all));
    }
}

#[test]
fn bursts_that_cannot_be_are_refused() {
    let network = Network::new();
    let error = |app: &App| generate(app, &network.site()).unwrap_err();
    for burst_load in [0.49, -1.0, 51.0, f64::NAN, f64::INFINITY] {
        let got = error(&on_off(Bursts::PerHost, burst_load, 4));
        assert_eq!((got.key(), matches!(got, AppError::BurstLoad { .. })), ("burst_load", true));
    }
    for burst_flows in [0, MAX_BURST + 1] {
        assert_eq!(error(&on_off(Bursts::PerHost, 1.0, burst_flows)), AppError::BurstFlows(burst_flows));
    }
    let many = Network::of(600);
    let got = generate(&on_off(Bursts::PerPair, 1.0, 4), &many.site()).unwrap_err();
    assert_eq!(got, AppError::TooManyPairs(600 * 599));
}
