//! The kinds of topology that an experiment can have, each once: the list makes the enum, its reader and its writer.

use priolane_core::part::parts;

use super::error::TopologyError;
use super::network::Topology;

/// What nodes and links follow from the keys of a kind of topology.
pub trait Shape {
    /// The topology.
    ///
    /// # Errors
    /// A number that is out of range, or links that make no network.
    fn build(&self) -> Result<Topology, TopologyError>;
}

macro_rules! topologies {
    ($($(#[$doc:meta])* $name:ident($spec:ty);)*) => {
        parts! {
            /// A topology as an experiment states it.
            pub enum TopologySpec: dyn Shape in Topology {
                $($(#[$doc])* $name($spec);)*
            }
        }

        impl TopologySpec {
            /// The topology.
            ///
            /// # Errors
            /// A number that is out of range, or links that make no network.
            pub fn build(&self) -> Result<Topology, TopologyError> {
                self.part().build()
            }
        }

        $(impl Shape for $spec {
            fn build(&self) -> Result<Topology, TopologyError> {
                <$spec>::build(self)
            }
        })*
    };
}

topologies! {
    /// Every leaf is linked to every spine.
    LeafSpine(super::leaf_spine::LeafSpine);
    /// Three tiers of switches with `k` ports.
    FatTree(super::fat_tree::FatTree);
    /// Pods of leaves and aggregation switches under core switches.
    ThreeTier(super::three_tier::ThreeTier);
    /// Groups of routers, each linked to each other one.
    Dragonfly(super::dragonfly::Dragonfly);
    /// Two switches with one bottleneck between them.
    Dumbbell(super::dumbbell::Dumbbell);
    /// One switch.
    SingleSwitch(super::single_switch::SingleSwitch);
    /// Nodes and links from a file.
    File(super::file::File);
}
