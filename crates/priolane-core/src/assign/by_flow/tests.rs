use super::*;
use crate::endpoint::FlowSpec;
use crate::ids::{Class, CoflowId, FlowId, HostId};
use crate::rng::Purpose;
use crate::units::{Rate, Span, Time};

fn flow(id: u32, size: Option<u64>, allowed_us: Option<u64>) -> FlowSpec {
    FlowSpec {
        start: Time(5),
        class: 9,
        deadline: allowed_us.map(|us| Time(5) + Span::from_us(us)),
        ..FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), size)
    }
}

fn classes(rule: &ByFlow, flows: &[FlowSpec]) -> Vec<Class> {
    let mut flows = FlowList::from(flows.to_vec());
    rule.assign(&mut flows, &mut Stream::new(1, Purpose::Classes, u64::MAX));
    flows.iter().map(|flow| flow.class).collect()
}

#[test]
fn sizes_up_to_a_threshold_are_in_its_class_and_endless_flows_in_the_last() {
    let flows =
        [Some(1), Some(100), Some(101), Some(5_000), Some(5_001), None].map(|size| flow(0, size, None));
    let rule = ByFlow::Size(Size { thresholds: vec![100, 5_000], error: 1.0 });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![0, 0, 1, 1, 2, 2], 3));
}

#[test]
fn a_coflow_is_as_large_as_its_flows_together() {
    // Coflow 4 of group 0 has 60 + 41 bytes, that of group 1 only its 60; a flow without a coflow counts by itself.
    let of = |group, coflow: Option<u32>, size| FlowSpec {
        group,
        coflow: coflow.and_then(CoflowId::new),
        ..flow(0, size, None)
    };
    let flows = [
        of(0, Some(4), Some(60)),
        of(1, Some(4), Some(60)),
        of(0, Some(4), Some(41)),
        of(0, None, Some(100)),
        of(0, None, Some(101)),
        of(0, Some(9), Some(1)),
        of(0, Some(9), None),
    ];
    let rule = ByFlow::CoflowSize(CoflowSize { thresholds: vec![100, 1_000] });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![1, 0, 1, 0, 1, 2, 2], 3));
    // 60, 100, 101 bytes, endless: flows with equal bytes have the same rank.
    let mut ranked = FlowList::from(flows.to_vec());
    set_coflow_ranks(&mut ranked);
    let places: Vec<u32> = ranked.iter().map(|flow| flow.coflow_place).collect();
    assert_eq!(places, [2, 0, 2, 1, 2, 3, 3]);
}

#[test]
fn without_thresholds_flows_with_a_deadline_are_before_all_others() {
    let flows = [(Some(9), Some(7)), (Some(1), None), (None, None), (None, Some(7))]
        .map(|(size, us)| flow(0, size, us));
    let rule = ByFlow::DeadlinesFirst(DeadlinesFirst { thresholds: Vec::new() });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![0, 1, 1, 0], 2));
}

#[test]
fn a_group_has_its_class_and_those_beyond_the_list_the_last_one() {
    let flows = [0, 2, 1, 3].map(|group| FlowSpec { group, ..flow(0, None, None) });
    let rule = ByFlow::Group(ByGroup { classes: vec![1, 0, 3] });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![1, 3, 0, 3], 4));
}

#[test]
fn shorter_deadlines_are_higher_and_none_is_the_lowest() {
    let flows = [Some(50), Some(51), Some(300), None, Some(0)].map(|us| flow(0, Some(1), us));
    let rule = ByFlow::Deadline(Deadline { thresholds: vec![Span::from_us(50), Span::from_us(299)] });
    assert_eq!(classes(&rule, &flows), [0, 1, 2, 2, 2]);
}

#[test]
fn flows_with_deadlines_are_before_all_others_and_these_are_by_size() {
    let flows = [(9_999, Some(1)), (100, None), (101, None), (5_001, None)];
    let flows = flows.map(|(size, us)| flow(0, Some(size), us));
    let rule = ByFlow::DeadlinesFirst(DeadlinesFirst { thresholds: vec![100, 5_000] });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![0, 1, 2, 3], 4));
    assert_eq!(classes(&rule, &[flow(0, None, None), flow(0, None, Some(5))]), [3, 0]);
}

