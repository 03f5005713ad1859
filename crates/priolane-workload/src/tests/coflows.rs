//! Generated coflows: shape, hosts, bytes, load.

use std::collections::{BTreeMap, BTreeSet};

use priolane_core::ids::CoflowId;
use priolane_core::sizes::{Interpolation, Point, SizeDistribution};

use super::*;

fn law(rows: &[(f64, f64)], interpolation: Interpolation) -> SizeDistribution {
    let points = rows.iter().map(|&(bytes, cdf)| Point { bytes, cdf }).collect();
    SizeDistribution::new(points, interpolation).unwrap()
}

fn fixed(value: f64) -> Count {
    Count::of(SizeDistribution::fixed(value).unwrap())
}

/// 5 to 15 kB, one or two mappers, two reducers.
fn coflows(parts: Parts) -> Coflow {
    Coflow {
        sizes: sizes_of(law(&[(5_000.0, 0.0), (15_000.0, 1.0)], Interpolation::Linear)),
        mappers: Count::of(law(&[(1.0, 0.5), (2.0, 1.0)], Interpolation::Step)),
        reducers: fixed(2.0),
        flow_bytes: FlowBytes { from: 1, to: u64::MAX },
        flow_sizes: parts,
        arrivals: Arrivals::Poisson,
        load: Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.25 },
    }
}

fn by_coflow(flows: &[FlowSpec]) -> BTreeMap<CoflowId, Vec<&FlowSpec>> {
    let mut all: BTreeMap<CoflowId, Vec<&FlowSpec>> = BTreeMap::new();
    flows.iter().for_each(|flow| all.entry(flow.coflow.unwrap()).or_default().push(flow));
    all
}

#[test]
fn every_mapper_sends_to_every_reducer_at_once_and_no_host_is_both() {
    let network = Network::new();
    let flows = generate(&App::Coflow(coflows(Parts::Even)), &network.site()).unwrap();
    let all = by_coflow(&flows);
    let mut shapes = BTreeMap::new();
    for members in all.values() {
        let ends =
            |end: fn(&FlowSpec) -> HostId| members.iter().map(|flow| end(flow)).collect::<BTreeSet<_>>();
        let (from, to) = (ends(|flow| flow.src), ends(|flow| flow.dst));
        assert!(from.is_disjoint(&to) && members.len() == from.len() * to.len());
        assert!(members.iter().all(|flow| flow.start == members[0].start));
        let sizes: Vec<u64> = members.iter().map(|flow| flow.size.unwrap()).collect();
        let spread = sizes.iter().max().unwrap() - sizes.iter().min().unwrap();
        assert!(spread <= 1 && (5_000..=15_000).contains(&sizes.iter().sum::<u64>()));
        *shapes.entry((from.len(), to.len())).or_insert(0_u32) += 1;
    }
    // Half of each shape: within 4 sigma.
    let [one, two] = [shapes[&(1, 2)], shapes[&(2, 2)]].map(f64::from);
    assert!(shapes.len() == 2 && (one - two).abs() < 4.0 * (one + two).sqrt(), "{shapes:?}");
}

#[test]
fn the_parts_of_a_coflow_are_all_of_its_bytes() {
    // 6,000,000 to 6,000,005 bytes over 2 x 3 flows: every remainder.
    for bytes in 6_000_000_u64..=6_000_005 {
        let sizes = sizes_of(SizeDistribution::fixed(bytes as f64).unwrap());
        let app = Coflow { sizes, mappers: fixed(2.0), reducers: fixed(3.0), ..coflows(Parts::Even) };
        let flows = generate(&App::Coflow(app), &Network::new().site()).unwrap();
        for members in by_coflow(&flows).values() {
            let parts: Vec<u64> = members.iter().map(|flow| flow.size.unwrap()).collect();
            assert_eq!((parts.len(), parts.iter().sum::<u64>()), (6, bytes));
        }
    }
}

#[test]
fn each_host_maps_and_reduces_equally_often() {
    let network = Network::new();
    let flows = generate(&App::Coflow(coflows(Parts::Even)), &network.site()).unwrap();
    let all = by_coflow(&flows);
    let often = |end: fn(&FlowSpec) -> HostId| {
        let mut often = [0_u32; 16];
        for members in all.values() {
            let hosts: BTreeSet<_> = members.iter().map(|flow| end(flow)).collect();
            hosts.iter().for_each(|host| often[host.index()] += 1);
        }
        often
    };
    // 1.5 mappers and 2 reducers of 16 hosts: binomial, within 5 sigma.
    for (counts, of_each) in [(often(|flow| flow.src), 1.5), (often(|flow| flow.dst), 2.0)] {
        let (n, p) = (all.len() as f64, of_each / 16.0);
        let sigma = (n * p * (1.0 - p)).sqrt();
        assert!(counts.iter().all(|&count| (f64::from(count) - n * p).abs() < 5.0 * sigma), "{counts:?}");
    }
}

#[test]
fn the_load_is_what_is_offered_however_bytes_are_split_and_whatever_is_drawn_anew() {
    // 16 hosts of 1 Gbps at 0.25 for 1 s: 500 MB in coflows of 10 kB, standard deviation 0.5 % of that.
    let network = Network::new();
    let narrow = |parts| Coflow { flow_bytes: FlowBytes { from: 3_000, to: 5_000 }, ..coflows(parts) };
    for app in [coflows(Parts::Even), coflows(Parts::Drawn), narrow(Parts::Even), narrow(Parts::Drawn)] {
        let flows = generate(&App::Coflow(app.clone()), &network.site()).unwrap();
        let bytes: u64 = flows.iter().filter_map(|flow| flow.size).sum();
        assert!((bytes as f64 / 500e6 - 1.0).abs() < 0.02, "{bytes} {app:?}");
    }
    // One mapper and two reducers: S of 6 to 10 kB; two and two: 12 to 15 kB. The fraction is 0.5 x 0.4 + 0.5 x
    // 0.3; the mean is that of 0.2 at 8 kB and 0.15 at 13.5 kB. A byte of rounding is 1e-4 of the range.
    let accepted = narrow(Parts::Even).accepted_at(&network.site());
    assert!(
        (accepted.part - 0.35).abs() < 3e-4 && (accepted.mean - 3_625.0 / 0.35).abs() < 3.0,
        "{accepted:?}"
    );
}

