//! Settings that do not go together: which cause a warning, which an error, and that runs behave as the message says.

use std::path::Path;

use priolane_lab::plan::{self, Options, Plan};
use priolane_results::record::Counters;
use priolane_sim::outcome::Outcome;
use priolane_sim::{Drive, Simulation};
use priolane_source::InputError;

/// Two hosts on each side of a bottleneck; each host on the left sends 2 MB to one on the right.
#[derive(Clone, Copy)]
struct Fabric {
    scheme: &'static str,
    host: &'static str,
    bottleneck: &'static str,
    /// Propagation delay of each link; a path has three.
    delay: &'static str,
}

const TEN: Fabric = Fabric { scheme: "dctcp", host: "10Gbps", bottleneck: "10Gbps", delay: "1us" };
const HUNDRED: Fabric = Fabric { host: "100Gbps", bottleneck: "100Gbps", ..TEN };

impl Fabric {
    fn of(self, scheme: &'static str) -> Self {
        Self { scheme, ..self }
    }

    fn far(self, delay: &'static str) -> Self {
        Self { delay, ..self }
    }

    fn text(self, tables: &str) -> String {
        let Self { scheme, host, bottleneck, delay } = self;
        format!(
            r#"title = "Settings"
schemes = ["{scheme}"]
time = {{ flows = 2, limit = "400ms" }}
[topology]
kind = "dumbbell"
left = 2
right = 2
host_link = {{ rate = "{host}", delay = "{delay}" }}
bottleneck = {{ rate = "{bottleneck}", delay = "{delay}" }}
[[group]]
name = "left"
hosts = "0-1"
to = "right"
app = "flows"
list = [{{ src = 0, dst = 2, size = "2MB", start = "0ns" }}, {{ src = 1, dst = 3, size = "2MB", start = "0ns" }}]
[[group]]
name = "right"
hosts = "2-3"
app = "none"
{tables}"#
        )
    }

    fn planned(self, tables: &str) -> Result<Plan, InputError> {
        plan::from_text("x.toml", &self.text(tables), Path::new("."), &Options::default())
    }

    /// The key and the text of each finding that does not reject the experiment.
    fn findings(self, tables: &str) -> Vec<String> {
        let plan = self.planned(tables).unwrap_or_else(|error| panic!("{error}"));
        let found = plan.runs[0].findings.clone();
        let prefix = format!("{}: ", self.scheme);
        assert!(
            found.iter().all(|finding| plan.warnings.contains(&format!("{prefix}{finding}"))),
            "{found:?}"
        );
        found
    }

    fn rejected(self, tables: &str) -> String {
        self.planned(tables).map_or_else(|error| error.to_string(), |plan| panic!("{:?}", plan.warnings))
    }

    fn ran(self, tables: &str) -> (Outcome, Counters) {
        let plan = self.planned(tables).unwrap_or_else(|error| panic!("{error}"));
        let scenario = plan::build(&plan.runs[0]).unwrap().scenario;
        let outcome = Simulation::of(&scenario).run(Drive::default()).unwrap();
        let counters = Counters::of(&scenario, &outcome);
        (outcome, counters)
    }
}

fn begins(found: &[String], key: &str) -> bool {
    found.iter().any(|finding| finding.starts_with(&format!("{key}: ")))
}

#[test]
fn thresholds_are_told_if_and_only_if_no_packet_is_marked() {
    // The backlog counts the arriving packet, so a buffer of 65 packets never exceeds a threshold of 65, and one of 66
    // does.
    for (packets, marked) in [(40, false), (65, false), (66, true), (240, true)] {
        let tables = format!("[switch]\nbuffer = {{ shared = \"{packets}pkt\" }}\n");
        assert_eq!(begins(&TEN.findings(&tables), "port.ecn"), !marked, "{packets}");
        let (_, counters) = TEN.ran(&tables);
        assert_eq!(counters.marks > 0, marked, "{packets}");
    }
}

