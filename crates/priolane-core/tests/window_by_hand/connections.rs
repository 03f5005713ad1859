//! Flows that share a connection: one stream at the sender, flows of their own everywhere else.

use std::collections::BTreeMap;

use priolane_core::endpoint::{Control, FlowReport, FlowSpec};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{ConnectionId, FlowId};
use priolane_core::packet::Kind;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::cubic::{self, Cubic};
use priolane_core::transport::dctcp::{self, Dctcp};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{Config, CongestionControl, Handshake, LossRecovery};
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;

use crate::link::{Fate, Faults, Net, SeenPacket, UNIT_HOP, flow, unit_config, unit_reno};

const END: Time = Time(100_000_000_000_000);

/// A flow of `segments` of the connection `number`, opened at `us`.
fn of_connection(id: u32, segments: u64, number: u32, us: u64) -> FlowSpec {
    let start = Time(us * 1_000_000);
    FlowSpec { connection: ConnectionId::new(number), start, ..flow(id, segments * 1000) }
}

fn reno(config: Config, window: u64) -> Net<NewReno> {
    Net::new(config, unit_reno(window), SchedulerKind::RoundRobin, &UNIT_HOP)
}

/// The instants, in microseconds, at which data left the sender.
fn sent<C: CongestionControl<Telemetry = ()>>(net: &Net<C>) -> Vec<u64> {
    net.data(0).iter().map(|&(at, _)| at.0 / 1_000_000).collect()
}

/// Drops the data packets that leave as these, counted from 0.
fn drop_nth(places: Vec<usize>) -> impl FnMut(&SeenPacket) -> Fate {
    let mut count = 0;
    move |seen| {
        if seen.packet.header.kind != Kind::Data {
            return Fate::Pass;
        }
        count += 1;
        if places.contains(&(count - 1)) { Fate::Drop } else { Fate::Pass }
    }
}

