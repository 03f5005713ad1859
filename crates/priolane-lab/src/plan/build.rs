//! From a run to the scenario it stands for: network, ports, transport, flows, controls, stop.

use priolane_core::endpoint::{Control, FlowSpec};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use priolane_sim::scenario::{Scenario, ScheduledControl, Stop};
use priolane_sim::topology::Topology;

use super::{Run, ports};
use crate::experiment::{
    AppText, Change, EpochRule, Experiment, Group, ListText, PairText, PairsText, Paths, RuleKind, RuleText,
    Target, Timing,
};
use crate::source::{InputError, Table};
use crate::workload::{
    self, App, Epochs, Flows, Incast, LongLived, PairFlows, Pairs, Permutation, Poisson, Receiver, Rule,
    Site, Until, flow_list, offered,
};

/// Simulated at least so long after the last flow has completed, so that last ACKs and timers settle.
const GRACE: Span = Span::from_ms(1);

/// A run, resolved.
#[derive(Clone, Debug)]
pub struct Built {
    /// What to simulate.
    pub scenario: Scenario,
    /// Names of groups, by number.
    pub groups: Vec<String>,
    /// Per flow: inside the measured window.
    pub measured: Vec<bool>,
    /// Per flow: completion time alone, at line rate, without a handshake.
    pub bare_fct: Vec<Span>,
    /// Load asked for and offered.
    pub load: Load,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
}

/// Load as a fraction of capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Asked for, where one group asks for one.
    pub asked: Option<f64>,
    /// Offered to the links of the hosts that send, by payload.
    pub offered_host: Option<f64>,
    /// Offered to the links up into the fabric, by payload.
    pub offered_core: Option<f64>,
}

/// The scenario of `run`.
///
/// # Errors
/// An [`InputError`] where the traffic does not fit the network.
pub fn build(run: &Run) -> Result<Built, InputError> {
    let experiment = &run.experiment;
    let topology = ports::network(experiment, &Table::default())?;
    let Some(scheme) = experiment.scheme.get(&run.scheme) else {
        let what = format!("the experiment has no scheme {:?}", run.scheme);
        return Err(InputError::new("", None, "schemes", what, "a scheme that the experiment lists"));
    };
    let flows = flows(experiment, &topology, run.seed)?;
    let controls = controls(experiment, &flows)?;
    let host_rate = topology.host_capacity(HostId(0));
    let window = measured_window(&experiment.time, &flows);
    let load = load(experiment, &topology, &flows, window);
    let bare =
        |f: &FlowSpec| topology.bare_fct(&experiment.frame, f.src, f.dst, f.entropy, f.size.unwrap_or(0));
    let bare_fct = flows.iter().map(bare).collect();
    let measured = flows.iter().map(|f| (window.from..window.until).contains(&f.start)).collect();
    let mut scenario = Scenario {
        ports: ports::ports(scheme, &topology),
        frame: experiment.frame,
        transport: ports::transport(scheme, experiment.frame),
        nic: ports::nic(scheme, host_rate),
        host_delay: experiment.host_delay,
        controls,
        seed: run.seed,
        stop: Stop::At(Time::ZERO),
        sample_every: experiment.sample_every,
        tie_shuffle: experiment.tie_shuffle,
        flows,
        topology,
    };
    scenario.stop = stop(&experiment.time, &scenario);
    Ok(Built {
        scenario,
        groups: experiment.groups.iter().map(|g| g.name.clone()).collect(),
        measured,
        bare_fct,
        warnings: if load.asked.is_some() { overload(&load) } else { Vec::new() },
        load,
    })
}

