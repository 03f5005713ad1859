use priolane_core::ids::HostId;
use priolane_core::price::Cos;
use priolane_core::units::{Span, Time};

use super::*;
use priolane_results::flows::met_deadline;
use priolane_testkit::made_up::MadeUp;

mod bounds;
mod named;
mod over_time;
mod recounted;

#[test]
fn percentile_is_the_ceil_pn_over_100_th_smallest() {
    let ten: Vec<u64> = (1..=10).collect();
    assert_eq!(percentile(&ten, PerMille(500)), Some(5)); // ceil(5.0) = 5th
    assert_eq!(percentile(&ten, PerMille(950)), Some(10)); // ceil(9.5) = 10th
    assert_eq!(percentile(&ten, PerMille(901)), Some(10)); // ceil(9.01) = 10th
    assert_eq!(percentile(&ten, PerMille(900)), Some(9)); // ceil(9.0) = 9th
    let thousand: Vec<u64> = (1..=1000).collect();
    assert_eq!(percentile(&thousand, PerMille(999)), Some(999));
    assert_eq!(percentile(&[42], PerMille(1)), Some(42));
    assert_eq!(percentile::<u64>(&[], PerMille(500)), None);
}

const ANY: Payer = Payer { group: "all", cos: Cos::BestEffort };

#[test]
fn size_classes_include_exactly_the_ends_they_name() {
    let below = SizeClass { below: Some(100_000), ..SizeClass::all() };
    assert!(below.contains(Some(99_999), ANY) && !below.contains(Some(100_000), ANY));
    let above = SizeClass { above: Some(10_000_000), ..SizeClass::all() };
    assert!(above.contains(Some(10_000_001), ANY) && !above.contains(Some(10_000_000), ANY));
    let between = SizeClass { from: Some(100_000), to: Some(10_000_000), ..SizeClass::all() };
    assert!(between.contains(Some(100_000), ANY) && between.contains(Some(10_000_000), ANY));
    assert!(!between.contains(Some(99_999), ANY) && !between.contains(Some(10_000_001), ANY));
}

