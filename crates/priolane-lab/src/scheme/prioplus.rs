//! The keys of PrioPlus: how many channels, how wide, and whose PrioPlus it is.
//!
//! ```text
//! D_target(i) = base + i (fluctuation + noise),  D_limit(i) = D_target(i) + fluctuation / 2 + noise,  i = N - class
//! ```

use priolane_core::transport::prioplus::{Increase, Lane, LaneError, Lanes, Probes, Start, Variant};
use priolane_core::units::Span;
use serde::Serialize;

use priolane_source::quantity::{as_text, show_span};
use priolane_source::{InputError, Reader};

/// PrioPlus's keys, around a controller with the keys `C`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrioPlus<C> {
    /// Whose PrioPlus.
    pub variant: Variant,
    /// Whether there are channels; without them it is the controller.
    pub channels: bool,
    /// Number of channels.
    pub priorities: u8,
    /// A: what the controller makes the delay vary by.
    #[serde(serialize_with = "as_text::span")]
    pub fluctuation: Span,
    /// B: what hosts get wrong of the delay.
    #[serde(serialize_with = "as_text::span")]
    pub noise: Span,
    /// The most that channels together may add to the delay; zero for no bound.
    #[serde(serialize_with = "as_text::span")]
    pub delay_budget: Span,
    /// The best classes, which never yield.
    pub never_yield: u8,
    /// W_LS of the best quarter of the classes, in paths.
    pub w_ls_high: f64,
    /// W_LS of those up to five eighths.
    pub w_ls_medium: f64,
    /// W_LS of the others.
    pub w_ls_low: f64,
    /// Samples at D_limit that make a flow yield.
    pub exceed_limit: u32,
    /// How far above the empty path a delay still counts as that.
    #[serde(serialize_with = "as_text::span")]
    pub base_tolerance: Span,
    /// In which round trips adaptive increase acts.
    pub increase: Increase,
    /// When a yielding flow probes.
    pub probes: Probes,
    /// The controller's keys.
    #[serde(flatten)]
    pub inner: C,
}

/// The names of PrioPlus's own keys.
pub(super) const KEYS: &[&str] = &[
    "variant",
    "channels",
    "priorities",
    "fluctuation",
    "noise",
    "delay_budget",
    "never_yield",
    "w_ls_high",
    "w_ls_medium",
    "w_ls_low",
    "exceed_limit",
    "base_tolerance",
    "increase",
    "probes",
];

const VARIANTS: [(&str, Variant); 2] = [("paper", Variant::Paper), ("released", Variant::Released)];

const INCREASES: [(&str, Increase); 2] = [("dual_rtt", Increase::DualRtt), ("every_rtt", Increase::EveryRtt)];

const PROBES: [(&str, Probes); 2] = [("apart", Probes::Apart), ("each_rtt", Probes::EachRtt)];

impl<C: Copy> PrioPlus<C> {
    pub(super) fn read(
        keys: &mut Reader<'_>,
        inner: impl FnOnce(&mut Reader<'_>) -> Result<C, InputError>,
    ) -> Result<Self, InputError> {
        let priorities = keys.take("priorities").map_or(Ok(8), |f| f.integer(1, 16))? as u8;
        // The released code's ratio, at least one.
        let top = u64::from(priorities).div_ceil(8);
        let w_ls =
            |keys: &mut Reader<'_>, key, or: f64| keys.take(key).map_or(Ok(or), |f| f.number(1e-4, 1.0));
        let read = Self {
            variant: keys.word_or("variant", &VARIANTS, Variant::Paper)?,
            channels: keys.take("channels").map_or(Ok(true), |f| f.truth())?,
            priorities,
            fluctuation: keys.span_or("fluctuation", Span::from_ns(3_200))?,
            noise: keys.span_or("noise", Span::from_ns(800))?,
            delay_budget: keys.span_or("delay_budget", Span::ZERO)?,
            never_yield: keys.take("never_yield").map_or(Ok(top), |f| f.integer(0, u64::from(priorities)))?
                as u8,
            w_ls_high: w_ls(keys, "w_ls_high", 1.0)?,
            w_ls_medium: w_ls(keys, "w_ls_medium", 0.25)?,
            w_ls_low: w_ls(keys, "w_ls_low", 0.125)?,
            exceed_limit: keys.take("exceed_limit").map_or(Ok(2), |f| f.integer(1, 1_000))? as u32,
            base_tolerance: keys.span_or("base_tolerance", Span::from_us(1))?,
            increase: keys.word_or("increase", &INCREASES, Increase::DualRtt)?,
            probes: keys.word_or("probes", &PROBES, Probes::Apart)?,
            inner: inner(keys)?,
        };
        if let Err(error) = read.lanes() {
            let fix = "a fluctuation above zero: D_limit lies half of it below the next D_target";
            return Err(keys.error(error.to_string(), fix));
        }
        let (widest, budget) = (read.reaches(), read.delay_budget);
        if budget > Span::ZERO && widest > budget {
            let width = read.width();
            let room = (budget.0 - read.head().0.min(budget.0)) / width.0;
            let what = format!(
                "{priorities} priorities of {} reach {} above the empty path, but the delay budget is {}",
                show_span(width),
                show_span(widest),
                show_span(budget)
            );
            return Err(
                keys.error(what, format!("priorities = {} at most, or narrower channels", room.max(1)))
            );
        }
        Ok(read)
    }
}

impl<C> PrioPlus<C> {
    /// From one D_target to the next.
    pub fn width(&self) -> Span {
        self.fluctuation + self.noise
    }

    /// From a D_target to its D_limit.
    pub fn head(&self) -> Span {
        Span(self.fluctuation.0 / 2) + self.noise
    }

    /// How far above the delay of the empty path the highest channel reaches.
    pub fn reaches(&self) -> Span {
        self.width().times(u64::from(self.priorities)) + self.head()
    }

    /// The channels, the best class first.
    ///
    /// # Errors
    /// A [`LaneError`] where they overlap.
    pub fn lanes(&self) -> Result<Lanes, LaneError> {
        let n = u64::from(self.priorities);
        let lane = |class: u64| {
            let target = self.width().times(n - class);
            let never = class < u64::from(self.never_yield);
            let high = class * 4 < n;
            let medium = class * 8 < 5 * n;
            let start = match self.variant {
                _ if never => Start::LineRate,
                Variant::Paper if high => Start::Linear,
                _ => Start::Probe,
            };
            let linear_start = match (high, medium) {
                (true, _) => self.w_ls_high,
                (_, true) => self.w_ls_medium,
                _ => self.w_ls_low,
            };
            Lane { target, limit: (!never).then(|| target + self.head()), start, linear_start }
        };
        let lanes: Vec<Lane> = (0..n).map(lane).collect();
        Lanes::new(&lanes)
    }
}
