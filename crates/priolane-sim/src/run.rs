//! Runs a scenario with its transport, for any transport.

use std::cell::OnceCell;
use std::num::NonZeroU8;
use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::transport::{EndpointUser, RegisteredController, window};

use crate::drive::{Drive, Mode, Simulation};
use crate::engine::stop::OnProgress;
use crate::engine::window::PartTimes;
use crate::model::scenario::Scenario;
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::phase::PhaseMarker;
use crate::observe::trace::{Following, Trace};
use crate::registered::{Window, engine_of};

/// Runs `scenario` with its transport.
///
/// # Errors
/// As [`crate::run_with`].
pub fn run(scenario: &Scenario, drive: Drive, progress: OnProgress) -> Result<Outcome, RunError> {
    let simulation = Simulation { scenario, mode: Mode::Untraced(drive), progress };
    scenario.transport.with_endpoints(simulation).map(|(outcome, _)| outcome)
}

/// Runs `scenario` with its transport on the window engine, at most `parts` parts of the network in turn on this
/// thread. Returns how long they took; `None` if the lookahead is too short for windows.
///
/// # Errors
/// As [`crate::run_with`].
pub fn run_in_turn(
    scenario: &Scenario,
    parts: NonZeroU8,
    progress: OnProgress,
) -> Result<(Outcome, Option<PartTimes>), RunError> {
    let times = OnceCell::new();
    let simulation = Simulation { scenario, mode: Mode::InTurn(parts, &times), progress };
    let (outcome, _) = scenario.transport.with_endpoints(simulation)?;
    Ok((outcome, times.into_inner()))
}

/// Runs `scenario` with its transport on one thread of the window engine. `phase` shows at any time what the run is doing,
/// up to the collection of its results; if the lookahead is too short for windows, only setup and results are apart.
///
/// # Errors
/// As [`crate::run_with`].
pub fn run_profiled(
    scenario: &Scenario,
    phase: &Arc<PhaseMarker>,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let simulation = Simulation { scenario, mode: Mode::Profiled(phase), progress };
    scenario.transport.with_endpoints(simulation).map(|(outcome, _)| outcome)
}

/// Runs `scenario` on the wheel engine with its transport and traces `following`. The trace is empty if the scenario
/// does not have it.
///
/// # Errors
/// As [`crate::run_with`].
pub fn run_traced(
    scenario: &Scenario,
    following: &Following,
    progress: OnProgress,
) -> Result<(Outcome, Trace), RunError> {
    scenario.transport.with_endpoints(Simulation { scenario, mode: Mode::Traced(following), progress })
}

impl EndpointUser for Simulation<'_, '_> {
    type Out = Result<(Outcome, Trace), RunError>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        self.run_with(&make)
    }

    fn run_registered(
        self,
        controller: &dyn RegisteredController,
        window: Arc<window::Config>,
        scheduler: SchedulerKind,
    ) -> Self::Out {
        engine_of(controller).run(&Window { window, scheduler }, self)
    }
}
