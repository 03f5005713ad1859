//! A prediction against the formulas at the top of the module, with the numbers of two flows.

use std::path::Path;

use priolane_core::transport::Cost;
use priolane_lab::plan::{self, Options};

use super::*;

/// Two flows of 1 MB from two hosts to a third over a switch at 10 Gbit/s; the run is cut after 1 ms.
const TWO: &str = r#"title = "Two flows"
schemes = ["newreno"]
time = { measure = "1ms", drain = false }
topology = { kind = "single_switch", hosts = 3, host_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = [{ src = 0, dst = 2, size = "1MB" }, { src = 1, dst = 2, size = "1MB", start = "500us" }]
"#;

fn scenario(text: &str) -> Scenario {
    let plan = plan::from_text("x.toml", text, Path::new("."), &Options::default()).unwrap();
    plan::build(&plan.runs[0]).unwrap().scenario
}

fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-6, "{a} is not {b}");
}

/// n (1 - (1 - 1/n)^m), the number of distinct places of m events at n places, in the limit of many.
fn distinct(places: f64, events: f64) -> f64 {
    places * (1.0 - libm::exp(-events / places))
}

/// The cost of flows that send these numbers of packets over `ms` and `times` as long, of `flows` flows of which `open`
/// are active at once.
struct Expected {
    packets: Vec<f64>,
    each: f64,
    ms: f64,
    times: f64,
    open: f64,
    every_us: Option<f64>,
    /// Number of reports, and the factor of the ports and of pauses.
    reports: f64,
    ports: f64,
}

impl Expected {
    fn check(&self, found: Prediction, scenario: &Scenario) {
        let Cost { control, per_flow, instructions: factor } = scenario.transport.cost();
        let of_flow = |packets: &f64| packets * (1.0 + control) + per_flow;
        let ends: f64 = self.packets.iter().map(of_flow).sum::<f64>() * self.each * self.times;
        // Over two links each.
        let hops = 2.0 * ends;
        assert!((found.packet_hops as f64 - hops).abs() <= 1.0, "{} {hops}", found.packet_hops);
        let ps = self.ms * 1e9 * self.times;
        let windows = (ps / window_length(scenario).0 as f64).min(hops);
        // Three hosts and a switch, which serves half of the hops.
        let visits = distinct(3.0 * windows, ends) + distinct(windows, hops - ends);
        let in_flight = 2.0 * hops * scenario.longest_hop().0 as f64 / ps;
        let stall =
            1.0 + 4.5 * (1.0 - libm::exp(-(self.open * 480.0 + in_flight * 64.0) / 14e6)) + 6.0 * 1.9e-5;
        let rows = self.every_us.map_or(0.0, |us| distinct(2.0 * 6.0 * ps / (us * 1e6), 2.0 * hops));
        let instructions = hops * 300.0 + ends * 900.0 + visits * 350.0 + windows * 1_000.0;
        let instructions = factor * self.ports * instructions + self.reports * 1_500.0;
        near(found.instructions, instructions * stall + rows * 2_000.0);
        let kept = 2.0 * self.times * 90.0 + self.open * 480.0 + in_flight * 64.0 + rows * 80.0;
        assert!((found.bytes as f64 - (130e6 + 6.0 * 1_900.0 + kept)).abs() <= 1.0, "{} {kept}", found.bytes);
    }
}

/// Both flows of `TWO`, of which nothing is cut.
fn drained() -> Expected {
    Expected {
        packets: vec![685.0, 685.0],
        each: 1.0,
        // The link to host 2 serves 2 x 685 packets of 1.2304 us.
        ms: 1.685648,
        times: 1.0,
        open: 2.0,
        every_us: None,
        reports: 0.0,
        ports: 1.0,
    }
}

