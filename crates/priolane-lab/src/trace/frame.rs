//! Encodes a simulated packet as the Ethernet frame that a capture of a real network would contain.
//!
//! ```text
//! Ethernet II  locally administered addresses 02:00:00:xx:xx:xx, the host's number from 1
//! IPv4         10.x.y.z likewise; DSCP = class; ECN of RFC 3168; TTL 64 minus one per switch; identification =
//!              number of the packet in the trace, modulo 2^16
//! TCP          port 49152 + flow mod 16384 at the sender's side, 40000 + flow / 16384 mod 8192 at the other;
//!              sequence number = 1 + offset in the stream modulo 2^32, so that a SYN has 0 (RFC 9293 §3.4);
//!              ECE echoes a mark; PSH on the last segment; SACK of RFC 2018 §3
//! ```
//!
//! The payload is zeros. Lengths are those of the experiment's `[frame]`: headers beyond 40 B are padded with TCP's
//! no-operation option, up to TCP's 60 B. If selective ACKs do not fit in the ACK size of `[frame]`, the frame is
//! longer than the simulated packet (docs/tracing.md#what-the-capture-shows).

use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader};
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Frame, Header, Kind, Marks};
use priolane_sim::trace::TracedPacket;

/// IPv4 header size, without options.
const IP: usize = Ipv4Header::MIN_LEN;

/// TCP header size, without options.
const TCP: usize = TcpHeader::MIN_LEN;

/// Maximum payload of an IPv4 packet.
const IP_ROOM: usize = u16::MAX as usize - IP;

/// Ethernet's frame check sequence, which captures do not contain.
const CHECK: usize = 4;

/// Protocol number of packets that are not TCP: experimental (RFC 3692 §2.1).
const EXPERIMENTAL: IpNumber = IpNumber(253);

/// A packet on one of its links.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnLink<'a> {
    /// Its flow.
    pub(super) flow: &'a FlowSpec,
    /// The packet.
    pub(super) packet: &'a TracedPacket,
    /// Its number in the trace.
    pub(super) number: u32,
    /// Its marks on this link.
    pub(super) marks: Marks,
    /// Number of links traversed before.
    pub(super) hops: u8,
}

/// Returns the frame of a packet, without its check sequence.
pub(super) fn bytes(on_link: &OnLink, sizes: &Frame) -> Vec<u8> {
    let header = &on_link.packet.header;
    let segment = match header.kind {
        Kind::Data | Kind::Ack | Kind::Syn | Kind::SynAck => tcp(on_link, sizes),
        Kind::Credit | Kind::Probe | Kind::Signal | Kind::Pause => {
            vec![0; usize::from(sizes.ack).saturating_sub(IP) + usize::from(header.payload)]
        }
    };
    let mut frame = Ethernet2Header {
        source: mac(header.src),
        destination: mac(header.dst),
        ether_type: EtherType::IPV4,
    }
    .to_bytes()
    .to_vec();
    frame.extend_from_slice(&ip(on_link, segment.len()).to_bytes());
    frame.extend_from_slice(&segment);
    let least = usize::from(sizes.minimum).saturating_sub(CHECK);
    frame.resize(frame.len().max(least), 0);
    frame
}

