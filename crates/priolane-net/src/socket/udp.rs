//! UDP sockets.

use std::io;
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, UdpSocket as StdSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::address::{Address, family};
use super::control::UDP_GRO;
use super::forks;
use super::system::check;

/// A UDP socket that is bound and never blocks. A forked process does not have it.
#[derive(Debug)]
pub(crate) struct UdpSocket {
    socket: ManuallyDrop<StdSocket>,
    family: libc::c_int,
}

/// The options for receive times by software.
const RECEIVE_TIMES: libc::c_int =
    (libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE) as libc::c_int;

impl UdpSocket {
    /// Binds to `address`, with buffers of `buffer` bytes in each direction if the system permits that size, and with
    /// the options that batches rely on: TOS and time of each incoming datagram, no fragments.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub(crate) fn bind(address: SocketAddr, buffer: usize) -> io::Result<Self> {
        let family = family(address.ip());
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory is passed.
        let fd = check(unsafe { libc::socket(family, kind, 0) })?;
        // SAFETY: `fd` was just opened, and nobody else has it.
        let socket = Self::of(unsafe { OwnedFd::from_raw_fd(fd) }, family);
        socket.set_options(buffer)?;
        let (name, len) = Address::of(address);
        // SAFETY: `name` lives through the call and is at least `len` bytes long.
        check(unsafe { libc::bind(fd, name.as_ptr(), len) })?;
        Ok(socket)
    }

    fn of(fd: OwnedFd, family: libc::c_int) -> Self {
        forks::opened(fd.as_raw_fd());
        Self { socket: ManuallyDrop::new(StdSocket::from(fd)), family }
    }

    fn set_options(&self, buffer: usize) -> io::Result<()> {
        if self.family == libc::AF_INET {
            self.set(libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
            self.set(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)?;
        } else {
            self.set(libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, 1)?;
            self.set(libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
            self.set(libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)?;
        }
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, RECEIVE_TIMES)?;
        self.set(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)?;
        let bytes = libc::c_int::try_from(buffer).unwrap_or(libc::c_int::MAX);
        for (force, plain) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            // Without the privilege, as much as the system permits.
            self.set(libc::SOL_SOCKET, force, bytes).or_else(|_| self.set(libc::SOL_SOCKET, plain, bytes))?;
        }
        Ok(())
    }

    fn set(&self, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: `value` lives through the call and is `len` bytes long.
        check(unsafe { libc::setsockopt(self.fd(), level, name, (&raw const value).cast(), len) }).map(drop)
    }

    /// Makes the kernel pass consecutive datagrams of one sender, TOS and length as one group of at most 64 KiB from
    /// now on.
    ///
    /// # Errors
    /// Returns the error of the system if groups are not supported.
    pub(crate) fn receive_groups(&self) -> io::Result<()> {
        self.set(libc::SOL_UDP, UDP_GRO, 1)
    }

    /// Creates a socket without any option of UDP.
    #[cfg(test)]
    pub(crate) fn without_options() -> Self {
        let stream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self::of(OwnedFd::from(stream), libc::AF_INET)
    }

    /// Makes datagrams leave without a checksum from now on.
    #[cfg(test)]
    pub(super) fn leave_checksums_out(&self) {
        self.set(libc::SOL_SOCKET, libc::SO_NO_CHECK, 1).unwrap();
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Returns the address family: `AF_INET` or `AF_INET6`.
    pub(super) fn family(&self) -> libc::c_int {
        self.family
    }

    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        if forks::closing(self.fd()) {
            // SAFETY: nothing uses the socket after this.
            unsafe { ManuallyDrop::drop(&mut self.socket) };
        }
    }
}
