//! Congestion controllers of other crates: what runs one, compiled where it is registered.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use priolane_core::endpoint::LocalHost;
use priolane_core::host::SchedulerKind;
use priolane_core::keys::{Keys, Opaque, Pairs};
use priolane_core::part::{Entry, Part, Row};
use priolane_core::transport::window::{self, CongestionControl, WindowEndpoint};
use priolane_core::transport::{self, OnWindow, RegisterError, Registered, Registration};

use crate::drive::Simulation;
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::trace::Trace;

/// The reliability machine that a controller steers, and which flow of a host goes next.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) window: Arc<window::Config>,
    pub(crate) scheduler: SchedulerKind,
}

/// Runs endpoints of one type.
pub(crate) trait RunWindow: Send + Sync {
    /// The outcome, and the trace if a flow is traced.
    fn run(&self, window: &Window, simulation: Simulation) -> Result<(Outcome, Trace), RunError>;
}

/// What runs `controller`.
pub(crate) fn engine_of(controller: &dyn Registered) -> &dyn RunWindow {
    let engine = controller.engine().downcast_ref::<Box<dyn RunWindow>>();
    &**engine.expect("invariant: controllers of other crates are registered here")
}

/// Adds the congestion controller `C` to the transports that experiments can name, under the name of its configuration.
///
/// `code` stands for the code that computes its results, and is part of the ids of its runs: `priolane_core::code_id!()` of the
/// crate that has it. Endpoints of `C` are compiled with both engines here.
///
/// # Errors
/// If a scheme has been read already, or if there is a transport of this name.
pub fn register<C>(code: u64) -> Result<(), RegisterError>
where
    C: CongestionControl + 'static,
    C::Config: Part + OnWindow + PartialEq + Sync + 'static,
{
    transport::register(Registration {
        entry: Entry::of::<C::Config>(Row::Transport),
        read: |table| Ok(Box::new(Own::<C>::new(C::Config::read(&mut Opaque(table))?))),
        code,
    })
}

/// A controller of another crate with its parameters.
struct Own<C: CongestionControl> {
    config: C::Config,
    /// In a box of its own: it can be asked for without naming `C`.
    engine: Box<dyn RunWindow>,
}

/// Runs the window machine under `C`.
struct Engine<C: CongestionControl>(C::Config);

impl<C> Own<C>
where
    C: CongestionControl + 'static,
    C::Config: Sync + 'static,
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

impl<C> OnWindow for Own<C>
where
    C: CongestionControl + 'static,
    C::Config: OnWindow + Sync + 'static,
{
    fn start_with(&mut self, bytes: u64, mss: u64) {
        let mut config = self.config.clone();
        config.start_with(bytes, mss);
        *self = Self::new(config);
    }

    fn fits(&self, window: &window::Config) -> Result<(), priolane_core::keys::Misfit> {
        self.config.fits(window)
    }

    fn cost(&self) -> f64 {
        self.config.cost()
    }

    fn channels(&self) -> Option<transport::delay::Channels> {
        self.config.channels()
    }
}

impl<C> Registered for Own<C>
where
    C: CongestionControl + 'static,
    C::Config: Part + OnWindow + PartialEq + Sync + 'static,
{
    fn name(&self) -> &'static str {
        C::Config::NAME
    }

    fn write(&self, out: &mut Pairs) {
        self.config.write(out);
    }

    fn boxed(&self) -> Box<dyn Registered> {
        Box::new(Self::new(self.config.clone()))
    }

    fn equals(&self, other: &dyn Registered) -> bool {
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
    C::Config: Sync + 'static,
{
    fn run(&self, window: &Window, simulation: Simulation) -> Result<(Outcome, Trace), RunError> {
        simulation.run_with(&|host| self.endpoint(host, window))
    }
}
