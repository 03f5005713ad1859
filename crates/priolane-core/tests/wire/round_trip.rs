//! A packet arrives as it was sent.

use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::telemetry::Path;
use priolane_core::transport::Stamp;
use priolane_core::transport::receiver_driven::{ControlMessage, MessageType};
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::{Span, Time};
use priolane_core::wire::{EcnCodepoint, EncodeError, FieldRange, Format, WireBody};
use proptest::prelude::*;

use crate::packets::{notes, readings, segments, tickets};
use crate::{META, NOW, codec, decode, encode};

/// The packet, as its datagram is decoded.
fn returns<B: WireBody + PartialEq>(packet: Packet<B>) {
    let datagram = encode(&packet).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
    let (back, payload) = decode::<B>(&datagram).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
    // Ethernet's header, checksum and gap; IP and UDP headers.
    let wire = (datagram.len() + 28 + 18).max(64) + 20;
    assert_eq!(back.header, Header { wire: wire as u16, ..packet.header });
    assert_eq!(back.body, packet.body);
    assert_eq!(payload, &datagram[datagram.len() - usize::from(packet.header.payload)..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_segment_arrives_as_it_was_sent(packet in segments(Just(()))) {
        returns(packet);
    }

    #[test]
    fn a_segment_with_telemetry_arrives_as_it_was_sent(packet in segments(readings())) {
        returns(packet);
    }

    #[test]
    fn a_ticket_arrives_as_it_was_sent(packet in tickets()) {
        returns(packet);
    }

    #[test]
    fn a_note_arrives_as_it_was_sent(packet in notes()) {
        returns(packet);
    }

    /// Whatever endpoints may come to send: it is refused here, or taken at the other end.
    #[test]
    fn what_is_encoded_is_decoded(
        (kind, bits, flow, offset) in (0..8u8, 0..64u8, any::<u32>(), 0..=Offset::MAX),
        (rank, payload, numbers) in (any::<u64>(), 0..2_000u16, any::<[u64; 2]>()),
        (message_type, small) in (0..10usize, any::<[u32; 4]>()),
    ) {
        use MessageType::*;
        let header = Header {
            rank, payload, kind: Kind::try_from(kind).unwrap(), marks: Marks::from_bits(bits).unwrap(),
            flow: FlowId(flow), offset: Offset::new(offset), ..Header::default()
        };
        let [a, b, c, d] = small;
        let [size, deadline] = numbers;
        let verbs = [Data, Request, Token, Pull, Grant, Ack, Nack, Resend, Busy, Unknown];
        taken(header, Segment { stamp: Stamp(a), one_way: b, sack: [(a, b), (c, d)], telemetry: () });
        taken(header, Segment { telemetry: Path::default(), sack: [(0, 0), (c, d)], ..Segment::default() });
        taken(header, ControlMessage { size, count: a, window: b as u16, class: c as u8, message_type: verbs[message_type] });
        let sync = TokenMessage::Sync { size, deadline: Time(deadline), unscheduled: a as u16, asked: b as u8 };
        for body in [sync, TokenMessage::Miss { first: size, end: deadline }, TokenMessage::Fin { size },
            TokenMessage::Data { seq: a, stamp: Stamp(b) }, TokenMessage::Unscheduled, TokenMessage::Token { seq: a, stamp: Stamp(b) }] {
            taken(header, body);
        }
    }
}

fn taken<B: WireBody>(header: Header, body: B) {
    if let Ok(datagram) = encode(&Packet { header, body }) {
        decode::<B>(&datagram).unwrap_or_else(|error| panic!("{error}: {header:?} {body:?}"));
    }
}

#[test]
fn what_does_not_travel_is_what_the_receiving_host_says_or_default() {
    let header = Header {
        rank: 9,
        src: HostId(1),
        dst: HostId(2),
        entropy: 77,
        wire: 1,
        class: 3,
        host_level: 2,
        payload: 10,
        marks: Marks::CONGESTED,
        ..Header::default()
    };
    let datagram = encode(&Packet { header, body: Segment::<()>::default() }).unwrap();
    let (back, _) = decode::<Segment>(&datagram).unwrap();
    let expected = Header {
        src: META.src,
        dst: META.dst,
        class: META.class,
        marks: Marks::ECN_CAPABLE,
        payload: 10,
        // 28 + 16 + 10 bytes, Ethernet's 18 and 20.
        wire: 92,
        ..Header::default()
    };
    assert_eq!(back.header, expected);
}

#[test]
fn ecn_marks_are_the_codepoints_of_ip() {
    for (bits, codepoint, marks) in [
        (0b00, EcnCodepoint::NotEct, Marks::none()),
        (0b01, EcnCodepoint::Ect1, Marks::ECN_CAPABLE),
        (0b10, EcnCodepoint::Ect0, Marks::ECN_CAPABLE),
        (0b11, EcnCodepoint::Ce, Marks::ECN_CAPABLE.with(Marks::CONGESTED)),
    ] {
        // With the DSCP above it.
        assert_eq!(EcnCodepoint::from_bits(46 << 2 | bits), codepoint);
        assert_eq!((codepoint as u8, codepoint.marks()), (bits, marks));
    }
    assert_eq!(EcnCodepoint::of(Marks::ECN_CAPABLE.with(Marks::LAST)), EcnCodepoint::Ect0);
    assert_eq!(EcnCodepoint::of(Marks::CONGESTED), EcnCodepoint::Ce);
    assert_eq!(EcnCodepoint::of(Marks::ECHO), EcnCodepoint::NotEct);
}

/// A SYNC with this deadline, sent at NOW, that arrives where the clock says `at`.
fn deadline_at(deadline: Time, at: Time) -> Time {
    let body = TokenMessage::Sync { size: 1, deadline, unscheduled: 0, asked: 0 };
    let header = Header { kind: Kind::Syn, ..Header::default() };
    let datagram = encode(&Packet { header, body }).unwrap();
    let meta = priolane_core::wire::RecvMeta { at, ..META };
    match codec::<TokenMessage>().decode(&datagram, &meta).unwrap().0.body {
        TokenMessage::Sync { deadline, .. } => deadline,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deadline_travels_as_the_time_left() {
    let ms = Span::from_ms(1);
    assert_eq!(deadline_at(NOW + ms, Time(5)), Time(5) + ms);
    assert_eq!(deadline_at(Time::NEVER, Time(5)), Time::NEVER);
    // It has passed, or is further away than any timer.
    assert_eq!(deadline_at(NOW - ms, Time(5)), Time(5));
    assert_eq!(deadline_at(NOW + Span(2 * Span::LONGEST.0), Time(5)), Time(5) + Span::LONGEST);
}

#[test]
fn a_token_counts_packets_up_to_four_billion() {
    let mss = u64::from(codec::<TokenMessage>().frame().mss());
    let arrives = |offset| {
        let header = Header { kind: Kind::Credit, offset: Offset::new(offset), ..Header::default() };
        let body = TokenMessage::Token { seq: 1, stamp: Stamp(2) };
        decode::<TokenMessage>(&encode(&Packet { header, body }).unwrap()).unwrap().0.header.offset.get()
    };
    assert_eq!(arrives(3 * mss), 3 * mss);
    assert_eq!(arrives(3 * mss + mss - 1), 3 * mss, "whole packets");
    assert_eq!(arrives(Offset::MAX), u64::from(u32::MAX) * mss);
}

#[test]
fn packets_that_no_receiver_would_take_are_refused() {
    let data = Header { payload: 1, ..Header::default() };
    let segment = Segment::<()>::default();
    let refused = |header, body| encode(&Packet { header, body }).unwrap_err().to_string();
    for (header, body, message) in [
        (Header { payload: 0, ..data }, segment, "payload is 0, not within 1 to 1456"),
        (Header { payload: 1_457, ..data }, segment, "payload is 1457, not within 1 to 1456"),
        (Header { kind: Kind::Ack, ..data }, segment, "payload is 1, not within 0 to 0"),
        (
            Header { offset: Offset::new(Offset::MAX), ..data },
            segment,
            "end of the payload is 281474976710656, not within 0 to 281474976710655",
        ),
        (
            Header { kind: Kind::Pause, payload: 0, ..data },
            segment,
            "format window has no packets of kind Pause",
        ),
        (
            Header { kind: Kind::Ack, payload: 0, ..data },
            Segment { sack: [(7, 7), (0, 0)], ..segment },
            "end of a SACK block is 7, not within 8 to 281474976710655",
        ),
    ] {
        assert_eq!(refused(header, body), message);
    }
    let syn = Header { kind: Kind::Syn, ..Header::default() };
    let wrong = Packet { header: syn, body: TokenMessage::Done };
    assert_eq!(encode(&wrong), Err(EncodeError::Kind { format: Format::Tokens, kind: Kind::Syn }));
    let class = TokenMessage::Sync { size: 1, deadline: NOW, unscheduled: 0, asked: 16 };
    let range = FieldRange { field: "class", value: 16, least: 0, most: 15 };
    assert_eq!(encode(&Packet { header: syn, body: class }), Err(EncodeError::Field(range)));
}

#[test]
fn a_buffer_that_is_too_small_is_refused_whatever_its_size() {
    let packet =
        Packet { header: Header { payload: 1, ..Header::default() }, body: Segment::<()>::default() };
    for room in 0..16 {
        let refused = codec().encode(&packet, NOW, &mut vec![0; room]);
        assert_eq!(refused, Err(EncodeError::Room { needed: 16, room }));
    }
    assert_eq!(codec().encode(&packet, NOW, &mut [0; 16]), Ok(16));
}
