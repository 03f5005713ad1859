//! All mistakes of a file are told at once, in bounded time and space.

use std::path::Path;

use priolane_core::sizes::Interpolation;
use priolane_lab::interrupt::Interrupt;
use priolane_lab::plan::{self, Options};
use priolane_source::InputError;

use crate::bad_input::GOOD;

fn error(text: &str) -> InputError {
    plan::from_text("x.toml", text, Path::new("."), &Options::default()).unwrap_err()
}

/// The file and line, and the key, of each line of the message.
fn places(error: &InputError) -> Vec<(String, String)> {
    let place = |line: &str| {
        let (place, rest) = line.split_once(": ").unwrap();
        let key = rest.split_once(": ").map(|(key, _)| key).filter(|key| !key.contains(' '));
        (place.to_owned(), key.unwrap_or_default().to_owned())
    };
    error.to_string().lines().map(place).collect()
}

fn expect(text: &str, expected: &[(usize, &str)]) {
    let error = error(text);
    let expected: Vec<(String, String)> =
        expected.iter().map(|(line, key)| (format!("x.toml:{line}"), (*key).to_owned())).collect();
    assert_eq!(places(&error), expected, "{error}");
}

#[test]
fn three_mistakes_are_told_in_the_order_of_the_file() {
    let text =
        GOOD.replace("title =", "seed = 3\ntitle =").replace("leaves", "leafs").replace("poisson", "possion");
    expect(&text, &[(1, "seed"), (7, "topology.leafs"), (15, "group.all.app")]);
}

#[test]
fn every_part_of_a_file_is_read_whatever_is_wrong_with_others() {
    let text = GOOD.to_owned()
        + r#"[[group]]
name = "b"
hosts = "9-"
app = "permutation"
size = "1xB"
[[control]]
at = "1ms"
flow = -1
abort = true
[[event]]
at = "1ms"
fail = 3
[metrics]
baselin = "dctcp"
classes = { small = { below = "1" }, big = { abov = "1MB" } }
[[panel]]
title = 3
kind = "bar"
metric = "fct.all"
[[claim]]
section = "s"
says = "t"
order = ["fct.all.dctcp", "fcd.all.dctcp"]
[scheme.dctcp]
port.kind = "fifi"
transport.g = 2
frames = 1
"#;
    let text =
        text.replace("time = { warmup = \"1ms\", measure = \"2ms\" }", "time = { measure = 2 }\nseeds = 0");
    expect(
        &text,
        &[
            (3, "time.measure"),
            (4, "seeds"),
            (20, "group.b.hosts"),
            (22, "group.b.size"),
            (25, "control[0].flow"),
            (29, "event[0].fail"),
            (31, "metrics.baselin"),
            (32, "metrics.classes.small.below"),
            (32, "metrics.classes.big.abov"),
            (34, "panel[0].title"),
            (40, "claim[0].order[1]"),
            (42, "scheme.dctcp.port.kind"),
            (43, "scheme.dctcp.transport.g"),
            (44, "scheme.dctcp.frames"),
        ],
    );
}

#[test]
fn all_mistakes_of_a_table_of_keys_are_told() {
    let time = "warmup = 1, measure = \"2ms\", drain = 2, limit = \"0s\", foo = 3";
    let text = GOOD.replace("warmup = \"1ms\", measure = \"2ms\"", time);
    expect(&text, &[(3, "time.warmup"), (3, "time.drain"), (3, "time.limit"), (3, "time.foo")]);
    let metrics = "[metrics]\nslowdown = \"x\"\nbaseline = \"no\"\neffective = { to = \"no\" }\n\
                   [[panel]]\ntitle = 3\nkind = \"bar\"\nmetric = \"fct.no\"\nfoo = 1\n";
    let keys = [
        (18, "metrics.slowdown"),
        (19, "metrics.baseline"),
        (20, "metrics.effective.every"),
        (20, "metrics.effective.to"),
        (22, "panel[0].title"),
        (25, "panel[0].foo"),
    ];
    expect(&(GOOD.to_owned() + metrics), &keys);
}

#[test]
fn what_follows_from_a_mistake_is_not_told() {
    let more = "[metrics]\nbaseline = \"dctcp\"\n[[panel]]\ntitle = \"t\"\nkind = \"bar\"\nmetric = \"gain.small\"\n\
                [[claim]]\nsection = \"s\"\nsays = \"t\"\norder = [\"fct.all.dctcp\", \"fct.small.dctcp\"]\n";
    let text = GOOD.to_owned() + more;
    // The scheme that the claim and the baseline name is the one that is misspelt.
    let misspelt = text
        .replacen("[\"dctcp\"]", "[\"dctpc\"]", 1)
        .replace("baseline", "classes.small.to = \"1MB\"\nbaseline");
    expect(&misspelt, &[(2, "schemes[0]")]);
    // The class `small` is the one that is wrong.
    let wrong = text.replace("baseline", "classes.small.to = 3\nbaseline");
    expect(&wrong, &[(18, "metrics.classes.small.to")]);
    // Another group sends to the one whose load is wrong, and an event changes it.
    let wrong = GOOD.replace("value = 0.5", "value = -1")
        + "[[group]]\nname = \"b\"\nhosts = 1\nto = \"all\"\napp = \"permutation\"\nsize = \"1kB\"\n\
           [[event]]\nat = \"1ms\"\nset = { \"group.all.load.value\" = 0.3 }\n";
    expect(&wrong, &[(16, "group.all.load.value")]);
    // A key that is misspelt is missing and unknown; once is enough.
    expect(&GOOD.replace("time =", "tiem ="), &[(3, "tiem")]);
}

