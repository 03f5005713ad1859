//! Control messages: the data that accompany a datagram in addition to its bytes.

/// The size in bytes of the buffer for the control messages of one datagram: TOS, time, number of lost datagrams,
/// length of segments. Messages that exceed the buffer are lost.
pub(super) const ROOM: usize = 160;

/// The control messages of one datagram, aligned like the kernel's header of a control message.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Control([u8; ROOM]);

const _: () = assert!(align_of::<Control>() >= align_of::<libc::cmsghdr>());

impl Control {
    pub(super) const EMPTY: Self = Self([0; ROOM]);

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        (&raw mut self.0).cast()
    }
}

/// Control messages received with a datagram.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ControlInfo {
    /// The TOS byte or traffic class.
    pub(super) tos: u8,
    /// The kernel's receive time by `CLOCK_REALTIME`, in nanoseconds.
    pub(super) real_ns: Option<u64>,
    /// The number of datagrams that the socket has lost so far for lack of room, modulo 2^32.
    pub(super) lost: Option<u32>,
    /// The length of the datagrams in a group, of which the last may be shorter; `None` for a single datagram.
    pub(super) segment: Option<usize>,
}

/// The size of a TOS control message in bytes.
pub(super) const TOS_BYTES: usize = {
    // SAFETY: CMSG_SPACE only computes.
    (unsafe { libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) }) as usize
};

/// The size in bytes of a control message for the length of segments.
pub(super) const SEGMENT_BYTES: usize = {
    // SAFETY: CMSG_SPACE only computes.
    (unsafe { libc::CMSG_SPACE(size_of::<u16>() as u32) }) as usize
};

/// The options `UDP_SEGMENT` and `UDP_GRO` of linux/udp.h.
const UDP_SEGMENT: libc::c_int = 103;
pub(super) const UDP_GRO: libc::c_int = 104;

/// Writes the TOS byte (traffic class) of an outgoing datagram to `control`, as its first message.
pub(super) fn write_tos(control: &mut Control, family: libc::c_int, tos: u8) {
    let (level, kind) = match family {
        libc::AF_INET => (libc::IPPROTO_IP, libc::IP_TOS),
        _ => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    write(control, 0, (level, kind), libc::c_int::from(tos));
}

/// Writes the length of the datagrams into which the kernel cuts the bytes, after the TOS.
pub(super) fn write_segment(control: &mut Control, len: u16) {
    write(control, TOS_BYTES, (libc::SOL_UDP, UDP_SEGMENT), len);
}

/// Writes a message of `level` and `kind` at the byte `at`, which is a multiple of the alignment of a header.
fn write<T: Copy>(control: &mut Control, at: usize, (level, kind): (libc::c_int, libc::c_int), value: T) {
    // SAFETY: both only compute.
    let (space, len) = unsafe {
        (libc::CMSG_SPACE(size_of::<T>() as u32) as usize, libc::CMSG_LEN(size_of::<T>() as u32) as usize)
    };
    assert!(at.is_multiple_of(align_of::<libc::cmsghdr>()) && at + space <= ROOM);
    let header = libc::cmsghdr { cmsg_len: len, cmsg_level: level, cmsg_type: kind };
    // SAFETY: `control` is aligned for a header, and has room for a header at `at` and for the value after it, which is where
    // CMSG_DATA points: just checked.
    unsafe {
        let start = control.0.as_mut_ptr().add(at);
        start.cast::<libc::cmsghdr>().write(header);
        libc::CMSG_DATA(start.cast()).cast::<T>().write_unaligned(value);
    }
}

const _: () = assert!(TOS_BYTES + SEGMENT_BYTES <= ROOM);

/// The size in bytes of all control messages of an incoming datagram: two ints, three times, a counter.
const RECEIVED_BYTES: usize = {
    // SAFETY: CMSG_SPACE only computes.
    let (int, times) = unsafe {
        (
            libc::CMSG_SPACE(size_of::<libc::c_int>() as u32),
            libc::CMSG_SPACE(3 * size_of::<libc::timespec>() as u32),
        )
    };
    3 * int as usize + times as usize
};

const _: () = assert!(RECEIVED_BYTES <= ROOM);

/// Reads the control messages of a received datagram.
///
/// # Safety
/// `message` is as recvmmsg left it: its control pointer and length name memory that the kernel wrote.
pub(super) unsafe fn read(message: &libc::msghdr) -> ControlInfo {
    let mut info = ControlInfo::default();
    // SAFETY: the caller's; CMSG_FIRSTHDR and CMSG_NXTHDR stay within the length that the kernel set.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: `next` is a header within the control memory, aligned by the kernel, with its data after it.
        let (header, data) = unsafe { (next.read(), libc::CMSG_DATA(next)) };
        // SAFETY: the kernel writes for these types as many bytes as are read: a byte of TOS (an int of traffic class, of
        // which the first byte is the value on little-endian machines only, hence read as an int), a timespec, an u32, an int.
        unsafe {
            match (header.cmsg_level, header.cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_TOS) => info.tos = data.read(),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    info.tos = data.cast::<libc::c_int>().read_unaligned() as u8;
                }
                // Three instants, the first by software.
                (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => {
                    let at = data.cast::<libc::timespec>().read_unaligned();
                    info.real_ns = Some(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64);
                }
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                    info.lost = Some(data.cast::<u32>().read_unaligned());
                }
                (libc::SOL_UDP, UDP_GRO) => {
                    let len = data.cast::<libc::c_int>().read_unaligned();
                    info.segment = usize::try_from(len).ok().filter(|&len| len > 0);
                }
                _ => {}
            }
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
    info
}
