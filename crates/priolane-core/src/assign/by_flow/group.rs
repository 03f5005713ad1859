//! Assigns classes by the group that a flow belongs to: a class for each tenant.

use super::rule::Rule;
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{Keys, NonEmpty};
use crate::part::Part;

/// Parameters of the rule `group`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "group")]
#[part(
    name = "group",
    summary = "a stated class for each group of the experiment, such as a tenant",
    source = "docs/experiments.md",
    deploy = [Dscp],
    example = "classes = [0, 1, 2]"
)]
pub struct ByGroup {
    /// The class of each group, in the order of the file; groups beyond the list have its last class.
    #[key(required = "classes = [0, 1]", form = NonEmpty, range = "[0, 15]", source = "docs/experiments.md")]
    pub classes: Vec<Class>,
}

impl Rule for ByGroup {
    fn levels(&self) -> u8 {
        self.classes.iter().max().map_or(1, |most| most + 1)
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        self.classes.get(usize::from(flow.group)).or(self.classes.last()).copied()
    }
}
