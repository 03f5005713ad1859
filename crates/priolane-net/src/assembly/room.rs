//! How much memory there is for messages that are being received.

/// What runs may have to spare, and more.
const SPARE: u64 = 64 << 10;

/// The least `receiving`, for which there is a pool.
pub(crate) const LEAST_RECEIVING: u64 = 1 << 20;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of the longest message.
    pub(crate) message: u64,
    /// Memory of one sender; its oldest message may have more.
    pub(crate) sender: u64,
    /// Bytes of a message beyond those that can be read.
    pub(crate) ahead: u64,
    /// Memory of all senders, for payload, for its bookkeeping here, and for flows at the endpoint.
    pub(crate) receiving: u64,
    /// How many senders there are at most.
    pub(crate) senders: u16,
}

impl Room {
    /// Memory for the state of flows at the endpoint, unfinished and remembered: a quarter.
    pub(crate) fn flows(&self) -> u64 {
        self.receiving / 4
    }

    /// Bytes of the longest message that is kept; a longer one can only be counted.
    pub(crate) fn longest_kept(&self) -> u64 {
        self.message.min(self.receiving / 2)
    }

    /// Memory for one message at a time: the longest, an eighth for its bookkeeping, and what a run has to spare.
    pub(crate) fn reserve(&self) -> u64 {
        self.longest_kept() + self.longest_kept() / 8 + SPARE
    }

    /// Memory for all others: at least 3/16 of the whole, less [`SPARE`].
    pub(crate) fn pool(&self) -> u64 {
        self.receiving - self.flows() - self.reserve()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole() {
        for (message, receiving) in
            [(1 << 30, 2 << 30), ((1 << 48) - 1, 2 << 30), (1, 1 << 20), (1 << 20, 1 << 20)]
        {
            let room = Room { message, sender: 1, ahead: 1, receiving, senders: 1 };
            assert_eq!(room.flows() + room.reserve() + room.pool(), receiving);
            assert!(room.pool() >= receiving * 3 / 16 - SPARE && room.longest_kept() <= message);
        }
        let default =
            Room { message: 1 << 30, sender: 64 << 20, ahead: 1, receiving: 2 << 30, senders: 4_096 };
        assert_eq!((default.longest_kept(), default.pool()), (1 << 30, (384 << 20) - SPARE));
    }
}
