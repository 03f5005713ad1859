//! The random time that packets take to leave a host.

use serde::{Serialize, Serializer};

use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};
use crate::packet::Frame;
use crate::quantity::{self, QuantityError, show_span};
use crate::units::{Rate, Span};

/// The longest random time between the end of a packet's transmission by a host and its departure on the wire. The time of
/// each packet is uniform below it, and packets keep their order (Floyd and Jacobson 1991).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendJitter {
    /// The same time at all hosts.
    Span(Span),
    /// Thousandths of the time that the largest packet takes on the host's line.
    PacketTimes(u32),
}

impl SendJitter {
    /// No random time.
    pub const NONE: Self = Self::Span(Span::ZERO);
    /// The time of one packet, the least that ends phase effects at all rates.
    pub const PACKET: Self = Self::PacketTimes(1_000);
    /// The most thousandths of a packet time: 16 packets.
    const MOST: u32 = 16_000;

    /// Returns the longest random time at a host with a line of `rate`.
    pub fn at(self, rate: Rate, frame: &Frame) -> Span {
        match self {
            Self::Span(span) => span,
            Self::PacketTimes(thousandths) => {
                let packet = rate.serialize(u64::from(frame.max_wire()));
                Span((u128::from(packet.0) * u128::from(thousandths) / 1_000) as u64)
            }
        }
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let fix = || {
            format!(
                "a time (\"100ns\"), or packet times of the host's line up to {}pkt (\"1pkt\")",
                Self::MOST / 1_000
            )
        };
        if !text.trim_end().ends_with("pkt") {
            return quantity::span(text)
                .map(Self::Span)
                .map_err(|error| QuantityError { fix: fix(), ..error });
        }
        let thousandths = quantity::packet_times(text)?;
        match u32::try_from(thousandths) {
            Ok(thousandths) if thousandths <= Self::MOST => Ok(Self::PacketTimes(thousandths)),
            _ => Err(QuantityError { what: format!("{text:?} is too long"), fix: fix() }),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Span(span) => show_span(span),
            Self::PacketTimes(thousandths) => quantity::show_packet_times(thousandths),
        }
    }
}

impl KeyValue for SendJitter {
    const UNIT: &'static str = "pkt or time";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        Ok(Self::parse(value.quantity("1pkt")?)?)
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Text(self.text())
    }

    fn schema() -> Schema {
        Schema::Quantity("1pkt")
    }
}

impl Serialize for SendJitter {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_times_are_those_of_the_host_s_line_and_times_are_the_same_at_all_rates() {
        let at = |jitter: SendJitter, gbps| jitter.at(Rate::from_gbps(gbps), &Frame::ETHERNET);
        // 1538 B: 1230.4 ns at 10 Gbps, 123.04 ns at 100 Gbps.
        assert_eq!(
            (at(SendJitter::PACKET, 10), at(SendJitter::PACKET, 100)),
            (Span(1_230_400), Span(123_040))
        );
        assert_eq!(at(SendJitter::PacketTimes(250), 10), Span(307_600));
        assert_eq!(at(SendJitter::Span(Span(77)), 10), at(SendJitter::Span(Span(77)), 100));
        assert_eq!(at(SendJitter::NONE, 10), Span::ZERO);
    }

    #[test]
    fn texts_are_read_as_they_are_written() {
        for text in ["1pkt", "0.5pkt", "0.25pkt", "0.001pkt", "16pkt", "100ns", "0ps", "3us"] {
            assert_eq!(SendJitter::parse(text).unwrap().text(), text);
        }
        assert_eq!(SendJitter::parse("0pkt").unwrap().at(Rate::from_gbps(1), &Frame::ETHERNET), Span::ZERO);
        for wrong in ["16.001pkt", "0.0001pkt", "1", "pkt", "-1pkt", "1pkts", "99999999999pkt", "1 KB"] {
            let error = SendJitter::parse(wrong).unwrap_err();
            assert!(!error.fix.is_empty(), "{wrong}: {error:?}");
        }
    }
}
