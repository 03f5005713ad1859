//! The summary of one size class of one run.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_sim::outcome::{FlowRecord, Outcome};

use super::{PerMille, SizeClass, bound, jain, mean_of, percentile, steady};
use priolane_results::flows::{met_deadline, slowdown};
use priolane_results::source::Source;
use priolane_results::steady::SteadySummary;
use priolane_results::summary::Summary;

/// The flows of a run by size class.
pub(crate) struct Summaries {
    /// The measured flows; means are those of `steady`, if there are some.
    pub(crate) by_class: BTreeMap<String, Summary>,
    /// The flows in the measured window; empty unless a steady state is claimed.
    pub(crate) steady: BTreeMap<String, SteadySummary>,
}

/// Summarizes `all` and each of the `stated` classes, or the default ones if none is stated, over measured flows of finite
/// size; if a steady state is claimed, with means by Little's law. Default classes have no bound: computing it takes as long as everything else.
pub(crate) fn summarize(source: &Source, outcome: &Outcome, stated: &[SizeClass]) -> Summaries {
    let mut classes: Vec<SizeClass> =
        std::iter::once(SizeClass::all()).chain(stated.iter().cloned()).collect();
    let bounds = bound::mean_fct(source, outcome, &classes);
    if stated.is_empty() {
        classes.extend(SizeClass::usual());
    }
    let steady = steady::summarize(source, outcome, &classes);
    let summary = |(class, mean_fct_bound_s): (&SizeClass, Option<f64>)| {
        let direct = FlowTally::of(source, outcome, class).summary();
        let summary = steady.get(&class.name).map_or(direct, |steady| in_steady_state(direct, steady));
        (class.name.clone(), Summary { mean_fct_bound_s, ..summary })
    };
    let by_class =
        classes.iter().zip(bounds.into_iter().chain(std::iter::repeat(None))).map(summary).collect();
    Summaries { by_class, steady }
}

/// Returns the summary with means and standard deviation by Little's law.
fn in_steady_state(direct: Summary, steady: &SteadySummary) -> Summary {
    let &SteadySummary { mean_fct_s, std_fct_s, mean_slowdown, .. } = steady;
    let cv = mean_fct_s.zip(std_fct_s).filter(|&(mean, _)| mean > 0.0).map(|(mean, std)| std / mean);
    Summary { mean_fct_s, std_fct_s, cv, mean_slowdown, after_stop: None, ..direct }
}

/// Summarizes a single flow with completion time `fct` (if completed), `acked` at its sender, and `bare` in an idle
/// network.
pub(crate) fn summarize_flow(
    (fct, acked): (Option<Span>, Option<Span>),
    bare: Option<Span>,
    slowdown: Option<f64>,
) -> Summary {
    let mut tally = FlowTally { flows: 1, ..FlowTally::default() };
    tally.fcts.extend(fct.map(|f| f.0));
    tally.acked.extend(acked.map(|f| f.0));
    tally.slowdowns.extend(slowdown);
    let bound = fct.and(bare).map(Span::as_secs_f64);
    Summary {
        mean_fct_bound_s: bound,
        goodput_bps: None,
        delivery_bps: None,
        after_stop: None,
        timeouts: None,
        initial_timeouts: None,
        spurious_timeouts: None,
        timed_out: None,
        tail_timed_out: None,
        timed_out_fct_share: None,
        timed_out_p50_fct_s: None,
        ..tally.summary()
    }
}

#[derive(Debug, Default)]
struct FlowTally {
    flows: u64,
    fcts: Vec<u64>,
    acked: Vec<u64>,
    slowdowns: Vec<f64>,
    met: u64,
    missed: u64,
    censored: u64,
    infeasible: u64,
    by_source: BTreeMap<HostId, DeadlineCounts>,
    downgraded: u64,
    upgraded: u64,
    /// Time of completed flows after the window, in picoseconds; `None` without a window.
    after: Option<u128>,
    transfers: Transfers,
}

/// Deadline counts of one sender's flows.
#[derive(Clone, Copy, Debug, Default)]
struct DeadlineCounts {
    met: u64,
    missed: u64,
}

