//! Tails of completion times that are those of retransmission timeouts, and not of what a scheme does.

use priolane_results::record::RunRecord;
use priolane_results::summary::Summary;

use super::deduplicate;
use crate::metrics::ALL;

/// Least fraction of the flows from the 99th percentile on with a timeout at which timeouts determine the tail.
const MOST: f64 = 0.5;

/// What to know of 99th percentiles that timeouts make, by scheme.
pub(super) fn warnings(records: &[&RunRecord]) -> Vec<String> {
    let texts: Vec<Option<String>> = records.iter().map(|record| warning(record)).collect();
    let texts = texts.iter().enumerate().filter_map(|(run, text)| Some((run, text.as_deref()?)));
    deduplicate::merged(texts, records.len())
}

/// The same of one run: of the class whose flows had most, `all` only if no other has such a tail.
fn warning(record: &RunRecord) -> Option<String> {
    let made_by_timeouts = |summary: &Summary| summary.tail_timed_out.is_some_and(|part| part >= MOST);
    let classes = record.summary.iter().filter(|(_, summary)| made_by_timeouts(summary));
    let share = |summary: &Summary| summary.timed_out.unwrap_or_default();
    let (class, summary) = classes.max_by(|(a, x), (b, y)| {
        (*a != ALL, share(x)).partial_cmp(&(*b != ALL, share(y))).unwrap_or(std::cmp::Ordering::Equal)
    })?;
    let what = if class == ALL { "flows".to_owned() } else { format!("flows of the class `{class}`") };
    let floor = min_rto(record).map(|floor| format!(" (at least {floor})")).unwrap_or_default();
    let without_loss = if lost_data(record) == Some(0) {
        "; no packet was lost, so what waited longer than the timeout was only late"
    } else {
        ""
    };
    Some(format!(
        "`{}`: {} % of the {what} timed out, and most of those from the 99th percentile of FCT on ({} ms): it shows the \
         retransmission timeout{floor} and the buffers more than the scheme{without_loss}",
        record.scheme,
        rounded(100.0 * share(summary)),
        rounded(1e3 * summary.p99_fct_s.unwrap_or_default()),
    ))
}

/// The least retransmission timeout of the run's scheme, as it states it.
fn min_rto(record: &RunRecord) -> Option<&str> {
    record.merged.get("scheme")?.get(&record.scheme)?.get("transport")?.get("min_rto")?.as_str()
}

/// Packets of data that were dropped, trimmed, or lost on a link; `None` where nobody counted.
fn lost_data(record: &RunRecord) -> Option<u64> {
    let tokens = record.tokens.as_ref().map_or(0, |tokens| tokens.dropped + tokens.lost);
    let trimmed: u64 = record.ledger.iter().map(|row| row.trimmed.packets).sum();
    let counters = &record.counters;
    Some((counters.drops? + counters.lost + counters.unrouted).saturating_sub(tokens) + trimmed)
}

/// Three significant digits, without an exponent.
fn rounded(value: f64) -> String {
    let digits = if value > 0.0 { 2 - libm::floor(libm::log10(value)) as i32 } else { 0 };
    let text = format!("{value:.*}", usize::try_from(digits).unwrap_or_default());
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use priolane_results::record::{Counters, LoadRecord};
    use priolane_results::tokens::ReceivedRecord;
    use serde_json::json;

    use super::*;

    /// A run whose classes have these parts of flows timed out, of all flows and of those in the tail.
    fn record(parts: &[(&str, f64, f64)], drops: u64) -> RunRecord {
        let summary = |&(class, timed_out, tail): &(&str, f64, f64)| {
            let summary = Summary {
                timed_out: Some(timed_out),
                tail_timed_out: Some(tail),
                p99_fct_s: Some(0.0101),
                ..Summary::default()
            };
            (class.to_owned(), summary)
        };
        RunRecord {
            run: "0123456789abcdef".to_owned(),
            version: String::new(),
            title: String::new(),
            scheme: "pias".to_owned(),
            point: BTreeMap::new(),
            seed: 1,
            merged: json!({ "scheme": { "pias": { "transport": { "min_rto": "10ms" } } } }),
            digest: String::new(),
            stopped_at_ps: 0,
            counters: Counters { drops: Some(drops), timeouts: 1, ..Counters::default() },
            load: LoadRecord::default(),
            warnings: Vec::new(),
            priorities: Vec::new(),
            admission: None,
            ledger: Vec::new(),
            summary: parts.iter().map(summary).collect(),
            coflows: BTreeMap::new(),
            rates: None,
            effective: None,
            order: None,
            ports: BTreeMap::new(),
            received: ReceivedRecord::default(),
            tokens: None,
            measured: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn a_tail_that_timeouts_make_is_told_of_the_class_that_has_most() {
        let some = record(&[("all", 0.012, 1.0), ("small", 0.01, 0.9), ("large", 0.2, 0.4)], 7);
        let more = record(&[("all", 0.012, 1.0), ("small", 0.04, 0.5), ("large", 0.0, 0.0)], 9);
        let none = record(&[("all", 0.012, 0.4), ("small", 0.004, 0.0)], 9);
        assert_eq!(
            warnings(&[&some, &more, &none]),
            [
                "`pias`: 1 to 4 % of the flows of the class `small` timed out, and most of those from the 99th percentile \
                 of FCT on (10.1 ms): it shows the retransmission timeout (at least 10ms) and the buffers more than the \
                 scheme (2 of 3 runs)"
            ]
        );
    }

    #[test]
    fn timeouts_without_loss_are_told_as_such() {
        let texts = warnings(&[&record(&[("all", 0.02, 1.0)], 0)]);
        assert!(
            texts[0].contains("no packet was lost") && texts[0].contains("2 % of the flows timed out"),
            "{texts:?}"
        );
        // What nobody counted is not known to be none.
        let mut unknown = record(&[("all", 0.02, 1.0)], 0);
        unknown.counters.drops = None;
        assert!(!warnings(&[&unknown])[0].contains("no packet was lost"));
    }

    #[test]
    fn numbers_have_three_digits_and_no_exponent() {
        let rounded_to =
            [(10.117, "10.1"), (0.0402, "0.0402"), (100.0, "100"), (1234.5, "1234"), (0.0, "0"), (4.0, "4")];
        rounded_to.into_iter().for_each(|(value, text)| assert_eq!(rounded(value), text));
    }
}