fn ip(on_link: &OnLink, room: usize) -> Ipv4Header {
    let header = &on_link.packet.header;
    let protocol = match header.kind {
        Kind::Data | Kind::Ack | Kind::Syn | Kind::SynAck => IpNumber::TCP,
        Kind::Credit | Kind::Probe | Kind::Signal | Kind::Pause => EXPERIMENTAL,
    };
    let ecn = match on_link.marks {
        marks if marks.has(Marks::CONGESTED) => IpEcn::CongestionExperienced,
        marks if marks.has(Marks::ECN_CAPABLE) => IpEcn::Ect0,
        _ => IpEcn::NotEct,
    };
    let mut ip = Ipv4Header {
        dscp: IpDscp::try_new(header.class).expect("invariant: a class is below 16, a DSCP below 64"),
        ecn,
        total_len: (IP + room) as u16,
        identification: on_link.number as u16,
        dont_fragment: true,
        time_to_live: 64u8.saturating_sub(on_link.hops),
        protocol,
        source: address(header.src),
        destination: address(header.dst),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

/// Returns the TCP header and payload.
fn tcp(on_link: &OnLink, sizes: &Frame) -> Vec<u8> {
    let TracedPacket { header, blocks, .. } = on_link.packet;
    let (source_port, destination_port) = ports(on_link.flow, header.src);
    let options = options(header, blocks, sizes);
    let mut tcp = TcpHeader::new(source_port, destination_port, sequence(header), u16::MAX);
    tcp.syn = matches!(header.kind, Kind::Syn | Kind::SynAck);
    tcp.ack = header.kind != Kind::Syn;
    tcp.acknowledgment_number = match header.kind {
        Kind::Syn => 0,
        Kind::Ack => stream(header.offset.get()),
        _ => 1,
    };
    tcp.psh = header.marks.has(Marks::LAST);
    tcp.ece = header.marks.has(Marks::ECHO);
    tcp.set_options_raw(&options).expect("invariant: `options` gives at most 40 bytes");
    let payload = vec![0; usize::from(header.payload).min(IP_ROOM - tcp.header_len())];
    tcp.checksum = tcp
        .calc_checksum_ipv4_raw(address(header.src), address(header.dst), &payload)
        .expect("invariant: the payload is cut to what IPv4 holds");
    let mut bytes = tcp.to_bytes().to_vec();
    bytes.extend_from_slice(&payload);
    bytes
}

/// Returns the SACK option, preceded by no-operations that pad the header to its simulated size.
fn options(header: &Header, blocks: &[(u32, u32); 2], sizes: &Frame) -> Vec<u8> {
    let simulated = match header.kind {
        Kind::Data => sizes.header,
        Kind::Syn | Kind::SynAck => sizes.syn,
        _ => sizes.ack,
    };
    let acknowledged = header.offset.get();
    let edges: Vec<u32> = blocks
        .iter()
        .filter(|(_, end)| *end > 0)
        .flat_map(|&(start, end)| [start, end].map(|edge| stream(acknowledged + u64::from(edge))))
        .collect();
    let sack = if edges.is_empty() { 0 } else { 2 + 4 * edges.len() };
    let room = usize::from(simulated).saturating_sub(IP + TCP).min(TcpHeader::MAX_LEN - TCP) / 4 * 4;
    let length = room.max(sack.next_multiple_of(4));
    let mut options = vec![1; length - sack];
    if sack > 0 {
        options.extend([5, sack as u8]);
        options.extend(edges.iter().flat_map(|edge| edge.to_be_bytes()));
    }
    options
}

/// Returns the sequence number of a packet; ACKs and handshake replies carry no payload.
fn sequence(header: &Header) -> u32 {
    match header.kind {
        Kind::Syn | Kind::SynAck => 0,
        Kind::Data => stream(header.offset.get()),
        _ => 1,
    }
}

/// Returns the sequence number of an offset in the stream.
fn stream(offset: u64) -> u32 {
    offset.wrapping_add(1) as u32
}

/// Returns the source and destination port of a packet from `from`.
fn ports(flow: &FlowSpec, from: HostId) -> (u16, u16) {
    let FlowId(id) = flow.id;
    let sender = 49_152 + (id % 16_384) as u16;
    let receiver = 40_000 + (id / 16_384 % 8_192) as u16;
    if from == flow.src { (sender, receiver) } else { (receiver, sender) }
}

fn address(host: HostId) -> [u8; 4] {
    let [_, x, y, z] = (u32::from(host.0) + 1).to_be_bytes();
    [10, x, y, z]
}

fn mac(host: HostId) -> [u8; 6] {
    let [_, x, y, z] = (u32::from(host.0) + 1).to_be_bytes();
    [2, 0, 0, x, y, z]
}
