//! Summaries of random runs against counts over their flows that are written down here once more.

use priolane_core::endpoint::Weights;
use priolane_core::ids::CoflowId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Rate;
use priolane_results::coflows::coflows;
use priolane_results::summary::{CoflowSummary, Summary};
use priolane_rounds::rounds;

use super::*;

/// A second, in picoseconds.
const S: f64 = 1e12;

/// Sizes at and beside the bounds of the classes below.
const SIZES: [u64; 8] = [1, 999, 1_000, 1_001, 4_999, 5_000, 5_001, 70_000];

/// The properties of a flow that are drawn, in plain numbers.
#[derive(Clone, Debug)]
struct Drawn {
    src: u16,
    group: u16,
    cos: Cos,
    bytes: Option<u64>,
    start: u64,
    deadline: Option<u64>,
    fct: Option<u64>,
    acked: Option<u64>,
    bare: u64,
    denominator: u64,
    asked: u8,
    given: u8,
    timeouts: u32,
    initial: u32,
    spurious: u32,
    missing: u64,
    measured: bool,
    coflow: Option<u32>,
}

fn draw(stream: &mut Stream) -> Drawn {
    let mut one_in = |n: u64| stream.below(n) == 0;
    let (endless, unfinished, dated, lossy) = (one_in(9), one_in(4), !one_in(3), one_in(5));
    let (measured, grouped, coflow) = (!one_in(4), one_in(2), one_in(2));
    let bytes = SIZES[stream.below(SIZES.len() as u64) as usize];
    let start = stream.below(500);
    let fct = 1 + stream.below(400);
    Drawn {
        src: stream.below(2) as u16,
        group: u16::from(grouped),
        cos: [Cos::BestEffort, Cos::Differentiated, Cos::MinimumRate][stream.below(3) as usize],
        bytes: (!endless).then_some(bytes),
        start,
        // At the instant of the last byte, beside it, or far from it; some after the end of the run, at 700.
        deadline: dated.then(|| (start + fct + stream.below(3) * 150 + stream.below(3)).saturating_sub(151)),
        fct: (!unfinished && !endless).then_some(fct),
        acked: (!unfinished && !endless && stream.below(6) > 0).then_some(fct + 7),
        bare: 1 + stream.below(200),
        denominator: 1 + stream.below(90),
        asked: stream.below(3) as u8,
        given: stream.below(3) as u8,
        timeouts: stream.below(3) as u32,
        initial: stream.below(2) as u32,
        spurious: stream.below(2) as u32,
        missing: if lossy { bytes / 2 } else { 0 },
        measured,
        coflow: coflow.then(|| stream.below(4) as u32),
    }
}

const STOPPED_AT: u64 = 700;

fn made_up(flows: &[Drawn]) -> MadeUp {
    let mut fixture = MadeUp::with_flows(flows.len() as u32);
    fixture.groups = vec!["one".to_owned(), "other".to_owned()];
    fixture.outcome.stopped_at = Time(STOPPED_AT);
    for (place, own) in flows.iter().enumerate() {
        let weights = match own.cos {
            Cos::BestEffort => Weights { theta: None, w_milli: 1_000 },
            Cos::Differentiated => Weights { theta: None, w_milli: 1_001 },
            Cos::MinimumRate => Weights { theta: Rate::from_bps(1), w_milli: 5_000 },
        };
        fixture.scenario.flows.edit(place, |flow| {
            (flow.src, flow.dst) = (HostId(own.src), HostId(1 - own.src));
            (flow.group, flow.weights, flow.size) = (own.group, weights, own.bytes);
            (flow.start, flow.deadline) = (Time(own.start), own.deadline.map(Time));
            flow.coflow = own.coflow.and_then(CoflowId::new);
        });
        fixture.outcome.flows.edit(place, |flow| {
            (flow.fct, flow.fct_acked) = (own.fct.map(Span), own.acked.map(Span));
            (flow.class.asked, flow.class.given) = (own.asked, own.given);
            (flow.timeouts, flow.initial_timeouts) = (own.timeouts, own.initial);
            (flow.spurious, flow.missing) = (own.spurious, own.missing);
        });
        (fixture.bare_fct[place], fixture.measured[place]) = (Span(own.bare), own.measured);
    }
    fixture
}

/// Whether a flow of a size is in a class.
type Says = fn(&Drawn, u64) -> bool;

