//! In-band telemetry in data packets and ACKs.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | switch ports passed |
//! | 32 each | a reading of each of the first 6 ports: time in ps (8), queued bytes (8), sent bytes (8), rate in bit/s, above 0 (8) |
//!
//! A port that stamps a packet increments the count and appends its reading, so the header of a data packet has room
//! for six ([`crate::wire::Sizes`]). Only switches that know the format write readings; between hosts alone the count
//! is 0.

use super::cursor::{Reader, Writer};
use super::error::{DecodeError, FieldRange};
use super::format::Format;
use crate::telemetry::{HopReading, MAX_HOPS, Path, Telemetry};
use crate::units::{Rate, Time};

/// Telemetry that can be encoded in a datagram.
pub trait WireTelemetry: Telemetry {
    /// The message format of window transports with this telemetry.
    const FORMAT: Format;

    /// The same with the rank of the packet; `None` if there is none.
    const RANKED: Option<Format>;

    /// The maximum length, in bytes.
    const MAX: u16;

    /// Writes the telemetry.
    fn encode(&self, out: &mut Writer<'_>);

    /// Reads the telemetry.
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// No telemetry.
impl WireTelemetry for () {
    const FORMAT: Format = Format::Window;

    const RANKED: Option<Format> = Some(Format::WindowRanked);

    const MAX: u16 = 0;

    fn encode(&self, _out: &mut Writer<'_>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

impl WireTelemetry for Path {
    const FORMAT: Format = Format::WindowInt;

    const RANKED: Option<Format> = None;

    const MAX: u16 = 1 + 32 * MAX_HOPS as u16;

    fn encode(&self, out: &mut Writer<'_>) {
        out.u8(self.hop_count());
        for hop in self.hops() {
            out.u64(hop.at.0);
            out.u64(hop.queued_bytes);
            out.u64(hop.sent_bytes);
            out.u64(hop.rate.bps());
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let passed = input.u8("ports passed")?;
        let mut path = Self::default();
        let mut last = HopReading::default();
        for hop in 0..usize::from(passed) {
            if hop < MAX_HOPS {
                last = reading(input)?;
            }
            // Beyond the stored readings, only the count grows.
            path.push(last);
        }
        Ok(path)
    }
}

fn reading(input: &mut Reader<'_>) -> Result<HopReading, DecodeError> {
    let at = Time(input.u64("time of a reading")?);
    let queued_bytes = input.u64("queued bytes of a reading")?;
    let sent_bytes = input.u64("sent bytes of a reading")?;
    let rate = input.u64("rate of a reading")?;
    let zero = FieldRange { field: "rate of a reading", value: rate, least: 1, most: u64::MAX };
    Ok(HopReading { at, queued_bytes, sent_bytes, rate: Rate::from_bps(rate).ok_or(zero)? })
}
