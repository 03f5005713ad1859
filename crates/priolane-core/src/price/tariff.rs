//! Price of a pair (theta, w) (PACCP §IV-A, §IV-B).
//!
//! ```text
//! VBP   per VM and second      P = P0 + P1 (w - 1) + P2 theta
//! FBP   per VM and second      P0 for best effort, upfront
//!       per flow and second    P^s = P0s + P1s (w - 1) + P2s theta  while it is above best effort, else 0
//! P2, P2s   per bit            charge = reserved: theta, sent or not; sent: bits sent by a flow with a minimum rate
//! ```
//!
//! The paper calls P2 a price per unit of data and multiplies it with a rate: docs/assumptions.md#p2-charge.

use super::Cos;
use crate::endpoint::Weights;
use crate::keys::Words;
use crate::units::{PS_PER_S, Span};

/// Prices in one currency, of a VM under VBP or of a flow under FBP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tariff {
    /// P0: per second, 0 or more.
    pub p0: f64,
    /// P1: per second and unit of weight above 1, 0 or more. The paper suggests 0.6 P0 (§V-B).
    pub p1: f64,
    /// P2: per bit, 0 or more.
    pub p2: f64,
    /// The bits that P2 counts.
    pub charge: Charge,
}

/// The bits that a price per unit of data counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Charge {
    /// The bits of the minimum rate, sent or not.
    #[default]
    Reserved,
    /// The bits sent with a minimum rate.
    Sent,
}

/// A price that is negative or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the price {0} is negative or not finite")]
pub struct NegativePrice(pub &'static str);

impl Tariff {
    /// Checks that every price is a number of at least zero.
    ///
    /// # Errors
    /// The first price that is not.
    pub fn check(&self) -> Result<(), NegativePrice> {
        let prices = [("p0", self.p0), ("p1", self.p1), ("p2", self.p2)];
        match prices.iter().find(|(_, price)| !(*price >= 0.0 && price.is_finite())) {
            Some(&(name, _)) => Err(NegativePrice(name)),
            None => Ok(()),
        }
    }

    /// Returns the price of `pair` per second if all it reserves is charged. A weight below 1 is charged as 1.
    pub fn per_second(&self, pair: Weights) -> f64 {
        self.p0 + self.p1 * (pair.w() - 1.0).max(0.0) + self.p2 * pair.theta_bps() as f64
    }

    /// Returns the bill for `usage`.
    pub fn bill(&self, usage: &Usage) -> Bill {
        let bits = match self.charge {
            Charge::Reserved => usage.reserved_bits(),
            Charge::Sent => usage.sent_bits as f64,
        };
        Bill {
            base: self.p0 * usage.seconds(),
            weight: self.p1 * usage.weight_seconds(),
            rate: self.p2 * bits,
        }
    }
}

/// An amount due, by price component.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Bill {
    /// The P0 component.
    pub base: f64,
    /// The P1 component.
    pub weight: f64,
    /// The P2 component.
    pub rate: f64,
}

impl Bill {
    /// Returns the total.
    pub fn total(&self) -> f64 {
        self.base + self.weight + self.rate
    }
}

/// Usage, metered over time in whole units: additive in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Usage {
    /// Time, in picoseconds.
    time_ps: u128,
    /// Integral of max(w - 1, 0), in thousandths times picoseconds.
    weight: u128,
    /// Integral of theta, in bits per second times picoseconds.
    theta: u128,
    sent_bits: u128,
}

impl Usage {
    /// Adds a `span` of time with `pair`.
    pub fn add(&mut self, pair: Weights, span: Span) {
        let span = u128::from(span.0);
        self.time_ps += span;
        self.weight += u128::from(pair.w_milli.saturating_sub(1_000)) * span;
        self.theta += u128::from(pair.theta_bps()) * span;
    }

    /// Adds `bytes` sent with `pair`; counts only pairs with a minimum rate.
    pub fn send(&mut self, pair: Weights, bytes: u64) {
        if Cos::of(pair) == Cos::MinimumRate {
            self.sent_bits += 8 * u128::from(bytes);
        }
    }

    /// Adds the usage of another meter.
    pub fn merge(&mut self, other: &Self) {
        self.time_ps += other.time_ps;
        self.weight += other.weight;
        self.theta += other.theta;
        self.sent_bits += other.sent_bits;
    }

    /// Returns the time in seconds.
    pub fn seconds(&self) -> f64 {
        self.time_ps as f64 / PS_PER_S as f64
    }

    /// Returns the integral of max(w - 1, 0), in seconds.
    pub fn weight_seconds(&self) -> f64 {
        self.weight as f64 / 1e3 / PS_PER_S as f64
    }

    /// Returns the bits sent with a minimum rate.
    pub fn sent_bits(&self) -> f64 {
        self.sent_bits as f64
    }

    /// Returns the bits reserved by minimum rates.
    pub fn reserved_bits(&self) -> f64 {
        self.theta as f64 / PS_PER_S as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// The paper's P1 = 0.6 P0, with P0 = 1, and 10^-9 per bit of a minimum rate.
    const TARIFF: Tariff = Tariff { p0: 1.0, p1: 0.6, p2: 1e-9, charge: Charge::Reserved };

    fn pair(gbps: u64, w_milli: u32) -> Weights {
        Weights { theta: Rate::from_bps(gbps * 1_000_000_000), w_milli }
    }

    /// Property 20: prices are linear, and 1.6 for w = 2.
    #[test]
    fn prices_of_the_classes() {
        // P0; P0 + 0.6; P0 + 0.6 + 2 Gbps * 10^-9.
        let prices = [pair(0, 1_000), pair(0, 2_000), pair(2, 2_000)].map(|p| TARIFF.per_second(p));
        for (price, expected) in prices.into_iter().zip([1.0, 1.6, 3.6]) {
            assert!((price - expected).abs() < 1e-12);
        }
        let step = |w| TARIFF.per_second(pair(0, w + 1_000)) - TARIFF.per_second(pair(0, w));
        assert!((step(1_000) - step(6_000)).abs() < 1e-12);
    }

    #[test]
    fn a_bill_is_metered_over_time() {
        let mut usage = Usage::default();
        usage.add(pair(0, 1_000), Span::from_ms(1_000));
        usage.add(pair(2, 3_000), Span::from_ms(500));
        usage.send(pair(2, 3_000), 50_000_000);
        usage.send(pair(0, 3_000), 1_000_000);
        // 1.5 s; 0.5 s of w - 1 = 2; 0.5 s of 2 Gbps = 10^9 bits reserved, 4 * 10^8 sent.
        let bill = TARIFF.bill(&usage);
        assert_eq!((bill.base, bill.weight, bill.rate), (1.5, 0.6, 1.0));
        let sent = Tariff { charge: Charge::Sent, ..TARIFF }.bill(&usage);
        assert!((sent.rate - 0.4).abs() < 1e-12 && (sent.total() - 2.5).abs() < 1e-12);
    }

    #[test]
    fn negative_prices_are_refused() {
        assert_eq!(Tariff { p1: -0.1, ..TARIFF }.check(), Err(NegativePrice("p1")));
        assert_eq!(Tariff { p2: f64::NAN, ..TARIFF }.check(), Err(NegativePrice("p2")));
        assert_eq!(TARIFF.check(), Ok(()));
    }
}
