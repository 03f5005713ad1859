//! The process that something belongs to, where threads do work that a forked process does not have.

use crate::error::RecvError;

/// The process that bound a host. `fork` copies the memory of a host but not its thread, and may copy locks that the thread
/// holds: nothing may be locked in a process that is not this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process(u32);

impl Process {
    /// The process that calls.
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    /// # Errors
    /// [`RecvError::Forked`] in any other process.
    pub(crate) fn check(self) -> Result<(), RecvError> {
        if self == Self::current() { Ok(()) } else { Err(RecvError::Forked) }
    }
}
