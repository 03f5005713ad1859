//! Bytes that no sender wrote, or that changed on their way.

use priolane_core::telemetry::Path;
use priolane_core::transport::receiver_driven::ControlMessage;
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::wire::{DecodeError, Format, WireBody};
use proptest::prelude::*;

use crate::packets::{notes, readings, segments, tickets};
use crate::{NOW, codec, decode, encode};

/// Bytes are refused, or are the one encoding of what they are taken for. Whether they are taken.
fn one_encoding<B: WireBody>(datagram: &[u8]) -> bool {
    let Ok((packet, payload)) = decode::<B>(datagram) else { return false };
    let mut buffer = [0; 256];
    let len = codec::<B>().encode(&packet, NOW, &mut buffer);
    let len = len.unwrap_or_else(|error| panic!("{error}: {packet:?} of {datagram:02x?}"));
    assert_eq!([&buffer[..len], payload].concat(), datagram, "{packet:?}");
    true
}

/// As for `one_encoding`, in any format.
fn one_format(datagram: &[u8]) -> usize {
    let taken = [
        one_encoding::<Segment>(datagram),
        one_encoding::<Segment<Path>>(datagram),
        one_encoding::<TokenMessage>(datagram),
        one_encoding::<ControlMessage>(datagram),
    ];
    taken.into_iter().filter(|&taken| taken).count()
}

/// Every bit flipped, every length that is too short, and one byte too many.
fn survives(datagram: &[u8]) {
    assert_eq!(one_format(datagram), 1);
    // Payload is payload: its first bytes stand for all.
    let head = datagram.len().min(260);
    for bit in 0..8 * head {
        let mut flipped = datagram.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(one_format(&flipped) <= 1);
    }
    for len in 0..head {
        assert!(one_format(&datagram[..len]) <= 1);
    }
    assert!(one_format(&[datagram, &[0]].concat()) <= 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_segments_are_refused_or_other_segments(packet in segments(Just(()))) {
        survives(&encode(&packet).unwrap());
    }

    #[test]
    fn damaged_segments_with_telemetry_are_refused_or_other_segments(packet in segments(readings())) {
        survives(&encode(&packet).unwrap());
    }

    #[test]
    fn damaged_tickets_are_refused_or_other_tickets(packet in tickets()) {
        survives(&encode(&packet).unwrap());
    }

    #[test]
    fn damaged_notes_are_refused_or_other_notes(packet in notes()) {
        survives(&encode(&packet).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn arbitrary_bytes_are_refused_or_a_packet(first in 0x10..0x14u8, rest in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert!(one_format(&[&[first], rest.as_slice()].concat()) <= 1);
    }

    #[test]
    fn small_numbers_are_refused_or_a_packet(first in 0x10..0x14u8, rest in prop::collection::vec(0..16u8, 0..40)) {
        prop_assert!(one_format(&[&[first], rest.as_slice()].concat()) <= 1);
    }
}

/// Returns the error for `bytes`, which follow the common header of message `number` in the format of `B`.
fn error<B: WireBody>(number: u8, bytes: &[u8]) -> String {
    let header = [0x10 | B::FORMAT as u8, number, 1, 0, 0, 0];
    decode::<B>(&[&header, bytes].concat()).unwrap_err().to_string()
}

#[test]
fn errors_name_what_is_wrong() {
    assert_eq!(
        decode::<ControlMessage>(&[]).unwrap_err().to_string(),
        "the datagram ends before version and format"
    );
    assert_eq!(
        decode::<ControlMessage>(&[0x23]).unwrap_err().to_string(),
        "the wire format version is 2, not 1"
    );
    assert_eq!(decode::<ControlMessage>(&[0x16]).unwrap_err(), DecodeError::UnknownFormat(6));
    let other = decode::<ControlMessage>(&[0x12, 0, 0, 0, 0, 0]).unwrap_err();
    assert_eq!(other, DecodeError::OtherFormat { found: Format::Tokens, expected: Format::ReceiverDriven });
    assert_eq!(other.to_string(), "the packet has format tokens, not receiver-driven");

    assert_eq!(error::<ControlMessage>(10, &[]), "format receiver-driven has no message 10");
    assert_eq!(error::<TokenMessage>(15, &[]), "format tokens has no message 15");
    assert_eq!(error::<Segment>(4, &[]), "format window has no message 4");
    assert_eq!(error::<Segment>(7, &[]), "format window has no message 7");
    assert_eq!(error::<Segment>(8, &[]), "format window has no message 8");
    assert_eq!(error::<Segment>(2, &[0; 3]), "the datagram ends before stamp");
    assert_eq!(error::<Segment>(2, &[0; 5]), "1 bytes follow the last field");
    assert_eq!(error::<Segment>(0, &[0; 10]), "payload is 0, not within 1 to 1456");
    assert_eq!(error::<Segment>(0, &[0; 10 + 1_457]), "payload is 1457, not within 1 to 1456");
    // A byte of payload at offset 2^48 - 1.
    assert_eq!(
        error::<Segment>(0, &[[0xff; 6].as_slice(), &[0; 5]].concat()),
        "end of the payload is 281474976710656, not within 0 to 281474976710655"
    );
    // An ACK with a block of 5 to 5, one with an empty block, one with half a block.
    let block = |start, end| [[0; 14].as_slice(), &[start, 0, 0, 0, end, 0, 0, 0]].concat();
    assert_eq!(
        error::<Segment>(1, &block(5, 5)),
        "end of a SACK block is 5, not within 6 to 281474976710655"
    );
    assert_eq!(
        error::<Segment>(1, &block(0, 0)),
        "end of a SACK block is 0, not within 1 to 281474976710655"
    );
    assert_eq!(error::<Segment>(1, &[0; 18]), "the datagram ends before end of a SACK block");
    // A reading of one hop with rate 0.
    let reading = [[0; 10].as_slice(), &[1], &[0; 33]].concat();
    assert_eq!(
        error::<Segment<Path>>(0, &reading),
        "rate of a reading is 0, not within 1 to 18446744073709551615"
    );
    // A FIN of 0 bytes; a MISS of packets 3 to 3.
    assert_eq!(error::<TokenMessage>(6, &[0; 8]), "size of the flow is 0, not within 1 to 281474976710655");
    assert_eq!(
        error::<TokenMessage>(4, &[3, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0]),
        "first missing packet is 3, not within 0 to 2"
    );
    // Two bytes of payload in a flow of one; a grant of class 16.
    let data = [[0; 6].as_slice(), &[1], &[0; 11 + 2]].concat();
    assert_eq!(error::<ControlMessage>(0, &data), "size of the flow is 1, not within 2 to 281474976710655");
    assert_eq!(error::<ControlMessage>(4, &[0, 0, 0, 0, 0, 0, 16]), "class is 16, not within 0 to 15");
}
