//! Fixtures that the tests of several crates share.

#[cfg(feature = "runs")]
pub mod engines;
#[cfg(feature = "runs")]
pub mod made_up;

/// Makes the text of an experiment on hosts below one switch, with links of 10 Gbit/s and 1 us, at compile time: the lines
/// before the topology, the number of hosts, and the lines after it.
#[macro_export]
macro_rules! one_switch {
    ($before:literal, $hosts:literal, $after:literal) => {
        concat!(
            $before,
            "[topology]\nkind = \"single_switch\"\nhosts = ",
            $hosts,
            "\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n",
            $after
        )
    };
}
