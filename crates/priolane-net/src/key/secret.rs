//! Keys that hosts share, and the secrets that are derived from them.

use std::fmt;

use ring::hmac;

/// The size of a tag in bytes: that of AES-256-GCM, to which the HMAC-SHA-256 of a control message is truncated.
pub(crate) const TAG: usize = 16;

/// The size of the shortest permitted key in bytes.
pub const SHORTEST_KEY: usize = 16;

/// A secret that all hosts which exchange messages share. Every datagram between them is encrypted and authenticated.
#[derive(Clone)]
pub struct Key(Vec<u8>);

/// The reason why bytes or digits are not a valid key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// The key is too short. The number of its bytes is given.
    #[error(
        "a key of {0} bytes: write at least {SHORTEST_KEY}, drawn at random (such as openssl rand -hex 32)"
    )]
    Short(usize),
    /// The key is not written in hexadecimal digits.
    #[error("a key is written in pairs of hexadecimal digits (such as openssl rand -hex 32 prints)")]
    Hex,
}

impl Key {
    /// Creates a key from bytes, which should be drawn at random.
    ///
    /// # Errors
    /// Returns an error if there are fewer than [`SHORTEST_KEY`] bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() < SHORTEST_KEY { Err(KeyError::Short(bytes.len())) } else { Ok(Self(bytes.to_vec())) }
    }

    /// Creates a key from hexadecimal digits. White space around the digits is ignored.
    ///
    /// # Errors
    /// Returns an error if the digits are not hexadecimal or the key is too short.
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

    /// Derives the secrets of this version of the protocol by HKDF-SHA256 (RFC 5869). Each is one block, T(1).
    pub(crate) fn secrets(&self) -> Secrets {
        let salt = hmac::Key::new(hmac::HMAC_SHA256, b"priolane-net");
        let extracted = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&salt, &self.0).as_ref());
        let derive = |label: &[u8]| {
            let mut secret = [0; 32];
            secret.copy_from_slice(hmac::sign(&extracted, &[label, &[1]].concat()).as_ref());
            secret
        };
        Secrets { handshake: derive(HANDSHAKE), control: hmac::Key::new(hmac::HMAC_SHA256, &derive(CONTROL)) }
    }
}

/// The labels of the secrets, with the version of the protocol.
const HANDSHAKE: &[u8] = b"priolane-net 2 handshake";
const CONTROL: &[u8] = b"priolane-net 2 control";

/// The secrets that are derived from a key.
pub(crate) struct Secrets {
    /// The pre-shared key of handshakes.
    pub(super) handshake: [u8; 32],
    /// The key that authenticates the messages of greetings.
    pub(crate) control: hmac::Key,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn each_secret_of_each_key_is_another() {
        let secrets = [[1; 32], [2; 32]].map(|bytes| Key::new(&bytes).unwrap().secrets());
        let tags = secrets.each_ref().map(|secrets| hmac::sign(&secrets.control, b"text"));
        let as_control = hmac::Key::new(hmac::HMAC_SHA256, &secrets[0].handshake);
        assert_ne!(secrets[0].handshake, secrets[1].handshake);
        assert_ne!(tags[0].as_ref(), tags[1].as_ref());
        assert_ne!(tags[0].as_ref(), hmac::sign(&as_control, b"text").as_ref());
        assert_eq!(format!("{:?}", secrets[0]), "Secrets(..)");
    }

    #[test]
    fn secrets_are_derived_as_hkdf_does() {
        use ring::hkdf::{HKDF_SHA256, Salt};
        let bytes = [3; 40];
        let extracted = Salt::new(HKDF_SHA256, b"priolane-net").extract(&bytes);
        let expected = |label: &[u8]| {
            let mut secret = [0; 32];
            extracted.expand(&[label], HKDF_SHA256).unwrap().fill(&mut secret).unwrap();
            secret
        };
        let secrets = Key::new(&bytes).unwrap().secrets();
        assert_eq!(secrets.handshake, expected(HANDSHAKE));
        let control = hmac::Key::new(hmac::HMAC_SHA256, &expected(CONTROL));
        assert_eq!(hmac::sign(&secrets.control, b"x").as_ref(), hmac::sign(&control, b"x").as_ref());
    }
}
