//! Cookies. A host that sends a cookie back proves that it receives datagrams at its address. No state of the host is
//! kept before.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

use priolane_core::units::{PS_PER_S, Time};

/// The time for which a cookie is handed out, in picoseconds. A cookie is accepted for the same time again.
const PERIOD_PS: u64 = 64 * PS_PER_S;

/// A value that a host must send back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cookie {
    /// The time at which the cookie was handed out, in periods, modulo 256.
    pub(crate) period: u8,
    pub(crate) value: u64,
}

/// Makes and checks cookies: SipHash of the fields of a greeting, with a secret that is drawn for each jar.
#[derive(Debug, Default)]
pub(crate) struct CookieJar {
    secret: RandomState,
}

/// The greeting that a cookie is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Greeter {
    pub(crate) address: SocketAddr,
    pub(crate) nonce: u64,
    pub(crate) bound: Bound,
}

/// The state of the two hosts that a cookie is bound to in addition to address and nonce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Bound {
    /// Without a key: the run of the greeting host.
    Run(u64),
    /// With a key: the current session of the two hosts, by the nonce of the host that is greeted. A new session makes
    /// earlier HELLOs void, so that a replayed HELLO causes no handshake.
    Session(Option<u64>),
}

impl CookieJar {
    fn cookie(&self, greeter: Greeter, period: u8) -> Cookie {
        Cookie { period, value: self.secret.hash_one((greeter, period)) }
    }

    /// Returns the cookie for a greeting that arrives at `now`.
    pub(crate) fn make(&self, greeter: Greeter, now: Time) -> Cookie {
        self.cookie(greeter, (now.0 / PERIOD_PS) as u8)
    }

    /// Returns whether the cookie of a greeting that arrives at `now` is valid.
    pub(crate) fn has(&self, greeter: Greeter, cookie: Cookie, now: Time) -> bool {
        let age = ((now.0 / PERIOD_PS) as u8).wrapping_sub(cookie.period);
        age <= 1 && self.cookie(greeter, cookie.period) == cookie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_holds_for_one_greeting_and_two_minutes() {
        let jar = CookieJar::default();
        let greeter = Greeter { address: "10.0.0.1:9".parse().unwrap(), nonce: 2, bound: Bound::Run(1) };
        let now = Time(500 * PS_PER_S);
        let cookie = jar.make(greeter, now);
        for (after, holds) in [(0, true), (64, true), (128, false), (64 * 255, false)] {
            assert_eq!(jar.has(greeter, cookie, Time(now.0 + after * PS_PER_S)), holds, "{after} s");
        }
        for other in [
            Greeter { address: "10.0.0.1:8".parse().unwrap(), ..greeter },
            Greeter { address: "10.0.0.2:9".parse().unwrap(), ..greeter },
            Greeter { bound: Bound::Run(3), ..greeter },
            Greeter { bound: Bound::Session(Some(1)), ..greeter },
            Greeter { bound: Bound::Session(None), ..greeter },
            Greeter { nonce: 3, ..greeter },
        ] {
            assert!(!jar.has(other, cookie, now));
        }
        assert!(!CookieJar::default().has(greeter, cookie, now), "of another host");
        assert!(!jar.has(greeter, Cookie::default(), now));
    }
}
