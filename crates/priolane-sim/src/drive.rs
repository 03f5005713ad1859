//! Runs a scenario: chooses the engine, creates the nodes, and drives the run to its outcome.

use std::cell::OnceCell;
use std::num::NonZeroU8;
use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::file_code::{CodeFailure, FileCode};
use priolane_core::units::Span;

use crate::device::fabric::Fabric;
use crate::engine::network::Network;
use crate::engine::stop::OnProgress;
use crate::engine::window::{Fallback, NodeOrder, PartTimes, Threads};
use crate::engine::{wheel, window};
use crate::model::partition::Partition;
use crate::model::scenario::{Engine, Scenario};
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::phase::PhaseMarker;
use crate::observe::trace::{Following, Trace, Tracer};

/// Below this lookahead a window contains too little work, and `Engine::Auto` uses the wheel engine.
const TINY_LOOKAHEAD: Span = Span::from_ns(40);

/// The shortest lookahead that allows a window.
const SHORTEST_WINDOW: Span = Span(2);

/// The way in which a run is driven, which does not affect the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drive {
    /// The engine.
    pub engine: Engine,
    /// The order in which the window engine runs nodes.
    pub order: NodeOrder,
    /// The number of threads of the window engine; the wheel engine has one.
    pub threads: Threads,
}

impl Drive {
    /// Drives a run on this engine, with nodes in their natural order.
    pub fn on(engine: Engine) -> Self {
        Self { engine, ..Self::default() }
    }
}

/// A run that is about to start: a scenario, and how it is driven.
pub(crate) struct DrivenRun<'a, 'p> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) mode: Mode<'a>,
    pub(crate) progress: OnProgress<'p>,
}

/// The part of a run that is traced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode<'a> {
    /// Nothing, on either engine.
    Untraced(Drive),
    /// Nothing, on the window engine: one thread runs at most this number of parts in turn and measures them.
    InTurn(NonZeroU8, &'a OnceCell<PartTimes>),
    /// Nothing, on one thread of the window engine, which marks what it does.
    Profiled(&'a Arc<PhaseMarker>),
    /// This, on the wheel engine; the trace is empty if the scenario does not have it.
    Traced(&'a Following),
}

impl DrivenRun<'_, '_> {
    /// Returns the same run on the thread that starts it.
    pub(crate) fn on_one_thread(self) -> Self {
        let mode = match self.mode {
            Mode::Untraced(drive) => Mode::Untraced(Drive { threads: Threads::ONE, ..drive }),
            mode => mode,
        };
        Self { mode, ..self }
    }

    /// Returns the outcome with the transport that `make` creates at each host, and the trace, which is empty if
    /// nothing is traced.
    pub(crate) fn run_with<E: Endpoint + 'static>(
        self,
        make: &dyn Fn(LocalHost) -> E,
    ) -> Result<(Outcome, Trace), RunError> {
        let policy = self.scenario.admission.file_code();
        let run = if policy.is_some() { self.on_one_thread() } else { self };
        unless_failed(run.driven(make), policy)
    }

    fn driven<E: Endpoint + 'static>(
        self,
        make: &dyn Fn(LocalHost) -> E,
    ) -> Result<(Outcome, Trace), RunError> {
        let Self { scenario, mode, progress } = self;
        let (drive, mut tracer) = match mode {
            Mode::Untraced(drive) => (drive, None),
            Mode::InTurn(most, _) => {
                let threads = Threads { most, fallback: Fallback::Never };
                (Drive { threads, ..Drive::on(Engine::Window) }, None)
            }
            Mode::Profiled(_) => (Drive::on(Engine::Window), None),
            Mode::Traced(following) => {
                (Drive::on(Engine::Wheel), Some(Box::new(Tracer::new(scenario, following))))
            }
        };
        let on_wheel = match drive.engine {
            Engine::Auto => scenario.lookahead() < TINY_LOOKAHEAD,
            Engine::Window => scenario.lookahead() < SHORTEST_WINDOW,
            Engine::Wheel => true,
        };
        let threads = if on_wheel { 1 } else { drive.threads.to_start() };
        let mut fabric = Fabric::new(scenario, Partition::of(scenario, threads));
        if let Mode::Profiled(phase) = mode {
            fabric.phase = Some(phase.clone()).filter(|_| !on_wheel);
        }
        let outcome = if on_wheel {
            wheel::run(&mut Network::whole(&fabric, make), &fabric, &mut tracer, progress)?
        } else {
            let networks = Network::parts(&fabric, make);
            if let Mode::InTurn(_, measured) = mode {
                let (outcome, times) = window::run_in_turn(networks, &fabric, progress)?;
                measured.get_or_init(|| times);
                outcome
            } else {
                window::run(networks, &fabric, (drive.order, drive.threads.fallback), progress)?
            }
        };
        let trace = tracer.map(|tracer| tracer.into_trace(scenario)).unwrap_or_default();
        Ok((outcome, trace))
    }
}

/// Returns `outcome`, or the failure in that run of `code`, which is in a file.
///
/// # Errors
/// The error of the run, or that failure.
pub(crate) fn unless_failed<T>(
    outcome: Result<T, RunError>,
    code: Option<&dyn FileCode>,
) -> Result<T, RunError> {
    match code.and_then(FileCode::take_failure) {
        None => outcome,
        Some(CodeFailure { what, at, flow }) => {
            Err(RunError::Violation { what, at, place: format!("flow {}", flow.0) })
        }
    }
}
