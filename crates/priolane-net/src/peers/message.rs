//! Control messages, which hosts exchange in addition to the packets of their transport.
//!
//! The first byte has a 0 in its upper four bits, where a packet of a transport has the version of its format, and the
//! number of the message in its lower four. Integers are little-endian.
//!
//! | message | number | fields without a key (bytes) | bytes | fields with a key (bytes) | bytes |
//! |---|---|---|---|---|---|
//! | HELLO | 0 | run (8), nonce (8), period (1) and cookie (8), transport (16), MTU (2) | 44 | nonce (8), period (1) and cookie (8), first message of the handshake (74), tag (16) | 108 |
//! | CHALLENGE | 1 | nonce of the HELLO (8), period (1) and cookie (8) | 18 | the same, tag (16) | 34 |
//! | WELCOME | 2 | nonce of the HELLO (8), run (8), nonce (8) | 25 | nonce of the HELLO (8), second message of the handshake (64), tag (16) | 89 |
//! | REFUSED | 3 | nonce of the HELLO (8), reason (1), transport (16), MTU (2) | 28 | the same, tag (16) | 44 |
//! | UNKNOWN | 4 | | 1 | mark of the sealed datagram (8), tag (16) | 25 |
//! | PING | 5 | nonce of its sender (8), nonce of its receiver (8), number (4) | 21 | sealed: number (4) | 26 |
//! | PONG | 6 | nonce of its sender (8), nonce of its receiver (8), number of the PING (4) | 21 | sealed: number of the PING (4) | 26 |
//! | ABORT | 7 | nonce of its sender (8), nonce of its receiver (8), flow (4) | 21 | sealed: flow (4) | 26 |
//! | REJECT, too long | 8 | nonce of its sender (8), nonce of its receiver (8), flow (4) | 21 | sealed: flow (4) | 26 |
//! | REJECT, given up | 9 | nonce of its sender (8), nonce of its receiver (8), flow (4) | 21 | sealed: flow (4) | 26 |
//!
//! The tag is the HMAC-SHA-256 of all bytes before it, truncated to 16 bytes. The messages from PING on belong to a
//! session. With a key, they are sealed like packets.

use priolane_core::endpoint::Rejection;
use ring::hmac;

use super::cookie::Cookie;
use crate::key::{FIRST, Mark, OFFER, SECOND, TAG};

/// The size of a transport's name in bytes.
const NAME: usize = 16;

/// The size of the longest message in bytes, which is a HELLO with a key.
pub(crate) const LONGEST: usize = 1 + 8 + 9 + FIRST + TAG;

// No answer to a HELLO is longer than the HELLO; that to a HELLO without a key by a host with one is 28 bytes.
const _: () = assert!(1 + 8 + SECOND + TAG <= LONGEST && 1 + 8 + 1 + NAME + 2 + TAG <= LONGEST);

/// The parameters that two hosts must have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Speaks {
    /// The name of the transport, or of the format that several compatible transports share, padded with zeros.
    pub(crate) transport: [u8; NAME],
    pub(crate) mtu: u16,
}

impl Speaks {
    pub(crate) fn new(name: &str, mtu: u16) -> Self {
        let mut transport = [0; NAME];
        for (byte, of) in transport.iter_mut().zip(name.bytes()) {
            *byte = of;
        }
        Self { transport, mtu }
    }

    /// Returns the name of the transport, with unprintable bytes replaced.
    pub(crate) fn name(&self) -> String {
        let shown = self.transport.iter().take_while(|&&byte| byte != 0);
        shown.map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '?' }).collect()
    }
}

/// The reason why a host refuses another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Reason {
    /// The other host uses another transport or another MTU.
    Speech = 0,
    /// The table of peers is full.
    NoRoom = 1,
    /// The host accepts only messages that are authenticated with its key.
    NeedsKey = 2,
}

/// The nonces that two hosts drew for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nonces {
    /// The nonce of the sender of the message.
    pub(crate) from: u64,
    /// The nonce of the receiver of the message.
    pub(crate) to: u64,
}

/// The part of a HELLO that describes its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Offer {
    /// Without a key: `run` is drawn when the sender starts.
    Open { run: u64, speaks: Speaks },
    /// With a key: the first message of the handshake.
    Sealed([u8; FIRST]),
}

/// The part of a WELCOME that describes its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acceptance {
    /// Without a key: the run of the sender, and its nonce for the session.
    Open { run: u64, nonce: u64 },
    /// With a key: the second message of the handshake.
    Sealed([u8; SECOND]),
}

/// A control message that belongs to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionMessage {
    /// Asks whether the peer is alive and in the same run. The number is chosen by the sender.
    Ping(u32),
    /// The answer to the PING with this number.
    Pong(u32),
    /// Announces that the rest of this flow will not be sent.
    Abort(u32),
    /// Reports that this flow is not received, with the reason.
    Reject(u32, Rejection),
}

