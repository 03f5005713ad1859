//! Fixtures that the tests of several crates share.

#[cfg(feature = "runs")]
pub mod engines;
#[cfg(feature = "runs")]
pub mod made_up;
