use super::*;
use crate::admit::Policy;
use crate::admit::tests::{done, flow, rng};
use crate::units::Span;

fn config(remap: Remap) -> Config {
    Config { levels: 3, monitoring: Monitoring { mi: Interval::Rtt, remap } }
}

pub(in crate::admit) fn policy() -> Policy {
    Policy::Pase(config(Remap::AtIssue))
}

/// A flow that requests class 1 and needs `gbps` to end in 1 ms: 125 kB per Gbit/s.
fn needs(id: u32, gbps: u64) -> FlowSpec {
    flow(id, (1, 1), gbps * 125_000, Some(Span::from_ms(1)))
}

#[test]
fn flows_go_to_the_top_while_those_ahead_of_them_leave_room() {
    let mut pase = Pase::new(config(Remap::AtIssue), Rate::from_gbps(10));
    let mut open = |spec: FlowSpec| pase.open(&spec, Time::ZERO, &mut rng(1));
    // At equal deadlines, fewer bytes are more urgent: 4 + 6 Gbit/s are ahead of the third flow, 4 + 6 + 7 of the
    // fourth.
    assert_eq!(open(needs(0, 4)), 0);
    assert_eq!(open(needs(1, 6)), 0);
    assert_eq!(open(needs(2, 7)), 0);
    assert_eq!(open(needs(3, 8)), 2);
    // More urgent by its requested class: no flow is ahead of it.
    assert_eq!(open(FlowSpec { class: 0, ..needs(4, 9) }), 0);
    pase.completed(&done(1, 750_000, Span::from_us(1), 0), Time(1));
    // 9 are ahead by class; 4, 7 and 8 by size: 28.
    assert_eq!(pase.open(&needs(5, 9), Time::ZERO, &mut rng(1)), 2);
    pase.aborted(FlowId(4));
    pase.aborted(FlowId(3));
    // 4 + 7 are ahead of 8: 11.
    assert_eq!(pase.open(&needs(3, 8), Time::ZERO, &mut rng(1)), 2);
    // 4 are ahead of 5.
    assert_eq!(pase.open(&needs(6, 5), Time::ZERO, &mut rng(1)), 0);
}

#[test]
fn flows_without_deadline_ask_for_the_line_and_come_last() {
    let mut pase = Pase::new(config(Remap::AtIssue), Rate::from_gbps(10));
    let plain = |id| flow(id, (1, 1), 1_000 + u64::from(id), None);
    assert_eq!(pase.open(&plain(0), Time::ZERO, &mut rng(1)), 0);
    assert_eq!(pase.open(&plain(1), Time::ZERO, &mut rng(1)), 0, "10 Gbit/s ahead are not above the line's");
    assert_eq!(pase.open(&plain(2), Time::ZERO, &mut rng(1)), 2);
    assert_eq!(pase.open(&needs(3, 1), Time::ZERO, &mut rng(1)), 0);
}

#[test]
fn flows_under_way_are_mapped_again_only_where_asked() {
    for (remap, moved) in [(Remap::AtIssue, None), (Remap::PerInterval, Some(0))] {
        let mut pase = Pase::new(config(remap), Rate::from_gbps(10));
        for id in 0..3 {
            pase.open(&needs(id, 6), Time::ZERO, &mut rng(1));
        }
        // 12 Gbit/s are ahead of the third flow, 6 once the first has completed.
        let report = FlowReport { remaining: 700_000, ..done(2, 50_000, Span::from_us(90), 0) };
        pase.completed(&done(0, 750_000, Span::from_us(80), 0), Time(80));
        assert_eq!(pase.report(&report, Time(90)), moved);
        assert_eq!(pase.report(&report, Time(91)), None, "it is there");
    }
}

#[test]
fn impossible_deadlines_ask_for_no_more_than_the_line() {
    let tight = flow(0, (1, 1), 10_000_000, Some(Span(1)));
    let past = FlowSpec { deadline: Some(Time::ZERO), ..tight };
    let capacity = Rate::from_gbps(10);
    assert_eq!((demand_bps(&tight, capacity), demand_bps(&past, capacity)), (capacity.bps(), capacity.bps()));
    assert_eq!(demand_bps(&needs(1, 4), capacity), 4_000_000_000);
}