#[test]
fn sets_and_sweeps_are_told_beside_the_mistakes_of_the_file() {
    let text = GOOD.replace("seeds", "seed").replace("leaves", "leafs");
    let sets =
        [("group.none.load.value", "1"), ("title", "3")].map(|(key, value)| (key.into(), value.into()));
    let options = Options { sets: sets.to_vec(), ..Options::default() };
    let error = plan::from_text("x.toml", &text, Path::new("."), &options).unwrap_err();
    let places: Vec<String> =
        places(&error).into_iter().map(|(place, key)| format!("{place} {key}")).collect();
    assert_eq!(places, ["x.toml:6 topology.leafs", "--set group.none.load.value", "--set title"]);
    expect(
        &(GOOD.to_owned() + "[sweep]\n\"time.measure\" = []\ntitle = [\"a\"]\n\"time.warmup\" = [1, 2, 1]\n"),
        &[(18, "sweep.time.measure"), (19, "sweep.title"), (20, "sweep.time.warmup")],
    );
}

#[test]
fn all_schemes_that_do_not_fit_the_network_are_told() {
    let own = |name| format!("[scheme.{name}]\nbase = \"dctcp\"\nport.buffer = {{ shared = \"100B\" }}\n");
    let schemes = GOOD.replacen("[\"dctcp\"]", "[\"a\", \"newreno\", \"b\"]", 1);
    let error = error(&(schemes + &own("a") + &own("b")));
    let keys: Vec<String> = places(&error).into_iter().map(|(_, key)| key).collect();
    assert_eq!(keys, ["scheme.a.port.buffer", "scheme.b.port.buffer"], "{error}");
}

#[test]
fn sixty_thousand_unknown_keys_are_twenty_lines() {
    let unknown: String = (0..60_000).map(|i| format!("k{i} = 1\n")).collect();
    let shown = error(&(unknown + GOOD)).to_string();
    assert_eq!((shown.lines().count(), shown.lines().last()), (21, Some("and 59980 more")));
    // In one table of a scheme as well.
    let unknown: String = (0..50_000).map(|i| format!("k{i} = 1\n")).collect();
    let shown = error(&(GOOD.to_owned() + "[scheme.dctcp.transport]\n" + &unknown)).to_string();
    assert_eq!((shown.lines().count(), shown.lines().last()), (21, Some("and at least 49980 more")));
    // Items of lists are not all read.
    let panels = "[[panel]]\n".repeat(5_000);
    let shown = error(&(GOOD.to_owned() + &panels)).to_string();
    assert_eq!((shown.lines().count(), shown.lines().last()), (21, Some("and perhaps more")));
}

#[test]
fn thousands_of_schemes_are_a_plan() {
    // What it takes was quadratic in their number.
    let count = priolane_rounds::rounds(4_000, 15_000) as usize;
    let names: Vec<String> = (0..count).map(|i| format!("\"d{i}\"")).collect();
    let own: String = (0..count).map(|i| format!("[scheme.d{i}]\nbase = \"newreno\"\n")).collect();
    let text = GOOD.replacen("\"dctcp\"", &names.join(", "), 1) + &own;
    let plan = plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    assert_eq!((plan.runs.len(), plan.runs[count - 1].scheme.clone()), (count, format!("d{}", count - 1)));
    let merged = plan.runs[7].merged.as_object().unwrap();
    assert_eq!(
        (merged["schemes"].clone(), merged["scheme"].as_object().unwrap().len()),
        (serde_json::json!(["d7"]), 1)
    );
}

#[test]
fn too_many_runs_name_the_seeds_where_nothing_is_swept() {
    let names: Vec<String> = (0..101).map(|nth| format!("\"s{nth}\"")).collect();
    let derived: String = (0..101).map(|nth| format!("[scheme.s{nth}]\nbase = \"dctcp\"\n")).collect();
    let text = GOOD.replacen("\"dctcp\"", &names.join(", "), 1);
    let refused = error(&format!("seeds = 10000\n{text}\n{derived}"));
    assert_eq!(
        (refused.line, refused.key.as_str(), refused.what.as_str()),
        (Some(1), "seeds", "the experiment has 1010000 runs")
    );
}

