//! In-band telemetry (INT): what a port tells a packet that leaves it.
//!
//! ```text
//! at the start of service at t, the packet itself in neither number:
//!   queue   bytes still queued at the port
//!   sent    bytes the port put on its line before
//! with t and the rate of the line
//! ```
//!
//! As HPCC's switches do (SIGCOMM 2019 §4.1), but with whole numbers where their fields are a few bits wide. Which
//! packets take a reading, and how many, is the business of a transport's [`Body`]: a body that has
//! [`Body::STAMPED`] is asked at every switch port, all others cost nothing. Hosts' lines stamp nothing
//! (docs/assumptions.md#telemetry).
//!
//! [`Body`]: crate::packet::Body
//! [`Body::STAMPED`]: crate::packet::Body::STAMPED

use crate::units::{Rate, Time};

/// What a switch port reads as a packet's service starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopReading {
    /// When the service starts.
    pub at: Time,
    /// Bytes on the wire that stay queued at the port, all its queues together.
    pub queued_bytes: u64,
    /// Bytes on the wire that the port has put on its line, this packet not counted.
    pub sent_bytes: u64,
    /// The rate of the port's line.
    pub rate: Rate,
}

impl Default for HopReading {
    /// An idle port of 1 Gbps at the start of the run.
    fn default() -> Self {
        Self { at: Time::ZERO, queued_bytes: 0, sent_bytes: 0, rate: Rate::from_gbps(1) }
    }
}

/// Hops that a [`Path`] keeps: a path through three tiers has five switches.
pub(crate) const MAX_HOPS: usize = 6;

/// The readings of a packet's way, in order, to be kept in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// As many as were passed, and then of no meaning.
    hops: [HopReading; MAX_HOPS],
    /// Switch ports passed, those beyond the last kept one counted.
    passed: u8,
}

impl Path {
    /// One more hop; beyond [`MAX_HOPS`] only counted.
    pub fn push(&mut self, reading: HopReading) {
        if let Some(place) = self.hops.get_mut(usize::from(self.passed)) {
            *place = reading;
        }
        self.passed = self.passed.saturating_add(1);
    }

    /// The readings kept, the first switch first.
    pub fn hops(&self) -> impl Iterator<Item = &HopReading> {
        self.hops.iter().take(usize::from(self.passed))
    }

    /// Switch ports passed, those whose readings found no room included (saturating at 255).
    pub fn passed(&self) -> u8 {
        self.passed
    }
}

/// What the packets of a transport keep of the readings.
pub trait Telemetry: Copy + Default + PartialEq + std::fmt::Debug + Send + 'static {
    /// Whether they keep any. Default: yes.
    const STAMPED: bool = true;

    /// One more hop.
    fn take(&mut self, reading: HopReading);
}

/// Nothing.
impl Telemetry for () {
    const STAMPED: bool = false;

    #[inline]
    fn take(&mut self, _reading: HopReading) {}
}

impl Telemetry for Path {
    #[inline]
    fn take(&mut self, reading: HopReading) {
        self.push(reading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_first_hops_in_order_and_counts_the_others() {
        let reading =
            |i| HopReading { at: Time(i), queued_bytes: 10 * i, sent_bytes: i, rate: Rate::from_gbps(1) };
        let mut path = Path::default();
        (0..8).for_each(|i| path.push(reading(i)));
        assert_eq!(path.passed(), 8);
        assert!(path.hops().copied().eq((0..6).map(reading)));
    }
}
