//! From a scheme's admit row to the policy that the simulator runs.

use priolane_core::admit::aequitas::{self, Objective};
use priolane_core::admit::{Policy, firapam, pase};
use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use priolane_sim::topology::Topology;

use crate::scheme::{Admit, Aequitas, Firapam, FirapamMode, Interval, Scheme, Windows};

/// The admission policy of `scheme`.
pub(super) fn policy(scheme: &Scheme, topology: &Topology, frame: Frame) -> Policy {
    match &scheme.admit {
        Admit::None => Policy::None,
        Admit::Aequitas(text) => Policy::Aequitas(aequitas(text, frame)),
        Admit::Pase { levels, remap } => {
            let capacity = topology.host_capacity(HostId(0));
            Policy::Pase(pase::Config { levels: *levels, capacity, remap: remap.remap })
        }
        Admit::Firapam(text) => Policy::Firapam(firapam(text)),
    }
}

/// How often the transport of `scheme` reports for its admission policy; `None` where only whole flows count.
pub(super) fn interval(scheme: &Scheme, topology: &Topology, frame: &Frame) -> Option<Span> {
    match scheme.admit.interval()? {
        Interval::Rpc => None,
        Interval::Every(span) => Some(span),
        Interval::Rtt => Some(round_trip(topology, frame)),
    }
}

/// The round trip of a packet of one byte between the first and the last host, nothing in its way.
pub(crate) fn round_trip(topology: &Topology, frame: &Frame) -> Span {
    let (first, last) = (HostId(0), HostId((topology.hosts - 1) as u16));
    let one_way = |from, to| topology.bare_fct(frame, from, to, 0, 1);
    one_way(first, last) + one_way(last, first)
}

fn aequitas(text: &Aequitas, frame: Frame) -> aequitas::Config {
    let objective = |&target: &Span| match text.windows {
        Windows::Percentile(percentile) => {
            Objective::at_percentile(target, (percentile * 10.0).round() as u32)
        }
        Windows::Window(window) => Objective { target, window },
    };
    aequitas::Config {
        levels: text.levels,
        alpha: text.alpha,
        beta: text.beta,
        floor: text.floor,
        most: text.most,
        mtu: u32::from(frame.mss()),
        per: text.per,
        objectives: text.targets.iter().map(objective).collect(),
        update: text.update,
    }
}

fn firapam(text: &Firapam) -> firapam::Config {
    let &Firapam { levels, mode, utility, a, step, b_low, b_up, remap } = text;
    firapam::Config {
        levels,
        utility,
        mode: match mode {
            FirapamMode::Literal => firapam::Mode::Literal { a },
            FirapamMode::Analytic => firapam::Mode::Analytic { a, step: step.unwrap_or(f64::INFINITY) },
        },
        b_low,
        b_up,
        interval: if remap.mi == Interval::Rpc { firapam::Interval::Rpc } else { firapam::Interval::Monitor },
        remap: remap.remap,
    }
}
