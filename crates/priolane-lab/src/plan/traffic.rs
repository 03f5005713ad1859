//! Generates the flow list of an experiment from its groups.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use priolane_workload::{
    InitialState, Listing, Lists, LoadChange, MinimumLatency, Traffic, Until, WorkloadContext,
};

use super::size::{self, FirstFlows};
use super::{connections, drawn_deadlines, paths, pay, under_way};
use crate::experiment::{Active, EventKind, Experiment, Group, Paths, Service, Target, Timing};

/// Generates the flow list and its dependencies, the same for all schemes of a point and seed.
pub(super) fn flows(experiment: &Experiment, topology: &Topology, seed: u64) -> Result<Traffic, InputError> {
    let mut all = Vec::new();
    let means = along_paths(experiment, topology)?;
    for (number, group) in experiment.groups.iter().enumerate() {
        let initial = initial(&experiment.time, group.flows.active);
        let draw = Draw { seed, group: number as u16, until: until(&experiment.time), initial };
        all.push(group_flows((experiment, topology), group, draw, of_group(&means, number))?);
    }
    let mut merged = priolane_workload::merge_traffic(all);
    if let Timing::Count { flows: count, .. } = experiment.time {
        merged.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    }
    let Traffic { mut flows, waits, steps, .. } = merged;
    if experiment.topology.paths == Paths::Splitmix64 {
        flows.edit_all(|flow| flow.entropy = splitmix64(u64::from(flow.id.0)) as u16);
    }
    if experiment.topology.paths == Paths::Racks {
        flows.edit_all(|flow| flow.entropy = between_racks(topology, flow));
    }
    connections::set_paths(&mut flows);
    drawn_deadlines::set(experiment, topology, (&mut flows, seed));
    Ok(Traffic { flows, waits, steps, paths: Vec::new() })
}

/// Returns the path of flows from one rack to another. With n racks and n - 1 paths, no two pairs of racks share an
/// uplink or downlink of a rack.
fn between_racks(topology: &Topology, flow: &FlowSpec) -> u16 {
    let [from, to] = [flow.src, flow.dst].map(|host| topology.rack[host.index()]);
    ((to + topology.racks - from + topology.racks - 1) % topology.racks) as u16
}

/// Parameters of a group's flow generation.
#[derive(Clone, Copy, Debug)]
struct Draw {
    seed: u64,
    group: u16,
    until: Until,
    initial: InitialState,
}

/// Generates the first flows of the group of this number, to detect traffic that does not fit the network.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn probe(
    experiment: &Experiment,
    topology: &Topology,
    number: usize,
) -> Result<FirstFlows, InputError> {
    let group = &experiment.groups[number];
    let until = Until::Flows(size::flows_to_probe(experiment.groups.len()));
    let from = group.flows.active.map_or(Span::ZERO, |active| active.from);
    let seeds = if lists_differ(group) { experiment.seeds.list() } else { vec![1] };
    let mut most = FirstFlows { count: 0, last: Span::ZERO };
    for seed in seeds {
        let draw = Draw { seed, group: number as u16, until, initial: InitialState::Empty };
        let traffic = group_flows((experiment, topology), group, draw, &[])?;
        countable(experiment, group, &traffic)?;
        drawn_deadlines::countable(experiment, &traffic)?;
        let last = traffic.flows.iter().map(|flow| flow.start.0.saturating_sub(from.0)).max();
        let (count, last) = (most.count.max(traffic.flows.len()), most.last.0.max(last.unwrap_or(0)));
        most = FirstFlows { count, last: Span(last) };
    }
    if most.count == 0 && experiment.groups.len() == 1 {
        let (file, key) = (experiment.sources.experiment(), format!("group.{}.list", group.name));
        return Err(InputError::new(file, None, key, "no seed has a flow", "a list with at least one row"));
    }
    Ok(most)
}

/// Checks that some group begins with the flows of a steady state, if the experiment starts warm.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn check_start(experiment: &Experiment) -> Result<(), InputError> {
    let begins_warm = |group: &Group| {
        group.app.part().starts_warm() && initial(&experiment.time, group.flows.active) != InitialState::Empty
    };
    if experiment.time.starts_warm() && !experiment.groups.iter().any(begins_warm) {
        return Err(not_warm(experiment, "no group has flows of a steady state to start with"));
    }
    Ok(())
}

