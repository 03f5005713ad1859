//! Pacing of a flow's packets.

use super::controller::SendPermission;
use crate::transport::common::paced_from;
use crate::units::{Span, Time};

/// When the last packet of a paced flow was sent, or was due: lateness is made up as far as a real host allows.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Pacer {
    /// `Time::NEVER` before the first packet.
    last: Time,
    catch_up: Span,
}

impl Pacer {
    /// Before the first packet; no lateness is made up.
    pub(in crate::transport) const NEW: Self = Self::with(Span::ZERO);

    /// Before the first packet; up to `catch_up` of lateness is made up.
    pub(in crate::transport) const fn with(catch_up: Span) -> Self {
        Self { last: Time::NEVER, catch_up }
    }

    /// The pacer after a packet sent at `now`; `gate` is what held that packet back.
    #[inline]
    pub(in crate::transport) fn sent(self, now: Time, gate: impl FnOnce() -> SendPermission) -> Self {
        let due = if self.catch_up > Span::ZERO { gate() } else { SendPermission::Open };
        let last = match due {
            SendPermission::NotBefore(due) => paced_from(due, now, self.catch_up),
            _ => now,
        };
        Self { last, ..self }
    }

    /// When the last packet was sent or due, if there was one.
    #[inline]
    pub(in crate::transport) fn last(&self) -> Option<Time> {
        (self.last != Time::NEVER).then_some(self.last)
    }

    /// When the next packet may go, `gap` picoseconds after the last.
    #[inline]
    pub(in crate::transport) fn after(&self, gap: impl FnOnce() -> f64) -> SendPermission {
        // Casts saturate.
        self.last().map_or(SendPermission::Open, |last| {
            SendPermission::NotBefore(Time(last.0.saturating_add(gap() as u64)))
        })
    }

    /// When the next packet of a flow with a window of `cwnd` of `mss` bytes may go: a window below a packet lets one
    /// go in each round trip over the window (Swift §3.4).
    #[inline]
    pub(in crate::transport) fn below_packet(&self, cwnd: f64, mss: u64, rtt: Span) -> SendPermission {
        let mss = mss as f64;
        if cwnd < mss { self.after(|| rtt.0 as f64 * mss / cwnd) } else { SendPermission::Open }
    }
}
