//! Lists the runs of an experiment: those of its grid, and those of groups alone.

use std::collections::HashSet;

use priolane_source::InputError;

use super::alone;
use super::points::{Point, Points, add_runs};
use super::run::{AloneRuns, Plan, Run};
use crate::interrupt::Interrupt;

impl Points {
    /// Lists all runs.
    ///
    /// # Errors
    /// Returns an error if an experiment cannot be run with some groups only, or if `interrupt` stops it.
    pub fn plan(self, interrupt: &Interrupt) -> Result<Plan, InputError> {
        let mut runs = Vec::new();
        let mut places = Vec::with_capacity(self.points.len());
        for point in &self.points {
            let first = runs.len();
            add_runs(point, &mut runs, interrupt)?;
            places.push(first..runs.len());
        }
        let mut alone = AloneRuns::default();
        let mut known: HashSet<String> = runs.iter().map(|run| run.id.clone()).collect();
        for (point, place) in self.points.iter().zip(places) {
            alone::add(&mut alone, point, (&runs[place], &mut known), interrupt)?;
        }
        let Self { experiment, readings, warnings, source, .. } = self;
        Ok(Plan { experiment, runs, alone, readings, warnings, source })
    }

    /// Returns the runs of groups alone, each once, without the runs of the grid.
    ///
    /// # Errors
    /// As for [`Self::plan`].
    pub fn alone(&self, interrupt: &Interrupt) -> Result<Vec<Run>, InputError> {
        let asks = |point: &Point| !alone::asked(&point.experiment, &point.values).is_empty();
        if !self.points.iter().any(asks) {
            return Ok(Vec::new());
        }
        Ok(self.clone().plan(interrupt)?.alone.runs)
    }
}
