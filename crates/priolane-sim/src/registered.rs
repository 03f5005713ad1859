//! Congestion controllers of other crates: their endpoints are compiled where they are registered.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use priolane_core::endpoint::LocalHost;
use priolane_core::file_code::{CodeFailure, FileCode};
use priolane_core::finding::{Finding, NetworkFacts};
use priolane_core::host::SchedulerKind;
use priolane_core::keys::{DynTable, KeyConflict, Keys, Pairs};
use priolane_core::part::{Entry, Part, Row};
use priolane_core::registry::{RegisterError, Registration};
use priolane_core::transport::window::{self, CongestionControl, WindowEndpoint};
use priolane_core::transport::{self, ControllerParams, RegisteredController};

use crate::drive::{DrivenRun, unless_failed};
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::trace::Trace;

/// Configuration of a window transport, and the scheduler of a host's flows.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) window: Arc<window::Config>,
    pub(crate) scheduler: SchedulerKind,
}

/// Runs simulations with one type of endpoint.
pub(crate) trait RunWindow: Send + Sync {
    /// Returns the outcome, and the trace if a flow is traced.
    fn run(&self, window: &Window, run: DrivenRun) -> Result<(Outcome, Trace), RunError>;
}

/// Returns the runner of `controller`.
pub(crate) fn engine_of(controller: &dyn RegisteredController) -> &dyn RunWindow {
    let engine = controller.engine().downcast_ref::<Box<dyn RunWindow>>();
    &**engine.expect("invariant: controllers of other crates are registered here")
}

/// Adds the congestion controller `C` to the transports that experiments can name, under the name of its
/// configuration.
///
/// `code` identifies the code that computes its results, and is part of the ids of its runs:
/// `priolane_core::code_id!()` of the crate that defines it. Endpoints of `C` are compiled with both engines here.
///
/// # Errors
/// If a scheme has been read already, or if a transport of this name exists.
pub fn register<C>(code: u64) -> Result<(), RegisterError>
where
    C: CongestionControl + 'static,
    C::Config: Part + ControllerParams + PartialEq + Sync + 'static,
{
    transport::register(Registration {
        entry: Entry::of::<C::Config>(Row::Transport),
        read: |table| Ok(Box::new(Own::<C>::new(C::Config::read(&mut DynTable(table))?))),
        code,
    })
}

/// A controller of another crate with its parameters.
struct Own<C: CongestionControl> {
    config: C::Config,
    /// Boxed separately, so that callers can get it without naming `C`.
    engine: Box<dyn RunWindow>,
}

/// Runs window transports with the controller `C`.
struct Engine<C: CongestionControl>(C::Config);

impl<C> Own<C>
where
    C: CongestionControl + 'static,
    C::Config: ControllerParams + Sync + 'static,
{
    fn new(config: C::Config) -> Self {
        Self { engine: Box::new(Engine::<C>(config.clone())), config }
    }
}

impl<C: CongestionControl> fmt::Debug for Own<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

impl<C> ControllerParams for Own<C>
where
    C: CongestionControl + 'static,
    C::Config: ControllerParams + Sync + 'static,
{
    fn start_with(&mut self, bytes: u64, mss: u64) {
        let mut config = self.config.clone();
        config.start_with(bytes, mss);
        *self = Self::new(config);
    }

    fn fits(&self, window: &window::Config) -> Result<(), KeyConflict> {
        self.config.fits(window)
    }

    fn cost(&self) -> f64 {
        self.config.cost()
    }

    fn queues(&self) -> transport::QueueLimit {
        self.config.queues()
    }

    fn file_code(&self) -> Option<&dyn FileCode> {
        self.config.file_code().map(|_| self as &dyn FileCode)
    }

    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        self.config.file_code().is_some().then_some(self as &mut dyn FileCode)
    }
}

/// The code of the controller's parameters, in a file. Opening the file makes its engine again.
impl<C> FileCode for Own<C>
where
    C: CongestionControl + 'static,
    C::Config: ControllerParams + Sync + 'static,
{
    fn path(&self) -> String {
        self.config.file_code().map(FileCode::path).unwrap_or_default()
    }

    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict> {
        let mut config = self.config.clone();
        config.file_code_mut().map_or(Ok(()), |code| code.open(text))?;
        *self = Self::new(config);
        Ok(())
    }

    fn take_failure(&self) -> Option<CodeFailure> {
        self.config.file_code()?.take_failure()
    }
}

impl<C> RegisteredController for Own<C>
where
    C: CongestionControl + 'static,
    C::Config: Part + ControllerParams + PartialEq + Sync + 'static,
{
    fn name(&self) -> &'static str {
        C::Config::NAME
    }

    fn write(&self, out: &mut Pairs) {
        self.config.write(out);
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.config.findings(network)
    }

    fn boxed(&self) -> Box<dyn RegisteredController> {
        Box::new(Self::new(self.config.clone()))
    }

    fn equals(&self, other: &dyn RegisteredController) -> bool {
        other.config().downcast_ref() == Some(&self.config)
    }

    fn config(&self) -> &dyn Any {
        &self.config
    }

    fn engine(&self) -> &dyn Any {
        &self.engine
    }
}

impl<C> Engine<C>
where
    C: CongestionControl + 'static,
    C::Config: Sync + 'static,
{
    fn endpoint(&self, host: LocalHost, window: &Window) -> WindowEndpoint<C> {
        WindowEndpoint::with_kind(host, Arc::clone(&window.window), self.0.clone(), window.scheduler)
    }
}

impl<C> RunWindow for Engine<C>
where
    C: CongestionControl + 'static,
    C::Config: ControllerParams + Sync + 'static,
{
    fn run(&self, window: &Window, run: DrivenRun) -> Result<(Outcome, Trace), RunError> {
        let code = self.0.file_code();
        let run = if code.is_some() { run.on_one_thread() } else { run };
        unless_failed(run.run_with(&|host| self.endpoint(host, window)), code)
    }
}
