//! Pacing of a flow's packets.

use super::controller::SendPermission;
use crate::transport::common::pacing_base;
use crate::units::{Span, Time};

/// The send time of the last packet of a paced flow, or its due time: a real host makes up limited lateness.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Pacer {
    /// `Time::NEVER` before the first packet.
    last: Time,
    catch_up: Span,
}

impl Pacer {
    /// The state before the first packet; no lateness is made up.
    pub(in crate::transport) const NEW: Self = Self::with(Span::ZERO);

    /// Creates the state before the first packet; up to `catch_up` of lateness is made up.
    pub(in crate::transport) const fn with(catch_up: Span) -> Self {
        Self { last: Time::NEVER, catch_up }
    }

    /// Returns the state after a packet sent at `now`; `gate` returns the limit on that packet.
    #[inline]
    pub(in crate::transport) fn sent(self, now: Time, gate: impl FnOnce() -> SendPermission) -> Self {
        let due = if self.catch_up > Span::ZERO { gate() } else { SendPermission::Open };
        let last = match due {
            SendPermission::NotBefore(due) => pacing_base(due, now, self.catch_up),
            _ => now,
        };
        Self { last, ..self }
    }

    /// Returns when the last packet was sent or due; `None` before the first.
    #[inline]
    pub(in crate::transport) fn last(&self) -> Option<Time> {
        (self.last != Time::NEVER).then_some(self.last)
    }

    /// Returns when the next packet may be sent, `gap` picoseconds after the last.
    #[inline]
    pub(in crate::transport) fn after(&self, gap: impl FnOnce() -> f64) -> SendPermission {
        // Casts saturate.
        self.last().map_or(SendPermission::Open, |last| {
            SendPermission::NotBefore(Time(last.0.saturating_add(gap() as u64)))
        })
    }

    /// Returns when the next packet of a flow with a window of `cwnd` bytes may be sent. A window of less than a
    /// packet (`mss` bytes) sends one packet per round-trip time divided by the window in packets (Swift §3.4).
    #[inline]
    pub(in crate::transport) fn below_packet(&self, cwnd: f64, mss: u64, rtt: Span) -> SendPermission {
        let mss = mss as f64;
        if cwnd < mss { self.after(|| rtt.0 as f64 * mss / cwnd) } else { SendPermission::Open }
    }
}