/// Refuses a warm start where a link is offered more than it carries; `what` tells which.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn refuse_warm(experiment: &Experiment, what: &str) -> Result<(), InputError> {
    if !experiment.time.starts_warm() {
        return Ok(());
    }
    Err(not_startable(experiment, what, "lower loads, or start = \"empty\""))
}

/// Whether runs could begin with the flows that wait along their paths in a steady state, and do not: all groups with a load
/// have such flows, and one of them is active from the beginning on.
pub(crate) fn may_start_warm(experiment: &Experiment) -> bool {
    let Timing::Window { start: InitialState::Empty | InitialState::Warm, .. } = experiment.time else {
        return false;
    };
    let from_zero = |group: &Group| group.flows.active.is_none_or(|active| active.from == Span::ZERO);
    let mut with_load = experiment.groups.iter().filter(|group| group.app.part().load().is_some()).peekable();
    let first = experiment.groups.iter().any(|group| group.app.part().starts_warm() && from_zero(group));
    with_load.peek().is_some() && first && with_load.all(|group| group.app.part().starts_warm())
}

fn not_warm(experiment: &Experiment, what: impl Into<String>) -> InputError {
    not_startable(experiment, what, "start = \"empty\", or app = \"poisson\" in groups with a load")
}

/// Returns the refusal of `time.start`, without its line.
pub(super) fn not_startable(experiment: &Experiment, what: impl Into<String>, fix: &str) -> InputError {
    InputError::new(experiment.sources.experiment(), None, "time.start", what, fix)
}

/// Checks that a group can start warm, if the experiment does and the group has a load, and returns the number of its
/// flows under way; `means` are those of [`along_paths`].
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn under_way(
    experiment: &Experiment,
    topology: &Topology,
    number: usize,
    means: &[Vec<f64>],
) -> Result<usize, InputError> {
    let group = &experiment.groups[number];
    let app = group.app.part();
    if !experiment.time.starts_warm() {
        return Ok(0);
    }
    if !app.starts_warm() {
        let what = format!("the flows under way of group {:?} are not known", group.name);
        return if app.load().is_some() { Err(not_warm(experiment, what)) } else { Ok(0) };
    }
    let initial = initial(&experiment.time, group.flows.active);
    let draw = Draw { seed: 1, group: number as u16, until: Until::Time(Time(1)), initial };
    Ok(group_flows((experiment, topology), group, draw, of_group(means, number))?.flows.len())
}

/// Generates all flows of a group whose flows are the same for all seeds.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn whole(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Traffic, InputError> {
    let until = until(&experiment.time);
    group_flows(
        (experiment, topology),
        group,
        Draw { seed: 1, group: 0, until, initial: InitialState::Empty },
        &[],
    )
}

