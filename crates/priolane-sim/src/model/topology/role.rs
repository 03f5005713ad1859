//! The roles of switches: `leaf`, `spine`, `core`, ...

use super::spec::TopologySpec;

impl TopologySpec {
    /// Returns the role of the switch named `switch`. Switches of one role have the same place in the network. Each
    /// switch of a file has a role of its own, its name.
    pub fn role<'a>(&self, switch: &'a str) -> &'a str {
        match self {
            Self::LeafSpine(_) | Self::FatTree(_) | Self::ThreeTier(_) | Self::Dumbbell(_) => tier(switch),
            Self::Dragonfly(_) => "router",
            Self::SingleSwitch(_) => "switch",
            Self::File(_) => switch,
        }
    }
}

/// Returns the tier in the name of a switch, which is followed by numbers: `leaf3`, `agg2-0`.
fn tier(switch: &str) -> &str {
    match switch.find(|c: char| !c.is_ascii_alphabetic()).map_or(switch, |end| &switch[..end]) {
        "agg" => "aggregation",
        tier => tier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_the_letters_that_a_name_begins_with() {
        let names = ["leaf3", "spine12", "edge1-0", "agg2-0", "core7", "left", "right"];
        let tiers = ["leaf", "spine", "edge", "aggregation", "core", "left", "right"];
        assert_eq!(names.map(tier), tiers);
    }
}
