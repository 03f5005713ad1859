//! Tests of the orders of applications.

use std::time::Duration;

use priolane_core::endpoint::Control;
use priolane_core::units::Rate;

use super::*;
use crate::config::Limits;
use crate::error::SendError;
use crate::message::Delivery;

fn with_flows(flows: u32) -> Config {
    Config { limits: Limits { flows, ..Limits::default() }, ..config() }
}

#[test]
fn a_message_opens_a_flow_with_all_that_its_request_says() {
    let path = PathInfo { rate: Rate::from_bps(123_456), ..PathInfo::UNKNOWN };
    let mut driver = driver(Config { path, ..config() });
    let (peer, host) = Peer::known_to(&mut driver);
    let weights = Weights { theta: Rate::from_bps(5_000), w_milli: 2_500 };
    let request = Request::to(peer.address).class(3).deadline(Duration::from_micros(70)).weights(weights);
    let now = driver.now();
    send(&mut driver, 2, request, b"abcd");
    let [(opened, known)] = driver.endpoint.opened[..] else { panic!("{:?}", driver.endpoint.opened) };
    let expected = FlowRequest {
        class: 3,
        deadline: Some(now + Span::from_us(70)),
        weights,
        ..FlowRequest::new(FlowId(flow(&driver, 2)), host, Some(4), now)
    };
    assert_eq!((opened, known), (expected, path));
}

#[test]
fn as_many_messages_as_may_are_under_way_and_the_best_class_is_next() {
    let mut driver = driver(with_flows(2));
    let (peer, _) = Peer::known_to(&mut driver);
    for (id, class) in [(0, 5), (1, 5), (2, 5), (3, 4), (4, 5)] {
        send(&mut driver, id, Request::to(peer.address).class(class), b"x");
    }
    let flows = [0, 1, 2, 3, 4].map(|id| flow(&driver, id));
    assert_eq!(driver.endpoint.take_opened(), flows[..2]);
    // Message 4 is of the best class now; it keeps its place behind message 3 of the same class.
    order(&mut driver, Order::Class(MessageId(4), 4));
    for (done, next) in [(0, 3), (1, 4), (4, 2)] {
        report(&mut driver, completed(flows[done]));
        assert_eq!(driver.endpoint.take_opened(), [flows[next]]);
    }
    report(&mut driver, completed(flows[3]));
    report(&mut driver, completed(flows[2]));
    assert!(driver.endpoint.take_opened().is_empty());
    assert!(driver.lanes.is_empty() && driver.flows.is_empty() && driver.shared.is_flushed());
    assert_eq!((driver.stats.delivered, driver.stats.delivered_bytes, driver.stats.failed), (5, 5, 0));
}

#[test]
fn changes_of_a_message_reach_the_endpoint_once_it_has_the_message() {
    let mut driver = driver(with_flows(1));
    let (peer, _) = Peer::known_to(&mut driver);
    send(&mut driver, 0, Request::to(peer.address), b"x");
    send(&mut driver, 1, Request::to(peer.address), b"y");
    let weights = Weights { theta: Rate::from_bps(9_000), w_milli: 1_234 };
    for id in [0, 1] {
        order(&mut driver, Order::Weights(MessageId(id), weights));
        order(&mut driver, Order::Class(MessageId(id), 9));
    }
    // No message has this name.
    order(&mut driver, Order::Class(MessageId(2), 9));
    let open = FlowId(flow(&driver, 0));
    let change = |control| format!("{:?}", Command::Flow(open, control));
    let Weights { theta, w_milli } = weights;
    let expected = [change(Control::Weights { theta, w_milli }), change(Control::Class(9))];
    assert_eq!(driver.endpoint.take_commands(), expected);
    driver.endpoint.opened.clear();
    report(&mut driver, completed(open.0));
    let (opened, _) = driver.endpoint.opened[0];
    assert_eq!((opened.class, opened.weights), (9, weights));
}

#[test]
fn an_aborted_message_is_told_to_the_endpoint_and_the_peer_only_if_it_was_under_way() {
    let mut driver = driver(with_flows(1));
    let (peer, host) = Peer::known_to(&mut driver);
    let receipts = [0, 1, 2].map(|id| send(&mut driver, id, Request::to(peer.address), b"x"));
    let flows = [0, 1, 2].map(|id| flow(&driver, id));
    driver.endpoint.take_opened();
    order(&mut driver, Order::Abort(MessageId(1)));
    assert!(driver.endpoint.take_commands().is_empty());
    assert_eq!(outcome(&receipts[1]), Some(Err(SendError::Aborted)));
    order(&mut driver, Order::Abort(MessageId(0)));
    let aborted = format!("{:?}", Command::Flow(FlowId(flows[0]), Control::Abort));
    assert_eq!(driver.endpoint.take_commands(), [aborted]);
    assert_eq!(outcome(&receipts[0]), Some(Err(SendError::Aborted)));
    assert_eq!(driver.endpoint.take_opened(), [flows[2]], "there is room for the last one");
    driver.transmit();
    assert_eq!(peer.messages(), [(ABORT, flows[0])]);
    assert_eq!((driver.stats.failed, outcome(&receipts[2])), (2, None));
    assert_eq!(driver.lanes[&host].open, 1);
    // The message is gone.
    order(&mut driver, Order::Abort(MessageId(0)));
    assert_eq!(driver.stats.failed, 2);
}

#[test]
fn a_delivery_has_the_numbers_of_the_report_and_the_application_sees_the_counters_of_that_moment() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    let receipt = send(&mut driver, 6, Request::to(peer.address), b"abcdefg");
    assert_eq!(outcome(&receipt), None);
    let flow = flow(&driver, 6);
    report(&mut driver, completed(flow));
    let delivery = Delivery {
        id: MessageId(6),
        elapsed: Duration::from_nanos(18),
        rtt: Duration::from_nanos(17),
        retransmitted: 14,
        retransmits: 15,
        timeouts: 16,
    };
    assert_eq!(outcome(&receipt), Some(Ok(delivery)));
    let stats = driver.shared.stats();
    assert_eq!((stats.delivered, stats.delivered_bytes, stats.failed, stats.peers), (1, 7, 0, 1));
    // A report of a flow that is not here changes nothing.
    report(&mut driver, completed(flow));
    assert_eq!(driver.stats.delivered, 1);
}

#[test]
fn a_name_that_comes_again_while_its_message_is_under_way_fails_and_the_first_stays() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    let first = send(&mut driver, 1, Request::to(peer.address), b"x");
    let second = send(&mut driver, 1 + (1 << 32), Request::to(peer.address), b"y");
    assert_eq!((outcome(&first), outcome(&second)), (None, Some(Err(SendError::Peers))));
    assert_eq!((driver.stats.failed, driver.shared.stats().failed), (1, 1));
    // The order names the second message, whose flow is that of the first.
    order(&mut driver, Order::Abort(MessageId(1 + (1 << 32))));
    assert_eq!(outcome(&first), None);
}

#[test]
fn the_thread_ends_only_when_it_is_told() {
    let mut driver = driver(config());
    let now = driver.given;
    assert_eq!(driver.take_orders(now), Some(Turn::Idle));
    driver.shared.order(Order::Abort(MessageId(0)));
    assert_eq!(driver.take_orders(now), Some(Turn::Busy));
    driver.shared.order(Order::Stop);
    assert_eq!(driver.take_orders(now), None);
}
