//! The keys of topologies of htsim by tier, as `FatTreeTopology::load` reads them.

use priolane_source::InputError;

use crate::import::collect::{MAX_HOSTS, whole};
use crate::import::options::Text;

/// The names of a tier's keys in files, in lower case as htsim compares them, and whether the top tier has them.
pub(super) const KEYS: [(&str, bool); 9] = [
    ("downlink_speed_gbps", true),
    ("radix_down", true),
    ("radix_up", false),
    ("downlink_latency_ns", true),
    ("switch_latency_ns", true),
    ("oversubscribed", true),
    ("bundle", true),
    ("queue_down", true),
    ("queue_up", false),
];

/// The places of keys in [`KEYS`].
pub(super) const SPEED: usize = 0;
pub(super) const DOWN: usize = 1;
pub(super) const UP: usize = 2;
pub(super) const LATENCY: usize = 3;
pub(super) const SWITCH: usize = 4;
pub(super) const OVERSUBSCRIBED: usize = 5;
pub(super) const BUNDLE: usize = 6;
pub(super) const QUEUES: [usize; 2] = [7, 8];

/// Largest number of a key: products of three stay below 2^128.
const LARGEST: u64 = 1 << 40;

/// A tier as the file has it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tier {
    /// The line of `Tier N`; 0 if the file has none.
    pub(super) line: usize,
    /// Number and line of each key.
    keys: [Option<(u64, usize)>; KEYS.len()],
}

impl Tier {
    pub(super) fn number(&self, key: usize) -> Option<u64> {
        self.keys[key].map(|(number, _)| number)
    }

    /// Returns the number of a key that has a default.
    pub(super) fn or(&self, key: usize, default: u64) -> u64 {
        self.number(key).unwrap_or(default)
    }

    /// Returns the line of a key, or of the tier.
    pub(super) fn line_of(&self, key: usize) -> usize {
        self.keys[key].map_or(self.line, |(_, line)| line)
    }
}

/// The header of a file, and its tiers.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) nodes: u64,
    pub(super) pod: u64,
    /// Number of tiers, 2 or 3.
    pub(super) count: usize,
    pub(super) tiers: [Tier; 3],
    /// Lines whose names no file of htsim has.
    pub(super) ignored: u64,
}

/// Reads a file as far as it can be read line by line.
///
/// # Errors
/// Returns an [`InputError`] at the line at fault.
pub(super) fn parsed(lines: &mut Text<'_>) -> Result<Plan, InputError> {
    let (mut line, mut plan, mut current) = (String::new(), Plan::default(), None);
    while lines.next(&mut line)? {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words[0].to_lowercase();
        let number = || match words.get(1) {
            Some(word) => whole(lines, word, "a number").and_then(|number| small(lines, number)),
            None => Err(lines.error("", format!("{} has no number", words[0]), "a number after the name")),
        };
        match (name.as_str(), current) {
            ("nodes", None) => plan.nodes = number()?,
            ("podsize", None) => plan.pod = number()?,
            ("tiers", None) => {
                plan.count = number()? as usize;
                if !(2..=3).contains(&plan.count) {
                    return Err(lines.error(
                        "",
                        format!("there are {} tiers", plan.count),
                        "Tiers 2 or Tiers 3",
                    ));
                }
            }
            ("tier", _) => {
                let tier = number()? as usize;
                let Some(own) = plan.tiers.get_mut(tier) else {
                    return Err(lines.error(
                        "",
                        format!("tier {tier} does not exist"),
                        "Tier 0, Tier 1 or Tier 2",
                    ));
                };
                own.line = lines.number();
                current = Some(tier);
            }
            (name, Some(tier)) => match KEYS.iter().position(|(key, _)| *key == name) {
                Some(key) => {
                    let number = number()?;
                    set(lines, &mut plan.tiers[tier], (tier, key), number)?;
                }
                None => plan.ignored += 1,
            },
            _ => plan.ignored += 1,
        }
    }
    Ok(plan)
}

fn small(lines: &Text<'_>, number: u64) -> Result<u64, InputError> {
    if number <= LARGEST {
        return Ok(number);
    }
    Err(lines.error("", format!("{number} is too large"), format!("at most {LARGEST}")))
}

fn set(lines: &Text<'_>, own: &mut Tier, (tier, key): (usize, usize), number: u64) -> Result<(), InputError> {
    let (name, of_top) = KEYS[key];
    if tier == 2 && !of_top {
        let what = format!("tier 2 is the highest, which has no {name}");
        return Err(lines.error("", what, "Remove the line"));
    }
    if own.keys[key].replace((number, lines.number())).is_some() {
        return Err(lines.error(
            "",
            format!("{name} of tier {tier} appears twice"),
            "each key once in a tier",
        ));
    }
    Ok(())
}

/// Checks that the header and each tier have what htsim asks for.
pub(super) fn complete(lines: &Text<'_>, plan: &Plan) -> Result<(), InputError> {
    for (name, number) in [("Nodes", plan.nodes), ("Tiers", plan.count as u64), ("Podsize", plan.pod)] {
        if number == 0 {
            let what = format!("{name} is missing before the first tier, or 0");
            return Err(
                lines.whole(what, format!("a line such as {name} {}", if name == "Tiers" { 3 } else { 64 }))
            );
        }
    }
    if plan.nodes > MAX_HOSTS {
        return Err(lines.whole(format!("there are {} nodes", plan.nodes), "at most 65536 nodes"));
    }
    for (tier, own) in plan.tiers.iter().enumerate().take(plan.count) {
        if own.line == 0 {
            let what = format!("Tiers is {}, but there is no tier {tier}", plan.count);
            return Err(lines.whole(what, format!("a line Tier {tier}, and the keys of that tier")));
        }
        let at = |line, what: String, fix: &str| InputError::new(lines.file(), Some(line), "", what, fix);
        let needed = [SPEED, LATENCY, DOWN].into_iter().chain((tier + 1 < plan.count).then_some(UP));
        if let Some(key) = needed.into_iter().find(|&key| own.or(key, 0) == 0) {
            let what = format!("{} of tier {tier} is missing, or 0", KEYS[key].0);
            return Err(at(own.line_of(key), what, "a number above 0"));
        }
        if let Some(key) = [BUNDLE, OVERSUBSCRIBED].into_iter().find(|&key| own.or(key, 1) == 0) {
            return Err(at(own.line_of(key), format!("{} of tier {tier} is 0", KEYS[key].0), "1 or more"));
        }
    }
    Ok(())
}