impl FlowTally {
    fn of(source: &Source, outcome: &Outcome, class: &SizeClass) -> Self {
        let mut tally = Self { after: source.window.map(|_| 0), ..Self::default() };
        let specs = source.scenario.flows.iter().zip(source.measured).zip(source.bare_fct);
        let alone = source.denominators().iter();
        for ((((spec, &measured), &bare), &alone), record) in specs.zip(alone).zip(&outcome.flows) {
            if !class.counts(source, (&spec, measured), &record) {
                continue;
            }
            let (asked, given) = (record.class.asked, record.class.given);
            tally.downgraded += u64::from(given > asked);
            tally.upgraded += u64::from(given < asked);
            tally.flows += 1;
            tally.transfers.add(&spec, &record);
            if let (Some(after), Some((_, until)), Some(fct)) = (&mut tally.after, source.window, record.fct)
            {
                *after += u128::from((spec.start + fct).since(until.max(spec.start)).0);
            }
            tally.fcts.extend(record.fct.map(|f| f.0));
            tally.acked.extend(record.fct_acked.map(|f| f.0));
            tally.slowdowns.extend(slowdown(record.fct, Some(alone)));
            let met_deadline = met_deadline(&spec, &record, outcome.stopped_at);
            let late = spec.deadline.is_some_and(|deadline| spec.start + bare > deadline);
            tally.infeasible += u64::from(met_deadline.is_some() && late);
            tally.censored += u64::from(met_deadline.is_none() && spec.deadline.is_some());
            if let Some(in_time) = met_deadline {
                tally.met += u64::from(in_time);
                tally.missed += u64::from(!in_time);
                let of_source = tally.by_source.entry(spec.src).or_default();
                of_source.met += u64::from(in_time);
                of_source.missed += u64::from(!in_time);
            }
        }
        tally
    }

    fn summary(mut self) -> Summary {
        let mean = mean_ps(&self.fcts);
        let std = mean.map(|mean| population_std_ps(&self.fcts, mean));
        let mean_slowdown = mean_of(&self.slowdowns);
        self.fcts.sort_unstable();
        self.slowdowns.sort_unstable_by(f64::total_cmp);
        let fct = |p| percentile(&self.fcts, PerMille(p)).map(|ps| ps as f64 / PS_PER_S as f64);
        let slow = |p| percentile(&self.slowdowns, PerMille(p));
        let with_deadline = self.met + self.missed;
        let part = |count: u64| (self.flows > 0).then(|| count as f64 / self.flows as f64);
        let share = |count: u64| (with_deadline > 0).then(|| count as f64 / with_deadline as f64);
        let p99 = percentile(&self.fcts, PerMille(990));
        Summary {
            flows: self.flows,
            unfinished: self.flows - self.fcts.len() as u64,
            mean_fct_s: mean.map(|ps| ps / PS_PER_S as f64),
            std_fct_s: std.map(|ps| ps / PS_PER_S as f64),
            cv: mean.zip(std).filter(|&(mean, _)| mean > 0.0).map(|(mean, std)| std / mean),
            p50_fct_s: fct(500),
            p95_fct_s: fct(950),
            p99_fct_s: fct(990),
            p999_fct_s: fct(999),
            mean_fct_acked_s: mean_ps(&self.acked).map(|ps| ps / PS_PER_S as f64),
            mean_fct_bound_s: None,
            mean_slowdown,
            p50_slowdown: slow(500),
            p95_slowdown: slow(950),
            p99_slowdown: slow(990),
            p999_slowdown: slow(999),
            deadlines_met: self.met,
            deadlines_missed: self.missed,
            deadlines_censored: self.censored,
            deadline_miss_rate: share(self.missed),
            deadline_meet_ratio: share(self.met),
            deadline_infeasible_rate: share(self.infeasible),
            deadline_jain: jain(self.by_source.values().map(|s| s.met as f64 / (s.met + s.missed) as f64)),
            downgraded: part(self.downgraded),
            upgraded: part(self.upgraded),
            goodput_bps: self.transfers.goodput_bps(&self.fcts),
            delivery_bps: self.transfers.delivery_bps().filter(|_| self.flows == self.fcts.len() as u64),
            after_stop: self.after.zip(total(&self.fcts)).map(|(after, all)| after as f64 / all as f64),
            timeouts: Some(self.transfers.timeouts),
            initial_timeouts: Some(self.transfers.initial),
            spurious_timeouts: Some(self.transfers.spurious),
            timed_out: part(self.transfers.timed_out),
            tail_timed_out: p99.map(|p99| self.transfers.part_timed_out_from(p99, &self.fcts)),
            timed_out_fct_share: self.transfers.share_of_sum(&self.fcts),
            timed_out_p50_fct_s: self.transfers.median_late().map(|ps| ps as f64 / PS_PER_S as f64),
        }
    }
}

