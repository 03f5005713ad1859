//! The scheduling of the thread that drives a host.

use std::io;

use super::system::check;

/// Makes the calling thread run before all ordinary ones (`SCHED_FIFO`), with a priority from 1 to 99.
///
/// # Errors
/// Returns an error if the system does not permit this: it requires `CAP_SYS_NICE` or a limit `rtprio`.
pub(crate) fn be_real_time(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: libc::c_int::from(priority) };
    // SAFETY: `parameters` lives through the call; 0 is this thread.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

/// Makes waits of the calling thread end in time, without the default timer slack of 50 us.
pub(crate) fn wake_on_time() {
    // SAFETY: no memory is passed. Where it fails, waits end later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
