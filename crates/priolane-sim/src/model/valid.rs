//! The invariants of a scenario, checked before a run.

use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::packet::Frame;
use priolane_core::port::PortFactory;
use priolane_core::port::pfc::{HeadroomFrom, PAUSABLE_CLASSES};
use priolane_core::transport::Transport;
use priolane_core::units::Span;

use crate::model::dependencies::FlowDependency;
use crate::model::scenario::{OnDowngrade, Scenario, Stop};

/// A scenario whose invariants hold: the only one that engines accept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidScenario<'a>(&'a Scenario);

/// An invariant of [`Scenario`] that does not hold.
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
        /// [`Scenario::lookahead`], in picoseconds.
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
        /// [`Scenario::lookahead`], in picoseconds.
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

impl<'a> ValidScenario<'a> {
    /// Checks all invariants.
    ///
    /// # Errors
    /// The first that does not hold.
    pub(crate) fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        transport(scenario)?;
        ports(scenario)?;
        lossless(scenario)?;
        flows(&scenario.flows, scenario.topology.hosts)?;
        dependencies(&scenario.waits, &scenario.flows)?;
        controls(scenario)?;
        intervals(scenario)?;
        delays(scenario)?;
        Ok(Self(scenario))
    }

    /// The scenario.
    pub(crate) fn get(self) -> &'a Scenario {
        self.0
    }
}

fn transport(scenario: &Scenario) -> Result<(), ScenarioError> {
    let (frame, monitor): (Frame, Option<Option<Span>>) = match &scenario.transport {
        Transport::Window { window, .. } => (window.frame, Some(window.monitor)),
        Transport::Tokens(config) => (config.frame, Some(config.monitor)),
        Transport::PHost(config) => (config.frame, None),
        Transport::Ndp(config) => (config.frame, None),
        Transport::Homa(config) => (config.frame, None),
    };
    if frame != scenario.frame {
        return Err(ScenarioError::TransportFrame);
    }
    match (scenario.rates_every, monitor) {
        (Some(rates), Some(monitor)) if monitor != Some(rates) => {
            Err(ScenarioError::MonitorInterval { rates: rates.0, monitor })
        }
        _ => Ok(()),
    }
}

fn ports(scenario: &Scenario) -> Result<(), ScenarioError> {
    let (ports, links) = (scenario.ports.len(), scenario.topology.links.len());
    if ports != links {
        return Err(ScenarioError::PortCount { ports, links });
    }
    Ok(())
}

/// Refuses lossless classes that pause frames cannot name, and ports that cannot hold a class back.
fn lossless(scenario: &Scenario) -> Result<(), ScenarioError> {
    let Some(spec) = scenario.switch.lossless else { return Ok(()) };
    let by_frame = |class: u8| class < PAUSABLE_CLASSES || spec.headroom == HeadroomFrom::Beside;
    if let Some(class) = spec.lossless.iter().find(|&class| !by_frame(class)) {
        return Err(ScenarioError::LosslessClass { class });
    }
    if let Some(link) = scenario.ports.iter().position(|port| !port.discipline.is_pausable()) {
        return Err(ScenarioError::NotPausable { link: LinkId(link as u32) });
    }
    if scenario.switch.memory.is_some() { Err(ScenarioError::TwoSharedBuffers) } else { Ok(()) }
}

fn flows(flows: &FlowList, hosts: u32) -> Result<(), ScenarioError> {
    let mut last = None;
    for (place, spec) in flows.iter().enumerate() {
        let flow = spec.id;
        if flow.index() != place {
            return Err(ScenarioError::FlowId { flow, place });
        }
        if last > Some(spec.start) {
            return Err(ScenarioError::FlowOrder { flow });
        }
        if u32::from(spec.src.0.max(spec.dst.0)) >= hosts {
            return Err(ScenarioError::FlowHost { flow, hosts });
        }
        last = Some(spec.start);
    }
    Ok(())
}

fn dependencies(all: &[FlowDependency], flows: &FlowList) -> Result<(), ScenarioError> {
    let mut last = None;
    for dependency in all {
        let flow = dependency.flow;
        let problem =
            if last >= Some(flow) { Some(DependencyProblem::Order) } else { problem_of(dependency, flows) };
        if let Some(problem) = problem {
            return Err(ScenarioError::Dependency { flow, problem });
        }
        last = Some(flow);
    }
    match in_circle(all) {
        Some(flow) => Err(ScenarioError::Dependency { flow, problem: DependencyProblem::Circle }),
        None => Ok(()),
    }
}

