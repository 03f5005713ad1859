//! Converts topology files (`.topo`) of htsim to a topology file of priolane.
//!
//! ```text
//! Nodes 32
//! Tiers 2
//! Podsize 32
//!
//! Tier 0
//! Downlink_Speed_Gbps 100
//! Radix_Down 8
//! Radix_Up 2
//! Oversubscribed 4
//! Downlink_Latency_ns 1000
//!
//! Tier 1
//! Downlink_Speed_Gbps 100
//! Radix_Down 4
//! Downlink_Latency_ns 1000
//! ```
//!
//! Hosts, pods, and tiers from the leaf switches (0) up. A speed and a latency are those of the links down from a tier, in
//! both directions. Names are read in any case, and lines of other names are ignored, as `FatTreeTopology::load` of
//! csg-htsim does. Numbers of switches follow from these, and radices are checked against them:
//!
//! ```text
//! leaves of a pod     Podsize / Radix_Down of tier 0
//! uplinks of leaves   Nodes x speed of tier 0 / (speed of tier 1 x Oversubscribed of tier 0)
//! aggs of a pod       uplinks of leaves / (pods x Radix_Down of tier 1)
//! cores               uplinks of leaves x speed of tier 1 / (speed of tier 2 x Oversubscribed of tier 1 x Radix_Down of tier 2)
//! ```
//!
//! A leaf has `Bundle` (of tier 1) links to each aggregation switch of its pod; with two tiers, to each of all pods. The
//! aggregation switch at place i of a pod of a has `Bundle` (of tier 2) links to each of the cores i, i + a, i + 2 a, ...
//! Half of a switch's latency is added to each of its links, so that a path has all of it.

mod plan;
mod switches;

use std::fmt::Write as _;

use priolane_sim::topology::{TopologyError, file};
use priolane_source::InputError;

use super::network::Network;
use super::options::Text;
use plan::{BUNDLE, KEYS, LATENCY, Plan, QUEUES, SPEED, SWITCH, complete, parsed};
use switches::Switches;

/// Number of bytes of a text by which it is recognized.
const LOOKED_AT: usize = 64 * 1024;

/// Names of switches by tier.
const SWITCHES: [&str; 3] = ["leaf", "agg", "core"];

/// Returns whether a text begins as a topology of htsim: with a key of its header, and with one that no matrix has.
pub(super) fn is_topology(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&head[..head.len().min(LOOKED_AT)]);
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let names = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_lowercase);
    let names: Vec<String> = names.take(64).collect();
    let begins = names.first().is_some_and(|name| ["nodes", "tiers", "podsize"].contains(&name.as_str()));
    begins && names.iter().any(|name| ["tiers", "podsize", "tier"].contains(&name.as_str()))
}

/// Reads a topology of htsim.
///
/// # Errors
/// Returns an [`InputError`] if it is not one, or if its numbers contradict each other.
pub(super) fn read(lines: &mut Text<'_>) -> Result<Network, InputError> {
    let plan = parsed(lines)?;
    complete(lines, &plan)?;
    let switches = Switches::of(lines, &plan)?;
    (0..plan.count).try_for_each(|tier| links_of(lines, &plan, tier))?;
    let text = written(lines, &plan, switches)?;
    Ok(Network { hosts: (0..plan.nodes as u32).collect(), text, notes: notes(&plan) })
}

/// Checks that links can have the speed and the latency of a tier.
fn links_of(lines: &Text<'_>, plan: &Plan, tier: usize) -> Result<(), InputError> {
    let wrong = |rate: u64, delay: u64| {
        let nodes = "node,a,host\nnode,b,host\nnode,s,switch\nlink,a,s,1Gbps,1us\n";
        match file::parse(&format!("{nodes}link,b,s,{rate}Gbps,{delay}ps\n")).err()? {
            TopologyError::Line { problem, .. } | TopologyError::Network(problem) => Some(problem),
        }
    };
    let own = &plan.tiers[tier];
    let below = tier.saturating_sub(1);
    let latencies = [
        (2 * own.or(LATENCY, 0), LATENCY, tier),
        (own.or(SWITCH, 0), SWITCH, tier),
        (plan.tiers[below].or(SWITCH, 0), SWITCH, below),
    ];
    let (_, key, of) = latencies.into_iter().max_by_key(|&(twice, ..)| twice).unwrap_or((0, LATENCY, tier));
    let speed = wrong(own.or(SPEED, 1), 1).map(|problem| (SPEED, tier, problem));
    let Some((key, tier, problem)) =
        speed.or_else(|| wrong(1, delay_ps(plan, tier)).map(|problem| (key, of, problem)))
    else {
        return Ok(());
    };
    let line = plan.tiers[tier].line_of(key);
    let what = format!("{} of tier {tier}: {problem}", KEYS[key].0);
    Err(InputError::new(lines.file(), Some(line), "", what, "a smaller number"))
}

