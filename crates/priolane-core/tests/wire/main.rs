//! Packets as bytes: layouts, round trips, damaged bytes.

mod damaged;
mod golden;
mod hostile;
mod layout;
mod packets;
mod ranked;
mod round_trip;

use priolane_core::ids::HostId;
use priolane_core::packet::Packet;
use priolane_core::units::Time;
use priolane_core::wire::{Codec, DecodeError, EcnCodepoint, EncodeError, IpVersion, RecvMeta, WireBody};

/// The instant of sending and receiving.
const NOW: Time = Time(7_000_000_000_000);

/// The properties of each datagram that the receiving host knows.
const META: RecvMeta =
    RecvMeta { src: HostId(3), dst: HostId(7), class: 5, ecn: EcnCodepoint::Ect0, at: NOW };

fn codec<B: WireBody>() -> Codec<B> {
    Codec::new(1_500, IpVersion::V4).unwrap()
}

/// The datagram of a packet, its payload bytes 0, 1, 2 ...
fn encode<B: WireBody>(packet: &Packet<B>) -> Result<Vec<u8>, EncodeError> {
    let mut buffer = [0xee; 256];
    let len = codec::<B>().encode(packet, NOW, &mut buffer)?;
    assert!(buffer[len..].iter().all(|&byte| byte == 0xee), "nothing is written beyond the end");
    let payload = (0..packet.header.payload).map(|n| n as u8);
    Ok(buffer[..len].iter().copied().chain(payload).collect())
}

fn decode<B: WireBody>(datagram: &[u8]) -> Result<(Packet<B>, &[u8]), DecodeError> {
    codec().decode(datagram, &META)
}
