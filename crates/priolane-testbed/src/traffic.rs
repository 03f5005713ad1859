//! The flows of a scenario as messages, what changes of them, and by which bins of time endless ones are counted.

use std::collections::HashMap;

use priolane_core::endpoint::{Control, FlowSpec};
use priolane_core::units::{Span, Time};
use priolane_lab::plan::Run;
use priolane_linux::job::{Bins, Change, Flow, FlowChange, FlowKind};
use priolane_linux::run::Ends;
use priolane_sim::outcome::FlowSample;
use priolane_sim::scenario::{ScenarioSpec, ScheduledControl, Stop};
use priolane_sim::topology::Topology;
use priolane_source::InputError;

use super::refusals::error;
use super::scale::{limit_ns, ns};

/// The largest message in bytes, as in lists of flows.
const LARGEST: u64 = 1 << 47;
/// The most numbers of bytes that hosts report of endless flows: 32 MiB.
const MOST_COUNTS: u64 = 1 << 22;

/// The messages that hosts send in a run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Traffic {
    pub(super) flows: Vec<Flow>,
    pub(super) changes: Vec<FlowChange>,
    pub(super) bins: Option<Bins>,
    pub(super) ends: Ends,
    pub(super) limit_ns: u64,
}

/// Returns the messages that hosts send at this scale.
///
/// # Errors
/// A change that hosts cannot make, or more bins than hosts report.
pub(super) fn traffic(run: &Run, scenario: &ScenarioSpec, scale: u64) -> Result<Traffic, InputError> {
    let limit = limit_ns(&scenario.stop, scale);
    let changes = scenario.controls.iter().map(|control| change(control, scale)).collect();
    let changes: Option<Vec<FlowChange>> = changes;
    let changes = changes.ok_or_else(|| {
        error(run, "control", "flows change their class only at once here", "`class`, or `priolane run`")
    })?;
    Ok(Traffic {
        flows: scenario.flows.iter().map(|of| flow(&of, &scenario.topology, (scale, limit))).collect(),
        changes,
        bins: bins(run, scenario, (scale, limit))?,
        ends: ends(scenario),
        limit_ns: limit,
    })
}

/// A flow as a message. An endless one has more bytes than the line of its sender carries until the end of the run.
fn flow(flow: &FlowSpec, topology: &Topology, (scale, limit_ns): (u64, u64)) -> Flow {
    let FlowSpec { id, src, dst, size, start, class, deadline, weights, group, .. } = *flow;
    let start_ns = ns(Span(start.0), scale);
    let endless = || {
        let links = topology.links.iter().filter(|link| link.from.0 == u32::from(src.0));
        let bps = links.map(|link| link.rate.bps() / scale.max(1)).max().unwrap_or(0);
        let bytes = u128::from(bps) * u128::from(limit_ns.saturating_sub(start_ns)) / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(LARGEST).clamp(1, LARGEST)
    };
    Flow {
        id: id.0,
        src: src.0,
        dst: dst.0,
        bytes: size.unwrap_or_else(endless),
        kind: if size.is_some() { FlowKind::Message } else { FlowKind::Endless },
        start_ns,
        class,
        deadline_ns: deadline.map(|deadline| ns(deadline.since(start), scale)),
        group,
        theta_bps: weights.theta.map(|theta| theta.bps() / scale),
        w_milli: weights.w_milli,
    }
}

/// A change of a flow; `None` for one that hosts cannot make.
fn change(control: &ScheduledControl, scale: u64) -> Option<FlowChange> {
    let change = match control.control {
        Control::Class(class) => Change::Class(class),
        Control::Weights { theta, w_milli } => {
            Change::Weights { theta_bps: theta.map(|theta| theta.bps() / scale), w_milli }
        }
        Control::Abort => Change::Abort,
        Control::Promote(_) | _ => return None,
    };
    Some(FlowChange { at_ns: ns(Span(control.at.0), scale), flow: control.flow.0, change })
}

fn has_endless(scenario: &ScenarioSpec) -> bool {
    scenario.flows.iter().any(|flow| flow.size.is_none())
}

/// Returns the condition on which the run ends: with endless flows not before its limit, if that is stated.
fn ends(scenario: &ScenarioSpec) -> Ends {
    match scenario.stop {
        Stop::At(_) if has_endless(scenario) => Ends::AtLimit,
        Stop::At(_) | Stop::WhenDone { .. } => Ends::WhenDone,
    }
}

/// The bins by which endless flows are counted, if their rates are asked for.
fn bins(
    run: &Run,
    scenario: &ScenarioSpec,
    (scale, limit_ns): (u64, u64),
) -> Result<Option<Bins>, InputError> {
    let Some(every) = run.experiment.rates_every.filter(|_| has_endless(scenario)) else { return Ok(None) };
    let every_ns = ns(every, scale).max(1);
    // The run ends a little after its limit.
    let count = limit_ns.div_ceil(every_ns) + 1;
    let flows = scenario.flows.iter().filter(|flow| flow.size.is_none()).count() as u64;
    match u32::try_from(count) {
        Ok(count) if u64::from(count).saturating_mul(flows) <= MOST_COUNTS => {
            Ok(Some(Bins { every_ns, count }))
        }
        _ => {
            let what = format!("rates of {flows} flows in {count} bins; hosts report {MOST_COUNTS} at most");
            Err(error(run, "rates_every", what, "a larger one, or a shorter run"))
        }
    }
}

/// Returns the time at which the run stopped, if hosts stopped at `elapsed`.
pub(super) fn stopped_at(scenario: &ScenarioSpec, elapsed: Time) -> Time {
    match (&scenario.stop, ends(scenario)) {
        (&Stop::At(limit), Ends::AtLimit) => limit.min(elapsed),
        _ => elapsed,
    }
}

/// Returns the progress of endless flows at the end of each bin, from their start to their abort or the end of the run
/// at `stopped_at`. `arrived` has bytes by flow and bin.
pub(super) fn samples<'a>(
    scenario: &ScenarioSpec,
    every: Span,
    stopped_at: Time,
    arrived: impl Iterator<Item = (u32, &'a [u64])>,
) -> Vec<FlowSample> {
    let aborts = scenario.controls.iter().filter(|control| control.control == Control::Abort);
    let aborts: HashMap<u32, Time> = aborts.map(|control| (control.flow.0, control.at)).collect();
    let flows: HashMap<u32, FlowSpec> = scenario.flows.iter().map(|flow| (flow.id.0, flow)).collect();
    let mut samples = Vec::new();
    for (id, bytes) in arrived {
        let Some(flow) = flows.get(&id) else { continue };
        let end = aborts.get(&id).map_or(stopped_at, |&abort| abort.min(stopped_at));
        let (mut at, mut acked_bytes) = (Time(0), 0);
        for more in bytes {
            at += every;
            acked_bytes += more;
            if at > end {
                break;
            }
            if at > flow.start {
                samples.push(FlowSample { at, flow: flow.id, acked_bytes });
            }
        }
    }
    samples
}