#[test]
fn a_rule_says_that_it_reads_deadlines_if_they_change_a_class() {
    let times = power_law::Times { scale: Span::from_ms(2), offset: Span::from_ms(1) };
    let sizes = power_law::Sizes { scale: 100_000, offset: 0 };
    let law = |of| ByFlow::PowerLaw(PowerLaw { of, levels: 3, exponent: -0.5, base: 1.0 });
    let rules = [
        (ByFlow::Size(Size { thresholds: vec![100, 5_000], error: 1.0 }), false),
        (ByFlow::CoflowSize(CoflowSize { thresholds: vec![100, 1_000] }), false),
        (ByFlow::RandomFraction(RandomFraction { fractions: vec![0.3, 0.7] }), false),
        (ByFlow::DeadlinesFirst(DeadlinesFirst { thresholds: vec![100] }), true),
        (ByFlow::Deadline(Deadline { thresholds: vec![Span::from_us(500)] }), true),
        (ByFlow::DeadlineRank(DeadlineRank { fractions: vec![0.5, 0.5] }), true),
        (ByFlow::DemandRate(DemandRate { thresholds: vec![Rate::from_gbps(1)] }), true),
        (law(power_law::Measure::Size(sizes)), false),
        (law(power_law::Measure::Deadline(times)), true),
        (ByFlow::PaidWeight(PaidWeight { weights: vec![4.0, 2.0] }), false),
        (ByFlow::Group(ByGroup { classes: vec![1, 0] }), false),
    ];
    let flows = |deadline: fn(u64) -> Option<u64>| -> Vec<FlowSpec> {
        (0..60).map(|n| flow(n as u32, Some(50 << (n % 12)), deadline(n))).collect()
    };
    for (rule, reads) in rules {
        assert_eq!(rule.part().reads_deadlines(), reads, "{rule:?}");
        let with = classes(&rule, &flows(|n| (n % 3 > 0).then_some(5_000 >> (n % 7))));
        assert_eq!(with != classes(&rule, &flows(|_| None)), reads, "{rule:?}");
    }
}

#[test]
fn demand_is_size_over_time_to_the_deadline() {
    // 125 kB in 1 ms are 1 Gbit/s exactly; a byte less is below it.
    let flows = [(125_000, 1_000), (124_999, 1_000), (124_999, 500), (10, 1_000)];
    let flows = flows.map(|(size, us)| flow(0, Some(size), Some(us)));
    let rule = ByFlow::DemandRate(DemandRate {
        thresholds: vec![Rate::from_gbps(1), Rate::from_bps(1_000_000).unwrap()],
    });
    assert_eq!(classes(&rule, &flows), [0, 1, 0, 2]);
    assert_eq!(classes(&rule, &[flow(0, Some(9), None), flow(0, None, Some(9))]), [2, 2]);
}

#[test]
fn the_power_law_is_eq_6_and_eq_8() {
    // p = (S / 100 kB)^-0.5 + 1, three classes: 25 kB gives 3, 26 kB 2.96, 100 kB 2, 101 kB 1.995.
    let of = power_law::Measure::Size(power_law::Sizes { scale: 100_000, offset: 0 });
    let law = ByFlow::PowerLaw(PowerLaw { of, levels: 3, exponent: -0.5, base: 1.0 });
    let flows = [1, 25_000, 26_000, 100_000, 101_000, u64::MAX].map(|size| flow(0, Some(size), None));
    assert_eq!(classes(&law, &flows), [0, 0, 1, 1, 2, 2]);
    // p = ((L - 1 ms) / 2 ms)^-1: up to 1 ms infinite; 1.5 ms gives 4, 2 ms 2, 4 ms 0.67, which is clamped to 1.
    let of =
        power_law::Measure::Deadline(power_law::Times { scale: Span::from_ms(2), offset: Span::from_ms(1) });
    let law = ByFlow::PowerLaw(PowerLaw { of, levels: 4, exponent: -1.0, base: 0.0 });
    let flows =
        [Some(900), Some(1_000), Some(1_500), Some(2_000), Some(4_000), None].map(|us| flow(0, Some(1), us));
    assert_eq!(classes(&law, &flows), [0, 0, 0, 2, 3, 3]);
}

