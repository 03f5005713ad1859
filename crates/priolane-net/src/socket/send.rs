//! Datagrams that wait to be sent.

use std::io;
use std::net::SocketAddr;

use super::address::Address;
use super::control::{Control, TOS_BYTES, write_tos};
use super::system::{BATCH, check};
use super::udp::UdpSocket;

/// A datagram that waits.
#[derive(Debug)]
struct Slot {
    to: Address,
    to_len: libc::socklen_t,
    control: Control,
    len: usize,
}

/// At most [`BATCH`] datagrams that wait to be sent, first in, first out.
#[derive(Debug)]
pub(crate) struct SendBatch {
    bytes: Vec<u8>,
    /// Room of one datagram.
    size: usize,
    slots: Vec<Slot>,
    /// How many of them the kernel has taken.
    sent: usize,
}

/// What became of the datagrams that waited.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// All are with the kernel.
    All,
    /// The kernel has no room; those left wait.
    Blocked,
    /// The kernel refused one, which is gone; those after it wait.
    Refused,
}

impl SendBatch {
    /// An empty one, for datagrams of at most `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { bytes: vec![0; size * BATCH], size, slots: Vec::with_capacity(BATCH), sent: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.len() == self.sent
    }

    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() == BATCH
    }

    /// Adds the datagram that `write` writes, if it writes one: its length. There must be room.
    pub(crate) fn push(
        &mut self,
        socket: &UdpSocket,
        (to, tos): (SocketAddr, u8),
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) {
        let at = self.slots.len() * self.size;
        let Some(len) = write(&mut self.bytes[at..at + self.size]) else { return };
        let (to, to_len) = Address::of(to);
        let mut control = Control::EMPTY;
        write_tos(&mut control, socket.family(), tos);
        self.slots.push(Slot { to, to_len, control, len: len.min(self.size) });
    }

    /// Gives the kernel what waits.
    pub(crate) fn send(&mut self, socket: &UdpSocket) -> SendOutcome {
        while self.sent < self.slots.len() {
            match self.send_some(socket) {
                Ok(count) => self.sent += count,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    Some(libc::EAGAIN | libc::ENOBUFS) => return SendOutcome::Blocked,
                    _ => {
                        self.sent += 1;
                        return SendOutcome::Refused;
                    }
                },
            }
        }
        (self.sent, _) = (0, self.slots.clear());
        SendOutcome::All
    }

    fn send_some(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        // SAFETY: all-zero iovecs and message headers are valid: null pointers with length 0.
        let mut pieces: [libc::iovec; BATCH] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        let count = self.slots.len() - self.sent;
        for (place, slot) in self.slots[self.sent..].iter_mut().enumerate() {
            let at = (self.sent + place) * self.size;
            let data = &mut self.bytes[at..at + slot.len];
            pieces[place] = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
            let message = &mut messages[place].msg_hdr;
            message.msg_name = slot.to.as_mut_ptr().cast();
            message.msg_namelen = slot.to_len;
            message.msg_iov = &raw mut pieces[place];
            message.msg_iovlen = 1;
            message.msg_control = slot.control.as_mut_ptr();
            message.msg_controllen = TOS_BYTES;
        }
        // SAFETY: each of the first `count` messages names an address, one piece of `bytes` and a control message, all of
        // which live in `self` or on this stack and are not touched during the call.
        let taken = unsafe {
            libc::sendmmsg(socket.fd(), messages.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT)
        };
        check(taken).map(|taken| taken as usize)
    }
}