/// A control message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// Asks to become known. `nonce` is drawn for this greeting.
    Hello { nonce: u64, cookie: Cookie, offer: Offer },
    /// Asks for another HELLO with this cookie, which proves that the sender receives datagrams at its address.
    Challenge { nonce: u64, cookie: Cookie },
    /// Accepts the greeting with this nonce.
    Welcome { nonce: u64, acceptance: Acceptance },
    /// Refuses the greeting with this nonce.
    Refused { nonce: u64, reason: Reason, speaks: Speaks },
    /// Reports a packet from an unknown host; with a key, the sealed datagram with this mark.
    Unknown(Option<Mark>),
    /// A message of a session without a key.
    Session(Nonces, SessionMessage),
}

/// The size in bytes of a sealed message of a session before sealing.
pub(crate) const SESSION_TEXT: usize = 1 + 4;

impl SessionMessage {
    fn parts(self) -> (u8, u32) {
        match self {
            Self::Ping(number) => (5, number),
            Self::Pong(number) => (6, number),
            Self::Abort(flow) => (7, flow),
            Self::Reject(flow, Rejection::TooLong) => (8, flow),
            Self::Reject(flow, Rejection::GivenUp) => (9, flow),
        }
    }

    fn of_parts(number: u8, value: u32) -> Option<Self> {
        match number {
            5 => Some(Self::Ping(value)),
            6 => Some(Self::Pong(value)),
            7 => Some(Self::Abort(value)),
            8 => Some(Self::Reject(value, Rejection::TooLong)),
            9 => Some(Self::Reject(value, Rejection::GivenUp)),
            _ => None,
        }
    }

    /// Returns the message as the text of a sealed datagram.
    pub(crate) fn text(self) -> [u8; SESSION_TEXT] {
        let (number, value) = self.parts();
        let [a, b, c, d] = value.to_le_bytes();
        [number, a, b, c, d]
    }

    /// Reads a message from the text of a sealed datagram.
    pub(crate) fn of_text(text: &[u8]) -> Option<Self> {
        let &[number, a, b, c, d] = text else { return None };
        Self::of_parts(number, u32::from_le_bytes([a, b, c, d]))
    }
}

impl Speaks {
    /// Returns the offer of a host in the run `run`, as carried by the first message of a handshake.
    pub(crate) fn offer(&self, run: u64) -> [u8; OFFER] {
        let mut offer = [0; OFFER];
        offer[..8].copy_from_slice(&run.to_le_bytes());
        offer[8..8 + NAME].copy_from_slice(&self.transport);
        offer[8 + NAME..].copy_from_slice(&self.mtu.to_le_bytes());
        offer
    }

    /// Reads an offer, and returns the run of its sender and the parameters that the sender speaks.
    pub(crate) fn of_offer(offer: &[u8; OFFER]) -> Option<(u64, Self)> {
        let mut input = In(offer);
        Some((input.u64()?, input.speaks()?))
    }
}

/// Writes fields one after the other. The buffer always has room.
struct Out<'a> {
    bytes: &'a mut [u8; LONGEST],
    len: usize,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    fn nonces(&mut self, nonces: Nonces) {
        self.u64(nonces.from);
        self.u64(nonces.to);
    }

    fn speaks(&mut self, speaks: &Speaks) {
        self.put(&speaks.transport);
        self.put(&speaks.mtu.to_le_bytes());
    }

    fn cookie(&mut self, cookie: Cookie) {
        self.put(&[cookie.period]);
        self.u64(cookie.value);
    }
}

/// Reads fields one after the other, and returns `None` where the bytes end.
struct In<'a>(&'a [u8]);

impl In<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn nonces(&mut self) -> Option<Nonces> {
        Some(Nonces { from: self.u64()?, to: self.u64()? })
    }

    fn speaks(&mut self) -> Option<Speaks> {
        Some(Speaks { transport: self.take()?, mtu: u16::from_le_bytes(self.take()?) })
    }

    fn cookie(&mut self) -> Option<Cookie> {
        let [period] = self.take()?;
        Some(Cookie { period, value: self.u64()? })
    }
}

impl Message {
    fn number(&self) -> u8 {
        match self {
            Self::Hello { .. } => 0,
            Self::Challenge { .. } => 1,
            Self::Welcome { .. } => 2,
            Self::Refused { .. } => 3,
            Self::Unknown(_) => 4,
            Self::Session(_, message) => message.parts().0,
        }
    }

