//! Classes and host levels by bytes sent, and the order in which a host's flows go.

use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::{Control, Event, FlowSpec, ThresholdSet, Thresholds};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::FlowId;
use priolane_core::packet::{Header, Kind};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{Config, LossRecovery};
use priolane_core::units::{Span, Time};

use crate::link::{Faults, Net, UNIT_HOP, drop_once, flow, unit_config, unit_reno};

fn config(class: &[u64], host: &[u64], count: Count) -> Config {
    Config {
        class: DemotionThresholds::new(class, count).unwrap(),
        host_level: DemotionThresholds::new(host, count).unwrap(),
        ..unit_config(LossRecovery::Sack)
    }
}

fn net(config: Config, kind: SchedulerKind) -> Net<NewReno> {
    Net::new(config, unit_reno(10), kind, &UNIT_HOP)
}

fn finish(net: &mut Net<NewReno>) {
    assert!(net.run(Time(1_000_000_000_000)));
}

fn data(net: &Net<NewReno>) -> Vec<Header> {
    let payload = net.log.iter().filter(|s| s.packet.header.kind == Kind::Data);
    payload.map(|s| s.packet.header).collect()
}

#[test]
fn the_level_is_that_of_the_packets_own_offset_even_when_sent_again() {
    let config = config(&[3_000, 7_500], &[5_000], Count::StreamOffset);
    let faults = Faults { loss: 0.2, ..Faults::default() };
    let mut net = net(config, SchedulerKind::RoundRobin).seeded(4, faults);
    net.open(FlowSpec { class: 2, ..flow(0, 30_000) });
    finish(&mut net);
    assert!(net.completed()[0].retransmits > 3);
    for header in data(&net) {
        // Half-open: offset 3000 is level 1. Packets begin at multiples of 1000: 7000 is below 7500.
        let (class, level) = match header.offset.get() {
            0..=2_000 => (2, 0),
            3_000..=4_000 => (3, 0),
            5_000..=7_000 => (3, 1),
            _ => (4, 1),
        };
        assert_eq!((header.class, header.host_level), (class, level), "{header:?}");
        assert_eq!(header.rank, 30_000 - header.offset.get());
    }
    assert_eq!(
        (net.completed()[0].class_first, net.completed()[0].class_last),
        (2, data(&net).last().unwrap().class)
    );
}

#[test]
fn bytes_sent_count_retransmissions_and_never_go_back() {
    let config = config(&[3_000, 12_000], &[5_000], Count::BytesSent);
    let faults = Faults { loss: 0.2, ..Faults::default() };
    let mut net = net(config, SchedulerKind::Mlfq).seeded(4, faults);
    net.open(flow(0, 30_000));
    finish(&mut net);
    let mut before = 0;
    for header in data(&net) {
        let level = u8::from(before >= 3_000) + u8::from(before >= 12_000);
        assert_eq!((header.class, header.host_level), (level, u8::from(before >= 5_000)), "after {before}");
        before += u64::from(header.payload);
    }
    assert!(before > 30_000);
}

#[test]
fn a_flat_ladder_changes_nothing_and_classes_end_at_15() {
    let mut flat = net(unit_config(LossRecovery::Sack), SchedulerKind::Mlfq);
    flat.open(FlowSpec { class: 9, ..flow(0, 30_000) });
    finish(&mut flat);
    assert!(data(&flat).iter().all(|h| (h.class, h.host_level) == (9, 0)));
    let mut steep = net(config(&[1, 1, 1, 1, 2_000], &[], Count::StreamOffset), SchedulerKind::RoundRobin);
    steep.open(FlowSpec { class: 12, ..flow(0, 3_000) });
    finish(&mut steep);
    // 12 + 0, then 12 + 4 capped.
    assert_eq!(data(&steep).iter().map(|h| h.class).collect::<Vec<_>>(), [12, 15, 15]);
}

/// The flows of a host's first packets, in order.
fn flows_of(net: &Net<NewReno>) -> Vec<u32> {
    data(net).iter().map(|h| h.flow.0).collect()
}

