//! The process that an object belongs to, for objects whose thread a forked process does not have.

use crate::error::RecvError;

/// The process that bound a host. `fork` copies the memory of a host but not its thread, and may copy locks that the
/// thread holds. No lock may be taken in any other process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process(u32);

impl Process {
    /// Returns the calling process.
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    /// Checks that the calling process is this one.
    ///
    /// # Errors
    /// Returns [`RecvError::Forked`] in any other process.
    pub(crate) fn check(self) -> Result<(), RecvError> {
        if self == Self::current() { Ok(()) } else { Err(RecvError::Forked) }
    }
}
