//! The class of ACKs, handshake packets and replies to probes where it is that of the packet they answer.

use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Packet};
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::{Config, ControlClass, Handshake, LossRecovery, Segment};
use priolane_core::units::{Span, Time};

use crate::link::{Fate, Net, SeenPacket, UNIT_HOP, drop_once, flow, once, unit_config, unit_reno};

/// Data is one class worse from segment `worse` on.
fn config(recovery: LossRecovery, worse: u64) -> Config {
    Config {
        control_class: ControlClass::OfFlow,
        class: DemotionThresholds::new(&[worse * 1000], Count::StreamOffset).unwrap(),
        ..unit_config(recovery)
    }
}

/// A network after the last packet of a flow of class 5.
fn ended(config: Config, segments: u64, judge: impl FnMut(&SeenPacket) -> Fate + 'static) -> Net<NewReno> {
    let mut net = Net::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP).judged(judge);
    net.open(FlowSpec { class: 5, ..flow(0, segments * 1000) });
    assert!(net.run(Time(1_000_000_000_000)));
    assert_eq!(net.completed().len(), 1);
    net
}

/// Kinds and classes of the packets that left a host.
fn sent(net: &Net<NewReno>, from: usize) -> Vec<(Kind, Class)> {
    let of_host = net.log.iter().filter(|seen| seen.from == from).map(|seen| seen.packet.header);
    of_host.map(|header| (header.kind, header.class)).collect()
}

fn acks(classes: &[Class]) -> Vec<(Kind, Class)> {
    classes.iter().map(|&class| (Kind::Ack, class)).collect()
}

#[test]
fn handshake_packets_have_the_class_in_which_data_begins_and_each_ack_that_of_its_data() {
    let config = Config { handshake: Handshake::OneRtt, ..config(LossRecovery::Sack, 2) };
    let net = ended(config, 4, |_| Fate::Pass);
    let data = [5, 5, 6, 6].map(|class| (Kind::Data, class));
    let of_sender: Vec<(Kind, Class)> = [(Kind::Syn, 5), (Kind::Ack, 5)].into_iter().chain(data).collect();
    assert_eq!(sent(&net, 0), of_sender);
    let of_receiver: Vec<(Kind, Class)> =
        [(Kind::SynAck, 5)].into_iter().chain(acks(&[5, 5, 6, 6])).collect();
    assert_eq!(sent(&net, 1), of_receiver);
}

#[test]
fn an_ack_of_several_packets_has_the_class_of_the_last() {
    let config = Config { ack_every: 2, ack_delay: Span::from_us(40), ..config(LossRecovery::Sack, 1) };
    // Segments 0 and 1 are acknowledged together, 2 and 3, and the last.
    assert_eq!(sent(&ended(config, 5, |_| Fate::Pass), 1), acks(&[6, 6, 6]));
}

#[test]
fn duplicate_acks_and_the_ack_of_a_repair_have_the_class_of_what_arrived() {
    // Segment 0 is lost: 1 to 3 are answered in their class, and then its retransmission, which keeps the class of its offset.
    let net = ended(config(LossRecovery::Sack, 1), 4, drop_once(vec![0]));
    assert_eq!(sent(&net, 1), acks(&[6, 6, 6, 5]));
}

#[test]
fn the_report_of_a_trimmed_segment_has_its_class() {
    let net = ended(config(LossRecovery::Trims, 1), 3, once(vec![1], Fate::Trim));
    let reports = net.log.iter().map(|seen| seen.packet.header).filter(|h| h.marks.has(Marks::TRIMMED));
    let of_receiver = reports.filter(|header| header.kind == Kind::Ack);
    assert_eq!(of_receiver.map(|header| header.class).collect::<Vec<_>>(), [6]);
    assert_eq!(sent(&net, 1), acks(&[5, 6, 6, 6]));
}

#[test]
fn a_probe_is_answered_in_its_class() {
    let config = config(LossRecovery::Sack, 1);
    let mut net = Net::<NewReno>::new(config, unit_reno(10), SchedulerKind::RoundRobin, &UNIT_HOP);
    let header = Header {
        flow: FlowId(0),
        src: HostId(0),
        dst: HostId(1),
        class: 9,
        kind: Kind::Probe,
        ..Header::default()
    };
    net.inject(1, &Packet { header, body: Segment::default() });
    assert_eq!(sent(&net, 1), [(Kind::Probe, 9)]);
}
