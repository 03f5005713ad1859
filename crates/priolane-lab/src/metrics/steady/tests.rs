//! Means by Little's law against an integral over the flows in the system, and against a steady state by hand.

use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;
use priolane_sim::scenario::ScheduledControl;
use priolane_testkit::made_up::MadeUp;

use super::*;

/// A second, in picoseconds.
const S: u64 = 1_000_000_000_000;

/// A flow in whole seconds.
#[derive(Clone, Copy, Debug)]
struct Flow {
    start: u64,
    /// Completion time; `None` if it does not complete.
    fct: Option<u64>,
    bytes: u64,
    attained: u64,
    /// Completion time of the whole flow alone.
    alone: u64,
}

fn made_up(flows: &[Flow], stopped_at: u64, (from, until): (u64, u64)) -> MadeUp {
    let mut fixture = MadeUp::with_flows(flows.len() as u32);
    fixture.outcome.stopped_at = Time(stopped_at * S);
    for (place, own) in flows.iter().enumerate() {
        fixture.scenario.flows.edit(place, |flow| {
            (flow.start, flow.size, flow.attained) = (Time(own.start * S), Some(own.bytes), own.attained);
        });
        fixture.outcome.flows.edit(place, |flow| flow.fct = own.fct.map(|fct| Span(fct * S)));
        // That of what is left: half, for a flow under way.
        let half = if own.attained > 0 { 2 } else { 1 };
        fixture.bare_fct[place] = Span(own.alone * S / half);
        fixture.measured[place] = (from..until).contains(&own.start);
    }
    fixture
}

fn summaries(flows: &[Flow], stopped_at: u64, (from, until): (u64, u64)) -> BTreeMap<String, SteadySummary> {
    let fixture = made_up(flows, stopped_at, (from, until));
    let under_way: Vec<Span> =
        flows.iter().filter(|flow| flow.attained > 0).map(|flow| Span(flow.alone * S)).collect();
    let source = Source {
        under_way: &under_way,
        window: Some((Time(from * S), Time(until * S))),
        arrivals_continue: true,
        ..fixture.source()
    };
    let large = SizeClass { name: "large".into(), above: Some(1_000), ..SizeClass::all() };
    summarize(&source, &fixture.outcome, &[SizeClass::all(), large])
}

fn near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1.0),
        (a, b) => a == b,
    }
}

/// The integral from `from` to `until` of the sum over the flows in the system of `of(flow, age)`, which is linear in the
/// age: by its value in the middle of each second.
fn integral(
    flows: &[Flow],
    stopped_at: u64,
    (from, until): (u64, u64),
    of: impl Fn(&Flow, f64) -> f64,
) -> f64 {
    let end = |flow: &Flow| flow.fct.map_or(stopped_at, |fct| flow.start + fct);
    let second = |second: u64| {
        let there = flows.iter().filter(|flow| flow.start <= second && second < end(flow));
        there.map(|flow| of(flow, (second - flow.start) as f64 + 0.5)).sum::<f64>()
    };
    (from..until).map(second).sum()
}

