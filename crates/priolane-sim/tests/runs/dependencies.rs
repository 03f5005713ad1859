//! Flows that wait for flows: their starts, computed by hand, on both engines.

use crate::support::{agreed, fifo, flow, link, new_reno, scenario};
use priolane_core::endpoint::Control;
use priolane_core::ids::FlowId;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor};
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::scenario::{ScenarioSpec, ScheduledControl, Stop};
use priolane_sim::topology::SingleSwitch;

/// One packet of 1460 B over two links of 10 Gbps and 1 us: twice 1 230 400 ps and twice 1 us.
const ONE_PACKET: u64 = 4_460_800;

/// Flows of one packet between hosts of one switch, without handshake.
fn packets(pairs: &[(u16, u16)], waits: Vec<FlowDependency>) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 6, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = (0..).zip(pairs).map(|(id, &pair)| flow(id, pair, 1460, Time::ZERO)).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    scenario.waits = waits;
    scenario
}

fn wait(flow: u32, after: &[u32], delay: Span) -> FlowDependency {
    let after = Predecessor::flows(after.iter().copied().map(FlowId), delay);
    FlowDependency { flow: FlowId(flow), after, until: None }
}

fn start(outcome: &Outcome, flow: usize) -> StartTime {
    outcome.flows.at(flow).began
}

#[test]
fn a_flow_starts_a_delay_after_the_last_byte_of_the_one_before_to_the_picosecond() {
    for delay in [Span(1), Span(123_457), Span::from_us(5), Span::from_ms(40)] {
        let outcome = agreed(&packets(&[(0, 1), (2, 3)], vec![wait(1, &[0], delay)]));
        assert_eq!(start(&outcome, 0), StartTime::AsPlanned);
        assert_eq!(start(&outcome, 1), StartTime::At(Time(ONE_PACKET) + delay));
        // Its completion time counts from its own start.
        assert_eq!(outcome.flows.at(1).fct, Some(Span(ONE_PACKET)), "{delay:?}");
        // 1 us and 84 B (67 200 ps) over each link for the ACK; then a millisecond of grace.
        let acked = ONE_PACKET + 2 * (1_000_000 + 67_200);
        assert_eq!(outcome.stopped_at, Time(ONE_PACKET + acked) + delay + Span::from_ms(1));
    }
}

#[test]
fn news_leaves_when_the_receiving_host_has_processed_the_packet() {
    let mut scenario = packets(&[(0, 1), (2, 3)], vec![wait(1, &[0], Span::from_us(5))]);
    scenario.host_delay = Span::from_ns(700);
    let outcome = agreed(&scenario);
    assert_eq!(start(&outcome, 1), StartTime::At(Time(ONE_PACKET + 700_000 + 5_000_000)));
    assert_eq!(outcome.flows.at(1).fct, Some(Span(ONE_PACKET)));
}

#[test]
fn an_answer_of_the_receiving_host_may_come_without_delay() {
    let outcome = agreed(&packets(
        &[(0, 1), (1, 0), (0, 1)],
        vec![wait(1, &[0], Span::ZERO), wait(2, &[1], Span::ZERO)],
    ));
    assert_eq!(start(&outcome, 1), StartTime::At(Time(ONE_PACKET)));
    // The ACK of the first packet is on the line when the answer is ready: 84 B, 67 200 ps.
    assert_eq!(outcome.flows.at(1).fct, Some(Span(ONE_PACKET + 67_200)));
    assert_eq!(start(&outcome, 2), StartTime::At(Time(2 * ONE_PACKET + 67_200)));
}

#[test]
fn a_flow_waits_for_the_last_of_several_and_for_its_own_start() {
    // Flows 0 and 1 share host 1's link: the second packet is one serialization later.
    let several = vec![wait(2, &[0, 1], Span::from_us(2)), wait(3, &[0, 1], Span::from_us(2))];
    let mut scenario = packets(&[(0, 1), (2, 1), (3, 4), (4, 5)], several);
    scenario.flows.edit(3, |flow| flow.start = Time(50_000_000));
    let outcome = agreed(&scenario);
    assert_eq!(start(&outcome, 2), StartTime::At(Time(ONE_PACKET + 1_230_400 + 2_000_000)));
    assert_eq!(start(&outcome, 3), StartTime::At(Time(50_000_000)));
}

#[test]
fn a_bounded_flow_starts_before_its_bound_or_never_with_all_that_wait_for_it() {
    let release = ONE_PACKET + 1_000_000;
    for (until, began) in [
        (release + 1, [StartTime::At(Time(release)), StartTime::At(Time(release + ONE_PACKET + 1_000_000))]),
        (release, [StartTime::NotIssued, StartTime::NotIssued]),
    ] {
        let delay = Span::from_us(1);
        let bounded = FlowDependency { until: Some(Time(until)), ..wait(1, &[0], delay) };
        let outcome = agreed(&packets(&[(0, 1), (2, 3), (3, 4)], vec![bounded, wait(2, &[1], delay)]));
        assert_eq!([start(&outcome, 1), start(&outcome, 2)], began);
        // Nobody waits for flows that will not start.
        let last: u64 = if began[0] == StartTime::NotIssued { 0 } else { 2 * (ONE_PACKET + 1_000_000) };
        let acked = ONE_PACKET + 2 * (1_000_000 + 67_200);
        assert_eq!(outcome.stopped_at, Time(last + acked) + Span::from_ms(1));
    }
}

#[test]
fn what_waits_for_an_aborted_flow_never_starts_and_the_run_ends_all_the_same() {
    let abort = |us: u64, flow| ScheduledControl {
        at: Time(us * 1_000_000),
        flow: FlowId(flow),
        control: Control::Abort,
    };
    // Aborted in flight; while it waits; when its start is known but has not come.
    for (control, began) in [
        (abort(1, 0), [StartTime::AsPlanned, StartTime::Never]),
        (abort(4, 1), [StartTime::AsPlanned, StartTime::Never]),
        (abort(6, 1), [StartTime::AsPlanned, StartTime::Never]),
    ] {
        let mut scenario = packets(&[(0, 1), (2, 3)], vec![wait(1, &[0], Span::from_us(100))]);
        scenario
            .flows
            .edit(0, |flow| flow.size = Some(if control.flow == FlowId(0) { 1_000_000 } else { 1460 }));
        scenario.controls = vec![control];
        let outcome = agreed(&scenario);
        assert_eq!([start(&outcome, 0), start(&outcome, 1)], began, "{control:?}");
        assert!(outcome.stopped_at < Time(1_100_000_000), "{:?}", outcome.stopped_at);
    }
}

#[test]
fn flows_that_wait_at_the_end_are_neither_lost_nor_counted_as_done() {
    let mut scenario = packets(&[(0, 1), (2, 3)], vec![wait(1, &[0], Span::from_us(5))]);
    scenario.stop = Stop::At(Time(9_460_800));
    assert_eq!(start(&agreed(&scenario), 1), StartTime::Never);
    scenario.stop = Stop::At(Time(9_460_801));
    assert_eq!(start(&agreed(&scenario), 1), StartTime::At(Time(9_460_800)));
}
