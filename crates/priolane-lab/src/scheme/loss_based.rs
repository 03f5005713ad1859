//! The keys of transports that go by losses and marks: DCTCP, D2TCP, PACCP, and PACCP under DCTCP's cuts.

use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::paccp::RttOf;
use serde::Serialize;

use priolane_source::{InputError, Reader};

/// The keys of Data Center TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Dctcp {
    /// Weight of a new estimate of the marked fraction.
    pub g: f64,
    /// The estimate before the first window.
    pub alpha_0: f64,
    /// Floor of the window after a cut, in packets.
    pub min_window: u32,
    /// How a cut takes effect.
    pub reduction: Reduction,
}

/// The keys of deadline-aware Data Center TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct D2tcp {
    /// Those of DCTCP.
    #[serde(flatten)]
    pub dctcp: Dctcp,
    /// The urgency of flows whose deadline has passed.
    pub late: f64,
}

/// The keys of PACCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paccp {
    /// How much faster a window below its minimum grows.
    pub r_cos: f64,
    /// Whether congestion avoidance follows Eq. 11.
    pub exact_cap: bool,
    /// The round-trip time of a minimum window.
    pub rtt: RttOf,
}

/// The keys of DCTCP over PACCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PaccpDctcp {
    /// How the window grows and what a loss takes.
    #[serde(flatten)]
    pub paccp: Paccp,
    /// How much of that a mark takes.
    #[serde(flatten)]
    pub dctcp: Dctcp,
}

/// DCTCP's keys.
pub(super) const DCTCP_KEYS: &[&str] = &["g", "alpha_0", "min_window", "reduction"];

/// PACCP's keys.
pub(super) const PACCP_KEYS: &[&str] = &["r_cos", "exact_cap", "rtt"];

const REDUCTIONS: [(&str, Reduction); 3] =
    [("at_once", Reduction::AtOnce), ("proportional", Reduction::Proportional), ("ns3", Reduction::Ns3)];

const RTTS: [(&str, RttOf); 2] = [("smoothed", RttOf::Smoothed), ("base", RttOf::Base)];

impl Dctcp {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let g = match keys.take("g") {
            None => 0.0625,
            Some(field) => match field.number(0.0, 1.0)? {
                0.0 => {
                    return Err(field.error(
                        "g is zero, so alpha never moves",
                        "above 0 and at most 1, such as \"1/16\"",
                    ));
                }
                g => g,
            },
        };
        Ok(Self {
            g,
            alpha_0: keys.take("alpha_0").map_or(Ok(1.0), |f| f.number(0.0, 1.0))?,
            min_window: keys.take("min_window").map_or(Ok(2), |f| f.integer(1, 1_000))? as u32,
            reduction: keys.word_or("reduction", &REDUCTIONS, Reduction::AtOnce)?,
        })
    }
}

impl D2tcp {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let late = keys.take("late").map_or(Ok(0.5), |f| f.number(0.5, 2.0))?;
        Ok(Self { dctcp: Dctcp::read(keys)?, late })
    }
}

impl Paccp {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let r_cos = match keys.take("r_cos") {
            None => 3.0,
            Some(field) => match field.number(1.0, 100.0)? {
                1.0 => {
                    return Err(field.error("r_cos is 1, so no minimum rate is kept", "above 1, such as 3"));
                }
                r_cos => r_cos,
            },
        };
        Ok(Self {
            r_cos,
            exact_cap: keys.take("exact_cap").map_or(Ok(false), |f| f.truth())?,
            rtt: keys.word_or("rtt", &RTTS, RttOf::Smoothed)?,
        })
    }
}

impl PaccpDctcp {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        Ok(Self { paccp: Paccp::read(keys)?, dctcp: Dctcp::read(keys)? })
    }
}
