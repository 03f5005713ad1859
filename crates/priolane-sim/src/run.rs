//! Runs a scenario with its transport, for any transport.

use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::transport::{EndpointUser, RegisteredController, window};

use crate::drive::{Drive, Mode, Simulation};
use crate::engine::stop::OnProgress;
use crate::model::scenario::Scenario;
use crate::observe::outcome::{Outcome, RunError};
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
