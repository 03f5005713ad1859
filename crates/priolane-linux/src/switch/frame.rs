//! Ethernet frames with IPv4 packets: the positions of fields, and changes that keep frames valid.
//!
//! ```text
//! 0 receiver, sender (6 each), type (2)   14 IPv4: TOS at 1, length 2, identity 4, fragment 6, protocol 9, checksum 10,
//! addresses 12 and 16   UDP: ports (2 each), length 4, checksum 6
//! ```

use std::net::Ipv4Addr;
use std::ops::Range;

/// The size of the Ethernet header in bytes.
pub(super) const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The size of the UDP header in bytes.
const UDP_HEADER: usize = 8;

/// An IPv4 packet in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// The size of the IP header in bytes.
    head: usize,
    /// The size of the IP packet in bytes.
    pub(super) network: usize,
    pub(super) tos: u8,
    protocol: u8,
    is_fragment: bool,
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
}

/// Returns the two bytes at `at` as a big-endian number, or 0 beyond the end.
fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]))
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(two) = bytes.get_mut(at..at + 2) {
        two.copy_from_slice(&value.to_be_bytes());
    }
}

/// Returns `sum` plus the sum of RFC 1071 over `bytes`.
fn sum(bytes: &[u8], sum: u64) -> u64 {
    let pairs = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)));
    sum + pairs.sum::<u64>()
}

