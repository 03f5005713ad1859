//! Tests of the reports of a sender about itself, computed by hand.

use super::*;
use crate::ids::{FlowId, HostId};
use crate::packet::Frame;
use crate::units::PS_PER_S;

const RTT: Span = Span::from_us(10);

fn sender(bytes: u64, class: Class, config: &Config) -> Sender {
    let flow = FlowRequest { class, ..FlowRequest::new(FlowId(0), HostId(1), Some(bytes), Time::ZERO) };
    Sender::new(flow, RTT, Time::ZERO, config)
}

#[test]
fn a_report_counts_the_payload_sent_again_and_not_full_packets() {
    let config = Config::expresspass(Frame::ETHERNET);
    let mut sender = sender(100, 0, &config);
    assert_eq!(sender.token(Time(1), 0, &config).packet, Some(0));
    assert_eq!((sender.report(Time(1)).retransmits, sender.report(Time(1)).retransmitted), (0, 0));
    sender.missed(Interval { start: 0, end: 1 }, Time(2), &config);
    assert_eq!(sender.report(Time(2)).retransmits, 0, "nothing is sent again yet");
    assert_eq!(sender.token(Time(3), 0, &config).packet, Some(0));
    assert_eq!((sender.report(Time(3)).retransmits, sender.report(Time(3)).retransmitted), (1, 100));
}

#[test]
fn going_back_sends_again_only_what_was_sent() {
    let config = Config::expresspass(Frame::ETHERNET);
    let mut sender = sender(5 * 1460, 0, &config);
    (0..3).for_each(|n| assert_eq!(sender.token(Time(n), 0, &config).packet, Some(n)));
    sender.missed(Interval { start: 1, end: 2 }, Time(4), &config);
    (1..5).for_each(|n| assert_eq!(sender.token(Time(5), 0, &config).packet, Some(n)));
    assert_eq!((sender.report(Time(9)).retransmits, sender.report(Time(9)).retransmitted), (2, 2 * 1460));
}

#[test]
fn the_first_class_is_that_of_the_first_packet() {
    let config = Config::top(Frame::ETHERNET, super::super::priority::Priority::Asked);
    let mut sender = sender(10_000, 3, &config);
    sender.reclassify(2);
    sender.token(Time(1), 0, &config);
    sender.reclassify(1);
    let report = sender.report(Time(2));
    assert_eq!((report.class_first, report.class_last), (2, 1));
}

#[test]
fn no_rate_is_known_where_no_time_has_gone_by() {
    let config = Config::expresspass(Frame::ETHERNET);
    let mut sender = sender(1_000, 0, &config);
    sender.done(&config);
    assert_eq!(sender.report(Time::ZERO).rate_bps, 0);
    assert_eq!(sender.report(Time(PS_PER_S)).rate_bps, 8_000);
}