/// Classes with each criterion, alone and with others, and what each says of a flow in plain words.
fn classes() -> Vec<(SizeClass, Says)> {
    let all = SizeClass::all;
    let named = |name: &str, class: SizeClass| SizeClass { name: name.to_owned(), ..class };
    vec![
        (named("below", SizeClass { below: Some(1_000), ..all() }), |_, x| x < 1_000),
        (named("above", SizeClass { above: Some(1_000), ..all() }), |_, x| x > 1_000),
        (named("from", SizeClass { from: Some(5_000), ..all() }), |_, x| x >= 5_000),
        (named("to", SizeClass { to: Some(5_000), ..all() }), |_, x| x <= 5_000),
        (named("both", SizeClass { above: Some(999), to: Some(4_999), ..all() }), |_, x| {
            (1_000..=4_999).contains(&x)
        }),
        (named("group", SizeClass { group: vec!["other".into()], ..all() }), |own, _| own.group == 1),
        (named("groups", SizeClass { group: vec!["none".into(), "one".into()], ..all() }), |own, _| {
            own.group == 0
        }),
        (named("paid", SizeClass { cos: Some(Cos::Differentiated), ..all() }), |own, _| {
            own.cos == Cos::Differentiated
        }),
        (named("asked", SizeClass { asked: Some(1), ..all() }), |own, _| own.asked == 1),
        (named("given", SizeClass { given: Some(2), ..all() }), |own, _| own.given == 2),
        (named("moved", SizeClass { asked: Some(0), given: Some(1), to: Some(5_000), ..all() }), |own, x| {
            own.asked == 0 && own.given == 1 && x <= 5_000
        }),
    ]
}

