//! The codec of a body of which only the driver knows that it travels.
//!
//! A function that receives an endpoint from [`EndpointUser`](crate::transport::EndpointUser) only knows that the type of
//! its packets is a body.

use std::any::Any;
use std::fmt::Debug;

use super::codec::{Codec, IpVersion, RecvMeta};
use super::error::{DecodeError, EncodeError, MtuError};
use super::{Format, Ranks, WireBody};
use crate::packet::{Body, Frame, Packet};
use crate::telemetry::Path;
use crate::transport::receiver_driven::ControlMessage;
use crate::transport::tokens::TokenMessage;
use crate::transport::window::Segment;
use crate::units::Time;

/// A [`Codec`] of any body; its methods are those of [`Codec`].
pub trait PacketCodec<B>: Debug + Send {
    /// The format of its messages.
    fn format(&self) -> Format;

    /// As [`Codec::frame`].
    fn frame(&self) -> Frame;

    /// As [`Codec::encode`].
    ///
    /// # Errors
    /// As [`Codec::encode`].
    fn encode(&self, packet: &Packet<B>, now: Time, out: &mut [u8]) -> Result<usize, EncodeError>;

    /// As [`Codec::decode`].
    ///
    /// # Errors
    /// As [`Codec::decode`].
    fn decode<'a>(&self, datagram: &'a [u8], meta: &RecvMeta) -> Result<(Packet<B>, &'a [u8]), DecodeError>;
}

impl<B: WireBody> PacketCodec<B> for Codec<B> {
    fn format(&self) -> Format {
        Self::format(self)
    }

    fn frame(&self) -> Frame {
        Self::frame(self)
    }

    fn encode(&self, packet: &Packet<B>, now: Time, out: &mut [u8]) -> Result<usize, EncodeError> {
        Self::encode(self, packet, now, out)
    }

    fn decode<'a>(&self, datagram: &'a [u8], meta: &RecvMeta) -> Result<(Packet<B>, &'a [u8]), DecodeError> {
        Self::decode(self, datagram, meta)
    }
}

/// The result of [`Codec::new`].
type CodecResult<B> = Result<Box<dyn PacketCodec<B>>, MtuError>;

/// Creates a codec for bodies of type `B`; `None` if the codec is of other bodies.
type Make<B> = fn(u16, IpVersion, Ranks) -> Option<CodecResult<B>>;

/// The codec for bodies of type `B`, as [`Codec::new`] or [`Codec::with_ranks`]; `None` if no format is theirs, as of transports
/// of other crates, or none that carries ranks.
pub fn codec_of<B: Body>(mtu: u16, ip: IpVersion, ranks: Ranks) -> Option<CodecResult<B>> {
    let codecs: [Make<B>; 4] = [
        same::<Segment<()>, B>,
        same::<Segment<Path>, B>,
        same::<TokenMessage, B>,
        same::<ControlMessage, B>,
    ];
    codecs.into_iter().find_map(|codec| codec(mtu, ip, ranks))
}

/// The codec for `W`, if that is `B`.
fn same<W: WireBody, B: Body>(mtu: u16, ip: IpVersion, ranks: Ranks) -> Option<CodecResult<B>> {
    let made = match ranks {
        Ranks::Absent => Codec::<W>::new(mtu, ip),
        Ranks::Carried => Codec::<W>::with_ranks(mtu, ip)?,
    };
    let made: CodecResult<W> = made.map(|codec| Box::new(codec) as Box<dyn PacketCodec<W>>);
    (Box::new(made) as Box<dyn Any>).downcast::<CodecResult<B>>().ok().map(|made| *made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_that_travels_has_its_codec_and_no_other_has_one() {
        fn format<B: Body>(ranks: Ranks) -> Option<Format> {
            codec_of::<B>(1_500, IpVersion::V4, ranks).map(|made| made.unwrap().format())
        }
        let formats = [
            format::<Segment<()>>(Ranks::Absent),
            format::<Segment<Path>>(Ranks::Absent),
            format::<TokenMessage>(Ranks::Absent),
            format::<ControlMessage>(Ranks::Absent),
            format::<Segment<()>>(Ranks::Carried),
            format::<TokenMessage>(Ranks::Carried),
        ];
        assert_eq!(formats, Format::ALL.map(Some));
        assert_eq!((format::<()>(Ranks::Absent), format::<ControlMessage>(Ranks::Carried)), (None, None));
        let small = codec_of::<ControlMessage>(20, IpVersion::V4, Ranks::Absent);
        assert_eq!(small.unwrap().unwrap_err().mtu, 20);
    }
}
