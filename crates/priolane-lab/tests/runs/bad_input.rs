//! Every input that is wrong gives one message that says file, line, key, what is wrong and what would be right.

use std::path::Path;

use priolane_lab::plan::{self, Options, Plan};
use priolane_lab::scheme;
use priolane_source::InputError;

pub(crate) const GOOD: &str = r#"title = "Two racks"
schemes = ["dctcp"]
time = { warmup = "1ms", measure = "2ms" }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "40Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
"#;

/// Directory of files that tests write, removed when it goes out of scope.
pub(crate) struct Folder(std::path::PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("priolane-bad-input-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.0.join(name), content).unwrap();
        self
    }

    pub(crate) fn plan(&self, name: &str) -> Result<Plan, InputError> {
        plan::plan(&self.0.join(name), &Options::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn planned(text: &str) -> Result<Plan, InputError> {
    plan::from_text("x.toml", text, Path::new("."), &Options::default())
}

/// `GOOD` with `old` replaced must give an error at that line (counted from 1; 0 for none) and key.
fn refused(old: &str, new: &str, line: usize, key: &str) -> InputError {
    assert!(GOOD.contains(old), "{old}");
    expect(&GOOD.replacen(old, new, 1), line, key)
}

pub(crate) fn expect(text: &str, line: usize, key: &str) -> InputError {
    let error = planned(text).unwrap_err();
    let shown = error.to_string();
    assert_eq!((error.line, error.key.as_str()), (Some(line).filter(|&l| l > 0), key), "{shown}");
    assert!(!error.what.is_empty() && !error.fix.is_empty() && !error.file.is_empty(), "{shown}");
    assert!(!shown.contains('\n') && shown.len() < 1_000, "{shown}");
    error
}

#[test]
fn the_file_that_the_others_are_made_from_is_good() {
    let plan = planned(GOOD).unwrap();
    assert_eq!((plan.runs.len(), plan.warnings.len()), (1, 0));
}

#[test]
fn unknown_keys_are_refused_with_the_key_that_was_meant() {
    assert_eq!(refused("spines", "spine", 7, "topology.spine").fix, "Did you mean `spines`?");
    assert_eq!(refused("sizes", "sise", 15, "group.all.sise").fix, "Did you mean `sizes`?");
    assert!(refused("title", "colour = 1\ntitle", 1, "colour").fix.contains("`topology`"));
    let scheme = refused(
        "\n[topology]",
        "\n[scheme.dctcp.transport]\nalpha0 = 1\n[topology]",
        5,
        "scheme.dctcp.transport.alpha0",
    );
    assert_eq!(scheme.fix, "Did you mean `alpha_0`?");
    assert!(refused("web_search", "web_serch", 15, "group.all.sizes").fix.contains("web_search"));
    assert!(refused("\"dctcp\"", "\"dtcp\"", 2, "schemes[0]").fix.contains("dctcp"));
}

#[test]
fn quantities_need_their_units_and_signs() {
    let bare = refused("delay = \"1us\"", "delay = 1", 9, "topology.host_link.delay");
    assert_eq!(bare.what, "the number has no unit");
    assert!(refused("\"10Gbps\"", "\"10\"", 9, "topology.host_link.rate").what.contains("no unit"));
    assert!(refused("\"10Gbps\"", "\"-10Gbps\"", 9, "topology.host_link.rate").what.contains("negative"));
    assert!(refused("\"10Gbps\"", "\"0Gbps\"", 9, "topology.host_link.rate").what.contains("zero"));
    assert!(refused("\"1us\"", "\"0us\"", 9, "topology.host_link.delay").what.contains("zero"));
    assert!(refused("\"2ms\"", "\"0ms\"", 3, "time.measure").what.contains("zero"));
    assert!(refused("leaves = 2", "leaves = -2", 6, "topology.leaves").what.contains("-2"));
    assert!(refused("leaves = 2", "leaves = 20000", 4, "topology").what.contains("hosts"));
}

#[test]
fn loads_are_above_zero() {
    for bad in ["0", "0.0", "-0.5", "50"] {
        refused("value = 0.5", &format!("value = {bad}"), 16, "group.all.load.value");
    }
}

#[test]
fn a_load_above_one_is_a_warning_only() {
    let plan = planned(&GOOD.replace("value = 0.5", "value = 1.2")).unwrap();
    assert!(plan.warnings.iter().any(|w| w.contains("group all")), "{:?}", plan.warnings);
    // Half of 16 hosts' 10 Gbps leave their racks over 2 x 2 links; at 5 Gbps each these carry less than 0.5 x 8/15.
    let thin = planned(&GOOD.replace("40Gbps", "5Gbps").replace("\"dctcp\"", "\"newreno\"")).unwrap();
    assert!(thin.warnings.iter().any(|w| w.contains("rack")), "{:?}", thin.warnings);
}

#[test]
fn hosts_must_exist_and_not_send_to_themselves() {
    assert!(
        refused("hosts = \"*\"", "hosts = \"0-8\"", 13, "group.all.hosts").what.contains("unknown host 8")
    );
    assert!(refused("hosts = \"*\"", "hosts = 9", 13, "group.all.hosts").what.contains("unknown host 8"));
    refused("hosts = \"*\"", "hosts = \"3-1\"", 13, "group.all.hosts");
    refused("hosts = \"*\"", "hosts = \"\"", 13, "group.all.hosts");
    refused("hosts = \"*\"", "hosts = \"*\"\nto = \"others\"", 14, "group.all.to");
    assert!(
        refused("hosts = \"*\"", "hosts = \"0\"\nto = \"all\"", 14, "group.all.to")
            .what
            .contains("no destination")
    );
    let pairs = GOOD.split("app").next().unwrap().to_owned() + "app = \"long_lived\"\nsize = \"endless\"\n";
    let own = expect(&format!("{pairs}pairs = [{{ src = 1, dst = 1 }}]\n"), 16, "group.all.pairs[0]");
    assert!(own.what.contains("itself"));
    assert!(
        expect(&format!("{pairs}pairs = [{{ src = 1, dst = 99 }}]\n"), 13, "group.all.hosts")
            .what
            .contains("99")
    );
    assert!(expect(&format!("{pairs}pairs = []\n"), 16, "group.all.pairs").what.contains("empty"));
}

#[test]
fn empty_lists_are_refused() {
    refused("[\"dctcp\"]", "[]", 2, "schemes");
    expect(&format!("{GOOD}[sweep]\n\"group.all.load.value\" = []\n"), 18, "sweep.group.all.load.value");
    let no_group = GOOD.split("[[group]]").next().unwrap();
    assert!(expect(no_group, 1, "group").what.contains("missing"));
    expect(&format!("group = []\n{no_group}"), 1, "group");
}

#[test]
fn what_this_version_does_not_do_is_refused_by_name() {
    for (text, line, key) in [
        ("price = { plan = \"vbp\" }\n", 17, "group.all.price"),
        ("scheme = \"newreno\"\n", 17, "group.all.scheme"),
        ("[scheme.dctcp]\nprice = 1\n", 18, "scheme.dctcp.price"),
        ("[scheme.dctcp.port]\ntiers = {}\n", 18, "scheme.dctcp.port.tiers"),
    ] {
        let error = expect(&format!("{GOOD}{text}"), line, key);
        assert!(error.what.contains("not supported") || error.what.contains("unknown key"), "{error}");
    }
}

#[test]
fn assumptions_are_anchors_of_the_document_each_once() {
    let listed =
        |list: &str| refused("schemes", &format!("assumptions = {list}\nschemes"), 2, "assumptions[1]");
    assert_eq!(listed("[\"buffers\", \"min-rtt\"]").fix, "Did you mean \"min-rto\"?");
    assert!(listed("[\"buffers\", \"that all is well\"]").fix.contains("docs/assumptions.md"));
    assert!(listed("[\"buffers\", \"buffers\"]").what.contains("listed twice"));
    scheme_refused("assumptions = [\"bufers\"]\n", 1, "assumptions[0]");
    scheme_refused("assumptions = \"buffers\"\n", 1, "assumptions");
}

/// The line of the shipped scheme `dctcp` that begins with `start`.
fn line_of(start: &str) -> usize {
    let text = scheme::shipped("dctcp").unwrap();
    1 + text.lines().position(|line| line.starts_with(start)).unwrap()
}

/// `GOOD` with these changes of its scheme must be refused at this line of them.
fn scheme_refused(changes: &str, line: usize, key: &str) -> InputError {
    expect(&format!("{GOOD}[scheme.dctcp]\n{changes}"), 17 + line, &format!("scheme.dctcp.{key}"))
}

#[test]
fn spraying_under_a_transport_that_takes_reordering_for_loss_is_warned_of() {
    let warned = |spines: &str, threshold: &str| {
        let text = GOOD.replace("spines = 2\n", &format!("spines = {spines}\npaths = \"spray\"\n"));
        let text = format!("{text}[scheme.dctcp]\ntransport = {{ dup_threshold = {threshold} }}\n");
        planned(&text).unwrap().warnings.iter().any(|w| w.contains("dup_threshold = 3"))
    };
    assert!(warned("2", "3"));
    // Patient transports, and networks without a choice.
    assert!(!warned("2", "1000000") && !warned("1", "3"));
}

#[test]
fn bursts_carry_at_least_the_mean_load() {
    let app = "app = \"on_off\"\nburst_load = 1.4\nburst_flows = 4\nper = \"pair\"";
    let good = GOOD.replace("app = \"poisson\"", app);
    assert!(planned(&good).unwrap().warnings.is_empty());
    let refused = |old: &str, new: &str| planned(&good.replace(old, new)).unwrap_err();
    let below = refused("burst_load = 1.4", "burst_load = 0.4");
    assert_eq!((below.line, below.key.as_str()), (Some(15), "group.all.burst_load"), "{below}");
    assert!(below.what.contains("0.4") && below.fix.contains("at least the mean load"), "{below}");
    assert_eq!(refused("burst_load = 1.4\n", "").key, "group.all.burst_load");
    assert_eq!(refused("burst_flows = 4", "burst_flows = 0").line, Some(16));
    assert_eq!(refused("\"pair\"", "\"rack\"").line, Some(17));
}

#[test]
fn a_three_tier_network_says_which_count_does_not_fit() {
    let shape = "kind = \"three_tier\"\npods = 2\nleaves_per_pod = 2\naggs_per_pod = 2\ncores = 4\nhosts_per_leaf = 2\n";
    let links = "pod_link = { rate = \"20Gbps\", delay = \"1us\" }\ncore_link = { rate = \"40Gbps\", delay = \"1us\" }\n";
    let old = "kind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n";
    let fabric = "fabric_link = { rate = \"40Gbps\", delay = \"1us\" }\n";
    let good = GOOD.replace(old, shape).replace(fabric, links);
    let good = format!("{good}[scheme.dctcp.port.ecn.at]\n\"20Gbps\" = \"130pkt\"\n");
    planned(&good).unwrap();
    let uneven = planned(&good.replace("cores = 4", "cores = 5")).unwrap_err();
    assert!(uneven.what.contains("a multiple of aggs_per_pod, such as 6"), "{uneven}");
    let zero = planned(&good.replace("pods = 2", "pods = 0")).unwrap_err();
    assert_eq!((zero.line, zero.key.as_str()), (Some(6), "topology.pods"), "{zero}");
    let missing = planned(&good.replace("leaves_per_pod = 2\n", "")).unwrap_err();
    assert!(
        missing.key == "topology.leaves_per_pod" && missing.fix.contains("leaves_per_pod = 4"),
        "{missing}"
    );
    let wrong = planned(&good.replace("core_link", "fabric_link")).unwrap_err();
    assert!(wrong.key == "topology.core_link" && wrong.fix.contains("core_link = {"), "{wrong}");
}

#[test]
fn rows_of_a_scheme_must_fit_each_other() {
    let classes = "assign = { kind = \"bytes_sent\", levels = 3, thresholds = [\"10kB\", \"1MB\"] }\n";
    let more = expect(&format!("{GOOD}[scheme.dctcp]\n{classes}"), line_of("map = "), "scheme.dctcp.map");
    assert_eq!(more.file, "schemes/dctcp.toml");
    assert!(more.what.contains("3 classes") && more.fix.contains("[0, 0, 0]"), "{more}");
    planned(&format!("{GOOD}[scheme.dctcp]\n{classes}map = {{ class = [0, 0, 0] }}\n")).unwrap();
    scheme_refused(&format!("{classes}map = {{ class = [0, 0] }}\n"), 2, "map.class");
    scheme_refused("map = { class = [4] }\n", 1, "map.class");

    let count = "assign = { kind = \"bytes_sent\", levels = 2, thresholds = [\"10kB\", \"1MB\"] }\n";
    assert!(scheme_refused(count, 1, "assign.thresholds").fix.contains("1 thresholds"));
    let falling = "assign = { kind = \"bytes_sent\", levels = 3, thresholds = [\"1MB\", \"10kB\"] }\n";
    assert!(scheme_refused(falling, 1, "assign.thresholds[1]").what.contains("decrease"));

    let pull = scheme_refused("host = { kind = \"round_robin\" }\n", 1, "host");
    assert!(pull.what.contains("round_robin") && pull.fix.contains("nic `pull`"), "{pull}");
    let order = "host = { kind = \"mlfq\", levels = 2, thresholds = [\"10kB\"] }\n";
    assert!(scheme_refused(order, 1, "host").fix.contains("nic `host`"));
    let queue = format!("{order}nic = {{ queue = \"host\" }}\n");
    planned(&format!("{GOOD}[scheme.dctcp]\n{queue}")).unwrap();
}

#[test]
fn a_transport_that_needs_marks_needs_a_port_that_marks() {
    let own = "title = \"x\"\ntransport = { kind = \"dctcp\" }\nport = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }\n";
    let folder = Folder::new("marks");
    folder.write("own.toml", own.replace("title = \"x\"\n", ""));
    folder.write("x.toml", GOOD.replace("\"dctcp\"", "\"own.toml\""));
    let error = folder.plan("x.toml").unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("own.toml", Some(1)), "{error}");
    assert!(
        error.what.contains("requires switch ports that mark") && error.fix.contains("with `ecn`"),
        "{error}"
    );
}

#[test]
fn a_base_in_a_scheme_file_is_sent_to_the_experiment() {
    let folder = Folder::new("base");
    folder.write("own.toml", "base = \"pias\"\nport = { queues = 2 }\n");
    folder.write("x.toml", GOOD.replace("\"dctcp\"", "\"own.toml\""));
    let error = folder.plan("x.toml").unwrap_err();
    let all: Vec<_> = std::iter::once(&error).chain(error.others.mistakes()).collect();
    let base: Vec<_> = all.iter().filter(|mistake| mistake.key == "base").collect();
    assert_eq!(base.len(), 1, "{all:?}");
    assert_eq!((base[0].line, base[0].what.as_str()), (Some(1), "a scheme file has no base"));
    assert!(base[0].fix.contains("[scheme.NAME]"), "{}", base[0].fix);
    // In the experiment it is one.
    planned(&format!("{}[scheme.own]\nbase = \"dctcp\"\n", GOOD.replace("\"dctcp\"", "\"own\""))).unwrap();
}

#[test]
fn a_scheme_file_is_a_base_of_what_differs() {
    let folder = Folder::new("base-file");
    let own =
        "transport = { kind = \"newreno\" }\nport = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }\n";
    folder.write("own.toml", own);
    let text = |base: &str, changes: &str| {
        format!("{}[scheme.mine]\nbase = \"{base}\"\n{changes}", GOOD.replace("\"dctcp\"", "\"mine\""))
    };
    let planned = |text: String| folder.write("x.toml", text).plan("x.toml");
    let whole = planned(text("own.toml", "")).unwrap();
    let changed = planned(text("own.toml", "port.buffer.shared = \"100pkt\"\n")).unwrap();
    let buffer = |plan: &Plan| plan.runs[0].merged["scheme"]["mine"]["port"]["buffer"]["shared"].clone();
    assert_eq!((buffer(&whole), buffer(&changed)), ("240pkt".into(), "100pkt".into()));
    assert_eq!(whole.runs[0].merged["scheme"]["mine"]["transport"]["kind"], "newreno");
    let error = planned(text("none.toml", "")).unwrap_err();
    assert_eq!(error.key, "scheme.mine.base", "{error}");
    folder.write("own.toml", "transport = { kind = \"newreno\" }\n");
    let error = planned(text("own.toml", "")).unwrap_err();
    assert!(error.key.ends_with("port"), "{error}");
}

#[test]
fn buffers_hold_a_packet_and_thresholds_cover_the_links() {
    let small = scheme_refused("port = { buffer = { shared = \"1500B\" } }\n", 1, "port.buffer");
    assert!(small.what.contains("cannot hold one packet") && small.fix.contains("1538B"), "{small}");
    scheme_refused("port = { buffer = { shared = \"0pkt\" } }\n", 1, "port.buffer");
    scheme_refused("nic = { limit = \"100B\" }\n", 1, "nic.limit");
    let both = "port = { buffer = { shared = \"9pkt\", push_out = \"9pkt\" } }\n";
    let both = scheme_refused(both, 1, "port.buffer.push_out");
    assert_eq!(both.what, "both shared and push_out are set");
}

#[test]
fn only_ports_with_several_queues_push_out() {
    let folder = Folder::new("push-out");
    folder.write("x.toml", GOOD.replace("\"dctcp\"", "\"own.toml\""));
    let with = |port: &str| {
        let own = format!("transport = {{ kind = \"newreno\" }}\nport = {{ {port} }}\n");
        folder.write("own.toml", own).plan("x.toml")
    };
    with("kind = \"strict\", queues = 2, buffer = { push_out = \"9pkt\" }").unwrap();
    let one = with("kind = \"fifo\", buffer = { push_out = \"9pkt\" }").unwrap_err();
    assert_eq!((one.file.as_str(), one.line), ("own.toml", Some(2)), "{one}");
    assert!(one.what.contains("has one queue") && one.fix.contains("strict"), "{one}");
}

#[test]
fn thresholds_that_nobody_published_name_the_solver_to_use_instead() {
    // Without the second solver of the shipped scheme.
    let own = "[scheme.pias]\nassign.thresholds.solver = \"pias_published\"\nhost.thresholds.solver = \"pias_published\"\n";
    let pias = GOOD.replace("\"dctcp\"", "\"pias\"") + own;
    planned(&pias).unwrap();
    let load = planned(&pias.replace("0.5", "0.55")).unwrap_err();
    assert!(load.what.contains("0.55") && load.fix.contains("equal_split"), "{load}");
    assert_eq!(load.key, "scheme.pias.assign.thresholds");
    let sizes = planned(&pias.replace("\"web_search\"", "\"imc10\"")).unwrap_err();
    assert!(sizes.what.contains("imc10"), "{sizes}");
}

#[test]
fn misjudged_tails_are_a_largest_size_or_a_stretch() {
    let with = |tail: &str, more: &str| {
        let scheme = format!("[scheme.nos2]\nassign.thresholds.tail = {tail}\n{more}");
        planned(&format!("{}{scheme}", GOOD.replace("\"dctcp\"", "\"nos2\"")))
    };
    with("{ max = \"1MB\" }", "").unwrap();
    with("{ from = 0.9, times = 3 }", "").unwrap();
    for bad in ["{}", "{ max = \"1MB\", times = 3 }", "{ from = 0.9 }", "{ max = \"0B\" }"] {
        let error = with(bad, "").unwrap_err();
        assert_eq!(error.line, Some(18), "{error}");
        assert!(error.key.starts_with("scheme.nos2.assign.thresholds.tail"), "{error}");
    }
    let far = with("{ from = 1.0, times = 3 }", "").unwrap_err();
    assert_eq!(far.key, "scheme.nos2.assign.thresholds.tail.from");
    let result = with("{ max = \"1MB\" }", "assign.controller = { period = \"1ms\", delay = \"1us\" }\n");
    assert!(result.unwrap_err().what.contains("not from a tail"));
    let pias = "[scheme.pias]\nassign.thresholds.tail = { max = \"1MB\" }\n";
    let pias = planned(&format!("{}{pias}", GOOD.replace("\"dctcp\"", "\"pias\""))).unwrap_err();
    assert!(pias.what.contains("do not depend on sizes") && pias.fix.contains("basin_hopping"), "{pias}");
}

#[test]
fn what_is_no_word_or_no_table_is_told_what_to_write() {
    let load = r#"load = { of = "host", counts = "payload", value = 0.5 }"#;
    let error = refused(load, "load = 0.3", 16, "group.all.load");
    assert!(error.fix.ends_with("load = { of = \"host\", counts = \"payload\", value = 0.3 }"), "{error}");
    let incast = "app = \"incast\"\nperiod = \"1ms\"\nfan_in = 2\nsize = \"1kB\"\nepochs = 4\n";
    let app = format!("app = \"poisson\"\nsizes = \"web_search\"\n{load}\n");
    let error = refused(&app, incast, 18, "group.all.epochs");
    assert!(error.what.contains("a whole number") && error.fix.contains("`every`, `poisson`"), "{error}");
}

#[test]
fn solvers_say_how_many_levels_they_are_for() {
    let own = |assign: &str| {
        let scheme =
            format!("[scheme.own]\nbase = \"es8\"\nassign = {{ kind = \"bytes_sent\", {assign} }}\n");
        planned(&format!("{}{scheme}", GOOD.replace("\"dctcp\"", "\"own\"")))
    };
    let by =
        |solver: &str| format!("levels = 4, thresholds = {{ solver = \"{solver}\", from = \"global\" }}");
    for solver in ["opt", "basin_hopping", "equal_split"] {
        let plan = own(&by(solver)).unwrap();
        let bytes = plan.runs[0].merged.pointer("/scheme/own/assign/thresholds/bytes");
        assert_eq!(
            bytes.and_then(|b| b.as_array()).map(Vec::len),
            Some(3),
            "{solver}: {}",
            plan.runs[0].merged
        );
    }
    let error = own(&by("closed_form")).unwrap_err();
    assert_eq!(error.key, "scheme.own.assign.thresholds.solver");
    assert!(error.what.contains("for 2 levels, not 4") && error.fix.contains("\"opt\""), "{error}");
    let two = "levels = 2, thresholds = { solver = \"closed_form\", from = \"global\" }";
    own(two).unwrap();
    let fixed = planned(&format!(
        "{}[scheme.own]\nbase = \"es8\"\nassign = {{ {two} }}\n",
        GOOD.replace("\"dctcp\"", "\"own\"")
            .replace("\"web_search\"", "{ csv = \"web_search\", interpolation = \"linear\", max = \"9kB\" }")
    ));
    let fixed = fixed.unwrap_err();
    assert_eq!(fixed.key, "scheme.own.assign.thresholds");
    assert!(fixed.what.contains("no mix of two exponentials") && fixed.fix.contains("opt2"), "{fixed}");
    let full =
        planned(&GOOD.replace("\"dctcp\"", "\"nos2\"").replace("value = 0.5", "value = 1.5")).unwrap_err();
    assert!(full.what.contains("no optimum at load 1.5"), "{full}");
    let line = GOOD.lines().position(|line| line.contains("value = 0.5")).unwrap() + 1;
    assert_eq!((full.key.as_str(), full.line), ("group.all.load.value", Some(line)));
    assert!(full.fix.contains("scheme.nos2.assign.thresholds"), "{full}");
}

#[test]
fn exponential_deadlines_need_a_mean_above_nothing() {
    let with = |rule: &str| GOOD.replace("hosts = \"*\"\n", &format!("hosts = \"*\"\ndeadline = {rule}\n"));
    planned(&with("{ mean = \"1ms\" }")).unwrap();
    expect(&with("{ mean = \"0ms\" }"), 14, "group.all.deadline.mean");
    expect(&with("{ mean = 1 }"), 14, "group.all.deadline.mean");
    expect(&with("{ mean = \"1ms\", at_least_alone = -1 }"), 14, "group.all.deadline.at_least_alone");
    let both = expect(&with("{ mean = \"1ms\", rate = \"5Gbps\" }"), 14, "group.all.deadline.rate");
    assert!(both.fix.contains("mean"), "{both}");
    let neither = expect(&with("{ at_least = \"1ms\" }"), 14, "group.all.deadline.rate");
    assert!(neither.fix.contains("mean = "), "{neither}");
}

#[test]
fn sweeps_and_sets_reach_what_exists_only() {
    let sweep = |text: &str| format!("{GOOD}[sweep]\n{text}\n");
    expect(&sweep("\"group.al.load.value\" = [1]"), 18, "group.al.load.value");
    expect(&sweep("\"group.all.load.valu\" = [0.5]"), 18, "group.all.load.valu");
    expect(&sweep("seeds = [1, 2]"), 18, "sweep.seeds");
    expect(&sweep("\"group.all.load.value\" = 0.5"), 18, "sweep.group.all.load.value");
    expect(&sweep("\"group.all.load.value\" = [0.5, -1]"), 18, "group.all.load.value");
    let many = |n: u32, unit: &str| (1..=n).map(|i| format!("{i}{unit}")).collect::<Vec<_>>().join(", ");
    let delays = many(101, "ns").replace(", ", "\", \"");
    let wide = format!("host_delay = [\"{delays}\"]\n\"topology.leaves\" = [{}]", many(100, ""));
    assert!(expect(&sweep(&wide), 0, "sweep").what.contains("10100 points"));
    let sets = vec![("topology.leafs".to_owned(), "2".to_owned())];
    let options = Options { sets, ..Options::default() };
    let error = plan::from_text("x.toml", GOOD, Path::new("."), &options).unwrap_err();
    assert_eq!(
        (error.file.as_str(), error.key.as_str(), error.line),
        ("--set", "topology.leafs", None),
        "{error}"
    );
}

#[test]
fn files_that_are_no_text_or_too_large_are_refused() {
    let folder = Folder::new("files");
    folder.write("large.toml", vec![b'#'; (1 << 20) + 1]).write("latin.toml", b"title = \"a\"\n# \xe9\n");
    folder.write("nul.toml", GOOD.replace("racks", "ra\0cks")).write("cut.toml", &GOOD[..GOOD.len() - 20]);
    for (file, line) in [
        ("large.toml", None),
        ("latin.toml", Some(2)),
        ("nul.toml", Some(1)),
        ("cut.toml", Some(16)),
        ("none.toml", None),
    ] {
        let error = folder.plan(file).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.file.ends_with(file) && !error.to_string().contains('\n'), "{error}");
    }
    assert!(plan::plan(&folder.0, &Options::default()).unwrap_err().what.contains("not a regular file"));
}

#[test]
fn size_tables_must_rise_to_one() {
    let folder = Folder::new("sizes");
    folder.write("x.toml", GOOD.replace("\"web_search\"", "{ csv = \"s.csv\", interpolation = \"linear\" }"));
    for (table, line, what) in [
        ("bytes,cdf\n10,0.5\n20,0.4\n30,1\n", 3, "smaller"),
        ("bytes,cdf\n10,0.5\n5,1\n", 3, "smaller"),
        ("bytes,cdf\n10,0.5\n20,0.9\n", 3, "0.9"),
        ("bytes,cdf\n10,0.5\n20", 3, ""),
        ("bytes,cdf\n", 1, ""),
    ] {
        let error = folder.write("s.csv", table).plan("x.toml").unwrap_err();
        assert!(error.file == "s.csv" && error.what.contains(what), "{error}");
        assert!(error.line.is_none_or(|l| l == line), "{error}");
    }
    folder.write("s.csv", "bytes,cdf\n10,0.5\n20,1\n").plan("x.toml").unwrap();
    std::fs::remove_file(folder.0.join("s.csv")).unwrap();
    let missing = folder.plan("x.toml").unwrap_err();
    assert_eq!((missing.line, missing.key.as_str()), (Some(15), "group.all.sizes.csv"), "{missing}");
}

#[test]
fn topologies_and_flow_lists_are_checked_when_planned() {
    let folder = Folder::new("lists");
    let (head, tail) = (GOOD.split("[topology]").next().unwrap(), GOOD.split("[[group]]").nth(1).unwrap());
    let own = format!("{head}[topology]\nkind = \"file\"\npath = \"net.csv\"\n[[group]]{tail}");
    folder.write("x.toml", own.replace("\"dctcp\"", "\"newreno\""));
    let net =
        "node,a,host\nnode,b,host\nnode,s,switch\nnode,t,switch\nlink,a,s,10Gbps,1us\nlink,b,t,10Gbps,1us\n";
    let apart = folder.write("net.csv", net).plan("x.toml").unwrap_err();
    assert!(apart.what.contains("cannot be reached") && apart.key == "topology", "{apart}");
    let still = folder.write("net.csv", net.replacen("1us", "0us", 1)).plan("x.toml").unwrap_err();
    assert!(still.what.contains("line 5") && still.what.contains("zero"), "{still}");
    folder.write("net.csv", format!("{net}link,s,t,10Gbps,1us\n")).plan("x.toml").unwrap();

    let group = GOOD.split("app").next().unwrap();
    folder.write("x.toml", format!("{group}app = \"flows\"\nlist = \"f.csv\"\n"));
    for (row, what) in
        [("0,1,1,5", "itself"), ("0,1,8,5", "unknown host 8"), ("0,1,2,0", "no bytes"), ("0,1,2", "")]
    {
        let list = format!("start_ns,src,dst,bytes\n0,0,1,5\n{row}\n");
        let error = folder.write("f.csv", list).plan("x.toml").unwrap_err();
        assert!(error.file == "f.csv" && error.line == Some(3) && error.what.contains(what), "{error}");
    }
    for (rows, key, what) in [
        ("0,0,1,5,,\n0,3,2,5,0,0\n", "after", "a notification takes time"),
        ("0,0,1,5,,\n0,1,2,5,2,9\n", "after", "does not exist"),
        ("0,0,1,5,1,9\n0,1,2,5,0,9\n", "after", "depend on it"),
        ("0,0,1,endless,,\n0,1,2,5,0,9\n", "after", "never ends"),
    ] {
        folder.write("f.csv", format!("start_ns,src,dst,bytes,after,delay_ns\n{rows}"));
        let error = folder.plan("x.toml").unwrap_err();
        assert!(error.key == key && error.what.contains(what), "{error}");
    }
    folder.write("f.csv", "start_ns,src,dst,bytes,after\n0,0,1,5,\n0,1,2,5,0\n");
    assert!(folder.plan("x.toml").is_ok());
    // A class beyond the port's queues is seen in the list before anything runs.
    folder.write("f.csv", "start_ns,src,dst,bytes,class\n0,0,1,5,3\n");
    assert_eq!(folder.plan("x.toml").unwrap_err().key, "scheme.dctcp.map");
}

#[test]
fn an_event_that_cannot_be_is_refused_at_its_line() {
    for (text, line, key, what) in [
        ("at = \"1ms\"", 17, "event[0]", "neither set nor fail"),
        ("at = \"-1ms\"\nfail = \"switch:spine0\"", 18, "event[0].at", ""),
        ("at = \"3ms\"\nset = { \"group.all.load.value\" = 0.6 }", 18, "event[0].at", "after the end"),
        (
            "at = \"1ms\"\nset = { \"group.all.load.value\" = 60 }",
            19,
            "event[0].set.group.all.load.value",
            "out of range",
        ),
        (
            "at = \"1ms\"\nset = { \"group.al.load.value\" = 0.6 }",
            19,
            "event[0].set.group.al.load.value",
            "unknown group",
        ),
        (
            "at = \"1ms\"\nset = { \"group.all.reach\" = 1 }",
            19,
            "event[0].set.group.all.reach",
            "cannot change",
        ),
        (
            "at = \"1ms\"\nset = { \"group.all.sizes\" = \"websearch\" }",
            19,
            "event[0].set.group.all.sizes",
            "websearch",
        ),
        ("at = \"1ms\"\nfail = \"leaf0\"", 19, "event[0].fail", "neither a link nor a switch"),
        ("at = \"1ms\"\nfail = \"switch:spine7\"", 19, "event[0].fail", "unknown switch"),
        ("at = \"1ms\"\nfail = \"switch:h0\"", 19, "event[0].fail", "is a host"),
        ("at = \"1ms\"\nfail = \"link:leaf0-leaf1\"", 19, "event[0].fail", "unknown link"),
        ("at = \"1ms\"\nfail = \"link:leaf0-spine0#2\"", 19, "event[0].fail", "no link \"2\""),
        ("at = \"1ms\"\nfail = \"link:h0-leaf0\"", 19, "event[0].fail", "h0 is disconnected forever"),
        ("at = \"1ms\"\nfail = \"switch:leaf1\"", 19, "event[0].fail", "disconnected forever"),
        (
            "at = \"1ms\"\nfail = \"switch:spine0\"\nuntil = \"1ms\"",
            20,
            "event[0].until",
            "not after the failure",
        ),
        ("at = \"1ms\"\nfail = \"switch:spine0\"\nreconvergence = \"0us\"", 20, "event[0].reconvergence", ""),
    ] {
        let error = expect(&format!("{GOOD}[[event]]\n{text}\n"), line, key);
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn a_query_that_cannot_be_is_refused_at_its_key() {
    let query = "app = \"query\"\nquery = \"2kB\"\nsizes = \"web_search\"\npause = \"1ms\"\n";
    let good = GOOD.split_once("app = ").map(|(head, _)| format!("{head}{query}")).unwrap();
    assert!(planned(&good).is_ok());
    assert!(
        expect(&format!("{good}fan_out = 8\n"), 18, "group.all.fan_out").what.contains("can query 7 hosts")
    );
    assert!(expect(&format!("{good}requests = 0\n"), 18, "group.all.requests").what.contains('0'));
    let counted = good.replace("{ warmup = \"1ms\", measure = \"2ms\" }", "{ flows = 100 }");
    assert!(expect(&counted, 14, "group.all.app").what.contains("depend on others"));
}

/// The flows of the first iteration of some jobs depend on nothing, and those of the next ones are never counted.
#[test]
fn a_job_is_not_cut_at_a_number_of_flows() {
    let head = GOOD.split_once("app = ").unwrap().0;
    let counted = head.replace("{ warmup = \"1ms\", measure = \"2ms\" }", "{ flows = 168 }");
    let collective = "app = \"collective\"\nsize = \"1MB\"\noperation = ";
    let two = counted.replace("hosts = \"*\"", "hosts = \"0-1\"");
    for (head, app) in [
        (&counted, format!("{collective}\"all_to_all\"\niterations = 3\n")),
        (&counted, format!("{collective}\"all_to_all\"\ncompute = \"10us\"\n")),
        (&counted, format!("{collective}\"all_reduce\"\n")),
        (&two, format!("{collective}\"reduce_scatter\"\niterations = 3\n")),
        (
            &counted,
            "app = \"pipeline\"\nmicro_batches = 1\nactivations = \"1MB\"\nforward = \"1ms\"\n".to_owned(),
        ),
        (&counted, "app = \"ring\"\nreduced = \"1MB\"\ncompute = \"1ms\"\niterations = 3\n".to_owned()),
    ] {
        let error = expect(&format!("{head}{app}"), 14, "group.all.app");
        assert!(error.what.contains("depend on others"), "{error}");
        assert_eq!(error.fix, "time = { warmup = ..., measure = ... }");
    }
}

/// `GOOD` with eight classes of PrioPlus and `change` in its transport.
fn virtual_priorities(change: &str) -> String {
    let own = format!("schemes = [\"prioplus_swift\"]\n[scheme.prioplus_swift]\n{change}\n");
    let (head, tail) = GOOD.split_once("schemes = [\"dctcp\"]\n").unwrap();
    let (time, rest) = tail.split_once('\n').unwrap();
    format!("{head}schemes = [\"prioplus_swift\"]\n{time}\n{}\n{rest}", own.split_once('\n').unwrap().1)
}

#[test]
fn channels_that_do_not_fit_are_refused() {
    let what = |change: &str| planned(&virtual_priorities(change)).unwrap_err();
    assert!(planned(&virtual_priorities("transport.priorities = 8")).is_ok());
    let overlap = what("transport.fluctuation = \"0us\"");
    assert!(overlap.what.contains("overlap"), "{overlap}");
    // 16 channels of 4 us reach 66.4 us; 40 us have room for nine: 9 x 4 + 2.4.
    let budget = what("transport = { priorities = 16, delay_budget = \"40us\" }");
    assert!(budget.what.contains("66400ns") && budget.fix.contains("priorities = 9"), "{budget}");
    // Seven classes yield, the best of them at 28 + 2.4 us: at 10 Gbps 38 kB, at 40 Gbps 152 kB.
    let buffer = what("port.buffer = { dynamic = \"100kB\", alpha = 1 }");
    assert!(buffer.key.ends_with("port.buffer") && buffer.what.contains("30400ns"), "{buffer}");
    assert!(buffer.what.contains("40Gbps"), "{buffer}");
    let few = virtual_priorities("transport.priorities = 2").replace("app = ", "class = 2\napp = ");
    let few = planned(&few).unwrap_err();
    assert!(few.what.contains("3 classes") && few.fix.contains("priorities = 3"), "{few}");
}

#[test]
fn noise_wider_than_a_channel_is_warned_of_with_the_width_that_it_needs() {
    let warned = |noise: &str| {
        let text =
            virtual_priorities("transport.priorities = 8").replace("time = ", &format!("{noise}\ntime = "));
        planned(&text).unwrap().warnings.join(" ")
    };
    assert!(!warned("delay_noise = { trace = \"host\" }").contains("measured delays"));
    // 99.85 % within 800 ns, twice: 1.6 us and 3.2 us of fluctuation.
    let warning = warned("delay_noise = { trace = \"host\", scale = 2 }");
    assert!(warning.contains("noise = \"1600ns\"") && warning.contains("4800ns wide"), "{warning}");
    let error =
        planned(&GOOD.replace("time = ", "delay_noise = { trace = \"none.csv\" }\ntime = ")).unwrap_err();
    assert!(error.key.contains("delay_noise"), "{error}");
}

#[test]
fn a_base_keeps_nothing_of_a_kind_that_is_laid_over_by_another() {
    let with = |rows: &str| {
        GOOD.replacen("[\"dctcp\"]", "[\"mine\"]", 1) + "[scheme.mine]\nbase = \"firapam\"\n" + rows
    };
    let plan = planned(&with("admit = { kind = \"none\" }\n")).unwrap();
    assert_eq!(plan.runs[0].merged["scheme"]["mine"]["admit"], serde_json::json!({ "kind": "none" }));
    // What both kinds know stays, and what is stated beside the kind must be right.
    let plan = planned(&with("admit = { kind = \"aequitas\", targets = [\"15us\", \"25us\"] }\n")).unwrap();
    assert_eq!(plan.runs[0].merged["scheme"]["mine"]["admit"]["levels"], 3);
    expect(&with("admit = { kind = \"none\", levels = 3 }\n"), 19, "scheme.mine.admit.levels");
    expect(&with("admit = { leevls = 3 }\n"), 19, "scheme.mine.admit.leevls");
}
