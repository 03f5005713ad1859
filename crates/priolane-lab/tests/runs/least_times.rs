//! Lower bounds on the time of a flow: alone in the network, whatever paths its packets take, and in the mean of many
//! flows.

use std::path::Path;

use crate::executed;
use priolane_core::rng::{Purpose, Stream};
use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options};
use priolane_lab::scheme::SHIPPED;
use priolane_lab::verdict;
use priolane_results::record::RunRecord;
use priolane_testkit::one_switch;

/// The records of all runs of an experiment, on both engines; `folder` has the files that it names.
fn records(folder: &Path, text: &str) -> Vec<RunRecord> {
    executed::records(folder, text, &Settings { verify: true, ..Settings::default() })
}

/// Two racks of two hosts each over two ways of unlike rates and delays.
const UNLIKE: &str = "node,a,host\nnode,b,host\nnode,c,host\nnode,d,host\n\
    node,l,switch\nnode,r,switch\nnode,s,switch\nnode,t,switch\n\
    link,a,l,40Gbps,1us\nlink,b,l,40Gbps,1us\nlink,c,r,40Gbps,1us\nlink,d,r,40Gbps,2us\n\
    link,l,s,10Gbps,3us\nlink,s,r,40Gbps,200ns\nlink,l,t,40Gbps,500ns\nlink,t,r,10Gbps,1us\n";

fn leaf_spine((leaves, spines, hosts): (u32, u32, u32), (host, fabric): (u32, u32), us: f64) -> String {
    format!(
        "kind = \"leaf_spine\"\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\n\
         host_link = {{ rate = \"{host}Gbps\", delay = \"{us}us\" }}\n\
         fabric_link = {{ rate = \"{fabric}Gbps\", delay = \"{us}us\" }}\n"
    )
}

fn fat_tree((host, fabric): (u32, u32), us: f64) -> String {
    format!(
        "kind = \"fat_tree\"\nk = 4\nhost_link = {{ rate = \"{host}Gbps\", delay = \"{us}us\" }}\n\
         fabric_link = {{ rate = \"{fabric}Gbps\", delay = \"{us}us\" }}\n"
    )
}

fn poisson(sizes: &str, load: f64) -> String {
    format!(
        "app = \"poisson\"\nsizes = \"{sizes}\"\nload = {{ of = \"host\", counts = \"payload\", value = {load} }}\n"
    )
}

/// An experiment with one group of all hosts.
fn experiment(schemes: &[&str], (topology, paths): (&str, &str), app: &str) -> String {
    // What presets do not state for every workload, rate of links and choice of paths.
    let own = [
        (
            "pias",
            "assign.thresholds = { solver = \"equal_split\" }\nhost.thresholds = { solver = \"equal_split\" }\n",
        ),
        ("ns3_dctcp", "nic.ecn.at.\"40Gbps\" = \"261pkt\"\n"),
        ("top", &format!("transport.paths = {:?}\n", if paths == "hashed" { "symmetric" } else { paths })),
    ];
    let own = own.into_iter().filter(|(name, _)| schemes.contains(name));
    let own: String = own.map(|(name, keys)| format!("[scheme.{name}]\n{keys}")).collect();
    format!(
        "title = \"Least times\"\nschemes = {schemes:?}\nseeds = 1\n\
         time = {{ warmup = \"0s\", measure = \"1ms\", drain = true, limit = \"40ms\" }}\n\
         [topology]\n{topology}paths = \"{paths}\"\n\
         [[group]]\nname = \"all\"\nhosts = \"*\"\ndeadline = \"5ms\"\n{app}\
         [metrics]\nclasses = {{ short = {{ to = \"10kB\" }}, long = {{ above = \"10kB\" }} }}\n{own}"
    )
}

