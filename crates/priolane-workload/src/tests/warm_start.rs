use priolane_core::sizes::{Interpolation, Point, SizeDistribution};
use priolane_rounds::rounds;

use super::*;

/// A third of the flows has 1 kB, the others are uniform over 1 to 101 kB.
fn law() -> SizeDistribution {
    let points = [(1_000.0, 1.0 / 3.0), (101_000.0, 1.0)].map(|(bytes, cdf)| Point { bytes, cdf });
    SizeDistribution::new(points.to_vec(), Interpolation::Linear).unwrap()
}

/// E\[X\] and E\[X^2\] of [`law`], by hand: uniform over [a, b] has (a + b) / 2 and (a^2 + a b + b^2) / 3.
const MEAN: f64 = 1_000.0 / 3.0 + 2.0 / 3.0 * 51_000.0;
const SQUARE: f64 = 1e6 / 3.0 + 2.0 / 3.0 * (1e6 + 101e6 + 10_201e6) / 3.0;

fn poisson(load: Load, draw: SizeDraw) -> App {
    let open_loop = OpenLoop { sizes: sizes_of(law()), load, reach: DestinationScope::AnyHost };
    App::Poisson(Poisson { open_loop, draw })
}

fn on_wire(of: LoadOf, value: f64) -> Load {
    Load { of, counts: Counts::Wire, value }
}

/// A site without links out of racks.
fn one_tier(network: &Network) -> WorkloadContext<'_> {
    WorkloadContext { core_rate_bps: 0, ..network.site() }
}

/// The flows under way at the senders of many seeds, by seed and sender.
fn under_way(app: &App, context: &WorkloadContext, seeds: u64) -> Vec<Vec<FlowSpec>> {
    let mut all = Vec::new();
    for seed in 1..=seeds {
        let until = Until::Time(Time(1));
        let site = WorkloadContext { seed, until, initial: InitialState::Warm, ..*context };
        let flows = generate(app, &site).unwrap();
        assert!(flows.iter().all(|flow| flow.start == Time::ZERO && flow.src != flow.dst));
        for &host in context.hosts {
            all.push(flows.iter().filter(|flow| flow.src == host).copied().collect());
        }
    }
    all
}

/// Asserts that the mean of `values` is `expected`, within four of its standard errors.
fn assert_mean(values: &[f64], expected: f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    assert!((mean - expected).abs() < 4.0 * error, "{mean} +- {error} in place of {expected}");
}

#[test]
fn a_sender_has_a_geometric_number_of_flows_under_way() {
    let network = Network::new();
    let senders = under_way(
        &poisson(on_wire(LoadOf::Host, 0.8), SizeDraw::Independent),
        &one_tier(&network),
        rounds(500, 5_000),
    );
    let mut expected = 1.0;
    for least in 1..=8 {
        expected *= 0.8;
        let has: Vec<f64> = senders.iter().map(|flows| f64::from(u8::from(flows.len() >= least))).collect();
        assert_mean(&has, expected);
    }
    // Pollaczek and Khinchine: the mean work in an M/G/1 system is rho / (1 - rho) E[X^2] / (2 E[X]).
    let bytes = |flow: &FlowSpec| flow.size.unwrap() as f64;
    let work: Vec<f64> = senders.iter().map(|flows| flows.iter().map(bytes).sum()).collect();
    assert_mean(&work, 4.0 * SQUARE / (2.0 * MEAN));
}

#[test]
fn a_flow_under_way_has_a_size_in_proportion_to_its_bytes_and_has_sent_any_part_of_them() {
    let network = Network::new();
    let senders = under_way(
        &poisson(on_wire(LoadOf::Host, 0.8), SizeDraw::Independent),
        &one_tier(&network),
        rounds(500, 5_000),
    );
    let flows: Vec<FlowSpec> = senders.into_iter().flatten().collect();
    let whole: Vec<f64> = flows.iter().map(|flow| flow.whole_size().unwrap() as f64).collect();
    assert_mean(&whole, SQUARE / MEAN);
    // Sizes up to x carry Int x f: the third of 1 kB, and 2/3 (x^2 - 1000^2) / (2 * 100000) bytes of a flow.
    for x in [1_000.0_f64, 30_000.0, 70_000.0] {
        let part = (1_000.0 / 3.0 + 2.0 / 3.0 * (x * x - 1e6) / 2e5) / MEAN;
        assert_mean(&whole.iter().map(|&size| f64::from(u8::from(size <= x))).collect::<Vec<_>>(), part);
    }
    let sent: Vec<f64> =
        flows.iter().map(|flow| flow.attained as f64 / flow.whole_size().unwrap() as f64).collect();
    for part in [0.25, 0.5, 0.75] {
        assert_mean(&sent.iter().map(|&sent| f64::from(u8::from(sent < part))).collect::<Vec<_>>(), part);
    }
}

