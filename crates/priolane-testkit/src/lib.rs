//! What tests of several crates share. Only for tests: panics where a made-up value is not valid.

pub mod made_up;
