//! The keys of `transport = { kind = "python", ... }`.

use std::sync::Arc;

use priolane_core::file_code::{CodeFailure, FileCode};
use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::transport::ControllerParams;

use super::class::Contract;
use super::code::ClassCode;

/// Instructions per packet-hop relative to DCTCP: a run takes about 2.5 times as long.
const COST: f64 = 2.5;

/// The class of a congestion controller.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "python")]
#[part(
    name = "python",
    summary = "a congestion controller that is a Python class",
    source = "docs/notebook-scheme.md",
    provides = [Ranks],
    deploy = [CongestionModule],
    example = r#"class = "mine:Mine""#
)]
pub(crate) struct Config {
    /// The class.
    #[keys(flatten)]
    pub(crate) code: ClassCode,
    /// The window of a new flow in bytes.
    #[keys(skip)]
    pub(super) first_window: Option<u64>,
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.first_window = Some(bytes);
    }

    fn cost(&self) -> f64 {
        COST
    }

    fn file_code(&self) -> Option<&dyn FileCode> {
        Some(self)
    }

    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        Some(self)
    }
}

impl FileCode for Config {
    fn path(&self) -> String {
        self.code.path()
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        self.code.open(Contract::Controller, text)
    }

    fn take_failure(&self) -> Option<CodeFailure> {
        self.code.take_failure()
    }
}