#[test]
fn a_cut_run_sends_what_its_links_carry_until_its_end() {
    // Of the second flow, 625,000 B fit on its link until the end: 429 packets. A packet takes 1.2304 us, so the link
    // to host 2 carries 812.7 of the 685 + 429 in 1 ms, and that of host 1 carries 406.4 of 429 in 0.5 ms.
    let part = 1e9 / 1_230_400.0 / (685.0 + 429.0);
    let expected = Expected {
        packets: vec![685.0 * part, 429.0 * part],
        each: 1.0,
        ms: 1.0,
        times: 1.0,
        open: 2.0,
        every_us: None,
        reports: 0.0,
        ports: 1.0,
    };
    let cut = scenario(TWO);
    expected.check(Forecast::of(&cut, 1.0).under(&Devices::of(&cut)), &cut);
    // Three times as long in the same way.
    let longer = Expected { times: 3.0, ..expected };
    longer.check(Forecast::of(&cut, 3.0).under(&Devices::of(&cut)), &cut);
    // Every second flow only: the first, which stands for two; the link carries 812.7 of 1370.
    let part = 1e9 / 1_230_400.0 / 1_370.0;
    let first = Expected {
        packets: vec![685.0 * part],
        each: 2.0,
        // Two such flows take 1.69 ms on a link, one after the other: longer than the run.
        ms: 1.0,
        times: 1.0,
        open: 2.0,
        every_us: None,
        reports: 0.0,
        ports: 1.0,
    };
    first.check(Forecast::looking_at(&cut, 1.0, 1).under(&Devices::of(&cut)), &cut);
    let sampled = scenario(&TWO.replace("time =", "sample_every = \"100us\"\ntime ="));
    let rows = Expected { every_us: Some(100.0), packets: vec![685.0 * part / 2.0 * 2.0], ..first };
    rows.check(Forecast::looking_at(&sampled, 1.0, 1).under(&Devices::of(&sampled)), &sampled);
}

#[test]
fn a_run_that_drains_sends_everything_and_endless_flows_until_the_last_finite_one() {
    let drains = scenario(&TWO.replace("drain = false", "drain = true"));
    drained().check(Forecast::of(&drains, 1.0).under(&Devices::of(&drains)), &drains);
    // Far apart, they are not open at once: each counts for three times its 0.804 ms.
    let apart = scenario(&TWO.replace("drain = false", "drain = true").replace("500us", "900us"));
    let late = scenario(
        &TWO.replace("drain = false", "drain = true")
            .replace("\"1ms\"", "\"9ms\"")
            .replace("500us", "2413us"),
    );
    let open = |scenario: &Scenario| Forecast::of(scenario, 1.0).open;
    assert_eq!((open(&apart), open(&late)), (2, 1));
    // The first flow is endless: it sends until the second is done, 0.5 + 0.8 ms and a hop, at the line rate.
    let endless =
        scenario(&TWO.replace("drain = false", "drain = true").replacen("\"1MB\"", "\"endless\"", 1));
    let end = 1_300_000_000 + endless.longest_hop().0;
    let packets = (end as f64 / 800.0).floor() / 1460.0;
    let forecast = Forecast::of(&endless, 1.0);
    let [first, second] = [0, 1].map(|flow| forecast.demands[flow].packets);
    assert!((first - packets).abs() <= 1.0 && second == 685.0, "{first} {packets}");
    let carried = end as f64 / 1_230_400.0;
    assert!((forecast.sent[0] - carried / (first + 685.0)).abs() < 1e-9, "{:?}", forecast.sent);
}

/// Two schemes at two loads with three seeds.
const GRID: &str = r#"title = "A grid"
schemes = ["newreno", "dctcp"]
seeds = 3
time = { measure = "2ms" }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
sweep = { "group.all.load.value" = [0.3, 1.2] }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "web_search", interpolation = "linear", max = "100kB" }
load = { of = "host", counts = "payload", value = 0.5 }
"#;

#[test]
fn a_check_sums_up_points_schemes_and_seeds() {
    let points = plan::points_of("x.toml", GRID, Path::new("."), &Options::default()).unwrap();
    let found = super::super::of_points(&points, (1e9, u64::MAX), &Default::default()).unwrap();
    let (mut flows, mut hops, mut instructions, mut bytes) = (0, 0, 0.0, 0);
    for point in &points.points {
        for scheme in ["newreno", "dctcp"] {
            let scenario = plan::build_at(&point.experiment, scheme, 1).unwrap().scenario;
            let one = Forecast::of(&scenario, 1.0).under(&Devices::of(&scenario));
            flows += 3 * scenario.flows.len() as u64;
            hops += 3 * one.packet_hops;
            instructions += 3.0 * one.instructions;
            bytes = one.bytes.max(bytes);
        }
    }
    assert_eq!((found.points, found.schemes, found.seeds, found.runs), (2, 2, 3, 12));
    assert_eq!((found.flows, found.packet_hops, found.bytes), (flows, hops, bytes));
    near(found.seconds, instructions / 1e9);
    near(found.ns_per_hop, instructions / hops as f64);
    // Both the plan and the flows say that the second load is too high, each once.
    assert_eq!(found.warnings.iter().filter(|own| own.contains("the load of host")).count(), 1);
    assert_eq!(found.warnings.iter().filter(|own| own.contains("offered load of the hosts")).count(), 1);
    let loads: Vec<_> = found.loads.iter().map(|load| load.point["group.all.load.value"].clone()).collect();
    assert_eq!(loads, [serde_json::json!(0.3), serde_json::json!(1.2)]);
    assert_eq!(found.merged["sweep"].as_object().map(|sweep| sweep.len()), Some(1));
}

