//! How wide the channels of PrioPlus are, from its keys (§4.3.2).
//!
//! ```text
//! D_target(i) = base + i (fluctuation + noise),  D_limit(i) = D_target(i) + fluctuation / 2 + noise,  i = N - class
//! ```

use super::{Channel, ChannelError, ChannelTable, Config, Start, Variant};
use crate::keys::Misfit;
use crate::quantity::show_span;
use crate::transport::delay::Channels;
use crate::units::Span;

impl<C> Config<C> {
    /// What others need to know of the channels; `None` where there are none.
    pub(super) fn channels(&self) -> Option<Channels> {
        let Self { priorities, fluctuation, noise, .. } = *self;
        let limit = self.width().times(u64::from(priorities - self.never_yield)) + self.head();
        self.lanes.as_ref().map(|_| Channels { priorities, limit, fluctuation, noise })
    }

    /// From one D_target to the next.
    fn width(&self) -> Span {
        self.fluctuation + self.noise
    }

    /// From a D_target to its D_limit.
    fn head(&self) -> Span {
        Span(self.fluctuation.0 / 2) + self.noise
    }

    /// How far above the delay of the empty path the highest channel reaches.
    fn highest(&self) -> Span {
        self.width().times(u64::from(self.priorities)) + self.head()
    }

    /// Finds the channels; refuses those that overlap or add more than the budget.
    pub(super) fn check(&mut self) -> Result<(), Misfit> {
        if self.never_yield > self.priorities {
            let what = format!("{} is out of range", self.never_yield);
            let fix = format!("a whole number from 0 to {}", self.priorities);
            return Err(Misfit::of("never_yield", what, fix));
        }
        let lanes = self.lanes_of_keys().map_err(|error| {
            let fix = "a fluctuation above zero: D_limit lies half of it below the next D_target";
            Misfit::new(error.to_string(), fix)
        })?;
        if let Some(budget) = self.delay_budget.filter(|&budget| self.highest() > budget) {
            let width = self.width();
            let room = (budget.0 - self.head().0.min(budget.0)) / width.0;
            let what = format!(
                "{} priorities of {} reach {} above the empty path, but the delay budget is {}",
                self.priorities,
                show_span(width),
                show_span(self.highest()),
                show_span(budget)
            );
            return Err(Misfit::new(
                what,
                format!("priorities = {} at most, or narrower channels", room.max(1)),
            ));
        }
        self.lanes = self.channels.then_some(lanes);
        Ok(())
    }

    fn lanes_of_keys(&self) -> Result<ChannelTable, ChannelError> {
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
            Channel { target, limit: (!never).then(|| target + self.head()), start, linear_start }
        };
        let lanes: Vec<Channel> = (0..n).map(lane).collect();
        ChannelTable::new(&lanes)
    }
}
