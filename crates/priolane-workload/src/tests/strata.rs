//! Stratified sizes: the distribution of each flow, and the load of all flows.

use priolane_core::sizes::{Interpolation, Point, SizeDistribution, whole_bytes};

use super::*;
use crate::offered::{Fabric, Window, offered};

fn law(rows: &[(f64, f64)]) -> SizeDistribution {
    let points = rows.iter().map(|&(bytes, cdf)| Point { bytes, cdf }).collect();
    SizeDistribution::new(points, Interpolation::Linear).unwrap()
}

/// Small, medium and large sizes with gaps in between.
fn three_parts() -> SizeDistribution {
    law(&[(100.0, 0.0), (1_000.0, 0.5), (50_000.0, 0.5), (100_000.0, 0.9), (10_000_000.0, 1.0)])
}

/// One flow in 10,000 has 100 MB; these flows have 92 % of the bytes.
fn heavy_tail() -> SizeDistribution {
    law(&[(800.0, 0.9999), (100_000_000.0, 0.9999), (100_000_000.0, 1.0)])
}

fn app(sizes: SizeDistribution, draw: SizeDraw) -> Poisson {
    let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.5 };
    Poisson { open_loop: OpenLoop { sizes: sizes_of(sizes), load, reach: DestinationScope::AnyHost }, draw }
}

fn sizes(flows: &[FlowSpec]) -> Vec<u64> {
    flows.iter().filter_map(|flow| flow.size).collect()
}

#[test]
fn each_part_of_the_law_gives_one_size() {
    let network = Network::new();
    let until = Until::Flows(1_000);
    let app = App::Poisson(app(three_parts(), SizeDraw::Strata));
    let flows = generate(&app, &WorkloadContext { until, ..network.site() }).unwrap();
    let drawn = sizes(&flows);
    let mut sorted = drawn.clone();
    sorted.sort_unstable();
    // The k-th smallest of n lies between the quantiles of k / n and (k + 1) / n.
    let law = three_parts();
    for (k, &size) in sorted.iter().enumerate() {
        let [from, to] = [k, k + 1].map(|k| whole_bytes(law.quantile(k as f64 / 1_000.0)));
        assert!((from..=to).contains(&size), "{k}: {size} is not in {from} to {to}");
    }
    // But not in this order, and in another order for each seed.
    assert_ne!(drawn, sorted);
    let other = generate(&app, &WorkloadContext { until, seed: 2, ..network.site() }).unwrap();
    assert_ne!(sizes(&other), drawn);
}

#[test]
fn the_size_of_each_flow_has_the_law_of_sizes() {
    let network = Network::new();
    let app = App::Poisson(app(three_parts(), SizeDraw::Strata));
    let seeds = 4_000;
    let lists: Vec<Vec<u64>> = (1..=seeds)
        .map(|seed| {
            sizes(
                &generate(&app, &WorkloadContext { until: Until::Flows(7), seed, ..network.site() }).unwrap(),
            )
        })
        .collect();
    let law = three_parts();
    for flow in 0..7 {
        let mut own: Vec<f64> = lists.iter().map(|list| list[flow] as f64).collect();
        own.sort_unstable_by(f64::total_cmp);
        // Kolmogorov's statistic of 4,000 values of the distribution exceeds 1.95 / sqrt(4000) = 0.031 once in
        // 1,000 times. A fixed stratum would give 1/7 of the distribution, and 0.86.
        let largest = own.iter().enumerate().map(|(k, &x)| {
            let below = k as f64 / seeds as f64;
            (law.cdf(x) - below).abs().max((law.cdf(x) - below - 1.0 / seeds as f64).abs())
        });
        let largest = largest.fold(0.0, f64::max);
        assert!(largest < 0.031, "flow {flow}: {largest}");
    }
    // The mean over all lists: with strata, the total of seven sizes has a standard deviation of at most 23 % of
    // its mean (the last stratum is 1/7 of the distribution), which is 0.4 % over 4,000 seeds.
    let total: u64 = lists.iter().flatten().sum();
    let ratio = total as f64 / (7.0 * seeds as f64 * law.mean());
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn the_load_of_a_short_run_comes_out() {
    let network = Network::new();
    let offered_by = |draw, seed| {
        let app = App::Poisson(app(heavy_tail(), draw));
        // 100,000 flows of 10.8 kB at half of 16 Gbps start in about 1.08 s.
        let list = super::super::generate(
            &app,
            &WorkloadContext { until: Until::Flows(100_000), seed, ..network.site() },
        );
        let list = list.unwrap();
        let until = Time(list.iter().map(|flow| flow.start.0).max().unwrap_or(0) + 1);
        let WorkloadContext { rack, host_rate, core_rate_bps, frame, .. } = network.site();
        let fabric = Fabric { rack, host_rate, core_rate_bps, frame };
        let found = offered(&list, &fabric, Window { from: Time::ZERO, until });
        found.host_load(&network.hosts, Counts::Payload).unwrap() / 0.5
    };
    let worst = |draw| {
        let loads = (1..=5).map(|seed| (offered_by(draw, seed) - 1.0).abs());
        loads.fold(0.0, f64::max)
    };
    // Ten flows of 100 MB are expected: a Poisson variable with mean ten has a standard deviation of a third.
    assert!(worst(SizeDraw::Independent) > 0.2, "{}", worst(SizeDraw::Independent));
    assert!(worst(SizeDraw::Strata) < 0.01, "{}", worst(SizeDraw::Strata));
}

#[test]
fn the_parts_around_the_window_and_each_law_have_strata_of_their_own() {
    let network = Network::new();
    let ms = |ms| Time(Span::from_ms(ms).0);
    let later = sizes_of(law(&[(7_000.0, 0.0), (9_000.0, 1.0)]));
    let changes =
        [NewValue::Sizes(Box::new(later)), NewValue::Load(0.5)].map(|to| LoadChange { at: ms(60), to });
    let until = Until::Time(ms(100));
    let site = WorkloadContext { until, measured: [ms(20), ms(80)], changes: &changes, ..network.site() };
    let flows = generate(&App::Poisson(app(three_parts(), SizeDraw::Strata)), &site).unwrap();
    for (from, until, law) in [
        (ms(0), ms(20), three_parts()),
        (ms(20), ms(60), three_parts()),
        (ms(60), ms(80), law(&[(7_000.0, 0.0), (9_000.0, 1.0)])),
        (ms(80), ms(100), law(&[(7_000.0, 0.0), (9_000.0, 1.0)])),
    ] {
        let own: Vec<FlowSpec> =
            flows.iter().filter(|flow| (from..until).contains(&flow.start)).cloned().collect();
        let mut own = sizes(&own);
        own.sort_unstable();
        let count = own.len() as f64;
        assert!(count > 10.0);
        for (k, &size) in own.iter().enumerate() {
            let [low, high] = [k, k + 1].map(|k| whole_bytes(law.quantile(k as f64 / count)));
            assert!((low..=high).contains(&size), "{k} of {count}: {size} is not in {low} to {high}");
        }
    }
}

#[test]
fn strata_move_neither_starts_nor_ends_of_flows() {
    let network = Network::new();
    let site = WorkloadContext { until: Until::Flows(500), ..network.site() };
    let of = |draw| generate(&App::Poisson(app(three_parts(), draw)), &site).unwrap();
    let without_sizes = |flows: Vec<FlowSpec>| -> Vec<FlowSpec> {
        flows.into_iter().map(|flow| FlowSpec { size: None, ..flow }).collect()
    };
    assert_eq!(without_sizes(of(SizeDraw::Strata)), without_sizes(of(SizeDraw::Independent)));
}
