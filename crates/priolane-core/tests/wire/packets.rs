//! Packets that a transport may send, whatever their fields say.

use priolane_core::ids::FlowId;
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::telemetry::{HopReading, Path};
use priolane_core::transport::Stamp;
use priolane_core::transport::receiver_driven::{ControlMessage, MessageType};
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::WireBody;
use proptest::prelude::*;

use crate::{META, NOW, codec};

/// Offsets and sizes of streams, the largest among them.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![0..100_000u64, 0..=Offset::MAX, Just(Offset::MAX)]
}

/// A header of a packet of `kind` as it arrives: what does not travel is what [`META`] says, or default.
fn header<B: WireBody>(kind: Kind) -> impl Strategy<Value = Header> {
    let mss = codec::<B>().frame().mss();
    (any::<u32>(), bytes(), 1..=mss, 0u8..16).prop_map(move |(flow, offset, payload, marks)| {
        let all = [Marks::ECHO, Marks::LAST, Marks::TRIMMED, Marks::RETURNED];
        let set = all.into_iter().enumerate().filter(|(bit, _)| marks >> bit & 1 != 0);
        let marks = set.fold(META.ecn.marks(), |marks, (_, mark)| marks.with(mark));
        let payload = if kind == Kind::Data && !marks.has(Marks::TRIMMED) { payload } else { 0 };
        let offset = Offset::new(offset.min(Offset::MAX - u64::from(mss)));
        let (src, dst, class) = (META.src, META.dst, META.class);
        Header { flow: FlowId(flow), src, dst, offset, payload, class, marks, kind, ..Header::default() }
    })
}

/// Telemetry for a segment: none, or the readings of up to 255 hops.
pub(crate) fn readings() -> impl Strategy<Value = Path> {
    let rate = (1..=u64::MAX).prop_map(|bps| Rate::from_bps(bps).unwrap());
    let reading = (any::<[u64; 3]>(), rate).prop_map(|([at, queued_bytes, sent_bytes], rate)| HopReading {
        at: Time(at),
        queued_bytes,
        sent_bytes,
        rate,
    });
    (prop::collection::vec(reading, 6), prop_oneof![0..9u8, 0..=u8::MAX]).prop_map(|(hops, passed)| {
        let mut path = Path::default();
        hops.iter().cycle().take(usize::from(passed)).for_each(|&hop| path.push(hop));
        path
    })
}

/// A block of a SACK option.
fn block() -> impl Strategy<Value = (u32, u32)> {
    (0..1_000u32, 1..1_000u32).prop_map(|(start, len)| (start, start + len))
}

/// Packets of the window machine.
pub(crate) fn segments<T>(telemetry: impl Strategy<Value = T>) -> impl Strategy<Value = Packet<Segment<T>>>
where
    T: Copy + Default + std::fmt::Debug + 'static,
    Segment<T>: WireBody,
{
    let kinds = [Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck, Kind::Probe, Kind::Signal];
    let sack = prop_oneof![
        Just([(0, 0); 2]),
        block().prop_map(|block| [block, (0, 0)]),
        block().prop_map(|block| [(0, 0), block]),
        [block(), block()],
    ];
    let header = prop::sample::select(kinds.to_vec()).prop_flat_map(header::<Segment<T>>);
    (header, any::<[u32; 2]>(), sack, telemetry).prop_map(
        |(mut header, [stamp, one_way], sack, telemetry)| {
            let mut body = Segment { stamp: Stamp(stamp), ..Segment::default() };
            match header.kind {
                Kind::Data => body.telemetry = telemetry,
                Kind::Ack => {
                    body = Segment { one_way, sack, telemetry, ..body };
                    header.offset = Offset::new(header.offset.get().min(Offset::MAX - 2_000));
                }
                Kind::Signal if header.marks.has(Marks::ECHO) => header.offset = Offset::default(),
                Kind::Signal => body.sack[0] = (0, one_way % 1_500 + 1),
                _ => header.offset = Offset::default(),
            }
            if header.kind == Kind::Probe && header.marks.has(Marks::ECHO) {
                body.one_way = one_way;
            }
            if header.kind == Kind::Signal {
                header.offset = Offset::new(header.offset.get().min(Offset::MAX - 1_500));
            }
            Packet { header, body }
        },
    )
}

