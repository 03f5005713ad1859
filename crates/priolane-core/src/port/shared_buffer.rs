//! A buffer shared by all ports of a switch, with dynamic thresholds (Choudhury and Hahne, IEEE/ACM ToN 6(2),
//! 1998).
//!
//! ```text
//! T = alpha (B - Q)        Q: bytes queued in the whole switch when the packet arrives
//! admitted iff q < T       q: bytes in the queue that the packet joins
//!          and Q + L <= B  L: size of the packet
//! ```
//!
//! A growing queue lowers the threshold of all queues, so that busy ports leave room for others. n queues with
//! unlimited demand converge to alpha B / (1 + n alpha) each, and B / (1 + n alpha) stays free.

use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// The limit of a queue as a multiple of the free bytes, a fraction above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpha {
    numerator: u32,
    denominator: u32,
}

impl Alpha {
    /// Creates `numerator / denominator`; `None` if either is zero.
    pub fn new((numerator, denominator): (u32, u32)) -> Option<Self> {
        (numerator > 0 && denominator > 0).then_some(Self { numerator, denominator })
    }

    /// Returns numerator and denominator as passed to `new`.
    pub fn parts(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// Returns alpha times `free` bytes, rounded down.
    pub fn of(self, FreeBytes(free): FreeBytes) -> u64 {
        let part = u128::from(free) * u128::from(self.numerator) / u128::from(self.denominator);
        part.min(u128::from(u64::MAX)) as u64
    }

    /// Returns true if `bytes` is at most the result of [`Self::of`]; avoids the division.
    #[inline]
    pub fn covers(self, bytes: u64, FreeBytes(free): FreeBytes) -> bool {
        u128::from(bytes) * u128::from(self.denominator) <= u128::from(free) * u128::from(self.numerator)
    }

    /// Returns true if a queue of `queued` bytes is below alpha times `free` bytes.
    #[inline]
    pub(crate) fn is_below(self, queued: u64, FreeBytes(free): FreeBytes) -> bool {
        u128::from(queued) * u128::from(self.denominator) < u128::from(free) * u128::from(self.numerator)
    }
}

/// A fraction with up to six decimals, so that thresholds are exact.
impl KeyValue for Alpha {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        const PARTS: u32 = 1_000_000;
        let parts = f64::read(value, &Bounds::whole(0, 1_000, "[0, 1000]"))? * f64::from(PARTS);
        let whole = parts.round();
        let (numerator, common) = (whole as u32, common_divisor(whole as u32, PARTS));
        match Self::new((numerator / common, PARTS / common)) {
            Some(alpha) if (parts - whole).abs() < 1e-6 => Ok(alpha),
            _ => Err(KeyError::new(
                "the value is not a valid alpha",
                "a number above 0 with at most six decimals, such as 1, \"1/8\" or 0.11",
            )),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(format!("{}/{}", self.numerator, self.denominator))
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Unused bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeBytes(pub u64);

/// The buffer that the ports of a switch share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// B, in bytes; packets in transmission are not counted.
    pub size: u64,
    /// The limit of a queue as a multiple of the free bytes.
    pub alpha: Alpha,
}

impl SharedBuffer {
    /// Returns true if a packet of `wire` bytes is admitted to a queue that holds `queue` of the `used` bytes.
    #[inline]
    pub fn admits(&self, Fill { used, queue }: Fill, wire: u16) -> bool {
        let free = self.size.saturating_sub(used);
        u64::from(wire) <= free && self.alpha.is_below(queue, FreeBytes(free))
    }
}

/// The fill level of a switch when a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Q, the bytes queued in the whole switch.
    pub used: u64,
    /// q, the bytes in the queue that the packet joins.
    pub queue: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: u64, alpha: (u32, u32)) -> SharedBuffer {
        SharedBuffer { size, alpha: Alpha::new(alpha).unwrap() }
    }

    #[test]
    fn a_queue_is_admitted_below_alpha_times_what_is_free() {
        // 12,000 of 16,000 B are free, alpha 1/4: the limit is 3000.
        let quarter = buffer(16_000, (1, 4));
        let at = |queue| quarter.admits(Fill { used: 4_000, queue }, 1000);
        assert_eq!((at(2_999), at(3_000)), (true, false));
        // alpha = 8 lets one queue take nearly all bytes, but never more than there are.
        let eight = buffer(16_000, (8, 1));
        let full = |used| eight.admits(Fill { used, queue: 0 }, 1000);
        assert_eq!((full(15_000), full(15_001), full(16_000)), (true, false, false));
        assert!(Alpha::new((0, 1)).is_none() && Alpha::new((1, 0)).is_none());
    }

    #[test]
    fn greedy_queues_settle_where_choudhury_and_hahne_say() {
        for (n, alpha) in [(1u64, (1, 1)), (4, (1, 1)), (8, (1, 4)), (3, (2, 1))] {
            let shared = buffer(1_000_000, alpha);
            let mut queues = vec![0u64; n as usize];
            let mut refused = 0;
            while refused < n as usize {
                refused = 0;
                for q in 0..queues.len() {
                    let used = queues.iter().sum();
                    let admitted = shared.admits(Fill { used, queue: queues[q] }, 100);
                    queues[q] += if admitted { 100 } else { 0 };
                    refused += usize::from(!admitted);
                }
            }
            let alpha = f64::from(alpha.0) / f64::from(alpha.1);
            let share = alpha * 1e6 / (1.0 + n as f64 * alpha);
            assert!(queues.iter().all(|&q| (q as f64 - share).abs() <= 200.0), "{queues:?}, {share}");
        }
    }

    #[test]
    fn less_in_the_switch_never_refuses_what_more_admits() {
        // So a switch may decide with an outdated, larger backlog: if that admits a packet, the smaller one does.
        let shared = buffer(50_000, (3, 7));
        for used in (0..50_000).step_by(777) {
            for queue in (0..20_000).step_by(501) {
                let admits = |used: u64| shared.admits(Fill { used, queue }, 1538);
                assert!(!admits(used) || admits(used - used / 3), "{used} {queue}");
            }
        }
    }
}
