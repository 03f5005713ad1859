//! The scenario: everything a run needs, validated when it is built.

use std::ops::Deref;

pub use priolane_core::admit::OnDowngrade;
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId, LinkId};
use priolane_core::port::PortFactory;
use priolane_core::port::pfc::{HeadroomFrom, PAUSABLE_CLASSES};
use priolane_core::transport::Reports;
use priolane_core::units::Span;

use crate::model::dependencies::{Predecessor, StepId, Work, in_order};

mod error;
mod spec;

pub use error::{DependencyProblem, ScenarioError};
pub(crate) use spec::pause_wire;
pub use spec::{
    Adaptation, Awaited, Engine, MeasurementError, Nic, PortSpec, ScenarioSpec, ScheduledControl, SendJitter,
    Stop, SwitchSpec, VmPricing, pause_frames, pause_links,
};

/// A valid, immutable run description. It can only be created by [`ScenarioSpec::build`].
#[derive(Clone, Debug)]
pub struct Scenario(ScenarioSpec);

impl ScenarioSpec {
    /// Builds the scenario if all invariants stated at the fields hold.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn build(self) -> Result<Scenario, ScenarioError> {
        transport(&self)?;
        ports(&self)?;
        lossless(&self)?;
        flows(&self.flows, self.topology.hosts)?;
        dependencies(&self)?;
        controls(&self)?;
        intervals(&self)?;
        delays(&self)?;
        Ok(Scenario(self))
    }
}

impl Scenario {
    /// Returns its parameters, for modification and another build.
    pub fn into_spec(self) -> ScenarioSpec {
        self.0
    }
}

impl Deref for Scenario {
    type Target = ScenarioSpec;

    #[inline]
    fn deref(&self) -> &ScenarioSpec {
        &self.0
    }
}

fn transport(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
    if scenario.transport.frame() != scenario.frame {
        return Err(ScenarioError::TransportFrame);
    }
    let Some(rates) = scenario.rates_every else { return Ok(()) };
    let monitor = match scenario.transport.reports() {
        Reports::Unsupported => return Ok(()),
        Reports::Off => None,
        Reports::Every(monitor) if monitor == rates => return Ok(()),
        Reports::Every(monitor) => Some(monitor),
    };
    Err(ScenarioError::MonitorInterval { rates: rates.0, monitor })
}

fn ports(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
    let (ports, links) = (scenario.ports.len(), scenario.topology.links.len());
    if ports != links {
        return Err(ScenarioError::PortCount { ports, links });
    }
    Ok(())
}

/// Rejects lossless classes that pause frames cannot name, and ports that cannot pause a class.
fn lossless(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
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

fn dependencies(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
    let flows = &scenario.flows;
    for (step, number) in scenario.steps.iter().zip(0..) {
        let known = u32::from(step.host.0) < scenario.topology.hosts;
        let problem = if known {
            problem_of(scenario, step.host, &step.after)
        } else {
            Some(DependencyProblem::NoHost)
        };
        if let Some(problem) = problem {
            return Err(fault(Work::Step(StepId(number)), problem));
        }
    }
    let mut last = None;
    for wait in &scenario.waits {
        let problem = match flows.len().checked_sub(wait.flow.index() + 1) {
            _ if last >= Some(wait.flow) => Some(DependencyProblem::Order),
            None => Some(DependencyProblem::NoFlow),
            Some(_) if wait.after.is_empty() => Some(DependencyProblem::Empty),
            Some(_) => problem_of(scenario, flows.at(wait.flow.index()).src, &wait.after),
        };
        if let Some(problem) = problem {
            return Err(fault(Work::Flow(wait.flow), problem));
        }
        last = Some(wait.flow);
    }
    if scenario.waits.is_empty() && scenario.steps.is_empty() {
        return Ok(());
    }
    let order = in_order(flows.len(), &scenario.waits, &scenario.steps);
    order.map(drop).map_err(|work| fault(work, DependencyProblem::Circle))
}

fn fault(work: Work, problem: DependencyProblem) -> ScenarioError {
    match work {
        Work::Flow(flow) => ScenarioError::Dependency { flow, problem },
        Work::Step(step) => ScenarioError::Step { step, problem },
    }
}

/// Returns the mistake in what work of `host` waits for.
fn problem_of(scenario: &ScenarioSpec, host: HostId, after: &[Predecessor]) -> Option<DependencyProblem> {
    let mut sorted: Vec<Work> = after.iter().map(|predecessor| predecessor.work).collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(DependencyProblem::Twice);
    }
    let flow = |flow: FlowId| (flow.index() < scenario.flows.len()).then(|| scenario.flows.at(flow.index()));
    after.iter().find_map(|&Predecessor { work, delay }| match work {
        Work::Flow(first) => match flow(first) {
            None => Some(DependencyProblem::NoFlow),
            Some(first) if first.size.is_none() => Some(DependencyProblem::Endless),
            Some(first) if first.dst != host && delay == Span::ZERO => Some(DependencyProblem::NoDelay),
            Some(_) => None,
        },
        Work::Step(first) => match scenario.steps.get(first.index()) {
            None => Some(DependencyProblem::NoFlow),
            Some(first) if first.host != host => Some(DependencyProblem::OtherHost),
            Some(first) if first.after.is_empty() => Some(DependencyProblem::Known),
            Some(_) => None,
        },
    })
}

fn controls(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
    if let Some(i) = scenario.controls.windows(2).position(|pair| pair[0].at > pair[1].at) {
        return Err(ScenarioError::ControlOrder { place: i + 1 });
    }
    let is_unknown = |flow: FlowId| flow.index() >= scenario.flows.len();
    match scenario.controls.iter().enumerate().find(|(_, control)| is_unknown(control.flow)) {
        Some((place, control)) => Err(ScenarioError::ControlFlow { place, flow: control.flow }),
        None => Ok(()),
    }
}

fn intervals(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
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

fn delays(scenario: &ScenarioSpec) -> Result<(), ScenarioError> {
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