#[test]
fn schedulers_order_the_flows_of_a_host() {
    // Three flows of 6, 2 and 4 segments at once. The first to open finds the line free and sends at once.
    let cases: [(SchedulerKind, [u32; 12]); 4] = [
        (SchedulerKind::RoundRobin, [0, 0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0]),
        (SchedulerKind::Srpt, [0, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0]),
        // Fewest bytes sent: 1 and 2 catch up, then all in step, smaller flow first.
        (SchedulerKind::Las, [0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0, 0]),
        // Level 0 up to 2000 bytes, in turns; then 0 and 2 below, in turns.
        (SchedulerKind::Mlfq, [0, 0, 1, 2, 1, 2, 0, 2, 0, 2, 0, 0]),
    ];
    for (kind, expected) in cases {
        let mut net = net(config(&[], &[2_000], Count::StreamOffset), kind);
        for (id, segments) in [6, 2, 4].into_iter().enumerate() {
            net.open(flow(id as u32, segments * 1_000));
        }
        finish(&mut net);
        assert_eq!(flows_of(&net), expected, "{kind:?}");
    }
}

#[test]
fn a_retransmission_of_a_better_level_overtakes_where_its_flow_waits() {
    // Flow 0 sinks to level 1 after 2 segments and loses segment 1. From 15 us on 60 flows of one segment
    // each hold level 0 and thus the line until 75. The loss is known at 25 (ACKs of 2, 3, 4) while flow 0
    // waits in level 1: promoted, segment 1 goes when the line has served those before it, at 75, and flow
    // 100, which opens at 60 with 2 segments of level 0, goes after it.
    let config = config(&[], &[2_000], Count::StreamOffset);
    let mut net: Net<NewReno> =
        Net::new(config, unit_reno(100), SchedulerKind::Mlfq, &UNIT_HOP).judged(drop_once(vec![1]));
    net.open(flow(0, 200_000));
    for id in 1..=60 {
        net.open(FlowSpec { start: Time(15_000_000), ..flow(id, 1_000) });
    }
    net.open(FlowSpec { start: Time(60_000_000), ..flow(100, 30_000) });
    finish(&mut net);
    let from_75: Vec<(u32, u64)> = (net.log.iter())
        .filter(|s| s.from == 0 && s.at >= Time(75_000_000))
        .map(|s| (s.packet.header.flow.0, s.packet.header.offset.get() / 1_000))
        .take(4)
        .collect();
    // Then flow 100's two segments of level 0, then level 1 in turns: flow 0 waits there since 15 us.
    assert_eq!(from_75, [(0, 1), (100, 0), (100, 1), (0, 15)]);
}

#[test]
fn a_flow_whose_next_packet_has_become_worse_lets_others_go_before_it() {
    // Flow 1 opens at 4.5 us, and both send in turns from 5 us on. At 6.5 us, flow 0 has sent 6 segments and waits for
    // the next turn, when all of its packets become level 1, and all but 2 of flow 1.
    let mut net = net(config(&[], &[], Count::StreamOffset), SchedulerKind::Mlfq);
    net.open(flow(0, 10_000));
    net.open(FlowSpec { start: Time(4_500_000), ..flow(1, 4_000) });
    net.run(Time(6_500_000));
    net.set_thresholds(0, &Thresholds { of: ThresholdSet::HostLevel, bytes: vec![2_000] });
    finish(&mut net);
    assert_eq!(flows_of(&net), [0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0]);
}

