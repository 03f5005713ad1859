//! Packet sockets: frames of a device in both directions, with their times of arrival. This is the only module of the
//! switch with `unsafe`, and each block says why it is sound.
#![expect(unsafe_code, reason = "system calls that no crate of the standard library makes")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// The number of frames that are read with one call.
pub(super) const BATCH: usize = 32;
/// Size of the socket buffer for frames in bytes, if the system permits that size.
const BUFFER: libc::c_int = 8 << 20;
/// The socket option that hides frames which this socket sends (linux/if_packet.h).
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// The size in bytes of the buffer for the control messages of a frame: a time.
const CONTROL: usize = 64;

fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// The socket of a device, for IPv4 frames.
#[derive(Debug)]
pub(super) struct PacketSocket(OwnedFd);

impl PacketSocket {
    /// Opens the socket, which never blocks.
    ///
    /// # Errors
    /// Returns the error of the system. The call requires `CAP_NET_RAW`.
    pub(super) fn open(device: &str) -> io::Result<Self> {
        let name = CString::new(device)?;
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory is passed. Without a protocol it takes nothing before it is bound.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: `fd` was just opened, and nobody else has it.
        let socket = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        socket.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        // Without the privilege, as much as the system permits.
        socket
            .set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER)
            .or_else(|_| socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, BUFFER))?;
        // SAFETY: `name` ends with a zero and lives through the call.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: an address of zeros is valid.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_IP as u16).to_be();
        address.sll_ifindex = index as libc::c_int;
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` lives through the call and is `len` bytes long.
        check(unsafe { libc::bind(fd, (&raw const address).cast(), len) })?;
        Ok(socket)
    }

    fn set(&self, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: `value` lives through the call and is `len` bytes long.
        check(unsafe { libc::setsockopt(self.fd(), level, name, (&raw const value).cast(), len) }).map(drop)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub(super) fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: `frame` lives through the call and is as long as said.
        let sent = unsafe { libc::send(self.fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Returns the number of frames that the system has lost since the last call for lack of room.
    pub(super) fn take_lost(&self) -> u64 {
        // `struct tpacket_stats`: frames, and those lost of them.
        let mut counts = [0u32; 2];
        let mut len = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: `counts` and `len` live through the call, and `counts` is `len` bytes long.
        let answer = unsafe {
            let (fd, value) = (self.fd(), (&raw mut counts).cast());
            libc::getsockopt(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, value, &raw mut len)
        };
        if answer < 0 { 0 } else { u64::from(counts[1]) }
    }
}

/// The control messages of one frame, aligned like the kernel's header of a control message.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL]);

const _: () = assert!(align_of::<Control>() >= align_of::<libc::cmsghdr>());

/// At most [`BATCH`] frames that arrived.
#[derive(Debug)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// The size of the buffer of one frame.
    size: usize,
    /// The length of each frame, and its time by `CLOCK_REALTIME` in nanoseconds.
    came: Vec<(usize, Option<u64>)>,
}

impl Batch {
    /// Creates an empty batch for frames of at most `size` bytes. Longer frames are truncated.
    pub(super) fn new(size: usize) -> Self {
        Self { bytes: vec![0; size * BATCH], size, came: Vec::with_capacity(BATCH) }
    }

    /// Receives a batch of frames, which replace those of the last call, and returns their number.
    pub(super) fn receive(&mut self, socket: &PacketSocket) -> usize {
        self.came.clear();
        let mut controls = [Control([0; CONTROL]); BATCH];
        // SAFETY: all-zero iovecs and message headers are valid: null pointers with length 0.
        let mut pieces: [libc::iovec; BATCH] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        for (place, data) in self.bytes.chunks_exact_mut(self.size).enumerate() {
            pieces[place] = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
            let message = &mut messages[place].msg_hdr;
            message.msg_iov = &raw mut pieces[place];
            message.msg_iovlen = 1;
            message.msg_control = (&raw mut controls[place].0).cast();
            message.msg_controllen = CONTROL;
        }
        // SAFETY: each message names a piece of `bytes` and room for control messages, all of which live in `self` or on this
        // stack, are apart from each other, and are not touched during the call.
        let came = unsafe {
            let all = BATCH as libc::c_uint;
            libc::recvmmsg(socket.fd(), messages.as_mut_ptr(), all, libc::MSG_DONTWAIT, std::ptr::null_mut())
        };
        for message in messages.iter().take(usize::try_from(came).unwrap_or(0)) {
            // SAFETY: recvmmsg filled this message.
            let at = unsafe { arrival(&message.msg_hdr) };
            self.came.push(((message.msg_len as usize).min(self.size), at));
        }
        self.came.len()
    }

    /// Returns the frame at `place`, and its time by `CLOCK_REALTIME` in nanoseconds.
    pub(super) fn get(&self, place: usize) -> Option<(&[u8], Option<u64>)> {
        let &(len, at) = self.came.get(place)?;
        let start = place * self.size;
        Some((&self.bytes[start..start + len], at))
    }
}

/// Returns the time of a frame by `CLOCK_REALTIME` in nanoseconds.
///
/// # Safety
/// `message` is as recvmmsg left it: its control pointer and length name memory that the kernel wrote.
unsafe fn arrival(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the caller's; CMSG_FIRSTHDR stays within the length that the kernel set. Nothing but times was asked for.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    if header.is_null() {
        return None;
    }
    // SAFETY: a header within the control memory, aligned by the kernel, with its data after it.
    let (header, data) = unsafe { (header.read(), libc::CMSG_DATA(header)) };
    if (header.cmsg_level, header.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: the kernel writes a timespec for this type.
    let at = unsafe { data.cast::<libc::timespec>().read_unaligned() };
    Some(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// Waits until one of `all` is readable, or `most` has passed, and sets which ones are readable.
pub(super) fn wait(all: &mut [libc::pollfd], most: Duration) {
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(most.subsec_nanos() as i32),
    };
    // SAFETY: `all` and `limit` live through the call; no signal mask is passed.
    let found = unsafe {
        libc::ppoll(all.as_mut_ptr(), all.len() as libc::nfds_t, &raw const limit, std::ptr::null())
    };
    if found < 0 {
        all.iter_mut().for_each(|one| one.revents = 0);
    }
}

/// Returns an entry of [`wait`] for a socket to be read.
pub(super) fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Kills a process that runs a switch of a testbed of this crate.
pub(crate) fn kill(pid: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}