#[test]
fn hostile_values_are_cut() {
    let long = "\u{1f980}".repeat(3_000);
    for (old, new) in [
        ("title =", format!("\"{long}\" = 1\ntitle =")),
        ("\"dctcp\"", format!("\"{long}\"")),
        ("\"poisson\"", format!("\"{long}\"")),
        ("\"web_search\"", format!("\"{long}\"")),
        ("\"10Gbps\"", format!("\"{long}\"")),
        ("\"*\"", format!("\"{long}\"")),
        ("[[group]]", format!("[metrics.classes.\"{long}\"]\n[[group]]")),
    ] {
        let shown = error(&GOOD.replacen(old, &new, 1)).to_string();
        assert!(shown.lines().all(|line| line.len() < 1_000), "{shown}");
    }
}

#[test]
fn planning_asks_at_each_point_whether_to_go_on() {
    let sweep = "[sweep]\n\"group.all.load.value\" = [0.1, 0.2, 0.3, 0.4, 0.5]\n";
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = asked.clone();
    // The third time it is asked, it says to stop.
    let stop = move || counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2;
    let options = Options { interrupt: Interrupt::new(stop), ..Options::default() };
    let error = plan::from_text("x", &(GOOD.to_owned() + sweep), Path::new("."), &options).unwrap_err();
    assert_eq!(error.what, "planning was stopped");
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 3);
}

#[test]
fn a_plan_of_too_many_flows_is_refused_before_they_are_made() {
    let text = GOOD.replace("measure = \"2ms\"", "measure = \"2000000s\"");
    let refused = error(&text);
    assert_eq!((refused.line, refused.key.as_str()), (Some(3), "time.measure"), "{refused}");
    assert!(refused.fix.contains("group.all.load.value"), "{refused}");
    let groups: String = (0..3)
        .map(|i| format!("[[group]]\nname = \"g{i}\"\nhosts = \"*\"\napp = \"poisson\"\nsizes = \"web_search\"\nload = {{ of = \"host\", counts = \"payload\", value = 0.1 }}\n"))
        .collect();
    let text = GOOD.replace("warmup = \"1ms\", measure = \"2ms\"", "flows = 40000000") + &groups;
    let refused = error(&text);
    assert_eq!((refused.line, refused.key.as_str()), (Some(3), "time.flows"), "{refused}");
}

#[test]
fn a_plan_of_too_much_to_merge_is_refused() {
    let values: Vec<String> = (0..10_000).map(|i| format!("{}", 0.1 + f64::from(i) * 1e-6)).collect();
    let unused: String = (0..3_000).map(|i| format!("c{i} = {{ below = \"{}B\" }}\n", i + 1)).collect();
    let text = format!(
        "{GOOD}[metrics.classes]\n{unused}[sweep]\n\"group.all.load.value\" = [{}]\n",
        values.join(", ")
    );
    assert_eq!(error(&text).key, "sweep");
}

#[cfg(unix)]
#[test]
fn fifos_sockets_and_devices_are_refused_without_waiting() {
    use std::os::unix::net::UnixListener;
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let socket = folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let paths = [
        (fifo, "a FIFO"),
        (socket, "a socket"),
        ("/dev/null".into(), "a device"),
        (folder.path().into(), "a directory"),
    ];
    for (path, name) in paths {
        let (sender, receiver) = std::sync::mpsc::channel();
        let shown = path.display().to_string();
        // On a thread of its own, which may wait for ever.
        std::thread::spawn(move || {
            let as_file = plan::plan(&path, &Options::default()).unwrap_err();
            let named = |old: &str, new: &str| {
                let text = GOOD.replace(old, &new.replace("PATH", path.to_str().unwrap()));
                error(&text)
            };
            let list = "app = \"flows\"\nlist = \"PATH\"\n#";
            let trace = "app = \"coflow_trace\"\ntrace = \"PATH\"\n#";
            let errors = [
                as_file,
                named("\"web_search\"", "{ csv = \"PATH\", interpolation = \"step\" }"),
                named("app = ", list).clone(),
                named("app = ", trace),
                named("[[group]]", "[delay_noise]\ntrace = \"PATH\"\n[[group]]"),
                named("kind = \"leaf_spine\"", "kind = \"file\"\npath = \"PATH\"\n"),
                priolane_workload::size_csv::read(path.to_str().unwrap(), Interpolation::Linear).unwrap_err(),
            ];
            sender.send(errors.map(|error| error.to_string())).unwrap();
        });
        let errors = receiver.recv_timeout(std::time::Duration::from_secs(60)).expect(&shown);
        for error in errors {
            let first = error.lines().find(|line| line.contains("not a regular file"));
            assert!(first.is_some_and(|line| line.contains(name)), "{error}");
        }
    }
}
