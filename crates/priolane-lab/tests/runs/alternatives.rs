//! Tests that a value stated over a base replaces its alternatives, and that nothing of these survives.

use std::path::Path;

use priolane_lab::experiment::overlay;
use priolane_lab::plan::{self, Options, Plan};
use priolane_source::{InputError, Origin, Table, Value, parse, parse_value};
use serde_json::{Value as Json, json};

use crate::bad_input::GOOD;

fn tree(text: &str) -> Table {
    parse("f.toml", text).unwrap()
}

fn json(table: &Table) -> Json {
    Value::Table(table.clone()).to_json()
}

/// One family of alternatives: a key of the experiment, its value, the value merged over it, the result.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// Every family that readers have, in the order of the files.
const FAMILIES: &[Case] = &[
    // Time: a window, or a number of flows.
    (
        "time",
        "{ warmup = 1, measure = 2, drain = false, limit = 3 }",
        "{ flows = 9 }",
        "{ flows = 9, limit = 3 }",
    ),
    ("time", "{ flows = 9, limit = 3 }", "{ measure = 2 }", "{ measure = 2, limit = 3 }"),
    // Topologies.
    (
        "topology",
        "{ kind = 'leaf_spine', leaves = 2, spines = 2, host_link = { rate = 1 }, fabric_link = 2, paths = 'spray' }",
        "{ kind = 'fat_tree', k = 4 }",
        "{ kind = 'fat_tree', k = 4, host_link = { rate = 1 }, fabric_link = 2, paths = 'spray' }",
    ),
    (
        "topology",
        "{ kind = 'dumbbell', left = 1, bottleneck = 2, host_link = 3 }",
        "{ kind = 'file', path = 'x' }",
        "{ kind = 'file', path = 'x' }",
    ),
    // Apps, and what all groups have.
    (
        "group.a",
        "{ name = 'a', hosts = '*', app = 'poisson', sizes = 's', load = { value = 1 }, class = 2, w = 2 }",
        "{ app = 'permutation', size = '1B' }",
        "{ name = 'a', hosts = '*', app = 'permutation', size = '1B', class = 2, w = 2 }",
    ),
    (
        "group.a",
        "{ name = 'a', app = 'poisson', sizes = 's', load = { value = 1 } }",
        "{ app = 'on_off', burst_load = 2 }",
        "{ name = 'a', app = 'on_off', burst_load = 2, sizes = 's', load = { value = 1 } }",
    ),
    (
        "group.a",
        "{ name = 'a', app = 'incast', period = 1, fan_in = 3, size = 's', start = 1 }",
        "{ app = 'long_lived', pairs = [1] }",
        "{ name = 'a', app = 'long_lived', pairs = [1], size = 's', start = 1 }",
    ),
    (
        "group.a",
        "{ name = 'a', hosts = '*', to = 'b', app = 'poisson', sizes = 's', class = 2, w = 2, deadline = '1ms' }",
        "{ app = 'none' }",
        "{ name = 'a', hosts = '*', app = 'none' }",
    ),
    (
        "group.a",
        "{ name = 'a', hosts = '*', app = 'none' }",
        "{ app = 'permutation', size = '1B', to = 'b' }",
        "{ name = 'a', hosts = '*', app = 'permutation', size = '1B', to = 'b' }",
    ),
    // Loads: stated, or like another group's.
    (
        "group.a.load",
        "{ of = 'host', counts = 'wire', value = 0.4 }",
        "{ like = 'b', part = 0.5 }",
        "{ like = 'b', part = 0.5 }",
    ),
    (
        "group.a.load",
        "{ like = 'b', part = 0.5 }",
        "{ of = 'host', counts = 'wire', value = 0.4 }",
        "{ of = 'host', counts = 'wire', value = 0.4 }",
    ),
    ("group.a.load", "{ like = 'b', part = 0.5 }", "{ part = 0.25 }", "{ like = 'b', part = 0.25 }"),
    // Sizes: a table's name, a table, or those of another group.
    ("group.a.sizes", "{ csv = 'x', max = 1 }", "'web_search'", "'web_search'"),
    (
        "group.a.sizes",
        "'web_search'",
        "{ csv = 'x', interpolation = 'step' }",
        "{ csv = 'x', interpolation = 'step' }",
    ),
    ("group.a.sizes", "{ csv = 'x', max = 1 }", "{ like = 'b' }", "{ like = 'b' }"),
    // Flows listed or in a file, hosts, pairs by rule or listed.
    ("group.a.list", "[{ src = 0, dst = 1 }]", "'flows.csv'", "'flows.csv'"),
    ("group.a.hosts", "'*'", "3", "3"),
    (
        "group.a.pairs",
        "{ rule = 'shift', by = 2, count = 3 }",
        "{ rule = 'to_one', host = 1 }",
        "{ rule = 'to_one', host = 1, count = 3 }",
    ),
    ("group.a.pairs", "{ rule = 'shift', by = 2 }", "[{ src = 0, dst = 1 }]", "[{ src = 0, dst = 1 }]"),
    // Deadlines by a mean or a rate.
    ("group.a.deadline", "{ mean = 1, at_least_alone = 2 }", "{ rate = 3 }", "{ rate = 3 }"),
    ("group.a.deadline", "{ rate = 3, split = 'active', at_least = 1 }", "{ mean = 1 }", "{ mean = 1 }"),
    ("group.a.deadline", "{ mean = 1 }", "'2ms'", "'2ms'"),
    // What applications do, by word or table.
    (
        "group.a.on_downgrade",
        "{ kind = 'defer', by = 1, times = 2 }",
        "{ kind = 'reclassify' }",
        "{ kind = 'reclassify' }",
    ),
    ("group.a.on_downgrade", "{ kind = 'defer', by = 1 }", "'ignore'", "'ignore'"),
    // Who pays for what.
    ("group.a", "{ name = 'a', cos = 'DS', w = 2 }", "{ mix = [1] }", "{ name = 'a', mix = [1] }"),
    ("group.a", "{ name = 'a', mix = [1] }", "{ w = 3 }", "{ name = 'a', w = 3 }"),
    ("group.a", "{ name = 'a', cos = 'DS', w = 2 }", "{ theta = 1 }", "{ name = 'a', w = 2, theta = 1 }"),
    (
        "group.a",
        "{ name = 'a', plan = 'vbp', split = [1] }",
        "{ resplit = 1 }",
        "{ name = 'a', plan = 'vbp', resplit = 1 }",
    ),
    (
        "group.a",
        "{ name = 'a', plan = 'vbp', split = [1], w = 2 }",
        "{ plan = 'fbp' }",
        "{ name = 'a', plan = 'fbp', w = 2 }",
    ),
    // Delay noise: nothing of it excludes anything.
    ("delay_noise", "{ trace = 'host', scale = 2 }", "{ trace = 'x.csv' }", "{ trace = 'x.csv', scale = 2 }"),
    // Bounds of size classes.
    (
        "metrics.classes",
        "{ small = { below = 1, above = 0 } }",
        "{ small = { to = 2 } }",
        "{ small = { above = 0, to = 2 } }",
    ),
    ("metrics.classes", "{ big = { from = 1 } }", "{ big = { above = 2 } }", "{ big = { above = 2 } }"),
    // Kinds of transports: what one reader reads of both stays.
    (
        "scheme.s.transport",
        "{ kind = 'dctcp', g = 1, min_window = 2, min_rto = 3 }",
        "{ kind = 'd2tcp', late = 1 }",
        "{ kind = 'd2tcp', late = 1, g = 1, min_window = 2, min_rto = 3 }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'dctcp', g = 1, min_window = 2, min_rto = 3 }",
        "{ kind = 'ledbat' }",
        "{ kind = 'ledbat', min_rto = 3 }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'swift', target = 1, min_rto = 3 }",
        "{ kind = 'homa' }",
        "{ kind = 'homa' }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'top', alpha = 1, expiry = 'end_host', lifetime = 1 }",
        "{ kind = 'expresspass' }",
        "{ kind = 'expresspass', alpha = 1 }",
    ),
    // TOP's tokens and ranks, Homa's cut-offs.
    (
        "scheme.s.transport",
        "{ kind = 'top', expiry = 'end_host', lifetime = 1 }",
        "{ expiry = 'switch' }",
        "{ kind = 'top', expiry = 'switch' }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'top', classes = 4, thresholds = [1], ranks = 'tokens' }",
        "{ priority = 'deadline', deadline_min = 1 }",
        "{ kind = 'top', classes = 4, ranks = 'tokens', priority = 'deadline', deadline_min = 1 }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'top', priority = 'attained', classes = 4, p = 9, ranks = 'tokens' }",
        "{ priority = 'exact_size' }",
        "{ kind = 'top', priority = 'exact_size' }",
    ),
    ("scheme.s.transport", "{ kind = 'top', thresholds = [1] }", "{ p = 9 }", "{ kind = 'top', p = 9 }"),
    (
        "scheme.s.transport",
        "{ kind = 'top', p = 9, a = 1 }",
        "{ thresholds = [1] }",
        "{ kind = 'top', thresholds = [1] }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'top', p = 9, a = 1, b = 2 }",
        "{ tail = 'light' }",
        "{ kind = 'top', p = 9, tail = 'light' }",
    ),
    (
        "scheme.s.transport",
        "{ kind = 'homa', cutoffs = [1] }",
        "{ rtt_bytes = 9 }",
        "{ kind = 'homa', rtt_bytes = 9 }",
    ),
    // Part of a table does not say what its base's word is.
    (
        "scheme.s.transport",
        "{ thresholds = [1] }",
        "{ priority = 'attained' }",
        "{ thresholds = [1], priority = 'attained' }",
    ),
    // Rules of assignment.
    (
        "scheme.s.assign",
        "{ kind = 'bytes_sent', levels = 8, count = 'bytes_sent', thresholds = { solver = 'opt' } }",
        "{ kind = 'size', thresholds = ['1kB'] }",
        "{ kind = 'size', thresholds = ['1kB'] }",
    ),
    (
        "scheme.s.assign",
        "{ kind = 'size', thresholds = ['1kB'] }",
        "{ kind = 'deadline' }",
        "{ kind = 'deadline' }",
    ),
    (
        "scheme.s.assign",
        "{ kind = 'flow_fraction', fractions = [1], from = 'a', bytes = [2] }",
        "{ kind = 'deadline_rank' }",
        "{ kind = 'deadline_rank', fractions = [1] }",
    ),
    (
        "scheme.s.assign",
        "{ kind = 'flow_fraction', fractions = [1], bytes = [2] }",
        "{ fractions = [3] }",
        "{ kind = 'flow_fraction', fractions = [3] }",
    ),
    (
        "scheme.s.assign",
        "{ kind = 'power_law', levels = 3, of = 'size', scale = '1kB', offset = '1B', base = 1 }",
        "{ of = 'deadline', scale = '1ms' }",
        "{ kind = 'power_law', levels = 3, of = 'deadline', scale = '1ms', base = 1 }",
    ),
    // Thresholds: listed or found; found ones are those of their solver, group and tail.
    ("scheme.s.assign.thresholds", "{ solver = 'opt', from = 'a', bytes = [1] }", "['1kB']", "['1kB']"),
    (
        "scheme.s.assign.thresholds",
        "['1kB']",
        "{ solver = 'opt', from = 'a' }",
        "{ solver = 'opt', from = 'a' }",
    ),
    (
        "scheme.s.assign.thresholds",
        "{ solver = 'opt', from = 'a', bytes = [1] }",
        "{ solver = 'opt2' }",
        "{ solver = 'opt2', from = 'a' }",
    ),
    (
        "scheme.s.host.thresholds",
        "{ solver = 'opt', bytes = [1], tail = { max = 1 } }",
        "{ tail = { from = 0.9, times = 3 } }",
        "{ solver = 'opt', tail = { from = 0.9, times = 3 } }",
    ),
    (
        "scheme.s.host",
        "{ kind = 'mlfq', levels = 8, thresholds = [1] }",
        "{ kind = 'srpt' }",
        "{ kind = 'srpt' }",
    ),
    // Who admits.
    (
        "scheme.s.admit",
        "{ kind = 'firapam', levels = 3, mode = 'literal', mi = 'rtt', b = 1 }",
        "{ kind = 'pase' }",
        "{ kind = 'pase', levels = 3, mi = 'rtt' }",
    ),
    (
        "scheme.s.admit",
        "{ kind = 'aequitas', percentile = 99 }",
        "{ window = '1ms' }",
        "{ kind = 'aequitas', window = '1ms' }",
    ),
    (
        "scheme.s.admit",
        "{ kind = 'aequitas', window = '1ms' }",
        "{ percentile = 99 }",
        "{ kind = 'aequitas', percentile = 99 }",
    ),
    (
        "scheme.s.admit",
        "{ kind = 'firapam', step = 0.1, a = 1, b = 2 }",
        "{ mode = 'literal' }",
        "{ kind = 'firapam', mode = 'literal', b = 2 }",
    ),
    // NICs: a word or a table.
    ("scheme.s.nic", "{ queue = 'fifo', limit = '9pkt' }", "'pull'", "'pull'"),
    ("scheme.s.nic", "'pull'", "{ queue = 'host' }", "{ queue = 'host' }"),
    (
        "scheme.s.nic",
        "{ queue = 'fifo', ecn = { per = 'port', at = { '1Gbps' = '1pkt' } } }",
        "{ ecn = false }",
        "{ queue = 'fifo', ecn = false }",
    ),
    // A queue or a port of its own, in which kinds and buffers are alternatives as at switches.
    (
        "scheme.s.nic",
        "{ queue = 'fifo', limit = '9pkt', ecn = false, per_flow_limit = '2pkt' }",
        "{ port = { kind = 'fifo', buffer = 'unbounded' } }",
        "{ per_flow_limit = '2pkt', port = { kind = 'fifo', buffer = 'unbounded' } }",
    ),
    (
        "scheme.s.nic",
        "{ port = { kind = 'fifo', buffer = 'unbounded' }, map = { class = [0] }, per_flow_limit = '2pkt' }",
        "{ queue = 'host', limit = '9pkt' }",
        "{ per_flow_limit = '2pkt', queue = 'host', limit = '9pkt' }",
    ),
    (
        "scheme.s.nic.port",
        "{ kind = 'strict', queues = 8, buffer = { shared = 1, at = { a = 1 } } }",
        "{ kind = 'pfabric', buffer = { per_queue = 2 } }",
        "{ kind = 'pfabric', buffer = { per_queue = 2 } }",
    ),
    // Ports and buffers.
    (
        "scheme.s.port",
        "{ kind = 'strict', queues = 8, buffer = { shared = 1 }, ecn = { at = 1 }, pfc = 3 }",
        "{ kind = 'wfq', weights = [1] }",
        "{ kind = 'wfq', queues = 8, weights = [1], buffer = { shared = 1 }, ecn = { at = 1 }, pfc = 3 }",
    ),
    (
        "scheme.s.port",
        "{ kind = 'tokens', classes = 2, mode = 'a', buffer = { zero_loss = 1 } }",
        "{ kind = 'fifo', buffer = { shared = 2 } }",
        "{ kind = 'fifo', buffer = { shared = 2 } }",
    ),
    (
        "scheme.s.port.buffer",
        "{ shared = 1, at = { a = 1 } }",
        "{ dynamic = 2, alpha = 1 }",
        "{ dynamic = 2, alpha = 1 }",
    ),
    ("scheme.s.port.buffer", "{ dynamic = 2, alpha = 1 }", "{ per_queue = 3 }", "{ per_queue = 3 }"),
    ("scheme.s.port.buffer", "{ shared = 1 }", "{ push_out = 3 }", "{ push_out = 3 }"),
    ("scheme.s.port.buffer", "{ shared = 1 }", "{ zero_loss = 3 }", "{ zero_loss = 3 }"),
    ("scheme.s.port.buffer", "{ shared = 1, at = { a = 1 } }", "'unbounded'", "'unbounded'"),
    ("scheme.s.port.buffer", "{ shared = 1, at = { a = 1 } }", "{ shared = 2 }", "{ shared = 2 }"),
    (
        "scheme.s.port.buffer",
        "{ shared = 1, at = { a = 1 } }",
        "{ at = { b = 2 } }",
        "{ shared = 1, at = { a = 1, b = 2 } }",
    ),
    // Thresholds of marking are by rate, and rates do not exclude each other.
    (
        "scheme.s.port.ecn",
        "{ per = 'port', at = { '1Gbps' = 1 } }",
        "{ per = 'queue', at = { '9Gbps' = 2 } }",
        "{ per = 'queue', at = { '1Gbps' = 1, '9Gbps' = 2 } }",
    ),
];