/// Whether a group is a job in the runs of some seed.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn is_job(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<bool, InputError> {
    let app = group.app.part();
    if !app.is_replay() {
        return Ok(app.is_job(hosts(experiment, topology, group)?.len()));
    }
    let seeds = if lists_differ(group) { experiment.seeds.list() } else { vec![1] };
    for seed in seeds {
        let draw = Draw { seed, group: 0, until: until(&experiment.time), initial: InitialState::Empty };
        let Traffic { waits, steps, .. } = group_flows((experiment, topology), group, draw, &[])?;
        let is_bounded = waits.iter().any(|wait| wait.until.is_some());
        let waits_for_some = !waits.is_empty() || !steps.is_empty();
        if waits_for_some && !is_bounded {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether each seed has a flow list of its own.
fn lists_differ(group: &Group) -> bool {
    matches!(group.app.part().listed(), Some(Listing { lists: Lists::BySeed, .. }))
}

/// Checks that flows can be counted by start time, which is unknown for dependent flows.
fn countable(experiment: &Experiment, group: &Group, traffic: &Traffic) -> Result<(), InputError> {
    let Timing::Count { flows: count, .. } = experiment.time else { return Ok(()) };
    let app = group.app.part();
    let whole = app.is_replay() && experiment.groups.len() == 1;
    let depends = app.is_closed_loop() || !traffic.waits.is_empty() || !traffic.steps.is_empty();
    if !depends || (whole && count >= traffic.flows.len() as u64) {
        return Ok(());
    }
    let what = "a number of flows counts them by their starts, but flows of this group depend on others";
    let key = format!("group.{}.app", group.name);
    let window = "time = { warmup = ..., measure = ... }";
    let fix = match app.is_replay() {
        true => format!("{window}, or the number of flows of the list"),
        false => window.to_owned(),
    };
    Err(InputError::new(experiment.sources.experiment(), None, key, what, fix))
}

/// Returns the hosts of a group.
pub(super) fn hosts(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Vec<HostId>, InputError> {
    group.hosts.list(topology.hosts).map_err(|host| {
        let what = format!("unknown host {host}");
        let fix = format!("hosts from 0 to {}", topology.hosts - 1);
        InputError::new(
            experiment.sources.experiment(),
            None,
            format!("group.{}.hosts", group.name),
            what,
            fix,
        )
    })
}

/// Returns the hosts to which a group sends.
pub(super) fn targets(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Vec<HostId>, InputError> {
    match &group.flows.to {
        None => Ok(Vec::new()),
        Some(Target::All) => Ok((0..topology.hosts).map(|h| HostId(h as u16)).collect()),
        Some(Target::Group(name)) => {
            experiment.group(name).map_or(Ok(Vec::new()), |g| hosts(experiment, topology, g))
        }
    }
}

/// Returns the mean numbers of flows under way by group and host with `start = "warm_path"`; none with other starts.
///
/// # Errors
/// Returns an [`InputError`] with the key at fault, but without its line.
pub(super) fn along_paths(experiment: &Experiment, topology: &Topology) -> Result<Vec<Vec<f64>>, InputError> {
    match experiment.time {
        Timing::Window { start: InitialState::WarmPath, .. } => under_way::by_group(experiment, topology),
        _ => Ok(Vec::new()),
    }
}

/// Returns the means of a group; none if there are none of any group.
fn of_group(means: &[Vec<f64>], number: usize) -> &[f64] {
    means.get(number).map_or(&[], Vec::as_slice)
}

/// Generates the flows of a group; `under_way` has the mean number of flows of each host at time 0 with `warm_path`.
fn group_flows(
    (experiment, topology): (&Experiment, &Topology),
    group: &Group,
    draw: Draw,
    under_way: &[f64],
) -> Result<Traffic, InputError> {
    let hosts = hosts(experiment, topology, group)?;
    if !group.app.part().sends() {
        return Ok(Traffic::default());
    }
    let key = format!("group.{}", group.name);
    let to = targets(experiment, topology, group)?;
    let changes = changes(experiment, group);
    let site = WorkloadContext {
        hosts: &hosts,
        to: &to,
        rack: &topology.rack,
        host_rate: topology.host_capacity(hosts.first().copied().unwrap_or_default()),
        core_rate_bps: topology.core_capacity(),
        frame: experiment.frame,
        seed: draw.seed,
        group: draw.group,
        until: own_until(group.flows.active, draw.until),
        floor: floor(experiment, topology),
        changes: &changes,
        measured: measured(&experiment.time, group.flows.active),
        initial: draw.initial,
        under_way,
    };
    let Traffic { mut flows, mut waits, mut steps, paths } = priolane_workload::traffic(&group.app, &site)
        .map_err(|error| error.in_file(experiment.sources.experiment(), &key))?;
    paths::check(experiment, topology, group, (&paths, draw.seed))?;
    if let Some(class) = group.flows.class {
        flows.edit_all(|flow| flow.class = class);
    }
    let mut stream = Stream::new(draw.seed, Purpose::Classes, u64::from(draw.group) << 32);
    pay::pay(&group.flows.service, &mut flows, site.measured, &mut stream);
    split(&group.flows.service, &mut flows).map_err(|host| {
        let what = format!("host {host} sends more flows than the split has pairs");
        let file = experiment.sources.experiment();
        InputError::new(
            file,
            None,
            format!("{key}.split"),
            what,
            "a pair for each flow of a host, with an app of few flows",
        )
    })?;
    if let Some(active) = group.flows.active {
        flows.edit_all(|flow| {
            flow.start += active.from;
            flow.deadline = flow.deadline.map(|deadline| deadline + active.from);
        });
        waits.iter_mut().for_each(|wait| wait.until = wait.until.map(|until| until + active.from));
        steps.iter_mut().for_each(|step| step.start += active.from);
        let count = flows.len();
        flows.retain(|flow| active.until.is_none_or(|until| flow.start.0 < until.0));
        if flows.len() < count && !(waits.is_empty() && steps.is_empty()) {
            let what = "some flows of the list start after this time, and some flows depend on others";
            let (key, fix) = (format!("{key}.active.until"), "a later time, or a shorter list");
            return Err(InputError::new(experiment.sources.experiment(), None, key, what, fix));
        }
    }
    Ok(Traffic { flows, waits, steps, paths })
}

/// Assigns the pairs of a virtual machine's own split to its flows; `Err` with the host that has too many flows.
fn split(service: &Service, flows: &mut FlowList) -> Result<(), u16> {
    if service.split.is_empty() {
        return Ok(());
    }
    let mut next: BTreeMap<u16, usize> = BTreeMap::new();
    let mut too_many = None;
    flows.edit_all(|flow| {
        let place = next.entry(flow.src.0).or_default();
        match service.split.get(*place) {
            Some(pair) => flow.weights = pair.0,
            None => too_many = too_many.or(Some(flow.src.0)),
        }
        *place += 1;
    });
    too_many.map_or(Ok(()), Err)
}

/// Returns when a group stops starting flows, relative to its activation.
fn own_until(active: Option<Active>, until: Until) -> Until {
    let (Some(Active { from, until: own }), Until::Time(end)) = (active, until) else { return until };
    let end = own.map_or(end.0, |own| own.0.min(end.0));
    Until::Time(Time(end.saturating_sub(from.0)))
}

/// Returns start and end of the measured window, relative to the group's activation.
fn measured(time: &Timing, active: Option<Active>) -> [Time; 2] {
    let (from, until) = time.window();
    let begin = active.map_or(0, |active| active.from.0);
    [from, until].map(|at| Time(at.0.saturating_sub(begin)))
}

/// Returns the state in which a group begins. One that is activated during the run begins empty.
fn initial(time: &Timing, active: Option<Active>) -> InitialState {
    match *time {
        Timing::Window { start, .. } if active.is_none_or(|active| active.from == Span::ZERO) => start,
        Timing::Window { .. } | Timing::Count { .. } => InitialState::Empty,
    }
}

/// Returns the changes of a group's sizes and load, relative to its activation.
fn changes(experiment: &Experiment, group: &Group) -> Vec<LoadChange> {
    let begin = group.flows.active.map_or(Span::ZERO, |active| active.from);
    let mut changes = Vec::new();
    for event in &experiment.events {
        let EventKind::Set(set) = &event.what else { continue };
        let at = Time(event.at.0.saturating_sub(begin.0));
        let own = set.iter().filter(|setting| setting.group == group.name);
        changes.extend(own.map(|setting| LoadChange { at, to: setting.value.clone() }));
    }
    changes
}

/// Returns a lower bound on the latency of flows.
fn floor(experiment: &Experiment, topology: &Topology) -> MinimumLatency {
    let rates = (0..topology.hosts).map(|host| topology.host_capacity(HostId(host as u16)));
    let rate = rates.max_by_key(|rate| rate.bps()).unwrap_or(Rate::from_gbps(1));
    MinimumLatency { trip: topology.lookahead(&experiment.frame).times(2), rate }
}

fn until(time: &Timing) -> Until {
    match *time {
        Timing::Window { .. } => Until::Time(time.last_arrival()),
        Timing::Count { flows, .. } => Until::Flows(flows),
    }
}

/// The 64-bit finalizer by which the ns-3 comparison distributes flows over spines.
fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
