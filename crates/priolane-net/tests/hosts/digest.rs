//! Messages whose bytes identify the message and show whether it is whole.

use std::collections::HashMap;

use bytes::Bytes;
use priolane_net::Message;

/// Returns the bytes of message `number`: its number and length, then a sequence that no other message has.
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

/// The messages that a test waits for.
#[derive(Debug, Default)]
pub(crate) struct ExpectedMessages {
    /// The number of times that each message is still to arrive, by length and first bytes, because the shortest
    /// messages have no room for a number.
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

    /// Checks that a message is whole, is expected, and did not arrive before.
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
