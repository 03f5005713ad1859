//! Results of admission control for `run.json`: transitions between classes, deadlines, final probabilities, and the
//! dominant terms of the utility.

use std::collections::BTreeMap;

use priolane_core::admit::{Key, LogHistogram, SettlingTime};
use priolane_core::ids::Class;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Notices, Outcome};
use serde::{Deserialize, Serialize};

use crate::flows::met_deadline;
use crate::source::Source;

/// Maximum distance from the final value at which a probability counts as settled.
const SETTLED_WITHIN: f64 = 0.2;

/// Minimum number of updates for the settling statistics.
const LEAST_TO_SETTLE: u64 = 10;

/// Minimum number of updates for a meaningful probability.
pub const ENOUGH: u64 = 200;

/// Results of admission control in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdmissionRecord {
    /// Measured finite flows by requested and assigned class: the transition matrix.
    pub transitions: Vec<Transition>,
    /// Class changes of running flows, over all flows of the run.
    pub moves: u64,
    /// Statistics of the probabilities.
    pub keys: Keys,
    /// The speed at which the probabilities settled; null if none had ten updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// The probabilities over time; null if they were not recorded (`admission_every`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// Completions and monitor intervals without an update.
    pub skipped: u64,
    /// Notifications of applications, by group in order; groups without notifications are omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<GroupNotices>,
    /// Terms of the utility, in Gbit, seconds and Gbit/s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
}

/// Flows with one requested and one assigned class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The requested class.
    pub asked: Class,
    /// The class assigned at the start.
    pub given: Class,
    /// Number of flows.
    pub flows: u64,
    /// Flows that met their deadline.
    pub deadlines_met: u64,
    /// Flows that missed their deadline.
    pub deadlines_missed: u64,
    /// Flows of both kinds that could not have met it alone in the network.
    pub deadlines_infeasible: u64,
}

/// Notifications to the applications of a group about the classes of their flows, over all flows of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupNotices {
    /// The group.
    pub group: String,
    /// Notifications of a lower class than requested.
    pub downgraded: u64,
    /// Notifications of a higher class than requested.
    pub upgraded: u64,
    /// Number of deferrals of flows.
    pub deferrals: u64,
    /// Total time of deferrals, in seconds.
    pub held_s: f64,
    /// Flows that requested a lower class than planned, after a notification.
    pub reclassified: u64,
}

/// Statistics of the probabilities, one for each updated source, destination and class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// Number of probabilities.
    pub count: u64,
    /// Number of probabilities with 200 updates or more.
    pub with_200_updates: u64,
    /// Fewest updates of a probability.
    pub fewest_updates: u64,
    /// Median number of updates.
    pub median_updates: u64,
    /// Smallest final probability.
    pub p_min: f64,
    /// Median final probability.
    pub p_median: f64,
    /// Largest final probability.
    pub p_max: f64,
    /// Largest difference between a final probability and its value after about half of its updates.
    pub largest_drift: f64,
}

/// The speed at which the probabilities with at least ten updates settled near their final values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Maximum distance from the final value.
    pub band: f64,
    /// The round trip of a packet of one byte between the first and the last host of the empty network, in seconds.
    pub rtt_s: f64,
    /// Probabilities with at least ten updates.
    pub keys: u64,
    /// Probabilities inside the band during the whole last tenth of their updates; the others count below too.
    pub settled: u64,
    /// Updates until the last one outside the band: median over the probabilities.
    pub p50_updates: u64,
    /// The same: 90th percentile.
    pub p90_updates: u64,
    /// Time from the first update to that one, in round trips: median.
    pub p50_rtts: f64,
    /// The same: 90th percentile.
    pub p90_rtts: f64,
}

/// Probabilities over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// Length of a bin, in seconds; the first bin starts with the run.
    pub every_s: f64,
    /// By requested class, in order.
    pub classes: Vec<ClassProbability>,
}

/// The probabilities of a requested class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassProbability {
    /// The class.
    pub class: Class,
    /// Number of probabilities with at least one update.
    pub keys: u64,
    /// Their mean at the end of each bin; 1 before the first update of a probability.
    pub mean_p: Vec<f64>,
}

/// The magnitude of a term, to a quarter of a power of two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Its name.
    pub name: String,
    /// Its median.
    pub p50: f64,
    /// Its 95th percentile.
    pub p95: f64,
    /// Its 99th percentile.
    pub p99: f64,
}