/// An experiment in which `value` stands at `key`.
fn with(key: &str, value: &str) -> Table {
    tree(&match key.split('.').collect::<Vec<_>>()[..] {
        ["group", "a"] => format!("group = [{value}]"),
        ["group", "a", inner] => format!("group = [{{ name = 'a', {inner} = {value} }}]"),
        _ => format!("{key} = {value}"),
    })
}

#[test]
fn of_every_family_of_alternatives_only_the_one_stated_is_left() {
    for (key, base, stated, left) in FAMILIES {
        let mut root = with(key, base);
        overlay::set(&mut root, key, &parse_value("--set", stated)).unwrap();
        assert_eq!(json(&root), json(&with(key, left)), "{key}: {stated} over {base}");
    }
}

/// The same key by key, as `--set` and sweeps state it.
#[test]
fn keys_that_are_set_one_by_one_leave_the_same_in_any_order() {
    for (key, base, stated, left) in FAMILIES {
        let Value::Table(keys) = parse_value("--set", stated).value else { continue };
        // Nothing can be set in a string or a list.
        let Value::Table(_) = parse_value("--set", base).value else { continue };
        let mut each: Vec<(String, _)> =
            keys.entries().map(|(name, node)| (format!("{key}.{name}"), node.clone())).collect();
        for _ in 0..2 {
            let mut root = with(key, base);
            overlay::set_all(&mut root, each.iter().map(|(key, node)| (key.as_str(), node))).unwrap();
            assert_eq!(json(&root), json(&with(key, left)), "{key}: {stated} over {base}");
            each.reverse();
        }
    }
}

