//! Builds the scenario of a run: network, ports, transport, flows, controls and stop condition.

use priolane_core::assign::Assign;
use priolane_core::assign::by_flow::{ByFlow, set_coflow_ranks};
use priolane_core::endpoint::{Control, FlowSpec, Weights};
use priolane_core::file_code::FileCode;
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId, LinkId};
use priolane_core::port::{DisciplineSpec, FifoSpec};
use priolane_core::price::ledger::PricePlan;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::tokens::RankBy;
use priolane_core::transport::{Spec, Transport};
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::{
    Awaited, MeasurementError, Scenario, ScenarioError, ScenarioSpec, ScheduledControl, Stop,
};
use priolane_sim::topology::{BareTimes, PathChoice, Topology};
use priolane_source::{InputError, Table};
use priolane_workload::{Traffic, offered};

use super::demand::{self, GroupLoad};
use super::run::Run;
use super::{
    adaptation, admission, classes, coexistence, failures, first_classes, observed_port, ports, traffic,
};
use crate::experiment::{
    Arrivals, AtRate, Change, ControlTarget, Deadline, EventKind, Experiment, Group, Pair, Payer, Slowdown,
    Timing,
};
use crate::scheme::Scheme;
use priolane_results::bills::{PayingGroup, Pricing};
use priolane_results::record::Demand;

/// Minimum simulated time after the last flow has completed, for the last ACKs and timers.
const GRACE: Span = Span::from_ms(1);

/// A run with its scenario.
#[derive(Clone, Debug)]
pub struct ResolvedRun {
    /// The scenario to simulate.
    pub scenario: Scenario,
    /// Names of groups, by number.
    pub groups: Vec<String>,
    /// Per flow, whether it is inside the measured window.
    pub measured: Vec<bool>,
    /// Per flow, completion time in an idle network at line rate, without a handshake (`Topology::bare_fct`).
    pub bare_fct: Vec<Span>,
    /// Per flow, the same with a handshake (`BareTimes::with_handshake`); `None` unless it is the denominator of
    /// slowdowns.
    pub with_handshake: Option<Vec<Span>>,
    /// Per flow that is under way when the run begins, in order, the denominator of the slowdown of the whole flow.
    pub under_way: Vec<Span>,
    /// The flows that are measured.
    pub window: MeasuredFlows,
    /// Whether flows go on to start after the window.
    pub arrivals_continue: bool,
    /// Requested and offered load; before the run, without dependent flows.
    pub load: Load,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Pricing; `None` if nothing is priced.
    pub pricing: Option<Pricing>,
    /// By link, its buffer, if buffers are dimensioned for zero data loss.
    pub zero_loss: Option<Vec<u64>>,
    /// The port at which costs of priorities are measured; `None` for the one with the highest utilization.
    pub observed_port: Option<LinkId>,
    /// By group, the deadline rule that depends on a rate.
    pub deadlines: Vec<Option<AtRate>>,
}

/// Load as a fraction of capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Requested load, if exactly one group requests one.
    pub asked: Option<f64>,
    /// Offered load of the sending hosts' links, by payload.
    pub offered_host: Option<f64>,
    /// Offered load of the uplinks into the fabric, by payload.
    pub offered_core: Option<f64>,
    /// Requested load of each group that requests one.
    pub groups: Vec<GroupLoad>,
    /// Total requested and offered load of all groups, measured in the same way.
    pub demands: Vec<Demand>,
}

/// Builds the scenario of `run`.
///
/// # Errors
/// Returns an [`InputError`] if the traffic does not fit the network.
pub fn build(run: &Run) -> Result<ResolvedRun, InputError> {
    build_at(&run.experiment, &run.scheme, run.seed)
}

