//! How the system schedules the thread that drives a host.

use std::io;

use super::system::check;

/// This thread runs before all ordinary ones (`SCHED_FIFO`), with a priority from 1 to 99.
///
/// # Errors
/// If the system does not permit it: it takes `CAP_SYS_NICE` or a limit `rtprio`.
pub(crate) fn be_real_time(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: libc::c_int::from(priority) };
    // SAFETY: `parameters` lives through the call; 0 is this thread.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

/// Waits of this thread end when they should, not 50 us later, as the system's default is.
pub(crate) fn wake_on_time() {
    // SAFETY: no memory is passed. Where it fails, waits end later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
