//! Coflows: when the last of several flows is there.
//!
//! ```text
//! CCT      last finish of a flow of the coflow - first start of one
//! size     payload bytes of all its flows
//! ```
//!
//! A coflow is unfinished while a flow of it is. It is measured if its first flow is, and has the class that this flow
//! asks for. Bounds of size classes are those of whole coflows here.

use std::collections::BTreeMap;

use priolane_core::ids::{Class, CoflowId};
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_sim::outcome::Outcome;
use serde::{Deserialize, Serialize};

use super::{Payer, PerMille, SizeClass, percentile};
use crate::results::rows::Source;

/// What became of a coflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoflowRecord {
    /// Its number in its group.
    pub coflow: CoflowId,
    /// Whose its first flow is.
    pub payer: Payer,
    /// Its flows.
    pub flows: u32,
    /// Payload bytes of all; `None` if a flow has no end.
    pub bytes: Option<u64>,
    /// What its first flow asked for and was given.
    pub class: (Class, Class),
    /// When its first flow started.
    pub start: Time,
    /// From then to the last byte of its last flow; `None` if unfinished.
    pub cct: Option<Span>,
    /// Whether its first flow is measured.
    pub measured: bool,
}

impl CoflowRecord {
    /// Whether it is of a class of sizes.
    pub fn is_of(&self, class: &SizeClass) -> bool {
        class.contains(self.bytes, self.payer) && class.holds(self.class)
    }
}

/// What the measured coflows of a class add up to. Values are null where no coflow has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoflowSummary {
    /// Measured coflows of the class, finished or not.
    pub coflows: u64,
    /// Those that did not finish: they are in none of the values below.
    pub unfinished: u64,
    /// Mean coflow completion time, in seconds.
    pub mean_cct_s: Option<f64>,
    /// Its median, in seconds.
    pub p50_cct_s: Option<f64>,
    /// Its 95th percentile, in seconds.
    pub p95_cct_s: Option<f64>,
    /// Its 99th percentile, in seconds.
    pub p99_cct_s: Option<f64>,
}

/// The coflows of a run by group and number; none where no flow belongs to one.
pub fn coflows(source: &Source, outcome: &Outcome) -> Vec<CoflowRecord> {
    let mut all: BTreeMap<(u16, CoflowId), (CoflowRecord, Time)> = BTreeMap::new();
    let specs = source.scenario.flows.iter().zip(source.measured).zip(&outcome.flows);
    for ((spec, &measured), record) in specs {
        let Some(coflow) = spec.coflow else { continue };
        let end = record.fct.map(|fct| spec.start + fct);
        let own = CoflowRecord {
            coflow,
            payer: Payer::of(&spec),
            flows: 1,
            bytes: spec.size,
            class: (record.class.asked, record.class.given),
            start: spec.start,
            cct: end.map(|end| end.since(spec.start)),
            measured,
        };
        all.entry((spec.group, coflow))
            .and_modify(|(sum, last)| {
                let late = end.filter(|_| sum.cct.is_some()).map(|end| end.max(*last));
                let first = if own.start < sum.start { own } else { *sum };
                let bytes = sum.bytes.zip(own.bytes).map(|(a, b)| a.saturating_add(b));
                *last = late.unwrap_or(*last);
                *sum = CoflowRecord {
                    flows: sum.flows + 1,
                    bytes,
                    cct: late.map(|end| end.since(first.start)),
                    ..first
                };
            })
            .or_insert((own, end.unwrap_or(Time::ZERO)));
    }
    all.into_values().map(|(record, _)| record).collect()
}

/// The summaries of all `classes` and of `all`; empty where there is no coflow.
pub fn summarize(coflows: &[CoflowRecord], classes: &[SizeClass]) -> BTreeMap<String, CoflowSummary> {
    if coflows.is_empty() {
        return BTreeMap::new();
    }
    let all = SizeClass::all();
    let classes = std::iter::once(&all).chain(classes);
    classes.map(|class| (class.name.clone(), summary(coflows, class))).collect()
}

fn summary(coflows: &[CoflowRecord], class: &SizeClass) -> CoflowSummary {
    let own: Vec<&CoflowRecord> =
        coflows.iter().filter(|coflow| coflow.measured && coflow.is_of(class)).collect();
    let mut times: Vec<u64> = own.iter().filter_map(|coflow| coflow.cct).map(|cct| cct.0).collect();
    let sum: u128 = times.iter().map(|&ps| u128::from(ps)).sum();
    times.sort_unstable();
    let seconds = |ps: f64| ps / PS_PER_S as f64;
    let at = |p| percentile(&times, PerMille(p)).map(|ps| seconds(ps as f64));
    CoflowSummary {
        coflows: own.len() as u64,
        unfinished: (own.len() - times.len()) as u64,
        mean_cct_s: (!times.is_empty()).then(|| seconds(sum as f64 / times.len() as f64)),
        p50_cct_s: at(500),
        p95_cct_s: at(950),
        p99_cct_s: at(990),
    }
}

