//! Hundreds of random mixtures of flows, faults and parameters: everything arrives, once, and ends.

use std::collections::BTreeMap;

use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::{Endpoint, Event, FlowSpec, LocalClock, Weights};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::keys::with_defaults;
use priolane_core::packet::{Frame, Kind};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::cubic::{self, Cubic};
use priolane_core::transport::dcqcn::{self, Dcqcn};
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::new_reno::{self, NewReno};
use priolane_core::transport::nscc::Nscc;
use priolane_core::transport::paccp::{self, Avoidance, LossFloor, Paccp, RttOf};
use priolane_core::transport::window::{
    Config, CongestionControl, Handshake, LossRecovery, Reliability, SendPermission,
};
use priolane_core::units::{Rate, Span, Time};
use priolane_rounds::rounds;

use crate::link::{Faults, Net, PLAIN, flow};

const RENO: new_reno::Config = new_reno::Config { init_window: None };
pub(crate) const DCTCP: dctcp::Config = dctcp::Config {
    reno: RENO,
    g: 1.0 / 16.0,
    alpha_0: 1.0,
    min_window: 2,
    reduction: dctcp::Reduction::AtOnce,
};

const PACCP: paccp::Config = paccp::Config {
    reno: RENO,
    r_cos: 3.0,
    avoidance: Avoidance::Approximate,
    rtt: RttOf::Smoothed,
    floor: LossFloor::None,
};

const HANDSHAKES: [Handshake; 3] = [Handshake::None, Handshake::OneRtt, Handshake::Reuse];
const RECOVERIES: [LossRecovery; 3] = [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN];
const SCHEDULERS: [SchedulerKind; 4] =
    [SchedulerKind::RoundRobin, SchedulerKind::Mlfq, SchedulerKind::Srpt, SchedulerKind::Las];

fn draw_config(draw: &mut Stream, case: u64) -> Config {
    let counts = [Count::StreamOffset, Count::BytesSent];
    let ladder =
        DemotionThresholds::new(&[3_000, 20_000, 20_000, 90_000], counts[draw.below(2) as usize]).unwrap();
    Config {
        handshake: HANDSHAKES[draw.below(3) as usize],
        recovery: RECOVERIES[case as usize % 3],
        dup_threshold: 1 + draw.below(4) as u32,
        ack_every: 1 + draw.below(3) as u8,
        ack_delay: Span::from_us(draw.below(300)),
        min_rto: Span::from_us(100 + draw.below(400)),
        initial_rto: Span::from_us(500),
        max_rto: Span::from_ms(8),
        max_window: draw.chance(0.2).then_some(5_000),
        class: ladder,
        host_level: ladder,
        monitor: draw.chance(0.3).then_some(Span::from_us(300)),
        ..Config::new(Frame::ETHERNET)
    }
}

fn draw_faults(draw: &mut Stream) -> Faults {
    let sometimes = |draw: &mut Stream, most: f64| if draw.chance(0.6) { draw.uniform() * most } else { 0.0 };
    Faults {
        loss: sometimes(draw, 0.3),
        duplicate: sometimes(draw, 0.2),
        reorder: sometimes(draw, 0.5),
        jitter: Span::from_us(draw.below(60)),
        mark: sometimes(draw, 1.0),
        trim: 0.0,
        late: Span::from_us(draw.below(100)),
    }
}

fn draw_flow(draw: &mut Stream, id: u32) -> FlowSpec {
    let size = match draw.below(4) {
        0 => 1 + draw.below(1_460),
        1 => 1_460 * (1 + draw.below(20)),
        _ => 1 + draw.below(150_000),
    };
    let src = draw.below(2) as u16;
    let start = Time(draw.below(500_000_000));
    FlowSpec { src: HostId(src), dst: HostId(1 - src), start, ..flow(id, size) }
}

/// Draws the weights for a transport that honours them.
fn draw_weights(draw: &mut Stream) -> Weights {
    Weights { theta: Rate::from_bps(draw.below(3) * 2_000_000_000), w_milli: 100 + draw.below(6_000) as u32 }
}

