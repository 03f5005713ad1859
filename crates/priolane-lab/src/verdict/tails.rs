//! Completion times that are those of retransmission timeouts, and not of what a scheme does.

use std::collections::BTreeMap;

use priolane_core::quantity;
use priolane_results::record::RunRecord;
use priolane_results::summary::Summary;

use super::checks::range;
use super::flags::{MOST_OF_SUM, MOST_OF_TAIL, Pooled};
use crate::metrics::ALL;

/// Returns a warning for each scheme and class whose mean or 99th percentile timeouts determine, over all runs
/// together; for `all`, only where no other class of the scheme has one.
pub(super) fn warnings(records: &[&RunRecord]) -> Vec<String> {
    let mut schemes: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        schemes.entry(&record.scheme).or_default().push(record);
    }
    let of_scheme = |runs: Vec<&RunRecord>| {
        let mut classes: Vec<&str> =
            runs.iter().flat_map(|run| run.summary.keys().map(String::as_str)).collect();
        classes.sort_unstable();
        classes.dedup();
        let warned = |class: &&str| Some((*class == ALL, warning(&runs, class)?));
        let found: Vec<(bool, String)> = classes.iter().filter_map(warned).collect();
        let named = found.iter().any(|(is_all, _)| !is_all);
        found.into_iter().filter(|(is_all, _)| !(*is_all && named)).map(|(_, text)| text).collect::<Vec<_>>()
    };
    schemes.into_values().flat_map(of_scheme).collect()
}

/// Returns the warning about a class of the runs of one scheme.
fn warning(runs: &[&RunRecord], class: &str) -> Option<String> {
    let summaries: Vec<&Summary> = runs.iter().filter_map(|run| run.summary.get(class)).collect();
    let pooled = Pooled::of(&summaries);
    let mean = pooled.of_sum > MOST_OF_SUM;
    let tail = pooled.of_tail >= MOST_OF_TAIL;
    let shown = match (mean, tail) {
        (true, true) => "mean and 99th percentile of its FCT show",
        (true, false) => "the mean of its FCT shows",
        (false, true) => "the 99th percentile of its FCT shows",
        (false, false) => return None,
    };
    let timed_out: f64 = summaries.iter().map(|s| s.timed_out.unwrap_or_default() * s.flows as f64).sum();
    let part = rounded(100.0 * timed_out / pooled.flows.max(1) as f64);
    let waited = range(summaries.iter().filter_map(|s| s.timed_out_p50_fct_s));
    let waited =
        waited.map(|(low, high)| format!("; their median FCT is {}", ms(low, high))).unwrap_or_default();
    let lossless = runs.iter().all(|run| lost_data(run) == Some(0));
    let without_loss = if lossless {
        "; no packet was lost, so what waited longer than the timeout was only late"
    } else {
        ""
    };
    Some(format!(
        "`{}`, class `{class}`: {part} % of the flows timed out and hold {} % of the sum of completion times{waited}; \
         {shown} {} more than the scheme{without_loss}",
        runs[0].scheme,
        rounded(100.0 * pooled.of_sum),
        timer(runs[0], &summaries),
    ))
}

fn ms(low: f64, high: f64) -> String {
    let (low, high) = (rounded(1e3 * low), rounded(1e3 * high));
    if low == high { format!("{low} ms") } else { format!("{low} to {high} ms") }
}

/// Returns the keys whose timers ran out, each with its value; both with their counts if there are timeouts of both. A
/// timeout before the first sample of the round-trip time waited for `initial_rto`, and any other for `min_rto` at least.
fn timer(record: &RunRecord, summaries: &[&Summary]) -> String {
    let named = |key| {
        let text = stated(record, key)?;
        Some((format!("`host.{key}`"), text, read(text)?))
    };
    let (Some(initial), Some(least)) = (named("initial_rto"), named("min_rto")) else {
        return "the retransmission timeout".to_owned();
    };
    let key = |(name, text, _): &(String, &str, f64)| format!("{name} ({text})");
    // `min_rto` is the floor of both.
    if initial.2 <= least.2 {
        return key(&least);
    }
    let sum = |count: fn(&Summary) -> Option<u64>| summaries.iter().map(|s| count(s)).sum::<Option<u64>>();
    match sum(|s| s.initial_timeouts).zip(sum(|s| s.timeouts)) {
        None => format!("{} or {}", key(&initial), key(&least)),
        Some((0, _)) => key(&least),
        Some((first, all)) if first == all => key(&initial),
        Some((first, all)) => format!(
            "{} in {first} and {} in {} of {all} timeouts",
            key(&initial),
            key(&least),
            all.saturating_sub(first)
        ),
    }
}

/// Returns a key of the transport of the run's scheme, as it is stated.
fn stated<'a>(record: &'a RunRecord, key: &str) -> Option<&'a str> {
    record.merged.get("scheme")?.get(&record.scheme)?.get("transport")?.get(key)?.as_str()
}

