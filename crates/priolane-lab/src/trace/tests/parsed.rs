//! An independent parser of capture files, written from the definitions of the formats.

/// A captured packet.
#[derive(Debug)]
pub(super) struct Packet {
    pub(super) ns: u64,
    pub(super) kept: usize,
    pub(super) length: u32,
    pub(super) addresses: [[u8; 4]; 2],
    pub(super) ports: [u16; 2],
    pub(super) dscp: u8,
    pub(super) ecn: u8,
    pub(super) ttl: u8,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u8,
    pub(super) payload: u16,
    pub(super) sack: Vec<(u32, u32)>,
}

/// Returns the packets of a file; panics on any deviation from the format.
pub(super) fn parse(file: &[u8]) -> Vec<Packet> {
    assert_eq!(little(file, 0), 0xa1b2_3c4d);
    assert_eq!(file[4..8], [2, 0, 4, 0]);
    assert_eq!([little(file, 8), little(file, 12), little(file, 16), little(file, 20)], [0, 0, 96, 1]);
    let mut at = 24;
    let mut packets = Vec::new();
    while at < file.len() {
        let [seconds, ns, kept, length] = [0, 4, 8, 12].map(|o| little(file, at + o));
        assert!(ns < 1_000_000_000 && kept <= 96 && kept == length.min(96));
        let frame = &file[at + 16..at + 16 + kept as usize];
        packets.push(packet(frame, u64::from(seconds) * 1_000_000_000 + u64::from(ns), length));
        at += 16 + kept as usize;
    }
    packets
}

fn packet(frame: &[u8], ns: u64, length: u32) -> Packet {
    assert_eq!(frame[12..14], [8, 0]);
    let ip = &frame[14..34];
    assert_eq!(ip[0], 0x45);
    assert_eq!(ip[9], 6);
    assert_eq!(folded(&[ip]), 0xffff, "IPv4 checksum");
    // The Ethernet addresses contain the hosts' numbers as well.
    assert_eq!((&frame[6..9], &frame[9..12]), (&[2, 0, 0][..], &ip[13..16]));
    assert_eq!((&frame[0..3], &frame[3..6]), (&[2, 0, 0][..], &ip[17..20]));
    let total = big16(ip, 2);
    assert!(length == (u32::from(total) + 14).max(60));
    let tcp = &frame[34..];
    let header = usize::from(tcp[12] >> 4) * 4;
    let payload = total - 20 - header as u16;
    // The truncated payload and the padding are zeros, which do not change the checksum.
    let kept = &tcp[..tcp.len().min(header + usize::from(payload))];
    assert!(tcp[header..].iter().all(|&byte| byte == 0));
    let segment = (total - 20).to_be_bytes();
    assert_eq!(folded(&[&ip[12..20], &[0, 6], &segment, kept]), 0xffff, "TCP checksum");
    Packet {
        ns,
        kept: frame.len(),
        length,
        addresses: [12, 16].map(|o| ip[o..o + 4].try_into().unwrap()),
        ports: [big16(tcp, 0), big16(tcp, 2)],
        dscp: ip[1] >> 2,
        ecn: ip[1] & 3,
        ttl: ip[8],
        seq: big32(tcp, 4),
        ack: big32(tcp, 8),
        flags: tcp[13],
        payload,
        sack: sack(&tcp[20..header]),
    }
}

fn sack(options: &[u8]) -> Vec<(u32, u32)> {
    let Some(at) = options.iter().position(|&kind| kind != 1) else { return Vec::new() };
    let block = &options[at..];
    assert_eq!((block[0], usize::from(block[1])), (5, block.len()));
    block[2..].chunks(8).map(|edges| (big32(edges, 0), big32(edges, 4))).collect()
}

/// Returns the ones' complement sum of 16-bit words (RFC 1071).
fn folded(parts: &[&[u8]]) -> u32 {
    let bytes = parts.concat();
    let mut sum: u32 =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn little(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn big32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn big16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}
