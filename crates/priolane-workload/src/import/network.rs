//! Networks of other simulators.

/// The network of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The nodes that are hosts, in order: their indices are priolane's hosts.
    pub hosts: Vec<u32>,
    /// The topology file: host k is called `h<k>`, switch k `s<k>`, where k is the node.
    pub text: String,
    /// The departures from the file.
    pub notes: Vec<String>,
}
