//! Means in a steady state, without waiting for completions: Little's law, H = lambda G.
//!
//! ```text
//! W              the measured window, N the flows of the class that start in it
//! mean of f(T)   sum over flows of  integral of f'(age) over the flow's life within W,  over N
//!   FCT            f(t) = t       the time that the flow spends in W
//!   FCT^2          f(t) = t^2     the difference of its squared ages at the ends of that time
//!   slowdown       f(t) = t / d   d is the completion time of the whole flow alone in the network
//! ```
//!
//! A flow's life ends with its completion, its abort or the run. A flow that was under way when the run began belongs to the
//! class of its whole size; its age counts from the beginning of the run, so second moments are slightly too small
//! while such flows are left. Flows that never started have no life.

use std::collections::BTreeMap;

use priolane_core::endpoint::Control;
use priolane_core::ids::FlowId;
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_results::source::Source;
use priolane_results::steady::SteadySummary;
use priolane_sim::outcome::{Outcome, StartTime};

use super::{SizeClass, mean_of};

/// Summarizes the flows of each class in the steady window of the run; empty if the run has none.
pub(crate) fn summarize(
    source: &Source,
    outcome: &Outcome,
    classes: &[SizeClass],
) -> BTreeMap<String, SteadySummary> {
    let Some((from, until)) = source.steady_window() else { return BTreeMap::new() };
    let length = until.since(from).0;
    let middle = from + Span(length / 2);
    let quarters = [(from, from + Span(length / 4)), (until - Span(length / 4), until)];
    let summary = |class: &SizeClass| {
        let lives = lives(source, outcome, class);
        let [whole, first, second] =
            [(from, until), (from, middle), (middle, until)].map(|window| Tally::of(&lives, window));
        let direct: Vec<f64> = lives
            .iter()
            .filter(|life| life.measured && life.completed)
            .map(|life| life.end.since(life.start).as_secs_f64())
            .collect();
        SteadySummary {
            direct_fct_s: mean_of(&direct),
            halves_fct_s: [first.mean_fct_s(), second.mean_fct_s()],
            second_half_arrivals: second.arrivals,
            second_half_completions: second.completions,
            quarters_under_way: quarters.map(|quarter| Tally::of(&lives, quarter).under_way(quarter)),
            ..whole.summary()
        }
    };
    classes.iter().map(|class| (class.name.clone(), summary(class))).collect()
}

/// The life of a flow.
#[derive(Clone, Copy, Debug)]
struct Life {
    start: Time,
    /// Its completion, its abort, or the end of the run.
    end: Time,
    /// Completion time of the whole flow alone in the network.
    alone: Span,
    measured: bool,
    completed: bool,
}

/// Returns the lives of the flows of a class.
fn lives(source: &Source, outcome: &Outcome, class: &SizeClass) -> Vec<Life> {
    let aborts = aborts(source);
    let mut under_way = source.under_way.iter();
    let flows = source.scenario.flows.iter().zip(source.measured).zip(source.denominators());
    let mut lives = Vec::new();
    for (((spec, &measured), &alone), record) in flows.zip(&outcome.flows) {
        let alone = if spec.attained > 0 { under_way.next().copied().unwrap_or(alone) } else { alone };
        if record.began == StartTime::Never || !class.includes(source, &spec, &record) {
            continue;
        }
        let cut = aborts.get(&spec.id).map_or(outcome.stopped_at, |&at| at.min(outcome.stopped_at));
        let end = record.fct.map_or(cut.max(spec.start), |fct| spec.start + fct);
        lives.push(Life { start: spec.start, end, alone, measured, completed: record.fct.is_some() });
    }
    lives
}

/// Returns when flows are aborted: the first time of each.
fn aborts(source: &Source) -> BTreeMap<FlowId, Time> {
    let aborted = source.scenario.controls.iter().filter(|control| control.control == Control::Abort);
    // Controls are in order of time.
    aborted.rev().map(|control| (control.flow, control.at)).collect()
}

/// Integrals over the lives of flows within a window.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    arrivals: u64,
    completions: u64,
    /// Time that flows spend in the window, in picoseconds.
    time: u128,
    /// Sum of differences of squared ages, in square seconds.
    squares: f64,
    /// Time that flows spend in the window, each in units of its completion time alone.
    slowdown: f64,
}

impl Tally {
    fn of(lives: &[Life], (from, until): (Time, Time)) -> Self {
        let mut tally = Self::default();
        for life in lives {
            tally.arrivals += u64::from((from..until).contains(&life.start));
            tally.completions += u64::from(life.completed && (from..until).contains(&life.end));
            let (enters, leaves) = (life.start.max(from), life.end.min(until));
            if enters >= leaves {
                continue;
            }
            let time = leaves.since(enters);
            let age = |at: Time| at.since(life.start).as_secs_f64();
            tally.time += u128::from(time.0);
            tally.squares += age(leaves) * age(leaves) - age(enters) * age(enters);
            if life.alone > Span::ZERO {
                tally.slowdown += time.0 as f64 / life.alone.0 as f64;
            }
        }
        tally
    }

    fn per_arrival(&self, sum: f64) -> Option<f64> {
        (self.arrivals > 0).then(|| sum / self.arrivals as f64)
    }

    /// Returns the mean number of flows under way in the window that was integrated over; 0 if it has no length.
    fn under_way(&self, (from, until): (Time, Time)) -> f64 {
        let length = until.since(from);
        if length == Span::ZERO { 0.0 } else { self.time as f64 / length.0 as f64 }
    }

    fn mean_fct_s(&self) -> Option<f64> {
        self.per_arrival(self.time as f64 / PS_PER_S as f64)
    }

    fn summary(&self) -> SteadySummary {
        let mean = self.mean_fct_s();
        let second = self.per_arrival(self.squares);
        SteadySummary {
            arrivals: self.arrivals,
            mean_fct_s: mean,
            std_fct_s: mean.zip(second).map(|(mean, second)| (second - mean * mean).max(0.0).sqrt()),
            mean_slowdown: self.per_arrival(self.slowdown),
            ..SteadySummary::default()
        }
    }
}

#[cfg(test)]
mod tests;
