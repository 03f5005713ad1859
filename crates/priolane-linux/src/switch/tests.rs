use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::Stamp;
use priolane_core::transport::receiver_driven::{ControlMessage, MessageType};
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::{Span, Time};
use priolane_core::wire::{Codec, EcnCodepoint, IpVersion, RecvMeta, WireBody};
use priolane_net::Dscp;
use serde_json::{Value, json};

use super::forwarder::{Forwarder, Outlet};
use super::frame::tests::{is_valid, udp};
use crate::plan::tests::star;
use crate::port::{Amount, Backlog, Mark};
use crate::user_port::{Memory, PortLimit, UserPort};

/// The time that a full packet takes at 100 Mbit/s: 123.04 us.
const PACKET: Span = Span(123_040_000);
/// The time at which the clock of a test begins.
const START: Time = Time(1 << 50);

/// The frames that left, each with its port.
#[derive(Default)]
struct Left(Vec<(usize, Vec<u8>)>);

impl Outlet for Left {
    fn send(&mut self, port: usize, frame: &[u8]) {
        self.0.push((port, frame.to_vec()));
    }
}

impl Left {
    /// Returns the payloads of datagrams, in order.
    fn datagrams(&self) -> Vec<&[u8]> {
        self.0.iter().map(|(_, frame)| &frame[42..]).collect()
    }
}

fn port(row: Value, packets: Option<u32>) -> UserPort {
    let Value::Object(row) = row else { panic!("{row}") };
    let room = packets.map(|packets| PortLimit { most: Amount::Packets(packets), per: Backlog::Port });
    UserPort { row, room, ..UserPort::fifo() }
}

/// Creates the switch of a star of four hosts, where port p leads to host p.
fn switch(port: UserPort) -> Forwarder {
    Forwarder::new(&star(4, port), 0).unwrap()
}

fn datagram<B: WireBody>(codec: &Codec<B>, header: Header, body: B) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let len = codec.encode(&Packet { header, body }, Time::ZERO, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes.resize(len + usize::from(header.payload), 7);
    bytes
}

fn header(kind: Kind, flow: u32, payload: u16) -> Header {
    Header { kind, flow: FlowId(flow), payload, ..Header::default() }
}

/// Returns a packet of DCTCP with `payload` bytes. A full packet has 1456.
fn segment(flow: u32, payload: u16) -> Vec<u8> {
    let codec = Codec::<Segment>::new(1_500, IpVersion::V4).unwrap();
    datagram(&codec, header(Kind::Data, flow, payload), Segment { stamp: Stamp(1), ..Segment::default() })
}

/// Returns a full packet of pFabric of a flow with `rank` bytes left.
fn ranked(flow: u32, rank: u64) -> Vec<u8> {
    let codec = Codec::<Segment>::with_ranks(1_500, IpVersion::V4).unwrap().unwrap();
    let header = Header { rank, ..header(Kind::Data, flow, 1_448) };
    datagram(&codec, header, Segment { stamp: Stamp(1), ..Segment::default() })
}

/// Returns a full packet of NDP at this offset.
fn ndp(offset: u64) -> Vec<u8> {
    let codec = Codec::new(1_500, IpVersion::V4).unwrap();
    let header = Header { offset: Offset::new(offset), ..header(Kind::Data, 1, 1_448) };
    let body = ControlMessage { message_type: MessageType::Data, size: 1 << 20, ..Default::default() };
    datagram(&codec, header, body)
}

fn token(flow: u32) -> Vec<u8> {
    let codec = Codec::new(1_500, IpVersion::V4).unwrap();
    datagram(&codec, header(Kind::Credit, flow, 0), TokenMessage::Token { seq: 1, stamp: Stamp(1) })
}

/// Returns the TOS byte of a class, ECN-capable.
fn tos(class: u8) -> u8 {
    Dscp::DEFAULT.of(class) << 2 | 0b10
}

/// Lets all waiting packets leave at the times at which they are due, and returns the time of the last departure.
fn drain(switch: &mut Forwarder, left: &mut Left) -> Time {
    let mut last = START;
    while switch.next() != Time::NEVER {
        last = switch.next();
        switch.advance(last, left);
    }
    assert_eq!(switch.frames(), 0, "frames are kept that nobody waits for");
    last
}

