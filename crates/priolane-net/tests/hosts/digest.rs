//! Bytes of messages that tell which message they are of, and whether they are whole.

use std::collections::HashMap;

use bytes::Bytes;
use priolane_net::Message;

/// The bytes of message `number`: its number and length, then a sequence that only it has.
pub(crate) fn message(number: u64, len: usize) -> Bytes {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ len as u64 | 1;
    let mut bytes: Vec<u8> = number.to_le_bytes().into_iter().chain((len as u64).to_le_bytes()).collect();
    while bytes.len() < len {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes.into()
}

/// Messages that are waited for.
#[derive(Debug, Default)]
pub(crate) struct ExpectedMessages {
    /// By length and first bytes, as the shortest have no room for a number: how often each is to come.
    left: HashMap<Bytes, u32>,
}

impl ExpectedMessages {
    pub(crate) fn add(&mut self, bytes: &Bytes) {
        *self.left.entry(bytes.clone()).or_default() += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn count(&self) -> u32 {
        self.left.values().sum()
    }

    /// A message came: it is whole, one of those, and did not come before.
    pub(crate) fn arrived(&mut self, name: &str, came: &Message) {
        assert_eq!(came.missing, 0, "{name}");
        let Some(left) = self.left.get_mut(&came.bytes[..]) else {
            let start = &came.bytes[..came.bytes.len().min(16)];
            panic!(
                "{name}: {} bytes that begin with {start:?} were not sent, or come twice",
                came.bytes.len()
            );
        };
        *left -= 1;
        if *left == 0 {
            self.left.remove(&came.bytes[..]);
        }
    }
}
