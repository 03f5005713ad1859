//! The source of random numbers, which may fail.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

/// The error that the source of random numbers failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RandomFailure;

/// A source of unpredictable random numbers.
pub(crate) trait RandomSource: fmt::Debug + Send + Sync {
    /// Fills `bytes` with random bytes.
    ///
    /// # Errors
    /// Returns an error if the source fails. The content of `bytes` must then not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomFailure>;
}

/// The random source of the operating system.
impl RandomSource for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomFailure> {
        SecureRandom::fill(self, bytes).map_err(|_| RandomFailure)
    }
}

/// Draws a random number.
///
/// # Errors
/// Returns an error if the source fails.
pub(crate) fn draw(random: &dyn RandomSource) -> Result<u64, RandomFailure> {
    let mut bytes = [0; 8];
    random.fill(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A random source that fails after a number of calls, for tests.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct FailingSource {
    left: std::sync::atomic::AtomicUsize,
    system: SystemRandom,
}

#[cfg(test)]
impl FailingSource {
    /// Creates a source that succeeds `calls` times and then fails.
    pub(crate) fn after(calls: usize) -> Self {
        Self { left: calls.into(), system: SystemRandom::new() }
    }
}

#[cfg(test)]
impl RandomSource for FailingSource {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomFailure> {
        use std::sync::atomic::Ordering;
        let less = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).map_err(|_| RandomFailure)?;
        RandomSource::fill(&self.system, bytes)
    }
}