#[test]
fn a_sprayed_flow_alone_is_as_fast_as_its_short_packet_overtakes() {
    // 1,500 B are a full packet and one of 118 B on the wire: 2 x 1230.4 + 2 x 307.6 ns and 4 us if they take two spines.
    let text = "title = \"One flow alone, sprayed\"\nschemes = [\"ndp\"]\nseeds = 8\ntime = { flows = 1, limit = \"10ms\" }\n\
        [topology]\nkind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
        host_link = { rate = \"10Gbps\", delay = \"1us\" }\nfabric_link = { rate = \"40Gbps\", delay = \"1us\" }\npaths = \"spray\"\n\
        [host]\nsend_jitter = \"0ns\"\n[[group]]\nname = \"a\"\nhosts = \"*\"\napp = \"flows\"\nlist = [{ src = 0, dst = 1, size = \"1500B\", start = \"0ns\" }]\n";
    let folder = tempfile::tempdir().unwrap();
    let fcts =
        records(folder.path(), text).into_iter().map(|record| record.summary["all"].mean_fct_s.unwrap());
    let mut fcts: Vec<u64> = fcts.map(|fct| (fct * 1e12).round() as u64).collect();
    fcts.sort_unstable();
    fcts.dedup();
    // One spine for both: the short packet comes 94.4 ns later.
    assert_eq!(fcts, [7_076_000, 7_170_400]);
}

#[test]
fn sprayed_runs_that_once_failed_as_faster_than_alone_pass() {
    let hadoop = |load| poisson("facebook_hadoop", load);
    let imc10 = |load| poisson("imc10", load);
    let incast =
        "app = \"incast\"\nperiod = \"100us\"\nfan_in = 2\nsize = \"20kB\"\nreceiver = 0\n".to_owned();
    let permutation = "app = \"permutation\"\nsize = \"100kB\"\n".to_owned();
    let cases = [
        (["phost", "ns3_dctcp"], leaf_spine((3, 2, 3), (10, 10), 1.0), "spray", imc10(0.95)),
        (["hpcc", "physical_star_swift"], fat_tree((25, 10), 5.0), "spray", imc10(0.2)),
        (["prioplus_ledbat", "homa"], fat_tree((10, 40), 5.0), "spray", imc10(0.8)),
        (["physical_swift", "phost"], leaf_spine((2, 2, 4), (25, 10), 1.0), "drill", incast.clone()),
        (["srpt_ranked", "ns3_dctcp"], fat_tree((10, 40), 5.0), "spray", imc10(0.95)),
        (["homa", "prioplus_ledbat"], fat_tree((25, 40), 1.0), "drill", hadoop(0.2)),
        (["homa", "hpcc"], leaf_spine((4, 3, 1), (25, 10), 1.0), "drill", incast),
        (["dctcp", "physical_swift"], fat_tree((10, 10), 1.0), "drill", hadoop(0.8)),
        (["phost", "newreno"], fat_tree((25, 10), 1.0), "drill", imc10(0.2)),
        (["pfabric", "phost"], fat_tree((25, 40), 0.1), "spray", imc10(0.5)),
        (["ndp", "srpt_ranked"], fat_tree((25, 10), 5.0), "drill", hadoop(0.95)),
        (["ndp", "aifo_swift"], fat_tree((25, 40), 1.0), "spray", imc10(0.5)),
        (["ps", "ndp"], leaf_spine((4, 3, 2), (10, 10), 0.1), "drill", hadoop(0.95)),
        (["pifo_swift", "prioplus_ledbat"], leaf_spine((4, 2, 2), (10, 10), 0.1), "drill", imc10(0.2)),
        (["paccp", "homa"], leaf_spine((2, 3, 4), (25, 10), 5.0), "spray", permutation),
        (["newreno", "prioplus_swift"], leaf_spine((2, 3, 3), (10, 10), 0.1), "spray", hadoop(0.95)),
        (["pfabric", "ps"], fat_tree((25, 10), 5.0), "drill", imc10(0.2)),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (schemes, topology, paths, app) in cases.iter().step_by(priolane_rounds::stride(3)) {
        let found = records(folder.path(), &experiment(schemes, (topology, paths), app));
        assert!(found.iter().all(|run| run.counters.completed > 0), "{schemes:?}");
    }
}

#[test]
fn no_random_run_has_a_flow_that_is_faster_than_alone() {
    let mut draw = Stream::new(12, Purpose::Ties, 0);
    let folder = tempfile::tempdir().unwrap();
    let tokens = ["expresspass", "ideal_tokens"];
    for case in 0..priolane_rounds::rounds(20, 300) as usize {
        let mut pick = |all: &[f64]| all[draw.below(all.len() as u64) as usize];
        let rates = (pick(&[10.0, 40.0]) as u32, pick(&[10.0, 40.0]) as u32);
        let (delay, racks, spines) =
            (pick(&[0.1, 1.0, 5.0]), pick(&[2.0, 3.0]) as u32, pick(&[2.0, 3.0, 4.0]) as u32);
        let load = pick(&[0.1, 0.3, 0.6]);
        let topology = match case % 3 {
            0 => fat_tree(rates, delay),
            _ => leaf_spine((racks, spines, 2), rates, delay),
        };
        let paths = ["hashed", "spray", "round_robin", "drill"][case % 4];
        let any = SHIPPED.iter().map(|(name, _)| *name);
        let any: Vec<&str> = any.filter(|name| paths == "hashed" || !tokens.contains(name)).collect();
        let scheme = any[draw.below(any.len() as u64) as usize];
        let app = poisson(["imc10", "facebook_hadoop"][case % 2], load);
        assert_bounded(&records(folder.path(), &experiment(&[scheme], (&topology, paths), &app)));
    }
}

/// Each class of each run is above its bound; the bounds of all schemes that finished all flows are one.
fn assert_bounded(found: &[RunRecord]) {
    for (class, point) in
        ["all", "short", "long"].iter().flat_map(|class| found.iter().map(move |r| (class, r)))
    {
        let own = point.summary[*class];
        let (Some(mean), Some(bound)) = (own.mean_fct_s, own.mean_fct_bound_s) else {
            assert!(own.mean_fct_s.is_none() && own.mean_fct_bound_s.is_none());
            continue;
        };
        assert!(bound > 0.0 && mean >= bound * (1.0 - 1e-12), "{} {class}: {mean} {bound}", point.scheme);
        let others = found.iter().filter(|other| other.seed == point.seed).map(|other| other.summary[*class]);
        for other in others.filter(|other| own.unfinished == 0 && other.unfinished == 0) {
            assert_eq!(other.mean_fct_bound_s, own.mean_fct_bound_s, "{} {class}", point.scheme);
        }
    }
}

#[test]
fn no_scheme_is_below_the_bound_on_any_paths() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("unlike.csv"), UNLIKE).unwrap();
    let all: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let mut draw = Stream::new(11, Purpose::Ties, 0);
    let star = "kind = \"single_switch\"\nhosts = 5\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
    let unlike = "kind = \"file\"\npath = \"unlike.csv\"\n";
    let topologies = [
        star.to_owned(),
        leaf_spine((2, 2, 3), (10, 40), 1.0),
        leaf_spine((2, 3, 3), (40, 10), 0.5),
        unlike.to_owned(),
    ];
    for topology in &topologies[..priolane_rounds::rounds(2, 4).min(4) as usize] {
        let sizes = ["imc10", "facebook_hadoop"][draw.below(2) as usize];
        let app = poisson(sizes, [0.3, 0.6, 0.9][draw.below(3) as usize]);
        let found = records(folder.path(), &experiment(&all, (topology, "hashed"), &app));
        assert_bounded(&found);
        // Packets that each take their own path: transports that reorder would time out or wait, but never be faster.
        for paths in ["spray", "round_robin", "drill"].into_iter().filter(|_| topology.as_str() != star) {
            // Data of the other two must take the way of its tokens.
            let any: Vec<&str> =
                all.iter().copied().filter(|name| !["expresspass", "ideal_tokens"].contains(name)).collect();
            let four: Vec<&str> = (0..4).map(|_| any[draw.below(any.len() as u64) as usize]).collect();
            let mut some = [four.as_slice(), &["ndp", "homa", "top"]].concat();
            some.sort_unstable();
            some.dedup();
            assert_bounded(&records(folder.path(), &experiment(&some, (topology, paths), &app)));
        }
    }
}

