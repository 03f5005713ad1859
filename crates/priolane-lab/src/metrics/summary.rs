//! The summary of one size class of one run.

use std::collections::BTreeMap;

use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Span};
use priolane_sim::outcome::Outcome;

use super::{PerMille, SizeClass, bound, jain, percentile};
use priolane_results::flows::{met, slowdown};
use priolane_results::source::Source;
use priolane_results::summary::Summary;

/// The summaries of all `classes` and of `all`, over flows that are measured and finite.
pub(crate) fn summarize(
    source: &Source,
    outcome: &Outcome,
    classes: &[SizeClass],
) -> BTreeMap<String, Summary> {
    let classes: Vec<SizeClass> = std::iter::once(SizeClass::all()).chain(classes.iter().cloned()).collect();
    let bounds = bound::mean_fct(source, outcome, &classes);
    let summary = |(class, mean_fct_bound_s): (&SizeClass, Option<f64>)| {
        let summary = PacketCount::of(source, outcome, class).summary();
        (class.name.clone(), Summary { mean_fct_bound_s, ..summary })
    };
    classes.iter().zip(bounds).map(summary).collect()
}

/// The summary of a single flow that took `fct`, or did not finish, and `acked` at its sender, and takes `bare` alone.
pub(crate) fn summarize_flow(
    (fct, acked): (Option<Span>, Option<Span>),
    bare: Option<Span>,
    slowdown: Option<f64>,
) -> Summary {
    let mut tally = PacketCount { flows: 1, ..PacketCount::default() };
    tally.fcts.extend(fct.map(|f| f.0));
    tally.acked.extend(acked.map(|f| f.0));
    tally.slowdowns.extend(slowdown);
    let bound = fct.and(bare).map(Span::as_secs_f64);
    Summary { mean_fct_bound_s: bound, ..tally.summary() }
}

#[derive(Debug, Default)]
struct PacketCount {
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
}

/// Deadlines of one source's flows.
#[derive(Clone, Copy, Debug, Default)]
struct DeadlineCounts {
    met: u64,
    missed: u64,
}

impl PacketCount {
    fn of(source: &Source, outcome: &Outcome, class: &SizeClass) -> Self {
        let mut tally = Self::default();
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
            tally.fcts.extend(record.fct.map(|f| f.0));
            tally.acked.extend(record.fct_acked.map(|f| f.0));
            tally.slowdowns.extend(slowdown(record.fct, Some(alone)));
            let judged = met(&spec, &record, outcome.stopped_at);
            let late = spec.deadline.is_some_and(|deadline| spec.start + bare > deadline);
            tally.infeasible += u64::from(judged.is_some() && late);
            tally.censored += u64::from(judged.is_none() && spec.deadline.is_some());
            if let Some(in_time) = judged {
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
        let judged = self.met + self.missed;
        let part = |count: u64| (self.flows > 0).then(|| count as f64 / self.flows as f64);
        let share = |count: u64| (judged > 0).then(|| count as f64 / judged as f64);
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
        }
    }
}

/// The mean of whole picoseconds, from their exact sum.
fn mean_ps(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

fn population_std_ps(values: &[u64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|&v| (v as f64 - mean) * (v as f64 - mean)).sum();
    (squares / values.len() as f64).sqrt()
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
