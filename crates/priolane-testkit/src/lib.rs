//! What tests of several crates share.

#[cfg(feature = "runs")]
pub mod made_up;