/// Builds the scenario of `experiment` with the scheme of this name.
///
/// # Errors
/// As for [`build`].
pub fn build_at(experiment: &Experiment, scheme: &str, seed: u64) -> Result<ResolvedRun, InputError> {
    let mut topology = ports::network(experiment, &Table::default())?;
    let Some(scheme) = experiment.scheme.get(scheme) else {
        let what = format!("the experiment has no scheme {scheme:?}");
        let file = experiment.sources.experiment();
        return Err(InputError::new(file, None, "schemes", what, "a scheme that the experiment lists"));
    };
    let network_choice = topology.path_choice;
    topology.path_choice = ports::path_choice(scheme, network_choice);
    let Traffic { mut flows, waits, steps, .. } = traffic::flows(experiment, &topology, seed)?;
    assign(experiment, scheme, &mut flows, seed)?;
    let outages = failures::outages(experiment, &topology).map_err(|fault| fault.error(experiment))?;
    let pricing = pricing(experiment, &topology)?;
    let observed_port = observed_port::observed_port(experiment, &topology)?;
    let host_rate = topology.host_capacity(HostId(0));
    let window = MeasuredFlows::of(&experiment.time);
    let bare_fct = bare_fct(experiment, &topology, &flows);
    let measured: Vec<bool> = flows.iter().map(|f| window.holds(f.start)).collect();
    let mut warnings = unmeasured(experiment, &flows, &measured);
    let network = (&topology, network_choice);
    let with_handshake = with_handshake(experiment, network, &flows);
    let under_way = under_way(experiment, network, &flows);
    let monitor = monitor(experiment, scheme, &topology);
    let zero_loss = ports::zero_loss(scheme, &topology, &experiment.frame);
    let mut spec = ScenarioSpec {
        ports: ports::ports(scheme, &topology, &experiment.frame),
        frame: experiment.frame,
        transport: coexistence::transport(experiment, scheme, monitor),
        nic: ports::nic(scheme, &experiment.frame, host_rate),
        switch: ports::switch(scheme),
        host_delay: experiment.host_delay,
        measuring: MeasurementError {
            noise: experiment.delay_noise.as_ref().map(|noise| noise.law.clone()),
            clock_error: experiment.clock_error,
        },
        controls: controls(experiment, &flows)?,
        adaptation: adaptation::adaptation(scheme),
        admission: scheme.admit.clone(),
        on_downgrade: experiment.groups.iter().map(|group| group.flows.on_downgrade.to_scenario()).collect(),
        machines: experiment.groups.iter().map(|group| group.flows.service.machine()).collect(),
        rates_every: experiment.rates_every,
        admission_every: experiment.admission_every,
        seed,
        stop: Stop::At(Time::ZERO),
        sample_every: experiment.sample_every,
        send_jitter: experiment.host.send_jitter,
        flows,
        waits,
        steps,
        outages,
        topology,
    };
    spec.stop = stop(&experiment.time, &spec);
    let scenario = spec.build().map_err(|error| unsound(experiment, &error))?;
    let groups = demand::groups(experiment, &scenario.topology)?;
    let load = Load { asked: asked(experiment), groups, ..Load::default() };
    // The start and load of dependent flows are known only after the run.
    let independent = priolane_workload::independent(&scenario.flows, &scenario.waits);
    let load = load.offered(&scenario, &independent, window.offered(&independent));
    drop(independent);
    warnings.extend(load.asked.iter().flat_map(|_| overload(&load)));
    if scenario.waits.is_empty() {
        warnings.extend(demand::too_low(&load.groups, &load.demands));
    }
    warnings.extend(classes::empty(experiment, (&scenario.flows, &measured)));
    Ok(ResolvedRun {
        scenario,
        groups: experiment.groups.iter().map(|g| g.name.clone()).collect(),
        measured,
        bare_fct,
        with_handshake,
        under_way,
        window,
        arrivals_continue: experiment.time.steady_window().is_some(),
        warnings,
        load,
        pricing,
        zero_loss,
        observed_port,
        deadlines: experiment.groups.iter().map(at_rate).collect(),
    })
}

/// Converts the error to a bug report: readers reject any input that would make a scenario invalid.
fn unsound(experiment: &Experiment, error: &ScenarioError) -> InputError {
    let what = format!("the run cannot be simulated although the file is valid: {error}");
    let fix = "another value for this, and report a defect of priolane";
    InputError::new(experiment.sources.experiment(), None, "", what, fix)
}

