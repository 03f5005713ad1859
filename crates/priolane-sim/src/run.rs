//! Starts the simulation of a scenario.

use std::cell::OnceCell;
use std::fmt;
use std::num::NonZeroU8;
use std::ops::ControlFlow;
use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::transport::{EndpointUser, RegisteredController, window};

use crate::drive::{Drive, DrivenRun, Mode};
use crate::engine::stop::OnProgress;
use crate::engine::window::PartTimes;
use crate::model::scenario::Scenario;
use crate::observe::outcome::{Outcome, Progress, RunError};
use crate::observe::phase::PhaseMarker;
use crate::observe::trace::{Following, Trace};
use crate::registered::{Window, engine_of};

/// A simulation of a scenario that has not started. Each of its methods that start it returns the same outcome, but for
/// the number of events of [`Work`](crate::outcome::Work).
///
/// # Errors
/// These methods fail if an invariant of the run is violated, or if the callback of [`Self::reporting_to`] requests a stop.
#[must_use = "a simulation does nothing before it is run"]
pub struct Simulation<'a, 'p> {
    scenario: &'a Scenario,
    progress: Option<OnProgress<'p>>,
}

impl fmt::Debug for Simulation<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("scenario", self.scenario).finish_non_exhaustive()
    }
}

impl<'a> Simulation<'a, 'static> {
    /// Creates the simulation of `scenario`, which reports its progress to nobody.
    pub fn of(scenario: &'a Scenario) -> Self {
        Self { scenario, progress: None }
    }
}

impl<'a> Simulation<'a, '_> {
    /// Returns the simulation with a callback that receives its progress from time to time, and may stop it.
    pub fn reporting_to<'q>(self, progress: OnProgress<'q>) -> Simulation<'a, 'q> {
        Simulation { scenario: self.scenario, progress: Some(progress) }
    }

    /// Runs it with the transport of the scenario.
    ///
    /// # Errors
    /// As the type describes.
    pub fn run(self, drive: Drive) -> Result<Outcome, RunError> {
        self.start(Mode::Untraced(drive)).map(|(outcome, _)| outcome)
    }

    /// Runs it with the transport that `make` creates at each host, in place of the transport of the scenario.
    ///
    /// # Errors
    /// As the type describes.
    pub fn run_with<E: Endpoint + 'static>(
        self,
        drive: Drive,
        make: &dyn Fn(LocalHost) -> E,
    ) -> Result<Outcome, RunError> {
        let run = |run: DrivenRun<'_, '_>| run.run_with(make);
        self.driven(Mode::Untraced(drive), run).map(|(outcome, _)| outcome)
    }

    /// Runs it on the wheel engine and traces `following`. The trace is empty if the scenario does not have it.
    ///
    /// # Errors
    /// As the type describes.
    pub fn trace(self, following: &Following) -> Result<(Outcome, Trace), RunError> {
        self.start(Mode::Traced(following))
    }

    /// Runs it on the window engine, at most `parts` parts of the network in turn on this thread. Returns also how long
    /// the parts took; `None` if the lookahead is too short for windows.
    ///
    /// # Errors
    /// As the type describes.
    pub fn run_in_turn(self, parts: NonZeroU8) -> Result<(Outcome, Option<PartTimes>), RunError> {
        let times = OnceCell::new();
        let (outcome, _) = self.start(Mode::InTurn(parts, &times))?;
        Ok((outcome, times.into_inner()))
    }

    /// Runs it on one thread of the window engine. `phase` shows at any time what the run is doing, up to the collection of
    /// its results; if the lookahead is too short for windows, only setup and results are apart.
    ///
    /// # Errors
    /// As the type describes.
    pub fn profile(self, phase: &Arc<PhaseMarker>) -> Result<Outcome, RunError> {
        self.start(Mode::Profiled(phase)).map(|(outcome, _)| outcome)
    }

    fn start(self, mode: Mode<'_>) -> Result<(Outcome, Trace), RunError> {
        let transport = &self.scenario.transport;
        self.driven(mode, |run| transport.with_endpoints(run))
    }

    /// Calls `start` with the simulation driven by `mode`.
    fn driven<R>(self, mode: Mode<'_>, start: impl FnOnce(DrivenRun<'_, '_>) -> R) -> R {
        let mut unheard = |_: Progress| ControlFlow::Continue(());
        let progress: OnProgress<'_> = match self.progress {
            Some(progress) => progress,
            None => &mut unheard,
        };
        start(DrivenRun { scenario: self.scenario, mode, progress })
    }
}

impl EndpointUser for DrivenRun<'_, '_> {
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
