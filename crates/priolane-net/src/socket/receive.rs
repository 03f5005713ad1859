//! Datagrams that came.

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

#[derive(Clone, Copy, Debug)]
struct Slot {
    from: Option<SocketAddr>,
    len: usize,
    info: ControlInfo,
}

/// At most [`BATCH`] datagrams that came.
#[derive(Debug)]
pub(crate) struct RecvBatch {
    bytes: Vec<u8>,
    /// Room of one datagram; longer ones are cut.
    size: usize,
    slots: Vec<Slot>,
}

impl RecvBatch {
    /// One without room.
    pub(crate) const EMPTY: Self = Self { bytes: Vec::new(), size: 1, slots: Vec::new() };

    /// An empty one. Of datagrams longer than `size` bytes, so many and one more are kept.
    pub(crate) fn new(size: usize) -> Self {
        let size = size + 1;
        Self { bytes: vec![0; size * BATCH], size, slots: Vec::with_capacity(BATCH) }
    }

    /// Takes what came, in place of what was here; how many.
    ///
    /// # Errors
    /// Those of the system, but for that nothing came.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.slots.clear();
        let mut from = [Address::EMPTY; BATCH];
        let mut controls = [Control::EMPTY; BATCH];
        // SAFETY: all-zero iovecs and message headers are valid: null pointers with length 0.
        let mut pieces: [libc::iovec; BATCH] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for (place, data) in self.bytes.chunks_exact_mut(self.size).enumerate() {
            pieces[place] = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
            let message = &mut messages[place].msg_hdr;
            message.msg_name = from[place].as_mut_ptr().cast();
            message.msg_namelen = Address::ROOM;
            message.msg_iov = &raw mut pieces[place];
            message.msg_iovlen = 1;
            message.msg_control = controls[place].as_mut_ptr();
            message.msg_controllen = ROOM;
        }
        // SAFETY: each message names an address, a piece of `bytes` and room for control messages, all of which live in
        // `self` or on this stack, are apart from each other, and are not touched during the call.
        let came = unsafe {
            let (fd, all) = (socket.fd(), BATCH as libc::c_uint);
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
            self.slots.push(Slot { from: from.read(), len: message.msg_len as usize, info });
        }
        Ok(came)
    }

    /// The datagram at `place` of those that came; `None` for one that came from no address.
    pub(crate) fn get(&self, place: usize) -> Option<ReceivedDatagram<'_>> {
        let slot = self.slots.get(place)?;
        let at = place * self.size;
        let ControlInfo { tos, real_ns, lost } = slot.info;
        let bytes = &self.bytes[at..at + slot.len.min(self.size)];
        Some(ReceivedDatagram { bytes, from: slot.from?, tos, real_ns, lost })
    }
}