impl AdmissionRecord {
    /// Returns the results of admission control in `outcome`; `None` without an admission policy. `rtt` is the round
    /// trip of a packet of one byte in the empty network.
    pub fn of(source: &Source, outcome: &Outcome, rtt: Span) -> Option<Self> {
        source.scenario.admission.part().levels()?;
        let accounts = || outcome.admission.iter().map(|(_, account)| account);
        let keys: Vec<Key> = accounts().flat_map(|account| account.keys.iter().cloned()).collect();
        let mut terms: BTreeMap<&str, LogHistogram> = BTreeMap::new();
        for (name, magnitudes) in accounts().flat_map(|account| &account.terms) {
            terms.entry(name).or_default().merge(magnitudes);
        }
        Some(Self {
            transitions: transitions(source, outcome),
            moves: outcome.flows.iter().map(|flow| u64::from(flow.moves)).sum(),
            keys: Keys::of(&keys),
            settling: Settling::of(&keys, rtt),
            over_time: source
                .scenario
                .admission_every
                .map(|every| OverTime::of(&keys, (every, outcome.stopped_at))),
            notices: notices(source, outcome),
            skipped: accounts().map(|account| account.skipped).sum(),
            terms: terms.into_iter().filter_map(|(name, magnitudes)| Term::of(name, &magnitudes)).collect(),
        })
    }
}

fn notices(source: &Source, outcome: &Outcome) -> Vec<GroupNotices> {
    let mut all: BTreeMap<u16, Notices> = BTreeMap::new();
    for &(_, group, notices) in &outcome.notices {
        let sum = all.entry(group).or_default();
        sum.downgraded += notices.downgraded;
        sum.upgraded += notices.upgraded;
        sum.deferrals += notices.deferrals;
        sum.held += notices.held;
        sum.reclassified += notices.reclassified;
    }
    let named = |(group, notices): (u16, Notices)| GroupNotices {
        group: source.groups.get(usize::from(group)).cloned().unwrap_or_default(),
        downgraded: notices.downgraded,
        upgraded: notices.upgraded,
        deferrals: notices.deferrals,
        held_s: notices.held.as_secs_f64(),
        reclassified: notices.reclassified,
    };
    all.into_iter().map(named).collect()
}

fn transitions(source: &Source, outcome: &Outcome) -> Vec<Transition> {
    let mut all: BTreeMap<(Class, Class), Transition> = BTreeMap::new();
    let specs = source.scenario.flows.iter().zip(source.measured).zip(source.bare_fct);
    for (((spec, _), &bare), record) in
        specs.zip(&outcome.flows).filter(|(((spec, measured), _), _)| **measured && spec.size.is_some())
    {
        let (asked, given) = (record.class.asked, record.class.given);
        let fresh = Transition { asked, given, ..Transition::default() };
        let row = all.entry((asked, given)).or_insert(fresh);
        row.flows += 1;
        let Some(met) = met_deadline(&spec, &record, outcome.stopped_at) else { continue };
        row.deadlines_met += u64::from(met);
        row.deadlines_missed += u64::from(!met);
        row.deadlines_infeasible +=
            u64::from(spec.deadline.is_some_and(|deadline| spec.start + bare > deadline));
    }
    all.into_values().collect()
}

impl Keys {
    fn of(keys: &[Key]) -> Self {
        let mut updates: Vec<u64> = keys.iter().map(|key| key.updates).collect();
        let mut p: Vec<f64> = keys.iter().map(|key| key.p).collect();
        updates.sort_unstable();
        p.sort_unstable_by(f64::total_cmp);
        let middle = keys.len().saturating_sub(1) / 2;
        Self {
            count: keys.len() as u64,
            with_200_updates: updates.iter().filter(|&&n| n >= ENOUGH).count() as u64,
            fewest_updates: updates.first().copied().unwrap_or(0),
            median_updates: updates.get(middle).copied().unwrap_or(0),
            p_min: p.first().copied().unwrap_or(1.0),
            p_median: p.get(middle).copied().unwrap_or(1.0),
            p_max: p.last().copied().unwrap_or(1.0),
            largest_drift: keys.iter().map(|key| (key.p - key.p_half).abs()).fold(0.0, f64::max),
        }
    }
}