/// Eight hosts whose flows arrive at a load of 0.5 by payload for a second, and a window of 99 ms.
const CONTINUES: &str = r#"title = "Arrivals continue"
schemes = ["newreno"]
time = { warmup = "1ms", measure = "99ms", arrivals = "continue", limit = "1s" }
topology = { kind = "single_switch", hosts = 8, host_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "imc10"
load = { of = "host", counts = "payload", value = 0.5 }
"#;

#[test]
fn a_run_whose_arrivals_continue_ends_with_the_flows_of_its_window() {
    let scenario = scenario(CONTINUES);
    let found = Forecast::of(&scenario, 1.0).under(&Devices::of(&scenario));
    // 40 Gbit/s for the 100 ms until the window ends, over two links. The run is at most a quarter longer, three times what
    // the largest flow takes alone, and the bytes of 2,600 flows spread by 10 %.
    let bytes = 40e9 / 8.0 * 0.1;
    let hops = found.packet_hops as f64 / (1.0 + scenario.transport.cost().control);
    let ratio = hops * 1460.0 / (2.0 * bytes);
    assert!((0.8..1.4).contains(&ratio), "{ratio}");
}

#[test]
fn reports_several_queues_and_pauses_cost_time() {
    // Flow 0 is held for its 685 packets, and flow 1 from 0.5 ms until both are served. A flow reports once per 10 us.
    let strict = TWO.replace("newreno", "es8").replace("drain = false", "drain = true");
    let drains = scenario(&strict);
    let mut devices = Devices::of(&drains);
    let Transport::Window { window, .. } = &mut devices.transport else { panic!("not a window") };
    let interval = Span::from_us(10);
    window.monitor = Some(interval);
    let held_us = 685.0 * 1.2304 + (2.0 * 685.0 * 1.2304 - 500.0);
    let reports = held_us * 1e6 / interval.0 as f64;
    let all = Expected { reports, ports: 1.25, ..drained() };
    all.check(Forecast::of(&drains, 1.0).under(&devices), &drains);
    let pauses = scenario(&TWO.replace("newreno", "dcqcn"));
    near(factor(&Devices::of(&pauses)), 1.4 * pauses.transport.cost().instructions);
}

#[test]
fn each_scheme_has_the_devices_of_its_own_run() {
    let text = TWO.replace("[\"newreno\"]", "[\"newreno\", \"es8\", \"dcqcn\", \"top\"]");
    let text = text.replace("time =", "rates_every = \"20us\"\ntime =");
    let plan = plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let topology = plan::build(&plan.runs[0]).unwrap().scenario.topology.clone();
    let mut dearer = 0;
    for run in &plan.runs {
        let own = Devices::of(&plan::build(run).unwrap().scenario);
        let devices = plan::devices(&run.experiment, &run.scheme, &topology).unwrap();
        assert_eq!(format!("{devices:?}"), format!("{own:?}"));
        dearer += usize::from(factor(&devices) > own.transport.cost().instructions);
    }
    assert_eq!((plan.runs.len(), dearer), (4, 2));
}

/// Mean bytes of active flows and packets of a run, its links, and the time of a packet-hop in nanoseconds: the rows of
/// docs/performance.md, "Growth", and a run of 65,536 hosts.
const GROWTH: [(f64, usize, f64); 10] = [
    (0.2e6, 768, 43.8),
    (1.2e6, 768, 65.1),
    (3.7e6, 768, 84.1),
    (1.6e6, 6_144, 63.0),
    (9.1e6, 6_144, 155.0),
    (33.0e6, 6_144, 206.9),
    (12.1e6, 49_152, 183.4),
    (69.1e6, 49_152, 302.5),
    (223.9e6, 49_152, 320.4),
    (7.0e6, 393_216, 528.0),
];

#[test]
fn runs_beyond_caches_wait_for_memory_as_measured() {
    for (active, links, ns) in GROWTH {
        let ratio = stall(active, links) * 41.0 / ns;
        assert!((1.0 / 1.3..1.3).contains(&ratio), "{active} bytes, {links} links: {ratio}");
    }
    assert!((stall(0.0, 0) - 1.0).abs() < 1e-12 && stall(1e12, 0) < 5.6);
}
