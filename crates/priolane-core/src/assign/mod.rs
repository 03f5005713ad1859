//! Who deserves which priority: policies that turn what is known of a flow into a class or level.

mod ladder;

pub use ladder::{Count, Ladder};
