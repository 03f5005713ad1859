//! A scenario by its name, and how it is made.

use priolane_sim::scenario::{Scenario, ScenarioSpec};

use super::case::Case;
use super::cell::Cell;
use super::dctcp::{Broken, short_flows};
use super::limit::Extent;

/// A scenario that can be measured.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// Its size for the yardstick; docs/bench.md counts it out. `None`: as its runs turn out ([`super::Raw::extent`]).
    pub extent: Option<Extent>,
    /// Whether it is measured without being asked for.
    pub usual: Usual,
    pub(super) make: Make,
}

/// How a scenario is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make {
    /// By itself.
    By(fn() -> Result<ScenarioSpec, Broken>),
    /// As a case of the growth table.
    Case(Case),
    /// As a cell of the grid of TOP.
    Cell(Cell),
    /// As so many short flows.
    Short(u32),
}

/// Whether a scenario is measured without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Measured if nothing is asked for.
    Yes,
    /// Measured by name only.
    No,
}

impl Named {
    /// A case of the growth table.
    pub(super) const fn case(name: &'static str, about: &'static str, case: Case) -> Self {
        Self { name, about, extent: None, usual: Usual::No, make: Make::Case(case) }
    }

    /// A cell of the grid of TOP.
    pub(super) const fn cell(name: &'static str, cell: Cell) -> Self {
        let about = "32 hosts under TOP: flows a host x packets, delay of a link";
        Self { name, about, extent: None, usual: Usual::No, make: Make::Cell(cell) }
    }

    /// So many short flows.
    pub(super) const fn short(name: &'static str, flows: u32) -> Self {
        Self {
            name,
            about: "flows of 3 kB on the leaf-spine",
            extent: None,
            usual: Usual::No,
            make: Make::Short(flows),
        }
    }

    /// The case of the growth table that it is.
    pub fn growth(&self) -> Option<Case> {
        match self.make {
            Make::By(_) | Make::Cell(_) | Make::Short(_) => None,
            Make::Case(case) => Some(case),
        }
    }

    /// Builds it, with the first `flows` of its flows, or all.
    pub(super) fn build(&self, flows: Option<u32>) -> Result<Scenario, Broken> {
        let mut spec = match &self.make {
            Make::By(make) => make()?,
            Make::Case(case) => case.build()?,
            Make::Cell(cell) => cell.build()?,
            Make::Short(flows) => short_flows(*flows)?,
        };
        if let Some(flows) = flows {
            spec.flows.truncate(flows as usize);
        }
        Ok(spec.build()?)
    }
}
