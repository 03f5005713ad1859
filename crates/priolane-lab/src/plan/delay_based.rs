//! From the keys of delay-based transports to their parameters.

use priolane_core::transport::delay::Size;
use priolane_core::transport::{hpcc, ledbat, new_reno, prioplus, swift};
use priolane_core::units::Span;

use crate::scheme::{FirstWindow, Hpcc, Ledbat, PrioPlus, Swift, TargetFrom};

/// Segments in the first window where nothing is said, as NewReno's.
const FIRST_SEGMENTS: u64 = 10;

pub(super) fn swift(keys: &Swift, reno: new_reno::Config, mss: u64) -> swift::Config {
    let first = reno.init_window.unwrap_or(FIRST_SEGMENTS * mss) as f64 / mss as f64;
    let some = |span: Span| (span > Span::ZERO).then_some(span);
    swift::Config {
        signal: keys.delay,
        init_window: match keys.start {
            FirstWindow::InitWindow => Size::Packets(first),
            FirstWindow::LineRate => Size::Bdp(1.0),
        },
        ai: keys.ai.0,
        target: match keys.target_from {
            TargetFrom::Total => swift::Target::Total(keys.target),
            TargetFrom::Base => swift::Target::AboveBase(keys.target),
        },
        hop: keys.hop,
        class_step: keys.class_step,
        flow_scaling: some(keys.fs_range).map(|range| swift::FlowScaling {
            range,
            min: keys.fs_min.0,
            max: keys.fs_max.0,
        }),
        beta: keys.beta,
        max_mdf: keys.max_mdf,
        min_window: keys.min_cwnd.0,
        max_window: keys.max_cwnd.0,
        whole: keys.whole(),
        endpoint_target: some(keys.endpoint_target),
        retx_reset: keys.retx_reset,
    }
}

pub(super) fn ledbat(keys: &Ledbat, reno: new_reno::Config) -> ledbat::Config {
    ledbat::Config {
        signal: keys.delay,
        target: keys.target,
        gain: keys.gain,
        decrease_gain: keys.decrease_gain,
        allowed_increase: keys.allowed_increase,
        init_window: reno.init_window,
        min_window: keys.min_window,
        base: match keys.base_interval {
            Span::ZERO => ledbat::Base::Path,
            interval => ledbat::Base::Measured(interval),
        },
    }
}

pub(super) fn hpcc(keys: &Hpcc) -> hpcc::Config {
    hpcc::Config {
        eta: keys.eta,
        max_stage: keys.max_stage,
        step: keys.step.0,
        rtt: (keys.rtt > Span::ZERO).then_some(keys.rtt),
        min_window: keys.min_window.0,
    }
}

pub(super) fn prioplus<K, C>(keys: &PrioPlus<K>, inner: C) -> prioplus::Config<C> {
    let lanes = keys.lanes().expect("invariant: channels are checked where they are read");
    prioplus::Config {
        inner,
        variant: keys.variant,
        lanes: keys.channels.then_some(lanes),
        exceed_limit: keys.exceed_limit,
        base_tolerance: keys.base_tolerance,
        increase: keys.increase,
        probes: keys.probes,
    }
}