/// One case, to its end; `check` looks at each live controller after each millisecond.
pub(crate) fn storm<C: CongestionControl<Telemetry = ()>>(
    case: u64,
    controller: C::Config,
    check: impl Fn(&C),
) -> Net<C> {
    weighted_storm(case, (controller, Reliability::Reliable), |_| Weights::BEST_EFFORT, check)
}

/// Whether two runs left the same packets at the same instants.
pub(crate) fn same_trace<A: CongestionControl, B: CongestionControl>(a: &Net<A>, b: &Net<B>) -> bool {
    let same = a.log.iter().zip(&b.log).all(|(a, b)| {
        (a.at, a.from, a.packet.header, a.packet.body) == (b.at, b.from, b.packet.header, b.packet.body)
    });
    same && a.log.len() == b.log.len()
}

/// As [`storm`] with losses that trimmed headers name: up to 30 % of the packets are trimmed, and some lost.
pub(crate) fn trimmed_storm<C: CongestionControl<Telemetry = ()>>(
    case: u64,
    controller: C::Config,
    check: impl Fn(&C),
) -> Net<C> {
    let draw = &mut Stream::new(case, Purpose::Sizes, 99);
    let config = Config { recovery: LossRecovery::Trims, ..draw_config(draw, case) };
    let faults = Faults { trim: [0.0, 0.05, 0.3][case as usize % 3], ..draw_faults(draw) };
    Storm { case, config, faults }.run(controller, draw, |_| Weights::BEST_EFFORT, check)
}

fn weighted_storm<C: CongestionControl<Telemetry = ()>>(
    case: u64,
    (controller, reliability): (C::Config, Reliability),
    weights: impl Fn(&mut Stream) -> Weights,
    check: impl Fn(&C),
) -> Net<C> {
    let draw = &mut Stream::new(case, Purpose::Sizes, 99);
    let config = Config { reliability, ..draw_config(draw, case) };
    let faults = draw_faults(draw);
    Storm { case, config, faults }.run(controller, draw, weights, check)
}

/// A random mixture of flows and faults.
struct Storm {
    case: u64,
    config: Config,
    faults: Faults,
}

impl Storm {
    /// Runs the mixture, whose flows and their weights are drawn from `draw`.
    fn run<C: CongestionControl<Telemetry = ()>>(
        self,
        controller: C::Config,
        draw: &mut Stream,
        weights: impl Fn(&mut Stream) -> Weights,
        check: impl Fn(&C),
    ) -> Net<C> {
        let Self { case, config, faults } = self;
        let kind = SCHEDULERS[(case / 3) as usize % 4];
        let mut net: Net<C> = Net::new(config, controller, kind, &PLAIN).seeded(case, faults);
        net.clocks[1] = LocalClock { offset_ps: draw.below(20_000_000) as i64 - 10_000_000 };
        let mut flows: Vec<FlowSpec> = (0..1 + draw.below(8) as u32).map(|id| draw_flow(draw, id)).collect();
        flows.iter_mut().for_each(|flow| flow.weights = weights(draw));
        flows.iter().for_each(|&spec| net.open(spec));
        let mut limit = Time::ZERO;
        while !net.run(limit) {
            limit += Span::from_us(200);
            assert!(limit < Time(60_000_000_000_000), "case {case} does not end: {config:?} {faults:?}");
            let live = flows.iter().filter_map(|f| net.hosts[f.src.index()].controller(f.id));
            live.for_each(|c| {
                let yields = matches!(c.gate(), SendPermission::Probe(_));
                assert!(c.window() >= 1_460 || yields, "case {case}: window {}", c.window());
                check(c);
            });
        }
        assert_all_done(&net, &flows, case);
        net
    }
}

