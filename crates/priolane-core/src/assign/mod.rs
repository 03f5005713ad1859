//! Who deserves which priority: policies that turn what is known of a flow into a class or level.

mod basin_hopping;
pub mod by_flow;
mod by_size;
pub mod byte_share;
pub mod control;
mod equal_split;
mod ladder;
mod opt;
mod pias_cost;
mod pias_published;
mod sizes_of;
pub mod two_level_ps;

pub use basin_hopping::basin_hopping;
pub use by_size::{equal_bytes, flow_fraction};
pub use equal_split::equal_split;
pub use ladder::{Count, Ladder};
pub use opt::opt;
pub use pias_cost::{PiasForm, pias_cost};
pub use pias_published::pias_published;
pub use sizes_of::SizesOf;
