//! The list of topologies of experiments, which defines their enum, its reader and its writer.

use priolane_core::part::parts;

use super::error::TopologyError;
use super::network::Topology;

/// Builds nodes and links from the keys of a kind of topology.
pub trait Shape {
    /// Builds the topology.
    ///
    /// # Errors
    /// A number that is out of range, or links that do not form a network.
    fn build(&self) -> Result<Topology, TopologyError>;
}

macro_rules! topologies {
    ($($(#[$doc:meta])* $name:ident($spec:ty);)*) => {
        parts! {
            /// A topology as written in an experiment.
            pub enum TopologySpec: dyn Shape in Topology {
                $($(#[$doc])* $name($spec);)*
            }
        }

        impl TopologySpec {
            /// Builds the topology.
            ///
            /// # Errors
            /// A number that is out of range, or links that do not form a network.
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
    /// Groups of routers, fully linked within and between groups.
    Dragonfly(super::dragonfly::Dragonfly);
    /// Two switches with one bottleneck between them.
    Dumbbell(super::dumbbell::Dumbbell);
    /// One switch.
    SingleSwitch(super::single_switch::SingleSwitch);
    /// Nodes and links from a file.
    File(super::file::File);
}
