//! Tests of changes of peers.

use std::time::Duration;

use priolane_core::endpoint::Control;

use super::*;
use crate::config::Patience;
use crate::error::SendError;
use crate::peers::Change;

const REFUSED: u8 = 3;

/// Queues two messages to a peer, of which the second waits.
fn two_messages(driver: &mut Driver<Scripted>, to: SocketAddr) -> [Arc<Pending>; 2] {
    driver.setup.limits.flows = 1;
    [0, 1].map(|id| send(driver, id, Request::to(to), b"x"))
}

fn outcomes(receipts: &[Arc<Pending>]) -> Vec<Option<SendError>> {
    receipts.iter().map(|receipt| outcome(receipt).map(|outcome| outcome.unwrap_err())).collect()
}

fn forget(host: HostId) -> String {
    format!("{:?}", Command::ForgetHost(host))
}

#[test]
fn a_peer_that_was_started_again_fails_what_was_under_way_and_gets_what_waited() {
    let mut driver = driver(config());
    let (mut peer, host) = Peer::known_to(&mut driver);
    let receipts = two_messages(&mut driver, peer.address);
    for flow in [5, 6] {
        peer.send(&mut driver, 0, &payload(flow, 0, b"part"));
    }
    driver.endpoint.take_opened();
    assert_eq!(peer.greet(&mut driver, 2), host);
    driver.apply_changes();
    driver.fill_lanes();
    assert_eq!(outcomes(&receipts), [Some(SendError::Restarted(peer.address)), None]);
    assert_eq!(driver.endpoint.take_commands(), [forget(host)]);
    assert_eq!(driver.endpoint.take_opened(), [flow(&driver, 1)]);
    assert_eq!((driver.stats.dropped, driver.stats.failed), (2, 1));
    assert_eq!((driver.assembly.messages_of(host), driver.lanes[&host].open), (0, 1));
}

#[test]
fn a_peer_that_does_not_answer_or_falls_silent_fails_all_messages_with_the_time_that_was_waited() {
    let patience = Patience {
        greeting: Duration::from_secs(3),
        silence: Duration::from_secs(7),
        idle: Duration::from_secs(9),
    };
    let mut driver = driver(Config { patience, ..config() });
    let nobody = Peer::new();
    let receipts = two_messages(&mut driver, nobody.address);
    assert!(driver.endpoint.take_opened().is_empty(), "the peer is not known");
    let begun = driver.given;
    for (ms, over) in [(2_999, false), (3_001, true)] {
        driver.given = begun + Span::from_ms(ms);
        // Greetings go out again meanwhile.
        (0..9).for_each(|_| driver.peers.look(driver.given));
        driver.apply_changes();
        let expected = over.then_some(SendError::NoAnswer { peer: nobody.address, after: patience.greeting });
        assert_eq!(outcomes(&receipts), vec![expected; 2], "after {ms} ms");
    }
    assert_eq!((driver.stats.failed, driver.peers.count()), (2, 0));
    let commands = driver.endpoint.take_commands();
    assert!(commands.len() == 1 && commands[0].starts_with("ForgetHost"), "{commands:?}");

    let (peer, host) = Peer::known_to(&mut driver);
    let receipts = [2, 3].map(|id| send(&mut driver, id, Request::to(peer.address), b"x"));
    peer.send(&mut driver, 0, &payload(5, 0, b"part"));
    driver.endpoint.take_commands();
    let heard = driver.given;
    for (ms, over) in [(6_700, false), (7_001, true)] {
        driver.given = heard + Span::from_ms(ms);
        (0..9).for_each(|_| driver.peers.look(driver.given));
        driver.apply_changes();
        let expected = over.then_some(SendError::Silent { peer: peer.address, after: patience.silence });
        assert_eq!(outcomes(&receipts), vec![expected; 2], "after {ms} ms");
    }
    assert_eq!((driver.stats.failed, driver.stats.dropped), (4, 1));
    assert_eq!(driver.endpoint.take_commands(), [forget(host)]);
}