/// Returns the switch, and the frames that leave within 100 ms from a port with a constant backlog of `frame`, if the
/// process is awake at intervals of `every`.
fn saturated(row: Value, frame: &[u8], every: Span) -> (Forwarder, Left) {
    let (mut switch, mut left, mut now) = (switch(port(row, Some(100))), Left::default(), START);
    while now.since(START) < Span::from_ms(100) {
        switch.wake(now);
        for arrival in 0..5 {
            // They came since it was awake last.
            let at = Time(now.0 - every.0 + every.0 / 5 * arrival);
            switch.arrive(at, frame, &mut left);
        }
        switch.advance(now, &mut left);
        now += every;
    }
    (switch, left)
}

#[test]
fn a_line_keeps_its_rate_however_late_the_process_is_as_far_as_that_is_made_up() {
    let fifo = || json!({ "kind": "fifo", "buffer": "unbounded" });
    let frame = udp((0, 1), tos(0), &segment(1, 1_456));
    // 100 ms at 123.04 us each are 812.7 packets.
    for (every, least, most) in [(20, 805, 813), (170, 805, 813), (290, 805, 813), (1_000, 200, 420)] {
        let (switch, left) = saturated(fifo(), &frame, Span::from_us(every));
        let packets = left.0.len();
        assert!((least..=most).contains(&packets), "{packets} packets, awake each {every} us");
        let counts = switch.counts();
        assert_eq!(counts.late > 50, every > 300, "{} times late", counts.late);
        // Awake 1 ms after it was awake last, with a packet under way that took at most 123 us.
        assert_eq!((800_000..=1_000_000).contains(&counts.latest_ns), every > 300, "{counts:?}");
    }
}

#[test]
fn the_longest_queue_is_of_payload_that_waits() {
    let (mut switch, mut left) = (switch(UserPort::fifo()), Left::default());
    let frame = udp((0, 1), tos(0), &segment(1, 1_456));
    for _ in 0..5 {
        switch.arrive(START, &frame, &mut left);
    }
    // What is no payload joins the queue, and is nothing that makes it long.
    switch.arrive(START, &udp((0, 1), tos(0), &[5; 17]), &mut left);
    let longest = |switch: &Forwarder| -> Vec<u64> {
        switch.port_counts().iter().map(|port| port.longest_queue).collect()
    };
    // One is being sent.
    assert_eq!(longest(&switch), [0, 4 * 1_538, 0, 0]);
    drain(&mut switch, &mut left);
    switch.arrive(START + Span::from_ms(50), &frame, &mut left);
    assert_eq!(longest(&switch), [0, 4 * 1_538, 0, 0]);
}

#[test]
fn a_packet_leaves_when_all_of_it_has_been_sent() {
    let (mut switch, mut left) = (switch(UserPort::fifo()), Left::default());
    let full = udp((0, 1), tos(0), &segment(1, 1_456));
    switch.arrive(START, &full, &mut left);
    assert_eq!((switch.next(), left.0.len()), (START + PACKET, 0));
    switch.arrive(START + Span(1), &full, &mut left);
    assert_eq!(drain(&mut switch, &mut left), START + PACKET + PACKET);
    let (port, frame) = &left.0[0];
    // From the end of cable 1 at the switch to that at host 1.
    assert_eq!(*port, 1);
    assert_eq!(frame[..12], [2, 0x70, 0x6c, 0, 0, 1, 2, 0x70, 0x6c, 1, 0, 1]);
    // Without UDP's checksum, which the sender left to its device.
    assert_eq!((&frame[12..40], &frame[40..42], &frame[42..]), (&full[12..40], &[0, 0][..], &full[42..]));
    let count = switch.port_counts()[1].classes[0];
    assert_eq!((count.packets, count.bytes, count.waited_ps), (2, 3_076, PACKET.0 - 1));
}