#[test]
fn a_first_timeout_below_the_time_through_lossless_memory_is_told() {
    // 2 MB take 1.6 ms at 10 Gbit/s, less the room that is reserved.
    let tables = |rto: &str| {
        format!(
            "[scheme]\nnewreno.transport.initial_rto = \"{rto}\"\nnewreno.transport.min_rto = \"100us\"\n\
             newreno.port.buffer = {{ dynamic = \"2MB\", alpha = 1 }}\n\
             newreno.port.pfc = {{ classes = [0], xoff = \"11/100\", xon_below = \"3kB\", headroom = \"charged\" }}\n"
        )
    };
    let found = TEN.of("newreno").findings(&tables("1ms"));
    assert!(begins(&found, "transport.initial_rto"), "{found:?}");
    assert!(
        found.iter().any(|line| line.contains("the full memory of a switch, while its class is paused")),
        "{found:?}"
    );
    assert!(!begins(&TEN.of("newreno").findings(&tables("2ms")), "transport.initial_rto"));
}

#[test]
fn where_few_packets_fill_the_path_two_flows_of_hpcc_need_a_larger_increase() {
    let found = |fabric: Fabric| begins(&fabric.of("hpcc").findings(""), "transport.step");
    // Six links of 2.2 us, three packets of 1538 B and three of 84 B, and the random time of two hosts take 19.55 us:
    // 15.9 packets. With 2.3 us they are 16.4.
    assert_eq!([TEN, TEN.far("2200ns"), TEN.far("2300ns")].map(found), [true, true, false]);
    assert!(!found(HUNDRED));
}

/// A group of flows with deadlines and a load of `value`.
fn poisson(value: f64) -> String {
    format!(
        "[[group]]\nname = \"due\"\nhosts = \"0-1\"\nto = \"right\"\napp = \"poisson\"\nsizes = \"web_search\"\n\
         load = {{ of = \"host\", counts = \"payload\", value = {value} }}\ndeadline = \"2ms\"\n"
    )
}

#[test]
fn presets_reach_their_thresholds_at_every_rate() {
    for scheme in ["dctcp", "nos2", "pias", "es8", "paccp_dctcp", "aequitas", "firapam", "d2tcp"] {
        for rate in ["10Gbps", "25Gbps", "40Gbps", "100Gbps"] {
            let fabric = Fabric { host: rate, bottleneck: rate, ..TEN.of(scheme) };
            assert_eq!(fabric.findings(&poisson(0.1)), Vec::<String>::new(), "{scheme} {rate}");
        }
    }
}

#[test]
fn swift_far_below_its_path_is_an_error_and_somewhat_below_is_told_with_its_rate() {
    // A target of 25 us, three hops of 3.817 us each, and up to 100 us for small windows: 136.5 us.
    assert!(begins_line(&TEN.of("swift").far("30us").rejected(""), "scheme.swift.transport.target"));
    assert_eq!(TEN.of("swift").far("3us").findings(""), Vec::<String>::new());
    let found = TEN.of("swift").far("12us").findings("");
    let rests = found[0].split("rests at ").nth(1).and_then(|rest| rest.split(" %").next()).unwrap();
    let predicted: f64 = rests.parse().unwrap();
    // One flow for 40 ms, of which the first halvings of its window take a few.
    let text = TEN
        .of("swift")
        .far("12us")
        .text("")
        .replace(", { src = 1, dst = 3, size = \"2MB\", start = \"0ns\" }", "");
    let text =
        text.replace("flows = 2, limit = \"400ms\"", "flows = 1, limit = \"40ms\"").replace("2MB", "1GB");
    let text = text.replace("schemes =", "rates_every = \"10ms\"\nschemes =");
    let plan = plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let scenario = plan::build(&plan.runs[0]).unwrap().scenario;
    let outcome = Simulation::of(&scenario).run(Drive::default()).unwrap();
    let acked: Vec<u64> = outcome.flow_samples.iter().map(|sample| sample.acked_bytes).collect();
    let [.., third, fourth] = acked[..] else { panic!("{acked:?}") };
    let percent = 100.0 * (fourth - third) as f64 / 12.5e6;
    assert!((0.5..2.0).contains(&(percent / predicted)), "{percent} % of the line, said {predicted} %");
}

