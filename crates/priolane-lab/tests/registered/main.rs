//! A port discipline and a rule of another crate, from the file to the digest. A program of its own: what a process
//! registers is known to all of its tests.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Once;

use priolane_core::assign;
use priolane_core::keys::Keys;
use priolane_core::part::{Part, Row};
use priolane_core::port::{self, KindRules, OfKind, PortSetup, QueueWeights, WfqSpec};
use priolane_core::registry::RegisterError;
use priolane_core::scheme;
use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, Plan};
use priolane_source::InputError;
use priolane_testkit::one_switch;

mod rule;

/// Weighted fair queueing whose queue 0 has a weight of its own, and each other queue 1.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[part(name = "twin", summary = "queue 0 has more weight", source = "this test", provides = [ClassPause])]
struct Twin {
    /// Number of queues.
    #[key(required = "queues = 3", group = "queues", range = "[1, 16]", source = "this test")]
    queues: u8,
    /// Weight of queue 0.
    #[key(default = 2, range = "[1, 100]", source = "this test")]
    first: u32,
}

impl KindRules for Twin {
    fn queues(&self) -> u8 {
        self.queues
    }
}

impl OfKind for Twin {
    type Spec = WfqSpec;

    fn discipline(&self, setup: &PortSetup<'_>) -> WfqSpec {
        let mut weights = vec![1; usize::from(self.queues)];
        weights[0] = self.first;
        WfqSpec { weights: QueueWeights::new(&weights).unwrap(), map: setup.map }
    }
}

const CODE: u64 = 0x5eed;

/// Four hosts send to a fifth in three classes, and a queue holds 12 packets and marks above 10.
const EXPERIMENT: &str = one_switch!(
    r#"
title = "Twins"
schemes = ["wfq", "twin"]
time = { flows = 4, limit = "1s" }
"#,
    5,
    r#"[[group]]
name = "all"
hosts = 5
app = "flows"
list = [
  { src = 0, dst = 4, size = "1MB", start = "0ns", class = 0 },
  { src = 1, dst = 4, size = "1MB", start = "0ns", class = 1 },
  { src = 2, dst = 4, size = "1MB", start = "0ns", class = 2 },
  { src = 3, dst = 4, size = "1MB", start = "0ns", class = 1 },
]
[scheme.wfq]
base = "dctcp"
assign = { kind = "none" }
map = { class = [0, 1, 2] }
nic = { port = { kind = "wfq", queues = 3, weights = [8, 1, 1], buffer = "unbounded" } }
port = { kind = "wfq", queues = 3, weights = [8, 1, 1], buffer = { per_queue = "12pkt" }, ecn = { per = "queue", at = { "10Gbps" = "10pkt" } } }
[scheme.twin]
base = "dctcp"
assign = { kind = "none" }
map = { class = [0, 1, 2] }
nic = { port = { kind = "twin", queues = 3, first = 8, buffer = "unbounded" } }
port = { kind = "twin", queues = 3, first = 8, buffer = { per_queue = "12pkt" }, ecn = { per = "queue", at = { "10Gbps" = "10pkt" } } }
"#
);

fn planned(text: &str) -> Result<Plan, InputError> {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        port::register::<Twin>(CODE).unwrap();
        assign::register::<rule::UpAndDown>(rule::CODE).unwrap();
    });
    plan::from_text("twins.toml", text, Path::new("."), &Options::default())
}

#[test]
fn runs_on_both_engines_have_the_digest_of_the_twin_of_this_tree_and_ids_of_their_own() {
    let plan = planned(EXPERIMENT).unwrap();
    let results = tempfile::tempdir().unwrap();
    // Each run is simulated on both engines, row by row the same.
    let settings = Settings { verify: true, ..Settings::default() };
    let records = [0, 1].map(|i| {
        let done = execute(&plan.runs[i], results.path(), &settings, &mut |_| ControlFlow::Continue(()));
        done.unwrap().record().clone()
    });
    assert_eq!(records[0].counters.completed, 4);
    assert!(
        records[0].counters.drops > Some(0) && records[0].counters.marks > 0,
        "{:?}",
        records[0].counters
    );
    assert_eq!(records[0].digest, records[1].digest);
    let codes = [0, 1].map(|i| plan.runs[i].experiment.scheme[&plan.runs[i].scheme].codes());
    assert_eq!(codes, [vec![], vec![CODE, CODE]], "that of the NIC's port, and that of the switches' ports");
}

#[test]
fn its_keys_are_in_the_catalogue_and_mistakes_in_them_are_named() {
    planned(EXPERIMENT).unwrap();
    let entry = scheme::find(Row::Port, "twin").unwrap();
    let keys: Vec<&str> = entry.parameters.iter().map(|key| key.name).collect();
    assert_eq!(keys, ["queues", "first", "buffer", "ecn", "pfc"]);
    let of = |from: &str, to: &str| planned(&EXPERIMENT.replace(from, to)).unwrap_err().to_string();
    let message = of("first = 8, buffer = { per", "first = 0, buffer = { per");
    assert!(message.contains("scheme.twin.port.first: 0 is out of range"), "{message}");
    let message = of("first = 8, buffer = { per_queue = \"12pkt\" }", "buffer = { push_out = \"20pkt\" }");
    assert!(message.contains("a port of kind twin pushes no packets out"), "{message}");
    let message =
        of("kind = \"twin\", queues = 3, first = 8, buffer = { per", "kind = \"win\", buffer = { per");
    assert!(message.contains("\"twin\""), "{message}");
}

#[test]
fn its_name_is_taken_and_others_come_too_late() {
    planned(EXPERIMENT).unwrap();
    assert_eq!(port::register::<Twin>(CODE), Err(RegisterError::Taken("twin")));
    assert_eq!(port::register::<priolane_core::port::FifoSpec>(CODE), Err(RegisterError::Taken("fifo")));
}
