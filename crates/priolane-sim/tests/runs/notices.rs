//! Tests of the reactions of applications that are told of a downgrade, by hand and on both engines.

use crate::support::admission::aequitas;
use crate::support::{agreed, flow, link, scenario, strict};
use priolane_core::admit::aequitas;
use priolane_core::admit::{Monitoring, Policy, pase};
use priolane_core::endpoint::{Control, FlowSpec};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::port::Buffer;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Notices, Outcome};
use priolane_sim::scenario::{OnDowngrade, ScenarioSpec, ScheduledControl};
use priolane_sim::topology::SingleSwitch;

/// A flow of host 0 to host 2 that starts at `us` and has `allowed` from then on.
fn timed(id: u32, bytes: u64, us: u64, allowed: Span) -> FlowSpec {
    let start = Time(us * 1_000_000);
    FlowSpec { deadline: Some(start + allowed), ..flow(id, (0, 2), bytes, start) }
}

/// PASE at 10 Gbps: two flows of 500 kB in 500 us ask for 8 Gbps each and have all of 1 MB sent after some 850 us;
/// meanwhile the third, 20 kB from 100 us on, would be sent to the lowest class.
fn behind_two(third: FlowSpec, reaction: OnDowngrade) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let half_a_millisecond = Span::from_us(500);
    let first = [0, 1].map(|id| timed(id, 500_000, 0, half_a_millisecond));
    let flows = first.into_iter().chain([third]).collect();
    let mut scenario = scenario(topology, strict(3, Buffer::UNLIMITED), flows);
    scenario.admission = Policy::Pase(pase::Config { levels: 3, monitoring: Monitoring::default() });
    scenario.on_downgrade = vec![reaction];
    scenario
}

fn third(allowed: Span) -> FlowSpec {
    timed(2, 20_000, 100, allowed)
}

fn notices(outcome: &Outcome) -> Notices {
    assert_eq!(outcome.notices.len(), 1, "one host, one group");
    let (host, group, notices) = outcome.notices[0];
    assert_eq!((host, group), (HostId(0), 0));
    notices
}

const BY: Span = Span::from_us(400);

#[test]
fn a_flow_that_ignores_the_notice_runs_at_the_class_it_is_given() {
    let outcome = agreed(&behind_two(third(Span::from_ms(10)), OnDowngrade::Ignore));
    let record = outcome.flows.at(2);
    assert_eq!((record.class.given, record.held), (2, Span::ZERO));
    assert_eq!(notices(&outcome), Notices { downgraded: 1, ..Notices::default() });
}

#[test]
fn a_flow_that_is_held_back_asks_again_and_its_time_counts_from_its_start() {
    let outcome = agreed(&behind_two(third(Span::from_ms(10)), OnDowngrade::Defer { by: BY, times: 3 }));
    let record = outcome.flows.at(2);
    // It asks at 100, 500 and 900 us; at 900 the line is free.
    assert_eq!((record.class.given, record.held), (0, BY.times(2)));
    let expected = Notices { downgraded: 2, deferrals: 2, held: BY.times(2), ..Notices::default() };
    assert_eq!(notices(&outcome), expected);
    let (fct, acked) = (record.fct.unwrap(), record.fct_acked.unwrap());
    // 20 kB take 16 us and a round trip or two of 4 us.
    assert!(fct > BY.times(2) + Span::from_us(16) && fct < BY.times(2) + Span::from_us(40), "{fct:?}");
    assert!(acked > fct && acked < fct + Span::from_us(10), "{acked:?}");
}

#[test]
fn a_flow_is_held_back_no_more_often_than_its_application_has_patience_for() {
    let outcome = agreed(&behind_two(third(Span::from_ms(10)), OnDowngrade::Defer { by: BY, times: 1 }));
    assert_eq!((outcome.flows.at(2).class.given, outcome.flows.at(2).held), (2, BY));
    assert_eq!(notices(&outcome), Notices { downgraded: 2, deferrals: 1, held: BY, ..Notices::default() });
}

#[test]
fn a_flow_is_not_held_back_beyond_its_deadline() {
    // Until 550 us; it would ask again at 600.
    let (short, by) = (third(Span::from_us(450)), Span::from_us(500));
    let outcome = agreed(&behind_two(short, OnDowngrade::Defer { by, times: 3 }));
    assert_eq!((outcome.flows.at(2).class.given, outcome.flows.at(2).held), (2, Span::ZERO));
    assert_eq!(notices(&outcome), Notices { downgraded: 1, ..Notices::default() });
}

#[test]
fn a_flow_that_is_aborted_while_it_is_held_back_never_starts() {
    let mut scenario = behind_two(third(Span::from_ms(10)), OnDowngrade::Defer { by: BY, times: 3 });
    let control = Control::Abort;
    scenario.controls = vec![ScheduledControl { at: Time(300_000_000), flow: FlowId(2), control }];
    let outcome = agreed(&scenario);
    assert_eq!((outcome.flows.at(2).fct, outcome.flows.at(2).retransmits), (None, 0));
    assert!(outcome.stopped_at < Time(2_100_000_000), "nobody waits for it: {:?}", outcome.stopped_at);
}

#[test]
fn less_urgent_flows_ask_for_no_more_than_the_last_was_given() {
    let topology = SingleSwitch { hosts: 4, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let of = |id, us, bytes| timed(id, bytes, us, Span::from_ms(1));
    let flows = vec![
        of(0, 0, 10_000),   // late by any target: from then on nobody is admitted at class 0 to host 2
        of(1, 100, 20_000), // downgraded to 2
        of(2, 200, 10_000), // half as urgent: asks for 2
        of(3, 300, 20_000), // as urgent: asks for 0, is downgraded
        FlowSpec { dst: HostId(3), ..of(4, 400, 10_000) }, // another destination
        FlowSpec { class: 1, ..of(5, 500, 10_000) }, // asks for 2 instead of 1
        of(6, 900, 10_000), // the notice of 300 us has lasted 500 us: asks for 0
    ];
    let mut scenario = scenario(topology, strict(3, Buffer::UNLIMITED), flows);
    let config = aequitas(Span::from_us(1));
    scenario.admission = Policy::Aequitas(aequitas::Config { beta: 1.0, floor: 1e-12, ..config });
    scenario.on_downgrade = vec![OnDowngrade::Reclassify { lasts: Span::from_us(500) }];
    let outcome = agreed(&scenario);
    let given: Vec<_> = outcome.flows.iter().map(|flow| (flow.class.asked, flow.class.given)).collect();
    assert_eq!(given, [(0, 0), (0, 2), (0, 2), (0, 2), (0, 0), (1, 2), (0, 2)]);
    let expected = Notices { downgraded: 3, reclassified: 2, ..Notices::default() };
    assert_eq!(notices(&outcome), expected);
}
