//! The bytes of messages: the number of the message repeated, by which receivers recognise and check the message.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::job::{Flow, FlowKind};

/// The size of the number of a message in bytes.
pub(crate) const WORD: usize = size_of::<u32>();

/// Returns the bytes of a message.
pub(crate) fn payload(flow: &Flow) -> Bytes {
    let len = usize::try_from(flow.bytes).unwrap_or(usize::MAX);
    let mut bytes = flow.id.to_le_bytes().repeat(len.div_ceil(WORD));
    bytes.truncate(len);
    bytes.into()
}

/// Returns the number of the message that has these bytes at `offset`.
pub(crate) fn word_at(offset: u64, bytes: [u8; WORD]) -> u32 {
    u32::from_le_bytes(bytes).rotate_left(8 * (offset % WORD as u64) as u32)
}

/// The message that hosts send each other before the start of a run, so that no message of the run waits for a
/// greeting. It is not a repeated number.
pub(crate) const GREETING: &[u8] = b"priolane greets";

/// The messages that a host waits for.
#[derive(Debug, Default)]
pub(crate) struct ExpectedMessages {
    /// The numbers of messages in order of their starts, by sender, length and first bytes, which may be equal for
    /// messages with fewer than four bytes.
    waiting: HashMap<(u16, u64, [u8; WORD]), VecDeque<u32>>,
}

/// Returns the first four bytes of a message, with zeros for missing ones.
fn head(bytes: &[u8]) -> [u8; WORD] {
    let mut head = [0; WORD];
    let len = bytes.len().min(WORD);
    head[..len].copy_from_slice(&bytes[..len]);
    head
}

impl ExpectedMessages {
    /// Creates the list of those of `flows` that go to `host`, except endless ones.
    pub(crate) fn new(flows: &[Flow], host: u16) -> Self {
        let mut expected = Self::default();
        for flow in flows.iter().filter(|flow| flow.dst == host && flow.kind == FlowKind::Message) {
            let len = WORD.min(usize::try_from(flow.bytes).unwrap_or(WORD));
            let key = (flow.src, flow.bytes, head(&flow.id.to_le_bytes()[..len]));
            expected.waiting.entry(key).or_default().push_back(flow.id);
        }
        expected
    }

    /// Returns the number of the message from `src` with these bytes. Returns `None` if no such message is expected or
    /// its bytes differ. `missing` bytes are zero.
    pub(crate) fn take(&mut self, src: u16, bytes: &[u8], missing: u64) -> Option<u32> {
        let waiting = self.waiting.get_mut(&(src, bytes.len() as u64, head(bytes)))?;
        let first = *waiting.front()?;
        let word = first.to_le_bytes();
        let whole = bytes.chunks(WORD).all(|chunk| *chunk == word[..chunk.len()]);
        if !whole && missing == 0 {
            return None;
        }
        waiting.pop_front();
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_jobs::tests::plain;

    fn flow(id: u32, src: u16, bytes: u64) -> Flow {
        Flow { src, dst: 9, bytes, ..plain(id) }
    }

    #[test]
    fn messages_are_recognised_by_sender_length_and_content() {
        let flows = [flow(1, 0, 7), flow(0x0101, 0, 1), flow(0x0201, 0, 1), flow(1, 3, 7), flow(5, 0, 100)];
        let mut expected = ExpectedMessages::new(&flows, 9);
        let [seven, one, two, other, long] = [0, 1, 2, 3, 4].map(|place| payload(&flows[place]));
        assert_eq!(&seven[..], [1, 0, 0, 0, 1, 0, 0]);
        assert_eq!((expected.take(3, &other, 0), expected.take(3, &other, 0)), (Some(1), None));
        assert_eq!(expected.take(0, &seven, 0), Some(1));
        // Of two messages of the same single byte the earlier one came.
        assert_eq!((expected.take(0, &two, 0), expected.take(0, &one, 0)), (Some(0x0101), Some(0x0201)));
        let mut damaged = long.to_vec();
        damaged[50] ^= 1;
        assert_eq!(expected.take(0, &damaged, 0), None);
        assert_eq!(expected.take(0, &long, 0), Some(5));
        assert!(expected.waiting.values().all(VecDeque::is_empty));
    }

    #[test]
    fn messages_to_other_hosts_are_not_waited_for() {
        let mut expected = ExpectedMessages::new(&[flow(1, 0, 7)], 8);
        assert_eq!(expected.take(0, &payload(&flow(1, 0, 7)), 0), None);
    }
}
