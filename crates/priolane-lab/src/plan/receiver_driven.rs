//! From the keys of receiver-driven transports to their parameters.

use priolane_core::packet::Frame;
use priolane_core::transport::{Transport, homa, ndp, phost};

use crate::scheme::{FreeTokens, Homa, Ndp, PHost, Pull, TransportKind};

/// Packet times in thousandths.
fn thousandths(times: f64) -> u32 {
    (times * 1e3).round() as u32
}

fn some(packets: u16) -> Option<u16> {
    (packets > 0).then_some(packets)
}

/// The transport of this kind; `None` for those on the window machine.
pub(super) fn transport(kind: &TransportKind, frame: Frame) -> Option<Transport> {
    match kind {
        TransportKind::Ndp(keys) => Some(Transport::Ndp(ndp(keys, frame))),
        TransportKind::Homa(keys) => Some(Transport::Homa(homa(keys, frame))),
        TransportKind::PHost(keys) => Some(Transport::PHost(phost(keys, frame))),
        _ => None,
    }
}

fn phost(keys: &PHost, frame: Frame) -> phost::Config {
    phost::Config {
        frame,
        bdp: some(keys.bdp),
        free: match keys.free {
            FreeTokens::Every => phost::Free::Every,
            FreeTokens::ShortOnly => phost::Free::ShortOnly,
        },
        expiry_milli: thousandths(keys.expiry),
        relax_milli: thousandths(keys.relax),
        retry: keys.retry,
    }
}

fn ndp(keys: &Ndp, frame: Frame) -> ndp::Config {
    let pull = match keys.pull {
        Pull::Fair => ndp::PullOrder::Fair,
        Pull::ByClass => ndp::PullOrder::ByClass,
    };
    let pull_rate_ppm = keys.pull_rate;
    ndp::Config { frame, init_window: some(keys.window), pull, pull_rate_ppm, rto: keys.rto }
}

fn homa(keys: &Homa, frame: Frame) -> homa::Config {
    homa::Config {
        frame,
        levels: keys.levels(),
        rtt_bytes: (keys.rtt_bytes > 0).then_some(keys.rtt_bytes),
        overcommit: keys.overcommit,
        resend: keys.resend,
        retry: keys.retry,
    }
}