fn stamp() -> impl Strategy<Value = Stamp> {
    any::<u32>().prop_map(Stamp)
}

/// A size that a sender may tell, or none.
fn told_size() -> impl Strategy<Value = u64> {
    prop_oneof![bytes().prop_map(|size| size.max(1)), Just(u64::MAX)]
}

/// A deadline that has not passed, or none.
fn deadline() -> impl Strategy<Value = Time> {
    prop_oneof![(0..=Span::LONGEST.0).prop_map(|left| NOW + Span(left)), Just(Time::NEVER)]
}

/// Packets of token transports.
pub(crate) fn tickets() -> impl Strategy<Value = Packet<TokenMessage>> {
    let body = prop_oneof![
        (any::<u32>(), stamp()).prop_map(|(seq, stamp)| TokenMessage::Data { seq, stamp }),
        Just(TokenMessage::Unscheduled),
        (told_size(), deadline(), any::<u16>(), 0..16u8).prop_map(|(size, deadline, unscheduled, asked)| {
            TokenMessage::Sync { size, deadline, unscheduled, asked }
        }),
        (any::<u32>(), stamp()).prop_map(|(seq, stamp)| TokenMessage::Token { seq, stamp }),
        (bytes(), bytes())
            .prop_filter("a run", |(a, b)| a != b)
            .prop_map(|(a, b)| TokenMessage::Miss { first: a.min(b), end: a.max(b) }),
        Just(TokenMessage::Stop),
        told_size().prop_map(|size| TokenMessage::Fin { size }),
        Just(TokenMessage::Done),
        Just(TokenMessage::Reset),
        Just(TokenMessage::Empty),
    ];
    body.prop_flat_map(|body| {
        let kind = match body {
            TokenMessage::Data { .. } | TokenMessage::Unscheduled => Kind::Data,
            TokenMessage::Sync { .. } => Kind::Syn,
            TokenMessage::Token { .. } => Kind::Credit,
            _ => Kind::Signal,
        };
        (Just(body), header::<TokenMessage>(kind), any::<u64>(), any::<u32>())
    })
    .prop_map(|(body, mut header, rank, packets)| {
        match body {
            TokenMessage::Data { .. } | TokenMessage::Unscheduled => {}
            TokenMessage::Token { .. } => {
                header.offset =
                    Offset::new(u64::from(packets) * u64::from(codec::<TokenMessage>().frame().mss()));
            }
            _ => header.offset = Offset::default(),
        }
        if let TokenMessage::Sync { .. } = body {
            header.rank = rank;
        }
        Packet { header, body }
    })
}

/// Packets of receiver-driven transports.
pub(crate) fn notes() -> impl Strategy<Value = Packet<ControlMessage>> {
    use MessageType::*;
    let verbs = [Data, Request, Token, Pull, Grant, Ack, Nack, Resend, Busy, Unknown];
    prop::sample::select(verbs.to_vec())
        .prop_flat_map(|message_type| {
            let kind = match message_type {
                Data => Kind::Data,
                Request => Kind::Syn,
                Token | Pull | Grant => Kind::Credit,
                Ack => Kind::Ack,
                Nack | Resend | Busy | Unknown => Kind::Signal,
            };
            (Just(message_type), header::<ControlMessage>(kind), bytes(), any::<(u32, u16)>(), 0..16u8)
        })
        .prop_map(|(message_type, mut header, size, (count, window), class)| {
            let none = ControlMessage { message_type, ..ControlMessage::default() };
            let offset = header.offset.get();
            let body = match message_type {
                Data => ControlMessage {
                    size: size.max(offset + u64::from(header.payload.max(1))),
                    count,
                    window,
                    ..none
                },
                Request => ControlMessage { size: size.max(1), count, window, ..none },
                Token | Pull | Ack | Nack => ControlMessage { count, ..none },
                Grant => ControlMessage { class, ..none },
                Resend => ControlMessage { size: size.max(offset + 1), ..none },
                Busy | Unknown => none,
            };
            if matches!(message_type, Request | Pull | Busy | Unknown) {
                header.offset = Offset::default();
            }
            Packet { header, body }
        })
}