/// Returns the denominators of slowdowns with a handshake, if the experiment uses them. They use the network's own path
/// choice, so that they are the same for all schemes.
fn with_handshake(
    experiment: &Experiment,
    (topology, choice): (&Topology, PathChoice),
    flows: &FlowList,
) -> Option<Vec<Span>> {
    if experiment.metrics.slowdown != Slowdown::WithHandshake {
        return None;
    }
    let topology = Topology { path_choice: choice, ..topology.clone() };
    let mut times = BareTimes::new(&topology, &experiment.frame);
    let of = |f: FlowSpec| {
        let (ends, bytes) = ((f.src, f.dst), f.size.unwrap_or(0));
        times.with_handshake(ends, f.entropy, (bytes, experiment.host_delay))
    };
    Some(flows.iter().map(of).collect())
}

/// Returns, per flow, its completion time in an idle network at line rate, without a handshake.
fn bare_fct(experiment: &Experiment, topology: &Topology, flows: &FlowList) -> Vec<Span> {
    let mut times = BareTimes::new(topology, &experiment.frame);
    flows.iter().map(|f| times.of((f.src, f.dst), f.entropy, f.size.unwrap_or(0))).collect()
}

/// Returns the denominators of slowdowns of the flows that are under way when the run begins, as whole flows.
fn under_way(experiment: &Experiment, network: (&Topology, PathChoice), flows: &FlowList) -> Vec<Span> {
    let whole = |flow: FlowSpec| FlowSpec { size: flow.whole_size(), ..flow };
    let whole: FlowList = flows
        .iter()
        .take_while(|flow| flow.start == Time::ZERO)
        .filter(|flow| flow.attained > 0)
        .map(whole)
        .collect();
    with_handshake(experiment, network, &whole).unwrap_or_else(|| bare_fct(experiment, network.0, &whole))
}

/// The parts of a run that decide the cost of a packet-hop, besides traffic and network.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The transport of the hosts, with its report interval.
    pub transport: Transport,
    /// The discipline of the switch ports.
    pub discipline: DisciplineSpec,
    /// Whether switches pause links (PFC).
    pub pauses: bool,
}

impl Devices {
    /// Returns those of a run.
    pub fn of(scenario: &Scenario) -> Self {
        let discipline = scenario.ports.first().map_or(FifoSpec.into(), |port| port.discipline.clone());
        let pauses = scenario.switch.lossless.is_some();
        Self { transport: scenario.transport.clone(), discipline, pauses }
    }
}

/// Returns the devices of a scheme in a network; `None` if the experiment has no such scheme.
pub fn devices(experiment: &Experiment, scheme: &str, topology: &Topology) -> Option<Devices> {
    let scheme = experiment.scheme.get(scheme)?;
    let monitor = monitor(experiment, scheme, topology);
    Some(Devices {
        transport: coexistence::transport(experiment, scheme, monitor),
        discipline: ports::discipline(scheme, &experiment.frame),
        pauses: ports::switch(scheme).lossless.is_some(),
    })
}

/// Returns the report interval of senders, if they report.
fn monitor(experiment: &Experiment, scheme: &Scheme, topology: &Topology) -> Option<Span> {
    experiment.rates_every.or_else(|| admission::interval(scheme, topology, &experiment.frame))
}

fn at_rate(group: &Group) -> Option<AtRate> {
    match group.flows.deadline {
        Some(Deadline::AtRate(rule)) => Some(rule),
        Some(Deadline::Drawn(_)) | None => None,
    }
}

fn pricing(experiment: &Experiment, topology: &Topology) -> Result<Option<Pricing>, InputError> {
    let Some(price) = experiment.price else { return Ok(None) };
    let group = |group: &Group| {
        let hosts = traffic::hosts(experiment, topology, group)?.iter().map(|host| host.0).collect();
        let plan = match group.flows.service.plan {
            Payer::Vbp => PricePlan::Vbp(price.machines()),
            Payer::Fbp => PricePlan::Fbp(price.flows()),
        };
        Ok(PayingGroup { plan, pair: group.flows.service.pair.0, hosts })
    };
    let groups = experiment.groups.iter().map(group).collect::<Result<_, _>>()?;
    Ok(Some(Pricing { groups }))
}

