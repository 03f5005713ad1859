//! The kinds of topology that an experiment can have, each once: the list makes the enum, its reader and its writer.

use priolane_core::part::kinds;

use super::dumbbell::Dumbbell;
use super::error::TopologyError;
use super::fat_tree::FatTree;
use super::file::File;
use super::leaf_spine::LeafSpine;
use super::network::Topology;
use super::single_switch::SingleSwitch;
use super::three_tier::ThreeTier;

macro_rules! topologies {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        kinds! {
            /// A topology as an experiment states it.
            pub enum TopologySpec by "kind" {
                $($(#[$doc])* $name($name);)*
            }
        }

        impl TopologySpec {
            /// The topology.
            ///
            /// # Errors
            /// A number that is out of range, or links that make no network.
            pub fn build(&self) -> Result<Topology, TopologyError> {
                match self { $(Self::$name(spec) => spec.build()),* }
            }
        }
    };
}

topologies! {
    /// Every leaf is linked to every spine.
    LeafSpine;
    /// Three tiers of switches with `k` ports.
    FatTree;
    /// Pods of leaves and aggregation switches under core switches.
    ThreeTier;
    /// Two switches with one bottleneck between them.
    Dumbbell;
    /// One switch.
    SingleSwitch;
    /// Nodes and links from a file.
    File;
}
