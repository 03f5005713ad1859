//! What is wrong with a scenario.

use priolane_core::ids::{FlowId, LinkId};
use priolane_core::port::pfc::PAUSABLE_CLASSES;
use priolane_core::units::Span;

/// An invariant of a [`super::ScenarioSpec`] that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// `ports` and the links of `topology` differ in number.
    #[error("{ports} ports for {links} links: list one port for each link")]
    PortCount {
        /// Ports.
        ports: usize,
        /// Links.
        links: usize,
    },
    /// The transport was made for other packet sizes.
    #[error("the transport's frame differs from the scenario's: make both from one frame")]
    TransportFrame,
    /// The transport reports at another interval than `rates_every`.
    #[error(
        "rates are sampled every {rates} ps, and the transport reports every {monitor:?}: use one interval"
    )]
    MonitorInterval {
        /// `rates_every`, in picoseconds.
        rates: u64,
        /// The transport's.
        monitor: Option<Span>,
    },
    /// A lossless class has a number that no pause frame carries.
    #[error("no pause frame can name the lossless class {class}: use a class below {PAUSABLE_CLASSES}")]
    LosslessClass {
        /// The class.
        class: u8,
    },
    /// A port of a lossless network has queues that cannot be paused class by class.
    #[error("the queues of link {} cannot be paused by class: use FIFO, strict priority or WFQ", link.0)]
    NotPausable {
        /// The link that leaves the port.
        link: LinkId,
    },
    /// Both `memory` and `lossless` say what the ports of a switch share.
    #[error("a switch with lossless classes has no other shared buffer: leave `memory` out")]
    TwoSharedBuffers,
    /// A flow's id is not its place in the list.
    #[error("flow {} stands at place {place} of the flow list: ids are places", flow.0)]
    FlowId {
        /// The flow.
        flow: FlowId,
        /// Its place.
        place: usize,
    },
    /// A flow starts before the one before it in the list.
    #[error("flow {} starts before the flow before it: sort flows by start", flow.0)]
    FlowOrder {
        /// The flow.
        flow: FlowId,
    },
    /// A flow has an end that the topology does not have.
    #[error("flow {} joins hosts that the topology does not have: it has {hosts}", flow.0)]
    FlowHost {
        /// The flow.
        flow: FlowId,
        /// Number of hosts.
        hosts: u32,
    },
    /// The dependencies of a flow are wrong.
    #[error("the dependency of flow {}: {problem}", flow.0)]
    Dependency {
        /// The flow that depends on others.
        flow: FlowId,
        /// What is wrong.
        problem: DependencyProblem,
    },
    /// Control messages are out of order.
    #[error("control message {place} is earlier than the one before it: sort them by time")]
    ControlOrder {
        /// Its place in the list.
        place: usize,
    },
    /// A control message names a flow that does not exist.
    #[error("control message {place} is for flow {}, which does not exist", flow.0)]
    ControlFlow {
        /// Its place in the list.
        place: usize,
        /// The flow.
        flow: FlowId,
    },
    /// Messages of the threshold controller are faster than the lookahead.
    #[error("the threshold controller's delay of {delay} ps is below the lookahead of {lookahead} ps")]
    ControllerDelay {
        /// The delay, in picoseconds.
        delay: u64,
        /// [`super::ScenarioSpec::lookahead`], in picoseconds.
        lookahead: u64,
    },
    /// The probability that a report is lost is none.
    #[error("a report is lost with probability {found}: use 0 to 1")]
    ReportLoss {
        /// The value found.
        found: String,
    },
    /// An interval that must not be zero is.
    #[error("{key} is zero: use an interval above zero")]
    ZeroInterval {
        /// Its name.
        key: &'static str,
    },
    /// A reaction to a downgrade holds flows back zero times.
    #[error("group {group} defers flows zero times: use 1 or more, or `Ignore`")]
    ZeroDeferrals {
        /// The group.
        group: usize,
    },
    /// The run may end before the last flow's effects are seen by all nodes.
    #[error("a grace of {grace} ps is below the lookahead of {lookahead} ps")]
    Grace {
        /// The grace, in picoseconds.
        grace: u64,
        /// [`super::ScenarioSpec::lookahead`], in picoseconds.
        lookahead: u64,
    },
}

/// What is wrong with a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependencyProblem {
    /// The flow, or one that it waits for, does not exist.
    #[error("a flow that does not exist")]
    NoFlow,
    /// It stands behind that of a later flow, or a second one of its flow.
    #[error("sort dependencies by flow, one for each")]
    Order,
    /// It waits for nothing.
    #[error("it waits for no flow: name one, or leave the dependency out")]
    Empty,
    /// It names a flow twice.
    #[error("it waits for one flow twice")]
    Twice,
    /// It waits for a flow without end.
    #[error("it waits for a flow without end")]
    Endless,
    /// It takes no time between two hosts.
    #[error("a signal between two hosts takes a delay above zero")]
    NoDelay,
    /// It waits for itself, through others or not.
    #[error("it waits for itself")]
    Circle,
}
