//! The needs of a steady state: the warm-up and the window that an open-loop group requires at its load.
//!
//! ```text
//! warm-up from an empty network   1.8 (E[S^2] / E[S]) / C / (1 - rho)^2, to 5 % of the mean with fair sharing
//! with start = "warm"             an eighth, if the flows under way are drawn by the load of the most loaded link
//! window                          4 times the largest flow alone on its link
//! ```
//!
//! `C` is the rate of the most loaded link (of the sender's link, if that is the links out of a rack), `rho` its load on the
//! wire with all groups, `S` the size of a flow. The
//! factors are measured on one link (docs/assumptions.md#steady-state); with several bottlenecks a flow they are lower
//! bounds.

use priolane_core::quantity::{about_span, about_span_up};
use priolane_core::units::{PS_PER_S, Span};
use priolane_workload::{InitialState, OpenLoop};
use serde::Serialize;

use super::traffic::may_start_warm;
use crate::experiment::{Experiment, Timing};

/// Factor of the warm-up from an empty network.
const EMPTY: f64 = 1.8;

/// The same with a warm start.
const WARM: f64 = EMPTY / 8.0;

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
    /// The same with a warm start; as much as `wanted_warmup_s` if the experiment cannot start warm, or already does, or if
    /// a warm start draws fewer flows than the most loaded link has.
    pub warm_start_s: f64,
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
        let Bottleneck { load, rate_bps, is_drawn } = bottleneck;
        if load >= 1.0 {
            return None;
        }
        let sizes = &open_loop.sizes.law;
        let unit = 8.0 * sizes.second_moment() / sizes.mean() / rate_bps / ((1.0 - load) * (1.0 - load));
        let factor = match start {
            InitialState::Warm if is_drawn => WARM,
            InitialState::Warm | InitialState::Empty => EMPTY,
        };
        let warm_would_help = is_drawn && may_start_warm(experiment);
        let largest_s = 8.0 * sizes.max() / rate_bps;
        Some(Self {
            group: group.to_owned(),
            load,
            wanted_warmup_s: factor * unit,
            warm_start_s: if warm_would_help { WARM * unit } else { factor * unit },
            warmup_s: warmup.as_secs_f64(),
            largest_s,
            window: measure.as_secs_f64() / largest_s,
        })
    }

    /// Returns what the experiment lacks.
    pub(super) fn warnings(&self) -> Vec<String> {
        let Self { group, load, wanted_warmup_s, warm_start_s, warmup_s, largest_s, window } = self;
        let mut found = Vec::new();
        if warmup_s < wanted_warmup_s {
            let or = if warm_start_s < wanted_warmup_s {
                format!(", or {} with time.start = \"warm\"", enough(*warm_start_s))
            } else {
                String::new()
            };
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