/// Returns the checksum of a sum.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Layout {
    /// Returns the layout of a frame, or `None` if the frame does not contain a whole IPv4 packet.
    pub(super) fn of(frame: &[u8]) -> Option<Self> {
        let ip = frame.get(ETHERNET..)?;
        let head = usize::from(*ip.first()? & 0xf) * 4;
        let network = usize::from(word(ip, 2));
        let right = frame[12..14] == IPV4 && ip[0] >> 4 == 4 && head >= 20;
        if !right || network < head || network > ip.len() {
            return None;
        }
        let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
        // All but "do not fragment".
        let is_fragment = word(ip, 6) & 0xbfff != 0;
        let (tos, protocol) = (ip[1], ip[9]);
        Some(Self { head, network, tos, protocol, is_fragment, src: address(12), dst: address(16) })
    }

    /// Returns the position of the payload of a UDP datagram, or `None` if the packet is another one or a fragment.
    pub(super) fn datagram(&self, frame: &[u8]) -> Option<Range<usize>> {
        let start = ETHERNET + self.head;
        let len = usize::from(word(frame, start + 4));
        let whole = self.protocol == UDP && !self.is_fragment && self.head + len == self.network;
        (whole && len >= UDP_HEADER).then_some(start + UDP_HEADER..start + len)
    }

    /// Completes a checksum that the sender left to its device. UDP is sent without a checksum, as IPv4 permits.
    pub(super) fn finish_checksum(&self, frame: &mut [u8]) {
        let (start, end) = (ETHERNET + self.head, ETHERNET + self.network);
        match self.protocol {
            UDP if !self.is_fragment && end - start >= UDP_HEADER => put(frame, start + 6, 0),
            TCP if !self.is_fragment && end - start >= 20 => {
                put(frame, start + 16, 0);
                let pseudo = sum(&frame[ETHERNET + 12..ETHERNET + 20], u64::from(TCP) + (end - start) as u64);
                let checksum = fold(sum(&frame[start..end], pseudo));
                put(frame, start + 16, checksum);
            }
            _ => {}
        }
    }

    /// Computes the checksum of the IP header.
    fn finish_header(&self, frame: &mut [u8]) {
        put(frame, ETHERNET + 10, 0);
        let checksum = fold(sum(&frame[ETHERNET..ETHERNET + self.head], 0));
        put(frame, ETHERNET + 10, checksum);
    }

    /// Marks the packet as one that met congestion (CE).
    pub(super) fn mark(&self, frame: &mut [u8]) {
        frame[ETHERNET + 1] |= 0b11;
        self.finish_header(frame);
    }

    /// Replaces the payload of the UDP datagram.
    pub(super) fn replace_payload(&mut self, frame: &mut Vec<u8>, payload: &[u8]) {
        let start = ETHERNET + self.head;
        frame.truncate(start + UDP_HEADER);
        frame.extend_from_slice(payload);
        self.network = frame.len() - ETHERNET;
        put(frame, ETHERNET + 2, self.network as u16);
        put(frame, start + 4, (UDP_HEADER + payload.len()) as u16);
        self.finish_header(frame);
    }

    /// Returns the UDP datagram to its sender.
    pub(super) fn turn_round(&mut self, frame: &mut [u8]) {
        let start = ETHERNET + self.head;
        for (at, len) in [(ETHERNET + 12, 4), (start, 2)] {
            let (first, second) = frame[at..at + 2 * len].split_at_mut(len);
            first.swap_with_slice(second);
        }
        std::mem::swap(&mut self.src, &mut self.dst);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a UDP frame from host `from` to host `to`, with port 7077 at both ends.
    pub(in crate::switch) fn udp((from, to): (u16, u16), tos: u8, payload: &[u8]) -> Vec<u8> {
        let len = (28 + payload.len()) as u16;
        let mut frame = vec![0xff; 12];
        frame.extend(IPV4);
        frame.extend([0x45, tos]);
        frame.extend(len.to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, UDP, 0, 0]);
        frame.extend(crate::plan::TestbedPlan::address(from).octets());
        frame.extend(crate::plan::TestbedPlan::address(to).octets());
        frame.extend([0x1b, 0xa5, 0x1b, 0xa6]);
        frame.extend((len - 20).to_be_bytes());
        frame.extend([0xab, 0xcd]);
        frame.extend(payload);
        let layout = Layout::of(&frame).unwrap();
        layout.finish_header(&mut frame);
        frame
    }

    /// Returns whether the checksum of the IP header is right.
    pub(in crate::switch) fn is_valid(frame: &[u8]) -> bool {
        fold(sum(&frame[14..34], 0)) == 0
    }

    #[test]
    fn a_datagram_is_found_and_what_is_none_is_not() {
        let mut frame = udp((0, 1), 0xf2, b"abc");
        let layout = Layout::of(&frame).unwrap();
        assert_eq!((layout.tos, layout.network, layout.src.octets()), (0xf2, 31, [10, 77, 0, 1]));
        assert_eq!(layout.datagram(&frame).map(|range| &frame[range]), Some(&b"abc"[..]));
        // Padding of short frames is no payload.
        frame.extend([0; 15]);
        assert_eq!(Layout::of(&frame).unwrap().datagram(&frame), Some(42..45));
        for (at, value) in [(12, 0x86), (14, 0x44), (14, 0x65), (16, 0xff), (17, 0x10)] {
            let mut wrong = frame.clone();
            wrong[at] = value;
            assert_eq!(Layout::of(&wrong), None, "{value:#x} at {at}");
        }
        for (at, value) in [(20, 0x20), (21, 0x01), (23, TCP), (39, 0x07), (39, 0xff)] {
            let mut other = frame.clone();
            other[at] = value;
            assert_eq!(Layout::of(&other).unwrap().datagram(&other), None, "{value:#x} at {at}");
        }
        assert_eq!(Layout::of(&frame[..33]), None);
    }

    #[test]
    fn changes_leave_packets_valid() {
        let mut frame = udp((0, 1), 0xf2, &[7; 100]);
        let mut layout = Layout::of(&frame).unwrap();
        layout.mark(&mut frame);
        assert!(is_valid(&frame) && frame[15] == 0xf3);
        layout.replace_payload(&mut frame, b"head");
        assert!(is_valid(&frame));
        let cut = Layout::of(&frame).unwrap();
        assert_eq!((cut.network, cut.datagram(&frame)), (32, Some(42..46)));
        layout.turn_round(&mut frame);
        let back = Layout::of(&frame).unwrap();
        assert_eq!((back.src, back.dst), (cut.dst, cut.src));
        assert!(is_valid(&frame) && frame[34..38] == [0x1b, 0xa6, 0x1b, 0xa5]);
    }

    #[test]
    fn checksums_that_were_left_to_the_device_are_finished() {
        let mut frame = udp((0, 1), 0, b"abc");
        Layout::of(&frame).unwrap().finish_checksum(&mut frame);
        assert_eq!(frame[40..42], [0, 0]);
        // TCP: the sum over pseudo header and segment is all ones.
        let mut tcp = udp((0, 1), 0, &[3; 15]);
        tcp[23] = TCP;
        let layout = Layout::of(&tcp).unwrap();
        layout.finish_checksum(&mut tcp);
        let pseudo = sum(&tcp[26..34], 6 + 23);
        assert_eq!(fold(sum(&tcp[34..], pseudo)), 0);
    }
}
