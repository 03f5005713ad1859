//! What all calls of the system have in common.

use std::io;

/// Datagrams of a batch: more gain nothing, fewer cost a tenth (docs/evidence/agreement.md).
pub(crate) const BATCH: usize = 32;

/// The answer of a system call that returns -1 for an error.
pub(super) fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
