//! Channels of PrioPlus that do not go together with classes, queues and the error of measured delays.

use super::Config;
use crate::finding::{Finding, NetworkFacts, QueueFacts, Severity};
use crate::part::Row;
use crate::quantity::{show_bytes, show_rate, show_span};
use crate::units::{Rate, Span};

impl<C> Config<C> {
    /// Returns which of its settings do not go together on a network; none if channels are off.
    pub(super) fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        if self.channel_table.is_none() {
            return Vec::new();
        }
        [self.classes(network), self.queue(network), self.error(network)].into_iter().flatten().collect()
    }

    /// Returns the highest D_limit of a class that yields, relative to the delay of the empty path.
    fn highest_limit(&self) -> Span {
        self.width().times(u64::from(self.priorities - self.never_yield)) + self.head()
    }

    /// Classes without a channel of their own.
    fn classes(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let carried = network.classes;
        if carried <= u32::from(self.priorities) {
            return None;
        }
        let what = format!("packets carry {carried} classes, but there are {} channels", self.priorities);
        Some(Finding::new(Severity::Error, "priorities", what, format!("priorities = {carried}")))
    }

    /// A queue that is full before the delay reaches the highest D_limit: flows lose packets and do not yield. It is a
    /// warning if the memory that ports share would be large enough, of which a dynamic threshold gives a queue a part.
    fn queue(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let limit = self.highest_limit();
        let room = |port: &QueueFacts| Some((port.rate, port.room(&network.frame)?, port.memory));
        let short = |rate: Rate, bytes: u64| rate.serialize(bytes) < limit;
        let mut rooms = network.switch_ports.iter().filter_map(room);
        let (rate, bytes, memory) = rooms.find(|&(rate, bytes, _)| short(rate, bytes))?;
        let severity = match memory {
            Some(memory) if !short(rate, memory) => Severity::Warning,
            _ => Severity::Error,
        };
        let what = format!(
            "the highest D_limit is {} above the base delay, but a queue of {} is full after {} at {}",
            show_span(limit),
            show_bytes(bytes),
            show_span(rate.serialize(bytes)),
            show_rate(rate)
        );
        let fix = format!(
            "a buffer of which one queue holds at least {}, or fewer or narrower channels",
            show_bytes(rate.bytes_in(limit) + 1)
        );
        Some(Finding::new(severity, "buffer", what, fix).in_row(Row::Port))
    }

    /// An error of measured delays that channels have no room for.
    fn error(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let noise = network.noise.filter(|&noise| noise > self.noise)?;
        let what = format!(
            "the error of measured delays is up to {} (99.85th percentile), but channels have room for {}, so flows \
             yield to noise",
            show_span(noise),
            show_span(self.noise)
        );
        let fix = format!(
            "noise = \"{}\", with which channels are {} wide",
            show_span(noise),
            show_span(noise + self.fluctuation)
        );
        Some(Finding::warning("noise", what, fix))
    }
}
