//! What tests of several crates share.

#[cfg(feature = "runs")]
pub mod made_up;
mod rounds;

pub use rounds::rounds;
