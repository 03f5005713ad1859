use super::histogram::{Histogram, bin_of};
use super::*;
use crate::assign::byte_share::tests::web_search;
use crate::assign::{EqualSplit, equal_split};
use crate::ids::HostId;
use crate::rng::{Purpose, Stream};
use crate::units::{Span, Time};

const HOSTS: u32 = 20;

fn config() -> Config {
    Config {
        period: Span::from_ms(10),
        delay: Span::from_ms(1),
        window: 1_000,
        min_samples: 2_000,
        max_age: 3,
        bounds: ThresholdRange { min: 10_000, max: 10_000_000 },
        report_loss: 0.0,
        report_jitter: Span::ZERO,
        load: None,
    }
}

const QUARTERS: AdaptiveThresholds = AdaptiveThresholds {
    of: ThresholdSet::Class,
    solver: Solver::EqualSplit(EqualSplit),
    levels: 4,
    load: 0.5,
};

fn controller() -> ThresholdController {
    ThresholdController::new(config(), vec![QUARTERS], HOSTS)
}

/// Returns the thresholds of the only target, if they changed.
fn solve(controller: &mut ThresholdController, now: Time) -> Option<Vec<u64>> {
    controller.solve(now).into_iter().next().map(|found| found.bytes)
}

fn at(period: u64) -> Time {
    Time::ZERO + config().period.times(period)
}

/// A host's report of `flows` samples from web search.
fn report(host: u32, sequence: u32, flows: u32) -> SizeReport {
    let mut stream = Stream::new(u64::from(sequence), Purpose::Sizes, u64::from(host));
    let mut estimate = SizeEstimate::new(config().window);
    (0..flows).for_each(|_| estimate.observe(web_search().sample(&mut stream)));
    let made = at(u64::from(sequence));
    SizeReport { host: HostId(host as u16), sequence, made, sizes: estimate.histogram().clone() }
}

#[test]
fn a_stationary_workload_leads_to_the_static_thresholds() {
    let want = equal_split(&web_search(), 4);
    let mut controller = controller();
    (0..HOSTS).for_each(|host| controller.on_report(report(host, 1, 1_000)));
    let found = solve(&mut controller, at(1)).unwrap();
    for (found, want) in found.iter().zip(&want) {
        // 20,000 flows: a quantile's standard error is at most 0.0035, a few bins of 1/16.
        let ratio = *found as f64 / *want as f64;
        assert!((0.85..1.15).contains(&ratio), "{found} for {want}");
    }
    assert_eq!(solve(&mut controller, at(1)), None, "thresholds that did not change are not sent again");
}

#[test]
fn too_few_flows_change_nothing() {
    let mut controller = controller();
    controller.on_report(report(0, 1, 1_000));
    controller.on_report(report(1, 1, 999));
    assert_eq!(solve(&mut controller, at(1)), None);
    controller.on_report(report(2, 1, 1));
    assert!(solve(&mut controller, at(1)).is_some());
}

#[test]
fn repeated_late_and_lost_reports_make_no_difference() {
    let (mut once, mut disturbed) = (controller(), controller());
    (0..HOSTS).for_each(|host| once.on_report(report(host, 2, 500)));
    for host in 0..HOSTS {
        // The second report arrives twice, and the first one after it.
        [2, 2, 1].into_iter().for_each(|sequence| disturbed.on_report(report(host, sequence, 500)));
    }
    assert_eq!(solve(&mut once, at(2)), solve(&mut disturbed, at(2)));
    // A host whose later reports are lost counts with its last one until that expires.
    (1..HOSTS).for_each(|host| disturbed.on_report(report(host, 5, 500)));
    let mut without = controller();
    (1..HOSTS).for_each(|host| without.on_report(report(host, 5, 500)));
    let mut with = controller();
    with.on_report(report(0, 2, 500));
    (1..HOSTS).for_each(|host| with.on_report(report(host, 5, 500)));
    assert_eq!(solve(&mut disturbed, at(5)), solve(&mut with, at(5)));
    assert_eq!(solve(&mut with, at(6)), solve(&mut without, at(6)));
}

#[test]
fn a_lie_moves_thresholds_no_further_than_the_bounds_and_its_share() {
    let lie = |flows: u32| {
        let mut sizes = Histogram::default();
        (0..flows).for_each(|_| sizes.add(bin_of(u64::MAX)));
        SizeReport { host: HostId(0), sequence: 1, made: at(1), sizes }
    };
    let mut alone = ThresholdController::new(Config { min_samples: 1, ..config() }, vec![QUARTERS], 1);
    alone.on_report(lie(1_000));
    assert_eq!(solve(&mut alone, at(1)), Some(vec![config().bounds.max; 3]));
    // Among 20 honest hosts, one that claims only huge flows moves quantiles by 1/20 of the mass; one that claims more
    // flows than allowed is ignored.
    let honest = |mut controller: ThresholdController| {
        (1..HOSTS).for_each(|host| controller.on_report(report(host, 1, 1_000)));
        controller
    };
    let mut lied_to = honest(controller());
    lied_to.on_report(lie(1_000));
    let pushed =
        |quarter: f64| config().bounds.clamp(web_search().quantile(quarter * 20.0 / 19.0) as u64) as f64;
    let found = solve(&mut lied_to, at(1)).unwrap();
    for (found, quarter) in found.into_iter().zip([0.25, 0.5, 0.75]) {
        assert!((0.8..1.2).contains(&(found as f64 / pushed(quarter))), "{found} for {}", pushed(quarter));
    }
    let (mut refused, mut never) = (honest(controller()), honest(controller()));
    refused.on_report(lie(1_001));
    assert_eq!(solve(&mut refused, at(1)), solve(&mut never, at(1)));
}

#[test]
fn hosts_that_do_not_exist_are_not_heard() {
    let mut controller = controller();
    controller.on_report(report(HOSTS, 1, 1_000));
    assert_eq!(solve(&mut controller, at(1)), None);
}
