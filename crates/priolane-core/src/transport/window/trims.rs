//! Losses that trimmed headers name (`recovery = "trims"`), at both ends of a flow.
//!
//! ```text
//! receiver  header without payload, of bytes that are missing ... report: an ACK with TRIMMED, the offset of the header
//!           of bytes that arrived, or of a flow that ended ..... ACK
//! sender    report of bytes in flight .......................... lost; the first begins a recovery (`on_loss`), each
//!                                                                calls `on_trim`; sent again before new data, the lowest
//!                                                                first, as the window allows
//!           una >= recover ..................................... Open; lost segments begin the next recovery
//! ```
//!
//! ACKs that arrive in another order than packets were sent say nothing of losses. A segment whose header is lost too
//! is repaired by the timer. The timer waits for the first segment not acknowledged: it starts again when that segment is
//! reported and when it is sent again, and not for the arrival of later ones.

use super::config::{Config, LossRecovery};
use super::controller::{CongestionControl, TrimEvent};
use super::recovery::State;
use super::sender::Sender;
use crate::transport::common::{Interval, Ranges};
use crate::units::{Span, Time};

/// A report of a trimmed segment, decoded for its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrimReport {
    pub(super) now: Time,
    /// The offset at which the segment begins.
    pub(super) offset: u64,
    pub(super) rtt: Span,
}

impl<C: CongestionControl> Sender<C> {
    /// Processes the report of a trimmed segment. Ignores it if the segment is not in flight.
    pub(super) fn on_trimmed(&mut self, report: &TrimReport, config: &Config) {
        let TrimReport { now, offset, rtt } = *report;
        if config.recovery != LossRecovery::Trims {
            return;
        }
        let Some(segment) = self.in_flight_at(offset, config) else { return };
        let in_flight = self.pipe();
        if matches!(self.state, State::Open) {
            self.begin_fast(self.una, now);
            self.repair_trimmed(Ranges::default());
        }
        let State::Recovery(recovery) = &mut self.state else { return };
        if !recovery.trim(segment) {
            return;
        }
        self.watch_first(segment, now, config);
        self.controller.on_trim(&TrimEvent { now, bytes: segment.len(), in_flight, rtt });
    }

    /// Returns the segment that begins at `offset`, if it was sent and did not arrive.
    fn in_flight_at(&self, offset: u64, config: &Config) -> Option<Interval> {
        let mss = u64::from(config.frame.mss());
        let is_awaited = (self.una..self.next).contains(&offset) && self.sacked.holding(offset).is_none();
        if !is_awaited || !(offset - self.flow_at(offset).1.start).is_multiple_of(mss) {
            return None;
        }
        self.sent_segment(offset, config).map(|segment| segment.interval())
    }

    /// Begins a recovery with the segments that are still lost after the one before, if there are any.
    pub(super) fn repair_rest(&mut self, trimmed: Ranges, now: Time) {
        if !trimmed.is_empty() {
            self.begin_fast(self.una, now);
            self.repair_trimmed(trimmed);
        }
    }

    fn repair_trimmed(&mut self, trimmed: Ranges) {
        if let State::Recovery(recovery) = &mut self.state {
            recovery.repair_trimmed(trimmed);
        }
    }

    /// Starts the timer again if `segment`, which was reported or is sent again, is the first not acknowledged.
    pub(super) fn watch_first(&mut self, segment: Interval, now: Time, config: &Config) {
        if config.recovery == LossRecovery::Trims && segment.start == self.una {
            self.deadline = now + self.rto.timeout(config);
        }
    }
}
