//! A scenario is run with its transport, whichever it is.

use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::FlowId;
use priolane_core::transport::{EndpointUser, Registered, window};

use crate::drive::{Drive, run_with, trace_with};
use crate::engine::stop::OnProgress;
use crate::model::scenario::Scenario;
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::trace::Trace;
use crate::registered::{Window, engine_of};

/// Runs `scenario` with its transport.
///
/// # Errors
/// As [`run_with`].
pub fn run(scenario: &Scenario, drive: Drive, progress: OnProgress) -> Result<Outcome, RunError> {
    scenario.transport.with_endpoints(Runner { scenario, drive, progress })
}

struct Runner<'a> {
    scenario: &'a Scenario,
    drive: Drive,
    progress: OnProgress<'a>,
}

impl EndpointUser for Runner<'_> {
    type Out = Result<Outcome, RunError>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        run_with(self.scenario, self.drive, &make, self.progress)
    }

    fn run_registered(
        self,
        controller: &dyn Registered,
        window: Arc<window::Config>,
        scheduler: SchedulerKind,
    ) -> Self::Out {
        let window = Window { window, scheduler };
        engine_of(controller).run(&window, self.scenario, self.drive, self.progress)
    }
}

/// Runs `scenario` on the wheel engine with its transport and keeps what happens to `flow`; of a flow that the
/// scenario does not have, nothing is seen.
///
/// # Errors
/// As [`run`].
pub fn run_traced(
    scenario: &Scenario,
    flow: FlowId,
    progress: OnProgress,
) -> Result<(Outcome, Trace), RunError> {
    scenario.transport.with_endpoints(TracedRunner { scenario, flow, progress })
}

struct TracedRunner<'a> {
    scenario: &'a Scenario,
    flow: FlowId,
    progress: OnProgress<'a>,
}

impl EndpointUser for TracedRunner<'_> {
    type Out = Result<(Outcome, Trace), RunError>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        trace_with(self.scenario, self.flow, &make, self.progress)
    }

    fn run_registered(
        self,
        controller: &dyn Registered,
        window: Arc<window::Config>,
        scheduler: SchedulerKind,
    ) -> Self::Out {
        let window = Window { window, scheduler };
        engine_of(controller).trace(&window, self.scenario, self.flow, self.progress)
    }
}