    /// Encodes the message, and returns its bytes and its length. `key` authenticates the message.
    pub(crate) fn encode(&self, key: Option<&hmac::Key>) -> ([u8; LONGEST], usize) {
        let mut bytes = [0; LONGEST];
        let mut out = Out { bytes: &mut bytes, len: 0 };
        out.put(&[self.number()]);
        self.put_fields(&mut out);
        let mut len = out.len;
        if let Some(key) = key {
            let tag = hmac::sign(key, &bytes[..len]);
            bytes[len..len + TAG].copy_from_slice(&tag.as_ref()[..TAG]);
            len += TAG;
        }
        (bytes, len)
    }

    fn put_fields(&self, out: &mut Out<'_>) {
        match self {
            Self::Hello { nonce, cookie, offer: Offer::Open { run, speaks } } => {
                out.u64(*run);
                out.u64(*nonce);
                out.cookie(*cookie);
                out.speaks(speaks);
            }
            Self::Hello { nonce, cookie, offer: Offer::Sealed(first) } => {
                out.u64(*nonce);
                out.cookie(*cookie);
                out.put(first);
            }
            Self::Challenge { nonce, cookie } => {
                out.u64(*nonce);
                out.cookie(*cookie);
            }
            Self::Welcome { nonce, acceptance: Acceptance::Open { run, nonce: answer } } => {
                [nonce, run, answer].into_iter().for_each(|n| out.u64(*n));
            }
            Self::Welcome { nonce, acceptance: Acceptance::Sealed(second) } => {
                out.u64(*nonce);
                out.put(second);
            }
            Self::Refused { nonce, reason, speaks } => {
                out.u64(*nonce);
                out.put(&[*reason as u8]);
                out.speaks(speaks);
            }
            Self::Unknown(None) => {}
            Self::Unknown(Some(mark)) => out.u64(*mark),
            Self::Session(nonces, message) => {
                out.nonces(*nonces);
                out.put(&message.parts().1.to_le_bytes());
            }
        }
    }

    /// Decodes a message. Returns `None` if the bytes are not a message or, with a key, are not authenticated with that
    /// key.
    pub(crate) fn decode(bytes: &[u8], key: Option<&hmac::Key>) -> Option<Self> {
        let Some(key) = key else { return Self::read(bytes, Self::open_fields) };
        let (message, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG)?)?;
        let expected = hmac::sign(key, message);
        let differ = expected.as_ref().iter().zip(tag).fold(0, |differ, (a, b)| differ | (a ^ b));
        if differ != 0 {
            return None;
        }
        Self::read(message, Self::sealed_fields)
    }

    /// Reads a message to its end.
    fn read(bytes: &[u8], fields: impl Fn(u8, &mut In<'_>) -> Option<Self>) -> Option<Self> {
        let mut input = In(bytes);
        let [number] = input.take()?;
        let decoded = fields(number, &mut input)?;
        input.0.is_empty().then_some(decoded)
    }

    /// Reads the fields of a message without a key.
    fn open_fields(number: u8, input: &mut In<'_>) -> Option<Self> {
        Some(match number {
            0 => {
                let (run, nonce, cookie) = (input.u64()?, input.u64()?, input.cookie()?);
                Self::Hello { nonce, cookie, offer: Offer::Open { run, speaks: input.speaks()? } }
            }
            2 => {
                let (nonce, run) = (input.u64()?, input.u64()?);
                Self::Welcome { nonce, acceptance: Acceptance::Open { run, nonce: input.u64()? } }
            }
            4 => Self::Unknown(None),
            5..=9 => {
                let (nonces, value) = (input.nonces()?, u32::from_le_bytes(input.take()?));
                Self::Session(nonces, SessionMessage::of_parts(number, value)?)
            }
            _ => return Self::common_fields(number, input),
        })
    }

    /// Reads the fields of a message with a key.
    fn sealed_fields(number: u8, input: &mut In<'_>) -> Option<Self> {
        Some(match number {
            0 => {
                let (nonce, cookie) = (input.u64()?, input.cookie()?);
                Self::Hello { nonce, cookie, offer: Offer::Sealed(input.take()?) }
            }
            2 => Self::Welcome { nonce: input.u64()?, acceptance: Acceptance::Sealed(input.take()?) },
            4 => Self::Unknown(Some(input.u64()?)),
            _ => return Self::common_fields(number, input),
        })
    }

    /// Reads the fields of a message that are the same with and without a key.
    fn common_fields(number: u8, input: &mut In<'_>) -> Option<Self> {
        match number {
            1 => Some(Self::Challenge { nonce: input.u64()?, cookie: input.cookie()? }),
            3 => {
                let nonce = input.u64()?;
                let reason = match input.take()? {
                    [0] => Reason::Speech,
                    [1] => Reason::NoRoom,
                    [2] => Reason::NeedsKey,
                    _ => return None,
                };
                Some(Self::Refused { nonce, reason, speaks: input.speaks()? })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
