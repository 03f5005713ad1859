//! Errors of a scenario.

use priolane_core::ids::{FlowId, LinkId};
use priolane_core::port::pfc::PAUSABLE_CLASSES;
use priolane_core::units::Span;

use crate::model::dependencies::StepId;

/// A violated invariant of a [`super::ScenarioSpec`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// `ports` and the links of `topology` differ in number.
    #[error("there are {ports} ports for {links} links: list one port for each link")]
    PortCount {
        /// Number of ports.
        ports: usize,
        /// Number of links.
        links: usize,
    },
    /// The transport was built for other packet sizes.
    #[error("the transport's frame differs from the scenario's: use one frame for both")]
    TransportFrame,
    /// The transport's monitor interval differs from `rates_every`.
    #[error(
        "rates are sampled every {rates} ps, but the transport reports every {monitor:?}: use the same \
         interval"
    )]
    MonitorInterval {
        /// `rates_every`, in picoseconds.
        rates: u64,
        /// The transport's monitor interval.
        monitor: Option<Span>,
    },
    /// A lossless class has a number that pause frames cannot carry.
    #[error("a pause frame cannot carry the lossless class {class}: use a class below {PAUSABLE_CLASSES}")]
    LosslessClass {
        /// The class.
        class: u8,
    },
    /// A port of a lossless network has queues that cannot be paused per class.
    #[error("the queues of link {} cannot be paused by class: use FIFO, strict priority or WFQ", link.0)]
    NotPausable {
        /// The link of the port.
        link: LinkId,
    },
    /// Both `memory` and `lossless` define the shared buffer of a switch.
    #[error("a switch with lossless classes cannot have another shared buffer: remove `memory`")]
    TwoSharedBuffers,
    /// A flow's id is not its index in the list.
    #[error("flow {} is at index {place} of the flow list: the id of a flow is its index", flow.0)]
    FlowId {
        /// The flow.
        flow: FlowId,
        /// Its index.
        place: usize,
    },
    /// A flow starts before the previous one in the list.
    #[error("flow {} starts before the previous flow: sort flows by start", flow.0)]
    FlowOrder {
        /// The flow.
        flow: FlowId,
    },
    /// A flow has a source or destination that the topology does not have.
    #[error("flow {} has a host that is not in the topology of {hosts} hosts", flow.0)]
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
        /// The mistake.
        problem: DependencyProblem,
    },
    /// The dependencies of a step are wrong.
    #[error("the dependency of step {}: {problem}", step.0)]
    Step {
        /// The step.
        step: StepId,
        /// The mistake.
        problem: DependencyProblem,
    },
    /// Control messages are out of order.
    #[error("control message {place} is earlier than the previous one: sort them by time")]
    ControlOrder {
        /// Its index in the list.
        place: usize,
    },
    /// A control message names a flow that does not exist.
    #[error("control message {place} is for flow {}, which does not exist", flow.0)]
    ControlFlow {
        /// Its index in the list.
        place: usize,
        /// The flow.
        flow: FlowId,
    },
    /// The delay of the threshold controller's messages is below the lookahead.
    #[error("the threshold controller's delay of {delay} ps is below the lookahead of {lookahead} ps")]
    ControllerDelay {
        /// The delay, in picoseconds.
        delay: u64,
        /// [`super::ScenarioSpec::lookahead`], in picoseconds.
        lookahead: u64,
    },
    /// The loss probability of reports is not in [0, 1].
    #[error("the loss probability of reports is {found}: use 0 to 1")]
    ReportLoss {
        /// The value found.
        found: String,
    },
    /// An interval is zero.
    #[error("{key} is zero: use an interval above zero")]
    ZeroInterval {
        /// The name of the interval.
        key: &'static str,
    },
    /// A reaction to a downgrade defers flows zero times.
    #[error("group {group} defers flows zero times: use 1 or more, or `Ignore`")]
    ZeroDeferrals {
        /// The group.
        group: usize,
    },
    /// The grace period is below the lookahead, so the run may end before all nodes see the effects of the last flow.
    #[error("the grace of {grace} ps is below the lookahead of {lookahead} ps")]
    Grace {
        /// The grace, in picoseconds.
        grace: u64,
        /// [`super::ScenarioSpec::lookahead`], in picoseconds.
        lookahead: u64,
    },
}

/// An error in a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependencyProblem {
    /// The flow, or work that it depends on, does not exist.
    #[error("it names a flow or step that does not exist")]
    NoFlow,
    /// It is out of order, or the second dependency of its flow.
    #[error("it is out of order or repeated: sort dependencies by flow, one for each flow")]
    Order,
    /// It depends on nothing.
    #[error("the dependency names nothing: name a flow, or remove the dependency")]
    Empty,
    /// It names a flow or a step twice.
    #[error("it names a flow or a step twice")]
    Twice,
    /// It depends on an endless flow.
    #[error("it names a flow that never ends")]
    Endless,
    /// Its signal between two hosts takes no time.
    #[error("a signal between two hosts needs a delay above zero")]
    NoDelay,
    /// Its host does not exist.
    #[error("its host is not in the topology")]
    NoHost,
    /// It depends on a step of another host.
    #[error("it names a step of another host: only flows connect hosts")]
    OtherHost,
    /// It depends on a step that waits for nothing.
    #[error("it names a step whose end is known: state a start instead")]
    Known,
    /// It depends on itself, directly or indirectly.
    #[error("it depends on itself")]
    Circle,
}
