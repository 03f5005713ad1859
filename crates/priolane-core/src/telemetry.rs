//! In-band telemetry (INT): the port state that a departing packet records.
//!
//! ```text
//! at the start of service at t, the packet itself in neither number:
//!   queue   bytes still queued at the port
//!   sent    bytes that the port transmitted before
//! with t and the rate of the link
//! ```
//!
//! As HPCC's switches do (SIGCOMM 2019 §4.1), but with full integers where HPCC's fields have few bits. A transport's
//! [`Body`] decides which packets take a reading, and how many. Switch ports stamp only bodies with [`Body::STAMPED`];
//! other bodies cost nothing. Host links do not stamp (docs/assumptions.md#telemetry).
//!
//! [`Body`]: crate::packet::Body
//! [`Body::STAMPED`]: crate::packet::Body::STAMPED

use crate::units::{Rate, Time};

/// State of a switch port when the service of a packet starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopReading {
    /// Start of the service.
    pub at: Time,
    /// Bytes on the wire that remain queued at the port, over all its queues.
    pub queued_bytes: u64,
    /// Bytes on the wire that the port has transmitted before this packet.
    pub sent_bytes: u64,
    /// The rate of the port's link.
    pub rate: Rate,
}

impl Default for HopReading {
    /// Returns the reading of an idle port of 1 Gbps at the start of the run.
    fn default() -> Self {
        Self { at: Time::ZERO, queued_bytes: 0, sent_bytes: 0, rate: Rate::from_gbps(1) }
    }
}

/// Readings that a [`Path`] stores. A path through three tiers has five switches.
pub(crate) const MAX_HOPS: usize = 6;

/// The readings along a packet's path, in order, to be stored in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Entries from `hop_count` on are meaningless.
    hops: [HopReading; MAX_HOPS],
    /// Switch ports passed, including those without a stored reading.
    passed: u8,
}

impl Path {
    /// Adds a hop; beyond [`MAX_HOPS`] it is only counted.
    pub fn push(&mut self, reading: HopReading) {
        if let Some(place) = self.hops.get_mut(usize::from(self.passed)) {
            *place = reading;
        }
        self.passed = self.passed.saturating_add(1);
    }

    /// Iterates over the stored readings, the first switch first.
    pub fn hops(&self) -> impl Iterator<Item = &HopReading> {
        self.hops.iter().take(usize::from(self.passed))
    }

    /// Returns the number of switch ports passed, including those without a stored reading (saturates at 255).
    pub fn hop_count(&self) -> u8 {
        self.passed
    }
}

/// Storage for the readings in the packets of a transport.
pub trait Telemetry: Copy + Default + PartialEq + std::fmt::Debug + Send + 'static {
    /// Whether packets store readings. Default: yes.
    const STAMPED: bool = true;

    /// Adds the reading of a hop.
    fn take(&mut self, reading: HopReading);
}

/// Stores nothing.
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
        assert_eq!(path.hop_count(), 8);
        assert!(path.hops().copied().eq((0..6).map(reading)));
    }
}
