//! Values just inside and just outside of limits, and properties that depend on one of several groups or schemes.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_core::ids::LinkId;
use priolane_core::units::Span;
use priolane_lab::execute::{FinishedRun, Measurement, Settings, execute, reuse_from, store_measured};
use priolane_lab::experiment::{AllowedTime, Deadline, Deadlines};
use priolane_lab::plan::{self, Options, Plan};
use priolane_lab::unit::{self, RunUnit};
use priolane_results::record::MeasuredRecord;
use priolane_results::store::{RunId, Store};
use priolane_results::summary::PortSet;
use priolane_sim::outcome::PortQueue;
use priolane_sim::{Drive, Simulation};

use crate::bad_input::{Folder, GOOD, planned};

const APP: &str = "app = \"poisson\"\nsizes = \"web_search\"\nload = { of = \"host\", counts = \"payload\", value = 0.5 }\n";

/// `GOOD` with this app in place of its own.
fn with_app(app: &str) -> String {
    assert!(GOOD.contains(APP));
    GOOD.replace(APP, app)
}

fn list(flows: &str) -> String {
    with_app(&format!("app = \"flows\"\nlist = [{flows}]\n"))
}

#[test]
fn offered_loads_above_capacity_are_warned_of_from_one_on() {
    // An epoch each 12.5 us over the load, of one flow of 125 kB: at 8 hosts of 10 Gbit/s exactly what is asked for.
    let warnings = |load: f64| {
        let text = with_app(&format!(
            "app = \"incast\"\nfan_in = 1\nsize = \"125kB\"\nload = {{ of = \"host\", counts = \"payload\", value = {load} }}\n"
        ));
        let text = text
            .replace("\"2ms\"", "\"1ms\"")
            .replace("40Gbps", "400Gbps")
            .replace("\"dctcp\"", "\"newreno\"");
        plan::build(&planned(&text).unwrap().runs[0]).unwrap().warnings
    };
    assert_eq!(warnings(0.95), [""; 0]);
    assert_eq!(warnings(1.05), ["the offered load of the hosts is 1.050, above the capacity"]);
    // Loads that nobody asks for are those of the list.
    let flow = "{ src = 0, dst = 1, size = \"125kB\", start = \"1100us\" }";
    let listed = list(&[flow; 20].join(", ")).replace("\"2ms\"", "\"1ms\"");
    assert_eq!(plan::build(&planned(&listed).unwrap().runs[0]).unwrap().warnings, [""; 0]);
}

#[test]
fn as_many_flows_as_fit_are_planned_and_not_one_more() {
    let two = |flows: u32| {
        let second = format!("[[group]]\nname = \"b\"\nhosts = \"*\"\n{APP}");
        let text = GOOD.replace("{ warmup = \"1ms\", measure = \"2ms\" }", &format!("{{ flows = {flows} }}"));
        planned(&format!("{text}{second}"))
    };
    // Two groups of 30 million each are 1.2 times the limit.
    two(30_000_000).unwrap();
    let error = two(30_000_001).unwrap_err();
    assert_eq!((error.key.as_str(), error.line), ("time.flows", Some(3)), "{error}");
    assert!(error.what.contains("about 6.0e7 flows would start, 3.0e7 of them of"), "{error}");
}

#[test]
fn a_path_of_one_group_counts_for_all_and_its_number_is_below_that_of_paths() {
    let pinned = list("{ src = 0, dst = 4, size = \"1kB\", path = PATH }")
        .replace("spines = 2\n", "spines = 2\npaths = \"pinned\"\n");
    let path = |number: u32| planned(&pinned.replace("PATH", &number.to_string()));
    path(1).unwrap();
    let error = path(2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.toml:16: group.all.list: item 0 of the list has path 2, but host 0 has only 2 paths to host 4. Use a path from 0 to 1."
    );
    // A token transport chooses paths itself, whichever group states one.
    let second = format!("[[group]]\nname = \"b\"\nhosts = \"*\"\n{APP}");
    let tokens = pinned.replace("PATH", "1").replace("\"dctcp\"", "\"expresspass\"") + &second;
    let error = planned(&tokens).unwrap_err();
    assert_eq!(error.key, "scheme.expresspass.transport");
    assert!(error.what.contains("flows have their own paths"), "{error}");
}

