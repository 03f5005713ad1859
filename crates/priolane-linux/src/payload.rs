//! The bytes of messages: the number of the message again and again, by which receivers recognise and check it.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::job::{Flow, FlowKind};

/// Bytes of the number of a message.
pub(crate) const WORD: usize = size_of::<u32>();

/// The bytes of a message.
pub(crate) fn payload(flow: &Flow) -> Bytes {
    let len = usize::try_from(flow.bytes).unwrap_or(usize::MAX);
    let mut bytes = flow.id.to_le_bytes().repeat(len.div_ceil(WORD));
    bytes.truncate(len);
    bytes.into()
}

/// The number of the message that has these bytes at `offset`.
pub(crate) fn word_at(offset: u64, bytes: [u8; WORD]) -> u32 {
    u32::from_le_bytes(bytes).rotate_left(8 * (offset % WORD as u64) as u32)
}

/// What hosts send each other before the start of a run, so that no message of it waits for a greeting: no number repeated.
pub(crate) const GREETING: &[u8] = b"priolane greets";

/// The messages that a host waits for.
#[derive(Debug, Default)]
pub(crate) struct ExpectedMessages {
    /// Numbers of messages in order of their starts, by sender, length and first bytes: those of messages with fewer than four
    /// bytes may be the same.
    waiting: HashMap<(u16, u64, [u8; WORD]), VecDeque<u32>>,
}

/// The first bytes of a message, as far as there are any.
fn head(bytes: &[u8]) -> [u8; WORD] {
    let mut head = [0; WORD];
    let len = bytes.len().min(WORD);
    head[..len].copy_from_slice(&bytes[..len]);
    head
}

impl ExpectedMessages {
    /// Those of `flows` that go to `host`, but for endless ones.
    pub(crate) fn new(flows: &[Flow], host: u16) -> Self {
        let mut expected = Self::default();
        for flow in flows.iter().filter(|flow| flow.dst == host && flow.kind == FlowKind::Message) {
            let len = WORD.min(usize::try_from(flow.bytes).unwrap_or(WORD));
            let key = (flow.src, flow.bytes, head(&flow.id.to_le_bytes()[..len]));
            expected.waiting.entry(key).or_default().push_back(flow.id);
        }
        expected
    }

    /// The number of the message from `src` that these bytes are. `None` if it is none that is waited for, or its bytes are not
    /// those that were sent; `missing` of them are zeros.
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
