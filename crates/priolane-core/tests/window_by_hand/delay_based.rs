//! Delay-based controllers: storms, pacing, lost probes.

use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Kind, Marks};
use priolane_core::transport::d2tcp::{self, D2tcp};
use priolane_core::transport::dctcp::Dctcp;
use priolane_core::transport::delay::{Signal, Size};
use priolane_core::transport::ledbat::{self, Base, Ledbat};
use priolane_core::transport::prioplus::{self, Channel, ChannelTable, PrioPlus, Start, Variant};
use priolane_core::transport::swift::{self, Preset, Swift, TargetFrom, Whole};
use priolane_core::transport::window::{CongestionControl, LossRecovery};
use priolane_core::units::{Rate, Span, Time};

use crate::link::{Fate, Hop, Net, SeenPacket, UNIT_HOP, flow, unit_config};
use crate::storm::{DCTCP, same_trace, storm};

/// Targets in the range of the storms' queues.
const SWIFT: swift::Config = swift::Config {
    signal: Signal::Rtt,
    init_window: Size::Packets(10.0),
    ai: Size::Packets(1.0),
    target: Span::from_us(25),
    target_from: TargetFrom::Base,
    hop: Span::from_us(1),
    class_step: Span::ZERO,
    fs_range: Some(Span::from_us(100)),
    fs_min: Size::Packets(0.1),
    fs_max: Size::Packets(100.0),
    beta: 0.8,
    max_mdf: 0.5,
    min_window: Size::Packets(0.01),
    max_window: Size::Packets(1_000.0),
    whole: Whole::Fractions,
    endpoint_target: Some(Span::from_us(30)),
    retx_reset: 5,
    ..swift::Config::of(Preset::Paper)
};

const LEDBAT: ledbat::Config = ledbat::Config {
    signal: Signal::OneWay,
    target: Span::from_us(20),
    class_step: Span::ZERO,
    gain: 1.0,
    decrease_gain: 1.0,
    allowed_increase: 1.0,
    init_window: None,
    min_window: 2.0,
    base: Base::Measured(Span::from_ms(1)),
};

fn prioplus<C: priolane_core::keys::Keys>(inner: C, variant: Variant) -> prioplus::Config<C> {
    let lane = |us: u64, start| Channel {
        target: Span::from_us(us),
        limit: Some(Span::from_us(us + 5)),
        start,
        linear_start: 0.25,
    };
    let channels = [lane(30, Start::LineRate), lane(20, Start::Linear), lane(10, Start::Probe)];
    prioplus::Config {
        inner,
        variant,
        channel_table: Some(ChannelTable::new(&channels).unwrap()),
        base_tolerance: Span::from_us(3),
        ..prioplus::Config::default()
    }
}

/// Returns the number of probes that were sent, and the number of answers to them.
fn probes_and_answers<C: CongestionControl<Telemetry = ()>>(net: &Net<C>) -> [usize; 2] {
    let probes = || net.log.iter().map(|s| s.packet.header).filter(|header| header.kind == Kind::Probe);
    let answers = probes().filter(|header| header.marks.has(Marks::ECHO)).count();
    [probes().count() - answers, answers]
}

#[test]
fn swift_and_ledbat_deliver_everything_once() {
    for case in 0..120 {
        storm::<Swift>(case, SWIFT, |c| assert!(c.target_ps() >= 37e6));
        storm::<Ledbat>(case, LEDBAT, |_| ());
    }
}

#[test]
fn prioplus_delivers_everything_once_whatever_is_lost() {
    let (mut probes, mut answers) = (0, 0);
    for case in 0..120 {
        for variant in [Variant::Paper, Variant::Released] {
            let net = storm::<PrioPlus<Swift>>(case, prioplus(SWIFT, variant), |c| assert!(c.flows() >= 1.0));
            probes += probes_and_answers(&net)[0];
            let config = prioplus(LEDBAT, variant);
            let net = storm::<PrioPlus<Ledbat>>(case, config, |c| assert!(c.flows() >= 1.0));
            answers += probes_and_answers(&net)[1];
        }
    }
    assert!(probes > 5_000 && answers > 500, "{probes} {answers}");
}

/// Property: PrioPlus with its channels disabled is the controller that it is laid around.
#[test]
fn prioplus_without_channels_is_its_controller_packet_for_packet() {
    let mut packets = 0;
    for case in 0..120 {
        let off = prioplus::Config { channel_table: None, ..prioplus(SWIFT, Variant::Paper) };
        let swift = storm::<Swift>(case, SWIFT, |_| ());
        assert!(same_trace(&swift, &storm::<PrioPlus<Swift>>(case, off, |_| ())), "case {case}");
        let off = prioplus::Config { channel_table: None, ..prioplus(LEDBAT, Variant::Released) };
        let ledbat = storm::<Ledbat>(case, LEDBAT, |_| ());
        assert!(same_trace(&ledbat, &storm::<PrioPlus<Ledbat>>(case, off, |_| ())), "case {case}");
        packets += swift.log.len() + ledbat.log.len();
    }
    assert!(packets > 50_000, "{packets}");
}

/// Property: D2TCP without deadlines is DCTCP.
#[test]
fn d2tcp_without_deadlines_is_dctcp_packet_for_packet() {
    for case in 0..120 {
        let dctcp = storm::<Dctcp>(case, DCTCP, |_| ());
        let config = d2tcp::Config { dctcp: DCTCP, late: 0.5 };
        assert!(same_trace(&dctcp, &storm::<D2tcp>(case, config, |_| ())), "case {case}");
    }
}

