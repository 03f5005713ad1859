//! The limits on memory for messages that are being received.

/// An allowance in bytes for the spare capacity of runs (`parts`), which exceeds what a run can have.
const SPARE: u64 = 64 << 10;

/// The smallest `receiving` that leaves a pool, in bytes.
pub(crate) const LEAST_RECEIVING: u64 = 1 << 20;

/// Limits on the memory of messages that are being received. All sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveLimits {
    /// The length of the longest message.
    pub(crate) message: u64,
    /// The memory that one sender may use; only its oldest message may exceed this limit.
    pub(crate) sender: u64,
    /// The largest number of bytes that may be stored beyond the readable part of a message.
    pub(crate) ahead: u64,
    /// The memory of all senders together: payload, its bookkeeping in this module, and flows at the endpoint.
    pub(crate) receiving: u64,
    /// The largest number of senders.
    pub(crate) senders: u16,
}

impl ReceiveLimits {
    /// Returns the memory for the state of unfinished and remembered flows at the endpoint: a quarter of `receiving`.
    pub(crate) fn flows(&self) -> u64 {
        self.receiving / 4
    }

    /// Returns the length of the longest message that is kept. A longer message can only be counted.
    pub(crate) fn longest_kept(&self) -> u64 {
        self.message.min(self.receiving / 2)
    }

    /// Returns the memory that one message at a time may use: the longest kept message, an eighth of it for
    /// bookkeeping, and [`SPARE`].
    pub(crate) fn reserve(&self) -> u64 {
        self.longest_kept() + self.longest_kept() / 8 + SPARE
    }

    /// Returns the memory of the pool, which all other messages share: at least 3/16 of `receiving`, less [`SPARE`].
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
            let room = ReceiveLimits { message, sender: 1, ahead: 1, receiving, senders: 1 };
            assert_eq!(room.flows() + room.reserve() + room.pool(), receiving);
            assert!(room.pool() >= receiving * 3 / 16 - SPARE && room.longest_kept() <= message);
        }
        let default = ReceiveLimits {
            message: 1 << 30,
            sender: 64 << 20,
            ahead: 1,
            receiving: 2 << 30,
            senders: 4_096,
        };
        assert_eq!((default.longest_kept(), default.pool()), (1 << 30, (384 << 20) - SPARE));
    }
}