fn assert_all_done<C: CongestionControl<Telemetry = ()>>(net: &Net<C>, flows: &[FlowSpec], case: u64) {
    let ids: Vec<FlowId> = flows.iter().map(|f| f.id).collect();
    let mut delivered: Vec<FlowId> = net.delivered().iter().map(|&(flow, _)| flow).collect();
    let mut completed: Vec<FlowId> = net.completed().iter().map(|r| r.flow).collect();
    delivered.sort();
    completed.sort();
    assert_eq!(delivered, ids, "case {case}: each flow is delivered once");
    assert_eq!(completed, ids, "case {case}: each flow completes once");
    assert_eq!(net.hosts.each_ref().map(Endpoint::next_timeout), [None; 2]);
    let mut sent = BTreeMap::new();
    for seen in net.log.iter().filter(|s| s.packet.header.kind == Kind::Data) {
        *sent.entry(seen.packet.header.flow).or_insert(0) += u64::from(seen.packet.header.payload);
    }
    for report in net.completed() {
        let size = flows[report.flow.index()].size.unwrap();
        assert_eq!((report.bytes, report.remaining), (size, 0), "case {case}");
        assert_eq!(sent[&report.flow], size + report.retransmitted, "case {case}: bytes conserved");
    }
}

#[test]
fn new_reno_delivers_everything_once() {
    // Flows by recovery kind: repaired without a timeout, repaired with one.
    let mut repaired = [(0, 0); 3];
    for case in 0..rounds(360, 3_600) {
        let (fast, timed_out) = &mut repaired[case as usize % 3];
        for report in storm::<NewReno>(case, RENO, |_| ()).completed() {
            *fast += u32::from(report.retransmits > 0 && report.timeouts == 0);
            *timed_out += u32::from(report.retransmits > 0 && report.timeouts > 0);
        }
    }
    assert!(repaired.iter().all(|&(fast, timed_out)| fast > 0 && timed_out > 0), "{repaired:?}");
}

#[test]
fn dctcp_delivers_everything_once_with_alpha_in_range() {
    for case in 0..rounds(360, 3_600) {
        storm::<Dctcp>(case, DCTCP, |c| assert!((0.0..=1.0).contains(&c.alpha()), "alpha {}", c.alpha()));
    }
}

/// With a rise of 5 us, HyStart++ leaves its standard phase in many cases.
#[test]
fn cubic_delivers_everything_once() {
    let usual: cubic::Config = with_defaults(&[]);
    let rise = Span::from_us(5);
    let hystart = cubic::hystart::Config { hystart_min_rise: rise, hystart_samples: 2, ..usual.slow_start };
    let mut retransmits = 0;
    for case in 0..rounds(360, 3_600) {
        let config = cubic::Config { slow_start: hystart, ..usual };
        let net = storm::<Cubic>(case, config, |_| ());
        retransmits += net.completed().iter().map(|report| report.retransmits).sum::<u32>();
    }
    assert!(retransmits > 1_000, "{retransmits}");
}

/// Windows of marks, delays and trimmed headers, some of which are lost.
#[test]
fn nscc_delivers_everything_once() {
    let mut repaired = (0, 0);
    for case in 0..rounds(360, 3_600) {
        let net = trimmed_storm::<Nscc>(case, with_defaults(&[]), |flow| {
            assert!(flow.window() <= 18_750, "1.5 x 10 Gbps x 10 us, {}", flow.window());
        });
        for report in net.completed() {
            repaired.0 += u32::from(report.retransmits > 0 && report.timeouts == 0);
            repaired.1 += u32::from(report.retransmits > 0 && report.timeouts > 0);
        }
    }
    assert!(repaired.0 > 100 && repaired.1 > 100, "{repaired:?}");
}

/// Marks of up to all packets take rates down to their floor, from which timers and bytes raise them.
#[test]
fn dcqcn_delivers_everything_once() {
    for preset in [dcqcn::Preset::Paper, dcqcn::Preset::Connectx, dcqcn::Preset::Hpcc] {
        let config =
            dcqcn::Config { min_rate: Rate::from_bps(100_000_000).unwrap(), ..dcqcn::Config::of(preset) };
        for case in 0..rounds(120, 1_200) {
            storm::<Dcqcn>(case, config, |_| ());
        }
    }
}

