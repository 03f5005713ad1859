use priolane_core::sizes::{Interpolation, SizeDistribution};
use priolane_rounds::rounds;

use super::*;
use crate::offered::{Fabric, OfferedLoad, Window, offered};

fn law(name: &str) -> SizeDistribution {
    size_csv::read(name, Interpolation::Linear).unwrap()
}

fn poisson(name: &str, load: Load, reach: DestinationScope) -> App {
    let open_loop = OpenLoop { sizes: sizes_of(law(name)), load, reach };
    App::Poisson(Poisson { open_loop, draw: SizeDraw::Independent })
}

fn host_load(value: f64) -> Load {
    Load { of: LoadOf::Host, counts: Counts::Payload, value }
}

fn measured(flows: &[FlowSpec], site: &WorkloadContext) -> OfferedLoad {
    let WorkloadContext { rack, host_rate, core_rate_bps, frame, .. } = *site;
    let window = Window { from: Time::ZERO, until: flows.last().unwrap().start };
    offered(&flows.iter().copied().collect(), &Fabric { rack, host_rate, core_rate_bps, frame }, window)
}

/// The properties of a flow other than its destination, which depends on the existing hosts.
fn life(flow: &FlowSpec) -> (Time, Option<u64>, u16) {
    (flow.start, flow.size, flow.entropy)
}

#[test]
fn offered_load_is_the_asked_one() {
    let network = Network::new();
    let count = rounds(200_000, 1_000_000);
    let site = WorkloadContext { until: Until::Flows(count), ..network.site() };
    for of in [LoadOf::Host, LoadOf::Core] {
        for counts in [Counts::Payload, Counts::Wire] {
            for reach in [DestinationScope::AnyHost, DestinationScope::OtherRacks] {
                let load = Load { of, counts, value: 0.6 };
                let flows = generate(&poisson("web_search_pkt1460", load, reach), &site).unwrap();
                let offered = measured(&flows, &site);
                let got = match of {
                    LoadOf::Host => offered.host_load(site.hosts, counts),
                    LoadOf::Core => offered.core_load(counts),
                };
                // Four standard errors; of a million flows one is sqrt((1 + 5.4) / 10^6) = 0.25 %.
                assert!(
                    (got.unwrap() / 0.6 - 1.0).abs() < 0.01 * (1e6 / count as f64).sqrt(),
                    "{load:?} {reach:?}: {got:?}"
                );
            }
        }
    }
}

#[test]
fn gaps_are_exponential() {
    let network = Network::new();
    let site = WorkloadContext { hosts: &network.hosts[..1], until: Until::Flows(200_000), ..network.site() };
    let flows = generate(&poisson("imc10", host_load(0.5), DestinationScope::AnyHost), &site).unwrap();
    // 0.5 Gbps of flows of 195357 B (whole bytes: the same to 10^-5): 319.9 a second.
    let mean = 8.0 * 195_357.0 / 0.5e9;
    let gaps: Vec<f64> = flows.windows(2).map(|f| f[1].start.since(f[0].start).as_secs_f64()).collect();
    let n = gaps.len() as f64;
    assert!((gaps.iter().sum::<f64>() / n / mean - 1.0).abs() < 0.01);
    for k in 1..=5 {
        let share = gaps.iter().filter(|&&gap| gap > mean * f64::from(k)).count() as f64 / n;
        assert!((share - libm::exp(-f64::from(k))).abs() < 0.004, "{k}: {share}");
    }
}

#[test]
fn means_of_shipped_tables_are_the_published_ones() {
    let table = [
        ("web_search", 1_711_250.0, 0.542),
        ("web_search_pkt1460", 1_665_831.0, 0.544),
        ("data_mining", 7_470_236.0, 0.824),
        ("data_mining_vl2", 12_658_199.0, 0.823),
        ("imc10", 195_357.0, 0.824),
        ("facebook_hadoop", 120_421.0, 0.885),
    ];
    assert!(size_csv::names().eq(table.map(|(name, ..)| name)));
    for (name, mean, below_100_kb) in table {
        let sizes = law(name);
        assert!((sizes.mean() / mean - 1.0).abs() < 1e-5, "{name}: {}", sizes.mean());
        assert!((sizes.cdf(1e5) - below_100_kb).abs() < 5e-4, "{name}: {}", sizes.cdf(1e5));
    }
    let step = size_csv::read("web_search", Interpolation::Step).unwrap();
    assert!((step.mean() - 2_434_900.0).abs() < 1e-3);
}