#[test]
fn a_part_of_flows_has_the_deadline_at_its_place_among_the_shares() {
    let text = GOOD.replace(
        "hosts = \"*\"\n",
        "hosts = \"*\"\ndeadline = [{ share = 0.25, within = \"1ms\" }, { share = 0.5, within = \"2ms\" }, { share = 0.25 }]\n",
    );
    let plan = planned(&text).unwrap();
    let Some(Deadline::Drawn(mix)) = &plan.experiment.groups[0].flows.deadline else { panic!("drawn") };
    let within = |ms| AllowedTime::Within { within: Span::from_ms(ms) };
    for (u, expected) in [
        (0.0, within(1)),
        (0.249, within(1)),
        (0.25, within(2)),
        (0.749, within(2)),
        (0.75, AllowedTime::Ever {}),
        (0.999, AllowedTime::Ever {}),
    ] {
        assert_eq!(mix.draw(u), expected, "{u}");
    }
    let text = GOOD
        .replace("hosts = \"*\"\n", "hosts = \"*\"\ndeadline = { mean = \"1ms\", at_least_alone = 1.5 }\n");
    let plan = planned(&text).unwrap();
    let Some(Deadline::Drawn(Deadlines::Exponential(law))) = &plan.experiment.groups[0].flows.deadline else {
        panic!("exponential")
    };
    // -ln(1 - u) is 1 at u = 1 - 1/e.
    let AllowedTime::Within { within } = Deadlines::Exponential(*law).draw(1.0 - libm::exp(-1.0)) else {
        panic!()
    };
    assert!(within.0.abs_diff(Span::from_ms(1).0) <= 10, "{within:?}");
    assert_eq!(Deadlines::Exponential(*law).draw(0.0), AllowedTime::Within { within: Span(1) });
    assert_eq!((law.least(Span(2)), law.least(Span(3))), (Span(3), Span(5)));
}

#[test]
fn an_experiment_has_deadlines_of_all_flows_of_some_or_of_none() {
    let coverage = |groups: &[&str]| {
        let (head, group) = GOOD.split_once("[[group]]\n").unwrap();
        let group = |(n, deadline): (usize, &&str)| {
            let text = group.replace("\"all\"", &format!("\"g{n}\""));
            format!("[[group]]\n{}", text.replace("hosts = \"*\"\n", &format!("hosts = \"*\"\n{deadline}\n")))
        };
        let text: String = groups.iter().enumerate().map(group).collect();
        format!("{:?}", planned(&format!("{head}{text}")).unwrap().experiment.deadlines())
    };
    let (all, some, rate) = (
        "deadline = \"1ms\"",
        "deadline = [{ share = 0.5, within = \"1ms\" }, { share = 0.5 }]",
        "deadline = { rate = \"5Gbps\" }",
    );
    assert_eq!((coverage(&[all]), coverage(&[some])), ("All".to_owned(), "Some".to_owned()));
    assert_eq!((coverage(&[""]), coverage(&[rate])), ("None".to_owned(), "None".to_owned()));
    assert_eq!(coverage(&["deadline = { mean = \"1ms\" }", all]), "All");
    for groups in [[all, ""], ["", all], [all, some], [some, ""], [rate, all]] {
        assert_eq!(coverage(&groups), "Some", "{groups:?}");
    }
    let folder = Folder::new("coverage");
    folder.write("x.toml", with_app("app = \"flows\"\nlist = \"f.csv\"\n"));
    let listed = |rows: &str| {
        format!("{:?}", folder.write("f.csv", rows).plan("x.toml").unwrap().experiment.deadlines())
    };
    assert_eq!(listed("start_ns,src,dst,bytes\n0,0,1,5\n"), "None");
    assert_eq!(listed("start_ns,src,dst,bytes,deadline_ns\n0,0,1,5,9\n0,1,2,5,\n"), "Some");
    // Who only receives has no flows without a deadline.
    let receiver =
        "[[group]]\nname = \"sink\"\nhosts = 0\napp = \"none\"\n".replace("hosts = 0", "hosts = \"0\"");
    let text = GOOD.replace("hosts = \"*\"\n", &format!("hosts = \"*\"\n{all}\n")) + &receiver;
    assert_eq!(format!("{:?}", planned(&text).unwrap().experiment.deadlines()), "All");
}