/// Two flows of 10 MB and one of 2 MB to one host, 9 ms later.
const THREE: &str = one_switch!(
    r#"title = "The end of a long flow that waits passes for a short one"
schemes = ["srpt_ranked", "homa", "pfabric", "srpt"]
time = { flows = 3, limit = "200ms" }
"#,
    4,
    r#"[[group]]
name = "pool"
hosts = 1
app = "flows"
list = [
  { src = 0, dst = 3, size = "10MB", start = "0ns" },
  { src = 1, dst = 3, size = "10MB", start = "0ns" },
  { src = 2, dst = 3, size = "2MB", start = "9ms" },
]
[metrics]
classes = { two = { below = "5MB" } }
[[panel]]
title = "Mean completion time over the bound"
kind = "bar"
metrics = ["fct_bound.all", "fct_over_bound.two"]
"#
);

#[test]
fn three_flows_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let found = records(folder.path(), THREE);
    // 10 MB are 6849 full packets and one of 538 B: 8,427.44 us on the line, 2 MB 1369 and one of 1338 B: 1,685.49 us. SRPT has
    // the first done at 8,427.44, the third 1,685.49 after its start at 9 ms, the second, interrupted, after all three,
    // 18,540.37: together 28,653.30 and three times the way of a packet, between 3 and 8 us. The third alone takes 1,688.7 us.
    for record in &found {
        let (all, two) = (record.summary["all"], record.summary["two"]);
        let [bound, third] = [all, two].map(|class| class.mean_fct_bound_s.unwrap() * 1e6);
        assert!((9_551.10..9_553.80).contains(&bound), "{bound}");
        assert!((1_687.0..1_690.0).contains(&third), "{third}");
        assert!(all.mean_fct_s >= all.mean_fct_bound_s && two.mean_fct_s >= two.mean_fct_bound_s);
    }
    let over = |scheme: &str, class: &str| {
        let own = found.iter().find(|record| record.scheme == scheme).unwrap().summary[class];
        own.mean_fct_s.unwrap() / own.mean_fct_bound_s.unwrap()
    };
    // Ports that rank by the bytes behind each packet let the ends of the long flows go first; Homa is all but optimal.
    assert!(over("srpt_ranked", "two") > 1.6 && over("srpt_ranked", "all") > 1.03);
    assert!(over("homa", "all") < 1.002 && over("homa", "two") < 1.01);
    // The same as metrics.
    let plan = plan::from_text("x.toml", THREE, folder.path(), &Options::default()).unwrap();
    let report = verdict::verdicts(&plan, folder.path());
    let drawn = &report.panels[0].series;
    let value = |scheme: &str, quantity: &str| {
        let own = drawn.iter().find(|s| s.scheme == scheme);
        let points = own.unwrap().points.iter().find(|mark| mark.x.as_str() == Some(quantity));
        points.unwrap_or_else(|| panic!("{drawn:?}")).y.mean
    };
    assert_eq!(value("homa", "fct_over_bound.two"), Some(over("homa", "two")));
    assert_eq!(value("homa", "fct_bound.all"), found[1].summary["all"].mean_fct_bound_s);
}

