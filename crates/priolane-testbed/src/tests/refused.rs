//! Each thing that a testbed cannot do, or does otherwise, is said of experiments that have it and of no others.

use priolane_linux::machines::AgentAddress;

use super::*;

/// `STAR` with what `old` says replaced.
fn star(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(STAR.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    })
}

const APP: &str = "app = \"poisson\"\nsizes = \"web_search\"\nload = { of = \"host\", counts = \"payload\", value = 0.5 }\n";
const TIME: &str = "time = { flows = 40, limit = \"100ms\" }";
const WINDOW: &str = "time = { measure = \"1ms\" }";

fn refusal(scheme: &str, text: &str) -> String {
    let kernel = Choices { scale: Some(100), ..Choices::default() };
    job(&run_of(scheme, text), name(), kernel).unwrap_err().to_string()
}

#[test]
fn marks_by_chance_are_refused_by_switches_of_both_kinds() {
    let own = "[scheme.ramp]\nbase = \"dctcp\"\nport = { ecn = { per = \"port\", at = { \"10Gbps\" = \"65pkt\" }, \
               full = { \"10Gbps\" = \"200pkt\" }, p_max = 0.1 } }\n";
    let text = star(&[("\"dctcp\", ", "\"dctcp\", \"ramp\", ")]) + own;
    let refused = refusal("ramp", &text);
    assert!(refused.contains("a probability that grows with the queue (ecn.full)"), "{refused}");
}

#[test]
fn each_thing_that_no_testbed_does_is_refused_at_its_key() {
    let simulated = "Use `priolane run`, which simulates it.";
    let ring = star(&[(TIME, WINDOW), (APP, "app = \"ring\"\nreduced = \"3kB\"\ncompute = \"1ms\"\n")]);
    assert_eq!(
        refusal("dctcp", &ring),
        format!("star.toml: group: flows that wait for other flows are not sent here. {simulated}")
    );
    let warm = star(&[(TIME, "time = { start = \"warm\", warmup = \"1ms\", measure = \"1ms\" }")]);
    assert_eq!(
        refusal("dctcp", &warm),
        "star.toml: time.start: no flow is under way when the hosts begin. Use start = \"empty\", or `priolane run`, which \
         simulates it."
    );
    let failure = "[[event]]\nat = \"1us\"\nfail = \"link:h0-s0\"\nuntil = \"2us\"\n";
    let failing = star(&[]) + failure;
    assert_eq!(
        refusal("dctcp", &failing),
        format!("star.toml: failure: lines do not fail here. {simulated}")
    );
    let lossy = star(&[("delay = \"1us\" }", "delay = \"1us\", loss = 0.001 }")]);
    assert_eq!(
        refusal("dctcp", &lossy),
        format!("star.toml: topology: lines lose nothing here. {simulated}")
    );
    let two = star(&[(APP, &format!("{APP}transport = {{ kind = \"cubic\" }}\n"))]);
    assert_eq!(
        refusal("dctcp", &two),
        format!(
            "star.toml: group: all hosts here run the transport of the scheme, and a group has its own. {simulated}"
        )
    );
    let machines = star(&[
        ("\"dctcp\", \"pias\", \"pfabric\"", "\"paccp\""),
        (TIME, WINDOW),
        (
            APP,
            "app = \"long_lived\"\npairs = { rule = \"to_one\", host = 2 }\nsize = \"endless\"\nplan = \"vbp\"\n",
        ),
    ]);
    assert_eq!(
        refusal("paccp", &machines),
        format!("star.toml: group: virtual machines that pay do not split here. {simulated}")
    );
    let followed = star(&[("\"dctcp\", \"pias\", \"pfabric\"", "\"nos2\"")])
        + "[scheme.nos2]\nassign.controller = { period = \"1ms\", delay = \"10us\" }\n\
           host.thresholds = { solver = \"equal_split\", from = \"global\" }\n";
    assert_eq!(
        refusal("nos2", &followed),
        format!("star.toml: scheme.nos2.assign: no controller changes thresholds here. {simulated}")
    );
    let lossless = star(&[])
        + "[scheme.dctcp]\nport.buffer = { dynamic = \"10MB\", alpha = 1 }\nport.pfc = { classes = [0], xoff = \"11/100\", xon_below = \"3kB\", headroom = \"charged\" }\n";
    assert_eq!(
        refusal("dctcp", &lossless),
        format!("star.toml: scheme.dctcp.port.pfc: switches here pause nobody (PFC). {simulated}")
    );
    let telemetry = star(&[("\"dctcp\", \"pias\", \"pfabric\"", "\"hpcc\"")]);
    assert!(
        refusal("hpcc", &telemetry).contains(&format!(
            "star.toml: scheme.hpcc.transport: switches here write no telemetry into packets. {simulated}"
        )),
        "{}",
        refusal("hpcc", &telemetry)
    );
    let nothing = star(&[(TIME, "time = { measure = \"1ps\" }")]);
    assert_eq!(
        refusal("dctcp", &nothing),
        "star.toml: group: no flow starts. Use a longer `time`, or more load."
    );
}

