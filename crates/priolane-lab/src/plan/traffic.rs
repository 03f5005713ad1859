//! From the groups of an experiment to its flow list.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::HostId;
use priolane_core::units::Time;
use priolane_sim::topology::Topology;

use crate::experiment::{
    Active, AppText, EpochRule, Experiment, Group, ListText, LoadText, PairText, PairsText, Paths, RuleKind,
    RuleText, Sizes, Target, Timing,
};
use crate::source::InputError;
use crate::workload::{
    self, App, Epochs, Flows, Incast, LongLived, OnOff, PairFlows, Pairs, Permutation, Poisson, Reach,
    Receiver, Rule, Site, Until, flow_list,
};

/// The flow list: the same for all schemes of a point and seed.
pub(super) fn flows(
    experiment: &Experiment,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<FlowSpec>, InputError> {
    let mut all = Vec::new();
    for (number, group) in experiment.groups.iter().enumerate() {
        let draw = Draw { seed, group: number as u16, until: until(&experiment.time) };
        all.push(group_flows(experiment, topology, group, draw)?);
    }
    let mut flows = workload::merge(all);
    if let Timing::Count { flows: count, .. } = experiment.time {
        flows.truncate(count as usize);
    }
    if experiment.topology.paths == Paths::Splitmix64 {
        flows.iter_mut().for_each(|flow| flow.entropy = splitmix64(u64::from(flow.id.0)) as u16);
    }
    Ok(flows)
}

/// Which flows of a group are drawn.
#[derive(Clone, Copy, Debug)]
struct Draw {
    seed: u64,
    group: u16,
    until: Until,
}

/// Makes the first flows of each group: where traffic and network do not fit, this is where it shows.
///
/// # Errors
/// An [`InputError`] with the key that is to blame, but not yet its line.
pub(super) fn probe(experiment: &Experiment, topology: &Topology) -> Result<(), InputError> {
    for (number, group) in experiment.groups.iter().enumerate() {
        let draw = Draw { seed: 1, group: number as u16, until: Until::Flows(1) };
        group_flows(experiment, topology, group, draw)?;
    }
    Ok(())
}

/// The hosts of a group.
pub(super) fn hosts(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Vec<HostId>, InputError> {
    group.hosts.list(topology.hosts).map_err(|host| {
        let what = format!("there is no host {host}");
        let fix = format!("hosts 0 to {}", topology.hosts - 1);
        InputError::new(
            experiment.sources.experiment(),
            None,
            format!("group.{}.hosts", group.name),
            what,
            fix,
        )
    })
}

/// The hosts a group sends to.
pub(super) fn targets(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<Vec<HostId>, InputError> {
    match &group.to {
        Target::All => Ok((0..topology.hosts).map(|h| HostId(h as u16)).collect()),
        Target::Group(name) => {
            experiment.group(name).map_or(Ok(Vec::new()), |g| hosts(experiment, topology, g))
        }
    }
}

fn group_flows(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
    draw: Draw,
) -> Result<Vec<FlowSpec>, InputError> {
    let key = format!("group.{}", group.name);
    let (hosts, to) = (hosts(experiment, topology, group)?, targets(experiment, topology, group)?);
    let site = Site {
        hosts: &hosts,
        to: &to,
        rack: &topology.rack,
        host_rate: topology.host_capacity(hosts.first().copied().unwrap_or_default()),
        core_rate_bps: topology.core_capacity(),
        frame: experiment.frame,
        seed: draw.seed,
        group: draw.group,
        until: own_until(group.active, draw.until),
    };
    let app = app(experiment, group, topology.hosts)?;
    let mut flows = workload::generate(&app, &site)
        .map_err(|error| error.in_file(experiment.sources.experiment(), &key))?;
    if let Some(class) = group.class {
        flows.iter_mut().for_each(|flow| flow.class = class);
    }
    if let Some(active) = group.active {
        flows.iter_mut().for_each(|flow| {
            flow.start += active.from;
            flow.deadline = flow.deadline.map(|deadline| deadline + active.from);
        });
        flows.retain(|flow| active.until.is_none_or(|until| flow.start.0 < until.0));
    }
    Ok(flows)
}

/// Until when a group starts flows, by a clock that begins when the group becomes active.
fn own_until(active: Option<Active>, until: Until) -> Until {
    let (Some(Active { from, until: own }), Until::Time(end)) = (active, until) else { return until };
    let end = own.map_or(end.0, |own| own.0.min(end.0));
    Until::Time(Time(end.saturating_sub(from.0)))
}

fn app(experiment: &Experiment, group: &Group, hosts: u32) -> Result<App, InputError> {
    Ok(match &group.app {
        AppText::Poisson { sizes, load, reach } => App::Poisson(poisson(sizes, *load, *reach)),
        &AppText::OnOff { ref sizes, load, reach, burst_load, burst_flows, per } => {
            App::OnOff(OnOff { mean: poisson(sizes, load, reach), burst_load, burst_flows, bursts: per })
        }
        AppText::Incast { epochs, period, fan_in, size, receiver, start } => App::Incast(Incast {
            epochs: match epochs {
                EpochRule::Every => Epochs::Every(*period),
                EpochRule::Poisson => Epochs::Poisson(*period),
            },
            fan_in: *fan_in,
            bytes: *size,
            receiver: receiver.map_or(Receiver::Drawn, |host| Receiver::Fixed(HostId(host))),
            start: Time(start.start.0),
            jitter: start.jitter,
        }),
        AppText::Permutation { size, start } => {
            App::Permutation(Permutation { size: size.0, start: Time(start.start.0), jitter: start.jitter })
        }
        AppText::LongLived { pairs, size, start } => App::LongLived(LongLived {
            pairs: self::pairs(pairs),
            size: size.0,
            start: Time(start.start.0),
            jitter: start.jitter,
        }),
        AppText::Flows { list: ListText::Inline(flows) } => App::Flows(Flows { list: flows.clone() }),
        AppText::Flows { list: ListText::Path(path) } => {
            let text = experiment.sources.known(path);
            App::Flows(Flows { list: flow_list::read(text.as_bytes(), path, hosts)? })
        }
    })
}

fn poisson(sizes: &Sizes, load: LoadText, reach: Reach) -> Poisson {
    let load = workload::Load { of: load.of, counts: load.counts, value: load.value };
    Poisson { sizes: sizes.law.clone(), load, reach }
}

fn pairs(text: &PairsText) -> Pairs {
    let listed =
        |p: &PairText| PairFlows { src: HostId(p.src), dst: HostId(p.dst), count: p.count, path: p.path };
    match text {
        PairsText::Listed(pairs) => Pairs::Listed(pairs.iter().map(listed).collect()),
        PairsText::Rule(RuleText { rule, count }) => Pairs::ByRule {
            rule: match *rule {
                RuleKind::AllPairs => Rule::AllPairs,
                RuleKind::OtherRacks => Rule::OtherRacks,
                RuleKind::Shift { by } => Rule::Shift(by),
                RuleKind::ToOne { host } => Rule::ToOne(HostId(host)),
            },
            count: *count,
        },
    }
}

fn until(time: &Timing) -> Until {
    match *time {
        Timing::Window { warmup, measure, .. } => Until::Time(Time::ZERO + warmup + measure),
        Timing::Count { flows, .. } => Until::Flows(flows),
    }
}

/// The 64-bit finalizer by which the ns-3 comparison spreads flows over spines.
fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
