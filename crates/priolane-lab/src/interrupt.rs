//! Whether to go on with what takes long: asked at bounded intervals, answered by the caller.

use std::fmt;
use std::sync::Arc;

use priolane_source::InputError;

/// Asks the caller whether to stop; by default never.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Stops once `stop` returns true. It is called from whatever thread does the work, at most some hundred
    /// milliseconds apart.
    pub fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stop)))
    }

    /// Goes on with what is done for `file`.
    ///
    /// # Errors
    /// If the caller wants to stop.
    pub fn check(&self, file: &str) -> Result<(), InputError> {
        match &self.0 {
            Some(stop) if stop() => {
                Err(InputError::new(file, None, "", "planning was stopped", "start it again"))
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

/// Who may stop the work is no part of what is asked for.
impl PartialEq for Interrupt {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Interrupt {}
