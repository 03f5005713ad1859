//! Waiting for datagrams, for room to send, for an instant, or for another thread.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::system::check;
use super::udp::UdpSocket;

/// A handle by which another thread ends a wait.
#[derive(Debug)]
pub(crate) struct Wakeup(OwnedFd);

impl Wakeup {
    /// Creates a handle.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // SAFETY: `fd` was just opened, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Ends the wait, or the next one.
    pub(crate) fn wake(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: `one` lives through the call and is as long as said. A full counter is a wake-up too.
        let _ = unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Clears the signal.
    fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: `count` lives through the call and is as long as said.
        let _ = unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

/// The event that a wait is for, in addition to datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// No other event.
    Datagrams,
    /// Room to send.
    Room,
}

/// Waits until a datagram arrives, `wakeup` is signalled, the `wanted` event occurs, or `most` has passed; `None` sets
/// no limit.
pub(crate) fn wait(socket: &UdpSocket, wakeup: &Wakeup, wanted: WaitFor, most: Option<Duration>) {
    let events = match wanted {
        WaitFor::Datagrams => libc::POLLIN,
        WaitFor::Room => libc::POLLIN | libc::POLLOUT,
    };
    let mut polled = [
        libc::pollfd { fd: socket.fd(), events, revents: 0 },
        libc::pollfd { fd: wakeup.0.as_raw_fd(), events: libc::POLLIN, revents: 0 },
    ];
    let limit = most.map(|most| libc::timespec {
        tv_sec: libc::time_t::try_from(most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(most.subsec_nanos() as i32),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| &raw const *limit);
    // SAFETY: both file descriptors and the limit live through the call; no signal mask is passed. An interrupted wait is one
    // that ends early.
    unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, limit, std::ptr::null()) };
    if polled[1].revents != 0 {
        wakeup.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_wake_ups_before_a_wait_end_that_wait_and_no_other() {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
        let wakeup = Wakeup::new().unwrap();
        // SAFETY: `count` lives through the call and is 8 bytes long.
        let read = |count: &mut u64| unsafe {
            libc::read(wakeup.0.as_raw_fd(), std::ptr::from_mut(count).cast(), 8)
        };
        let mut count = 0;
        for wakes in 1..4 {
            (0..wakes).for_each(|_| wakeup.wake());
            wait(&socket, &wakeup, WaitFor::Datagrams, None);
            assert_eq!(
                (read(&mut count), io::Error::last_os_error().kind()),
                (-1, io::ErrorKind::WouldBlock)
            );
        }
        wakeup.wake();
        assert_eq!((read(&mut count), count), (8, 1));
    }

    #[test]
    fn a_wait_without_a_limit_ends_by_a_datagram_or_if_wanted_by_room() {
        let wakeup = Wakeup::new().unwrap();
        let bound = || UdpSocket::bind("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
        for wanted in [WaitFor::Datagrams, WaitFor::Room] {
            let socket = bound();
            let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            sender.send_to(b"one", socket.local_address().unwrap()).unwrap();
            wait(&socket, &wakeup, wanted, None);
        }
        // Nothing has arrived, and the send buffer is empty.
        wait(&bound(), &wakeup, WaitFor::Room, None);
    }
}