/// The smallest value that at least `p` thousandths of the values do not exceed.
fn quantile(values: &[f64], p: usize) -> Option<f64> {
    let reaches = |x: f64| 1000 * values.iter().filter(|&&y| y <= x).count() >= p * values.len();
    values.iter().copied().filter(|&x| reaches(x)).reduce(f64::min)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// n of m, if m is not zero.
fn part(n: usize, m: usize) -> Option<f64> {
    (m > 0).then(|| n as f64 / m as f64)
}

/// The seconds of a completed flow from `until` on.
fn after(flow: &Drawn, until: u64) -> f64 {
    (0..flow.fct.unwrap()).filter(|since| flow.start + since >= until).count() as f64 / S
}

/// The seconds from the first start to the last end; `None` if a flow has none.
fn takes(own: &[&Drawn]) -> Option<f64> {
    let ends: Option<Vec<u64>> = own.iter().map(|flow| flow.fct.map(|fct| flow.start + fct)).collect();
    let first = own.iter().map(|flow| flow.start).min()?;
    Some((ends?.into_iter().max()? - first) as f64 / S)
}

/// The summary of `own` flows without its bound, by counting.
fn counted(own: &[&Drawn], least_ps: fn(&Drawn) -> u64, until: Option<u64>) -> Summary {
    let done: Vec<&Drawn> = own.iter().copied().filter(|flow| flow.fct.is_some()).collect();
    let fct: Vec<f64> = done.iter().map(|flow| flow.fct.unwrap() as f64 / S).collect();
    let slow: Vec<f64> = done.iter().zip(&fct).map(|(flow, fct)| fct / (least_ps(flow) as f64 / S)).collect();
    let acked: Vec<f64> = own.iter().filter_map(|flow| flow.acked).map(|ps| ps as f64 / S).collect();
    let square = mean(&fct.iter().map(|x| x * x).collect::<Vec<_>>());
    let std = mean(&fct).zip(square).map(|(mean, square)| (square - mean * mean).max(0.0).sqrt());
    let in_time = |flow: &Drawn| {
        let deadline = flow.deadline?;
        match flow.fct {
            Some(fct) => Some(flow.start + fct <= deadline),
            None => (deadline <= STOPPED_AT).then_some(false),
        }
    };
    let count = |is: &dyn Fn(&Drawn) -> bool| own.iter().filter(|flow| is(flow)).count();
    let met = count(&|flow| in_time(flow) == Some(true));
    let missed = count(&|flow| in_time(flow) == Some(false));
    let late_alone =
        count(&|flow| in_time(flow).is_some() && flow.start + flow.bare > flow.deadline.unwrap());
    let of_hosts: Vec<f64> = [0, 1]
        .into_iter()
        .filter_map(|src| {
            let own = |wanted| count(&|flow| flow.src == src && in_time(flow) == Some(wanted));
            part(own(true), own(true) + own(false))
        })
        .collect();
    let sum: f64 = of_hosts.iter().sum();
    let squares: f64 = of_hosts.iter().map(|x| x * x).sum();
    let tail = quantile(&fct, 990);
    let in_tail = |flow: &&&Drawn| flow.fct.unwrap() as f64 / S >= tail.unwrap();
    let tail_size = done.iter().filter(in_tail).count();
    let late: Vec<f64> = done
        .iter()
        .filter(|flow| flow.timeouts > flow.spurious)
        .map(|flow| flow.fct.unwrap() as f64 / S)
        .collect();
    let arrived: u64 = done.iter().map(|flow| flow.bytes.unwrap() - flow.missing).sum();
    Summary {
        flows: own.len() as u64,
        unfinished: (own.len() - done.len()) as u64,
        mean_fct_s: mean(&fct),
        std_fct_s: std,
        cv: std.zip(mean(&fct)).map(|(std, mean)| std / mean),
        p50_fct_s: quantile(&fct, 500),
        p95_fct_s: quantile(&fct, 950),
        p99_fct_s: quantile(&fct, 990),
        p999_fct_s: quantile(&fct, 999),
        mean_fct_acked_s: mean(&acked),
        mean_fct_bound_s: None,
        mean_slowdown: mean(&slow),
        p50_slowdown: quantile(&slow, 500),
        p95_slowdown: quantile(&slow, 950),
        p99_slowdown: quantile(&slow, 990),
        p999_slowdown: quantile(&slow, 999),
        deadlines_met: met as u64,
        deadlines_missed: missed as u64,
        deadlines_censored: count(&|flow| flow.deadline.is_some() && in_time(flow).is_none()) as u64,
        deadline_miss_rate: part(missed, met + missed),
        deadline_meet_ratio: part(met, met + missed),
        deadline_infeasible_rate: part(late_alone, met + missed),
        deadline_jain: (met > 0).then(|| sum * sum / (of_hosts.len() as f64 * squares)),
        downgraded: part(count(&|flow| flow.given > flow.asked), own.len()),
        upgraded: part(count(&|flow| flow.given < flow.asked), own.len()),
        goodput_bps: (!done.is_empty()).then(|| arrived as f64 * 8.0 / fct.iter().sum::<f64>()),
        delivery_bps: takes(own).map(|takes| arrived as f64 * 8.0 / takes),
        after_stop: until
            .filter(|_| !done.is_empty())
            .map(|until| done.iter().map(|flow| after(flow, until)).sum::<f64>() / fct.iter().sum::<f64>()),
        timeouts: Some(own.iter().map(|flow| u64::from(flow.timeouts)).sum()),
        initial_timeouts: Some(own.iter().map(|flow| u64::from(flow.initial)).sum()),
        spurious_timeouts: Some(own.iter().map(|flow| u64::from(flow.spurious)).sum()),
        timed_out: part(count(&|flow| flow.timeouts > 0), own.len()),
        tail_timed_out: part(
            done.iter().filter(in_tail).filter(|flow| flow.timeouts > flow.spurious).count(),
            tail_size,
        ),
        timed_out_fct_share: (!done.is_empty()).then(|| late.iter().sum::<f64>() / fct.iter().sum::<f64>()),
        timed_out_p50_fct_s: quantile(&late, 500),
    }
}

/// Compares two records member by member; numbers may differ by rounding.
fn same<T: serde::Serialize>(found: &T, expected: &T, of: &str) {
    let [found, expected] = [found, expected].map(|side| serde_json::to_value(side).unwrap());
    for (key, expected) in expected.as_object().unwrap() {
        let near = match (found[key].as_f64(), expected.as_f64()) {
            // A standard deviation of one value comes out of a difference of squares.
            (Some(a), Some(b)) => (a - b).abs() <= 1e-7 * b.abs().max(1e-10),
            _ => found[key] == *expected,
        };
        assert!(near, "{key} of {of}: {} is not {expected}", found[key]);
    }
}

#[test]
fn every_number_of_a_summary_is_that_of_a_count_over_its_flows() {
    let mut stream = Stream::new(31, Purpose::Ties, 0);
    for round in 0..rounds(40, 1_000) {
        // In the first round there are so many flows that percentiles a thousandth apart are those of different flows.
        let count = if round == 0 { 4_000 } else { stream.below(140) };
        let flows: Vec<Drawn> = (0..count).map(|_| draw(&mut stream)).collect();
        let fixture = made_up(&flows);
        let with_handshake: Vec<Span> = flows.iter().map(|flow| Span(flow.denominator)).collect();
        let handshakes = round % 2 == 1;
        let mut source = fixture.source();
        source.with_handshake = handshakes.then_some(&with_handshake);
        let until = (round % 3 > 0).then(|| stream.below(900));
        source.window = until.map(|until| (Time::ZERO, Time(until)));
        let least_ps: fn(&Drawn) -> u64 = if handshakes { |flow| flow.denominator } else { |flow| flow.bare };
        let (stated, tests): (Vec<SizeClass>, Vec<_>) = classes().into_iter().unzip();
        let summaries = summarize(&source, &fixture.outcome, &stated).by_class;
        assert_eq!(summaries.len(), stated.len() + 1);
        let finite: Vec<&Drawn> = flows.iter().filter(|flow| flow.measured && flow.bytes.is_some()).collect();
        same(
            &Summary { mean_fct_bound_s: None, ..summaries[ALL] },
            &counted(&finite, least_ps, until),
            &format!("all in round {round}"),
        );
        for (class, is_of) in stated.iter().zip(tests) {
            let own: Vec<&Drawn> =
                finite.iter().copied().filter(|flow| is_of(flow, flow.bytes.unwrap())).collect();
            let found = summaries[&class.name];
            same(
                &Summary { mean_fct_bound_s: None, ..found },
                &counted(&own, least_ps, until),
                &format!("{} in round {round}", class.name),
            );
            // There is a bound wherever there is a mean.
            assert_eq!(found.mean_fct_bound_s.is_some(), found.mean_fct_s.is_some());
        }
    }
}

/// A coflow by its flows, in the order of the flow list.
fn of_coflow(own: &[&Drawn]) -> (Option<u64>, Option<u64>, Drawn) {
    // The first in the list of those that start first.
    let first = own.iter().copied().reduce(|a, b| if b.start < a.start { b } else { a }).unwrap();
    let ends: Option<Vec<u64>> = own.iter().map(|flow| Some(flow.start + flow.fct?)).collect();
    let bytes: Option<Vec<u64>> = own.iter().map(|flow| flow.bytes).collect();
    (
        bytes.map(|bytes| bytes.iter().sum()),
        ends.map(|ends| ends.iter().max().unwrap() - first.start),
        first.clone(),
    )
}

#[test]
fn every_number_of_coflows_is_that_of_a_count_over_their_flows() {
    let mut stream = Stream::new(32, Purpose::Ties, 0);
    for round in 0..rounds(40, 1_000) {
        let flows: Vec<Drawn> = (0..stream.below(25)).map(|_| draw(&mut stream)).collect();
        let fixture = made_up(&flows);
        let rows = coflows(&fixture.source(), &fixture.outcome);
        let (stated, tests): (Vec<SizeClass>, Vec<_>) = classes().into_iter().unzip();
        let found = coflows::summarize(&rows, &stated);
        let mut all = Vec::new();
        for (group, number) in (0..2).flat_map(|group| (0..4).map(move |number| (group, number))) {
            let own: Vec<&Drawn> =
                flows.iter().filter(|flow| flow.group == group && flow.coflow == Some(number)).collect();
            if !own.is_empty() {
                all.push(of_coflow(&own));
            }
        }
        assert_eq!((rows.len(), found.is_empty()), (all.len(), all.is_empty()));
        let every: fn(&Drawn, u64) -> bool = |_, _| true;
        let named =
            stated.iter().zip(tests).map(|(class, is_of)| (class.name.as_str(), class.clone(), is_of));
        for (name, class, is_of) in named.chain([(ALL, SizeClass::all(), every)]) {
            let Some(found) = found.get(name) else { continue };
            let bounded = class.below.or(class.to).is_some();
            // A coflow with an endless flow is in classes without an upper bound.
            let belongs =
                |(bytes, _, first): &&(Option<u64>, Option<u64>, Drawn)| match (first.measured, bytes) {
                    (true, Some(bytes)) => is_of(first, *bytes),
                    (true, None) => !bounded && is_of(first, u64::MAX),
                    (false, _) => false,
                };
            let own: Vec<_> = all.iter().filter(belongs).collect();
            let cct: Vec<f64> = own.iter().filter_map(|own| own.1).map(|ps| ps as f64 / S).collect();
            let counted = CoflowSummary {
                coflows: own.len() as u64,
                unfinished: (own.len() - cct.len()) as u64,
                mean_cct_s: mean(&cct),
                p50_cct_s: quantile(&cct, 500),
                p95_cct_s: quantile(&cct, 950),
                p99_cct_s: quantile(&cct, 990),
            };
            same(found, &counted, &format!("{name} in round {round}"));
        }
    }
}
