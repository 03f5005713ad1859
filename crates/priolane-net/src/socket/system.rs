//! The parts that all system calls have in common.

use std::io;

/// The number of datagrams in a batch. More gain nothing, and fewer cost a tenth (docs/evidence/agreement.md).
pub(crate) const BATCH: usize = 32;

/// Converts the result of a system call that returns -1 for an error.
pub(super) fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
