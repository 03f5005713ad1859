//! Datagrams: an error with a legible message, or a packet of one format that has these bytes and no others.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_core::ids::HostId;
use priolane_core::telemetry::Path;
use priolane_core::transport::receiver_driven::ControlMessage;
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::Time;
use priolane_core::wire::{Codec, EcnCodepoint, IpVersion, RecvMeta, WireBody};

/// Whether `datagram` is a packet with a body of this type.
fn decodes<B: WireBody>(datagram: &[u8]) -> bool {
    is_packet(&Codec::<B>::new(1_500, IpVersion::V4).expect("the MTU is large enough"), datagram)
}

/// The same of the format with ranks.
fn decodes_ranked<B: WireBody>(datagram: &[u8]) -> bool {
    let codec = Codec::<B>::with_ranks(1_500, IpVersion::V4).expect("there is such a format");
    is_packet(&codec.expect("the MTU is large enough"), datagram)
}

fn is_packet<B: WireBody>(codec: &Codec<B>, datagram: &[u8]) -> bool {
    let (src, dst, at) = (HostId(1), HostId(2), Time(7_000_000_000_000));
    match codec.decode(datagram, &RecvMeta { src, dst, class: 0, ecn: EcnCodepoint::Ce, at }) {
        Ok((packet, payload)) => {
            let mut buffer = [0; 256];
            let len = codec.encode(&packet, at, &mut buffer).expect("what was decoded can be sent");
            assert_eq!([&buffer[..len], payload].concat(), datagram, "{packet:?}");
            true
        }
        Err(error) => {
            assert!((1..200).contains(&error.to_string().len()));
            false
        }
    }
}

fuzz_target!(|datagram: &[u8]| {
    let formats = [
        decodes::<Segment>,
        decodes::<Segment<Path>>,
        decodes::<TokenMessage>,
        decodes::<ControlMessage>,
        decodes_ranked::<Segment>,
        decodes_ranked::<TokenMessage>,
    ];
    assert!(formats.iter().filter(|decodes| decodes(datagram)).count() <= 1);
});