#[test]
fn random_shares_are_kept_and_depend_on_nothing_else() {
    let n = 100_000;
    let flows: Vec<FlowSpec> = (0..n).map(|id| flow(id, Some(1), None)).collect();
    let given = classes(&ByFlow::RandomFraction(RandomFraction { fractions: vec![0.3, 0.5, 0.2] }), &flows);
    for (class, share) in [(0, 0.3), (1, 0.5), (2, 0.2)] {
        let of_class = given.iter().filter(|&&c| c == class).count() as f64 / f64::from(n);
        // 4 sigma: 4 sqrt(0.25 / 100,000) = 0.0063.
        assert!((of_class - share).abs() < 0.006_4, "{class}: {of_class}");
    }
    // A longer list starts with the same classes.
    assert_eq!(
        given[..1_000],
        classes(&ByFlow::RandomFraction(RandomFraction { fractions: vec![0.3, 0.5, 0.2] }), &flows[..1_000])
    );
}

#[test]
fn ranks_are_cut_at_shares_exactly_and_ties_are_drawn() {
    let flows: Vec<FlowSpec> =
        (0..1_000).map(|id| flow(id, Some(1), [Some(10), Some(20), None][id as usize % 3])).collect();
    let given = classes(&ByFlow::DeadlineRank(DeadlineRank { fractions: vec![0.5, 0.1, 0.4] }), &flows);
    let count = |class| given.iter().filter(|&&c| c == class).count();
    assert_eq!([count(0), count(1), count(2)], [500, 100, 400]);
    assert!((0..1_000).step_by(3).all(|i| given[i] == 0), "the 334 shortest");
    assert!((2..1_000).step_by(3).all(|i| given[i] == 2), "the 333 without");
    let middle: Vec<Class> = (1..1_000).step_by(3).map(|i| given[i]).collect();
    assert!(!middle.is_sorted(), "of equal deadlines not simply the first");
}

#[test]
fn flows_that_pay_for_larger_weights_are_in_better_classes_and_a_threshold_belongs_to_its_own() {
    let paying = |w_milli| {
        let mut flow = flow(0, Some(1), None);
        flow.weights.w_milli = w_milli;
        flow
    };
    let flows = [8_000, 4_000, 3_999, 2_000, 1_999, 1_000].map(paying);
    let rule = ByFlow::PaidWeight(PaidWeight { weights: vec![4.0, 2.0] });
    assert_eq!((classes(&rule, &flows), rule.part().levels()), (vec![0, 0, 1, 1, 2, 2], 3));
    // Weights are exact to the thousandth: 1.1 is 1100 although 1.1 * 1000 is not.
    let rule = ByFlow::PaidWeight(PaidWeight { weights: vec![1.1] });
    assert_eq!(classes(&rule, &[1_100, 1_099].map(paying)), [0, 1]);
}

#[test]
fn misjudged_sizes_are_off_by_the_factor_at_most_and_evenly_so_on_a_logarithmic_scale() {
    // Sizes of 1000 with errors of up to 100: between 10 and 100000, a quarter in each power of ten.
    let flows: Vec<FlowSpec> = (0..40_000).map(|id| flow(id, Some(1_000), None)).collect();
    let rule = ByFlow::Size(Size { thresholds: vec![9, 99, 999, 9_999, 100_000], error: 100.0 });
    let given = classes(&rule, &flows);
    let part = |class| given.iter().filter(|&&own| own == class).count() as f64 / 40_000.0;
    assert_eq!((part(0), part(5)), (0.0, 0.0));
    // Four standard deviations of a quarter among 40000: 0.0087.
    assert!((1..=4).all(|class| (part(class) - 0.25).abs() < 0.0087), "{:?}", [1, 2, 3, 4].map(part));
}
