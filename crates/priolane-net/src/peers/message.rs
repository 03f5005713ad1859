//! Control messages: what hosts say to each other besides the packets of their transport.
//!
//! The first byte has a 0 in its upper four bits, where a packet of a transport has the version of its format, and the
//! number of the message in its lower four. Integers are little-endian. With a key, a tag of 16 bytes follows.
//!
//! | message | number | fields (bytes) | bytes |
//! |---|---|---|---|
//! | HELLO | 0 | run (8), nonce (8), period (1) and cookie (8), transport (16), MTU (2) | 44 |
//! | CHALLENGE | 1 | nonce of the HELLO (8), period (1) and cookie (8) | 18 |
//! | WELCOME | 2 | nonce of the HELLO (8), run (8), nonce (8) | 25 |
//! | REFUSED | 3 | nonce of the HELLO (8), reason (1), transport (16), MTU (2) | 28 |
//! | UNKNOWN | 4 | | 1 |
//! | PING | 5 | nonce of its sender (8), nonce of its receiver (8) | 17 |
//! | PONG | 6 | nonce of its sender (8), nonce of its receiver (8) | 17 |
//! | ABORT | 7 | nonce of its sender (8), nonce of its receiver (8), flow (4) | 21 |
//! | REJECT | 8 | nonce of its sender (8), nonce of its receiver (8), flow (4), reason (1) | 22 |
//!
//! No answer to a stranger is longer than what it answers.

use priolane_core::endpoint::Rejection;
use ring::hmac;

use super::cookie::Cookie;
use crate::key::TAG;

/// Bytes of a transport's name.
const NAME: usize = 16;

/// The most bytes of a message.
pub(crate) const LONGEST: usize = 1 + 8 + 8 + 9 + NAME + 2 + TAG;

/// What two hosts must have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Speaks {
    /// The transport, or the format of all those that understand each other; filled up with zeros.
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

    /// The transport's name, as far as it can be shown.
    pub(crate) fn name(&self) -> String {
        let shown = self.transport.iter().take_while(|&&byte| byte != 0);
        shown.map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '?' }).collect()
    }
}

/// Why a host refuses another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Reason {
    /// It speaks another transport, or with another MTU.
    Speech = 0,
    /// It knows as many others as it may.
    NoRoom = 1,
    /// It takes only what is authenticated with its key.
    NeedsKey = 2,
}

/// The nonces of two hosts for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nonces {
    /// Of the sender of the message.
    pub(crate) from: u64,
    /// Of its receiver.
    pub(crate) to: u64,
}

/// A control message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// A host wants to be known. `run` is drawn when it starts, `nonce` for this greeting.
    Hello { run: u64, nonce: u64, cookie: Cookie, speaks: Speaks },
    /// Once more, with this cookie: so the other shows that it receives what goes to its address.
    Challenge { nonce: u64, cookie: Cookie },
    /// It is known from now on.
    Welcome { nonce: u64, run: u64, answer: u64 },
    /// It will not be known.
    Refused { nonce: u64, reason: Reason, speaks: Speaks },
    /// A packet came from a host that is not known.
    Unknown,
    /// Is the other still there, and the same?
    Ping(Nonces),
    /// It is.
    Pong(Nonces),
    /// The rest of a flow will not come.
    Abort { nonces: Nonces, flow: u32 },
    /// A flow is not received.
    Reject { nonces: Nonces, flow: u32, why: Rejection },
}

/// Writes fields one after the other; there is always room.
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