#[test]
fn a_loaded_core_determines_the_number_of_flows() {
    // Of 8 Gbit/s out of racks 0.8 are used; the senders' own links carry less.
    let network = Network::new();
    let app = poisson(on_wire(LoadOf::Core, 0.8), SizeDraw::Independent);
    let senders = under_way(&app, &network.site(), rounds(500, 5_000));
    let counts: Vec<f64> = senders.iter().map(|flows| flows.len() as f64).collect();
    // Four flows under way on each Gbit/s of the core.
    assert_mean(&counts, 4.0 * 8.0 / network.hosts.len() as f64);
}

#[test]
fn flows_that_wait_along_their_path_are_as_many_as_planned_for_each_host() {
    let network = Network::new();
    let planned: Vec<f64> = (0..16).map(|host| f64::from(host) / 2.0).collect();
    let site = WorkloadContext { under_way: &planned, ..network.site() };
    let app = poisson(on_wire(LoadOf::Host, 0.8), SizeDraw::Independent);
    let mut counts = vec![Vec::new(); 16];
    for seed in 1..=rounds(2_000, 20_000) {
        let until = Until::Time(Time(1));
        let site = WorkloadContext { seed, until, initial: InitialState::WarmPath, ..site };
        let mut of_seed = [0.0; 16];
        for flow in generate(&app, &site).unwrap().iter() {
            of_seed[flow.src.index()] += 1.0;
        }
        counts.iter_mut().zip(of_seed).for_each(|(all, count)| all.push(count));
    }
    assert!(counts[0].iter().all(|&count| count == 0.0));
    for (counts, &mean) in counts.iter().zip(&planned).skip(1) {
        assert_mean(counts, mean);
        // The variance of a geometric law.
        let squares: Vec<f64> = counts.iter().map(|count| (count - mean) * (count - mean)).collect();
        assert_mean(&squares, mean + mean * mean);
    }
}

#[test]
fn flows_that_start_later_are_those_of_an_empty_start() {
    let network = Network::new();
    let app = poisson(on_wire(LoadOf::Host, 0.8), SizeDraw::Independent);
    let until = Until::Time(Time(Span::from_ms(20).0));
    let empty = generate(&app, &WorkloadContext { until, ..one_tier(&network) }).unwrap();
    let warm = WorkloadContext { until, initial: InitialState::Warm, ..one_tier(&network) };
    let warm = generate(&app, &warm).unwrap();
    let later: Vec<FlowSpec> = warm.into_iter().filter(|flow| flow.start > Time::ZERO).collect();
    assert!(later.len() > 100 && later == empty);
    assert!(later.iter().all(|flow| flow.attained == 0));
}

#[test]
fn no_steady_state_and_strata_over_few_links_are_refused() {
    let network = Network::new();
    let warm = WorkloadContext { initial: InitialState::Warm, ..network.site() };
    let of = |load| generate(&poisson(load, SizeDraw::Independent), &warm).unwrap_err();
    assert_eq!(of(on_wire(LoadOf::Host, 1.25)), AppError::NoSteadyState(1.25));
    // The hosts' own links carry 1.5 * 8 / (0.8 * 16) of what they can.
    let core = of(on_wire(LoadOf::Core, 1.5));
    assert!(core.key() == "load.value" && core.to_string().contains("1.500"), "{core}");
    let strata = poisson(on_wire(LoadOf::Host, 0.5), SizeDraw::Strata);
    let site = WorkloadContext { until: Until::Flows(100), ..network.site() };
    assert!(generate(&strata, &site).is_ok());
    let few = WorkloadContext { to: &network.hosts[..15], ..site };
    assert_eq!(generate(&strata, &few), Err(AppError::FewLinks(15)));
    // What would be refused, or is so already, is not advised.
    let may = |draw: SizeDraw, to| draw.may_become_strata(&network.hosts, to);
    assert!(may(SizeDraw::Independent, &network.hosts) && !may(SizeDraw::Independent, &network.hosts[..15]));
    assert!(!may(SizeDraw::Strata, &network.hosts));
}