#[test]
fn a_refusal_fails_all_messages_with_its_reason() {
    for (reason, name, mtu) in [(0, "homa", 9_000u16), (1, "window", 1_500), (2, "window", 1_500)] {
        let mut driver = driver(config());
        let peer = Peer::new();
        let receipts = two_messages(&mut driver, peer.address);
        driver.transmit();
        let hello = peer.next_of(0);
        let mut refusal = [0; 28];
        refusal[0] = REFUSED;
        refusal[1..9].copy_from_slice(&hello[9..17]);
        refusal[9] = reason;
        refusal[10..10 + name.len()].copy_from_slice(name.as_bytes());
        refusal[26..].copy_from_slice(&mtu.to_le_bytes());
        peer.send(&mut driver, 0, &refusal);
        driver.apply_changes();
        let error = match reason {
            0 => SendError::Mismatch {
                peer: peer.address,
                theirs: "homa with an MTU of 9000".to_owned(),
                ours: "window with an MTU of 1500".to_owned(),
            },
            1 => SendError::PeerFull(peer.address),
            _ => SendError::NeedsKey(peer.address),
        };
        assert_eq!(outcomes(&receipts), vec![Some(error); 2]);
        assert_eq!((driver.stats.failed, driver.peers.count()), (2, 0));
        let commands = driver.endpoint.take_commands();
        assert!(commands.len() == 1 && commands[0].starts_with("ForgetHost"), "{commands:?}");
    }
}

#[test]
fn a_peer_that_makes_room_for_another_or_cannot_be_greeted_fails_all_messages() {
    for is_evicted in [true, false] {
        let mut driver = driver(config());
        let (peer, host) = Peer::known_to(&mut driver);
        let receipts = two_messages(&mut driver, peer.address);
        driver.endpoint.take_commands();
        let (change, error) = if is_evicted {
            (Change::Evicted(host), SendError::Peers)
        } else {
            (Change::RandomFailure(host), SendError::Random(peer.address))
        };
        driver.apply(change);
        assert_eq!(outcomes(&receipts), vec![Some(error); 2]);
        assert_eq!((driver.endpoint.take_commands(), driver.stats.failed), (vec![forget(host)], 2));
    }
}

#[test]
fn a_rejection_fails_an_open_message_of_its_sender_and_no_other() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    let (stranger, _) = Peer::known_to(&mut driver);
    let receipts = two_messages(&mut driver, peer.address);
    let flows = [0, 1].map(|id| flow(&driver, id));
    driver.endpoint.take_commands();
    // Another peer names it, and the message that waits is named.
    stranger.say(&mut driver, TOO_LONG, flows[0]);
    peer.say(&mut driver, TOO_LONG, flows[1]);
    assert_eq!(outcomes(&receipts), [None, None]);
    peer.say(&mut driver, TOO_LONG, flows[0]);
    driver.fill_lanes();
    peer.say(&mut driver, GIVEN_UP, flows[1]);
    let expected = [SendError::TooLongForPeer(peer.address), SendError::GivenUp(peer.address)];
    assert_eq!(outcomes(&receipts), expected.map(Some));
    let abort = |flow| format!("{:?}", Command::Flow(FlowId(flow), Control::Abort));
    assert_eq!(driver.endpoint.take_commands(), flows.map(abort));
    assert_eq!(driver.stats.failed, 2);
}

#[test]
fn a_peer_that_restarts_costs_no_more_than_a_twentieth_of_the_time() {
    let mut driver = driver(config());
    let (mut peer, _) = Peer::known_to(&mut driver);
    let begun = driver.given;
    peer.greet(&mut driver, 2);
    driver.apply_changes();
    assert_eq!(driver.endpoint.take_commands().len(), 1);
    // However long it took: the next restart is possible 19 times that later.
    let (now, from) = (driver.given, driver.peers.may_forget_at());
    assert!(from > begun && from <= now + now.since(begun).times(19), "{from:?}");
    // Time does not go on in this test: another restart has no answer.
    driver.peers.note_forgotten(Span::from_ms(3_600_000), driver.given);
    peer.hello(&mut driver, 3);
    driver.transmit();
    assert!(peer.received().iter().all(|(_, bytes)| bytes[0] != WELCOME));
    assert!(driver.endpoint.take_commands().is_empty());
}