/// Assigns classes to flows by the rule of the scheme, except to those of groups with a transport of their own. Random
/// choices use a stream of their own, so that the flow list is the same for all schemes.
///
/// # Errors
/// The rule is code in a file, and that fails.
fn assign(
    experiment: &Experiment,
    scheme: &Scheme,
    flows: &mut FlowList,
    seed: u64,
) -> Result<(), InputError> {
    if let Assign::ByFlow(rule) = &scheme.assign {
        let draws = &mut Stream::new(seed, Purpose::Classes, u64::MAX);
        if experiment.groups.iter().all(|group| group.flows.transport.is_none()) {
            rule.assign(flows, draws);
        } else {
            assign_some(experiment, rule, flows, draws);
        }
    }
    if let Some(first) = scheme.assign.first() {
        first_classes::assign(experiment, first, flows);
    }
    if let Some(failure) = scheme.assign.file_code().and_then(FileCode::take_failure) {
        let (file, fix) = (experiment.sources.experiment(), "a class that returns a priority for every flow");
        return Err(InputError::new(file, None, "assign.class", failure.what, fix));
    }
    if matches!(&scheme.transport, Spec::Top(keys) if keys.priority == RankBy::ExactCoflow) {
        set_coflow_ranks(flows);
    }
    Ok(())
}

/// Assigns classes to the flows of groups without a transport of their own, as if there were no others.
fn assign_some(experiment: &Experiment, rule: &ByFlow, flows: &mut FlowList, draws: &mut Stream) {
    let is_of_scheme = |flow: &FlowSpec| {
        experiment.groups.get(usize::from(flow.group)).is_none_or(|group| group.flows.transport.is_none())
    };
    let places: Vec<usize> = (0..flows.len()).filter(|&place| is_of_scheme(&flows.at(place))).collect();
    let mut own: FlowList = places.iter().map(|&place| flows.at(place)).collect();
    rule.assign(&mut own, draws);
    for (&place, assigned) in places.iter().zip(own.iter()) {
        flows.edit(place, |flow| flow.class = assigned.class);
    }
}

fn controls(experiment: &Experiment, flows: &FlowList) -> Result<Vec<ScheduledControl>, InputError> {
    let mut all = Vec::new();
    for text in &experiment.controls {
        let control = match text.change {
            Change::Abort(_) => Control::Abort,
            Change::Class(class) => Control::Class(class),
            Change::Pay(Pair(Weights { theta, w_milli })) => Control::Weights { theta, w_milli },
        };
        let scheduled = |flow| ScheduledControl { at: Time(text.at.0), flow, control };
        all.extend(reached(experiment, &text.whom, flows)?.into_iter().map(scheduled));
    }
    Ok(all)
}

/// Returns the flows to which a control message applies.
fn reached(
    experiment: &Experiment,
    whom: &ControlTarget,
    flows: &FlowList,
) -> Result<Vec<FlowId>, InputError> {
    let wrong = |key, what, fix| InputError::new(experiment.sources.experiment(), None, key, what, fix);
    match whom {
        ControlTarget::Flow(flow) if (*flow as usize) < flows.len() => Ok(vec![FlowId(*flow)]),
        ControlTarget::Flow(flow) => {
            let fix = format!("a flow from 0 to {}", flows.len().saturating_sub(1));
            Err(wrong("control.flow", format!("unknown flow {flow}"), fix))
        }
        ControlTarget::Group(name) => match experiment.groups.iter().position(|group| group.name == *name) {
            Some(place) => {
                Ok(flows.iter().filter(|flow| usize::from(flow.group) == place).map(|flow| flow.id).collect())
            }
            None => {
                let known: Vec<&str> = experiment.groups.iter().map(|group| group.name.as_str()).collect();
                Err(wrong(
                    "control.group",
                    format!("unknown group {name:?}"),
                    format!("one of {}", known.join(", ")),
                ))
            }
        },
    }
}

/// The flows that are measured, by start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredFlows {
    /// Flows that start in this window.
    Within(offered::Window),
    /// All flows.
    All,
}

impl MeasuredFlows {
    fn of(time: &Timing) -> Self {
        match *time {
            Timing::Window { .. } => {
                let (from, until) = time.window();
                Self::Within(offered::Window { from, until })
            }
            Timing::Count { .. } => Self::All,
        }
    }

    /// Whether a flow that starts at `start` is measured.
    pub fn holds(self, start: Time) -> bool {
        match self {
            Self::Within(offered::Window { from, until }) => (from..until).contains(&start),
            Self::All => true,
        }
    }

