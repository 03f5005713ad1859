//! Parts whose code is in a file that an experiment names, instead of compiled.
//!
//! ```text
//! a scheme is read ─► path ─► open: the text of that file ─► runs ─► take_failure: whether the run is void
//! ```

use std::sync::Arc;

use crate::ids::FlowId;
use crate::keys::KeyConflict;
use crate::units::Time;

/// Code of a part that is in a file of the experiment. All calls of a run are on the thread that starts the run.
pub trait FileCode {
    /// Returns the path of the file, relative to the experiment. The key `class` of the part names it.
    fn path(&self) -> String;

    /// Takes the text of the file.
    ///
    /// # Errors
    /// Returns the first mistake in the text.
    fn open(&mut self, text: &Arc<str>) -> Result<(), KeyConflict>;

    /// Returns the failure of the code in the run that has just ended on this thread, and forgets it. The outcome of that
    /// run is void.
    fn take_failure(&self) -> Option<CodeFailure>;
}

/// A failure of a part's code in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeFailure {
    /// The failure, as a clause.
    pub what: String,
    /// The simulated time of the failure.
    pub at: Time,
    /// The flow for which the code was called.
    pub flow: FlowId,
}