impl OverTime {
    fn of(keys: &[Key], (every, end): (Span, Time)) -> Self {
        let bins = end.0.div_ceil(every.0.max(1)) as usize;
        let mut classes: BTreeMap<Class, Vec<&Key>> = BTreeMap::new();
        for key in keys.iter().filter(|key| key.updates > 0) {
            classes.entry(key.class).or_default().push(key);
        }
        let of_class = |(class, keys): (Class, Vec<&Key>)| {
            let mut sums = vec![0.0; bins];
            for key in &keys {
                let (mut steps, mut p) = (key.watched.iter().peekable(), 1.0);
                for (sum, bin) in sums.iter_mut().zip(1u64..) {
                    if let Some(&(_, now)) = steps.next_if(|(at, _)| at.0 <= bin * every.0) {
                        p = now;
                    }
                    *sum += p;
                }
            }
            let count = keys.len() as u64;
            let mean_p = sums.into_iter().map(|sum| sum / count as f64).collect();
            ClassProbability { class, keys: count, mean_p }
        };
        Self { every_s: every.as_secs_f64(), classes: classes.into_iter().map(of_class).collect() }
    }
}

impl Settling {
    fn of(keys: &[Key], rtt: Span) -> Option<Self> {
        let busy: Vec<&Key> = keys.iter().filter(|key| key.updates >= LEAST_TO_SETTLE).collect();
        let settled: Vec<(u64, SettlingTime)> =
            busy.iter().filter_map(|key| Some((key.updates, key.trail.settled(SETTLED_WITHIN)?))).collect();
        let mut updates: Vec<u64> = settled.iter().map(|(_, settled)| settled.updates).collect();
        let mut rtts: Vec<f64> =
            settled.iter().map(|(_, settled)| settled.after.as_secs_f64() / rtt.as_secs_f64()).collect();
        updates.sort_unstable();
        rtts.sort_unstable_by(f64::total_cmp);
        let rank = |per_mille: usize| (settled.len() * per_mille).div_ceil(1000).saturating_sub(1);
        Some(Self {
            band: SETTLED_WITHIN,
            rtt_s: rtt.as_secs_f64(),
            keys: settled.len() as u64,
            settled: settled.iter().filter(|(all, last)| last.updates * 10 <= all * 9).count() as u64,
            p50_updates: *updates.get(rank(500))?,
            p90_updates: *updates.get(rank(900))?,
            p50_rtts: *rtts.get(rank(500))?,
            p90_rtts: *rtts.get(rank(900))?,
        })
    }
}

impl Term {
    fn of(name: &str, magnitudes: &LogHistogram) -> Option<Self> {
        let at = |q| magnitudes.quantile(q);
        Some(Self { name: name.to_owned(), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::admit::ConvergenceTrace;

    use super::*;

    #[test]
    fn probabilities_over_time_are_means_of_what_each_was_last() {
        let key = |class, watched: &[(u64, f64)]| Key {
            dst: priolane_core::ids::HostId(0),
            class,
            p: 0.0,
            p_half: 0.0,
            updates: watched.len() as u64,
            trail: ConvergenceTrace::default(),
            watched: watched.iter().map(|&(at, p)| (Time(at), p)).collect(),
        };
        let keys =
            [key(0, &[(10, 0.5), (30, 0.25)]), key(0, &[(20, 1.5)]), key(1, &[(40, 0.125)]), key(2, &[])];
        let over_time = OverTime::of(&keys, (Span(10), Time(35)));
        let means: Vec<_> = over_time.classes.iter().map(|c| (c.class, c.keys, c.mean_p.clone())).collect();
        // (0.5 + 1) / 2, (0.5 + 1.5) / 2, (0.25 + 1.5) / 2 twice.
        assert_eq!(means[0], (0, 2, vec![0.75, 1.0, 0.875, 0.875]));
        assert_eq!(means[1..], [(1, 1, vec![1.0, 1.0, 1.0, 0.125])]);
    }

    #[test]
    fn keys_by_hand() {
        let key = |p, p_half, updates| Key {
            dst: priolane_core::ids::HostId(0),
            class: 0,
            p,
            p_half,
            updates,
            trail: ConvergenceTrace::default(),
            watched: Vec::new(),
        };
        let keys = Keys::of(&[key(0.1, 0.5, 300), key(1.9, 1.8, 100), key(1.0, 1.0, 200)]);
        assert_eq!(
            (keys.count, keys.with_200_updates, keys.fewest_updates, keys.median_updates),
            (3, 2, 100, 200)
        );
        assert_eq!((keys.p_min, keys.p_median, keys.p_max, keys.largest_drift), (0.1, 1.0, 1.9, 0.4));
    }
}