    /// Returns the window in which `flows` are offered.
    pub(super) fn offered(self, flows: &FlowList) -> offered::Window {
        match self {
            Self::Within(window) => window,
            Self::All => {
                let last = flows.iter().map(|f| f.start.0).max().unwrap_or(0);
                offered::Window { from: Time::ZERO, until: Time(last + 1) }
            }
        }
    }
}

/// Returns the stop condition. A run that drains ends when its finite flows have completed; of flows that go on to start
/// after the window, it does not wait for those.
fn stop(time: &Timing, scenario: &ScenarioSpec) -> Stop {
    let finite = scenario.flows.iter().any(|f| f.size.is_some());
    let grace = GRACE.max(scenario.lookahead().times(4));
    match *time {
        Timing::Window { drain: true, arrivals, limit, .. } if finite => {
            let (from, until) = time.window();
            let awaits = match arrivals {
                Arrivals::Stop => Awaited::Finite,
                Arrivals::Continue => Awaited::StartedIn { from, until },
            };
            Stop::WhenDone { awaits, grace, not_before: until, limit: Time(limit.0) }
        }
        Timing::Count { limit, .. } if finite => {
            let awaits = Awaited::Finite;
            Stop::WhenDone { awaits, grace, not_before: Time::ZERO, limit: Time(limit.0) }
        }
        Timing::Window { .. } => Stop::At(time.window().1),
        Timing::Count { limit, .. } => Stop::At(Time(limit.0)),
    }
}

/// Returns the requested load, if exactly one group requests one and it is constant.
fn asked(experiment: &Experiment) -> Option<f64> {
    let mut asked = experiment.groups.iter().filter_map(|group| Some(group.app.part().load()?.0.value));
    let one = asked.next().filter(|_| asked.next().is_none());
    let changes = experiment.events.iter().any(|event| matches!(event.what, EventKind::Set(_)));
    one.filter(|_| !changes)
}

impl Load {
    /// Returns this load with the load that `flows` offer to the network of `scenario` in `window`.
    pub(super) fn offered(self, scenario: &ScenarioSpec, flows: &FlowList, window: offered::Window) -> Self {
        let topology = &scenario.topology;
        let fabric = offered::Fabric {
            rack: &topology.rack,
            host_rate: topology.host_capacity(HostId(0)),
            core_rate_bps: topology.core_capacity(),
            frame: scenario.frame,
        };
        let mut senders: Vec<HostId> = flows.iter().map(|f| f.src).collect();
        senders.sort_unstable();
        senders.dedup();
        let offered = offered::offered(flows, &fabric, window);
        let counts = priolane_workload::Counts::Payload;
        Self {
            offered_host: offered.host_load(&senders, counts),
            offered_core: offered.core_load(counts),
            demands: demand::demands(&self.groups, flows, &fabric, window),
            ..self
        }
    }
}

/// Warns about groups of replayed flows of which some start outside the measured window: they run, but no metric
/// includes them.
fn unmeasured(experiment: &Experiment, flows: &FlowList, measured: &[bool]) -> Vec<String> {
    let mut counts = vec![(0u64, 0u64); experiment.groups.len()];
    for (flow, &measured) in flows.iter().zip(measured) {
        let (all, outside) = &mut counts[usize::from(flow.group)];
        *all += 1;
        *outside += u64::from(!measured);
    }
    let groups = experiment.groups.iter().zip(counts);
    groups
        .filter(|(group, (_, outside))| group.app.part().is_replay() && *outside > 0)
        .map(|(group, (all, outside))| {
            format!(
                "group {:?}: {outside} of {all} replayed flows start outside the measured window: they are \
                 simulated, but no metric includes them or their coflows; use `time = {{ flows = ... }}`, \
                 or a `measure` that covers the list, to include all",
                group.name
            )
        })
        .collect()
}

/// Warns about loads above link capacity.
fn overload(load: &Load) -> Vec<String> {
    let of = |what: &str, share: Option<f64>| {
        share
            .filter(|&s| s > 1.0)
            .map(|s| format!("the offered load of the {what} is {s:.3}, above the capacity"))
    };
    [of("hosts", load.offered_host), of("core", load.offered_core)].into_iter().flatten().collect()
}
