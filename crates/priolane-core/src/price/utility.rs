//! TCP Reno's utility of a rate x (PACCP §II, Eqs. 2-3), which all of priolane's optima and utility plots use.
//!
//! ```text
//! alpha = 2 beta = 1 / RTT,  mu = one packet per RTT, per RTT
//! SSP   U(x) = x log(1 + alpha / beta) = x log 3
//! CAP   U(x) = (mu / beta + x)(log(mu + beta x) - 1) - x (log(beta x) - 1)
//!       U'(x) = log(1 + mu / (beta x)) = log(1 + 2 / W),  W = x RTT
//! ```
//!
//! x is in packets per second: another unit adds a constant to CAP's U and moves ratios of sums of utilities
//! (docs/assumptions.md#utility-units). V is of CAP's, as the paper's footnote 1 says.

use crate::units::{Rate, Span};

/// What makes a flow's utility of its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Round-trip time, above zero (zero is taken as 1 ps).
    pub rtt: Span,
    /// Bytes of a packet, above zero (zero is taken as 1).
    pub packet: u32,
}

impl Path {
    fn rtt_s(self) -> f64 {
        self.rtt.max(Span(1)).as_secs_f64()
    }

    /// Bits of a packet.
    pub(crate) fn packet_bits(self) -> f64 {
        8.0 * f64::from(self.packet.max(1))
    }

    /// mu / beta in bits per second: the rate of two packets per round-trip time.
    pub(crate) fn knee_bps(self) -> f64 {
        2.0 * self.packet_bits() / self.rtt_s()
    }

    /// SSP's utility of `bps` bits per second.
    #[cfg(test)]
    pub(crate) fn slow_start(self, bps: f64) -> f64 {
        bps / self.packet_bits() * libm::log(3.0)
    }

    /// CAP's utility of `bps` bits per second; at 0 its limit.
    pub fn avoidance(self, bps: f64) -> f64 {
        let (x, rtt) = (bps.max(0.0) / self.packet_bits(), self.rtt_s());
        let (mu, beta) = (1.0 / (rtt * rtt), 0.5 / rtt);
        let yielded = if x > 0.0 { x * (libm::log(beta * x) - 1.0) } else { 0.0 };
        (mu / beta + x) * (libm::log(mu + beta * x) - 1.0) - yielded
    }

    /// CAP's marginal utility at `bps` bits per second.
    #[cfg(test)]
    pub(crate) fn marginal(self, bps: f64) -> f64 {
        libm::log1p(self.knee_bps() / bps)
    }

    /// The rate, in bits per second, whose marginal utility is `price` (above 0).
    pub(crate) fn rate_at(self, price: f64) -> f64 {
        self.knee_bps() / libm::expm1(price)
    }

    /// The window of a rate, in packets.
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
    fn marginal_utility_is_log_of_one_and_two_over_the_window() {
        // 10,000 bits in 100 us is 100 Mbps: 1 Gbps is a window of 10, log(1.2).
        assert!((PATH.marginal(1e9) - libm::log(1.2)).abs() < 1e-12);
        assert!((PATH.window(Rate::from_gbps(1)) - 10.0).abs() < 1e-9);
        assert!((PATH.slow_start(1e9) - 1e5 * libm::log(3.0)).abs() < 1e-6);
    }
}
