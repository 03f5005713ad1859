//! Metrics of admission probabilities, and warnings about the admission of a run.

use super::interval::half_width;
use super::metric::{Bins, Context, Metric, Missing, Need, SHARE, Scope, Unit};
use priolane_results::admission::{AdmissionRecord, ENOUGH, Keys, Settling, Term, Transition};

const OF_KEYS: Metric =
    Metric { scope: Scope::All("the metric covers all probabilities together"), ..Metric::OF_FLOWS };

/// Admission probabilities.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "p_settling",
        meaning: "Round trips until the median probability stays within 0.2 of its last value",
        eval: |c| settling(c, |s| s.p50_rtts),
        ..OF_KEYS
    },
    Metric {
        name: "p_settling_updates",
        meaning: "Updates until the median probability stays within 0.2 of its last value",
        eval: |c| settling(c, |s| s.p50_updates as f64),
        ..OF_KEYS
    },
    Metric {
        name: "p_settled",
        meaning: "Part of the probabilities that stay within that band in their last tenth",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| settling(c, |s| s.settled as f64 / s.keys as f64),
        ..OF_KEYS
    },
    // Minimum and median number of updates, and maximum difference between the final probability and that about half of
    // its updates earlier.
    Metric {
        name: "p_updates",
        meaning: "Fewest updates of a probability",
        eval: |c| keys(c, |k| k.fewest_updates as f64),
        ..OF_KEYS
    },
    Metric {
        name: "p_updates_p50",
        meaning: "Median number of updates of a probability",
        eval: |c| keys(c, |k| k.median_updates as f64),
        ..OF_KEYS
    },
    Metric {
        name: "p_drift",
        meaning: "Largest change of a probability since about half of its updates",
        eval: |c| keys(c, |k| k.largest_drift),
        ..OF_KEYS
    },
    Metric {
        name: "p_admit",
        meaning: "Mean admission probability of flows that ask for the class",
        scope: Scope::Asked,
        needs: &[Need::Probabilities],
        eval: |c| probabilities(c).and_then(|bins| bins.values.last().copied()?).ok_or(NONE),
        over_time: Some(|c| probabilities(c).ok_or(Missing::OverTime)),
        ..Metric::OF_FLOWS
    },
];

const NONE: Missing = Missing::Seed("no probability");

fn settling(context: &Context, value: fn(&Settling) -> f64) -> Result<f64, Missing> {
    let settling = context.record.admission.as_ref().and_then(|admission| admission.settling.as_ref());
    settling.map(value).ok_or(NONE)
}

fn keys(context: &Context, value: fn(&Keys) -> f64) -> Result<f64, Missing> {
    let keys = context.record.admission.as_ref().map(|admission| &admission.keys);
    keys.filter(|keys| keys.count > 0).map(value).ok_or(NONE)
}

/// Returns the mean probability by bin, for flows that request the class of the size class.
fn probabilities(context: &Context) -> Option<Bins> {
    let asked = context.size_class()?.asked?;
    let over_time = context.record.admission.as_ref()?.over_time.as_ref()?;
    let own = over_time.classes.iter().find(|own| own.class == asked)?;
    Some(Bins { every: over_time.every_s, values: own.mean_p.iter().copied().map(Some).collect() })
}

/// A term dominates if its median exceeds this multiple of the sum of the others.
const DWARFS: f64 = 100.0;

/// Maximum half-width of the confidence interval of the highest class's miss rate.
const SHARP: f64 = 0.02;

/// Returns warnings about the run's admission.
pub fn warnings(record: &AdmissionRecord) -> Vec<String> {
    let all: f64 = record.terms.iter().map(|term| term.p50).sum();
    let ruling = record.terms.iter().filter(|term| term.p50 > DWARFS * (all - term.p50));
    let dwarfs = |term: &Term| {
        format!(
            "admission: the median of the {} term of the utility is {:.3}, more than {DWARFS} times the sum \
             of the others, so it alone determines the probabilities (docs/admission.md#terms)",
            term.name, term.p50
        )
    };
    let mut all: Vec<String> = ruling.map(dwarfs).collect();
    let Keys { count, with_200_updates, median_updates, .. } = record.keys;
    if with_200_updates < count {
        all.push(format!(
            "admission: {} of {count} probabilities had fewer than {ENOUGH} updates (median \
             {median_updates}): they may not have converged",
            count - with_200_updates
        ));
    }
    all.extend(blunt(record));
    all
}

/// Warns if too few flows of the highest requested class had deadlines for a precise miss rate.
fn blunt(record: &AdmissionRecord) -> Option<String> {
    let with_deadline = |row: &&Transition| row.deadlines_met + row.deadlines_missed > 0;
    let class = record.transitions.iter().filter(with_deadline).map(|row| row.asked).min()?;
    let of_class = || record.transitions.iter().filter(|row| row.asked == class);
    let missed: u64 = of_class().map(|row| row.deadlines_missed).sum();
    let met: u64 = of_class().map(|row| row.deadlines_met).sum();
    let half = half_width(missed, met).filter(|&half| half > SHARP)?;
    Some(format!(
        "admission: {} deadlines of class {class} give the miss rate only within ±{:.1} points, above \
         ±{:.0}: use a longer run",
        missed + met,
        half * 100.0,
        SHARP * 100.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(name: &str, p50: f64) -> Term {
        Term { name: name.to_owned(), p50, p95: p50, p99: p50 }
    }

    #[test]
    fn a_term_that_dwarfs_the_others_and_keys_with_few_updates_are_warned_of() {
        let mut record = AdmissionRecord {
            terms: vec![term("loss", 0.0), term("rate", 1.0), term("slack", 99.0)],
            ..Default::default()
        };
        assert_eq!(warnings(&record), Vec::<String>::new());
        record.terms[2].p50 = 101.0;
        assert!(warnings(&record)[0].contains("slack term of the utility"));
        record.keys = Keys { count: 3, with_200_updates: 1, median_updates: 7, ..Keys::default() };
        assert!(warnings(&record)[1].contains("2 of 3") && warnings(&record).len() == 2);
    }

    #[test]
    fn a_miss_rate_of_the_highest_class_that_is_known_badly_is_warned_of() {
        let row = |(asked, given), (deadlines_met, deadlines_missed)| Transition {
            asked,
            given,
            flows: 1_000_000,
            deadlines_met,
            deadlines_missed,
            ..Transition::default()
        };
        let of = |rows: &[Transition]| {
            warnings(&AdmissionRecord { transitions: rows.to_vec(), ..Default::default() })
        };
        // With half of n missed, 1.96 sqrt(0.25 / n) is 0.0196 for n = 2500 and 0.0219 for n = 2000.
        let enough = [row((0, 0), (1250, 250)), row((0, 1), (0, 1000)), row((1, 1), (1, 1))];
        assert_eq!(of(&enough), Vec::<String>::new());
        let few = [row((0, 0), (1000, 250)), row((0, 1), (0, 750)), row((1, 1), (9000, 1))];
        let shown = of(&few);
        assert!(shown.len() == 1 && shown[0].contains("2000 deadlines of class 0"), "{shown:?}");
        assert!(shown[0].contains("±2.2 points"), "{shown:?}");
        // No flow of class 0 has a deadline, so class 1 is the highest with deadlines.
        assert_eq!(of(&[row((0, 0), (0, 0)), row((1, 1), (9000, 9000))]), Vec::<String>::new());
    }
}