/// Reads a time, in seconds.
fn read(text: &str) -> Option<f64> {
    quantity::span(text).ok().map(|span| span.as_secs_f64())
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

    /// A class of a run: 1,000 flows that take 1 ms, or `late` if they timed out, with these parts of flows that timed
    /// out, of the sum of completion times, and of the tail; timeouts before and after the first sample.
    struct Class {
        name: &'static str,
        timed_out: f64,
        of_sum: f64,
        tail: f64,
        late: f64,
        timeouts: Option<[u64; 2]>,
    }

    fn record(classes: &[Class], drops: u64) -> RunRecord {
        let summary = |class: &Class| {
            let summary = Summary {
                flows: 1_000,
                mean_fct_s: Some(0.001),
                p50_fct_s: Some(0.001),
                timed_out: Some(class.timed_out),
                timed_out_fct_share: Some(class.of_sum),
                timed_out_p50_fct_s: Some(class.late),
                tail_timed_out: Some(class.tail),
                timeouts: class.timeouts.map(|[first, later]| first + later),
                initial_timeouts: class.timeouts.map(|[first, _]| first),
                ..Summary::default()
            };
            (class.name.to_owned(), summary)
        };
        RunRecord {
            run: "0123456789abcdef".to_owned(),
            version: String::new(),
            title: String::new(),
            scheme: "pias".to_owned(),
            point: BTreeMap::new(),
            seed: 1,
            merged: json!({ "scheme": { "pias": { "transport": { "min_rto": "1ms", "initial_rto": "10ms" } } } }),
            digest: String::new(),
            stopped_at_ps: 0,
            counters: Counters { drops: Some(drops), timeouts: 1, ..Counters::default() },
            load: LoadRecord::default(),
            findings: Vec::new(),
            warnings: Vec::new(),
            priorities: Vec::new(),
            admission: None,
            ledger: Vec::new(),
            steady: BTreeMap::new(),
            summary: classes.iter().map(summary).collect(),
            coflows: BTreeMap::new(),
            jobs: BTreeMap::new(),
            rates: None,
            effective: None,
            order: None,
            ports: BTreeMap::new(),
            storms: Vec::new(),
            received: ReceivedRecord::default(),
            tokens: None,
            measured: None,
            files: Vec::new(),
        }
    }

    const SMALL: Class = Class {
        name: "small",
        timed_out: 0.05,
        of_sum: 0.75,
        tail: 1.0,
        late: 0.0101,
        timeouts: Some([50, 0]),
    };
    const LARGE: Class = Class {
        name: "large",
        timed_out: 0.5,
        of_sum: 0.4,
        tail: 0.6,
        late: 0.09,
        timeouts: Some([100, 500]),
    };
    const ALL_FLOWS: Class =
        Class { name: "all", timed_out: 0.1, of_sum: 0.3, tail: 0.6, late: 0.02, timeouts: Some([150, 500]) };

    #[test]
    fn each_class_is_named_with_the_timers_that_ran_out() {
        let some = record(&[ALL_FLOWS, SMALL, LARGE], 7);
        let more =
            record(&[ALL_FLOWS, Class { timed_out: 0.03, of_sum: 0.25, late: 0.0104, ..SMALL }, LARGE], 9);
        assert_eq!(
            warnings(&[&some, &more]),
            [
                "`pias`, class `large`: 50 % of the flows timed out and hold 40 % of the sum of completion times; their \
                 median FCT is 90 ms; mean and 99th percentile of its FCT show `host.initial_rto` (10ms) in \
                 200 and `host.min_rto` (1ms) in 1000 of 1200 timeouts more than the scheme",
                "`pias`, class `small`: 4 % of the flows timed out and hold 50 % of the sum of completion times; their \
                 median FCT is 10.1 to 10.4 ms; mean and 99th percentile of its FCT show `host.initial_rto` (10ms) more \
                 than the scheme",
            ]
        );
    }

    #[test]
    fn a_mean_is_named_without_its_tail_and_a_timer_of_min_rto_by_its_name() {
        // The flows took as long as one `initial_rto`, and all of their timeouts followed a sample.
        let mean = Class { of_sum: 0.11, tail: 0.4, timeouts: Some([0, 50]), ..SMALL };
        let [text] = &warnings(&[&record(&[mean], 7)])[..] else { panic!("one class") };
        assert!(text.contains("the mean of its FCT shows `host.min_rto` (1ms) more"), "{text}");
        let neither = Class { of_sum: 0.09, tail: 0.4, ..SMALL };
        assert_eq!(warnings(&[&record(&[neither], 7)]), Vec::<String>::new());
    }

    #[test]
    fn both_timers_are_named_where_nobody_counted() {
        let texts = warnings(&[&record(&[Class { timeouts: None, ..SMALL }], 7)]);
        assert!(
            texts[0].contains("show `host.initial_rto` (10ms) or `host.min_rto` (1ms) more"),
            "{texts:?}"
        );
    }

    #[test]
    fn runs_are_pooled_so_that_one_of_several_is_no_warning() {
        let calm = || record(&[Class { timed_out: 0.0, of_sum: 0.0, tail: 0.0, ..SMALL }], 7);
        let runs: Vec<RunRecord> = (0..9).map(|_| calm()).chain([record(&[SMALL], 7)]).collect();
        assert_eq!(warnings(&runs.iter().collect::<Vec<_>>()), Vec::<String>::new());
    }

    #[test]
    fn all_flows_are_named_where_no_class_is() {
        let texts = warnings(&[&record(&[ALL_FLOWS], 7)]);
        assert!(texts.len() == 1 && texts[0].contains("class `all`: 10 % of the flows"), "{texts:?}");
    }

    #[test]
    fn timeouts_without_loss_are_named_as_such() {
        let texts = warnings(&[&record(&[ALL_FLOWS], 0)]);
        assert!(texts[0].contains("no packet was lost"), "{texts:?}");
        // What nobody counted is not known to be none.
        let mut unknown = record(&[ALL_FLOWS], 0);
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