fn planned(text: &str, sets: &[(&str, &str)]) -> Result<Plan, InputError> {
    let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    plan::from_text("x.toml", text, Path::new("."), &Options { sets, ..Options::default() })
}

#[test]
fn a_scheme_gets_another_buffer_than_its_base() {
    let dynamic = "{ dynamic = \"12MB\", alpha = 1 }";
    let text = GOOD.replacen("[\"dctcp\"]", "[\"d\"]", 1) + "[scheme.d]\nbase = \"dctcp\"\n";
    let in_file = planned(&format!("{text}port = {{ buffer = {dynamic} }}\n"), &[]).unwrap();
    let by_set = planned(&text, &[("scheme.d.port.buffer", dynamic)]).unwrap();
    let key_by_key =
        planned(&text, &[("scheme.d.port.buffer.alpha", "1"), ("scheme.d.port.buffer.dynamic", "12MB")])
            .unwrap();
    for plan in [&in_file, &by_set, &key_by_key] {
        assert_eq!(
            plan.runs[0].merged["scheme"]["d"]["port"]["buffer"],
            json!({ "dynamic": "12MB", "alpha": "1/1" })
        );
        assert_eq!(plan.runs[0].id, in_file.runs[0].id);
    }
}

/// The declared keys that kinds of transports share are those that both write.
#[test]
fn kinds_of_transports_share_the_keys_that_they_read_alike() {
    let keys_of = |transport: &str| {
        let text =
            format!("transport = {{ {transport} }}\nport = {{ kind = \"fifo\", buffer = \"unbounded\" }}\n");
        let origin = Origin { file: "s".into(), line: None };
        let scheme = priolane_lab::scheme::read(&tree(&text), "", &origin).unwrap();
        let json = serde_json::to_value(&scheme).unwrap();
        json["transport"].as_object().unwrap().keys().cloned().collect::<Vec<String>>()
    };
    let kinds = [
        "kind = 'newreno'",
        "kind = 'dctcp'",
        "kind = 'd2tcp'",
        "kind = 'paccp'",
        "kind = 'paccp_dctcp'",
        "kind = 'swift'",
        "kind = 'prioplus_swift'",
        "kind = 'ledbat'",
        "kind = 'prioplus_ledbat'",
        "kind = 'hpcc'",
        "kind = 'expresspass'",
        "kind = 'top'",
        "kind = 'phost'",
        "kind = 'ndp'",
        "kind = 'homa'",
    ];
    // The same word with another meaning: windows in packets, segments or parts of a BDP; delays and utilizations.
    let unlike = ["min_window", "target", "delay", "rtt", "min_rto", "recovery", "retry", "expiry"];
    for from in kinds {
        for to in kinds.iter().filter(|to| **to != from) {
            let both: Vec<String> =
                keys_of(from).into_iter().filter(|key| keys_of(to).contains(key) && key != "kind").collect();
            let stated: Vec<String> = both.iter().map(|key| format!("{key} = 1")).collect();
            let mut root = tree(
                &format!("scheme.s.transport = {{ {from}, {} }}\n", stated.join(", ")).replace(", }", " }"),
            );
            let tag = to.split('\'').nth(1).unwrap();
            overlay::set(&mut root, "scheme.s.transport.kind", &parse_value("--set", tag)).unwrap();
            let left = json(&root)["scheme"]["s"]["transport"].clone();
            for key in both.iter().filter(|key| !unlike.contains(&key.as_str())) {
                assert!(left.get(key).is_some(), "{from} to {to} loses {key}");
            }
        }
    }
}
