//! The tables of an experiment file and their keys.

use priolane_core::keys::{KeyInfo, Keys};

use super::claims::Claim;
use super::evaluation::Metrics;
use super::events::Event;
use super::timing::{ControlText, Timing};
use super::{equipment, free_keys, group, network, read, readings};
use crate::panels::Panel;

/// A table of an experiment file, as `priolane keys` lists it.
pub(crate) struct TableInfo {
    /// Its header, such as `[time]` or `[[group]]`.
    pub(crate) name: &'static str,
    /// One-line description.
    pub(crate) summary: &'static str,
    /// Its keys.
    pub(crate) keys: Vec<KeyInfo>,
}

/// The name of the keys above the first table of an experiment file.
pub(crate) const TOP: &str = "top";

/// Returns the tables of an experiment file with their keys.
pub(crate) fn tables() -> Vec<TableInfo> {
    fn keys<K: Keys>() -> Vec<KeyInfo> {
        described(K::describe)
    }
    let table = |name, summary, keys| TableInfo { name, summary, keys };
    vec![
        table(TOP, "the keys above the first table", described(read::describe_top)),
        table("[time]", "warm-up, measurement and end of a run", keys::<Timing>()),
        table("[topology]", "the network; `kind` chooses the keys", described(network::describe)),
        table("[[group]]", "hosts, and the flows that they start", described(group::describe)),
        table("[[event]]", "a change of traffic or a failure during a run", keys::<Event>()),
        table("[[control]]", "a change of flows that are under way", keys::<ControlText>()),
        table("[switch]", "settings of switches for all schemes", keys::<equipment::SwitchKeys>()),
        table("[host]", "settings of hosts for all schemes", keys::<equipment::HostKeys>()),
        table("[sweep]", "keys that take several values", described(free_keys::describe_sweep)),
        table("[quick]", "values for a short run", described(free_keys::describe_size)),
        table("[full]", "values for a long run", described(free_keys::describe_size)),
        table("[reading.NAME]", "one of the readings of a paper", keys::<readings::ReadingKeys>()),
        table("[metrics]", "classes of flows, baseline and other settings of metrics", keys::<Metrics>()),
        table("[[panel]]", "one part of a figure", keys::<Panel>()),
        table("[[claim]]", "a statement about the results, and its test", keys::<Claim>()),
    ]
}

/// Returns the keys that `describe` appends.
fn described(describe: impl FnOnce(&mut Vec<KeyInfo>)) -> Vec<KeyInfo> {
    let mut keys = Vec::new();
    describe(&mut keys);
    keys
}
