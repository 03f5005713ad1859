//! Who deserves which priority: policies that turn what is known of a flow into a class or level.

pub mod byte_share;
pub mod control;
mod equal_split;
mod ladder;
mod pias_published;

pub use equal_split::equal_split;
pub use ladder::{Count, Ladder};
pub use pias_published::pias_published;
