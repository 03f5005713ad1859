//! Closes sockets in processes that are forked from the one that opened them. There they would keep the port in use
//! after their owner has closed it.
//!
//! ```text
//! before a fork      the list is locked, so that it is whole in both processes
//! in the child       all sockets of the list are closed, and the list is emptied and unlocked
//! in the parent      the list is unlocked
//! ```

use std::cell::UnsafeCell;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

type Fds = MutexGuard<'static, Vec<RawFd>>;

/// The file descriptors of all sockets of this process.
static OPEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
static DURING_FORK: DuringFork = DuringFork(UnsafeCell::new(None));

/// The lock of `OPEN`, held from before a fork until after it.
struct DuringFork(UnsafeCell<Option<Fds>>);

// SAFETY: only the thread that holds the lock of `OPEN` accesses the cell.
unsafe impl Sync for DuringFork {}

fn open() -> Fds {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a socket that was opened.
pub(super) fn opened(fd: RawFd) {
    static REGISTERED: Once = Once::new();
    // SAFETY: the handlers are functions of this module, which is never unloaded, and what they do is allowed after a fork.
    REGISTERED.call_once(|| unsafe {
        // Without memory for the handlers, sockets stay open in children.
        let _ = libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
    });
    open().push(fd);
}

/// Removes a socket that is about to be closed. Returns whether the list contained it, which is false in a child
/// process.
pub(super) fn closing(fd: RawFd) -> bool {
    let mut open = open();
    let place = open.iter().position(|&other| other == fd);
    place.map(|place| open.swap_remove(place)).is_some()
}

extern "C" fn before() {
    let open = open();
    // SAFETY: this thread holds the lock.
    unsafe { *DURING_FORK.0.get() = Some(open) };
}

extern "C" fn in_parent() {
    // SAFETY: this thread has held the lock since `before`.
    drop(unsafe { (*DURING_FORK.0.get()).take() });
}

extern "C" fn in_child() {
    // SAFETY: this thread, the only one, has held the lock since `before`.
    let Some(mut open) = (unsafe { (*DURING_FORK.0.get()).take() }) else { return };
    for &fd in open.iter() {
        // SAFETY: the socket is this module's, and `closing` keeps its owner from closing it again.
        let _ = unsafe { libc::close(fd) };
    }
    open.clear();
}
