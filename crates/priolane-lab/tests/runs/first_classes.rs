//! Ladders by bytes sent that begin in the class of a group: the class of each packet, on both engines, and wrong keys.

use std::path::Path;

use priolane_lab::plan::{self, Options};
use priolane_sim::scenario::Engine;
use priolane_sim::{Drive, Simulation};
use priolane_testkit::one_switch;

use crate::bad_input::planned;

/// Flows of 9, 30, and 80 kB of two tenants and of a group that the scheme does not name.
const TENANTS: &str = one_switch!(
    r#"title = "Two tenants"
schemes = ["own"]
time = { flows = 8 }
"#,
    6,
    r#"[[group]]
name = "batch"
hosts = "0,3"
app = "flows"
list = [{ src = 0, dst = 3, size = "9kB", start = "0ns" }, { src = 0, dst = 3, size = "30kB", start = "1ms" },
  { src = 0, dst = 3, size = "80kB", start = "2ms" }]
[[group]]
name = "web"
hosts = "1,4"
app = "flows"
list = [{ src = 1, dst = 4, size = "9kB", start = "0ns" }, { src = 1, dst = 4, size = "30kB", start = "1ms" },
  { src = 1, dst = 4, size = "80kB", start = "2ms" }]
[[group]]
name = "other"
hosts = "2,5"
app = "flows"
list = [{ src = 2, dst = 5, size = "9kB", start = "0ns" }, { src = 2, dst = 5, size = "80kB", start = "1ms"ASKED }]
OWN
[scheme.own]
base = "dctcp"
host = { kind = "round_robin" }
nic = "pull"
port = { kind = "strict", queues = 5 }
assign = { kind = "bytes_sent", levels = 3, thresholds = ["10kB", "50kB"], first = FIRST }
"#
);

/// Returns the file with a class that a flow of `other` asks for, with keys of that group, and with `first`.
fn written(asked: &str, own: &str, first: &str) -> String {
    TENANTS.replace("ASKED", asked).replace("OWN\n", own).replace("FIRST", first)
}

fn of(first: &str) -> String {
    written("", "", first)
}

/// Returns the classes of the first and the last packet of each flow, by group as the file has them.
fn classes(text: &str, engine: Engine) -> Vec<(u8, u8)> {
    let plan = plan::from_text("x.toml", text, Path::new("."), &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let built = plan::build(&plan.runs[0]).unwrap();
    let outcome = Simulation::of(&built.scenario).run(Drive::on(engine)).unwrap();
    let flows = built.scenario.flows.iter().zip(outcome.flows.iter());
    let mut all: Vec<_> =
        flows.map(|(flow, of)| ((flow.group, flow.start), (of.class.first, of.class.last))).collect();
    all.sort_by_key(|&(place, _)| place);
    all.into_iter().map(|(_, classes)| classes).collect()
}

const OWN: &str = "transport = { kind = \"cubic\" }\n";
const ENGINES: [Engine; 2] = [Engine::Window, Engine::Wheel];

#[test]
fn flows_are_demoted_from_the_class_of_their_group() {
    // The last packet of 9 kB is at level 0, that of 30 kB beyond 10 kB at level 1, that of 80 kB at level 2.
    let batch = [(2, 2), (2, 3), (2, 4)];
    let web = [(0, 0), (0, 1), (0, 2)];
    let other = [(0, 0), (0, 2)];
    let expected = [&batch[..], &web, &other].concat();
    for engine in ENGINES {
        assert_eq!(classes(&of("{ web = 0, batch = 2 }"), engine), expected, "{engine:?}");
    }
}

#[test]
fn a_group_with_a_transport_of_its_own_keeps_its_class() {
    let text = written(", class = 3", OWN, "{ batch = 1 }");
    let expected = [(1, 1), (1, 2), (1, 3), (0, 0), (0, 1), (0, 2), (0, 0), (3, 3)];
    for engine in ENGINES {
        assert_eq!(classes(&text, engine), expected, "{engine:?}");
    }
}

/// Returns the key and the text of each mistake of `text`.
fn mistakes(text: &str) -> Vec<(String, String)> {
    let error = planned(text).unwrap_err();
    error
        .mistakes()
        .map(|one| (one.key.trim_start_matches("scheme.own.assign.").to_owned(), one.to_string()))
        .collect()
}

#[test]
fn each_wrong_first_class_has_one_message() {
    // Three levels from class 3 on end in class 5.
    let [(beyond, says), (unknown, tells)] = &mistakes(&of("{ nobody = 1, batch = 3 }"))[..] else {
        panic!()
    };
    assert_eq!((beyond.as_str(), unknown.as_str()), ("first.batch", "first.nobody"));
    assert!(
        says.contains("class 5") && says.contains("queues 0 to 4") && says.contains("at most 2"),
        "{says}"
    );
    assert!(says.contains("map = { class = [0, 1, 2, 3, 4, 4] }"), "{says}");
    assert!(tells.contains("no group `nobody`") && tells.contains("one of batch, web, other"), "{tells}");

    let folded = of("{ batch = 3 }") + "map = { class = [0, 1, 2, 3, 4, 4] }\n";
    planned(&folded).unwrap();
    for (first, key, says) in [
        ("{ batch = 14 }", "first", "class 16"),
        ("{ batch = 16 }", "first.batch", "16"),
        ("{ batch = \"last\" }", "first.batch", "a string"),
        ("{}", "first", "no group"),
        ("[0, 1]", "first", "a table such as"),
    ] {
        let [(found, text)] = &mistakes(&of(first))[..] else { panic!("{first}") };
        assert!(found == key && text.contains(says), "{first}: {text}");
    }
}

#[test]
fn classes_come_from_the_scheme_or_from_flows() {
    let asked = written(", class = 1", "", "{ web = 1 }");
    let [(key, text)] = &mistakes(&asked)[..] else { panic!() };
    assert!(key == "first" && text.contains("classes up to 1"), "{text}");
    let own = written("", OWN, "{ other = 1 }");
    let [(key, text)] = &mistakes(&own)[..] else { panic!() };
    assert!(key == "first.other" && text.contains("transport of their own"), "{text}");
}