#[test]
fn rates_and_windows_that_no_idle_path_allows_are_errors() {
    let cases = [
        (TEN.of("timely").far("100us"), "", "scheme.timely.transport.t_high"),
        (
            TEN.of("timely"),
            "scheme.timely.transport.min_rate = \"10Gbps\"",
            "scheme.timely.transport.min_rate",
        ),
        (TEN.of("pfabric").far("10us"), "", "scheme.pfabric.transport.max_rto"),
        (
            TEN.of("dctcp").far("1ms"),
            "scheme.dctcp.transport = { min_rto = \"1ms\", initial_rto = \"1ms\", max_rto = \"2ms\" }",
            "scheme.dctcp.transport.max_rto",
        ),
        (TEN.of("homa"), "scheme.homa.transport.resend = \"5ns\"", "scheme.homa.transport.resend"),
        (TEN.of("homa"), "scheme.homa.transport.retry = \"5us\"", "scheme.homa.transport.retry"),
        (TEN.of("phost"), "scheme.phost.transport.retry = \"5us\"", "scheme.phost.transport.retry"),
        (TEN.of("ndp"), "scheme.ndp.transport.rto = \"5us\"", "scheme.ndp.transport.rto"),
    ];
    for (fabric, tables, key) in cases {
        let tables = format!("[scheme]\n{}", tables.replace("scheme.", ""));
        let error = fabric.rejected(&tables);
        assert!(begins_line(&error, key), "{key}: {error}");
    }
}

#[test]
fn numbers_that_follow_from_sizes_are_asked_for_where_no_group_has_sizes() {
    // Flows of a list; TOP's p is the number of packets of the largest flow.
    let error = TEN.of("top").rejected("");
    assert!(begins_line(&error, "scheme.top.transport.p"), "{error}");
    assert_eq!(TEN.of("top").findings("[scheme]\ntop.transport.p = 1370\n"), Vec::<String>::new());
}

