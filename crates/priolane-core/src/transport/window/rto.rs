//! The retransmission timeout (RFC 6298).
//!
//! ```text
//! first sample R    srtt = R, rttvar = R / 2                                              (§2.2)
//! later             rttvar = 3/4 rttvar + 1/4 |srtt - R|;  srtt = 7/8 srtt + 1/8 R        (§2.3)
//! timeout           clamp((srtt + 4 rttvar) 2^n, min_rto, max_rto)                        (§2.4, §2.5)
//! expiry            n += 1                                                                (§5.5)
//! ```
//!
//! Stamps tell which transmission an ACK answers, so every sample is valid (Karn's rule does not apply), and a
//! sample ends the back-off (§5, last paragraph).

use super::Config;
use crate::units::Span;

/// Number of doublings after which any timeout has reached its ceiling.
const MAX_DOUBLINGS: u8 = 40;

/// Round-trip estimate and back-off of a flow.
// Packed: every flow has one.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Rto {
    srtt: Span,
    rttvar: Span,
    doublings: u8,
    /// Expiries before the first sample, which waited for `initial_rto`; 255 if there are more.
    initial_expiries: u8,
    /// Expiries after which the reply to the original packet arrived.
    spurious: u16,
}

impl Rto {
    pub(super) const NEW: Self =
        Self { srtt: Span::ZERO, rttvar: Span::ZERO, doublings: 0, initial_expiries: 0, spurious: 0 };

    /// Returns the smoothed round-trip time; zero before the first sample.
    pub(super) fn srtt(&self) -> Span {
        self.srtt
    }

    /// Adds a sample (above zero) and ends the back-off.
    #[inline(always)]
    pub(super) fn sample(&mut self, rtt: Span) {
        self.doublings = 0;
        let Self { srtt, rttvar, .. } = *self;
        if srtt == Span::ZERO {
            self.srtt = rtt;
            self.rttvar = Span(rtt.0 / 2);
            return;
        }
        let error = srtt.0.abs_diff(rtt.0);
        self.rttvar = Span(rttvar.0 - rttvar.0 / 4 + error / 4);
        self.srtt = Span(srtt.0 - srtt.0 / 8 + rtt.0 / 8);
    }

    /// Counts an expiry and doubles the timeout.
    pub(super) fn back_off(&mut self) {
        if self.srtt() == Span::ZERO {
            self.initial_expiries = self.initial_expiries.saturating_add(1);
        }
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
    }

    /// Returns the number of expiries before the first sample, 255 if there are more.
    pub(super) fn initial_expiries(&self) -> u32 {
        u32::from(self.initial_expiries)
    }

    /// Counts expiries after which the reply to the original packet arrived.
    pub(super) fn add_spurious(&mut self, expiries: u32) {
        self.spurious = self.spurious.saturating_add(u16::try_from(expiries).unwrap_or(u16::MAX));
    }

    /// Returns the number of those expiries, 65,535 if there are more.
    pub(super) fn spurious(&self) -> u32 {
        u32::from(self.spurious)
    }

    /// Returns true if the timer has expired since the last sample.
    pub(super) fn backed_off(&self) -> bool {
        self.doublings > 0
    }

    /// Returns the timeout for a timer started now.
    #[inline(always)]
    pub(super) fn timeout(&self, config: &Config) -> Span {
        let Self { srtt, rttvar, doublings, .. } = *self;
        let estimate = match srtt {
            Span::ZERO => config.initial_rto,
            _ => Span(srtt.0.saturating_add(rttvar.0.saturating_mul(4))),
        };
        let longest = config.max_rto.max(config.min_rto);
        // Never zero, so that a timer always expires after the time it starts.
        estimate.max(config.min_rto).times(1 << doublings).min(longest).max(Span(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Frame;

    fn config() -> Config {
        Config {
            min_rto: Span(100),
            initial_rto: Span(700),
            max_rto: Span(5_000),
            ..Config::new(Frame::ETHERNET)
        }
    }

    #[test]
    fn estimate_follows_rfc_6298() {
        let mut rto = Rto::NEW;
        assert_eq!(rto.timeout(&config()), Span(700));
        rto.sample(Span(800));
        // 800 + 4 * 400.
        assert_eq!(rto.timeout(&config()), Span(2_400));
        rto.sample(Span(1_600));
        // rttvar = 400 - 100 + 800 / 4 = 500; srtt = 800 - 100 + 200 = 900; 900 + 2000.
        assert_eq!((rto.srtt(), rto.timeout(&config())), (Span(900), Span(2_900)));
    }

    #[test]
    fn expiries_before_the_first_sample_are_counted_apart() {
        let mut rto = Rto::NEW;
        (0..300).for_each(|_| rto.back_off());
        assert_eq!(rto.initial_expiries(), 255);
        let mut rto = Rto::NEW;
        rto.back_off();
        rto.back_off();
        rto.sample(Span(800));
        rto.back_off();
        assert_eq!(rto.initial_expiries(), 2);
    }

    #[test]
    fn timeout_is_floored_doubled_and_capped() {
        let mut rto = Rto::NEW;
        rto.sample(Span(8));
        assert_eq!(rto.timeout(&config()), Span(100));
        let doubled: Vec<u64> = (0..8).map(|_| (rto.back_off(), rto.timeout(&config()).0).1).collect();
        assert_eq!(doubled, [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
        rto.sample(Span(8));
        assert_eq!((rto.backed_off(), rto.timeout(&config())), (false, Span(100)));
    }
}