#[test]
fn flows_opened_at_once_are_sent_at_the_instants_of_one_flow_of_all_their_bytes() {
    // The other method is a single flow: it has no connection, and the same bytes.
    for recovery in [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN] {
        for parts in [vec![14, 14], vec![1, 2, 25], vec![3, 1, 1, 1, 22], vec![27, 1]] {
            let mut one = reno(unit_config(recovery), 2);
            one.open(flow(0, 28_000));
            let mut shared = reno(unit_config(recovery), 2);
            (0..).zip(&parts).for_each(|(id, &part)| shared.open(of_connection(id, part, 7, 0)));
            assert!(one.run(END) && shared.run(END));
            assert_eq!(sent(&one), sent(&shared), "{recovery:?} {parts:?}");
            let last = |net: &Net<NewReno>| net.delivered().last().map(|&(_, at)| at);
            assert_eq!(last(&one), last(&shared));
            let ids: Vec<u32> = shared.completed().iter().map(|report| report.flow.0).collect();
            assert_eq!(ids, (0..parts.len() as u32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_loss_at_the_end_of_a_flow_is_found_by_the_flows_behind_it() {
    // The last segment of the first flow is lost. Alone, only the timeout would repair it.
    for recovery in [LossRecovery::Sack, LossRecovery::NewReno] {
        let mut one = reno(unit_config(recovery), 10).judged(drop_nth(vec![4]));
        one.open(flow(0, 40_000));
        let mut shared = reno(unit_config(recovery), 10).judged(drop_nth(vec![4]));
        shared.open(of_connection(0, 5, 0, 0));
        shared.open(of_connection(1, 35, 0, 0));
        assert!(one.run(END) && shared.run(END));
        assert_eq!(sent(&one), sent(&shared), "{recovery:?}");
        let reports = shared.completed();
        assert_eq!(reports.iter().map(|report| report.timeouts).sum::<u32>(), 0);
        assert_eq!(reports.iter().map(|report| report.retransmits).collect::<Vec<_>>(), [1, 0]);
        let mut alone = reno(unit_config(recovery), 10).judged(drop_nth(vec![4]));
        alone.open(flow(0, 5_000));
        assert!(alone.run(END));
        assert_eq!(alone.completed()[0].timeouts, 1);
    }
}

#[test]
fn each_flow_of_a_connection_reports_its_own_losses() {
    // Segments 0 to 4, 5 to 24 and 25 to 34 of 1,000 B. The last of the first flow and one of the third are lost. As one was
    // sent twice, the 30th to be sent is number 29.
    let mut net = reno(unit_config(LossRecovery::Sack), 10).judged(drop_nth(vec![4, 30]));
    for (id, segments) in [(0, 5), (1, 20), (2, 10)] {
        net.open(of_connection(id, segments, 0, 0));
    }
    assert!(net.run(END));
    let reports = net.completed();
    let of_each = |value: fn(&FlowReport) -> u64| reports.iter().map(value).collect::<Vec<_>>();
    assert_eq!(of_each(|report| report.bytes), [5_000, 20_000, 10_000]);
    assert_eq!(of_each(|report| report.retransmits.into()), [1, 0, 1]);
    assert_eq!(of_each(|report| report.retransmitted), [1_000, 0, 1_000]);
    assert_eq!(of_each(|report| report.timeouts.into()), [0, 0, 0]);
}

#[test]
fn a_later_flow_begins_with_the_window_that_the_connection_has() {
    // Window 2, 14 segments: each ACK adds one, so 16 when the last ACK is back at 70 us. 16 of 20 segments leave at once;
    // the ACK of the first, 21 us later, lets two go.
    let mut net = reno(unit_config(LossRecovery::Sack), 2);
    net.open(of_connection(0, 14, 0, 0));
    net.open(of_connection(1, 20, 0, 100));
    assert!(net.run(END));
    let expected: Vec<u64> = (100..116).chain([121, 122, 123, 124]).collect();
    assert_eq!(sent(&net)[14..], expected);
    // Another connection, and a flow without one, begin with a window of 2.
    for other in [of_connection(1, 20, 1, 100), FlowSpec { connection: None, ..of_connection(1, 20, 0, 100) }]
    {
        let mut net = reno(unit_config(LossRecovery::Sack), 2);
        net.open(of_connection(0, 14, 0, 0));
        net.open(other);
        assert!(net.run(END));
        assert_eq!(sent(&net)[14..18], [100, 101, 121, 122]);
    }
}

/// The window of a connection in bytes once its first flow has ended, and when the second begins at `us`.
fn windows<C: CongestionControl<Telemetry = ()>>(controller: C::Config, us: u64) -> [u64; 2] {
    let mut net: Net<C> =
        Net::new(unit_config(LossRecovery::Sack), controller, SchedulerKind::RoundRobin, &UNIT_HOP);
    net.open(of_connection(0, 14, 0, 0));
    net.open(of_connection(1, 20, 0, us));
    net.run(Time(us * 1_000_000 - 1));
    let before = net.hosts[0].controller(FlowId(0)).unwrap().window();
    net.run(Time(us * 1_000_000));
    [before, net.hosts[0].controller(FlowId(1)).unwrap().window()]
}

#[test]
fn after_a_pause_longer_than_the_timeout_the_first_window_holds_again() {
    let dctcp = || dctcp::Config {
        reno: unit_reno(2),
        g: 1.0 / 16.0,
        alpha_0: 1.0,
        min_window: 2,
        reduction: dctcp::Reduction::AtOnce,
    };
    let cubic = || cubic::Config { init_window: Some(2_000), ..cubic::Config::default() };
    // `first_window` is the transport's key, 10 segments; the flow began with 2, and the connection has 16. The last
    // segment left at 49 us, and the timeout is 200 us.
    for (us, expected) in [(240, 16_000), (260, 10_000), (5_000, 10_000)] {
        assert_eq!(windows::<NewReno>(unit_reno(2), us), [16_000, expected]);
        assert_eq!(windows::<Dctcp>(dctcp(), us), [16_000, expected]);
        assert_eq!(windows::<Cubic>(cubic(), us), [16_000, expected]);
    }
}

#[test]
fn a_connection_shakes_hands_once() {
    let config = Config { handshake: Handshake::OneRtt, ..unit_config(LossRecovery::Sack) };
    let mut net = reno(config, 10);
    net.open(of_connection(0, 2, 0, 0));
    net.open(of_connection(1, 2, 0, 1));
    net.open(of_connection(2, 2, 0, 200));
    net.open(of_connection(3, 2, 1, 200));
    assert!(net.run(END));
    let syns = net.log.iter().filter(|seen| seen.packet.header.kind == Kind::Syn);
    assert_eq!(syns.map(|seen| seen.packet.header.flow).collect::<Vec<_>>(), [FlowId(0), FlowId(3)]);
    // 20 us for the handshake of packets without size.
    assert_eq!(sent(&net)[..6], [20, 21, 22, 23, 200, 201]);
    assert_eq!(net.completed().len(), 4);
}

#[test]
fn an_aborted_flow_of_a_connection_does_not_hold_up_the_next() {
    // Flow 0 is aborted once 10 of its segments are sent, flow 1 while it waits.
    let mut net = reno(unit_config(LossRecovery::Sack), 10);
    net.open(of_connection(0, 1_000, 0, 0));
    net.open(of_connection(1, 50, 0, 1));
    net.open(of_connection(2, 5, 0, 2));
    net.run(Time(15_000_000));
    net.control(0, FlowId(1), Control::Abort);
    net.control(0, FlowId(0), Control::Abort);
    assert!(net.run(END));
    assert_eq!(net.completed().iter().map(|report| report.flow).collect::<Vec<_>>(), [FlowId(2)]);
    assert_eq!(net.delivered().iter().map(|&(flow, _)| flow).collect::<Vec<_>>(), [FlowId(2)]);
    assert_eq!(net.data(0).len(), 15);
}

/// Flows of random sizes and starts over three connections, on a link that loses, repeats and reorders.
fn storm(seed: u64, recovery: LossRecovery) -> (Net<NewReno>, Vec<FlowSpec>) {
    let mut draw = Stream::new(seed, Purpose::Sizes, 0);
    let faults = Faults {
        loss: [0.0, 0.02, 0.2][draw.below(3) as usize],
        duplicate: 0.02,
        reorder: 0.1,
        jitter: Span::from_us(draw.below(40)),
        ..Faults::default()
    };
    let mut net = reno(unit_config(recovery), 1 + draw.below(10)).seeded(seed, faults);
    let mut at = 0;
    let flows: Vec<FlowSpec> = (0..40)
        .map(|id| {
            at += [0, 5, 30, 400][draw.below(4) as usize];
            let size = Some([1 + draw.below(300), 1 + draw.below(30_000)][draw.below(2) as usize]);
            FlowSpec { size, ..of_connection(id, 1, draw.below(3) as u32, at) }
        })
        .collect();
    flows.iter().for_each(|&flow| net.open(flow));
    (net, flows)
}

#[test]
fn under_losses_every_flow_arrives_once_and_connections_send_in_the_order_of_their_flows() {
    for seed in 0..rounds(60, 4_000) {
        for recovery in [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN] {
            let (mut net, flows) = storm(seed, recovery);
            assert!(net.run(END), "seed {seed} {recovery:?}");
            let mut delivered: Vec<u32> = net.delivered().iter().map(|&(flow, _)| flow.0).collect();
            delivered.sort_unstable();
            assert_eq!(delivered, (0..40).collect::<Vec<_>>(), "seed {seed} {recovery:?}");
            let reports = net.completed();
            assert_eq!(reports.len(), 40);
            for report in &reports {
                assert_eq!(Some(report.bytes), flows[report.flow.index()].size);
            }
            // Sent again in the log, counted from the offsets that left before.
            let (mut next, mut again): (BTreeMap<u32, u64>, u64) = (BTreeMap::new(), 0);
            let mut current: BTreeMap<u32, u32> = BTreeMap::new();
            for seen in net.log.iter().filter(|seen| seen.from == 0 && seen.packet.header.kind == Kind::Data)
            {
                let header = &seen.packet.header;
                let end = header.offset.get() + u64::from(header.payload);
                let sent = next.entry(header.flow.0).or_default();
                if end <= *sent {
                    again += 1;
                    continue;
                }
                assert_eq!(header.offset.get(), *sent, "new data follows what was sent");
                *sent = end;
                let connection = flows[header.flow.index()].connection.unwrap().number();
                let before = current.insert(connection, header.flow.0);
                assert!(before.is_none_or(|before| before <= header.flow.0), "seed {seed}: order");
            }
            let counted: u64 = reports.iter().map(|report| u64::from(report.retransmits)).sum();
            assert_eq!(counted, again, "seed {seed} {recovery:?}");
        }
    }
}
