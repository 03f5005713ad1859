//! Incoming datagrams, singly or in groups that the kernel formed (UDP_GRO). A group has a single TOS, so DSCP and ECN
//! of a group are those of each of its datagrams.

use std::io;
use std::net::SocketAddr;

use super::address::Address;
use super::control::{self, Control, ControlInfo, ROOM};
use super::system::{BATCH, check};
use super::udp::UdpSocket;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedDatagram<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) from: SocketAddr,
    /// The TOS byte, which contains DSCP and ECN.
    pub(crate) tos: u8,
    /// The kernel's receive time by `CLOCK_REALTIME`, in nanoseconds; `None` if the kernel gives none.
    pub(crate) real_ns: Option<u64>,
    /// The number of datagrams that the socket has lost so far for lack of room, modulo 2^32; `None` for zero.
    pub(crate) lost: Option<u32>,
}

/// A message of recvmmsg: a datagram, or a group of them.
#[derive(Clone, Copy, Debug)]
struct Slot {
    from: Option<SocketAddr>,
    len: usize,
    info: ControlInfo,
}

impl Slot {
    /// Returns the length of the datagrams of the group, of which the last may be shorter.
    fn segment(&self) -> usize {
        self.info.segment.unwrap_or(self.len).max(1)
    }

    /// Returns the number of datagrams: one for an empty datagram.
    fn count(&self) -> usize {
        self.len.div_ceil(self.segment()).max(1)
    }

    /// Returns the datagrams of the group, whose bytes are `bytes`, each cut to `longest`. Returns none if the group
    /// has no source address.
    fn datagrams(self, bytes: &[u8], longest: usize) -> impl Iterator<Item = ReceivedDatagram<'_>> {
        let (segment, ControlInfo { tos, real_ns, lost, .. }) = (self.segment(), self.info);
        (0..self.count()).filter_map(move |number| {
            let rest = &bytes[number * segment..];
            let bytes = &rest[..rest.len().min(segment).min(longest)];
            Some(ReceivedDatagram { bytes, from: self.from?, tos, real_ns, lost })
        })
    }
}

/// The size of the buffer for a group. No datagram over IPv4 or IPv6 is longer.
const GROUP: usize = 1 << 16;

/// The largest number of groups in one batch: some 350 full datagrams, in half a MiB.
const GROUPS: usize = 8;

/// A batch of datagrams that arrived: at most [`BATCH`] single ones, or [`GROUPS`] groups.
#[derive(Debug)]
pub(crate) struct RecvBatch {
    bytes: Vec<u8>,
    /// The size of the buffer of one message.
    room: usize,
    /// The number of bytes that are kept of one datagram. Longer datagrams are truncated.
    longest: usize,
    slots: Vec<Slot>,
}

impl RecvBatch {
    /// A batch without buffers.
    pub(crate) const EMPTY: Self = Self { bytes: Vec::new(), room: 1, longest: 0, slots: Vec::new() };

    /// Creates an empty batch. It keeps `size + 1` bytes of datagrams that are longer than `size`.
    pub(crate) fn new(size: usize) -> Self {
        Self::with_room((size + 1, BATCH), size + 1)
    }

    /// Creates an empty batch for a socket that receives groups.
    pub(crate) fn of_groups(size: usize) -> Self {
        Self::with_room((GROUP, GROUPS), size + 1)
    }

    fn with_room((room, messages): (usize, usize), longest: usize) -> Self {
        Self { bytes: vec![0; room * messages], room, longest, slots: Vec::with_capacity(messages) }
    }

    /// Receives a batch of datagrams, which replace those of the last call.
    ///
    /// # Errors
    /// Returns the error of the system, except that no datagram is waiting.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<()> {
        self.slots.clear();
        let mut from = [Address::EMPTY; BATCH];
        let mut controls = [Control::EMPTY; BATCH];
        // SAFETY: all-zero iovecs and message headers are valid: null pointers with length 0.
        let mut pieces: [libc::iovec; BATCH] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        for (place, data) in self.bytes.chunks_exact_mut(self.room).enumerate() {
            pieces[place] = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
            let message = &mut messages[place].msg_hdr;
            message.msg_name = from[place].as_mut_ptr().cast();
            message.msg_namelen = Address::ROOM;
            message.msg_iov = &raw mut pieces[place];
            message.msg_iovlen = 1;
            message.msg_control = controls[place].as_mut_ptr();
            message.msg_controllen = ROOM;
            count = place + 1;
        }
        // SAFETY: each of the first `count` messages names an address, a piece of `bytes` and room for control messages, all of
        // which live in `self` or on this stack, are apart from each other, and are not touched during the call.
        let came = unsafe {
            let (fd, all) = (socket.fd(), count as libc::c_uint);
            libc::recvmmsg(fd, messages.as_mut_ptr(), all, libc::MSG_DONTWAIT, std::ptr::null_mut())
        };
        let came = match check(came) {
            Ok(came) => came as usize,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => 0,
            Err(error) => return Err(error),
        };
        for (message, from) in messages.iter().zip(&from).take(came) {
            // SAFETY: recvmmsg filled this message.
            let info = unsafe { control::read(&message.msg_hdr) };
            let len = (message.msg_len as usize).min(self.room);
            self.slots.push(Slot { from: from.read(), len, info });
        }
        Ok(())
    }

    /// Returns whether the batch is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns whether the batch is full, so that more datagrams may be waiting.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() * self.room == self.bytes.len()
    }

    /// Returns the number of datagrams.
    pub(crate) fn count(&self) -> usize {
        self.slots.iter().map(Slot::count).sum()
    }

    /// Returns the number of groups of two or more datagrams.
    pub(crate) fn groups(&self) -> usize {
        self.slots.iter().filter(|slot| slot.count() > 1).count()
    }

    /// Returns the datagrams, except those without a source address.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = ReceivedDatagram<'_>> {
        let rooms = self.bytes.chunks_exact(self.room);
        self.slots.iter().zip(rooms).flat_map(|(slot, room)| slot.datagrams(&room[..slot.len], self.longest))
    }
}