/// A network, a setting that causes a finding, one that just fits, and the key at fault.
type Case = (Fabric, &'static str, &'static str, &'static str);

/// Asserts that the first setting of each case causes a finding, and that the second causes none.
fn assert_found(cases: &[Case]) {
    for &(fabric, wrong, right, key) in cases {
        let found = fabric.findings(&format!("[scheme]\n{wrong}\n"));
        assert!(begins(&found, key), "{key}: {found:?}");
        assert_eq!(fabric.findings(&format!("[scheme]\n{right}\n")), Vec::<String>::new(), "{key}");
    }
}

#[test]
fn windows_and_timeouts_that_may_be_meant_are_told_and_those_that_just_fit_are_not() {
    assert_found(&[
        (
            TEN.of("hpcc"),
            "hpcc.port.buffer = { dynamic = \"100kB\", alpha = 1 }\nhpcc.port.pfc = { headroom_least = \"33kB\", xoff = \"9kB\" }\nhpcc.transport.step = \"1bdp\"",
            "hpcc.port.buffer = { dynamic = \"101kB\", alpha = 1 }\nhpcc.port.pfc = { headroom_least = \"33kB\", xoff = \"9kB\" }\nhpcc.transport.step = \"1bdp\"",
            "port.buffer",
        ),
        (
            TEN.of("aequitas"),
            "aequitas.admit = { targets = [\"9us\", \"12us\"], per = \"rpc\" }",
            "aequitas.admit = { targets = [\"11us\", \"12us\"], per = \"rpc\" }",
            "admit.targets",
        ),
        // The reply to a SYN takes 6 x 200 us and twelve times 84 B.
        (
            TEN.far("200us"),
            "dctcp.transport.initial_rto = \"1ms\"\ndctcp.transport.min_rto = \"1ms\"",
            "dctcp.transport.initial_rto = \"2ms\"\ndctcp.transport.min_rto = \"1ms\"",
            "transport.initial_rto",
        ),
        // 240 packets take 295 us at 10 Gbps, and the path 9.9 us.
        (
            TEN.of("newreno"),
            "newreno.transport = { min_rto = \"300us\", initial_rto = \"300us\" }",
            "newreno.transport = { min_rto = \"306us\", initial_rto = \"306us\" }",
            "transport.initial_rto",
        ),
        // 9.98 us at 10 Gbps with the random time of two hosts: 15.6 kB.
        (
            TEN,
            "dctcp.transport.max_window = \"12kB\"",
            "dctcp.transport.max_window = \"16kB\"",
            "transport.max_window",
        ),
        // 100 packets arrive at 100 Gbps and leave at 10: 90 % of them wait.
        (
            Fabric { host: "100Gbps", ..TEN },
            "dctcp.transport.init_window = \"100pkt\"\ndctcp.port.buffer = { shared = \"89pkt\" }\ndctcp.port.ecn.at = { \"10Gbps\" = \"65pkt\", \"100Gbps\" = \"65pkt\" }",
            "dctcp.transport.init_window = \"100pkt\"\ndctcp.port.buffer = { shared = \"90pkt\" }\ndctcp.port.ecn.at = { \"10Gbps\" = \"65pkt\", \"100Gbps\" = \"65pkt\" }",
            "transport.init_window",
        ),
        (
            TEN.of("swift"),
            "swift.transport.max_cwnd = \"8pkt\"",
            "swift.transport.max_cwnd = \"12pkt\"",
            "transport.max_cwnd",
        ),
        // 20 packets wait 24.6 us, after 9.9 us. The scheme of LEDBAT has ports without lossless classes.
        (
            TEN.of("ledbat"),
            "ledbat.port.buffer = { shared = \"20pkt\" }\nledbat.transport = { kind = \"timely\", t_low = \"35us\" }",
            "ledbat.port.buffer = { shared = \"20pkt\" }\nledbat.transport = { kind = \"timely\", t_low = \"34us\" }",
            "transport.t_low",
        ),
        (
            TEN.of("hpcc"),
            "hpcc.transport = { rtt = \"9us\", step = \"1bdp\" }",
            "hpcc.transport = { rtt = \"12us\", step = \"1bdp\" }",
            "transport.rtt",
        ),
        // 10.2 packets fill the path.
        (
            TEN.of("hpcc"),
            "hpcc.transport.step = \"0.0024bdp\"",
            "hpcc.transport.step = \"0.0025bdp\"",
            "transport.step",
        ),
        // 20 packets wait 24.6 us.
        (
            TEN.of("ledbat"),
            "ledbat.port.buffer = { shared = \"20pkt\" }",
            "ledbat.port.buffer = { shared = \"21pkt\" }",
            "transport.target",
        ),
    ]);
}

/// The plan of HPCC with `rtt` on two racks: one link there and back within a rack, two more across the spine.
fn hpcc_on_two_racks(rtt: &str) -> plan::Plan {
    let text = TEN.of("hpcc").text(&format!("[scheme.hpcc.transport]\nkind = \"hpcc\"\nrtt = {rtt}\n"));
    let (head, rest) = text.split_once("kind = \"dumbbell\"").unwrap();
    let (_, tail) = rest.split_once("bottleneck").unwrap();
    let (_, tail) = tail.split_once('\n').unwrap();
    let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
    let network =
        format!("leaves = 2\nspines = 1\nhosts_per_leaf = 2\nhost_link = {link}\nfabric_link = {link}\n");
    let text =
        format!("{head}kind = \"leaf_spine\"\n{network}{tail}").replace("to = \"right\"", "to = \"*\"");
    let text = text.replace("src = 0, dst = 2", "src = 0, dst = 1");
    plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap()
}

#[test]
fn hpcc_with_a_t_for_each_path_is_warned_of_if_and_only_if_paths_differ() {
    let found = |rtt| hpcc_on_two_racks(rtt).runs[0].findings.clone();
    let by_path = found("\"path\"");
    assert!(begins(&by_path, "transport.rtt"), "{by_path:?}");
    assert!(!begins(&found("\"auto\""), "transport.rtt"));
    assert!(!begins(&found("\"20us\""), "transport.rtt"));
    assert!(!begins(&TEN.of("hpcc").findings("[scheme]\nhpcc.transport.rtt = \"path\"\n"), "transport.rtt"));
}

#[test]
fn hpcc_has_the_longest_round_trip_as_its_t_where_paths_differ() {
    let run = &hpcc_on_two_racks("\"auto\"").runs[0];
    let scheme = &run.experiment.scheme["hpcc"];
    let text = toml::to_string(scheme).unwrap();
    // Across the spine: 4 links of 1 us there and back, 4 times 1230.4 ns for 1,538 B and 67.2 ns for 84 B, and 1230.4 ns
    // before the packets of both ends.
    assert!(text.contains("rtt = \"15651200ps\""), "{text}");
    assert!(
        !toml::to_string(&hpcc_on_two_racks("\"path\"").runs[0].experiment.scheme["hpcc"])
            .unwrap()
            .contains("15651200")
    );
}

#[test]
fn intervals_so_short_that_no_run_would_end_are_refused() {
    for key in ["sample_every", "rates_every", "admission_every"] {
        let planned = |value: &str| {
            let text = format!("{key} = {value:?}\n{}", TEN.text(""));
            plan::from_text("x.toml", &text, Path::new("."), &Options::default())
        };
        let error = planned("99ns").unwrap_err().to_string();
        assert!(error.contains(&format!("{key}: the value is shorter than 100 ns")), "{error}");
        planned("100ns").unwrap();
    }
}

#[test]
fn a_ceiling_of_the_window_that_is_advised_is_enough() {
    for delay in ["1us", "3us", "7us", "11us"] {
        let ceiling = |window: &str| {
            let tables = format!("[scheme]\ndctcp.transport.max_window = {window}\n");
            TEN.far(delay)
                .findings(&tables)
                .into_iter()
                .find(|found| found.starts_with("transport.max_window"))
        };
        let found = ceiling("\"5kB\"").unwrap();
        let advised = found.split("max_window = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert_eq!(ceiling(&format!("{advised:?}")), None, "{delay}: {found}");
    }
}

#[test]
fn receivers_tokens_targets_and_queues_that_may_be_meant_are_told_and_those_that_just_fit_are_not() {
    assert_found(&[
        (
            TEN.of("homa"),
            "homa.transport.rtt_bytes = \"12kB\"",
            "homa.transport.rtt_bytes = \"17kB\"",
            "transport.rtt_bytes",
        ),
        (TEN.of("phost"), "phost.transport.expiry = 0.999", "phost.transport.expiry = 1", "transport.expiry"),
        (TEN.of("ndp"), "ndp.transport.window = 8", "ndp.transport.window = 12", "transport.window"),
        (TEN.of("ndp"), "ndp.transport.window = 1", "ndp.transport.window = 12", "transport.window"),
        (
            TEN.of("aequitas"),
            "aequitas.admit.targets = [\"9us\", \"25us\"]",
            "aequitas.admit.targets = [\"12us\", \"25us\"]",
            "admit.targets",
        ),
        (
            TEN.of("hpcc"),
            "hpcc.port.pfc.xoff = \"1500B\"\nhpcc.transport.step = \"1bdp\"",
            "hpcc.port.pfc.xoff = \"5kB\"\nhpcc.transport.step = \"1bdp\"",
            "port.pfc.xoff",
        ),
        (
            HUNDRED,
            "dctcp.nic = { queue = \"fifo\", limit = \"650pkt\", ecn = { per = \"port\", at = { \"100Gbps\" = \"650pkt\" } } }",
            "dctcp.nic = { queue = \"fifo\", limit = \"651pkt\", ecn = { per = \"port\", at = { \"100Gbps\" = \"650pkt\" } } }",
            "nic.ecn",
        ),
    ]);
}

#[test]
fn a_window_that_cannot_fall_and_a_pause_before_a_mark_are_told() {
    // 40 packets of floor, above 16 kB of path and 20 packets of threshold.
    let floor = |least| {
        format!(
            "[scheme]\ndctcp.transport.min_window = {least}\ndctcp.port.ecn.at = {{ \"10Gbps\" = \"20pkt\" }}\n"
        )
    };
    assert!(begins(&TEN.findings(&floor(40)), "transport.min_window"));
    assert_eq!(TEN.findings(&floor(20)), Vec::<String>::new());
    // 65 packets are 99,970 B.
    let pause = |bytes| {
        format!(
            "[scheme]\ndctcp.nic = \"pull\"\ndctcp.host.kind = \"round_robin\"\n\
             dctcp.port = {{ kind = \"fifo\", buffer = {{ dynamic = \"9MB\", alpha = 1 }}, pfc = {{ classes = [0], xoff = \"{bytes}B\" }} }}\n"
        )
    };
    assert!(begins(&TEN.findings(&pause(99_970)), "port.pfc.xoff"));
    assert_eq!(TEN.findings(&pause(99_971)), Vec::<String>::new());
}

#[test]
fn timeouts_that_were_spurious_are_counted_where_nothing_is_lost() {
    // The reply to the SYN comes after 1.2 ms, so the timer of 1 ms expires once for each flow.
    let tables = "[host]\ninitial_rto = \"1ms\"\nmin_rto = \"1ms\"\n";
    let (outcome, counters) = TEN.far("200us").ran(tables);
    assert_eq!((counters.drops, counters.timeouts), (Some(0), 2));
    assert!(outcome.flows.iter().all(|flow| (flow.timeouts, flow.spurious) == (1, 1)));
    // Without a handshake it is the first packet of data, and its original is answered.
    let (outcome, counters) = TEN.far("200us").ran(&format!("{tables}handshake = \"none\"\n"));
    assert_eq!(counters.drops, Some(0));
    assert!(
        outcome.flows.iter().all(|flow| flow.timeouts >= 1 && flow.spurious == flow.timeouts),
        "{outcome:?}"
    );
    // Timeouts that follow losses are not spurious: a queue of two packets, and no other wait.
    let (outcome, counters) = TEN.ran("[switch]\nbuffer = { shared = \"2pkt\" }\n");
    assert!(counters.drops > Some(0) && counters.timeouts > 0);
    assert!(outcome.flows.iter().all(|flow| flow.spurious == 0));
}

#[test]
fn timeouts_are_counted_by_the_timer_that_ran_out() {
    // The reply to the SYN comes after 1.2 ms: one timer of 1 ms expires for each flow, before any sample.
    let (outcome, _) = TEN.far("200us").ran("[host]\ninitial_rto = \"1ms\"\nmin_rto = \"1ms\"\n");
    assert!(outcome.flows.iter().all(|flow| (flow.timeouts, flow.initial_timeouts) == (1, 1)));
    // No SYN is lost in a queue of two packets, so that each flow has a sample before its first timeout.
    let (outcome, counters) = TEN.ran("[switch]\nbuffer = { shared = \"2pkt\" }\n");
    assert!(counters.timeouts > 0 && outcome.flows.iter().all(|flow| flow.initial_timeouts == 0));
}

#[test]
fn packets_that_a_receiver_had_are_counted_for_transports_without_replies() {
    // Nothing is late or lost, so Homa repeats nothing; with timers of one round trip it does.
    let (outcome, _) = TEN.of("homa").ran("");
    assert!(outcome.flows.iter().all(|flow| flow.spurious == 0 && flow.fct.is_some()));
    let (outcome, counters) =
        TEN.of("homa").ran("[scheme]\nhoma.transport = { resend = \"12us\", retry = \"12us\" }\n");
    let again: u32 = outcome.flows.iter().map(|flow| flow.spurious).sum();
    assert_eq!((counters.drops, u64::from(again)), (Some(0), counters.retransmits));
    assert!(again > 0);
}

#[test]
fn overloaded_receivers_low_loads_and_empty_classes_are_told() {
    let warned = |text: &str| {
        let plan = plan::from_text("x.toml", text, Path::new("."), &Options::default()).unwrap();
        let built = plan::build(&plan.runs[0]).unwrap();
        plan.warnings.into_iter().chain(built.warnings).collect::<Vec<_>>().join("\n")
    };
    // Two hosts at 0.6 of payload, 1,538 / 1,460 of which is on the wire, to one.
    let incast = |value| {
        TEN.text(&poisson(value)).replace("hosts = \"2-3\"", "hosts = \"2\"").replace("dst = 3", "dst = 2")
    };
    assert!(
        warned(&incast(0.6)).contains("host 2 is offered 1.264 of what its link carries"),
        "{}",
        warned(&incast(0.6))
    );
    assert!(!warned(&incast(0.4)).contains("is offered"));
    // Two flows from 0 ns on are all that start in a microsecond; at a load of 1, Poisson arrivals offer 2,500 B.
    let window = |measure: &str| {
        TEN.text(&poisson(0.5)).replace("flows = 2, limit = \"400ms\"", &format!("measure = \"{measure}\""))
    };
    assert!(
        warned(&window("1us")).contains("less than half of the 0.500 that is asked"),
        "{}",
        warned(&window("1us"))
    );
    // Strata would be refused: the group has two hosts.
    assert!(!warned(&window("1us")).contains("strata"), "{}", warned(&window("1us")));
    assert!(!warned(&window("400ms")).contains("less than half"), "{}", warned(&window("400ms")));
    let class = |bound: &str| TEN.text(&format!("[metrics]\nclasses = {{ few = {{ {bound} }} }}\n"));
    assert!(warned(&class("below = \"1kB\"")).contains("the class `few` has no measured flow"));
    assert!(!warned(&class("above = \"1kB\"")).contains("no measured flow"));
}

#[test]
fn a_class_of_coflows_counts_the_bytes_of_all_their_flows() {
    let folder = tempfile::tempdir().unwrap();
    let list = "start_ns,src,dst,bytes,coflow\n0,0,2,4000,1\n0,1,3,4000,1\n";
    std::fs::write(folder.path().join("job.csv"), list).unwrap();
    let warned = |bound: &str| {
        let tables = format!(
            "[[group]]\nname = \"job\"\nhosts = \"0-1\"\nto = \"right\"\napp = \"flows\"\nlist = \"job.csv\"\n\
             [metrics]\nclasses = {{ job = {{ group = \"job\", {bound} }} }}\n"
        );
        let text = TEN.text(&tables).replace("flows = 2", "flows = 4");
        let plan = plan::from_text("x.toml", &text, folder.path(), &Options::default()).unwrap();
        plan::build(&plan.runs[0]).unwrap().warnings.join("\n")
    };
    assert!(!warned("above = \"7kB\"").contains("no measured flow"), "{}", warned("above = \"7kB\""));
    assert!(warned("above = \"9kB\"").contains("the class `job` has no measured flow"));
}

#[test]
fn endless_flows_that_start_before_the_window_are_in_their_class() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../study/papers/paccp/fig2/figure.toml");
    let plan = plan::plan(&path, &Options::default()).unwrap();
    let built = plan::build(&plan.runs[0]).unwrap();
    // All flows start within 1 ms, and the warm-up takes 50 ms.
    assert!(
        !built.warnings.iter().any(|warning| warning.contains("no measured flow")),
        "{:?}",
        built.warnings
    );
}

/// Whether a line of the message is about `key`.
fn begins_line(error: &str, key: &str) -> bool {
    error.lines().any(|line| line.contains(&format!(": {key}: ")))
}