#[test]
fn tokens_never_leave_above_their_rate_and_expire() {
    let top = || json!({ "kind": "tokens", "buffer": { "shared": "250pkt" } });
    for every in [10, 250] {
        let (mut switch, mut left) = saturated(top(), &udp((0, 1), tos(0), &token(1)), Span::from_us(every));
        // A token each 84 + 1538 bytes, 129.76 us: 770.7 in 100 ms, and one of a burst of two.
        let tokens = left.0.len();
        assert!((760..=772).contains(&tokens), "{tokens} tokens, awake each {every} us");
        drain(&mut switch, &mut left);
        let count = switch.port_counts()[1].classes[0];
        assert_eq!(count.packets + count.dropped + count.expired, 100_000 / every * 5);
    }
    // 8 slots of 1622 bytes are 1038 us. A queue of 8 behind one token is served until then; of two classes the worse expires.
    let (mut switch, mut left) = (self::switch(port(top(), None)), Left::default());
    for class in [0, 1] {
        (0..8).for_each(|_| switch.arrive(START, &udp((0, 1), tos(class), &token(1)), &mut left));
    }
    drain(&mut switch, &mut left);
    let classes = switch.port_counts()[1].classes;
    assert_eq!((classes[0].packets, classes[0].expired), (8, 0));
    assert!(classes[1].expired >= 6, "{:?}", classes[1]);
    assert_eq!(classes[1].packets + classes[1].expired, 8);
}

#[test]
fn data_passes_tokens_and_both_together_fill_the_line() {
    let row = json!({ "kind": "tokens", "buffer": { "shared": "250pkt" } });
    let (mut switch, mut left, mut now) = (switch(port(row, Some(250))), Left::default(), START);
    let codec = Codec::<TokenMessage>::new(1_500, IpVersion::V4).unwrap();
    let data = datagram(&codec, header(Kind::Data, 2, 1_452), TokenMessage::Data { seq: 1, stamp: Stamp(1) });
    while now.since(START) < Span::from_ms(100) {
        switch.arrive(now, &udp((0, 1), tos(0), &token(1)), &mut left);
        switch.arrive(now, &udp((2, 1), tos(3), &data), &mut left);
        now += Span::from_us(60);
    }
    switch.advance(now, &mut left);
    let bytes: usize = left.0.iter().map(|(_, frame)| (frame.len() + 24).max(84)).sum();
    let tokens = left.datagrams().iter().filter(|datagram| datagram.len() == 18).count();
    // 1.25 MB in 100 ms, of which tokens take 84 of 1622.
    assert!((1_237_500..=1_250_100).contains(&bytes), "{bytes} bytes");
    assert!((762..=772).contains(&tokens), "{tokens} tokens");
}

#[test]
fn the_header_of_a_packet_that_finds_no_room_passes_the_others() {
    let row = json!({ "kind": "trimming", "headers": "100pkt", "overflow": "return", "buffer": { "shared": "4pkt" } });
    let (mut switch, mut left) = (switch(port(row, Some(4))), Left::default());
    // One is being sent, 4 wait, 5 are cut.
    (0..10).for_each(|place| switch.arrive(START, &udp((0, 1), tos(0), &ndp(place * 1_448)), &mut left));
    let last = drain(&mut switch, &mut left);
    let codec = Codec::<ControlMessage>::new(1_500, IpVersion::V4).unwrap();
    let (src, dst, ecn) = (HostId(0), HostId(1), EcnCodepoint::Ect0);
    let meta = RecvMeta { src, dst, class: 0, ecn, at: START };
    let mut offsets = Vec::new();
    let mut cut = Vec::new();
    for (_, frame) in &left.0 {
        assert!(is_valid(frame));
        let (packet, _) = codec.decode(&frame[42..], &meta).unwrap();
        offsets.push(packet.header.offset.get() / 1_448);
        cut.push(packet.header.marks.has(Marks::TRIMMED));
    }
    offsets.sort_unstable();
    assert_eq!(offsets, (0..10).collect::<Vec<_>>(), "all headers arrive");
    assert_eq!(cut, [false, true, true, true, true, true, false, false, false, false]);
    assert_eq!(left.0[1].1.len(), 14 + 28 + 24);
    // 5 full packets and 5 of 90 bytes on the wire.
    assert_eq!(last, START + Span(5 * PACKET.0 + 5 * 7_200_000));
    assert_eq!(switch.port_counts()[1].classes[0].trimmed, 5);
}

