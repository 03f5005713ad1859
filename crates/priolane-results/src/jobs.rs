//! Jobs: groups whose flows and steps wait for each other.
//!
//! ```text
//! job time        last end of a flow or step - first start of one
//! exposed         job time - the same if messages took no time
//! slowdown        job time / the same if each message took its ideal completion time, alone in the network
//! straggle        end of the last rank - median end of the ranks; a rank is a host of the job
//! computing       mean over ranks of the part of the job time in which a step of the rank runs
//! bus bandwidth   mean over coflows of bytes / (senders x time): that of NCCL for ring and halving-doubling
//! iteration       a coflow of a group, from the end of the one before (see [`IterationRecord`])
//! ```
//!
//! A group is a job if its dependencies state no end by which flows start or never do, as those of closed loops do.

mod iterations;

use std::collections::{BTreeMap, BTreeSet};

use priolane_core::ids::{CoflowId, FlowId, HostId};
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{Predecessor, Work, in_order};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use serde::{Deserialize, Serialize};

use iterations::GroupTimes;
pub use iterations::IterationRecord;

/// The times of a job. Values are null if a flow of it did not end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Number of hosts that send, receive, or carry out steps.
    pub ranks: u32,
    /// Job time, in seconds.
    pub time_s: Option<f64>,
    /// Part of it that messages add, in seconds.
    pub exposed_s: Option<f64>,
    /// Job time over that with each message alone in the network.
    pub slowdown: Option<f64>,
    /// End of the last rank after the median end of ranks, in seconds.
    pub straggle_s: Option<f64>,
    /// Mean part of the job time in which a rank computes.
    pub computing: Option<f64>,
    /// Mean bus bandwidth of coflows, in bits per second; null without coflows.
    pub bus_bandwidth_bps: Option<f64>,
    /// Its iterations; null without coflows.
    #[serde(default)]
    pub iterations: Option<IterationRecord>,
}

/// Begin and end of each flow and step; `None` if it has not ended.
#[derive(Debug)]
struct Played {
    flows: Vec<Option<[Time; 2]>>,
    steps: Vec<Option<[Time; 2]>>,
}

/// The jobs of a run.
#[derive(Debug)]
pub struct Jobs<'a> {
    planned: &'a ScenarioSpec,
    /// Whether each group is a job.
    is_job: Vec<bool>,
    actual: Played,
    at_once: Played,
    alone: Played,
}

impl<'a> Jobs<'a> {
    /// Creates the jobs of a run with the flows of `planned`, of which those of `ran` were issued; `bare_fct` has the ideal
    /// completion time of each planned flow. `None` if no group is a job.
    pub fn new(
        planned: &'a ScenarioSpec,
        groups: usize,
        bare_fct: &[Span],
        ran: (&ScenarioSpec, &Outcome),
    ) -> Option<Self> {
        let is_job = job_groups(planned, groups);
        if !is_job.contains(&true) {
            return None;
        }
        let delay = planned.host_delay;
        let mut recorded = vec![None; planned.flows.len()];
        for (flow, record) in ran.0.flows.iter().zip(&ran.1.flows) {
            recorded[flow.id.index()] = record.fct.map(|fct| [flow.start, flow.start + fct + delay]);
        }
        let graph = Graph::new(planned);
        let bare = |flow: FlowId, start: Time| {
            planned.flows.size(flow.index()).map(|_| [start, start + bare_fct[flow.index()] + delay])
        };
        Some(Self {
            planned,
            is_job,
            actual: graph.played(|flow, _| recorded[flow.index()]),
            at_once: graph.played(|_, start| Some([start, start])),
            alone: graph.played(bare),
        })
    }

