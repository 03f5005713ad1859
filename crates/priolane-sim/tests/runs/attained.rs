//! Flows that were under way when the run began: schemes that count bytes go on from where these flows were.

use crate::support::{agreed, fifo, flow, link, scenario};
use priolane_core::assign::{Count, DemotionThresholds};
use priolane_core::endpoint::FlowSpec;
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{Controller, Transport, new_reno};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::SingleSwitch;

/// One host that sends flows of these bytes to another, with the bytes that each of them had sent before.
fn sender(flows: &[(u64, u64)]) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = (0..)
        .zip(flows)
        .map(|(id, &(bytes, attained))| FlowSpec { attained, ..flow(id, (0, 1), bytes, Time::ZERO) });
    scenario(topology, fifo(Buffer::UNLIMITED), flows.collect())
}

fn classes(outcome: &Outcome) -> Vec<(u8, u8)> {
    outcome.flows.iter().map(|record| (record.class.first, record.class.last)).collect()
}

#[test]
fn demotion_goes_on_from_the_bytes_sent_before() {
    for count in [Count::StreamOffset, Count::BytesSent] {
        let class = DemotionThresholds::new(&[10_000, 50_000, 100_000], count).unwrap();
        let mut scenario = sender(&[(14_600, 0), (14_600, 45_000), (1_460, 100_000), (14_600, 49_999)]);
        let window =
            window::Config { class, handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
        scenario.transport = crate::support::window(crate::support::new_reno(), window);
        // 45,000 B and four packets are 50,840 B, beyond the second threshold; 49,999 B and one packet, too.
        assert_eq!(classes(&agreed(&scenario)), [(0, 1), (1, 2), (3, 3), (1, 2)], "{count:?}");
    }
}

#[test]
fn least_attained_service_counts_the_bytes_sent_before() {
    let mut scenario = sender(&[(146_000, 0), (14_600, 1_000_000)]);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    let controller = Controller::NewReno(new_reno::Config { init_window: Some(1_000_000) });
    scenario.transport = Transport::Window { window, controller, scheduler: SchedulerKind::Las };
    let long_before_short = |outcome: &Outcome| outcome.flows.at(0).fct < outcome.flows.at(1).fct;
    assert!(long_before_short(&agreed(&scenario)));
    scenario.flows.edit_all(|flow| flow.attained = 0);
    assert!(!long_before_short(&agreed(&scenario)));
}
