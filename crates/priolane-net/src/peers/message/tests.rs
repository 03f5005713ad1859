//! Tests of the encoding of control messages.

use super::*;
use crate::key::Key;
use proptest::prelude::*;

fn control(byte: u8) -> hmac::Key {
    Key::new(&[byte; 16]).unwrap().secrets().control
}

const COOKIE: Cookie = Cookie { period: 9, value: 77 };
const NONCES: Nonces = Nonces { from: 4, to: 5 };

fn refused() -> Message {
    Message::Refused { nonce: 2, reason: Reason::NeedsKey, speaks: Speaks::new("homa", 1_500) }
}

fn without_key() -> [(Message, usize); 10] {
    let session = |message| Message::Session(NONCES, message);
    let offer = Offer::Open { run: 1, speaks: Speaks::new("homa", 1_500) };
    [
        (Message::Hello { nonce: 2, cookie: COOKIE, offer }, 44),
        (Message::Challenge { nonce: 2, cookie: COOKIE }, 18),
        (Message::Welcome { nonce: 2, acceptance: Acceptance::Open { run: 1, nonce: 3 } }, 25),
        (refused(), 28),
        (Message::Unknown(None), 1),
        (session(SessionMessage::Ping(6)), 21),
        (session(SessionMessage::Pong(6)), 21),
        (session(SessionMessage::Abort(6)), 21),
        (session(SessionMessage::Reject(6, Rejection::TooLong)), 21),
        (session(SessionMessage::Reject(6, Rejection::GivenUp)), 21),
    ]
}

fn with_key() -> [(Message, usize); 5] {
    [
        (Message::Hello { nonce: 2, cookie: COOKIE, offer: Offer::Sealed([6; FIRST]) }, 108),
        (Message::Challenge { nonce: 2, cookie: COOKIE }, 34),
        (Message::Welcome { nonce: 2, acceptance: Acceptance::Sealed([7; SECOND]) }, 89),
        (refused(), 44),
        (Message::Unknown(Some(8)), 25),
    ]
}

#[test]
fn messages_are_read_as_they_were_written_and_have_one_length() {
    let key = control(1);
    let open = without_key().into_iter().map(|(message, len)| (message, len, None));
    let sealed = with_key().into_iter().map(|(message, len)| (message, len, Some(&key)));
    for (message, expected, key) in open.chain(sealed) {
        let (bytes, len) = message.encode(key);
        assert_eq!(len, expected, "{message:?}");
        assert_eq!(Message::decode(&bytes[..len], key), Some(message));
        assert_eq!(Message::decode(&bytes[..len - 1], key), None, "{message:?}, cut");
        assert_eq!(Message::decode(&[&bytes[..len], &[0]].concat(), key), None, "{message:?}, longer");
    }
}

#[test]
fn a_message_of_another_key_or_changed_or_of_a_session_is_none() {
    let (key, other) = (control(1), control(2));
    for (message, _) in with_key() {
        let (bytes, len) = message.encode(Some(&key));
        assert_eq!(Message::decode(&bytes[..len], Some(&other)), None);
        for place in 0..len {
            let mut changed = bytes;
            changed[place] ^= 0x10;
            assert_eq!(Message::decode(&changed[..len], Some(&key)), None, "{message:?}, byte {place}");
        }
    }
    // With a key, messages of a session are taken only if they are sealed.
    let (bytes, len) = Message::Session(NONCES, SessionMessage::Pong(1)).encode(Some(&key));
    assert_eq!(Message::decode(&bytes[..len], Some(&key)), None);
}

#[test]
fn the_texts_of_sealed_messages_are_read_as_they_were_written() {
    for message in [SessionMessage::Ping(1), SessionMessage::Pong(u32::MAX), SessionMessage::Abort(258)] {
        let text = message.text();
        assert_eq!(SessionMessage::of_text(&text), Some(message));
        assert_eq!(SessionMessage::of_text(&text[..4]), None);
        assert_eq!(SessionMessage::of_text(&[4, 0, 0, 0, 0]), None);
    }
    let speaks = Speaks::new("window", 9_000);
    assert_eq!(Speaks::of_offer(&speaks.offer(77)), Some((77, speaks)));
}

proptest! {
    #[test]
    fn no_bytes_lead_to_a_panic_and_what_is_read_is_written_so(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some(message) = Message::decode(&bytes, None) {
            let (written, len) = message.encode(None);
            prop_assert_eq!(&written[..len], &bytes[..]);
        }
    }
}