#[test]
fn a_trace_of_noise_is_refused_at_the_line_that_falls() {
    let folder = Folder::new("noise");
    folder
        .write("x.toml", GOOD.replace("time = ", "delay_noise = { trace = \"n.csv\", scale = 2 }\ntime = "));
    let refused = |trace: &str| folder.write("n.csv", trace).plan("x.toml").unwrap_err();
    folder.write("n.csv", "ns,cdf\n1,0.5\n# half\n2,1\n").plan("x.toml").unwrap();
    for (trace, line, key) in [
        ("ns,cdf\n1,0.5\n# half\n0.5,1\n", Some(4), ""),
        ("ns,cdf\n1,0.5\n2,0.4\n3,1\n", Some(3), ""),
        ("ns,cdf\n1,0.5\n2,0.9\n", None, ""),
        ("ns,cdf\n1,0.5\n2,x\n", Some(3), "cdf"),
        ("ns,cdf\nx,0.5\n2,1\n", Some(2), "ns"),
    ] {
        let error = refused(trace);
        assert_eq!((error.file.as_str(), error.line, error.key.as_str()), ("n.csv", line, key), "{error}");
    }
}

/// The scheme `prioplus_swift` with this change.
fn channels(change: &str) -> Result<Plan, priolane_source::InputError> {
    planned(&format!(
        "{}[scheme.prioplus_swift]\n{change}\n",
        GOOD.replace("\"dctcp\"", "\"prioplus_swift\"")
    ))
}

#[test]
fn a_buffer_in_packets_covers_the_highest_delay_by_their_bytes() {
    // Seven classes yield, the best at 28 + 2.4 us: 152,000 B at 40 Gbit/s, or 98.8 packets of 1538 B.
    let with = |packets: u32| {
        channels(&format!("transport.priorities = 8\nport.buffer = {{ shared = \"{packets}pkt\" }}"))
    };
    with(99).unwrap();
    let error = with(98).unwrap_err();
    assert_eq!(error.key, "scheme.prioplus_swift.port.buffer");
    assert!(error.fix.contains("152001B"), "{error}");
    let bytes = |bytes: u32| {
        channels(&format!("transport.priorities = 8\nport.buffer = {{ shared = \"{bytes}B\" }}"))
    };
    bytes(152_000).unwrap();
    assert!(bytes(151_990).is_err());
}