#[test]
fn summary_by_hand_leaves_unfinished_and_unmeasured_flows_out() {
    // Completion times 1, 2, 3 s of measured flows; one measured flow is unfinished, one of 100 s is not measured.
    let mut fixture = MadeUp::with_flows(5);
    for (flow, seconds) in [(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, None), (4, Some(100))] {
        fixture.outcome.flows.edit(flow, |flow| flow.fct = seconds.map(|s| Span(s * 1_000_000_000_000)));
        fixture.bare_fct[flow] = Span(500_000_000_000);
        fixture.scenario.flows.edit(flow, |flow| flow.size = Some(1000));
    }
    fixture.measured[4] = false;
    let small = SizeClass { name: "small".into(), below: Some(1000), ..SizeClass::all() };
    let summaries = summarize(&fixture.source(), &fixture.outcome, &[small]).by_class;
    let all = &summaries[ALL];
    assert_eq!((all.flows, all.unfinished), (4, 1));
    assert_eq!((all.mean_fct_s, all.p50_fct_s, all.p99_fct_s), (Some(2.0), Some(2.0), Some(3.0)));
    // Population variance ((-1)^2 + 0 + 1^2) / 3 = 2/3.
    assert!((all.std_fct_s.unwrap() - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert!((all.cv.unwrap() - (2.0_f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
    // Slowdowns 2, 4, 6.
    assert_eq!((all.mean_slowdown, all.p50_slowdown), (Some(4.0), Some(4.0)));
    assert_eq!((summaries["small"].flows, summaries["small"].mean_fct_s), (0, None));
}

#[test]
fn goodput_and_timeouts_by_hand() {
    // Flows of 1000 B take 1, 2, 3 s, a fourth does not finish: 3 x 8000 bit in 6 s. The third gave up 400 B.
    let mut fixture = MadeUp::with_flows(4);
    for (flow, seconds, timeouts) in [(0, Some(1), 0), (1, Some(2), 2), (2, Some(3), 1), (3, None, 5)] {
        fixture.outcome.flows.edit(flow, |flow| {
            flow.fct = seconds.map(|s| Span(s * 1_000_000_000_000));
            (flow.timeouts, flow.missing) = (timeouts, 0);
        });
        fixture.scenario.flows.edit(flow, |flow| flow.size = Some(1000));
    }
    let all = |fixture: &MadeUp| summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL];
    let whole = all(&fixture);
    assert_eq!(whole.goodput_bps, Some(4000.0));
    assert_eq!((whole.timeouts, whole.timed_out), (Some(8), Some(0.75)));
    // The 99th percentile of three is the third, which had a timeout.
    assert_eq!(whole.tail_timed_out, Some(1.0));
    assert_eq!(whole.timed_out_fct_share, Some(5.0 / 6.0));
    // A spurious timeout delays nothing.
    fixture.outcome.flows.edit(2, |flow| flow.spurious = 1);
    let spurious = all(&fixture);
    assert_eq!((spurious.timed_out, spurious.tail_timed_out), (Some(0.75), Some(0.0)));
    assert_eq!(spurious.timed_out_fct_share, Some(2.0 / 6.0));
    fixture.outcome.flows.edit(2, |flow| (flow.timeouts, flow.spurious, flow.missing) = (0, 0, 400));
    let given_up = all(&fixture);
    assert_eq!((given_up.goodput_bps, given_up.tail_timed_out), (Some(2600.0 * 8.0 / 6.0), Some(0.0)));
    fixture.outcome.flows.edit_all(|flow| flow.fct = None);
    let none = all(&fixture);
    assert_eq!((none.goodput_bps, none.tail_timed_out, none.timed_out), (None, None, Some(0.5)));
}

/// Flows of 1000 B start at 2 to 5 s and end after 1, 4, 2, and 1 s: the first at 2 s, the last at 7, 32,000 bit.
#[test]
fn the_rate_of_delivery_is_from_the_first_start_to_the_last_end() {
    let mut fixture = MadeUp::with_flows(4);
    let second = 1_000_000_000_000;
    for (flow, seconds) in [(0, 1), (1, 4), (2, 2), (3, 1)] {
        fixture.outcome.flows.edit(flow, |flow| (flow.fct, flow.missing) = (Some(Span(seconds * second)), 0));
        let start = Time((2 + flow as u64) * second);
        fixture.scenario.flows.edit(flow, |flow| (flow.size, flow.start) = (Some(1000), start));
    }
    let rate =
        |fixture: &MadeUp| summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL].delivery_bps;
    assert_eq!(rate(&fixture), Some(6400.0));
    fixture.outcome.flows.edit(2, |flow| flow.missing = 500);
    assert_eq!(rate(&fixture), Some(5600.0));
    // Without the end of a flow there is no last one.
    fixture.outcome.flows.edit(2, |flow| flow.fct = None);
    assert_eq!(rate(&fixture), None);
}

#[test]
fn where_no_class_is_stated_flows_are_summed_up_by_the_usual_ones() {
    let mut fixture = MadeUp::with_flows(4);
    for (flow, size) in [(0, 1), (1, 100_000), (2, 1_000_000), (3, 1_000_001)] {
        fixture.scenario.flows.edit(flow, |flow| flow.size = Some(size));
    }
    let flows = |classes: &[SizeClass]| -> Vec<(String, u64)> {
        let summaries = summarize(&fixture.source(), &fixture.outcome, classes).by_class;
        summaries.into_iter().map(|(name, summary)| (name, summary.flows)).collect()
    };
    assert_eq!(flows(&[]), [("all".to_owned(), 4), ("large".to_owned(), 1), ("small".to_owned(), 2)]);
    let stated = SizeClass { name: "mice".into(), below: Some(2), ..SizeClass::all() };
    assert_eq!(flows(&[stated]), [("all".to_owned(), 4), ("mice".to_owned(), 1)]);
    let written = serde_json::to_value(usual_classes()).unwrap();
    assert_eq!(written, serde_json::json!({ "small": { "to": "100kB" }, "large": { "above": "1MB" } }));
}

#[test]
fn endless_flows_are_in_no_class() {
    let mut fixture = MadeUp::with_flows(2);
    fixture.scenario.flows.edit(1, |flow| flow.size = None);
    fixture.outcome.flows.edit(1, |flow| flow.fct = None);
    let all = summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL];
    assert_eq!((all.flows, all.unfinished), (1, 0));
}

#[test]
fn jain_of_deadlines_compares_what_sources_meet() {
    // Host 0 meets 2 of 2, host 1 meets 1 of 2, host 2 meets 0 of 1, host 3 has no deadline: x = 1, 1/2, 0.
    let mut fixture = MadeUp::with_flows(6);
    fixture.outcome.stopped_at = Time(1000);
    let cases = [(0, Some(10)), (0, Some(20)), (1, Some(30)), (1, Some(900)), (2, None), (3, None)];
    for (flow, (src, fct)) in cases.into_iter().enumerate() {
        fixture.scenario.flows.edit(flow, |flow| {
            (flow.src, flow.start, flow.deadline) = (HostId(src), Time(0), Some(Time(100)));
        });
        fixture.outcome.flows.edit(flow, |flow| flow.fct = fct.map(Span));
    }
    fixture.scenario.flows.edit(5, |flow| flow.deadline = None);
    let jain =
        |fixture: &MadeUp| summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL].deadline_jain;
    // 1.5^2 / (3 (1 + 1/4)) = 0.6.
    assert!((jain(&fixture).unwrap() - 0.6).abs() < 1e-12);
    fixture.outcome.flows.edit_all(|flow| {
        flow.fct = None;
    });
    assert_eq!(jain(&fixture), None);
}

#[test]
fn deadlines_are_met_missed_or_censored() {
    let mut fixture = MadeUp::with_flows(5);
    fixture.outcome.stopped_at = Time(1000);
    let cases = [(500, Some(400)), (500, Some(401)), (900, None), (1001, None)];
    for (flow, (deadline, fct)) in cases.into_iter().enumerate() {
        fixture.scenario.flows.edit(flow, |flow| flow.start = Time(100));
        fixture.scenario.flows.edit(flow, |flow| flow.deadline = Some(Time(deadline)));
        fixture.outcome.flows.edit(flow, |flow| flow.fct = fct.map(Span));
    }
    fixture.scenario.flows.edit(4, |flow| flow.deadline = None);
    let verdict = |i: usize| {
        met_deadline(&fixture.scenario.flows.at(i), &fixture.outcome.flows.at(i), fixture.outcome.stopped_at)
    };
    assert_eq!([0, 1, 2, 3, 4].map(verdict), [Some(true), Some(false), Some(false), None, None]);
    let all = summarize(&fixture.source(), &fixture.outcome, &[]).by_class[ALL];
    assert_eq!((all.deadlines_met, all.deadlines_missed, all.deadlines_censored), (1, 2, 1));
    assert_eq!(all.deadline_miss_rate, Some(2.0 / 3.0));
}

#[test]
fn means_of_bins_are_over_the_runs_that_have_a_value() {
    let bins = |values: &[Option<f64>]| metric::Bins { every: 1e-3, values: values.to_vec() };
    let runs = [bins(&[Some(1.0), None, None]), bins(&[Some(2.0), Some(4.0), None, Some(5.0)])];
    assert_eq!(metric::Bins::mean(&runs), Some(bins(&[Some(1.5), Some(4.0), None, Some(5.0)])));
    assert_eq!(metric::Bins::mean(&[]), None);
}