#[test]
fn means_are_integrals_over_the_flows_in_the_system() {
    let mut stream = Stream::new(5, Purpose::Ties, 0);
    for _ in 0..rounds(200, 4_000) {
        let mut draw = |below: u64| stream.below(below);
        let (from, length) = (1 + draw(50), 4 * (1 + draw(20)));
        let (until, stopped_at) = (from + length, from + length + draw(60));
        let count = draw(60);
        let mut flows: Vec<Flow> = (0..count)
            .map(|_| {
                let under_way = draw(4) == 0;
                let start = if under_way { 0 } else { draw(stopped_at) };
                let fct = 1 + draw(70);
                Flow {
                    start,
                    fct: (start + fct <= stopped_at).then_some(fct),
                    bytes: 1 + draw(1_500),
                    attained: if under_way { 1 + draw(1_500) } else { 0 },
                    alone: 2 * (1 + draw(9)),
                }
            })
            .collect();
        flows.sort_by_key(|flow| flow.start);
        let found = summaries(&flows, stopped_at, (from, until));
        let large: Vec<Flow> =
            flows.iter().copied().filter(|flow| flow.bytes + flow.attained > 1_000).collect();
        for (name, flows) in [("all", &flows), ("large", &large)] {
            let inside = |(from, until): (u64, u64)| {
                flows.iter().filter(|flow| (from..until).contains(&flow.start)).count() as f64
            };
            let per = |window: (u64, u64), of: &dyn Fn(&Flow, f64) -> f64| {
                let arrivals = inside(window);
                (arrivals > 0.0).then(|| integral(flows, stopped_at, window, of) / arrivals)
            };
            let window = (from, until);
            let middle = from + length / 2;
            let mean = per(window, &|_, _| 1.0);
            let second = per(window, &|_, age| 2.0 * age);
            let std = mean.zip(second).map(|(mean, second)| (second - mean * mean).max(0.0).sqrt());
            let done: Vec<f64> = flows
                .iter()
                .filter(|flow| (from..until).contains(&flow.start))
                .filter_map(|flow| flow.fct.map(|fct| fct as f64))
                .collect();
            let direct = (!done.is_empty()).then(|| done.iter().sum::<f64>() / done.len() as f64);
            let own = found[name];
            assert_eq!(own.arrivals as f64, inside(window));
            assert!(near(own.mean_fct_s, mean), "{own:?} {mean:?}");
            assert!(near(own.std_fct_s.map(|x| x * x), std.map(|x| x * x)), "{own:?} {std:?}");
            assert!(near(own.mean_slowdown, per(window, &|flow, _| 1.0 / flow.alone as f64)), "{own:?}");
            assert!(near(own.direct_fct_s, direct), "{own:?} {direct:?}");
            let ends = flows.iter().filter_map(|flow| flow.fct.map(|fct| flow.start + fct));
            let ended = ends.filter(|end| (middle..until).contains(end)).count() as u64;
            let second_half = (own.second_half_arrivals as f64, own.second_half_completions);
            assert_eq!(second_half, (inside((middle, until)), ended));
            let quarter = length / 4;
            for (place, window) in [(from, from + quarter), (until - quarter, until)].into_iter().enumerate()
            {
                let under_way = integral(flows, stopped_at, window, |_, _| 1.0) / quarter as f64;
                assert!(near(Some(own.quarters_under_way[place]), Some(under_way)), "{own:?} {under_way}");
            }
            assert!(near(own.halves_fct_s[0], per((from, middle), &|_, _| 1.0)), "{own:?}");
            assert!(near(own.halves_fct_s[1], per((middle, until), &|_, _| 1.0)), "{own:?}");
        }
    }
}

#[test]
fn in_a_steady_state_the_law_gives_the_mean_of_completed_flows() {
    // A flow of 3 s and one of 9 s start every 6 s, from long before the window of 60 s until long after it.
    let flow = |start, fct| Flow { start, fct: Some(fct), bytes: 1, attained: 0, alone: 3 };
    let flows: Vec<Flow> = (0..40).flat_map(|n| [flow(6 * n, 3), flow(6 * n, 9)]).collect();
    let all = summaries(&flows, 300, (60, 120))["all"];
    assert_eq!((all.arrivals, all.mean_fct_s, all.mean_slowdown), (20, Some(6.0), Some(2.0)));
    assert_eq!((all.std_fct_s, all.halves_fct_s), (Some(3.0), [Some(6.0); 2]));
    assert_eq!((all.direct_fct_s, all.direct_over_little()), (Some(6.0), Some(1.0)));
}

#[test]
fn an_aborted_flow_is_under_way_until_its_abort() {
    // Of two flows in a window from 10 to 30 s, one completes after 4 s; the other is aborted at 18 s, and again later.
    let flow = |fct| Flow { start: 12, fct, bytes: 1, attained: 0, alone: 3 };
    let mut fixture = made_up(&[flow(Some(4)), flow(None)], 40, (10, 30));
    let aborted = fixture.scenario.flows.iter().nth(1).unwrap().id;
    let abort = |at: u64| ScheduledControl { at: Time(at * S), flow: aborted, control: Control::Abort };
    fixture.scenario.controls = vec![abort(18), abort(25)];
    let window = Some((Time(10 * S), Time(30 * S)));
    let source = Source { window, arrivals_continue: true, ..fixture.source() };
    let all = summarize(&source, &fixture.outcome, &[SizeClass::all()])["all"];
    // 4 s and 6 s over two arrivals; nothing is under way from 18 s on.
    assert_eq!((all.mean_fct_s, all.quarters_under_way[1]), (Some(5.0), 0.0));
}

#[test]
fn a_run_that_claims_no_steady_state_has_no_such_means() {
    let fixture = MadeUp::with_flows(3);
    assert!(summarize(&fixture.source(), &fixture.outcome, &[SizeClass::all()]).is_empty());
}