    /// Returns the record of the jobs among these groups as one; `None` if none of them is a job.
    pub fn of(&self, is_chosen: impl Fn(u16) -> bool) -> Option<JobRecord> {
        let is_own = |group: u16| is_chosen(group) && self.is_job.get(usize::from(group)) == Some(&true);
        if !(0..self.is_job.len() as u16).any(&is_own) {
            return None;
        }
        let mut ranks: BTreeMap<HostId, Rank> = BTreeMap::new();
        for flow in self.planned.flows.iter().filter(|flow| is_own(flow.group)) {
            let played = self.actual.flows[flow.id.index()];
            ranks.entry(flow.src).or_default().reaches(played.map(|[start, _]| start));
            ranks.entry(flow.dst).or_default().reaches(played.map(|[_, end]| end));
        }
        for (step, played) in self.planned.steps.iter().zip(&self.actual.steps) {
            if is_own(step.group) {
                let rank = ranks.entry(step.host).or_default();
                rank.reaches(played.map(|[_, end]| end));
                rank.steps.extend(played);
            }
        }
        let span = |played| self.span(played, &is_own).map(Span::as_secs_f64);
        let (time_s, at_once, alone) = (span(&self.actual), span(&self.at_once), span(&self.alone));
        let mut ends: Vec<Option<Time>> = ranks.values().map(|rank| rank.end).collect();
        ends.sort_unstable();
        let median = ends.get((ends.len().max(1) - 1) / 2).copied().flatten();
        let last = ends.last().copied().flatten().filter(|_| time_s.is_some());
        let coflows = self.coflows(&is_own);
        let computing = ranks.values_mut().map(Rank::computing).sum::<f64>() / ranks.len().max(1) as f64;
        Some(JobRecord {
            ranks: ranks.len() as u32,
            time_s,
            exposed_s: time_s.zip(at_once).map(|(time, at_once)| time - at_once),
            slowdown: time_s.zip(alone).filter(|&(_, alone)| alone > 0.0).map(|(time, alone)| time / alone),
            straggle_s: last.zip(median).map(|(last, median)| last.since(median).as_secs_f64()),
            computing: time_s.filter(|&time| time > 0.0).map(|time| computing / time),
            bus_bandwidth_bps: bus_bandwidth(&coflows),
            iterations: self.iterations(&coflows),
        })
    }

    /// Returns the time from the first start to the last end; `None` if something has not ended.
    fn span(&self, played: &Played, is_own: &impl Fn(u16) -> bool) -> Option<Span> {
        let flows = self.planned.flows.iter().filter(|flow| is_own(flow.group));
        let of_flows = flows.map(|flow| played.flows[flow.id.index()]);
        let steps = self.planned.steps.iter().zip(&played.steps);
        let of_steps = steps.filter(|(step, _)| is_own(step.group)).map(|(_, &played)| played);
        let (mut first, mut last) = (Time::NEVER, Time::ZERO);
        for played in of_flows.chain(of_steps) {
            let [start, end] = played?;
            (first, last) = (first.min(start), last.max(end));
        }
        Some(last.since(first))
    }

    fn coflows(&self, is_own: &impl Fn(u16) -> bool) -> BTreeMap<(u16, CoflowId), CoflowOfJob> {
        let mut coflows: BTreeMap<(u16, CoflowId), CoflowOfJob> = BTreeMap::new();
        for flow in self.planned.flows.iter().filter(|flow| is_own(flow.group)) {
            let Some(coflow) = flow.coflow else { continue };
            let played = self.actual.flows[flow.id.index()];
            let new = || CoflowOfJob { bytes: 0, senders: BTreeSet::new(), played };
            let all = coflows.entry((flow.group, coflow)).or_insert_with(new);
            all.bytes += flow.size.unwrap_or(0);
            all.senders.insert(flow.src);
            all.played = all.played.zip(played).map(|(all, own)| [all[0].min(own[0]), all[1].max(own[1])]);
        }
        coflows
    }

    /// Returns the iterations of the groups of `coflows`; `None` if a coflow has not ended.
    fn iterations(&self, coflows: &BTreeMap<(u16, CoflowId), CoflowOfJob>) -> Option<IterationRecord> {
        let mut groups: BTreeMap<u16, GroupTimes> = BTreeMap::new();
        for (&(group, _), coflow) in coflows {
            let [start, end] = coflow.played?;
            groups.entry(group).or_insert_with(|| GroupTimes { start, ends: Vec::new() }).ends.push(end);
        }
        let of_flows = self.planned.flows.iter().map(|flow| (flow.group, self.actual.flows[flow.id.index()]));
        let of_steps =
            self.planned.steps.iter().zip(&self.actual.steps).map(|(step, &own)| (step.group, own));
        for (group, played) in of_flows.chain(of_steps) {
            if let Some((times, [start, _])) = groups.get_mut(&group).zip(played) {
                times.start = times.start.min(start);
            }
        }
        IterationRecord::of(groups)
    }
}

