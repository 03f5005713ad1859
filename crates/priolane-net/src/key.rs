//! Keys that hosts share, and what follows from them.

use std::fmt;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::hmac;

/// Bytes of a tag: of AES-128-GCM, and of the HMAC-SHA-256 of a control message, cut.
pub(crate) const TAG: usize = 16;

/// Bytes of the shortest key.
pub const SHORTEST_KEY: usize = 16;

/// A secret that all hosts which talk to each other share. Every datagram between them is then encrypted and authenticated.
#[derive(Clone)]
pub struct Key(Vec<u8>);

/// Bytes that are no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// Too few.
    #[error(
        "a key of {0} bytes: write at least {SHORTEST_KEY}, drawn at random (such as openssl rand -hex 32)"
    )]
    Short(usize),
    /// Not written in hexadecimal digits.
    #[error("a key is written in pairs of hexadecimal digits (such as openssl rand -hex 32 prints)")]
    Hex,
}

impl Key {
    /// The key of these bytes, which should be drawn at random.
    ///
    /// # Errors
    /// If they are fewer than [`SHORTEST_KEY`].
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() < SHORTEST_KEY { Err(KeyError::Short(bytes.len())) } else { Ok(Self(bytes.to_vec())) }
    }

    /// The key that is written in these hexadecimal digits; white space around them is ignored.
    ///
    /// # Errors
    /// If it is not, or is too short.
    pub fn from_hex(digits: &str) -> Result<Self, KeyError> {
        let digits = digits.trim().as_bytes();
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let pair = |pair: &[u8]| match pair {
            &[high, low] => Some(value(high)? << 4 | value(low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
        Self::new(&bytes.ok_or(KeyError::Hex)?)
    }

    /// What authenticates control messages.
    pub(crate) fn of_control(&self) -> hmac::Key {
        let root = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&root, b"priolane-net control 1").as_ref())
    }

    /// What seals the datagrams of one direction between two hosts: the nonces are the sender's and the receiver's.
    fn of_direction(&self, sender: u64, receiver: u64) -> Result<LessSafeKey, Unspecified> {
        let info: [&[u8]; 3] = [b"priolane-net data 1", &sender.to_le_bytes(), &receiver.to_le_bytes()];
        let secret = Salt::new(HKDF_SHA256, b"priolane-net").extract(&self.0);
        let expanded = secret.expand(&info, &AES_128_GCM)?;
        Ok(LessSafeKey::new(UnboundKey::from(expanded)))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Numbers behind the highest that are still told apart: as far as datagrams may be reordered.
const WINDOW: u64 = 2_048;

/// Which datagrams were opened, by their numbers.
#[derive(Debug)]
struct ReplayWindow {
    /// One more than the highest; 0 before the first.
    next: u64,
    /// A bit for each of the last [`WINDOW`] numbers, at its remainder.
    bits: [u64; WINDOW as usize / 64],
}

impl ReplayWindow {
    const NONE: Self = Self { next: 0, bits: [0; WINDOW as usize / 64] };

    /// The number whose lower half this is: the one nearest to the next.
    fn whole(&self, low: u32) -> u64 {
        let half = 1u64 << 31;
        let candidate = self.next & !u64::from(u32::MAX) | u64::from(low);
        if candidate + half < self.next {
            candidate.saturating_add(2 * half)
        } else if candidate > self.next + half && candidate >= 2 * half {
            candidate - 2 * half
        } else {
            candidate
        }
    }

    fn place(number: u64) -> (usize, u64) {
        ((number % WINDOW / 64) as usize, 1 << (number % 64))
    }

    /// Whether a datagram of this number may be new.
    fn may_be_new(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        number >= self.next || number + WINDOW >= self.next && self.bits[word] & bit == 0
    }

    /// A datagram of this number was opened, which may have been new.
    fn add(&mut self, number: u64) {
        if number >= self.next {
            // What is between was not seen, and what was a window ago is no longer told apart.
            for skipped in self.next.max((number + 1).saturating_sub(WINDOW))..=number {
                let (word, bit) = Self::place(skipped);
                self.bits[word] &= !bit;
            }
            self.next = number + 1;
        }
        let (word, bit) = Self::place(number);
        self.bits[word] |= bit;
    }
}

/// What seals and opens the datagrams between two hosts.
#[derive(Debug)]
pub(crate) struct Seal {
    to_them: LessSafeKey,
    from_them: LessSafeKey,
    sent: u64,
    seen: ReplayWindow,
}

/// Bytes before what is sealed: the number's lower half. The caller puts a byte before it.
pub(crate) const NUMBER: usize = 4;

impl Seal {
    /// That of two hosts that drew these nonces for each other.
    pub(crate) fn new(key: &Key, own: u64, theirs: u64) -> Option<Self> {
        let (to_them, from_them) = (key.of_direction(own, theirs), key.of_direction(theirs, own));
        Some(Self { to_them: to_them.ok()?, from_them: from_them.ok()?, sent: 0, seen: ReplayWindow::NONE })
    }

    fn nonce(number: u64) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        nonce[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    }

    /// Seals what is in `datagram` between `first` byte and number and the room for the tag; whether it could.
    pub(crate) fn seal(&mut self, first: u8, datagram: &mut [u8]) -> bool {
        if datagram.len() < 1 + NUMBER + TAG {
            return false;
        }
        let number = self.sent;
        self.sent += 1;
        let (head, rest) = datagram.split_at_mut(1 + NUMBER);
        head[0] = first;
        head[1..].copy_from_slice(&(number as u32).to_le_bytes());
        let (text, room) = rest.split_at_mut(rest.len() - TAG);
        let tag = self.to_them.seal_in_place_separate_tag(Self::nonce(number), Aad::from(&*head), text);
        tag.map(|tag| room.copy_from_slice(tag.as_ref())).is_ok()
    }

    /// Opens a datagram in place: what was sealed, unless it is none of the other host, or was opened before.
    pub(crate) fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<&'a [u8]> {
        if datagram.len() < 1 + NUMBER + TAG {
            return None;
        }
        let (head, rest) = datagram.split_at_mut(1 + NUMBER);
        let number = self.seen.whole(u32::from_le_bytes([head[1], head[2], head[3], head[4]]));
        if !self.seen.may_be_new(number) {
            return None;
        }
        let text = self.from_them.open_in_place(Self::nonce(number), Aad::from(&*head), rest).ok()?;
        self.seen.add(number);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::new(&[7; 32]).unwrap()
    }

    fn datagram(text: &[u8]) -> Vec<u8> {
        [&[0; 1 + NUMBER], text, &[0; TAG]].concat()
    }

    #[test]
    fn keys_are_read_from_hexadecimal_digits_and_not_shown() {
        let key = Key::from_hex(" 000102030405060708090a0b0c0d0e0F\n").unwrap();
        assert_eq!(key.0, (0..16).collect::<Vec<u8>>());
        assert_eq!(format!("{key:?}"), "Key(..)");
        assert_eq!(Key::from_hex("00").unwrap_err(), KeyError::Short(1));
        for wrong in ["0", "0g", "000102030405060708090a0b0c0d0e0f0"] {
            assert_eq!(Key::from_hex(wrong).unwrap_err(), KeyError::Hex, "{wrong}");
        }
    }

    #[test]
    fn a_datagram_is_opened_once_by_the_host_that_it_is_for_and_by_no_other() {
        let (mut a, mut b) = (Seal::new(&key(), 1, 2).unwrap(), Seal::new(&key(), 2, 1).unwrap());
        let mut sealed = datagram(b"hello");
        assert!(a.seal(0xf3, &mut sealed));
        assert!(sealed[0] == 0xf3 && !sealed.windows(5).any(|part| part == b"hello"));
        for mut other in [
            Seal::new(&key(), 1, 2).unwrap(),
            Seal::new(&key(), 2, 3).unwrap(),
            Seal::new(&Key::new(&[8; 32]).unwrap(), 2, 1).unwrap(),
        ] {
            assert_eq!(other.open(&mut sealed.clone()), None);
        }
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(b.open(&mut changed), None, "byte {place}");
        }
        assert_eq!(b.open(&mut sealed.clone()[..20]), None);
        assert_eq!(b.open(&mut sealed.clone()), Some(&b"hello"[..]));
        assert_eq!(b.open(&mut sealed), None, "the second time");
    }

    #[test]
    fn datagrams_may_come_in_another_order_as_far_as_the_window_goes() {
        let (mut a, mut b) = (Seal::new(&key(), 1, 2).unwrap(), Seal::new(&key(), 2, 1).unwrap());
        let sealed: Vec<Vec<u8>> = (0..3_000u32)
            .map(|n| {
                let mut sealed = datagram(&n.to_le_bytes());
                assert!(a.seal(0xf0, &mut sealed));
                sealed
            })
            .collect();
        let mut opened = |n: usize| b.open(&mut sealed[n].clone()).is_some();
        assert!(opened(2_500) && !opened(2_500));
        assert!(opened(500) && opened(453) && !opened(453), "2048 numbers are told apart");
        assert!(!opened(452), "one before is refused");
        assert!(opened(2_999) && !opened(2_500) && !opened(500) && opened(2_501));
        assert!((2_502..2_999).all(&mut opened) && !(2_502..2_999).any(&mut opened));
    }

    #[test]
    fn numbers_are_found_from_their_lower_half() {
        let mut seen = ReplayWindow::NONE;
        assert_eq!((seen.whole(0), seen.whole(5), seen.whole(u32::MAX)), (0, 5, u64::from(u32::MAX)));
        seen.next = (3 << 32) + 10;
        assert_eq!((seen.whole(9), seen.whole(11)), ((3 << 32) + 9, (3 << 32) + 11));
        assert_eq!(seen.whole(u32::MAX - 1), (3 << 32) - 2);
        seen.next = (3 << 32) - 10;
        assert_eq!((seen.whole(4), seen.whole(u32::MAX - 20)), ((3 << 32) + 4, (3 << 32) - 21));
    }
}