#[test]
fn lines_are_refused_from_the_first_rate_that_no_testbed_has() {
    // 10 Gbit/s at scale 10 is the fastest line, and at scale 10,000 the slowest.
    let at =
        |scale| job(&run_of("dctcp", STAR), name(), Choices { scale: Some(scale), ..Choices::default() });
    for scale in [10, 10_000] {
        assert_eq!(at(scale).unwrap().scale, scale);
    }
    for (scale, bps) in [(9, 1_111_111_111), (10_001, 999_900)] {
        let error = at(scale).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "star.toml: topology: at scale {scale} lines have {bps} to {bps} bit/s. Use a --scale at which lines \
                 have 1000000 to 1000000000 bit/s."
            )
        );
    }
}

#[test]
fn what_is_otherwise_is_noted_of_runs_that_have_it() {
    let notes = |text: &str| job(&run_of("dctcp", text), name(), Choices::default()).unwrap().notes;
    let cases = [
        (
            star(&[(TIME, &format!("sample_every = \"10us\"\n{TIME}"))]),
            "queues over time are not sampled here",
        ),
        (
            star(&[(TIME, &format!("host_delay = \"1us\"\n{TIME}"))]),
            "delays of hosts and their noise are those of this machine, not those of the file",
        ),
        (
            star(&[(TIME, &format!("delay_noise = {{ trace = \"host\" }}\n{TIME}"))]),
            "delays of hosts and their noise are those of this machine, not those of the file",
        ),
    ];
    let plain = notes(STAR);
    for (text, note) in cases {
        assert!(!plain.iter().any(|own| own == note), "{plain:?}");
        let found = notes(&text);
        assert_eq!(found.iter().filter(|own| *own == note).count(), 1, "{found:?}");
        assert_eq!(found.len(), plain.len() + 1, "{found:?}");
    }
    assert!(!plain.iter().any(|own| own.starts_with("endless flows")), "{plain:?}");
    // `dctcp` has a queue at hosts, and `srpt` asks its hosts for each packet.
    let pull = star(&[("\"dctcp\", \"pias\", \"pfabric\"", "\"srpt\"")]);
    let pull = job(&run_of("srpt", &pull), name(), Choices::default()).unwrap().notes;
    let queue = "the queue of a host's NIC: here the line asks the transport for each packet";
    assert_eq!([plain, pull].map(|notes| notes.iter().any(|own| own == queue)), [true, false]);
    let planned = job(&run_of("dctcp", STAR), name(), Choices::default()).unwrap();
    assert_eq!(planned.at_most_s, 10.0);
}