#[test]
fn a_header_without_room_goes_back_to_its_sender_once() {
    let row = json!({ "kind": "trimming", "headers": "1pkt", "overflow": "return", "buffer": { "shared": "1pkt" } });
    let (mut switch, mut left) = (switch(port(row, Some(1))), Left::default());
    // One is being sent, one waits, one is cut, one goes back.
    (0..4).for_each(|place| switch.arrive(START, &udp((0, 1), tos(0), &ndp(place * 1_448)), &mut left));
    drain(&mut switch, &mut left);
    let back: Vec<_> = left.0.iter().filter(|(port, _)| *port == 0).collect();
    assert_eq!(back.len(), 1);
    let frame = &back[0].1;
    assert!(is_valid(frame));
    // From host 1 to host 0, with the ports of UDP exchanged; RETURNED and TRIMMED.
    assert_eq!(frame[26..38], [10, 77, 0, 2, 10, 77, 0, 1, 0x1b, 0xa6, 0x1b, 0xa5]);
    assert_eq!((frame[43] & 0xf0, frame.len()), (0xc0, 66));
}

#[test]
fn pfabric_serves_the_flow_with_the_smallest_rest_and_drops_the_largest() {
    let row = json!({ "kind": "pfabric", "buffer": { "shared": "3pkt" } });
    let (mut switch, mut left) = (switch(port(row, Some(3))), Left::default());
    for (host, flow, rank) in [(0, 1, 50), (0, 1, 49), (0, 2, 9_000), (2, 3, 70), (3, 4, 7)] {
        switch.arrive(START, &udp((host, 1), tos(0), &ranked(flow, rank)), &mut left);
    }
    drain(&mut switch, &mut left);
    let ranks: Vec<u64> =
        left.datagrams().iter().map(|bytes| u64::from_le_bytes(bytes[6..14].try_into().unwrap())).collect();
    // The first found the line free; of 49, 9000, 70 and 7 the largest is pushed out.
    assert_eq!(ranks, [50, 7, 49, 70]);
    assert_eq!(switch.port_counts()[1].classes[0].dropped, 1);
}

#[test]
fn flows_of_two_senders_with_the_same_number_are_two() {
    let row = json!({ "kind": "pfabric", "buffer": "unbounded" });
    let (mut switch, mut left) = (switch(port(row, None)), Left::default());
    for (host, rank) in [(3, 1), (0, 80), (2, 60), (0, 90)] {
        switch.arrive(START, &udp((host, 1), tos(0), &ranked(5, rank)), &mut left);
    }
    drain(&mut switch, &mut left);
    let senders: Vec<u8> = left.0.iter().map(|(_, frame)| frame[29] - 1).collect();
    assert_eq!(senders, [3, 2, 0, 0]);
}

#[test]
fn what_finds_a_long_queue_leaves_with_ce_if_it_can() {
    let mark = Some(Mark { above: Amount::Packets(2), per: Backlog::Port });
    let (mut switch, mut left) = (switch(UserPort { mark, ..UserPort::fifo() }), Left::default());
    for ecn in [0b10, 0b10, 0b10, 0b10, 0b00, 0b01] {
        switch.arrive(START, &udp((0, 1), 0xf0 | ecn, &segment(1, 1_456)), &mut left);
    }
    drain(&mut switch, &mut left);
    // The first is on the line; the next two are not more than two.
    let ecn: Vec<u8> = left.0.iter().map(|(_, frame)| frame[15] & 0b11).collect();
    assert_eq!(ecn, [0b10, 0b10, 0b10, 0b11, 0b00, 0b11]);
    assert!(left.0.iter().all(|(_, frame)| is_valid(frame) && frame[15] >> 2 == 60));
    assert_eq!(switch.port_counts()[1].classes[0].marked, 2);
}

