use super::*;
use crate::admit::tests::flow;

const fn at(us: u64) -> Time {
    Time(us * 1_000_000)
}

/// A flow of 1000 B that asks for class 0 at `us`, with a deadline at `due`.
fn asks_at(id: u32, dst: u16, us: u64, due: Option<u64>) -> FlowSpec {
    FlowSpec { start: at(us), deadline: due.map(at), ..flow(id, (dst, 0), 1_000, None) }
}

/// The notices of a group.
fn of_group(applications: &Applications, group: u16) -> Notices {
    applications.notices().find(|&(found, _)| found == group).map(|(_, notices)| notices).unwrap_or_default()
}

#[test]
fn a_deferred_flow_asks_again_so_often_and_is_then_issued() {
    let mut applications = Applications::new(&[OnDowngrade::Defer { by: Span::from_us(10), times: 2 }]);
    assert_eq!(applications.next(), None);
    let mut spec = asks_at(7, 1, 5, None);
    for again in [15, 25] {
        assert_eq!(applications.notify(&spec, Notice::Downgraded, 1), DowngradeResponse::Later);
        assert_eq!(applications.next(), Some((at(again), FlowId(7))));
        applications.ask_again();
        assert_eq!(applications.next(), None);
        spec.start = at(again);
    }
    assert_eq!(applications.notify(&spec, Notice::Downgraded, 1), DowngradeResponse::Issue);
    // It first asked at 5 us, and is issued at 25 us.
    assert_eq!(applications.issued(&spec), Span::from_us(20));
    assert_eq!(applications.issued(&spec), Span::ZERO, "it is forgotten");
    let expected = Notices { downgraded: 3, deferrals: 2, held: Span::from_us(20), ..Notices::default() };
    assert_eq!(of_group(&applications, 0), expected);
}

#[test]
fn the_flow_that_waits_for_the_shortest_time_asks_first_and_an_aborted_one_never() {
    let mut applications = Applications::new(&[OnDowngrade::Defer { by: Span::from_us(10), times: 1 }]);
    for (id, us) in [(1, 3), (2, 1), (3, 2)] {
        applications.notify(&asks_at(id, 1, us, None), Notice::Downgraded, 1);
    }
    applications.abort(FlowId(3));
    assert_eq!(applications.next(), Some((at(11), FlowId(2))));
    applications.ask_again();
    assert_eq!(applications.next(), Some((at(13), FlowId(1))));
    applications.ask_again();
    assert_eq!(applications.next(), None);
    assert_eq!(applications.issued(&asks_at(3, 1, 20, None)), Span::ZERO);
}

#[test]
fn no_flow_is_deferred_to_its_deadline_or_beyond() {
    let by = Span::from_us(10);
    let asks = |due| {
        let mut applications = Applications::new(&[OnDowngrade::Defer { by, times: 1 }]);
        applications.notify(&asks_at(0, 1, 5, Some(due)), Notice::Downgraded, 1)
    };
    assert_eq!(
        [14, 15, 16].map(asks),
        [DowngradeResponse::Issue, DowngradeResponse::Issue, DowngradeResponse::Later]
    );
}

#[test]
fn a_downgrade_lowers_what_less_urgent_flows_to_that_host_ask_for_until_its_end() {
    let mut applications =
        Applications::new(&[OnDowngrade::Ignore, OnDowngrade::Reclassify { lasts: Span::from_us(100) }]);
    let of_group_1 = |spec: FlowSpec| FlowSpec { group: 1, ..spec };
    // 1000 B within 50 us, from 10 us on: 20 B per us until 110 us.
    let first = of_group_1(asks_at(0, 1, 10, Some(60)));
    assert_eq!(applications.notify(&first, Notice::Downgraded, 2), DowngradeResponse::Issue);
    let mut asks = |spec: FlowSpec| applications.asks(&of_group_1(spec));
    assert_eq!(asks(asks_at(1, 1, 20, None)), 2);
    assert_eq!(asks(asks_at(2, 1, 20, Some(71))), 2, "1000 B within 51 us are less urgent");
    assert_eq!(asks(asks_at(3, 1, 20, Some(70))), 0, "1000 B within 50 us are as urgent");
    assert_eq!(asks(asks_at(4, 2, 20, None)), 0, "another host");
    assert_eq!((asks(asks_at(5, 1, 109, None)), asks(asks_at(6, 1, 110, None))), (2, 0));
    assert_eq!(asks(FlowSpec { class: 3, ..asks_at(7, 1, 20, None) }), 3, "it asks for a lower class");
    assert_eq!(applications.asks(&asks_at(8, 1, 20, None)), 0, "another group");
    let expected = Notices { downgraded: 1, reclassified: 3, ..Notices::default() };
    assert_eq!((of_group(&applications, 1), of_group(&applications, 0)), (expected, Notices::default()));
}

#[test]
fn any_deadline_is_more_urgent_than_none_and_upgrades_only_count() {
    let mut applications = Applications::new(&[OnDowngrade::Reclassify { lasts: Span::from_us(100) }]);
    applications.notify(&asks_at(0, 1, 10, None), Notice::Downgraded, 1);
    assert_eq!(applications.asks(&asks_at(1, 1, 20, Some(1_000_000))), 0);
    assert_eq!(applications.asks(&asks_at(2, 1, 20, None)), 1);
    let upgraded = applications.notify(&asks_at(3, 2, 20, None), Notice::Upgraded, 0);
    assert_eq!((upgraded, applications.asks(&asks_at(4, 2, 21, None))), (DowngradeResponse::Issue, 0));
    let expected = Notices { downgraded: 1, upgraded: 1, reclassified: 1, ..Notices::default() };
    assert_eq!(of_group(&applications, 0), expected);
}