fn bus_bandwidth(coflows: &BTreeMap<(u16, CoflowId), CoflowOfJob>) -> Option<f64> {
    let mut sum = 0.0;
    for CoflowOfJob { bytes, senders, played } in coflows.values() {
        let [start, end] = (*played)?;
        sum += *bytes as f64 * 8.0 / (senders.len() as f64 * end.since(start).as_secs_f64());
    }
    (!coflows.is_empty()).then(|| sum / coflows.len() as f64)
}

/// A coflow of a job.
#[derive(Debug)]
struct CoflowOfJob {
    bytes: u64,
    senders: BTreeSet<HostId>,
    /// Its begin and end; `None` while a flow has not ended.
    played: Option<[Time; 2]>,
}

/// A host of a job.
#[derive(Debug, Default)]
struct Rank {
    end: Option<Time>,
    steps: Vec<[Time; 2]>,
}

impl Rank {
    fn reaches(&mut self, at: Option<Time>) {
        self.end = self.end.max(at);
    }

    /// Returns the seconds in which a step runs.
    fn computing(&mut self) -> f64 {
        self.steps.sort_unstable();
        let (mut until, mut sum) = (Time::ZERO, Span::ZERO);
        for &[start, end] in &self.steps {
            sum += end.since(start.max(until));
            until = until.max(end);
        }
        sum.as_secs_f64()
    }
}

fn job_groups(planned: &ScenarioSpec, groups: usize) -> Vec<bool> {
    let mut is_job = vec![false; groups];
    let mut set = |group: u16, value: bool| {
        if let Some(entry) = is_job.get_mut(usize::from(group)) {
            *entry = value;
        }
    };
    planned.steps.iter().for_each(|step| set(step.group, true));
    let group = |flow: FlowId| planned.flows.at(flow.index()).group;
    planned.waits.iter().for_each(|wait| set(group(wait.flow), true));
    let bounded = planned.waits.iter().filter(|wait| wait.until.is_some());
    bounded.for_each(|wait| set(group(wait.flow), false));
    is_job
}

/// All flows and steps in an order in which each follows what it waits for.
struct Graph<'a> {
    planned: &'a ScenarioSpec,
    order: Vec<Work>,
    after: BTreeMap<FlowId, &'a [Predecessor]>,
}

impl<'a> Graph<'a> {
    fn new(planned: &'a ScenarioSpec) -> Self {
        let order = in_order(planned.flows.len(), &planned.waits, &planned.steps);
        let order = order.expect("invariant: a scenario that ran has no circles");
        let after = planned.waits.iter().map(|wait| (wait.flow, &wait.after[..])).collect();
        Self { planned, order, after }
    }

    /// Returns begin and end of all, given those of a flow that may start at a time.
    fn played(&self, flow: impl Fn(FlowId, Time) -> Option<[Time; 2]>) -> Played {
        let mut played = Played {
            flows: vec![None; self.planned.flows.len()],
            steps: vec![None; self.planned.steps.len()],
        };
        for &work in &self.order {
            let (earliest, after) = match work {
                Work::Flow(id) => {
                    (self.planned.flows.start(id.index()), self.after.get(&id).copied().unwrap_or_default())
                }
                Work::Step(id) => {
                    let step = &self.planned.steps[id.index()];
                    (step.start, &step.after[..])
                }
            };
            let release = after.iter().try_fold(earliest, |latest, first| {
                let [_, end] = match first.work {
                    Work::Flow(id) => played.flows[id.index()],
                    Work::Step(id) => played.steps[id.index()],
                }?;
                Some(latest.max(end + first.delay))
            });
            match work {
                Work::Flow(id) => played.flows[id.index()] = release.and_then(|start| flow(id, start)),
                Work::Step(id) => {
                    let takes = self.planned.steps[id.index()].takes;
                    played.steps[id.index()] = release.map(|start| [start, start + takes]);
                }
            }
        }
        played
    }
}
