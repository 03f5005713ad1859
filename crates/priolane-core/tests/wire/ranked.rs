//! Packets that carry their rank, for switches that sort by it.

use priolane_core::ids::FlowId;
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::transport::Stamp;
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::Time;
use priolane_core::wire::{Codec, DecodeError, Format, IpVersion};

use crate::{META, NOW, codec, encode};

fn ranked() -> Codec<Segment> {
    Codec::with_ranks(1_500, IpVersion::V4).unwrap().unwrap()
}

fn data(rank: u64) -> Packet<Segment> {
    let (flow, offset) = (FlowId(9), Offset::new(1_448));
    let header = Header { rank, flow, offset, payload: 3, kind: Kind::Data, ..Header::default() };
    Packet { header, body: Segment { stamp: Stamp(5), ..Segment::default() } }
}

fn datagram(packet: &Packet<Segment>) -> Vec<u8> {
    let mut buffer = [0; 64];
    let len = ranked().encode(packet, NOW, &mut buffer).unwrap();
    [&buffer[..len], &[1, 2, 3]].concat()
}

#[test]
fn the_rank_follows_the_common_header_and_arrives() {
    for rank in [0, 70_000, u64::MAX] {
        let bytes = datagram(&data(rank));
        // Version 1, format 4; no marks, DATA; flow 9; the rank; the rest as without it.
        assert_eq!(bytes[..6], [0x14, 0x00, 9, 0, 0, 0]);
        assert_eq!(bytes[6..14], rank.to_le_bytes());
        assert_eq!(
            bytes[14..],
            encode(&data(rank)).unwrap()[6..16].iter().chain(&[1, 2, 3]).copied().collect::<Vec<_>>()
        );
        let (packet, payload) = ranked().decode(&bytes, &META).unwrap();
        assert_eq!((packet.header.rank, packet.header.offset.get(), payload), (rank, 1_448, &[1, 2, 3][..]));
        // 28 + 24 + 3 bytes of IP are less than the smallest frame's 46 of them and are not padded: 55 + 18 + 20.
        assert_eq!(packet.header.wire, 93);
    }
}

#[test]
fn a_host_with_ranks_and_one_without_do_not_take_each_others_packets() {
    let (with, without) = (datagram(&data(7)), encode(&data(7)).unwrap());
    let other = codec::<Segment>().decode(&with, &META).unwrap_err();
    assert_eq!(other, DecodeError::OtherFormat { found: Format::WindowRanked, expected: Format::Window });
    let other = ranked().decode(&without, &META).unwrap_err();
    assert_eq!(other, DecodeError::OtherFormat { found: Format::Window, expected: Format::WindowRanked });
    assert_eq!(ranked().decode(&with[..13], &META).unwrap_err(), DecodeError::Truncated { field: "rank" });
}

#[test]
fn a_data_packet_whose_payload_was_cut_off_is_a_packet() {
    let mut cut = data(7);
    cut.header.payload = 0;
    cut.header.marks = Marks::TRIMMED;
    let mut buffer = [0; 64];
    let len = ranked().encode(&cut, NOW, &mut buffer).unwrap();
    let (packet, payload) = ranked().decode(&buffer[..len], &META).unwrap();
    assert_eq!((packet.header.marks.has(Marks::TRIMMED), payload.len()), (true, 0));
}

#[test]
fn packets_of_other_transports_carry_no_rank() {
    use priolane_core::telemetry::Path;
    use priolane_core::transport::receiver_driven::ControlMessage;
    assert!(Codec::<ControlMessage>::with_ranks(1_500, IpVersion::V4).is_none());
    assert!(Codec::<Segment<Path>>::with_ranks(1_500, IpVersion::V4).is_none());
}

/// The datagram of a packet of a token transport with this rank.
fn of_tokens(kind: Kind, rank: u64, body: TokenMessage) -> Vec<u8> {
    let codec = Codec::<TokenMessage>::with_ranks(1_500, IpVersion::V4).unwrap().unwrap();
    let header = Header { rank, flow: FlowId(9), kind, ..Header::default() };
    let mut buffer = [0; 64];
    let len = codec.encode(&Packet { header, body }, NOW, &mut buffer).unwrap();
    buffer[..len].to_vec()
}

#[test]
fn a_token_carries_the_rank_by_which_switches_sort_it() {
    let codec = Codec::<TokenMessage>::with_ranks(1_500, IpVersion::V4).unwrap().unwrap();
    let bytes = of_tokens(Kind::Credit, 70_000, TokenMessage::Token { seq: 3, stamp: Stamp(5) });
    assert_eq!((&bytes[..2], bytes.len()), (&[0x15, 0x03][..], 26));
    assert_eq!(bytes[6..14], 70_000_u64.to_le_bytes());
    let (packet, _) = codec.decode(&bytes, &META).unwrap();
    // 28 + 26 bytes of IP, and 38 of Ethernet: 8 more than a frame of the least size.
    assert_eq!((packet.header.rank, packet.header.wire), (70_000, 92));
    assert_eq!((codec.frame().ack_wire(), codec.frame().mss()), (92, 1_444));
    let plain = Codec::<TokenMessage>::new(1_500, IpVersion::V4).unwrap();
    let other = plain.decode(&bytes, &META).unwrap_err();
    assert_eq!(other, DecodeError::OtherFormat { found: Format::TokensRanked, expected: Format::Tokens });
}

#[test]
fn the_key_of_a_sync_is_its_rank_and_another_one_is_an_error() {
    let codec = Codec::<TokenMessage>::with_ranks(1_500, IpVersion::V4).unwrap().unwrap();
    let body = TokenMessage::Sync { size: 5_000, deadline: Time::NEVER, unscheduled: 0, asked: 1 };
    let mut bytes = of_tokens(Kind::Syn, 7, body);
    assert_eq!(codec.decode(&bytes, &META).unwrap().0.header.rank, 7);
    bytes[6] = 8;
    let error = codec.decode(&bytes, &META).unwrap_err().to_string();
    assert!(error.contains("key"), "{error}");
}
