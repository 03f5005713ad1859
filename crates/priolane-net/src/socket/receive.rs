//! Datagrams that came, singly or in groups that the kernel made of them (UDP_GRO): it takes together only what has one TOS, so that
//! DSCP and ECN of a group are those of each of its datagrams.

use std::io;
use std::net::SocketAddr;

use super::address::Address;
use super::control::{self, Control, ControlInfo, ROOM};
use super::system::{BATCH, check};
use super::udp::UdpSocket;

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedDatagram<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) from: SocketAddr,
    /// DSCP and ECN.
    pub(crate) tos: u8,
    /// When it came, by `CLOCK_REALTIME`, in nanoseconds; `None` if the kernel does not say.
    pub(crate) real_ns: Option<u64>,
    /// Datagrams that the socket has lost so far for want of room, modulo 2^32; `None` for none.
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
    /// Length of its datagrams, of which the last may be shorter.
    fn segment(&self) -> usize {
        self.info.segment.unwrap_or(self.len).max(1)
    }

    /// How many datagrams it is: one if it is empty.
    fn count(&self) -> usize {
        self.len.div_ceil(self.segment()).max(1)
    }

    /// Its datagrams, of which `bytes` are those of all, and each has at most `longest`; none if they came from no address.
    fn datagrams(self, bytes: &[u8], longest: usize) -> impl Iterator<Item = ReceivedDatagram<'_>> {
        let (segment, ControlInfo { tos, real_ns, lost, .. }) = (self.segment(), self.info);
        (0..self.count()).filter_map(move |number| {
            let rest = &bytes[number * segment..];
            let bytes = &rest[..rest.len().min(segment).min(longest)];
            Some(ReceivedDatagram { bytes, from: self.from?, tos, real_ns, lost })
        })
    }
}

/// Room for a group: no datagram over IPv4 or IPv6 is longer.
const GROUP: usize = 1 << 16;

/// Most groups of one batch: some 350 full datagrams, in half a MiB.
const GROUPS: usize = 8;

/// Datagrams that came: at most [`BATCH`] single ones, or [`GROUPS`] groups.
#[derive(Debug)]
pub(crate) struct RecvBatch {
    bytes: Vec<u8>,
    /// Room of one message.
    room: usize,
    /// What is kept of one datagram; longer ones are cut.
    longest: usize,
    slots: Vec<Slot>,
}

impl RecvBatch {
    /// One without room.
    pub(crate) const EMPTY: Self = Self { bytes: Vec::new(), room: 1, longest: 0, slots: Vec::new() };

    /// Creates an empty batch. It keeps `size + 1` bytes of datagrams that are longer than `size`.
    pub(crate) fn new(size: usize) -> Self {
        Self::with_room((size + 1, BATCH), size + 1)
    }

    /// The same for a socket that receives groups.
    pub(crate) fn of_groups(size: usize) -> Self {
        Self::with_room((GROUP, GROUPS), size + 1)
    }

    fn with_room((room, messages): (usize, usize), longest: usize) -> Self {
        Self { bytes: vec![0; room * messages], room, longest, slots: Vec::with_capacity(messages) }
    }

    /// Takes what came, in place of what was here.
    ///
    /// # Errors
    /// Those of the system, but for that nothing came.
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

    /// Whether nothing came.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether there may be more than came.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() * self.room == self.bytes.len()
    }

    /// How many datagrams came.
    pub(crate) fn count(&self) -> usize {
        self.slots.iter().map(Slot::count).sum()
    }

    /// How many groups of two or more datagrams came.
    pub(crate) fn groups(&self) -> usize {
        self.slots.iter().filter(|slot| slot.count() > 1).count()
    }

    /// The datagrams that came, but for those that came from no address.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = ReceivedDatagram<'_>> {
        let rooms = self.bytes.chunks_exact(self.room);
        self.slots.iter().zip(rooms).flat_map(|(slot, room)| slot.datagrams(&room[..slot.len], self.longest))
    }
}
