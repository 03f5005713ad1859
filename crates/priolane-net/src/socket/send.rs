//! Datagrams that wait to be sent.
//!
//! ```text
//! single     a message of sendmmsg for each datagram
//! segments   one for consecutive datagrams to one address with one TOS and one length, of which the last may be shorter; the
//!            kernel cuts them apart (UDP_SEGMENT), so that the way down to the line is gone once
//!   a group is refused ──▶ its datagrams go singly ──▶ the first is taken: the kernel does not segment, all go singly
//!                                                      the first is refused: it was not the group's fault
//! ```

use std::io;
use std::net::SocketAddr;

use super::address::Address;
use super::control::{Control, SEGMENT_BYTES, TOS_BYTES, write_segment, write_tos};
use super::system::{BATCH, check};
use super::udp::UdpSocket;

/// The largest number of segments in one group (UDP_MAX_SEGMENTS of older kernels), and their largest number of bytes,
/// which is that of a UDP datagram over IPv4.
const SEGMENTS: usize = 64;
const GROUP_BYTES: usize = 65_507;

/// A datagram that waits to be sent.
#[derive(Debug)]
struct Slot {
    to: Address,
    to_len: libc::socklen_t,
    tos: u8,
    control: Control,
    len: usize,
}

/// Whether datagrams are sent in groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Grouping {
    Single,
    Segments,
    /// A group was refused, so the next datagram is sent singly.
    Doubted,
}

/// At most [`BATCH`] datagrams that wait to be sent, first in, first out.
#[derive(Debug)]
pub(crate) struct SendBatch {
    bytes: Vec<u8>,
    /// The size of the buffer of one datagram.
    size: usize,
    slots: Vec<Slot>,
    /// The number of datagrams that the kernel has accepted.
    sent: usize,
    grouping: Grouping,
    counts: GroupCounts,
}

/// The counters of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GroupCounts {
    /// The number of datagrams that were sent in groups of two or more.
    pub(crate) segments: u64,
    /// The number of groups that the kernel refused.
    pub(crate) refused: u64,
}

/// The outcome of sending a batch.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// The kernel has accepted all datagrams.
    All,
    /// The kernel's buffer is full; the remaining datagrams wait.
    Blocked,
    /// The kernel refused a datagram, which is dropped; those after it wait.
    Refused,
}

impl SendBatch {
    /// Creates an empty batch for datagrams of at most `size` bytes.
    pub(crate) fn new(size: usize, grouping: Grouping) -> Self {
        Self {
            bytes: vec![0; size * BATCH],
            size,
            slots: Vec::with_capacity(BATCH),
            sent: 0,
            grouping,
            counts: GroupCounts::default(),
        }
    }

    /// Returns the counters of groups.
    pub(crate) fn counts(&self) -> GroupCounts {
        self.counts
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.len() == self.sent
    }

    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() == BATCH
    }

    /// Adds a datagram. `write` writes it and returns its length, or `None` if there is none. Returns whether a datagram was added.
    /// The batch must not be full.
    pub(crate) fn push(
        &mut self,
        socket: &UdpSocket,
        (to, tos): (SocketAddr, u8),
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> bool {
        let at = self.slots.len() * self.size;
        let Some(len) = write(&mut self.bytes[at..at + self.size]) else { return false };
        let (to, to_len) = Address::of(to);
        let mut control = Control::EMPTY;
        write_tos(&mut control, socket.family(), tos);
        self.slots.push(Slot { to, to_len, tos, control, len: len.min(self.size) });
        true
    }

    /// Passes the waiting datagrams to the kernel.
    pub(crate) fn send(&mut self, socket: &UdpSocket) -> SendOutcome {
        while self.sent < self.slots.len() {
            let first = self.group_at(self.sent);
            match self.send_some(socket) {
                Ok(groups) => {
                    if self.grouping == Grouping::Doubted {
                        self.grouping = Grouping::Single;
                    }
                    self.taken(groups);
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    Some(libc::EAGAIN | libc::ENOBUFS) => return SendOutcome::Blocked,
                    _ if first > 1 => {
                        self.counts.refused += 1;
                        self.grouping = Grouping::Doubted;
                    }
                    _ => {
                        if self.grouping == Grouping::Doubted {
                            self.grouping = Grouping::Segments;
                        }
                        self.sent += 1;
                        return SendOutcome::Refused;
                    }
                },
            }
        }
        (self.sent, _) = (0, self.slots.clear());
        SendOutcome::All
    }

    /// Returns the number of datagrams from `place` on that are sent as one group.
    fn group_at(&self, place: usize) -> usize {
        let slots = &self.slots[place..];
        let Some(first) = slots.first().filter(|_| self.grouping == Grouping::Segments) else { return 1 };
        let most = SEGMENTS.min(GROUP_BYTES / first.len.max(1)).max(1);
        let alike = |slot: &&Slot| slot.to.is(&first.to) && slot.tos == first.tos && slot.len == first.len;
        let count = slots.iter().take(most).take_while(alike).count();
        let shorter = slots.get(count).filter(|slot| count < most && slot.len < first.len);
        let ends = shorter.is_some_and(|slot| slot.to.is(&first.to) && slot.tos == first.tos && slot.len > 0);
        count + usize::from(ends)
    }

    /// Records that the kernel has accepted this number of groups.
    fn taken(&mut self, groups: usize) {
        for _ in 0..groups {
            let count = self.group_at(self.sent);
            self.counts.segments += if count > 1 { count as u64 } else { 0 };
            self.sent += count;
        }
    }

    /// Offers the waiting datagrams to the kernel, and returns the number of groups that it accepted.
    fn send_some(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        // SAFETY: all-zero iovecs and message headers are valid: null pointers with length 0.
        let mut pieces: [libc::iovec; BATCH] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for (place, piece) in pieces.iter_mut().enumerate().take(self.slots.len()) {
            let at = place * self.size;
            let data = &mut self.bytes[at..at + self.slots[place].len];
            *piece = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
        }
        let (mut place, mut groups) = (self.sent, 0);
        while place < self.slots.len() && !(groups == 1 && self.grouping == Grouping::Doubted) {
            let count = self.group_at(place);
            let slot = &mut self.slots[place];
            let message = &mut messages[groups].msg_hdr;
            message.msg_name = slot.to.as_mut_ptr().cast();
            message.msg_namelen = slot.to_len;
            message.msg_iov = &raw mut pieces[place];
            message.msg_iovlen = count;
            message.msg_controllen = TOS_BYTES;
            if count > 1 {
                write_segment(&mut slot.control, slot.len as u16);
                message.msg_controllen += SEGMENT_BYTES;
            }
            message.msg_control = slot.control.as_mut_ptr();
            (place, groups) = (place + count, groups + 1);
        }
        // SAFETY: each of the first `groups` messages names an address, one to `count` pieces of `bytes` and control messages, all
        // of which live in `self` or on this stack and are not touched during the call.
        let taken = unsafe {
            libc::sendmmsg(socket.fd(), messages.as_mut_ptr(), groups as libc::c_uint, libc::MSG_DONTWAIT)
        };
        check(taken).map(|taken| taken as usize)
    }
}