/// Reads fields one after the other; `None` where the bytes end.
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
            Self::Unknown => 4,
            Self::Ping(_) => 5,
            Self::Pong(_) => 6,
            Self::Abort { .. } => 7,
            Self::Reject { .. } => 8,
        }
    }

    /// The message as bytes, and how many.
    pub(crate) fn encode(&self, key: Option<&hmac::Key>) -> ([u8; LONGEST], usize) {
        let mut bytes = [0; LONGEST];
        let mut out = Out { bytes: &mut bytes, len: 0 };
        out.put(&[self.number()]);
        match self {
            Self::Hello { run, nonce, cookie, speaks } => {
                out.u64(*run);
                out.u64(*nonce);
                out.cookie(*cookie);
                out.speaks(speaks);
            }
            Self::Challenge { nonce, cookie } => {
                out.u64(*nonce);
                out.cookie(*cookie);
            }
            Self::Welcome { nonce, run, answer } => {
                [nonce, run, answer].into_iter().for_each(|n| out.u64(*n))
            }
            Self::Refused { nonce, reason, speaks } => {
                out.u64(*nonce);
                out.put(&[*reason as u8]);
                out.speaks(speaks);
            }
            Self::Unknown => {}
            Self::Ping(nonces) | Self::Pong(nonces) => out.nonces(*nonces),
            Self::Abort { nonces, flow } => {
                out.nonces(*nonces);
                out.put(&flow.to_le_bytes());
            }
            Self::Reject { nonces, flow, why } => {
                out.nonces(*nonces);
                out.put(&flow.to_le_bytes());
                out.put(&[match why {
                    Rejection::TooLong => 0,
                    Rejection::GivenUp => 1,
                }]);
            }
        }
        let mut len = out.len;
        if let Some(key) = key {
            let tag = hmac::sign(key, &bytes[..len]);
            bytes[len..len + TAG].copy_from_slice(&tag.as_ref()[..TAG]);
            len += TAG;
        }
        (bytes, len)
    }

    /// The message in these bytes; `None` if they are none, or none with this key.
    pub(crate) fn decode(bytes: &[u8], key: Option<&hmac::Key>) -> Option<Self> {
        let message = match key {
            None => bytes,
            Some(key) => {
                let (message, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG)?)?;
                let expected = hmac::sign(key, message);
                let same = expected.as_ref().iter().zip(tag).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0;
                Some(message).filter(|_| same)?
            }
        };
        let mut input = In(message);
        let [number] = input.take()?;
        let decoded = Self::fields(number, &mut input)?;
        input.0.is_empty().then_some(decoded)
    }

    fn fields(number: u8, input: &mut In<'_>) -> Option<Self> {
        Some(match number {
            0 => {
                let (run, nonce) = (input.u64()?, input.u64()?);
                Self::Hello { run, nonce, cookie: input.cookie()?, speaks: input.speaks()? }
            }
            1 => Self::Challenge { nonce: input.u64()?, cookie: input.cookie()? },
            2 => Self::Welcome { nonce: input.u64()?, run: input.u64()?, answer: input.u64()? },
            3 => {
                let nonce = input.u64()?;
                let reason = match input.take()? {
                    [0] => Reason::Speech,
                    [1] => Reason::NoRoom,
                    [2] => Reason::NeedsKey,
                    _ => return None,
                };
                Self::Refused { nonce, reason, speaks: input.speaks()? }
            }
            4 => Self::Unknown,
            5 => Self::Ping(input.nonces()?),
            6 => Self::Pong(input.nonces()?),
            7 => Self::Abort { nonces: input.nonces()?, flow: u32::from_le_bytes(input.take()?) },
            8 => {
                let (nonces, flow) = (input.nonces()?, u32::from_le_bytes(input.take()?));
                let why = match input.take()? {
                    [0] => Rejection::TooLong,
                    [1] => Rejection::GivenUp,
                    _ => return None,
                };
                Self::Reject { nonces, flow, why }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use proptest::prelude::*;

    fn every_message() -> [(Message, usize); 10] {
        let (cookie, speaks) = (Cookie { period: 9, value: 77 }, Speaks::new("homa", 1_500));
        let nonces = Nonces { from: 4, to: 5 };
        [
            (Message::Hello { run: 1, nonce: 2, cookie, speaks }, 44),
            (Message::Challenge { nonce: 2, cookie }, 18),
            (Message::Welcome { nonce: 2, run: 1, answer: 3 }, 25),
            (Message::Refused { nonce: 2, reason: Reason::NeedsKey, speaks }, 28),
            (Message::Unknown, 1),
            (Message::Ping(nonces), 17),
            (Message::Pong(nonces), 17),
            (Message::Abort { nonces, flow: 6 }, 21),
            (Message::Reject { nonces, flow: 6, why: Rejection::TooLong }, 22),
            (Message::Reject { nonces, flow: 6, why: Rejection::GivenUp }, 22),
        ]
    }

    #[test]
    fn messages_are_read_as_they_were_written_and_have_one_length() {
        let key = Key::new(&[1; 16]).unwrap().of_control();
        for (message, expected) in every_message() {
            for key in [None, Some(&key)] {
                let (bytes, len) = message.encode(key);
                assert_eq!(len, expected + if key.is_some() { TAG } else { 0 });
                assert_eq!(Message::decode(&bytes[..len], key), Some(message));
                assert_eq!(Message::decode(&bytes[..len - 1], key), None, "{message:?}, cut");
                assert_eq!(
                    Message::decode(&[&bytes[..len], &[0]].concat(), key),
                    None,
                    "{message:?}, longer"
                );
            }
        }
    }

    #[test]
    fn a_message_of_another_key_or_changed_is_none() {
        let [key, other] = [1, 2].map(|byte| Key::new(&[byte; 16]).unwrap().of_control());
        for (message, _) in every_message() {
            let (bytes, len) = message.encode(Some(&key));
            assert_eq!(Message::decode(&bytes[..len], Some(&other)), None);
            for place in 0..len {
                let mut changed = bytes;
                changed[place] ^= 0x10;
                assert_eq!(Message::decode(&changed[..len], Some(&key)), None, "{message:?}, byte {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_lead_to_a_panic_and_what_is_read_is_written_so(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(message) = Message::decode(&bytes, None) {
                let (written, len) = message.encode(None);
                prop_assert_eq!(&written[..len], &bytes[..]);
            }
        }
    }
}
