//! An app that sends nothing: its hosts only receive.

use priolane_core::keys::Keys;
use priolane_core::part::Part;

use super::application::Application;
use super::context::WorkloadContext;
use super::error::AppError;
use super::traffic::Traffic;

/// No traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(name = "none", summary = "sends nothing", source = "docs/experiments.md")]
pub struct Nothing;

impl Application for Nothing {
    fn traffic(&self, _: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        Ok(Traffic::default())
    }

    fn sends(&self) -> bool {
        false
    }
}
