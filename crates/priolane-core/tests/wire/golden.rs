//! Each message byte for byte. A change here is a new version of the wire format.

use priolane_core::ids::FlowId;
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::telemetry::{HopReading, Path};
use priolane_core::transport::Stamp;
use priolane_core::transport::receiver_driven::{ControlMessage, MessageType};
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::{Format, WireBody};

use crate::{META, NOW, decode, encode};

/// A message with its name in the documentation, and its bytes: common header, then field by field.
pub(crate) struct Sample {
    pub(crate) format: Format,
    pub(crate) name: &'static str,
    pub(crate) payload: u16,
    pub(crate) encoded: Vec<u8>,
    bytes: &'static str,
}

fn sample<B: WireBody + PartialEq>(
    name: &'static str,
    header: Header,
    body: B,
    bytes: &'static str,
) -> Sample {
    let (src, dst, class, marks) = (META.src, META.dst, META.class, header.marks.with(META.ecn.marks()));
    let header = Header { flow: FlowId(0x0403_0201), src, dst, class, marks, ..header };
    let encoded = encode(&Packet { header, body }).unwrap();
    let (back, _) = decode::<B>(&encoded).unwrap();
    assert_eq!((Header { wire: 0, ..back.header }, back.body), (header, body), "{name}");
    Sample { format: B::FORMAT, name, payload: header.payload, encoded, bytes }
}

fn of(kind: Kind, offset: u64) -> Header {
    Header { kind, offset: Offset::new(offset), ..Header::default() }
}

fn data(offset: u64) -> Header {
    Header { payload: 3, ..of(Kind::Data, offset) }
}

const ECHO: Marks = Marks::ECHO;

fn window() -> Vec<Sample> {
    let sent = Segment::<()> { stamp: Stamp(0x0d0c_0b0a), ..Segment::default() };
    let answer = Segment { one_way: 0x1110_0f0e, ..sent };
    let blocks = Segment { sack: [(5, 6), (1, 2)], ..answer };
    let given_up = Segment { sack: [(0, 1_456), (0, 0)], ..sent };
    let last = Header { marks: Marks::LAST, ..data(0xa5a4_a3a2_a1a0) };
    vec![
        sample("DATA", last, sent, "1020 01020304 a0a1a2a3a4a5 0a0b0c0d 000102"),
        sample(
            "ACK",
            Header { marks: ECHO, ..of(Kind::Ack, 1_000_000) },
            answer,
            "1011 01020304 40420f000000 0a0b0c0d 0e0f1011",
        ),
        sample(
            "ACK",
            of(Kind::Ack, 0),
            blocks,
            "1001 01020304 000000000000 0a0b0c0d 0e0f1011 05000000 06000000 01000000 02000000",
        ),
        sample("SYN", of(Kind::Syn, 0), sent, "1002 01020304 0a0b0c0d"),
        sample("SYN/ACK", of(Kind::SynAck, 0), sent, "1003 01020304 0a0b0c0d"),
        sample("PROBE", of(Kind::Probe, 0), sent, "1005 01020304 0a0b0c0d"),
        sample(
            "PROBE with ECHO, the reply",
            Header { marks: ECHO, ..of(Kind::Probe, 0) },
            answer,
            "1015 01020304 0a0b0c0d 0e0f1011",
        ),
        sample("GIVEN UP", of(Kind::Signal, 256), given_up, "1006 01020304 000100000000 0a0b0c0d b0050000"),
        sample(
            "GIVEN UP with ECHO, a CNP",
            Header { marks: ECHO, ..of(Kind::Signal, 0) },
            sent,
            "1016 01020304 0a0b0c0d",
        ),
    ]
}

fn window_with_int() -> Vec<Sample> {
    let mut telemetry = Path::default();
    let rate = Rate::from_gbps(100);
    telemetry.push(HopReading { at: Time(1), queued_bytes: 2, sent_bytes: 3, rate });
    let sent = Segment::<Path> { stamp: Stamp(4), ..Segment::default() };
    let ack = Segment { one_way: 5, sack: [(6, 7), (0, 0)], telemetry, ..sent };
    vec![
        sample("DATA", data(0), sent, "1100 01020304 000000000000 04000000 00 000102"),
        sample(
            "ACK",
            of(Kind::Ack, 0),
            ack,
            "1101 01020304 000000000000 04000000 05000000 \
             01 0100000000000000 0200000000000000 0300000000000000 00e8764817000000 06000000 07000000",
        ),
    ]
}