/// The mean over coflows of a class of how many times as long each takes in `slow` as in `fast`, lists of the same
/// coflows, of those that are measured and finish in both; `None` where there is none.
pub fn speed_up(fast: &[CoflowRecord], slow: &[CoflowRecord], class: &SizeClass) -> Option<f64> {
    let name = |coflow: &CoflowRecord| (coflow.payer.group, coflow.coflow);
    let before: BTreeMap<_, Span> =
        slow.iter().filter_map(|coflow| Some((name(coflow), coflow.cct?))).collect();
    let ratio = |coflow: &CoflowRecord| {
        let (own, other) = (coflow.cct.filter(|cct| cct.0 > 0)?, before.get(&name(coflow))?);
        Some(other.0 as f64 / own.0 as f64)
    };
    let own = fast.iter().filter(|coflow| coflow.measured && coflow.is_of(class));
    let ratios: Vec<f64> = own.filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use super::*;
    use crate::metrics::ALL;
    use crate::results::fixture::Fixture;

    const US: u64 = 1_000_000;

    /// Flows of (coflow, start in us, bytes, completion time in us).
    fn run(rows: &[(Option<u32>, u64, u64, Option<u64>)]) -> Vec<CoflowRecord> {
        let mut fixture = Fixture::with_flows(rows.len() as u32);
        for (place, &(coflow, start, bytes, fct)) in rows.iter().enumerate() {
            let coflow = coflow.and_then(CoflowId::new);
            fixture.scenario.flows.edit(place, |flow| {
                (flow.coflow, flow.start, flow.size) = (coflow, Time(start * US), Some(bytes));
            });
            fixture.outcome.flows.edit(place, |flow| flow.fct = fct.map(|us| Span(us * US)));
            fixture.measured[place] = start >= 10;
        }
        coflows(&fixture.source(), &fixture.outcome)
    }

    /// Coflow 0 has two flows at 10 us, which end at 15 and 30: 20 us. Coflow 1 has one at 20 us and another that waited
    /// until 40 and ends at 70: 50 us. Coflow 2 begins before what is measured, coflow 3 does not end.
    const ROWS: [(Option<u32>, u64, u64, Option<u64>); 9] = [
        (Some(2), 9, 100, Some(5)),
        (Some(0), 10, 400, Some(5)),
        (Some(2), 10, 100, Some(500)),
        (Some(0), 10, 600, Some(20)),
        (None, 10, 1, Some(900)),
        (Some(1), 20, 4_000, Some(10)),
        (Some(3), 30, 7_000, None),
        (Some(3), 30, 7_000, Some(1)),
        (Some(1), 40, 5_000, Some(30)),
    ];

    #[test]
    fn a_coflow_lasts_from_its_first_start_to_its_last_finish() {
        let all = run(&ROWS);
        let of =
            |c: &CoflowRecord| (c.coflow.number(), c.flows, c.bytes, c.cct.map(|cct| cct.0 / US), c.measured);
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            [
                (0, 2, Some(1_000), Some(20), true),
                (1, 2, Some(9_000), Some(50), true),
                (2, 2, Some(200), Some(501), false),
                (3, 2, Some(14_000), None, true),
            ]
        );
        let small = SizeClass { name: "small".into(), upper: Bound::Included(1_000), ..SizeClass::all() };
        let sums = summarize(&all, &[small]);
        let CoflowSummary { coflows, unfinished, mean_cct_s, p50_cct_s, p99_cct_s, .. } = sums[ALL];
        // The mean of 20 and 50 us; the first and the second of two.
        assert_eq!((coflows, unfinished, mean_cct_s), (3, 1, Some(35e-6)));
        assert_eq!((p50_cct_s, p99_cct_s), (Some(20e-6), Some(50e-6)));
        assert_eq!((sums["small"].coflows, sums["small"].mean_cct_s), (1, Some(20e-6)));
        assert!(summarize(&run(&[(None, 10, 1, Some(1))]), &[]).is_empty());
    }

    #[test]
    fn speed_up_is_the_mean_of_the_ratios_of_coflows_that_end_in_both() {
        let mut slow = ROWS;
        // Coflow 0 takes 60 us instead of 20, coflow 1 still 50, coflow 3 ends: ratios 3 and 1.
        slow[3].3 = Some(60);
        slow[6].3 = Some(1);
        let (fast, slow) = (run(&ROWS), run(&slow));
        assert_eq!(speed_up(&fast, &slow, &SizeClass::all()), Some(2.0));
        assert_eq!(speed_up(&slow, &fast, &SizeClass::all()), Some((1.0 / 3.0 + 1.0) / 2.0));
        let huge = SizeClass { lower: Bound::Included(10_000), ..SizeClass::all() };
        assert_eq!(speed_up(&fast, &slow, &huge), None);
    }
}
