//! Lets the caller interrupt long work, which polls at bounded intervals.

use std::fmt;
use std::sync::Arc;

use priolane_source::InputError;

/// Asks the caller whether to stop; never stops by default.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Stops once `stop` returns true. It is called from the working thread, at intervals of at most a few hundred
    /// milliseconds.
    pub fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stop)))
    }

    /// Checks whether to continue the work on `file`.
    ///
    /// # Errors
    /// Returns an error if the caller wants to stop.
    pub fn check(&self, file: &str) -> Result<(), InputError> {
        match &self.0 {
            Some(stop) if stop() => {
                Err(InputError::new(file, None, "", "planning was stopped", "Start it again"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.0.is_some()).finish()
    }
}

/// All interrupts are equal: they are not part of a request's identity.
impl PartialEq for Interrupt {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Interrupt {}
