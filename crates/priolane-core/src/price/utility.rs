//! TCP Reno's utility of a rate x (PACCP §II, Eqs. 2-3), used by all optima and utility plots of priolane.
//!
//! ```text
//! alpha = 2 beta = 1 / RTT,  mu = one packet per RTT, per RTT
//! SSP   U(x) = x log(1 + alpha / beta) = x log 3
//! CAP   U(x) = (mu / beta + x)(log(mu + beta x) - 1) - x (log(beta x) - 1)
//!       U'(x) = log(1 + mu / (beta x)) = log(1 + 2 / W),  W = x RTT
//! ```
//!
//! x is in packets per second: another unit adds a constant to CAP's U and changes ratios of sums of utilities
//! (docs/assumptions.md#utility-units). V uses CAP's utility, as in the paper's footnote 1.

use crate::units::{Rate, Span};

/// The parameters of a flow's utility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Round-trip time, above zero (zero is taken as 1 ps).
    pub rtt: Span,
    /// Packet size in bytes, above zero (zero is taken as 1).
    pub packet: u32,
}

impl Path {
    fn rtt_s(self) -> f64 {
        self.rtt.max(Span(1)).as_secs_f64()
    }

    /// Returns the packet size in bits.
    pub(crate) fn packet_bits(self) -> f64 {
        8.0 * f64::from(self.packet.max(1))
    }

    /// Returns mu / beta in bits per second: the rate of two packets per round-trip time.
    pub(crate) fn knee_bps(self) -> f64 {
        2.0 * self.packet_bits() / self.rtt_s()
    }

    /// Returns SSP's utility of `bps` bits per second.
    #[cfg(test)]
    pub(crate) fn slow_start(self, bps: f64) -> f64 {
        bps / self.packet_bits() * libm::log(3.0)
    }

    /// Returns CAP's utility of `bps` bits per second; at 0 its limit.
    pub fn avoidance(self, bps: f64) -> f64 {
        let (x, rtt) = (bps.max(0.0) / self.packet_bits(), self.rtt_s());
        let (mu, beta) = (1.0 / (rtt * rtt), 0.5 / rtt);
        let yielded = if x > 0.0 { x * (libm::log(beta * x) - 1.0) } else { 0.0 };
        (mu / beta + x) * (libm::log(mu + beta * x) - 1.0) - yielded
    }

    /// Returns CAP's marginal utility at `bps` bits per second.
    #[cfg(test)]
    pub(crate) fn marginal(self, bps: f64) -> f64 {
        libm::log1p(self.knee_bps() / bps)
    }

    /// Returns the rate, in bits per second, with the marginal utility `price` (above 0).
    pub(crate) fn rate_at(self, price: f64) -> f64 {
        self.knee_bps() / libm::expm1(price)
    }

    /// Returns the window of a rate, in packets.
    pub fn window(self, rate: Rate) -> f64 {
        rate.bps() as f64 / self.packet_bits() * self.rtt_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { rtt: Span::from_us(100), packet: 1_250 };

    #[test]
    fn marginal_utility_is_the_slope_of_utility() {
        for bps in [1e8, 1e9, 7e9] {
            let step = bps * 1e-5;
            let rise = PATH.avoidance(bps + step) - PATH.avoidance(bps - step);
            let slope = rise / (2.0 * step / 10_000.0);
            assert!((slope / PATH.marginal(bps) - 1.0).abs() < 1e-6, "{slope} {}", PATH.marginal(bps));
            assert!((PATH.rate_at(PATH.marginal(bps)) / bps - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn utility_at_no_rate_is_its_limit() {
        // mu / beta (log(mu) - 1), with 100 us: mu = 1e8, beta = 5e3.
        let limit = 2e4 * (libm::log(1e8) - 1.0);
        assert!((PATH.avoidance(0.0) - limit).abs() < 1e-6 * limit);
        assert_eq!(PATH.avoidance(-5.0).to_bits(), PATH.avoidance(0.0).to_bits());
        assert!((PATH.avoidance(1e-3) - limit).abs() < 1e-6 * limit);
    }

    #[test]
    fn marginal_utility_is_log_of_one_and_two_over_the_window() {
        // 10,000 bits in 100 us is 100 Mbps: 1 Gbps is a window of 10, so log(1.2).
        assert!((PATH.marginal(1e9) - libm::log(1.2)).abs() < 1e-12);
        assert!((PATH.window(Rate::from_gbps(1)) - 10.0).abs() < 1e-9);
        assert!((PATH.slow_start(1e9) - 1e5 * libm::log(3.0)).abs() < 1e-6);
    }
}