#[test]
fn the_bound_is_met_on_one_line_that_is_interrupted_between_packets() {
    // Ten packets, then two as the third of them ends, then one as the last but two of the first end: each is served at once.
    // The host chooses at an instant before a flow that starts at it is known: starts are 1 ps earlier.
    let text = one_switch!(
        r#"title = "One line"
schemes = ["srpt"]
time = { flows = 3, limit = "10ms" }
"#,
        2,
        r#"[host]
send_jitter = "0ns"
[[group]]
name = "pool"
hosts = 1
app = "flows"
list = [
  { src = 0, dst = 1, size = "14600B", start = "0ns" },
  { src = 0, dst = 1, size = "2920B", start = "3691199ps" },
  { src = 0, dst = 1, size = "1460B", start = "12303999ps" },
]
"#
    );
    let folder = tempfile::tempdir().unwrap();
    let all = records(folder.path(), text)[0].summary["all"];
    // 13 packets; the last two of the first flow come after all others: 13 + 2 + 1 packets of 1230.4 ns and three times the way
    // of 1230.4 ns and 2 us. What waits for the end of a packet waits for 1 ps, which the bound does not.
    let sum = 16 * 1_230_400 + 3 * 3_230_400;
    assert_eq!((all.mean_fct_s.unwrap() * 3e12).round() as u64, sum + 2);
    assert_eq!((all.mean_fct_bound_s.unwrap() * 3e12).round() as u64, sum);
}