#[test]
fn a_new_class_holds_for_later_packets() {
    let mut net = net(unit_config(LossRecovery::Sack), SchedulerKind::RoundRobin);
    net.open(flow(0, 30_000));
    net.run(Time(5_500_000));
    net.control(0, FlowId(0), Control::Class(6));
    net.control(0, FlowId(77), Control::Class(6));
    finish(&mut net);
    let classes: Vec<u8> = data(&net).iter().map(|h| h.class).collect();
    assert_eq!(classes[..6], [0; 6]);
    assert!(classes[6..].iter().all(|&c| c == 6));
    let changes: Vec<_> = net.events.iter().filter(|e| matches!(e.2, Event::ClassChanged { .. })).collect();
    assert_eq!(changes, [&(0, Time(5_000_000), Event::ClassChanged { flow: FlowId(0), class: 6 })]);
    assert_eq!(net.completed()[0].elapsed.0 / Span::from_us(1).0, net.now.0 / 1_000_000);
}

#[test]
fn new_thresholds_hold_for_flows_under_way() {
    // 1000 B packets of 1 us each; the window of 10 is open, so the first ten are sent by 5.5 us.
    let mut net = net(config(&[100_000], &[100_000], Count::StreamOffset), SchedulerKind::Mlfq);
    net.open(flow(0, 40_000));
    net.run(Time(5_500_000));
    let so_far = data(&net).len();
    let demote = |of| Thresholds { of, bytes: vec![2_000] };
    net.set_thresholds(0, &demote(ThresholdSet::Class));
    net.set_thresholds(0, &demote(ThresholdSet::HostLevel));
    net.run(Time(40_500_000));
    let demoted = data(&net).len();
    // A higher threshold lifts the flow again.
    net.set_thresholds(0, &Thresholds { of: ThresholdSet::Class, bytes: vec![1_000_000] });
    finish(&mut net);
    let all: Vec<(u8, u8)> = data(&net).iter().map(|h| (h.class, h.host_level)).collect();
    assert!(so_far > 0 && demoted > so_far && all.len() > demoted, "{so_far} {demoted} {}", all.len());
    assert!(all[..so_far].iter().all(|&levels| levels == (0, 0)));
    assert!(all[so_far..demoted].iter().all(|&levels| levels == (1, 1)));
    assert!(all[demoted..].iter().all(|&levels| levels == (0, 1)));
}

#[test]
fn a_promoted_flow_waits_until_nothing_of_it_is_on_its_way() {
    let mut net = net(unit_config(LossRecovery::Sack), SchedulerKind::RoundRobin);
    net.open(FlowSpec { class: 2, ..flow(0, 30_000) });
    net.run(Time(5_500_000));
    net.control(0, FlowId(0), Control::Promote(1));
    finish(&mut net);
    let sent: Vec<(u64, u8)> = net
        .log
        .iter()
        .filter(|s| s.packet.header.kind == Kind::Data)
        .map(|s| (s.at.0 / 1_000_000, s.packet.header.class))
        .collect();
    // Six segments by 5 us, the last acknowledged at 5 + 1 + 20 us; then the next, of the new class.
    assert_eq!(sent[..7], [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (26, 1)]);
    assert!(sent[6..].iter().all(|&(_, class)| class == 1) && sent.len() == 30);
    let changed = net.events.iter().filter(|e| matches!(e.2, Event::ClassChanged { class: 1, .. })).count();
    assert_eq!((changed, net.completed()[0].retransmits), (1, 0));
}

#[test]
fn promotions_and_demotions_at_any_instant_never_stall_a_flow_whatever_is_lost() {
    for seed in 0..60 {
        let faults = Faults { loss: 0.15, reorder: 0.1, ..Faults::default() };
        let recovery = [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN][seed as usize % 3];
        let mut net = net(unit_config(recovery), SchedulerKind::RoundRobin).seeded(seed, faults);
        net.open(FlowSpec { class: 3, ..flow(0, 40_000) });
        let mut at = Time::ZERO;
        for step in 0u8..200 {
            at += Span(7_000_000 + 900_000 * seed);
            net.run(at);
            let class = ((u64::from(step) + seed) % 4) as u8;
            let control = if step % 3 == 0 { Control::Class(class) } else { Control::Promote(class) };
            net.control(0, FlowId(0), control);
        }
        finish(&mut net);
        assert_eq!(net.completed().len(), 1, "seed {seed}");
    }
}
