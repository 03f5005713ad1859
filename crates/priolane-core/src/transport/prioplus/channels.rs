//! Computes the channels of PrioPlus from its keys (§4.3.2).
//!
//! ```text
//! D_target(i) = base + i (fluctuation + noise),  D_limit(i) = D_target(i) + fluctuation / 2 + noise,  i = N - class
//! ```

use super::{Channel, ChannelError, ChannelTable, Config, Start, Variant};
use crate::keys::KeyConflict;
use crate::quantity::show_span;
use crate::units::Span;

impl<C> Config<C> {
    /// Returns the distance from one D_target to the next.
    pub(super) fn width(&self) -> Span {
        self.fluctuation + self.noise
    }

    /// Returns the distance from a D_target to its D_limit.
    pub(super) fn head(&self) -> Span {
        Span(self.fluctuation.0 / 2) + self.noise
    }

    /// Returns how far above the delay of the empty path the highest channel reaches.
    fn highest(&self) -> Span {
        self.width().times(u64::from(self.priorities)) + self.head()
    }

    /// Computes the channels. Rejects channels that overlap or add more than the budget.
    pub(super) fn check(&mut self) -> Result<(), KeyConflict> {
        if self.never_yield > self.priorities {
            let what = format!("{} is out of range", self.never_yield);
            let fix = format!("a whole number from 0 to {}", self.priorities);
            return Err(KeyConflict::of("never_yield", what, fix));
        }
        let table = self.table_of_keys().map_err(|error| {
            let fix = "a fluctuation above zero: D_limit is half the fluctuation below the next D_target";
            KeyConflict::new(error.to_string(), fix)
        })?;
        if let Some(budget) = self.delay_budget.filter(|&budget| self.highest() > budget) {
            let width = self.width();
            let room = (budget.0 - self.head().0.min(budget.0)) / width.0;
            let what = format!(
                "{} priorities of {} each reach {} above the base delay, but the delay budget is {}",
                self.priorities,
                show_span(width),
                show_span(self.highest()),
                show_span(budget)
            );
            return Err(KeyConflict::new(
                what,
                format!("at most priorities = {}, or narrower channels", room.max(1)),
            ));
        }
        self.channel_table = self.channels.then_some(table);
        Ok(())
    }

    fn table_of_keys(&self) -> Result<ChannelTable, ChannelError> {
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
        let channels: Vec<Channel> = (0..n).map(lane).collect();
        ChannelTable::new(&channels)
    }
}
