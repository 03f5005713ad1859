//! The needs of a steady state: the warm-up and the window that an open-loop group requires at its load.
//!
//! ```text
//! U                               (E[S^2] / E[S]) / C / (1 - rho)^2
//! warm-up until flows under way   one bottleneck of a path   several
//!   are within 5 % of their mean
//!   start = "empty"               1.8 U                      5 U
//!   start = "warm"                an eighth of 1.8 U         5 U
//!   start = "warm_path"           as "warm"                  U
//! window                          4 times the largest flow alone on its link
//! ```
//!
//! `C` is the rate of the most loaded link (of the sender's link, if that is the links out of a rack), `rho` its load on the
//! wire with all groups, `S` the size of a flow. `"warm"` needs as long as `"empty"` if its flows under way are not drawn by the
//! load of the most loaded link. The factors of one bottleneck are measured on a link with fair sharing; those of several in
//! leaf-spine networks in which senders and receivers have the same load, with DCTCP and levels by bytes sent
//! (docs/assumptions.md#steady-state).

use priolane_core::quantity::{about_span, about_span_up};
use priolane_core::units::{PS_PER_S, Span};
use priolane_workload::{InitialState, OpenLoop};
use serde::Serialize;

use super::traffic::may_start_warm;
use crate::experiment::{Experiment, Timing};

/// Factor of the warm-up from an empty network if flows have one bottleneck.
const EMPTY: f64 = 1.8;

/// The same with a warm start.
const WARM: f64 = EMPTY / 8.0;

/// Factor of the warm-up if flows wait at several links, unless the flows under way at the start do so too.
const SEVERAL: f64 = 5.0;

/// The same with the flows of `warm_path`.
const PATH: f64 = 1.0;

/// The window that means of the largest flows want, in times of the largest flow alone.
const WINDOW: f64 = 4.0;

/// The needs of the steady state of a group, and the values of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyNeeds {
    /// Name of the group.
    pub group: String,
    /// Load on the wire of the most loaded link of its flows, with all groups; below 1.
    pub load: f64,
    /// Warm-up that a steady state wants, in seconds, by the experiment's `time.start`.
    pub wanted_warmup_s: f64,
    /// The same with [`Self::warm_start`]; as much as `wanted_warmup_s` if that has none.
    pub warm_start_s: f64,
    /// The `time.start` that shortens the warm-up; `None` if the experiment cannot start so, or already does.
    pub warm_start: Option<InitialState>,
    /// Warm-up of the experiment, in seconds.
    pub warmup_s: f64,
    /// Time of the largest flow alone on the link of its sender, in seconds.
    pub largest_s: f64,
    /// Measured window, in times of the largest flow alone.
    pub window: f64,
}

/// The most loaded link of a group's flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bottleneck {
    /// Load on the wire, with all groups.
    pub(super) load: f64,
    /// Bits per second at which it serves a flow.
    pub(super) rate_bps: f64,
    /// Whether a warm start draws the flows under way by this load.
    pub(super) is_drawn: bool,
    /// The links at which the flows wait.
    pub(super) links: Bottlenecks,
    /// Whether `warm_path` draws flows under way at the loads of all links.
    pub(super) may_draw_path: bool,
}

/// The links of a path at which flows wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bottlenecks {
    /// Nearly all waits are at the most loaded link.
    One,
    /// Other links of the path add as much as half of the waits at the most loaded one.
    Several,
}

impl Bottleneck {
    /// Returns the warm-up after this start, in times of U.
    fn factor(self, start: InitialState) -> f64 {
        match (start, self.links) {
            (InitialState::WarmPath, Bottlenecks::Several) => PATH,
            (InitialState::Empty | InitialState::Warm, Bottlenecks::Several) => SEVERAL,
            (InitialState::WarmPath, Bottlenecks::One) => WARM,
            (InitialState::Warm, Bottlenecks::One) if self.is_drawn => WARM,
            (InitialState::Empty | InitialState::Warm, Bottlenecks::One) => EMPTY,
        }
    }

    /// Returns the start with the shortest warm-up of those that take less than this one; of equals the plainer one.
    fn shorter(self, start: InitialState) -> Option<InitialState> {
        let others = [InitialState::Warm, InitialState::WarmPath];
        let others =
            others.into_iter().filter(|&start| start != InitialState::WarmPath || self.may_draw_path);
        others.fold(None, |best: Option<InitialState>, other| {
            let least = self.factor(best.unwrap_or(start));
            if self.factor(other) < least { Some(other) } else { best }
        })
    }
}

impl SteadyNeeds {
    /// Returns what a group with this most loaded link takes; `None` at a load of 1 or more, or if the experiment does not
    /// measure a window.
    pub(super) fn of(
        experiment: &Experiment,
        group: &str,
        open_loop: &OpenLoop,
        bottleneck: Bottleneck,
    ) -> Option<Self> {
        let Timing::Window { start, warmup, measure, .. } = experiment.time else { return None };
        let Bottleneck { load, rate_bps, .. } = bottleneck;
        if load >= 1.0 {
            return None;
        }
        let sizes = &open_loop.sizes.law;
        let unit = 8.0 * sizes.second_moment() / sizes.mean() / rate_bps / ((1.0 - load) * (1.0 - load));
        let warm_start = bottleneck.shorter(start).filter(|_| may_start_warm(experiment));
        let largest_s = 8.0 * sizes.max() / rate_bps;
        Some(Self {
            group: group.to_owned(),
            load,
            wanted_warmup_s: bottleneck.factor(start) * unit,
            warm_start_s: bottleneck.factor(warm_start.unwrap_or(start)) * unit,
            warm_start,
            warmup_s: warmup.as_secs_f64(),
            largest_s,
            window: measure.as_secs_f64() / largest_s,
        })
    }

    /// Returns what the experiment lacks.
    pub(super) fn warnings(&self) -> Vec<String> {
        let Self { group, load, wanted_warmup_s, warm_start_s, warm_start, warmup_s, largest_s, window } =
            self;
        let mut found = Vec::new();
        if warmup_s < wanted_warmup_s {
            let or = warm_start.map_or(String::new(), |start| {
                format!(", or {} with time.start = {:?}", enough(*warm_start_s), start.word())
            });
            found.push(format!(
                "group {group}: a steady state at the load of {load:.3} on the wire wants a warm-up of about {}{or}; \
                 time.warmup is {}",
                enough(*wanted_warmup_s),
                show(*warmup_s)
            ));
        }
        if *window < WINDOW {
            found.push(format!(
                "group {group}: time.measure is {window:.2} times the {} that the largest flow takes alone; means of the \
                 largest flows want {WINDOW} times",
                show(*largest_s)
            ));
        }
        found
    }
}

fn show(seconds: f64) -> String {
    about_span(Span((seconds * PS_PER_S as f64).round() as u64))
}

/// Shows a time that is not below `seconds`.
fn enough(seconds: f64) -> String {
    about_span_up(Span((seconds * PS_PER_S as f64).ceil() as u64))
}