/// A flow of `UNIT` segments in the class that starts with a probe; the link's queueing stays below its channel.
fn probing(judge: impl FnMut(&SeenPacket) -> Fate + 'static) -> Net<PrioPlus<Swift>> {
    let config = unit_config(LossRecovery::Sack);
    let controller = prioplus(SWIFT, Variant::Paper);
    let mut net = Net::new(config, controller, SchedulerKind::RoundRobin, &UNIT_HOP).judged(judge);
    net.open(FlowSpec { class: 2, ..flow(0, 400_000) });
    net
}

#[test]
fn a_probe_comes_first_and_its_answer_starts_the_flow() {
    // The probe has no size: back at 20 us. The path is nominal, 10 us, so that 20 us is neither empty (13) nor at the
    // limit (25): one packet at 20, its ACK leaves at 31.
    let mut net = probing(|_| Fate::Pass);
    net.run(Time(41_000_000));
    let kinds: Vec<(u64, usize, Kind)> =
        net.log.iter().map(|s| (s.at.0 / 1_000_000, s.from, s.packet.header.kind)).collect();
    assert_eq!(kinds, [(0, 0, Kind::Probe), (10, 1, Kind::Probe), (20, 0, Kind::Data), (31, 1, Kind::Ack)]);
    assert!(net.log[0].packet.header.class == 2 && net.log[1].packet.header.class == 0, "as data, as an ACK");
}

#[test]
fn no_lost_probe_or_answer_stalls_a_flow() {
    for variant_of_loss in [false, true] {
        for lost in 1..=6 {
            let mut seen = 0;
            // The first `lost` probes (or their answers) get lost, one after another.
            let mut net = probing(move |s| {
                let is = s.packet.header.kind == Kind::Probe
                    && s.packet.header.marks.has(Marks::ECHO) == variant_of_loss;
                seen += usize::from(is);
                if is && seen <= lost { Fate::Drop } else { Fate::Pass }
            });
            assert!(net.run(Time(1_000_000_000_000)));
            assert_eq!(net.completed().len(), 1, "{lost}");
            // Each costs a timeout of 500 us, as before any sample.
            let first = net.data(0)[0].0;
            assert_eq!(first, Time((500 * lost as u64 + 20) * 1_000_000), "{lost}");
        }
    }
}

#[test]
fn a_yielding_flow_sends_nothing_but_probes() {
    // A line twice as fast as what follows it: queues grow there. The first flow's channel is 35 to 40 us, the second's
    // 50 to 65, and 21.5 us is what an empty path takes.
    let lane = |target: u64, limit: u64, start| Channel {
        target: Span::from_us(target),
        limit: Some(Span::from_us(limit)),
        start,
        linear_start: 0.25,
    };
    let channels = ChannelTable::new(&[lane(40, 55, Start::LineRate), lane(25, 30, Start::Probe)]).unwrap();
    let hops = [Hop { rate: Rate::from_gbps(16), delay: Span::ZERO }, UNIT_HOP[0]];
    let crowded = |case: u64| {
        let swift = swift::Config { endpoint_target: None, ..SWIFT };
        let config =
            prioplus::Config { channel_table: Some(channels.clone()), ..prioplus(swift, Variant::Paper) };
        let window = unit_config(LossRecovery::Sack);
        let mut net: Net<PrioPlus<Swift>> = Net::new(window, config, SchedulerKind::RoundRobin, &hops);
        net.open(FlowSpec { class: 1, ..flow(0, 400_000) });
        net.open(FlowSpec { class: 0, start: Time(150_000_000 + case * 1_000_000), ..flow(1, 600_000) });
        net
    };
    let mut yielding = 0;
    for case in 0..20 {
        let mut net = crowded(case);
        let stopped = |net: &Net<PrioPlus<Swift>>| {
            net.hosts[0].controller(FlowId(0)).is_some_and(PrioPlus::is_yielding)
        };
        let mut at = Time::ZERO;
        loop {
            let (before, from) = (stopped(&net), net.log.len());
            at += Span::from_ns(100);
            let done = net.run(at);
            if before && stopped(&net) {
                let sent =
                    net.log[from..].iter().filter(|s| s.from == 0 && s.packet.header.flow == FlowId(0));
                yielding += sent.clone().filter(|s| s.packet.header.kind == Kind::Probe).count();
                assert!(sent.clone().all(|s| s.packet.header.kind == Kind::Probe), "case {case}, {at:?}");
            }
            if done {
                break;
            }
        }
        assert_eq!(net.completed().len(), 2);
    }
    assert!(yielding > 20, "{yielding}");
}

#[test]
fn a_window_below_a_packet_is_sent_at_its_pace() {
    // A quarter of a packet, no growth (ai = 0): one packet every four round trips of 21 us.
    let config = swift::Config {
        init_window: Size::Packets(0.25),
        ai: Size::Packets(0.0),
        endpoint_target: None,
        ..SWIFT
    };
    let mut net: Net<Swift> =
        Net::new(unit_config(LossRecovery::Sack), config, SchedulerKind::RoundRobin, &UNIT_HOP);
    net.open(FlowSpec { dst: HostId(1), ..flow(0, 5_000) });
    assert!(net.run(Time(1_000_000_000_000)));
    let at: Vec<u64> = net.data(0).iter().map(|(at, _)| (at.0 + 500_000) / 1_000_000).collect();
    // To the microsecond: stamps count in ticks of 1.024 ns, and so does the round-trip time.
    assert_eq!(at, [0, 84, 168, 252, 336]);
}