#[test]
fn slowdowns_with_a_handshake_are_over_the_same_time_for_all_schemes() {
    let text = r#"title = "One packet"
schemes = ["top", "phost", "dctcp"]
host_delay = "1us"
time = { flows = 1, limit = "10ms" }
[topology]
kind = "single_switch"
hosts = 2
host_link = { rate = "10Gbps", delay = "4us" }
[host]
send_jitter = "0ns"
[[group]]
name = "pool"
hosts = 1
app = "flows"
list = [{ src = 0, dst = 1, size = "1460B", start = "0ns" }]
[scheme.top]
transport.p = 2107
[metrics]
slowdown = "with_handshake"
"#;
    let folder = tempfile::tempdir().unwrap();
    let found = records(folder.path(), text);
    // Request and token: 2 x (67.2 ns + 4 us) and 1 us each. Data: 2 x (1230.4 ns + 4 us).
    let alone = 2 * (2 * 4_067_200 + 1_000_000) + 2 * 5_230_400;
    for record in &found {
        let own = record.summary["all"];
        let over = own.mean_fct_s.unwrap() * 1e12 / own.mean_slowdown.unwrap();
        assert_eq!(over.round() as u64, alone, "{}", record.scheme);
    }
    let slowdown =
        |scheme: &str| found.iter().find(|r| r.scheme == scheme).unwrap().summary["all"].mean_slowdown;
    // TOP takes just that; pHost sends at once, behind its request of 67.2 ns.
    assert_eq!(slowdown("top"), Some(1.0));
    assert_eq!(slowdown("phost"), Some((2.0 * 5_230_400.0 + 67_200.0) / alone as f64));
    // Single flows and distributions read what is stored; without the key it is over the bare time.
    let stored = |text: &str| {
        let panel = "[[panel]]\ntitle = \"One\"\nkind = \"cdf\"\nmetric = \"slowdown.all\"\n\
                     [[panel]]\ntitle = \"Two\"\nkind = \"bar\"\nmetric = \"slowdown.flow0\"\n";
        let text = format!("{text}{panel}");
        let found = records(folder.path(), &text);
        let plan = plan::from_text("x.toml", &text, folder.path(), &Options::default()).unwrap();
        let panels = verdict::verdicts(&plan, folder.path()).panels;
        let cdf = panels[0].series[0].points[0].x.as_f64();
        let bar = panels[1].series[0].points[0].y.mean;
        assert_eq!([cdf, bar], [found[0].summary["all"].mean_slowdown; 2]);
        bar
    };
    assert_eq!(stored(text), Some(1.0));
    let bare = stored(&text.replace("with_handshake", "bare"));
    assert_eq!(bare, Some(alone as f64 / (2.0 * 5_230_400.0)));
}
