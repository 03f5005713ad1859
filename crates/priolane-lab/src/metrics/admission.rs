//! What to check before trusting what admission did in a run.

use super::interval::half_width;
use crate::results::admission::{AdmissionRecord, ENOUGH, Keys, Term, Transition};

/// A term whose median is so many times those of the others together rules alone.
const DWARFS: f64 = 100.0;

/// Half of an interval of the highest class's miss rate that says enough.
const SHARP: f64 = 0.02;

/// What to check before trusting it.
pub fn warnings(record: &AdmissionRecord) -> Vec<String> {
    let all: f64 = record.terms.iter().map(|term| term.p50).sum();
    let ruling = record.terms.iter().filter(|term| term.p50 > DWARFS * (all - term.p50));
    let dwarfs = |term: &Term| {
        format!(
            "admission: the median of the utility's term of {} is {:.3}, more than {DWARFS} times the others \
             together: it alone decides (docs/admission.md#terms)",
            term.name, term.p50
        )
    };
    let mut all: Vec<String> = ruling.map(dwarfs).collect();
    let Keys { count, with_200_updates, median_updates, .. } = record.keys;
    if with_200_updates < count {
        all.push(format!(
            "admission: {} of {count} probabilities had fewer than {ENOUGH} updates (median {median_updates}): they \
             may not have settled",
            count - with_200_updates
        ));
    }
    all.extend(blunt(record));
    all
}

/// Whether too few flows of the highest class that anybody asks for had a deadline to say how many miss it.
fn blunt(record: &AdmissionRecord) -> Option<String> {
    let judged = |row: &&Transition| row.deadlines_met + row.deadlines_missed > 0;
    let class = record.transitions.iter().filter(judged).map(|row| row.asked).min()?;
    let of_class = || record.transitions.iter().filter(|row| row.asked == class);
    let missed: u64 = of_class().map(|row| row.deadlines_missed).sum();
    let met: u64 = of_class().map(|row| row.deadlines_met).sum();
    let half = half_width(missed, met).filter(|&half| half > SHARP)?;
    Some(format!(
        "admission: {} deadlines of class {class} say how many are missed to {:.1} points only, above {:.0}: a longer run \
         says more",
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
        assert!(warnings(&record)[0].contains("term of slack"));
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
        // Half of n are missed: 1.96 sqrt(0.25 / n) is .0196 for n = 2500 and .0219 for n = 2000.
        let enough = [row((0, 0), (1250, 250)), row((0, 1), (0, 1000)), row((1, 1), (1, 1))];
        assert_eq!(of(&enough), Vec::<String>::new());
        let few = [row((0, 0), (1000, 250)), row((0, 1), (0, 750)), row((1, 1), (9000, 1))];
        let told = of(&few);
        assert!(told.len() == 1 && told[0].contains("2000 deadlines of class 0"), "{told:?}");
        assert!(told[0].contains("to 2.2 points"), "{told:?}");
        // Nobody in class 0 has a deadline: class 1 is the highest that has.
        assert_eq!(of(&[row((0, 0), (0, 0)), row((1, 1), (9000, 9000))]), Vec::<String>::new());
    }
}
