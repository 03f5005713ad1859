//! Packet-level simulation: nodes, links, topologies, and two engines that agree to the bit.

pub mod outcome;
pub mod scenario;
pub mod topology;
