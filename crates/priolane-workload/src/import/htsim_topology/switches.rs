//! Numbers of switches in topologies of htsim, by the checks of `FatTreeTopology::set_custom_params`.

use priolane_source::InputError;

use super::plan::{BUNDLE, DOWN, KEYS, OVERSUBSCRIBED, Plan, SPEED, Tier, UP};
use crate::import::collect::MAX_HOSTS;
use crate::import::options::Text;

/// Most links of a network.
const MAX_LINKS: u128 = 1 << 20;

/// The numbers of switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switches {
    pub(super) pods: u64,
    pub(super) leaves_per_pod: u64,
    pub(super) aggs_per_pod: u64,
    pub(super) cores: u64,
}

/// A key of a tier, to which a message refers.
#[derive(Clone, Copy)]
struct At<'p>(&'p Tier, usize);

/// The checks of a plan.
struct Checks<'p> {
    file: &'p str,
    plan: &'p Plan,
}

impl Switches {
    /// Returns the numbers of switches, or the first of htsim's checks that fails.
    pub(super) fn of(lines: &Text<'_>, plan: &Plan) -> Result<Self, InputError> {
        let checks = Checks { file: lines.file(), plan };
        let [leaf, agg, _] = &plan.tiers;
        let (nodes, pod) = (u128::from(plan.nodes), u128::from(plan.pod));
        let pods = checks.quotient([nodes, pod], At(leaf, DOWN), "the pods are Nodes / Podsize")?;
        let per_pod = "the leaves of a pod are Podsize / Radix_Down";
        let leaves = checks.quotient([pod, of(leaf, DOWN)], At(leaf, DOWN), per_pod)?;
        checks.bundles()?;
        let (uplinks, aggs) = checks.aggs([nodes, pods])?;
        let cores = if plan.count == 3 { checks.cores([uplinks, aggs])? } else { 0 };
        let linked_pods = if plan.count == 2 { pods } else { 1 };
        let of_leaves = pods * leaves * aggs * of(agg, BUNDLE) * linked_pods;
        let of_aggs = if plan.count == 3 { pods * aggs * of(agg, UP) } else { 0 };
        let switches = pods * (leaves + aggs) + cores;
        if nodes + of_leaves + of_aggs > MAX_LINKS || switches > u128::from(MAX_HOSTS) {
            return Err(lines.whole("the network is too large", "at most 65536 switches and 1048576 links"));
        }
        let [pods, leaves_per_pod, aggs_per_pod, cores] =
            [pods, leaves, aggs, cores].map(|count| count as u64);
        Ok(Self { pods, leaves_per_pod, aggs_per_pod, cores })
    }
}

/// Returns the number of a key, 1 if the file has none.
fn of(tier: &Tier, key: usize) -> u128 {
    u128::from(tier.or(key, 1))
}

impl Checks<'_> {
    fn wrong(&self, At(tier, key): At<'_>, what: String, fix: impl Into<String>) -> InputError {
        InputError::new(self.file, Some(tier.line_of(key)), "", what, fix)
    }

    /// Returns a quotient, which `says` explains, or an error if it is not a whole number above 0.
    fn quotient(&self, [of, by]: [u128; 2], at: At<'_>, says: &str) -> Result<u128, InputError> {
        if of > 0 && of.is_multiple_of(by) {
            return Ok(of / by);
        }
        let what = format!("{says}: {of} / {by} is not a whole number");
        Err(self.wrong(at, what, "numbers that divide each other"))
    }

    /// Returns the uplinks of all leaves, and the aggregation switches of a pod.
    fn aggs(&self, [nodes, pods]: [u128; 2]) -> Result<(u128, u128), InputError> {
        let [leaf, agg, _] = &self.plan.tiers;
        let uplinks = self.quotient(
            [nodes * of(leaf, SPEED), of(agg, SPEED) * of(leaf, OVERSUBSCRIBED)],
            At(leaf, OVERSUBSCRIBED),
            "the uplinks of leaves are Nodes x speed of tier 0 / (speed of tier 1 x Oversubscribed)",
        )?;
        let (ratio, stated) = (of(leaf, DOWN) / of(leaf, UP), of(leaf, OVERSUBSCRIBED));
        if ratio != stated {
            let what = format!("Radix_Down / Radix_Up of tier 0 is {ratio}, and Oversubscribed {stated}");
            return Err(self.wrong(
                At(leaf, UP),
                what,
                "radices whose quotient, rounded down, is Oversubscribed",
            ));
        }
        let says = "the aggregation switches of a pod are uplinks of leaves / (pods x Radix_Down)";
        let aggs = self.quotient([uplinks, pods * of(agg, DOWN)], At(agg, DOWN), says)?;
        self.uplinks_match(At(leaf, UP), (aggs, 1), "a leaf has {} aggregation switches")?;
        Ok((uplinks, aggs))
    }

    /// Returns the number of core switches.
    fn cores(&self, [uplinks, aggs]: [u128; 2]) -> Result<u128, InputError> {
        let [_, agg, core] = &self.plan.tiers;
        let uplinks = self.quotient(
            [uplinks * of(agg, SPEED), of(core, SPEED) * of(agg, OVERSUBSCRIBED)],
            At(agg, OVERSUBSCRIBED),
            "the uplinks of aggregation switches are those of leaves x speed of tier 1 / (speed of tier 2 x Oversubscribed)",
        )?;
        let says = "the cores are uplinks of aggregation switches / Radix_Down";
        let cores = self.quotient([uplinks, of(core, DOWN)], At(core, DOWN), says)?;
        let says = "the aggregation switches of a pod have as many cores each";
        let planes = self.quotient([cores, aggs], At(core, DOWN), says)?;
        self.uplinks_match(At(agg, UP), (planes, 2), "an aggregation switch has {} cores")?;
        Ok(cores)
    }

    /// Checks that switches have as many uplinks as links to `above` switches of the tier `tier`.
    fn uplinks_match(&self, at: At<'_>, (above, tier): (u128, usize), says: &str) -> Result<(), InputError> {
        let (bundle, radix) = (of(&self.plan.tiers[tier], BUNDLE), of(at.0, at.1));
        if above * bundle == radix {
            return Ok(());
        }
        let has = says.replace("{}", &above.to_string());
        let what = format!("{has} and {bundle} links to each, but Radix_Up is {radix}");
        Err(self.wrong(at, what, format!("Radix_Up {}, or another Bundle in tier {tier}", above * bundle)))
    }

    /// Checks that radices are multiples of bundles, and that hosts have one link.
    fn bundles(&self) -> Result<(), InputError> {
        for (tier, own) in self.plan.tiers.iter().enumerate().take(self.plan.count) {
            let bundle = of(own, BUNDLE);
            if tier == 0 && bundle != 1 {
                let what = format!("hosts have {bundle} links to their switch, and have one here");
                return Err(self.wrong(At(own, BUNDLE), what, "Bundle 1 in tier 0"));
            }
            let below = tier.checked_sub(1).map(|below| (below, At(&self.plan.tiers[below], UP)));
            for (number, at) in std::iter::once((tier, At(own, DOWN))).chain(below) {
                let radix = of(at.0, at.1);
                if !radix.is_multiple_of(bundle) {
                    let name = KEYS[at.1].0;
                    let what = format!(
                        "{name} of tier {number} is {radix}, no multiple of {bundle} (Bundle of tier {tier})"
                    );
                    return Err(self.wrong(at, what, "a multiple"));
                }
            }
        }
        Ok(())
    }
}