#[test]
fn ports_of_a_switch_share_its_buffer() {
    // B = 20 packets, alpha = 1: one busy port fills half, then another a quarter.
    let memory = Some(Memory { bytes: 20 * 1_538, alpha: (1, 1) });
    let (mut switch, mut left) = (switch(UserPort { memory, ..UserPort::fifo() }), Left::default());
    for to in [1, 2] {
        (0..30).for_each(|_| switch.arrive(START, &udp((0, to), tos(0), &segment(1, 1_456)), &mut left));
    }
    drain(&mut switch, &mut left);
    let packets = |port: usize| switch.port_counts()[port].classes[0].packets;
    // One of each is on the line.
    assert_eq!((packets(1), packets(2)), (11, 6));
}

#[test]
fn what_is_not_of_priolane_is_served_last_and_what_is_sealed_not_at_all() {
    let mut map = [0; 16];
    (0..16).for_each(|class| map[class] = class as u8);
    let row = json!({ "kind": "strict", "queues": 16, "buffer": "unbounded" });
    let (mut switch, mut left) = (switch(UserPort { map, ..port(row, None) }), Left::default());
    let mut icmp = udp((0, 1), tos(0), b"ping");
    icmp[23] = 1;
    let mut damaged = segment(1, 100);
    damaged[1] = 0x0f;
    let foreign = [icmp, udp((0, 1), tos(0), b"foreign"), udp((0, 1), tos(0), &damaged)];
    let first = udp((0, 1), tos(0), &segment(1, 1_456));
    for frame in [&first, &foreign[0], &foreign[1], &foreign[2], &udp((0, 1), tos(14), &segment(2, 9))] {
        switch.arrive(START, frame, &mut left);
    }
    switch.arrive(START, &udp((0, 1), tos(0), &[0xf1; 60]), &mut left);
    drain(&mut switch, &mut left);
    assert_eq!(left.datagrams()[1], segment(2, 9), "of the last class but one");
    assert_eq!(left.0.len(), 5);
    let counts = switch.counts();
    assert_eq!((counts.foreign, counts.malformed, counts.sealed), (2, 1, 1));
    assert!(counts.warnings()[0].starts_with("1 datagrams that are sealed with a key were dropped"));
    assert_eq!(switch.port_counts()[1].classes[15].packets, 3);
}

#[test]
fn payload_of_foreign_packets_is_not_cut_off() {
    let row = json!({ "kind": "trimming", "buffer": { "shared": "1pkt" } });
    let (mut switch, mut left) = (switch(port(row, Some(1))), Left::default());
    (0..6).for_each(|_| switch.arrive(START, &udp((0, 1), tos(0), &[b'x'; 900]), &mut left));
    drain(&mut switch, &mut left);
    assert!(left.0.iter().all(|(_, frame)| frame.len() == 942));
    assert_eq!((left.0.len(), switch.counts().uncut), (2, 4));
}

#[test]
fn no_bytes_make_a_switch_panic_or_keep_what_it_dropped() {
    let rows = [
        json!({ "kind": "tokens", "buffer": { "shared": "8pkt" } }),
        json!({ "kind": "trimming", "headers": "3pkt", "overflow": "return", "buffer": { "shared": "2pkt" } }),
        json!({ "kind": "pfabric", "buffer": { "shared": "4pkt" } }),
        json!({ "kind": "aifo", "buffer": { "shared": "4pkt" } }),
    ];
    let whole = [segment(1, 40), ranked(3, 5)[..90].to_vec(), ndp(0)[..120].to_vec(), token(2)];
    for row in rows {
        let (mut switch, mut left) = (switch(port(row.clone(), Some(4))), Left::default());
        let mut random = Stream::new(11, Purpose::Port, 0);
        let mut now = START;
        for round in 0..20_000 {
            let mut frame = udp(
                (random.bits() as u16 % 5, random.bits() as u16 % 5),
                random.bits() as u8,
                &whole[round % 4],
            );
            for _ in 0..random.bits() % 4 {
                let at = random.bits() as usize % frame.len();
                frame[at] = random.bits() as u8;
            }
            frame.truncate(frame.len() - (random.bits() % 8 * (random.bits() % 4) / 2) as usize);
            now += Span::from_us(random.bits() % 20);
            switch.arrive(now, &frame, &mut left);
        }
        drain(&mut switch, &mut left);
        assert!(left.0.len() > 1_000, "{row}: {} of 20000 left", left.0.len());
    }
}
