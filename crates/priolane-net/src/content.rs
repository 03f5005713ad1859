//! The bytes of messages that are sent.

use bytes::Bytes;

/// More than the payload of any datagram.
const LONGEST_PAYLOAD: usize = 1 << 16;

/// The bytes of a message that is sent.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// All of them.
    Whole(Bytes),
    /// A pattern again and again.
    Repeated {
        /// The pattern so often that each payload is a slice of it.
        block: Bytes,
        /// Bytes of the pattern.
        period: u64,
        /// Bytes of the message.
        len: u64,
    },
}

impl Content {
    /// `pattern` again and again up to `len` bytes; without bytes if the pattern has none.
    pub(crate) fn repeated(pattern: &[u8], len: u64) -> Self {
        if pattern.is_empty() {
            return Self::Whole(Bytes::new());
        }
        let block = pattern.repeat(LONGEST_PAYLOAD.div_ceil(pattern.len()) + 1).into();
        Self::Repeated { block, period: pattern.len() as u64, len }
    }

    /// Bytes of the message.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Repeated { len, .. } => *len,
        }
    }

    /// Bytes that are kept for it.
    pub(crate) fn kept(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Repeated { block, .. } => block.len() as u64,
        }
    }

    /// Returns `len` bytes, at most 65,535, from `start` on; `None` if the message ends before.
    pub(crate) fn get(&self, start: u64, len: usize) -> Option<&[u8]> {
        let end = start.checked_add(len as u64).filter(|&end| end <= self.len())?;
        match self {
            Self::Whole(bytes) => bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?),
            Self::Repeated { block, period, .. } => {
                let start = usize::try_from(start % period).ok()?;
                block.get(start..start.checked_add(len)?)
            }
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_pattern_is_sent_as_if_it_were_written_out() {
        for pattern in [&b"abc"[..], &[7; 70_000]] {
            let len = 3 * LONGEST_PAYLOAD;
            let mut written = pattern.repeat(len.div_ceil(pattern.len()));
            written.truncate(len);
            let (content, whole) =
                (Content::repeated(pattern, len as u64), Content::from(Bytes::from(written)));
            assert_eq!((content.len(), whole.len()), (len as u64, len as u64));
            for (start, len) in
                [(0, 1_456), (1_456, 1_456), (65_536, 65_535), (131_071, 65_535), (196_607, 1)]
            {
                assert_eq!(content.get(start, len), whole.get(start, len), "{start}");
                assert!(content.get(start, len).is_some(), "{start}");
            }
            assert_eq!((content.get(196_607, 2), content.get(u64::MAX, 1)), (None, None));
        }
    }

    #[test]
    fn an_endless_message_takes_little_memory_and_one_without_a_pattern_is_empty() {
        assert!(Content::repeated(b"abcd", 1 << 47).kept() < 100_000);
        assert_eq!(Content::repeated(b"", 5).len(), 0);
    }
}