fn tokens() -> Vec<Sample> {
    let stamp = Stamp(0x0d0c_0b0a);
    let sync = TokenMessage::Sync { size: 300, deadline: NOW + Span(1), unscheduled: 0x0506, asked: 3 };
    let unknown = TokenMessage::Sync { size: u64::MAX, deadline: Time::NEVER, unscheduled: 0, asked: 0 };
    // 1500 - 28 - 20 bytes of payload in a packet.
    let in_order = of(Kind::Credit, 258 * 1_452);
    vec![
        sample(
            "DATA",
            data(256),
            TokenMessage::Data { seq: 9, stamp },
            "1200 01020304 000100000000 09000000 0a0b0c0d 000102",
        ),
        sample("UNSCHEDULED", data(256), TokenMessage::Unscheduled, "1201 01020304 000100000000 000102"),
        sample(
            "SYNC",
            Header { rank: 7, ..of(Kind::Syn, 0) },
            sync,
            "1202 01020304 2c01000000000000 0100000000000000 0700000000000000 0605 03",
        ),
        sample(
            "SYNC",
            of(Kind::Syn, 0),
            unknown,
            "1202 01020304 ffffffffffffffff ffffffffffffffff 0000000000000000 0000 00",
        ),
        sample(
            "TOKEN",
            in_order,
            TokenMessage::Token { seq: 9, stamp },
            "1203 01020304 09000000 0a0b0c0d 02010000",
        ),
        sample(
            "MISS",
            of(Kind::Signal, 0),
            TokenMessage::Miss { first: 1, end: 3 },
            "1204 01020304 010000000000 030000000000",
        ),
        sample("STOP", of(Kind::Signal, 0), TokenMessage::Stop, "1205 01020304"),
        sample("FIN", of(Kind::Signal, 0), TokenMessage::Fin { size: 300 }, "1206 01020304 2c01000000000000"),
        sample("DONE", of(Kind::Signal, 0), TokenMessage::Done, "1207 01020304"),
        sample("RESET", of(Kind::Signal, 0), TokenMessage::Reset, "1208 01020304"),
        sample("EMPTY", of(Kind::Signal, 0), TokenMessage::Empty, "1209 01020304"),
    ]
}

fn receiver_driven() -> Vec<Sample> {
    let of_verb = |message_type| ControlMessage { message_type, ..ControlMessage::default() };
    let count = |message_type| ControlMessage { message_type, count: 9, ..ControlMessage::default() };
    let flow = |message_type| ControlMessage {
        size: 300,
        count: 9,
        window: 0x0506,
        message_type,
        ..ControlMessage::default()
    };
    let trimmed = Header { payload: 0, marks: Marks::TRIMMED.with(Marks::RETURNED), ..data(0) };
    vec![
        sample(
            "DATA",
            data(256),
            flow(MessageType::Data),
            "1300 01020304 000100000000 2c0100000000 09000000 0605 000102",
        ),
        sample(
            "DATA",
            trimmed,
            flow(MessageType::Data),
            "13c0 01020304 000000000000 2c0100000000 09000000 0605",
        ),
        sample(
            "REQUEST",
            of(Kind::Syn, 0),
            flow(MessageType::Request),
            "1301 01020304 2c0100000000 09000000 0605",
        ),
        sample(
            "TOKEN",
            of(Kind::Credit, 256),
            count(MessageType::Token),
            "1302 01020304 000100000000 09000000",
        ),
        sample("PULL", of(Kind::Credit, 0), count(MessageType::Pull), "1303 01020304 09000000"),
        sample(
            "GRANT",
            of(Kind::Credit, 256),
            ControlMessage { class: 4, message_type: MessageType::Grant, ..ControlMessage::default() },
            "1304 01020304 000100000000 04",
        ),
        sample("ACK", of(Kind::Ack, 256), count(MessageType::Ack), "1305 01020304 000100000000 09000000"),
        sample(
            "NACK",
            of(Kind::Signal, 256),
            count(MessageType::Nack),
            "1306 01020304 000100000000 09000000",
        ),
        sample(
            "RESEND",
            of(Kind::Signal, 256),
            ControlMessage { size: 300, message_type: MessageType::Resend, ..ControlMessage::default() },
            "1307 01020304 000100000000 2c0100000000",
        ),
        sample("BUSY", of(Kind::Signal, 0), of_verb(MessageType::Busy), "1308 01020304"),
        sample("UNKNOWN", of(Kind::Signal, 0), of_verb(MessageType::Unknown), "1309 01020304"),
    ]
}

/// One or more of each message.
pub(crate) fn samples() -> Vec<Sample> {
    [window(), window_with_int(), tokens(), receiver_driven()].into_iter().flatten().collect()
}

#[test]
fn messages_are_these_bytes() {
    for Sample { format, name, encoded, bytes, .. } in samples() {
        let expected = bytes.replace(' ', "");
        let found: String = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected, "{format}: {name}");
    }
}