#[test]
fn the_memory_of_a_switch_holds_the_headroom_of_its_lossless_classes_to_the_byte() {
    let with = |memory: u64| {
        let port = format!(
            "port.buffer = {{ dynamic = \"{memory}B\", alpha = 1 }}\nport.pfc = {{ classes = [0], xoff = \"11/100\", xon_below = \"3kB\", headroom = \"charged\" }}\n"
        );
        planned(&format!("{GOOD}[scheme.dctcp]\n{port}"))
    };
    let error = with(1_000_000_000).map(|_| with(10_000).unwrap_err()).unwrap();
    let needed: u64 =
        error.what.split("needs ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    with(needed).unwrap();
    assert_eq!(with(needed - 1).unwrap_err().key, "scheme.dctcp.port.buffer");
}

#[test]
fn a_controller_changes_thresholds_of_hosts_only_if_they_follow_from_sizes() {
    let with = |host: &str| {
        let changes = format!(
            "[scheme.nos2]\nassign.controller = {{ period = \"1ms\", delay = \"10us\" }}\nhost.thresholds = {host}\n"
        );
        planned(&format!("{}{changes}", GOOD.replace("\"dctcp\"", "\"nos2\"")))
    };
    with("{ solver = \"equal_split\", from = \"global\" }").unwrap();
    for (host, what) in [
        ("{ solver = \"pias_published\", from = \"global\" }", "published thresholds do not depend on it"),
        ("{ solver = \"equal_split\", from = \"global\", tail = { max = \"1MB\" } }", "not from a tail"),
    ] {
        let error = with(host).unwrap_err();
        assert_eq!((error.key.as_str(), error.line), ("scheme.nos2.host.thresholds", Some(19)), "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    // Thresholds of hosts in bytes stay as they are.
    let bytes: Vec<String> = (1..=7).map(|n| format!("\"{n}kB\"")).collect();
    with(&format!("[{}]", bytes.join(", "))).unwrap();
}

fn short() -> Plan {
    let text = list("{ src = 0, dst = 4, size = \"20kB\", start = \"1ms\" }");
    planned(&text).unwrap()
}

#[test]
fn only_what_both_engines_agreed_on_is_taken_for_verified() {
    let plan = short();
    let run = &plan.runs[0];
    let (folder, id) = (tempfile::tempdir().unwrap(), RunId::new(&run.id).unwrap());
    let go_on = &mut |_| ControlFlow::Continue(());
    for verify in [false, true] {
        let settings = Settings { verify, ..Settings::default() };
        let [own, taken, sent] =
            ["own", "taken", "sent"].map(|name| folder.path().join(format!("{name}{verify}")));
        execute(run, &own, &settings, go_on).unwrap();
        assert!(reuse_from(run, &Store::open(&taken).unwrap(), &[Store::at(&own)]).unwrap());
        let answer = RunUnit::of(run).answer(&Default::default(), &settings, go_on).unwrap();
        unit::accept(run, &Store::open(&sent).unwrap(), answer).unwrap();
        let marks = [own, taken, sent].map(|directory| Store::at(&directory).is_verified(&id));
        assert_eq!(marks, [verify; 3]);
    }
}

#[test]
fn a_measured_run_says_nothing_of_queues_that_nobody_saw() {
    let flow = |src, start| format!("{{ src = {src}, dst = 4, size = \"20kB\", start = \"{start}ms\" }}");
    let text = list(&[flow(0, 1), flow(1, 2)].join(", ")).replace("\"dctcp\"", "\"top\"");
    let text = text.replacen("[[group]]", "[host]\nsend_jitter = \"0ns\"\n[[group]]", 1);
    let plan = planned(&text).unwrap();
    let run = &plan.runs[0];
    let built = plan::build(run).unwrap();
    let simulated = Simulation::of(&built.scenario).run(Drive::default()).unwrap();
    let stored = |knows: bool| {
        let mut outcome = simulated.clone();
        let ports = if knows { built.scenario.topology.links.len() as u32 } else { 0 };
        let queue = |link| PortQueue { link: LinkId(link), peak_bytes: 1000, waited: 1 };
        outcome.queues = (0..ports).map(queue).collect();
        let on = MeasuredRecord { on: "linux".to_owned(), scale: 1, machines: Vec::new() };
        let measurement =
            Measurement { outcome, on, drops: None, marks: 7, warnings: vec!["by hand".to_owned()] };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let FinishedRun::Simulated(record) = store_measured(run, &store, measurement.clone()).unwrap() else {
            panic!("it is the first")
        };
        assert!(matches!(store_measured(run, &store, measurement).unwrap(), FinishedRun::AlreadyThere(_)));
        assert!(
            execute(run, folder.path(), &Settings::default(), &mut |_| ControlFlow::Continue(())).is_err()
        );
        record
    };
    let (seen, unseen) = (stored(true), stored(false));
    let of = |record: &priolane_results::record::RunRecord| {
        let edge = record.ports[&PortSet::Edge];
        (edge.max_queue_bytes.is_some(), edge.queue_of_bound.is_some(), edge.queue_bound_bytes.is_some())
    };
    assert_eq!((of(&seen), of(&unseen)), ((true, true, true), (false, false, true)));
    let waits = |record: &priolane_results::record::RunRecord| record.ports[&PortSet::Edge].wait_s.is_some();
    // Nothing waited at these ports; that is not known of a port in the kernel, so it is not reported as zero.
    assert_eq!((waits(&seen), waits(&unseen)), (false, false));
    assert_eq!((unseen.counters.drops, unseen.counters.marks), (None, 7));
    assert!(unseen.warnings.contains(&"by hand".to_owned()) && unseen.measured.is_some());
    // A run that was simulated is not replaced.
    let folder = tempfile::tempdir().unwrap();
    execute(run, folder.path(), &Settings::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let on = MeasuredRecord { on: "linux".to_owned(), scale: 1, machines: Vec::new() };
    let measurement = Measurement { outcome: simulated, on, drops: None, marks: 0, warnings: Vec::new() };
    assert!(store_measured(run, &Store::open(folder.path()).unwrap(), measurement).is_err());
}

#[test]
fn scheme_files_may_be_as_long_as_a_limit_and_not_a_byte_longer() {
    let folder = Folder::new("long-scheme");
    folder.write("x.toml", GOOD.replace("\"dctcp\"", "\"own.toml\""));
    let own =
        "transport = { kind = \"newreno\" }\nport = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }\n#";
    let with = |bytes: usize| {
        let text = own.to_owned() + &"-".repeat(bytes - own.len() - 1) + "\n";
        assert_eq!(text.len(), bytes);
        folder.write("own.toml", text).plan("x.toml")
    };
    with(1 << 20).unwrap();
    let error = with((1 << 20) + 1).unwrap_err();
    assert!(error.what.contains("larger") || error.what.contains("above"), "{error}");
}

#[test]
fn published_points_that_have_no_mark_are_refused_with_what_the_panel_has() {
    let folder = Folder::new("published-fix");
    let panel = "[[panel]]\ntitle = \"t\"\nkind = \"bar\"\nmetrics = [\"fct.all\", \"cv.all\"]\npublished = \"p.csv\"\n";
    folder.write("x.toml", format!("{GOOD}{panel}"));
    let refused = |row: &str| {
        let text = format!("paper,figure,series,x,y,error,read\n{row}\n");
        folder.write("p.csv", text).plan("x.toml").unwrap_err().to_string()
    };
    assert_eq!(
        refused("P,Fig. 1,pias,fct.all,1,0,text"),
        "p.csv:2: series: the panel has no series \"pias\". Use one of dctcp."
    );
    assert_eq!(
        refused("P,Fig. 1,dctcp,fct.small,1,0,text"),
        "p.csv:2: x: the panel has no x \"fct.small\". Use one of fct.all, cv.all."
    );
}

#[test]
fn options_that_a_plan_does_not_know_are_refused() {
    let error = plan::from_text(
        "x.toml",
        GOOD,
        Path::new("."),
        &Options { schemes: Some(vec!["dctcp".into(), "dctcp".into()]), ..Options::default() },
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "--schemes: schemes: the scheme \"dctcp\" is listed twice. Use each scheme once."
    );
    let none = plan::from_text(
        "x.toml",
        GOOD,
        Path::new("."),
        &Options { schemes: Some(vec![]), ..Options::default() },
    );
    assert_eq!(
        none.unwrap_err().to_string(),
        "--schemes: schemes: no scheme is listed. Use at least one scheme."
    );
}

#[test]
fn a_list_of_flows_that_wait_is_not_cut_by_the_end_of_its_group() {
    let folder = Folder::new("cut");
    folder.write("f.csv", "start_ns,src,dst,bytes,after,delay_ns\n0,0,1,5,,\n1000,0,1,5,0,1000\n");
    let until = |until: &str| {
        let group = with_app("app = \"flows\"\nlist = \"f.csv\"\n");
        let text =
            group.replace("\"*\"\n", &format!("\"*\"\nactive = {{ from = \"1ms\", until = \"{until}\" }}\n"));
        let plan = folder.write("x.toml", text).plan("x.toml")?;
        plan::build(&plan.runs[0]).map(|built| built.scenario.flows.len())
    };
    assert_eq!(until("1002us").unwrap(), 2);
    let error = until("1001us").unwrap_err();
    assert_eq!(error.key, "group.all.active.until");
    assert!(error.what.contains("some flows depend on others"), "{error}");
}

#[test]
fn deadlines_by_the_number_of_active_flows_are_set_where_some_groups_have_none() {
    let other = list("{ src = 0, dst = 4, size = \"20kB\", start = \"1ms\" }");
    let other = other.split_once("[[group]]\n").unwrap().1.replace("\"all\"", "\"other\"");
    let fair = "hosts = \"*\"\ndeadline = { rate = \"5Gbps\", split = \"active\" }\n";
    let text = GOOD.replace("hosts = \"*\"\n", fair);
    let built = plan::build(&planned(&format!("{text}[[group]]\n{other}")).unwrap().runs[0]).unwrap();
    let mut outcome = Simulation::of(&built.scenario).run(Drive::default()).unwrap();
    let actual = built.with_actual_starts(&mut outcome);
    let with = actual.scenario.flows.iter().filter(|flow| flow.deadline.is_some()).count();
    assert!(with > 1 && with == actual.scenario.flows.len() - 1, "{with}");
}

#[test]
fn tokens_that_take_sprayed_packets_for_lost_are_warned_of_up_to_three_packets() {
    for (paths, reordering, warned) in [("spray", 3, true), ("spray", 4, false), ("symmetric", 3, false)] {
        let routing = if paths == "spray" { "spray" } else { "hashed" };
        let text = GOOD.replace("[\"dctcp\"]", "[\"top\"]").replace(
            "[[group]]",
            &format!(
                "paths = \"{routing}\"\n[scheme.top]\ntransport.p = 2107\ntransport.paths = \"{paths}\"\ntransport.reordering = {reordering}\n[[group]]"
            ),
        );
        let found = planned(&text).unwrap().warnings;
        let of_order = found.iter().filter(|warning| warning.contains("sprayed and reordered")).count();
        assert_eq!(of_order, usize::from(warned), "{paths}, {reordering}: {found:?}");
    }
}

#[test]
fn window_transports_are_warned_of_spraying_unless_trimmed_headers_name_their_losses() {
    for (scheme, warned) in [("dctcp", true), ("nscc", false)] {
        let text = GOOD.replace("[\"dctcp\"]", &format!("[{scheme:?}]"));
        let found = planned(&text.replace("[[group]]", "paths = \"spray\"\n[[group]]")).unwrap().warnings;
        let of_order = found.iter().filter(|warning| warning.contains("sprayed and reordered")).count();
        assert_eq!(of_order, usize::from(warned), "{scheme}: {found:?}");
    }
}

#[test]
fn nscc_is_warned_of_windows_and_targets_without_use_and_refuses_other_ways_of_recovery() {
    let with = |key: &str| {
        let text = GOOD.replace("[\"dctcp\"]", "[\"nscc\"]");
        planned(&text.replace("[[group]]", &format!("[scheme.nscc]\ntransport.{key}\n[[group]]")))
    };
    let warned = |key: &str, words: &str| {
        let found = with(key).unwrap().warnings;
        found.iter().any(|warning| warning.contains(words))
    };
    for (key, words) in [
        ("rtt = \"100ns\"", "windows end at 1.5 times what arrives in 100ns"),
        ("rtt = \"100ns\"", "rtt = \"auto\""),
        ("max_bdp = 0.5", "a flow alone uses 50 % of the rate"),
        ("max_bdp = 0.5", "max_bdp = 1.5"),
        ("target = \"1ms\"", "only trimmed packets"),
    ] {
        assert!(warned(key, words) && !warned("eta = 0.15", words), "{key}");
    }
    // A segment of 1460 B is the least window, whatever part of a round trip is stated.
    assert!(!warned("max_bdp = 0.001", "uses 0 %"));
    let error = with("recovery = \"sack\"").unwrap_err().to_string();
    assert!(error.contains("recovery = \"trims\""), "{error}");
}

/// At ports that drop, no header says what is lost.
#[test]
fn losses_by_trimmed_headers_need_ports_that_trim() {
    let with = |keys: &str| {
        planned(&GOOD.replace(
            "[[group]]",
            &format!("[scheme.dctcp]\ntransport = {{ recovery = \"trims\" }}\n{keys}[[group]]"),
        ))
    };
    for port in ["", "port.kind = \"strict\"\nport.queues = 2\n"] {
        let error = with(port).unwrap_err().to_string();
        assert!(error.contains("recovery = \"trims\" requires switch ports that trim packets"), "{error}");
        assert!(error.contains("transport.recovery") && error.contains("kind = \"trimming\""), "{error}");
    }
    let trimming = GOOD.replace("[\"dctcp\"]", "[\"nscc\"]");
    let own = "[scheme.nscc]\ntransport = { kind = \"dctcp\", recovery = \"trims\" }\n[[group]]";
    planned(&trimming.replace("[[group]]", own)).unwrap();
}

#[test]
fn one_endless_flow_among_finite_ones_hides_what_flows_require() {
    let with = |size: &str| {
        let flows = format!(
            "{{ src = 0, dst = 1, size = \"1MB\", start = \"0ns\" }}, {{ src = 1, dst = 2, size = {size}, start = \"0ns\" }}"
        );
        let second = format!("[[group]]\nname = \"b\"\nhosts = \"*\"\napp = \"flows\"\nlist = [{flows}]\n");
        planned(&format!("{GOOD}deadline = [{{ share = 1, r_base = 1 }}]\n{second}"))
    };
    with("\"2MB\"").unwrap();
    let error = with("\"endless\"").unwrap_err().to_string();
    assert!(error.contains("some flows are endless, so R_base is not known before the run"), "{error}");
}

#[test]
fn ten_thousand_groups_are_read_and_one_more_is_refused_with_their_number() {
    let group = format!("[[group]]\nname = \"a\"\nhosts = \"*\"\n{APP}");
    let text = format!("{GOOD}{}", group.repeat(10_000));
    let error = planned(&text).unwrap_err();
    assert_eq!((error.what.as_str(), error.fix.as_str()), ("there are 10001 groups", "at most 10000 groups"));
}
