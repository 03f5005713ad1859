//! Nodes, links and forwarding. Hosts are nodes `0..hosts`; switches follow, those with hosts first.
//!
//! Topologies are built by [`LeafSpine`], [`FatTree`], [`ThreeTier`], [`Dumbbell`], [`SingleSwitch`], or from text by
//! [`file::parse`]; [`TopologySpec`] is the list of topologies that an experiment can state. Forwarding is a function
//! of switch, destination and entropy, over all shortest paths (in links). Tables have a row per switch and a column
//! per *rack*, the switch of a host. At its rack, a packet takes the host's link.

mod bare;
mod dragonfly;
mod dumbbell;
mod empty;
mod error;
mod fat_tree;
pub mod file;
mod graph;
mod leaf_spine;
mod least;
mod legs;
mod limits;
mod network;
mod role;
mod routes;
mod single_switch;
mod spec;
mod sprayed;
pub mod text;
mod three_tier;
mod token_buffers;

pub use bare::BareTimes;
pub use dumbbell::Dumbbell;
pub use error::{Problem, TopologyError};
pub use fat_tree::FatTree;
pub use graph::LinkSpec;
pub use leaf_spine::LeafSpine;
pub use least::{AllowedPaths, LeastTimes};
pub use legs::LinkBounds;
pub(crate) use network::NextHops;
pub(crate) use network::Pick;
pub use network::{Link, PathChoice, Spray, Topology};
pub(crate) use routes::Detour;
pub use single_switch::SingleSwitch;
pub use spec::TopologySpec;
pub use three_tier::ThreeTier;
pub use token_buffers::TokenTraffic;

#[cfg(test)]
mod tests;
