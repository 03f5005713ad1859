//! What numbers of reports are in.

use serde::Serialize;

use super::path::{Cost, Of, OfCoflows, Ported, Quantity, Rated, Timely};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// None: a ratio, a share, a count.
    #[serde(rename = "1")]
    One,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Billions of bits per second.
    #[serde(rename = "Gbit/s")]
    Gbps,
}

impl Quantity {
    /// What its values are in.
    pub fn unit(self) -> Unit {
        match self {
            Self::Fct
            | Self::FctAcked
            | Self::FctPercentile(_)
            | Self::DataWait
            | Self::Ports(Ported::Wait) => Unit::Seconds,
            Self::Coflows(of) => match of {
                OfCoflows::Cct | OfCoflows::P50 | OfCoflows::P95 | OfCoflows::P99 => Unit::Seconds,
                OfCoflows::Gain | OfCoflows::SpeedUp | OfCoflows::Finished => Unit::One,
            },
            Self::Thresholds(Of::Class | Of::Host)
            | Self::Order(Cost::QueueP99 | Cost::QueueMax)
            | Self::Ports(Ported::MaxQueue | Ported::QueueBound) => Unit::Bytes,
            Self::Rates(Rated::Rate | Rated::Host | Rated::Promised)
            | Self::Effective(Timely::Rate)
            | Self::Throughput => Unit::Gbps,
            _ => Unit::One,
        }
    }
}