fn problem_of(dependency: &FlowDependency, flows: &FlowList) -> Option<DependencyProblem> {
    let FlowDependency { flow, after, delay, .. } = dependency;
    let spec = |flow: &FlowId| (flow.index() < flows.len()).then(|| flows.at(flow.index()));
    let Some(source) = spec(flow).map(|spec| spec.src) else { return Some(DependencyProblem::NoFlow) };
    if after.is_empty() {
        return Some(DependencyProblem::Empty);
    }
    let mut sorted = after.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(DependencyProblem::Twice);
    }
    after.iter().find_map(|first| match spec(first) {
        None => Some(DependencyProblem::NoFlow),
        Some(first) if first.size.is_none() => Some(DependencyProblem::Endless),
        Some(first) if first.dst != source && *delay == Span::ZERO => Some(DependencyProblem::NoDelay),
        Some(_) => None,
    })
}

/// A flow that waits for itself, or for one that does. Dependencies are sorted by flow.
///
/// Flows are taken out whose dependencies all are; what is left lies on circles or behind them (Kahn's algorithm).
fn in_circle(all: &[FlowDependency]) -> Option<FlowId> {
    let place = |flow: FlowId| all.binary_search_by_key(&flow, |dependency| dependency.flow).ok();
    let mut left: Vec<usize> = vec![0; all.len()];
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (i, dependency) in all.iter().enumerate() {
        for first in dependency.after.iter().filter_map(|&first| place(first)) {
            left[i] += 1;
            dependents[first].push(i);
        }
    }
    let mut free: Vec<usize> = (0..all.len()).filter(|&i| left[i] == 0).collect();
    while let Some(first) = free.pop() {
        for &i in &dependents[first] {
            left[i] -= 1;
            if left[i] == 0 {
                free.push(i);
            }
        }
    }
    left.iter().position(|&left| left > 0).map(|i| all[i].flow)
}

fn controls(scenario: &Scenario) -> Result<(), ScenarioError> {
    if let Some(i) = scenario.controls.windows(2).position(|pair| pair[0].at > pair[1].at) {
        return Err(ScenarioError::ControlOrder { place: i + 1 });
    }
    let is_unknown = |flow: FlowId| flow.index() >= scenario.flows.len();
    match scenario.controls.iter().enumerate().find(|(_, control)| is_unknown(control.flow)) {
        Some((place, control)) => Err(ScenarioError::ControlFlow { place, flow: control.flow }),
        None => Ok(()),
    }
}

fn intervals(scenario: &Scenario) -> Result<(), ScenarioError> {
    let machines = scenario.machines.iter().flatten().map(|machine| ("machines.interval", machine.interval));
    let reactions = scenario.on_downgrade.iter().map(|reaction| match *reaction {
        OnDowngrade::Ignore => ("on_downgrade", None),
        OnDowngrade::Defer { by, .. } => ("on_downgrade.by", Some(by)),
        OnDowngrade::Reclassify { lasts } => ("on_downgrade.lasts", Some(lasts)),
    });
    let intervals = [
        ("rates_every", scenario.rates_every),
        ("admission_every", scenario.admission_every),
        ("sample_every", scenario.sample_every),
        ("adaptation.config.period", scenario.adaptation.as_ref().map(|adaptation| adaptation.config.period)),
    ];
    let mut all = intervals.into_iter().chain(machines).chain(reactions);
    if let Some((key, _)) = all.find(|(_, interval)| *interval == Some(Span::ZERO)) {
        return Err(ScenarioError::ZeroInterval { key });
    }
    let never = |reaction: &OnDowngrade| matches!(reaction, OnDowngrade::Defer { times: 0, .. });
    match scenario.on_downgrade.iter().position(never) {
        Some(group) => Err(ScenarioError::ZeroDeferrals { group }),
        None => Ok(()),
    }
}

fn delays(scenario: &Scenario) -> Result<(), ScenarioError> {
    let lookahead = scenario.lookahead();
    if let Some(adaptation) = &scenario.adaptation {
        let delay = adaptation.config.delay;
        if !adaptation.global.is_empty() && delay < lookahead {
            return Err(ScenarioError::ControllerDelay { delay: delay.0, lookahead: lookahead.0 });
        }
        if !(0.0..=1.0).contains(&adaptation.config.report_loss) {
            return Err(ScenarioError::ReportLoss { found: adaptation.config.report_loss.to_string() });
        }
    }
    match scenario.stop {
        Stop::WhenDone { grace, .. } if grace < lookahead => {
            Err(ScenarioError::Grace { grace: grace.0, lookahead: lookahead.0 })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
