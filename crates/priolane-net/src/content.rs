//! The bytes of messages that are sent.

use bytes::Bytes;

/// An upper bound on the payload of a datagram in bytes.
const LONGEST_PAYLOAD: usize = 1 << 16;

/// The bytes of a message that is being sent.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The bytes of the whole message.
    Whole(Bytes),
    /// A pattern that is repeated up to the length of the message.
    Repeated {
        /// As many repetitions of the pattern as make each payload a slice of the block.
        block: Bytes,
        /// The length of the pattern in bytes.
        period: u64,
        /// The length of the message in bytes.
        len: u64,
    },
}

impl Content {
    /// Returns `pattern` repeated up to `len` bytes, or no bytes if the pattern is empty.
    pub(crate) fn repeated(pattern: &[u8], len: u64) -> Self {
        if pattern.is_empty() {
            return Self::Whole(Bytes::new());
        }
        let block = pattern.repeat(LONGEST_PAYLOAD.div_ceil(pattern.len()) + 1).into();
        Self::Repeated { block, period: pattern.len() as u64, len }
    }

    /// Returns the length of the message in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Repeated { len, .. } => *len,
        }
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn kept(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Repeated { block, .. } => block.len() as u64,
        }
    }

    /// Returns `len` bytes, at most 65,535, from `start` on, or `None` if the message ends before.
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