/// Delivered payload and retransmission timeouts of flows.
#[derive(Debug, Default)]
struct Transfers {
    /// Payload delivered by completed flows, in bytes.
    delivered: u128,
    /// The start of the first flow, and the end of the last that completed.
    first_start: Option<Time>,
    last_end: Option<Time>,
    timeouts: u64,
    /// Timeouts before the first sample of the round-trip time.
    initial: u64,
    spurious: u64,
    /// Number of flows with at least one timeout.
    timed_out: u64,
    /// Completion times of completed flows with a timeout that was not spurious, in picoseconds. A spurious one delays
    /// nothing.
    late: Vec<u64>,
}

impl Transfers {
    fn add(&mut self, spec: &FlowSpec, record: &FlowRecord) {
        self.first_start = Some(self.first_start.map_or(spec.start, |first| first.min(spec.start)));
        self.timeouts += u64::from(record.timeouts);
        self.initial += u64::from(record.initial_timeouts);
        self.spurious += u64::from(record.spurious);
        self.timed_out += u64::from(record.timeouts > 0);
        if let Some(fct) = record.fct {
            let bytes = spec.size.unwrap_or_default();
            self.delivered += u128::from(bytes.saturating_sub(record.missing));
            self.last_end = self.last_end.max(Some(spec.start + fct));
            self.late.extend((record.timeouts > record.spurious).then_some(fct.0));
        }
    }

    /// Returns delivered payload over the sum of all completion times, in bit/s; `None` if the sum is 0.
    fn goodput_bps(&self, fcts: &[u64]) -> Option<f64> {
        let sum: u128 = fcts.iter().map(|&fct| u128::from(fct)).sum();
        (sum > 0).then(|| 8.0 * self.delivered as f64 / (sum as f64 / PS_PER_S as f64))
    }

    /// Returns delivered payload over the time from the first start to the last end, in bit/s; `None` if there is none.
    fn delivery_bps(&self) -> Option<f64> {
        let takes = self.last_end?.since(self.first_start?);
        (takes > Span::ZERO).then(|| 8.0 * self.delivered as f64 / takes.as_secs_f64())
    }

    /// Returns the completion times of flows that waited for a timeout over the sum of all; `None` if the sum is 0.
    fn share_of_sum(&self, fcts: &[u64]) -> Option<f64> {
        let sum = |fcts: &[u64]| fcts.iter().map(|&fct| u128::from(fct)).sum::<u128>();
        let all = sum(fcts);
        (all > 0).then(|| sum(&self.late) as f64 / all as f64)
    }

    /// Returns the median completion time of flows that waited for a timeout.
    fn median_late(&self) -> Option<u64> {
        let mut late = self.late.clone();
        late.sort_unstable();
        percentile(&late, PerMille(500))
    }

    /// Returns the fraction of flows that waited for a timeout among those whose completion time is at least `least`; `fcts`
    /// is sorted.
    fn part_timed_out_from(&self, least: u64, fcts: &[u64]) -> f64 {
        let late = self.late.iter().filter(|&&fct| fct >= least).count();
        late as f64 / (fcts.len() - fcts.partition_point(|&fct| fct < least)) as f64
    }
}

/// Returns the sum of completion times; `None` if it is 0.
fn total(fcts: &[u64]) -> Option<u128> {
    Some(fcts.iter().map(|&fct| u128::from(fct)).sum()).filter(|&sum| sum > 0)
}

/// Returns the mean of integer picoseconds, computed from their exact sum.
fn mean_ps(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

fn population_std_ps(values: &[u64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|&v| (v as f64 - mean) * (v as f64 - mean)).sum();
    (squares / values.len() as f64).sqrt()
}