#[test]
fn samples_have_the_mean_of_their_law() {
    // Stratified: the tail of data mining has 98 % of the bytes in 5 % of the flows.
    let strata = 100_000;
    for name in size_csv::names() {
        let sizes = law(name);
        let at = |i: u32| sizes.quantile((f64::from(i) + 0.5) / f64::from(strata));
        let mean = (0..strata).map(at).sum::<f64>() / f64::from(strata);
        assert!((mean / sizes.mean() - 1.0).abs() < 1e-3, "{name}: {mean}");
    }
    let (sizes, mut stream) = (law("web_search"), Stream::new(1, Purpose::Sizes, 0));
    let mean = (0..1_000_000).map(|_| sizes.sample(&mut stream) as f64).sum::<f64>() / 1e6;
    assert!((mean / sizes.mean() - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn other_hosts_do_not_move_a_hosts_flows() {
    let (small, large) = (Network::of(8), Network::of(16));
    let app = poisson("web_search", host_load(0.8), DestinationScope::AnyHost);
    let few = generate(&app, &small.site()).unwrap();
    let many = generate(&app, &large.site()).unwrap();
    for host in &small.hosts {
        let of = |flows: &[FlowSpec]| -> Vec<_> {
            flows.iter().filter(|flow| flow.src == *host).map(life).collect()
        };
        assert!(!of(&few).is_empty());
        assert_eq!(of(&few), of(&many), "{host:?}");
    }
}

#[test]
fn seed_and_group_do() {
    let network = Network::new();
    let app = poisson("web_search", host_load(0.8), DestinationScope::AnyHost);
    let base = generate(&app, &network.site()).unwrap();
    assert_eq!(base, generate(&app, &network.site()).unwrap());
    let seed = generate(&app, &WorkloadContext { seed: 2, ..network.site() }).unwrap();
    let group = generate(&app, &WorkloadContext { group: 1, ..network.site() }).unwrap();
    assert_ne!(life(&base[0]), life(&seed[0]));
    assert_ne!(life(&base[0]), life(&group[0]));
}

#[test]
fn load_changes_gaps_but_not_sizes_and_pairs() {
    let network = Network::new();
    let site = WorkloadContext { hosts: &network.hosts[..1], until: Until::Flows(1000), ..network.site() };
    let at =
        |load| generate(&poisson("web_search", host_load(load), DestinationScope::AnyHost), &site).unwrap();
    let (slow, fast) = (at(0.25), at(0.5));
    for (slow, fast) in slow.iter().zip(&fast) {
        assert_eq!((slow.size, slow.dst, slow.entropy), (fast.size, fast.dst, fast.entropy));
        // Half the mean gap; 1000 gaps are each rounded to a picosecond.
        assert!(slow.start.0.abs_diff(2 * fast.start.0) <= 3000);
    }
}

#[test]
fn a_number_of_flows_is_the_beginning_of_a_time() {
    let network = Network::new();
    let app = poisson("imc10", host_load(0.5), DestinationScope::AnyHost);
    let all = generate(&app, &network.site()).unwrap();
    let some = generate(&app, &WorkloadContext { until: Until::Flows(500), ..network.site() }).unwrap();
    assert!(all.len() > 1000 && all.is_sorted_by_key(|flow| flow.start));
    assert_eq!(some, all[..500]);
}

#[test]
fn destinations_are_uniform_over_those_allowed() {
    let network = Network::new();
    let (from, to) = (&network.hosts[..6], &network.hosts[2..]);
    for reach in [DestinationScope::AnyHost, DestinationScope::OtherRacks] {
        let site = WorkloadContext { hosts: from, to, until: Until::Flows(120_000), ..network.site() };
        let flows = generate(&poisson("imc10", host_load(0.5), reach), &site).unwrap();
        for &src in from {
            let allowed = |dst: HostId| match reach {
                DestinationScope::AnyHost => dst != src,
                DestinationScope::OtherRacks => network.rack[dst.index()] != network.rack[src.index()],
            };
            let dsts: Vec<HostId> = flows.iter().filter(|f| f.src == src).map(|f| f.dst).collect();
            let choices = to.iter().filter(|&&dst| allowed(dst)).count() as f64;
            for &dst in &network.hosts {
                let share = dsts.iter().filter(|&&d| d == dst).count() as f64 / dsts.len() as f64;
                let want = if to.contains(&dst) && allowed(dst) { 1.0 / choices } else { 0.0 };
                // 20,000 draws each: a standard deviation is at most 0.0023.
                assert!((share - want).abs() < if want == 0.0 { 1e-9 } else { 0.01 }, "{src:?} {dst:?}");
            }
        }
    }
}

#[test]
fn paths_are_spread_evenly() {
    let network = Network::new();
    let site = WorkloadContext { until: Until::Flows(64_000), ..network.site() };
    let flows = generate(&poisson("imc10", host_load(0.5), DestinationScope::AnyHost), &site).unwrap();
    for shift in [0, 6, 12] {
        let mut counts = [0u32; 16];
        flows.iter().for_each(|flow| counts[usize::from(flow.entropy >> shift) & 15] += 1);
        // 4000 each, plus or minus 5 standard deviations of 61.
        assert!(counts.iter().all(|count| (3690..4310).contains(count)), "{counts:?}");
    }
}

#[test]
fn golden_flows() {
    let network = Network::new();
    let site = WorkloadContext { until: Until::Flows(4), ..network.site() };
    let flows = generate(&poisson("web_search", host_load(0.5), DestinationScope::AnyHost), &site).unwrap();
    let got: Vec<_> =
        flows.iter().map(|f| (f.start.0, f.src.0, f.dst.0, f.size.unwrap(), f.entropy)).collect();
    // Computed from the formulas alone by an independent script: ChaCha8, inversion, destinations, entropy.
    let want = [
        (4_603_147_595, 2, 1, 177_907, 7046),
        (5_905_412_977, 10, 1, 29_286_779, 17_730),
        (7_353_428_700, 0, 8, 762_004, 42_266),
        (7_647_048_192, 9, 13, 16_024, 16_746),
    ];
    assert_eq!(got, want);
}

#[test]
fn what_cannot_run_is_refused() {
    let network = Network::new();
    let site = network.site();
    let app = |load, reach| poisson("imc10", load, reach);
    let any = app(host_load(0.5), DestinationScope::AnyHost);
    let error = |app: &App, site: &WorkloadContext| generate(app, site).unwrap_err();
    let one = [HostId(3)];
    for load in [0.0, -1.0, 80.0, f64::NAN, f64::INFINITY] {
        let got = error(&app(host_load(load), DestinationScope::AnyHost), &site);
        assert_eq!((got.key(), matches!(got, AppError::Load(_))), ("load.value", true));
    }
    assert_eq!(error(&any, &WorkloadContext { hosts: &[], ..site }), AppError::NoHosts);
    assert_eq!(error(&any, &WorkloadContext { to: &[], ..site }), AppError::NoDestination(HostId(0)));
    assert_eq!(
        error(&any, &WorkloadContext { hosts: &one, to: &one, ..site }),
        AppError::NoDestination(HostId(3))
    );
    assert_eq!(
        error(&any, &WorkloadContext { to: &[HostId(16)], ..site }),
        AppError::UnknownHost(HostId(16))
    );
    let rack = WorkloadContext { to: &network.hosts[..4], hosts: &one, ..site };
    assert_eq!(
        error(&app(host_load(0.5), DestinationScope::OtherRacks), &rack),
        AppError::NoDestination(HostId(3))
    );
    let core = app(Load { of: LoadOf::Core, ..host_load(0.5) }, DestinationScope::AnyHost);
    assert_eq!(error(&core, &rack), AppError::NoCore);
    assert_eq!(error(&core, &WorkloadContext { core_rate_bps: 0, ..site }), AppError::NoCore);
    let forever = Until::Time(LATEST_START);
    assert_eq!(error(&any, &WorkloadContext { until: forever, ..site }), AppError::TooMany);
    assert_eq!(error(&any, &WorkloadContext { until: Until::Flows(u64::MAX), ..site }), AppError::TooMany);
    let slow = WorkloadContext { host_rate: Rate::from_bps(1).unwrap(), until: Until::Flows(1000), ..site };
    assert_eq!(error(&any, &slow), AppError::TooLate);
    let frame = Frame { mtu: 40, ..Frame::ETHERNET };
    assert_eq!(error(&any, &WorkloadContext { frame, ..site }), AppError::Frame);
}