#[test]
fn a_machine_is_reached_as_its_table_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    let plan = |ways: [&str; 2]| {
        let machine = |place: usize| {
            format!(
                "[[machine]]\nname = \"m{place}\"\naddress = \"192.0.2.{place}\"\nhosts = {:?}\n{}\n",
                ["0,2", "1"][place - 1],
                ways[place - 1]
            )
        };
        std::fs::write(&file, machine(1) + &machine(2)).unwrap();
        job_on_machines(&run_of("dctcp", STAR), None, &file)
    };
    let planned = plan(["ssh = \"left\"", "ssh = \"right\"\npriolane = \"/opt/priolane\""]).unwrap();
    let agents: Vec<&AgentAddress> = planned.job.machines.iter().map(|machine| &machine.agent).collect();
    let ssh = |host: &str, priolane: &str| AgentAddress::Ssh { host: host.into(), priolane: priolane.into() };
    assert_eq!(agents, [&ssh("left", "priolane"), &ssh("right", "/opt/priolane")]);
    // What is in between has its scale noted, and the limit in seconds.
    assert!(
        planned.notes.iter().any(|note| note.starts_with("scale 100: rates are divided")),
        "{:?}",
        planned.notes
    );
    assert!(planned.notes.iter().any(|note| note.contains("the network between the machines")));
    assert_eq!(planned.at_most_s, 10.0);
    let planned = plan(["command = [\"a\", \"b\"]", "socket = \"/run/x\""]).unwrap();
    let agents: Vec<&AgentAddress> = planned.job.machines.iter().map(|machine| &machine.agent).collect();
    let words = AgentAddress::Command(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(agents, [&words, &AgentAddress::Socket("/run/x".into())]);
    let refused = |way: &str| plan([way, "ssh = \"right\""]).unwrap_err().to_string();
    for (way, says) in [
        ("", "nothing says how the machine is reached"),
        ("ssh = \"a\"\nsocket = \"/x\"", "ssh and socket are ways to the same machine"),
        ("socket = \"/x\"\npriolane = \"p\"", "the machine is reached without ssh"),
        ("socket = \"x\"", "the path is not absolute"),
        ("ssh = \"-oProxyCommand=x\"", "these are options or a command, and not a host"),
        ("ssh = \"a b\"", "these are options or a command, and not a host"),
        ("ssh = \"\"", "the text is empty"),
        ("command = []", "empty"),
    ] {
        assert!(refused(way).contains(says), "{way}: {}", refused(way));
    }
}

#[test]
fn what_a_queue_counted_is_shown_of_its_class_and_its_queue() {
    let run = run_of("pias", STAR);
    let planned = job(&run, name(), Choices { scale: Some(200), ..Choices::default() }).unwrap();
    let count = |class, queue, packets| QueueCount {
        cable: 1,
        end: 0,
        queue,
        class,
        packets,
        bytes: 11,
        dropped: 12,
        marked: 13,
        trimmed: 14,
        expired: 15,
        waited_ps: 1_600,
    };
    let silent = QueueCount { packets: 0, dropped: 0, expired: 0, ..count(7, 7, 0) };
    let measured = TestbedReport {
        hosts: Vec::new(),
        queues: vec![count(5, 2, 10), count(4, 3, 0), silent],
        switches: Vec::new(),
        machines: Vec::new(),
        elapsed_ns: 1_000,
    };
    let made = measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap();
    let seen: Vec<_> = made
        .outcome
        .ports
        .iter()
        .map(|port| ((port.link.0, port.class, port.queue), (port.packets, port.bytes, port.dropped)))
        .collect();
    // The first end of the second cable.
    assert_eq!(seen, [((2, 4, 3), (0, 11, 12)), ((2, 5, 2), (10, 11, 12))]);
    let port = made.outcome.ports[0];
    assert_eq!((port.marked, port.trimmed, port.expired, port.waited), (13, 14, 15, 8));
    assert_eq!((made.drops, made.marks), (Some(24), 0));
}

#[test]
fn a_queue_that_only_dropped_or_only_expired_packets_is_shown() {
    let run = run_of("pias", STAR);
    let planned = job(&run, name(), Choices { scale: Some(200), ..Choices::default() }).unwrap();
    let shown = |packets, dropped, expired| {
        let count = QueueCount {
            cable: 1,
            end: 0,
            queue: 2,
            class: 5,
            packets,
            bytes: 0,
            dropped,
            marked: 0,
            trimmed: 0,
            expired,
            waited_ps: 0,
        };
        let measured = TestbedReport {
            hosts: Vec::new(),
            queues: vec![count],
            switches: Vec::new(),
            machines: Vec::new(),
            elapsed_ns: 1_000,
        };
        measurement(&run, (&planned.job.scheme, planned.scale), &measured).unwrap().outcome.ports.len()
    };
    assert_eq!([shown(1, 0, 0), shown(0, 1, 0), shown(0, 0, 1), shown(0, 0, 0)], [1, 1, 1, 0]);
}
