//! HPCC through lossless switches: links are used as much as it aims at, with hardly a queue, and shared evenly.

use crate::support::{HPCC, agreed, fifo, flow, link, scenario};
use priolane_core::ids::ClassSet;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{HeadroomFrom, PfcSpec, Xoff};
use priolane_core::port::{Alpha, Buffer, SharedBuffer};
use priolane_core::transport::Controller;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{ScenarioSpec, Stop};
use priolane_sim::topology::Dumbbell;

/// `senders` hosts, each with a flow of `bytes` across one link of 100 Gbps: six links of 1 us there and back.
fn across(senders: u32, bytes: u64, until: Time) -> ScenarioSpec {
    let all = link(100, Span::from_us(1));
    let topology =
        Dumbbell { left: senders, right: senders, host_link: all, bottleneck: all }.build().unwrap();
    let pair = |i: u32| (i as u16, (senders + i) as u16);
    let flows = (0..senders).map(|i| flow(i, pair(i), bytes, Time(u64::from(i) * 20_000_000))).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    scenario.frame = Frame { mtu: 1_048, header: 48, ..Frame::ETHERNET };
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(scenario.frame) };
    scenario.transport = crate::support::window(Controller::Hpcc(HPCC), window);
    scenario.switch.lossless = Some(PfcSpec {
        memory: SharedBuffer { size: 2_000_000, alpha: Alpha::new((1, 1)).unwrap() },
        lossless: ClassSet(1),
        xoff: Xoff::OfFree(Alpha::new((11, 100)).unwrap()),
        xon_below: 3_000,
        headroom: HeadroomFrom::Memory,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    });
    scenario.stop = Stop::At(until);
    scenario
}

/// Packets served, bytes served and time waited at the port of the bottleneck.
fn bottleneck(outcome: &Outcome, scenario: &ScenarioSpec) -> [u64; 3] {
    let link = scenario.topology.link_between("left", "right").unwrap();
    let of = |field: fn(&priolane_sim::outcome::PortClassRecord) -> u64| {
        outcome.ports.iter().filter(|p| p.link == link).map(field).sum()
    };
    [of(|p| p.packets), of(|p| p.bytes), of(|p| p.waited)]
}

#[test]
fn a_link_is_used_to_eta_with_hardly_a_queue_whatever_the_number_of_flows() {
    for senders in [1, 2, 8] {
        let [early, late] = [Time(4_000_000_000), Time(8_000_000_000)].map(|until| {
            let scenario = across(senders, u64::MAX >> 20, until);
            bottleneck(&agreed(&scenario), &scenario)
        });
        let [packets, bytes, waited] = std::array::from_fn(|i| (late[i] - early[i]) as f64);
        // 4 ms of 100 Gbps are 50 MB. Each flow adds 0.0005 of a full window to what eta leaves in flight.
        let used = bytes / 50e6;
        let aim = 0.95 + 0.0005 * f64::from(senders);
        assert!((used - aim).abs() < 0.01, "{senders}: {used}");
        // A packet of 1,086 B takes 87 ns.
        let wait_ns = waited / packets / 1e3;
        assert!(wait_ns < 3.0 * 87.0, "{senders}: {wait_ns} ns");
    }
}

#[test]
fn an_incast_that_starts_at_full_windows_is_paused_loses_nothing_and_ends() {
    let mut scenario = across(16, 400_000, Time(20_000_000_000));
    scenario.flows.edit_all(|f| f.start = Time::ZERO);
    let outcome = agreed(&scenario);
    assert!(outcome.ports.iter().all(|p| p.dropped == 0));
    assert!(outcome.ports.iter().any(|p| p.paused > Span::ZERO));
    // 16 flows of 400 packets at 100 Gbps are 556 us; at eta 585 us.
    let last = outcome.flows.iter().map(|f| f.fct.unwrap()).max().unwrap();
    assert!((Span::from_us(556)..Span::from_us(750)).contains(&last), "{last:?}");
}
