//! Admission of everyone at the class asked for: what a scheme without admission does, and the yardstick for the rest.

use super::{Account, Admission};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId};
use crate::rng::Stream;
use crate::units::Time;

/// Gives every flow the class it asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everyone;

impl Admission for Everyone {
    fn open(&mut self, flow: &FlowSpec, _now: Time, _dice: &mut Stream) -> Class {
        flow.class
    }

    fn completed(&mut self, _report: &FlowReport, _now: Time) {}

    fn aborted(&mut self, _flow: FlowId) {}

    fn account(&self) -> Account {
        Account::default()
    }
}
