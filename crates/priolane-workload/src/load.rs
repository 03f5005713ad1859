//! Offered load: the links it is relative to, and which bytes count.
//!
//! ```text
//! host:  flows/s of a source = value * host rate / E[bits of a flow]
//! core:  flows/s of a source = value * core rate / (E[bits of a flow] * sum over sources of P(other rack))
//! ```
//!
//! `E` is the mean over sizes rounded to whole bytes. The bytes of a flow on the wire are its data packets with
//! headers, padding and gaps, without ACKs and retransmissions (docs/assumptions.md#load-counts).

use priolane_core::keys::{
    Bounds, Form, InTable, KeyError, KeyValue, Keys, Schema, Value, Words, WrittenValue,
};
use priolane_core::packet::Frame;
use priolane_core::sizes::{Segment, SizeDistribution, whole_bytes};
use serde::Deserialize;

use super::error::AppError;

/// The links that a load is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadOf {
    /// The link of each sending host.
    Host,
    /// All links from racks up into the fabric together; traffic within a rack does not count.
    Core,
}

/// The bytes that a load counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Payload bytes only.
    Payload,
    /// Data packets as they are on the wire: headers, padding and gaps.
    Wire,
}

/// An offered load.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(group = "load")]
pub struct Load {
    /// The links that the load is relative to.
    #[key(required = "of = \"host\"")]
    pub of: LoadOf,
    /// Which bytes it counts.
    #[key(required = "counts = \"payload\"")]
    pub counts: Counts,
    /// The load as a fraction, above 0 and at most 20; above 1 is overload.
    #[key(required = "value = 0.6", form = Share)]
    pub value: f64,
}

/// A load in a table of its own; a plain number, which does not name the links, is rejected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadTable;

impl Form<Load> for LoadTable {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Load, KeyError> {
        if let Ok(number) = f64::read(value, &Bounds::ANY) {
            let fix = format!("load = {{ of = \"host\", counts = \"payload\", value = {number} }}");
            return Err(KeyError::new("a number alone does not define what it is a share of", fix));
        }
        InTable::read(value, bounds)
    }

    fn write(value: &Load) -> WrittenValue {
        InTable::write(value)
    }

    fn schema() -> Schema {
        <InTable as Form<Load>>::schema()
    }
}

/// A load as a fraction, above 0 and at most 20.
#[derive(Clone, Copy, Debug)]
pub struct Share;

impl Form<f64> for Share {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<f64, KeyError> {
        let share = f64::read(value, &Bounds::ANY)?;
        if share > 0.0 && share <= Load::MAX {
            return Ok(share);
        }
        let fix = "a share above 0 and at most 20, such as 0.6 for 60 %";
        Err(KeyError::new(format!("the load {share} is out of range"), fix))
    }

    fn write(value: &f64) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

impl Load {
    /// The largest fraction; larger values are probably meant as per cent (docs/assumptions.md#load-limit).
    const MAX: f64 = 20.0;

    pub(crate) fn check(&self) -> Result<(), AppError> {
        if self.value > 0.0 && self.value <= Self::MAX { Ok(()) } else { Err(AppError::Load(self.value)) }
    }
}

/// Returns the mean of the bytes of a flow that count.
pub fn mean_bytes(sizes: &SizeDistribution, counts: Counts, frame: &Frame) -> f64 {
    let tally = Tally::new(counts, frame);
    sizes.segments().map(|segment| segment.mass * tally.mean(segment)).sum()
}

/// Computes the bytes of a flow of integer size, and their sum over sizes.
struct Tally {
    mss: u64,
    full: u64,
    /// The bytes of a last packet with `i` payload bytes, and the sum over all of at most `i`.
    tails: Vec<(u64, u64)>,
}

impl Tally {
    fn new(counts: Counts, frame: &Frame) -> Self {
        let (mss, mut sum) = (frame.mss(), 0);
        let mut bytes = |payload: u16| {
            let bytes = match (counts, payload) {
                (_, 0) => 0,
                (Counts::Payload, _) => u64::from(payload),
                (Counts::Wire, _) => u64::from(frame.data_wire(payload)),
            };
            sum += bytes;
            (bytes, sum)
        };
        let mut tails: Vec<(u64, u64)> = (0..=mss).map(&mut bytes).collect();
        let full = tails.pop().map_or(0, |(bytes, _)| bytes);
        Self { mss: u64::from(mss), full, tails }
    }

    /// Returns the bytes of a flow of `size`.
    fn bytes(&self, size: u64) -> f64 {
        (size / self.mss * self.full + self.tails[(size % self.mss) as usize].0) as f64
    }

    /// Returns the total bytes of flows of sizes 1, 2 .. `size`.
    fn sum(&self, size: u64) -> u128 {
        let (whole, rest) = (u128::from(size / self.mss), size % self.mss);
        let packets =
            u128::from(self.mss) * whole * whole.saturating_sub(1) / 2 + whole * u128::from(rest + 1);
        let (_, all) = self.tails[self.tails.len() - 1];
        packets * u128::from(self.full) + whole * u128::from(all) + u128::from(self.tails[rest as usize].1)
    }

    /// Returns the mean over a segment with rounded sizes: size `k` has the probability mass in k - 1/2 .. k + 1/2.
    fn mean(&self, segment: Segment) -> f64 {
        let Segment { low, high, .. } = segment;
        let (first, last) = (low.round(), high.round());
        if first == last {
            return self.bytes(whole_bytes(low));
        }
        let ends = (first + 0.5 - low) * self.bytes(whole_bytes(first))
            + (high - last + 0.5) * self.bytes(whole_bytes(last));
        let between = self.sum(last as u64 - 1) - self.sum(first as u64);
        (ends + between as f64) / (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::sizes::{Interpolation, Point};

    #[test]
    fn mean_bytes_is_the_sum_over_whole_sizes() {
        let rows = [(0.0, 0.1), (7.3, 0.2), (7.3, 0.3), (1459.6, 0.5), (1461.0, 0.6), (9000.4, 1.0)];
        let points = rows.map(|(bytes, cdf)| Point { bytes, cdf }).to_vec();
        for interpolation in [Interpolation::Linear, Interpolation::Step] {
            let sizes = SizeDistribution::new(points.clone(), interpolation).unwrap();
            let (mut payload, mut wire) = (0.0, 0.0);
            for k in 1..=9000u64 {
                // Size k has the mass in k - 1/2 .. k + 1/2, and size 1 also the mass below.
                let below = if k == 1 { 0.0 } else { sizes.cdf(k as f64 - 0.5) };
                let mass = sizes.cdf(k as f64 + 0.5) - below;
                payload += mass * k as f64;
                wire += mass * Frame::ETHERNET.stream_wire(k) as f64;
            }
            let mean = |counts| mean_bytes(&sizes, counts, &Frame::ETHERNET);
            assert!((mean(Counts::Payload) / payload - 1.0).abs() < 1e-9, "{interpolation:?}");
            assert!((mean(Counts::Wire) / wire - 1.0).abs() < 1e-9, "{interpolation:?}");
            assert!((payload - sizes.mean()).abs() < 1.0);
        }
    }
}