#[test]
fn the_same_case_leaves_the_same_log() {
    for case in [5, 17, 100] {
        let log = |net: Net<Dctcp>| -> Vec<_> {
            net.log.iter().map(|s| (s.at, s.from, s.packet.header, s.packet.body)).collect()
        };
        assert!(log(storm(case, DCTCP, |_| ())) == log(storm(case, DCTCP, |_| ())));
    }
}

#[test]
fn paccp_delivers_everything_once_with_any_weights() {
    for case in 0..rounds(360, 3_600) {
        weighted_storm::<Paccp>(case, (PACCP, Reliability::Reliable), draw_weights, |_| ());
    }
}

/// Property 17: the same packets at the same instants as NewReno, whatever is lost, marked, doubled or late.
#[test]
fn paccp_of_a_best_effort_flow_leaves_the_trace_of_new_reno() {
    let exact = paccp::Config { avoidance: Avoidance::Exact, rtt: RttOf::Base, ..PACCP };
    let mut packets = 0;
    for case in 0..rounds(360, 3_600) {
        let reno = storm::<NewReno>(case, RENO, |_| ());
        for config in [PACCP, exact] {
            let paccp = storm::<Paccp>(case, config, |_| ());
            assert!(same_trace(&reno, &paccp), "case {case}");
        }
        packets += reno.log.len();
    }
    assert!(packets > 100_000, "{packets}");
}

const PACCP_DCTCP: dctcp::Config<paccp::Config> = dctcp::Config {
    reno: PACCP,
    g: DCTCP.g,
    alpha_0: DCTCP.alpha_0,
    min_window: DCTCP.min_window,
    reduction: DCTCP.reduction,
};

#[test]
fn paccp_under_marks_delivers_everything_once_with_any_weights() {
    for case in 0..rounds(360, 3_600) {
        weighted_storm::<Dctcp<Paccp>>(case, (PACCP_DCTCP, Reliability::Reliable), draw_weights, |_| ());
    }
}

/// Property 17 of the composition: a best-effort flow leaves DCTCP's trace.
#[test]
fn paccp_under_marks_of_a_best_effort_flow_leaves_the_trace_of_dctcp() {
    for case in 0..rounds(360, 3_600) {
        let dctcp = storm::<Dctcp>(case, DCTCP, |_| ());
        let paccp = storm::<Dctcp<Paccp>>(case, PACCP_DCTCP, |_| ());
        assert!(same_trace(&dctcp, &paccp), "case {case}");
    }
}

/// Nothing is sent twice, every flow ends, and what a receiver misses was sent once and lost.
#[test]
fn an_unreliable_flow_gives_up_what_is_lost() {
    let (mut missing, mut whole) = (0, 0);
    for case in (0..360).filter(|case| RECOVERIES[case % 3] != LossRecovery::GoBackN) {
        let unreliable = (RENO, Reliability::Unreliable);
        let net = weighted_storm::<NewReno>(case as u64, unreliable, |_| Weights::BEST_EFFORT, |_| ());
        assert!(net.completed().iter().all(|report| report.retransmits == 0 && report.retransmitted == 0));
        let delivered = net.events.iter().filter_map(|(_, _, event)| match event {
            Event::Delivered { flow, missing, .. } => Some((*flow, *missing)),
            _ => None,
        });
        for (flow, bytes) in delivered {
            let of = |s: &&crate::link::SeenPacket| s.packet.header.flow == flow;
            let signals = net.log.iter().filter(of).filter(|s| s.packet.header.kind == Kind::Signal);
            let given_up: u64 = signals.map(|s| u64::from(s.packet.body.sack[0].1)).sum();
            assert!(bytes <= given_up, "case {case}: {bytes} of {given_up} B");
            if net.faults.loss == 0.0 && net.faults.reorder == 0.0 && net.faults.late == Span::ZERO {
                assert_eq!(bytes, 0, "case {case}");
            }
            missing += u32::from(bytes > 0);
            whole += u32::from(bytes == 0);
        }
    }
    assert!(missing > 200 && whole > 200, "{missing} {whole}");
}