#[test]
fn flows_are_parts_of_sizes_of_their_own_if_drawn() {
    let network = Network::new();
    let flows = generate(&App::Coflow(coflows(Parts::Drawn)), &network.site()).unwrap();
    let all = by_coflow(&flows);
    let count = |members: &Vec<&FlowSpec>| members.len() as u64;
    let within = |members: &Vec<&FlowSpec>| {
        let [low, high] = [5_000, 15_000].map(|bytes| bytes / count(members));
        members.iter().all(|flow| (low..=high).contains(&flow.size.unwrap()))
    };
    assert!(all.values().all(within));
    let alike = all.values().filter(|m| m.iter().all(|flow| flow.size == m[0].size)).count();
    assert!(alike * 100 < all.len(), "{alike}");
}

#[test]
fn what_no_hosts_are_there_for_is_drawn_anew_and_refused_if_it_is_nearly_all() {
    let network = Network::new();
    // 15 mappers and two reducers need more than 16 hosts.
    let wide = Coflow {
        mappers: Count::of(law(&[(1.0, 0.5), (15.0, 1.0)], Interpolation::Step)),
        ..coflows(Parts::Even)
    };
    let flows = generate(&App::Coflow(wide.clone()), &network.site()).unwrap();
    assert!(by_coflow(&flows).values().all(|members| members.len() == 2));
    let never = Coflow { mappers: fixed(15.0), ..wide };
    assert_eq!(generate(&App::Coflow(never.clone()), &network.site()), Err(AppError::NoCoflow(0.0)));
    // If the senders receive nothing, 15 mappers are possible.
    let apart = WorkloadContext { hosts: &network.hosts[..15], to: &network.hosts[15..], ..network.site() };
    let one = Coflow { reducers: fixed(1.0), ..never };
    assert_eq!(
        by_coflow(&generate(&App::Coflow(one), &apart).unwrap())[&CoflowId::new(0).unwrap()].len(),
        15
    );
}

#[test]
fn the_first_coflow_of_a_seed_stays_what_it_is() {
    let network = Network::new();
    let flows = generate(&App::Coflow(coflows(Parts::Even)), &network.site()).unwrap();
    let first = by_coflow(&flows)[&CoflowId::new(0).unwrap()].clone();
    let golden: Vec<_> = first.iter().map(|f| (f.start.0, f.src.0, f.dst.0, f.size.unwrap())).collect();
    let longer = WorkloadContext { until: Until::Time(Time(Span::from_ms(1_500).0)), ..network.site() };
    let again = generate(&App::Coflow(coflows(Parts::Even)), &longer).unwrap();
    let more = by_coflow(&again)[&CoflowId::new(0).unwrap()]
        .iter()
        .map(|f| (f.start.0, f.src.0, f.dst.0, f.size.unwrap()))
        .collect::<Vec<_>>();
    assert_eq!(golden, more);
    assert!(again.len() > flows.len());
}

#[test]
fn scaled_arrivals_offer_the_load_exactly_and_change_only_times() {
    let network = Network::new();
    // Sizes of a heavy tail, and 40 coflows or so: Poisson arrivals offer a load that is off by tens of percent.
    let tail = law(&[(1_000.0, 0.0), (10_000.0, 0.9), (1_000_000.0, 1.0)], Interpolation::Linear);
    let poisson = Coflow { sizes: sizes_of(tail), ..coflows(Parts::Even) };
    let scaled = Coflow { arrivals: Arrivals::Scaled, ..poisson.clone() };
    let mut worst = 0.0_f64;
    for seed in 1..20 {
        let site = WorkloadContext { until: Until::Flows(120), seed, ..network.site() };
        let list = |app: &Coflow| generate(&App::Coflow(app.clone()), &site).unwrap();
        let (drawn, scaled) = (list(&poisson), list(&scaled));
        let last = |flows: &[FlowSpec]| flows.iter().map(|flow| flow.start.0).max().unwrap() as f64;
        let load = |flows: &[FlowSpec]| {
            let bytes: u64 = flows.iter().filter_map(|flow| flow.size).sum();
            8.0 * bytes as f64 / (16e9 * last(flows) / 1e12)
        };
        worst = worst.max((load(&drawn) / 0.25 - 1.0).abs());
        assert!((load(&scaled) - 0.25).abs() < 1e-6, "{}", load(&scaled));
        let factor = last(&scaled) / last(&drawn);
        for (own, other) in scaled.iter().zip(drawn.iter()) {
            assert_eq!(
                (own.src, own.dst, own.size, own.coflow),
                (other.src, other.dst, other.size, other.coflow)
            );
            assert!((own.start.0 as f64 - other.start.0 as f64 * factor).abs() <= 2.0);
        }
        assert_eq!(scaled.len(), drawn.len());
    }
    assert!(worst > 0.2, "{worst}");
    let error = generate(&App::Coflow(scaled), &network.site()).unwrap_err();
    assert_eq!(error, AppError::ScaledArrivals);
}