/// The flow list: the same for all schemes of a point and seed.
fn flows(experiment: &Experiment, topology: &Topology, seed: u64) -> Result<Vec<FlowSpec>, InputError> {
    let mut all = Vec::new();
    for (number, group) in experiment.groups.iter().enumerate() {
        all.push(group_flows(experiment, topology, seed, (number as u16, group))?);
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

fn group_flows(
    experiment: &Experiment,
    topology: &Topology,
    seed: u64,
    (number, group): (u16, &Group),
) -> Result<Vec<FlowSpec>, InputError> {
    let key = format!("group.{}", group.name);
    let listed = |g: &Group| {
        g.hosts.list(topology.hosts).map_err(|host| {
            let what = format!("there is no host {host}");
            let fix = format!("hosts 0 to {}", topology.hosts - 1);
            InputError::new("", None, format!("group.{}.hosts", g.name), what, fix)
        })
    };
    let hosts = listed(group)?;
    let to = match &group.to {
        Target::All => (0..topology.hosts).map(|h| HostId(h as u16)).collect(),
        Target::Group(name) => match experiment.group(name) {
            Some(other) => listed(other)?,
            None => Vec::new(),
        },
    };
    let site = Site {
        hosts: &hosts,
        to: &to,
        rack: &topology.rack,
        host_rate: topology.host_capacity(hosts.first().copied().unwrap_or_default()),
        core_rate_bps: topology.core_capacity(),
        frame: experiment.frame,
        seed,
        group: number,
        until: until(&experiment.time),
    };
    let app = app(experiment, group, topology.hosts)?;
    let mut flows = workload::generate(&app, &site).map_err(|error| error.in_file("", &key))?;
    if let Some(class) = group.class {
        flows.iter_mut().for_each(|flow| flow.class = class);
    }
    Ok(flows)
}

fn app(experiment: &Experiment, group: &Group, hosts: u32) -> Result<App, InputError> {
    Ok(match &group.app {
        AppText::Poisson { sizes, load, reach } => App::Poisson(Poisson {
            sizes: sizes.law.clone(),
            load: workload::Load { of: load.of, counts: load.counts, value: load.value },
            reach: *reach,
        }),
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

fn controls(experiment: &Experiment, flows: &[FlowSpec]) -> Result<Vec<ScheduledControl>, InputError> {
    let control = |text: &crate::experiment::ControlText| {
        if text.flow as usize >= flows.len() {
            let what = format!("there is no flow {}", text.flow);
            let fix = format!("flows 0 to {}", flows.len().saturating_sub(1));
            return Err(InputError::new("", None, "control.flow", what, fix));
        }
        let control = match text.change {
            Change::Abort(_) => Control::Abort,
            Change::Class(class) => Control::Class(class),
        };
        Ok(ScheduledControl { at: Time(text.at.0), flow: FlowId(text.flow), control })
    };
    experiment.controls.iter().map(control).collect()
}

fn until(time: &Timing) -> Until {
    match *time {
        Timing::Window { warmup, measure, .. } => Until::Time(Time::ZERO + warmup + measure),
        Timing::Count { flows, .. } => Until::Flows(flows),
    }
}

/// The part of the run whose flows are measured.
fn measured_window(time: &Timing, flows: &[FlowSpec]) -> offered::Window {
    match *time {
        Timing::Window { warmup, measure, .. } => {
            offered::Window { from: Time(warmup.0), until: Time::ZERO + warmup + measure }
        }
        Timing::Count { .. } => {
            let last = flows.iter().map(|f| f.start.0).max().unwrap_or(0);
            offered::Window { from: Time::ZERO, until: Time(last + 1) }
        }
    }
}

/// A run that drains ends when its flows have; flows without end have none to wait for.
fn stop(time: &Timing, scenario: &Scenario) -> Stop {
    let finite = scenario.flows.iter().any(|f| f.size.is_some());
    let grace = GRACE.max(scenario.lookahead().times(4));
    match *time {
        Timing::Window { drain: true, limit, .. } | Timing::Count { limit, .. } if finite => {
            Stop::WhenDone { grace, limit: Time(limit.0) }
        }
        Timing::Window { warmup, measure, .. } => Stop::At(Time::ZERO + warmup + measure),
        Timing::Count { limit, .. } => Stop::At(Time(limit.0)),
    }
}

fn load(experiment: &Experiment, topology: &Topology, flows: &[FlowSpec], window: offered::Window) -> Load {
    let fabric = offered::Fabric {
        rack: &topology.rack,
        host_rate: topology.host_capacity(HostId(0)),
        core_rate_bps: topology.core_capacity(),
        frame: experiment.frame,
    };
    let mut senders: Vec<HostId> = flows.iter().map(|f| f.src).collect();
    senders.sort_unstable();
    senders.dedup();
    let offered = offered::offered(flows, &fabric, window);
    let mut asked = experiment.groups.iter().filter_map(|group| match &group.app {
        AppText::Poisson { load, .. } => Some(load.value),
        _ => None,
    });
    let counts = workload::Counts::Payload;
    Load {
        asked: asked.next().filter(|_| asked.next().is_none()),
        offered_host: offered.host_load(&senders, counts),
        offered_core: offered.core_load(counts),
    }
}

/// Loads above what the links carry.
fn overload(load: &Load) -> Vec<String> {
    let of = |what: &str, share: Option<f64>| {
        share
            .filter(|&s| s > 1.0)
            .map(|s| format!("the offered load of the {what} is {s:.3}: more than it carries"))
    };
    [of("hosts", load.offered_host), of("core", load.offered_core)].into_iter().flatten().collect()
}

/// The 64-bit finalizer by which the ns-3 comparison spreads flows over spines.
fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
