//! Benchmark scenarios by name, and how each is built.

use priolane_sim::scenario::ScenarioSpec;

use super::case::Case;
use super::cell::Cell;
use super::dctcp::{ScenarioBuildError, short_flows};
use super::limit::Extent;

/// A benchmark scenario.
#[derive(Clone, Copy, Debug)]
pub struct NamedScenario {
    /// Name of the scenario.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Size for the yardstick, as derived in docs/performance.md; `None` to measure it in the runs ([`super::Raw::extent`]).
    pub extent: Option<Extent>,
    /// Whether it is measured by default.
    pub usual: Usual,
    pub(super) make: Make,
}

/// The way in which a scenario is built.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make {
    /// By its own function.
    By(fn() -> Result<ScenarioSpec, ScenarioBuildError>),
    /// As a case of the growth table.
    Case(Case),
    /// As a cell of the TOP grid.
    Cell(Cell),
    /// As this number of short flows.
    Short(u32),
}

/// Whether a scenario is measured by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Measured by default.
    Yes,
    /// Measured by name only.
    No,
}

impl NamedScenario {
    /// Returns a case of the growth table.
    pub(super) const fn case(name: &'static str, about: &'static str, case: Case) -> Self {
        Self { name, about, extent: None, usual: Usual::No, make: Make::Case(case) }
    }

    /// Returns a cell of the TOP grid.
    pub(super) const fn cell(name: &'static str, cell: Cell) -> Self {
        let about = "32 hosts with TOP: flows per host x packets, delay of a link";
        Self { name, about, extent: None, usual: Usual::No, make: Make::Cell(cell) }
    }

    /// Returns a scenario with `flows` short flows.
    pub(super) const fn short(name: &'static str, flows: u32) -> Self {
        Self {
            name,
            about: "flows of 3 kB on the leaf-spine",
            extent: None,
            usual: Usual::No,
            make: Make::Short(flows),
        }
    }

    /// Returns its case of the growth table, if it is one.
    pub fn growth(&self) -> Option<Case> {
        match self.make {
            Make::By(_) | Make::Cell(_) | Make::Short(_) => None,
            Make::Case(case) => Some(case),
        }
    }

    /// Returns the scenario with its first `flows` flows, or all, and without random times at hosts.
    pub(super) fn spec(&self, flows: Option<u32>) -> Result<ScenarioSpec, ScenarioBuildError> {
        let mut spec = match &self.make {
            Make::By(make) => make()?,
            Make::Case(case) => case.build()?,
            Make::Cell(cell) => cell.build()?,
            Make::Short(flows) => short_flows(*flows)?,
        };
        if let Some(flows) = flows {
            spec.flows.truncate(flows as usize);
        }
        Ok(spec)
    }
}
