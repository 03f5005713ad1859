//! A rule of another crate that gives flows the classes that the list of [`super::EXPERIMENT`] gives them.

use std::ops::ControlFlow;

use priolane_core::assign;
use priolane_core::assign::by_flow::Rule;
use priolane_core::endpoint::FlowSpec;
use priolane_core::keys::Keys;
use priolane_core::part::{Part, Row};
use priolane_core::registry::RegisterError;
use priolane_core::scheme;
use priolane_lab::execute::{Settings, execute};

/// Classes go up to the top class and down again from flow to flow.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[part(name = "up_and_down", summary = "classes go up and down", source = "this test")]
pub(crate) struct UpAndDown {
    /// Top class.
    #[key(required = "top = 2", range = "[1, 7]", source = "this test")]
    top: u8,
}

impl Rule for UpAndDown {
    fn levels(&self) -> u8 {
        self.top + 1
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<u8> {
        let place = (flow.id.0 % (2 * u32::from(self.top))) as u8;
        Some(place.min(2 * self.top - place))
    }
}

/// A rule whose name is taken.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[part(name = "size", summary = "all flows have one class", source = "this test")]
struct NamedAsOneOfThisTree;

impl Rule for NamedAsOneOfThisTree {
    fn levels(&self) -> u8 {
        1
    }

    fn class(&self, _: &FlowSpec, _: f64) -> Option<u8> {
        Some(0)
    }
}

pub(crate) const CODE: u64 = 0xc1a55;

/// [`super::EXPERIMENT`] with flows without classes, in which `twin` assigns them by the rule.
fn ruled() -> String {
    let (flows, schemes) = super::EXPERIMENT.split_once("[scheme.wfq]").unwrap();
    let mut flows = flows.replace("schemes = [\"wfq\", \"twin\"]", "schemes = [\"twin\"]");
    for class in 0..3 {
        flows = flows.replace(&format!(", class = {class}"), "");
    }
    let (_, twin) = schemes.split_once("[scheme.twin]").unwrap();
    let rule = "assign = { kind = \"up_and_down\", top = 2 }";
    format!("{flows}[scheme.twin]{}", twin.replace("assign = { kind = \"none\" }", rule))
}

#[test]
fn a_rule_assigns_the_classes_that_flows_state_elsewhere() {
    let stated = super::planned(super::EXPERIMENT).unwrap();
    let by_rule = super::planned(&ruled()).unwrap();
    let results = tempfile::tempdir().unwrap();
    let digest = |run| {
        let done =
            execute(run, results.path(), &Settings::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(done.record().counters.completed, 4);
        done.record().digest.clone()
    };
    assert_eq!(digest(&by_rule.runs[0]), digest(&stated.runs[1]));
    let codes = by_rule.runs[0].experiment.scheme["twin"].codes();
    assert_eq!(
        codes,
        [CODE, super::CODE, super::CODE],
        "of the rule, and of the ports of NICs and of switches"
    );
    let other = super::planned(&ruled().replace("top = 2", "top = 1")).unwrap();
    assert_ne!(digest(&other.runs[0]), digest(&stated.runs[1]));
}

#[test]
fn its_keys_are_in_the_catalogue_and_its_name_is_taken() {
    super::planned(&ruled()).unwrap();
    let entry = scheme::find(Row::Assign, "up_and_down").unwrap();
    assert_eq!(entry.parameters.iter().map(|key| key.name).collect::<Vec<_>>(), ["top"]);
    let message = super::planned(&ruled().replace("top = 2", "top = 8")).unwrap_err().to_string();
    assert!(message.contains("scheme.twin.assign.top: 8 is out of range"), "{message}");
    assert_eq!(assign::register::<UpAndDown>(CODE), Err(RegisterError::Taken("up_and_down")));
    assert_eq!(assign::register::<NamedAsOneOfThisTree>(CODE), Err(RegisterError::Taken("size")));
}
