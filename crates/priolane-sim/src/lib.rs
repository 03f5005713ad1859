//! Packet-level simulation: nodes, links, topologies, and two engines that agree to the bit.

mod engine;
mod node;
pub mod outage;
pub mod outcome;
pub mod records;
pub mod scenario;
pub mod topology;
pub mod trace;
pub mod waits;
mod wire;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::transport::EndpointUser;
use priolane_core::units::Span;

pub use engine::drive::OnProgress;
use engine::network::Network;
use engine::partition::Partition;
pub use engine::threads::{Fallback, Threads};
pub use engine::window::{NodeOrder, window_length};
use outcome::{Outcome, RunError};
use scenario::{Engine, Scenario};

/// Below this lookahead the windows hold too little work each, and `Engine::Auto` takes the wheel.
const TINY_LOOKAHEAD: Span = Span::from_ns(40);

/// A shorter window is no window.
const SHORTEST_WINDOW: Span = Span(2);

/// Runs `scenario` with the transport that `make` makes at each host, whatever `scenario.transport` says.
///
/// `progress` is told now and then how far the run is and may end it.
///
/// # Errors
/// A violated invariant, classes to be lossless that cannot be, or `progress` asked to stop.
pub fn run_with<E: Endpoint + 'static>(
    scenario: &Scenario,
    drive: Drive,
    make: &dyn Fn(LocalHost) -> E,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    node::held::check(scenario)?;
    let wheel = match drive.engine {
        Engine::Auto => scenario.lookahead() < TINY_LOOKAHEAD,
        Engine::Window => scenario.lookahead() < SHORTEST_WINDOW,
        Engine::Wheel => true,
    };
    let threads = if wheel { 1 } else { usize::from(drive.threads.most.get()) };
    let mut fabric = node::fabric::Fabric::new(scenario, Partition::of(scenario, threads));
    if wheel {
        engine::wheel::run(&mut Network::whole(&fabric, make), &mut fabric, &mut None, progress)
    } else {
        let networks = Network::parts(&fabric, make);
        engine::window::run(networks, &mut fabric, (drive.order, drive.threads.fallback), progress)
    }
}

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
}

/// How a run is driven; its outcome does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drive {
    /// The engine.
    pub engine: Engine,
    /// The order in which the window engine takes nodes.
    pub order: NodeOrder,
    /// The threads of the window engine; the wheel engine has one.
    pub threads: Threads,
}

impl Drive {
    /// On this engine, nodes in their natural order.
    pub fn on(engine: Engine) -> Self {
        Self { engine, ..Self::default() }
    }
}