/// Returns the topology file.
fn written(lines: &Text<'_>, plan: &Plan, switches: Switches) -> Result<String, InputError> {
    let Switches { pods, leaves_per_pod, aggs_per_pod, cores } = switches;
    let (leaves, aggs) = (pods * leaves_per_pod, pods * aggs_per_pod);
    let mut made = String::from("# nodes and links of a topology of htsim\n");
    for host in 0..plan.nodes {
        let _ = writeln!(made, "node,h{host},host");
    }
    for (name, count) in SWITCHES.iter().zip([leaves, aggs, cores]) {
        for switch in 0..count {
            let _ = writeln!(made, "node,{name}{switch},switch");
        }
    }
    let mut link = |ends: [String; 2], tier: usize| {
        let [rate, delay] = [plan.tiers[tier].or(SPEED, 1), delay_ps(plan, tier)];
        let _ = writeln!(made, "link,{},{},{rate}Gbps,{delay}ps", ends[0], ends[1]);
    };
    let per_leaf = plan.nodes / leaves;
    (0..plan.nodes).for_each(|host| link([format!("h{host}"), format!("leaf{}", host / per_leaf)], 0));
    for leaf in 0..leaves {
        let own = leaf / leaves_per_pod * aggs_per_pod;
        for agg in if plan.count == 2 { 0..aggs } else { own..own + aggs_per_pod } {
            (0..plan.tiers[1].or(BUNDLE, 1))
                .for_each(|_| link([format!("leaf{leaf}"), format!("agg{agg}")], 1));
        }
    }
    for agg in 0..if plan.count == 3 { aggs } else { 0 } {
        for core in (agg % aggs_per_pod..cores).step_by(aggs_per_pod as usize) {
            (0..plan.tiers[2].or(BUNDLE, 1))
                .for_each(|_| link([format!("agg{agg}"), format!("core{core}")], 2));
        }
    }
    file::parse(&made).map_err(|error| lines.whole(error.to_string(), "Correct the speeds and latencies"))?;
    Ok(made)
}

/// Returns the delay of the links down from a tier, in picoseconds, with half the latency of the switches at their ends.
fn delay_ps(plan: &Plan, tier: usize) -> u64 {
    let below = tier.checked_sub(1).map_or(0, |below| plan.tiers[below].or(SWITCH, 0));
    1_000 * plan.tiers[tier].or(LATENCY, 0) + 500 * (plan.tiers[tier].or(SWITCH, 0) + below)
}

/// Returns what the network does not have, or has otherwise.
fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let own = &plan.tiers[..plan.count];
    if own.iter().any(|tier| tier.or(SWITCH, 0) > 0) {
        notes.push("half the latency of a switch is added to each of its links".to_owned());
    }
    let queues = own.iter().enumerate().flat_map(|(tier, own)| {
        QUEUES
            .into_iter()
            .filter_map(move |key| Some(format!("{} of tier {tier}: {}", KEYS[key].0, own.number(key)?)))
    });
    let queues: Vec<String> = queues.collect();
    if !queues.is_empty() {
        notes.push(format!(
            "sizes of queues are not in a topology; state them in [switch]: {}",
            queues.join(", ")
        ));
    }
    if plan.count < 3 && plan.tiers[2].line > 0 {
        notes.push("tier 2 was ignored, as Tiers is 2".to_owned());
    }
    if plan.ignored > 0 {
        notes.push(format!("{} lines with other names were ignored, as by htsim", plan.ignored));
    }
    notes
}
