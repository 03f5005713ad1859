//! Pacing of the released code: by the rate at the last packet, and by the last ACK.
//!
//! ```text
//! rate   the window over the round-trip time of the empty path, at most the line rate. It is that at which the last
//!        packet was sent, also where the window has changed since
//! ACK    a window of w packets waits base (ceil(w) / w - 1) after the last ACK. An ACK that arrives that long after
//!        the one before it lets a packet go at once
//! ```

use crate::transport::window::{Pacer, SendPermission};
use crate::units::{Span, Time};

/// The time at which the next packet of a flow may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pacer: Pacer,
    /// The gap after the last packet.
    gap: Span,
    /// `None` before the first ACK, or without pacing by ACKs.
    acks: Option<Acks>,
    /// Whether a window that is not a whole number of packets also waits after the last ACK.
    by_ack: bool,
}

/// The last ACK and the one before it, if there was one.
#[derive(Clone, Copy, Debug)]
struct Acks {
    before: Option<Time>,
    last: Time,
}

impl Pace {
    /// The state before the first packet, paced by the rate and by ACKs.
    pub(super) const BY_ACKS: Self = Self { pacer: Pacer::NEW, gap: Span::ZERO, acks: None, by_ack: true };

    /// The state before the first packet, paced by the rate alone.
    pub(super) const BY_RATE: Self = Self { by_ack: false, ..Self::BY_ACKS };

    /// Makes up lateness of up to `catch_up` from now on.
    pub(super) fn make_up(&mut self, catch_up: Span) {
        self.pacer = Pacer::with(catch_up);
    }

    /// Records an ACK of data.
    pub(super) fn acknowledged(&mut self, now: Time) {
        if self.by_ack {
            let before = self.acks.map(|acks| acks.last);
            self.acks = Some(Acks { before, last: now });
        }
    }

    /// Records a packet sent at `now` with a window of `packets`; the path holds `bdp` packets in a round trip of
    /// `base`.
    pub(super) fn sent(&mut self, now: Time, base: Span, packets: f64, bdp: f64) {
        self.pacer = self.pacer.sent(now, || self.permission(base, packets));
        self.gap = part(base, 1.0 / packets.min(bdp));
    }

    /// Returns when a window of `packets` lets the next packet go; `base` is the round-trip time of the empty path.
    pub(super) fn permission(&self, base: Span, packets: f64) -> SendPermission {
        let paced = self.pacer.last().map(|last| after(last, self.gap));
        let Some(Acks { before, last }) = self.acks else {
            return paced.map_or(SendPermission::Open, SendPermission::NotBefore);
        };
        let hold = part(base, packets.ceil() / packets - 1.0);
        let paced = paced.unwrap_or(Time::ZERO);
        let at_once = paced <= last && before.is_none_or(|before| after(before, hold) <= last);
        SendPermission::NotBefore(if at_once { last } else { paced.max(after(last, hold)) })
    }
}

/// Returns `base` times `factor`.
fn part(base: Span, factor: f64) -> Span {
    // Casts saturate.
    Span((base.0 as f64 * factor).round() as u64)
}

fn after(time: Time, span: Span) -> Time {
    Time(time.0.saturating_add(span.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Span = Span::from_us(12);

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn the_gap_is_that_of_the_window_at_the_last_packet() {
        let mut pace = Pace::BY_RATE;
        assert_eq!(pace.permission(BASE, 0.5), SendPermission::Open);
        pace.sent(at(100), BASE, 0.5, 150.0);
        // Half a packet in 12 us, though the window has grown to six packets since.
        assert_eq!(pace.permission(BASE, 6.0), SendPermission::NotBefore(at(124)));
        pace.sent(at(124), BASE, 6.0, 150.0);
        assert_eq!(pace.permission(BASE, 0.5), SendPermission::NotBefore(at(126)));
        // At most the line rate: 12 us for 12 packets.
        pace.sent(at(126), BASE, 100.0, 12.0);
        assert_eq!(pace.permission(BASE, 100.0), SendPermission::NotBefore(at(127)));
    }

    #[test]
    fn a_broken_window_waits_after_the_last_ack_unless_acks_are_far_apart() {
        let mut pace = Pace::BY_ACKS;
        pace.sent(at(100), BASE, 6.0, 150.0);
        pace.acknowledged(at(120));
        // No ACK before it: at once.
        assert_eq!(pace.permission(BASE, 1.5), SendPermission::NotBefore(at(120)));
        pace.sent(at(120), BASE, 6.0, 150.0);
        // 12 us (2 / 1.5 - 1) = 4 us after the last ACK.
        assert_eq!(pace.permission(BASE, 1.5), SendPermission::NotBefore(at(124)));
        assert_eq!(pace.permission(BASE, 2.0), SendPermission::NotBefore(at(122)));
        pace.acknowledged(at(123));
        assert_eq!(pace.permission(BASE, 1.5), SendPermission::NotBefore(at(127)));
        pace.acknowledged(at(127));
        assert_eq!(pace.permission(BASE, 1.5), SendPermission::NotBefore(at(127)));
    }
}
