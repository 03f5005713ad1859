//! Watchdogs of lossless classes (PFC): storms begin and end when reckoned by hand, deadlocks end; both engines.

use crate::lossless::{agreed, dropped, ring, spec};
use crate::support::{Draw, fifo, flow, scenario};
use priolane_core::ids::HostId;
use priolane_core::port::Buffer;
use priolane_core::port::pfc::watchdog::{StormAction, Watchdog};
use priolane_core::port::pfc::{PfcSpec, Xoff};
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{ScenarioSpec, Stop};
use priolane_sim::topology::file;

const MS: u64 = 1_000_000_000;
const ACTIONS: [StormAction; 2] = [StormAction::Drop, StormAction::Forward];

fn watched(pfc: PfcSpec, after: Span, action: StormAction, restore: Span) -> PfcSpec {
    PfcSpec { watchdog: Some(Watchdog { after, action, restore }), ..pfc }
}

fn storms(outcome: &Outcome) -> u64 {
    outcome.storms.iter().map(|storm| storm.storms).sum()
}

fn by_watchdog(outcome: &Outcome) -> u64 {
    outcome.storms.iter().map(|storm| storm.dropped.packets).sum()
}

/// A host, two switches and a host, 10 Gbps and 1 us each but for the last link; a flow of 100 packets, and short ones.
fn chain(last: &str, pfc: PfcSpec, later: &[(u64, u64)]) -> ScenarioSpec {
    let text = format!(
        "node,a,host\nnode,b,host\nnode,s,switch\nnode,t,switch\nlink,a,s,10Gbps,1us\nlink,s,t,10Gbps,1us\nlink,t,b,{last},1us\n"
    );
    let topology = file::parse(&text).unwrap();
    let host = |name: &str| topology.find_node(name).unwrap().0 as u16;
    let pair = (host("a"), host("b"));
    let mut flows = vec![flow(0, pair, 100 * 1_460, Time::ZERO)];
    flows.extend(
        later
            .iter()
            .enumerate()
            .map(|(i, &(packets, at))| flow(1 + i as u32, pair, packets * 1_460, Time(at))),
    );
    let mut scenario = scenario(topology.clone(), fifo(Buffer::UNLIMITED), flows);
    scenario.switch.lossless = Some(pfc);
    scenario.stop = Stop::At(Time(10 * MS));
    scenario
}

/// Ten packets until a class is paused, resumed at eight.
fn ten() -> PfcSpec {
    spec(1_000_000, Xoff::Bytes(10 * 1538), 1)
}

#[test]
fn a_pause_that_lasts_is_a_storm_and_its_packets_are_dropped_to_the_packet() {
    // The last link takes 12.304 ms a packet. Packet k arrives at the second switch at 2 us + (k + 1) 1.2304 us: one is
    // sent, ten wait, the 12th pauses, at the first switch from 19.0624 us on, which has sent 14. The 25th pauses the
    // host, which sends the 27th: 13 wait at the first switch until the storm, and the other 73 arrive in it.
    let paused_at = 19_062_400;
    let run = |after, action| agreed(&chain("1Mbps", watched(ten(), after, action, Span(MS)), &[]));
    let drop = run(Span(MS), StormAction::Drop);
    assert_eq!((storms(&drop), by_watchdog(&drop), dropped(&drop, 0)), (1, 86, 86));
    let storm = drop.storms[0];
    let port = drop.ports.iter().find(|port| port.link == storm.link).unwrap();
    assert_eq!((port.packets, port.paused), (14, Span(10 * MS - paused_at)));
    // The headroom of the second switch is 7,199 B: of four packets, three of which are there.
    let forward = run(Span(MS), StormAction::Forward);
    assert_eq!((storms(&forward), by_watchdog(&forward), dropped(&forward, 0)), (1, 0, 85));
    // At 10 Mbps pauses last 6.2 ms each, one soon after the other: none is a storm, whatever the first deadline finds.
    for action in ACTIONS {
        let short = agreed(&chain("10Mbps", watched(ten(), Span(7 * MS), action, Span(MS)), &[]));
        assert_eq!((storms(&short), dropped(&short, 0)), (0, 0), "{action:?}");
    }
    // To the picosecond: the run ends at 10 ms, and a storm that would begin then or later is none.
    let left = 10 * MS - paused_at;
    for action in ACTIONS {
        assert_eq!(storms(&run(Span(left - 1), action)), 1);
        assert_eq!(storms(&run(Span(left + 1), action)), 0);
    }
}

#[test]
fn a_storm_ends_when_the_pause_has_been_absent_for_its_time() {
    // The last link takes 1.2304 ms a packet, from 4.4608 us on. Three packets leave the headroom, two more leave eight:
    // resume at 6.1564608 ms, 1.0672 us later at the first switch.
    let resumed = 6_157_528_000_u64;
    for restore in [Span(MS), Span(MS / 4)] {
        // Its link to the first switch takes 1.2304 us and 1 us.
        let ends = resumed + restore.0 - 2_230_400;
        let pfc = watched(ten(), Span(MS), StormAction::Drop, restore);
        let outcome = agreed(&chain("10Mbps", pfc, &[(1, ends - 1_000), (2, ends + 1_000_000)]));
        assert_eq!((storms(&outcome), by_watchdog(&outcome)), (1, 87), "{restore:?}");
        let served = outcome.ports.iter().find(|port| port.link == outcome.storms[0].link).unwrap();
        assert_eq!(served.packets, 14 + 2);
    }
}

#[test]
fn a_ring_of_pauses_ends_under_both_actions() {
    assert!(!agreed(&ring(5)).deadlock.is_empty());
    for action in ACTIONS {
        let mut scenario = ring(5);
        let pfc = scenario.switch.lossless.unwrap();
        scenario.switch.lossless = Some(watched(pfc, Span(MS), action, Span(MS)));
        let outcome = agreed(&scenario);
        assert!(outcome.deadlock.is_empty(), "{action:?}: {:?}", outcome.deadlock);
        assert!(storms(&outcome) > 0 && dropped(&outcome, 0) > 0, "{action:?}");
        let alone = by_watchdog(&outcome);
        assert_eq!(alone, if action == StormAction::Drop { dropped(&outcome, 0) } else { 0 });
        // Nothing is left in the network: all that was not dropped arrived.
        assert_eq!(outcome.ledger.resident[0].packets, 0, "{action:?}");
    }
}

#[test]
fn in_random_networks_a_watchdog_drops_what_lossless_classes_lose_and_a_late_one_changes_nothing() {
    let (mut met, mut lost) = (0, 0);
    for seed in 0..rounds(60, 1_000) {
        let mut draw = Draw::new(41_000 + seed);
        let topology = draw.topology(&[0.0]);
        let flows = draw.flows(topology.hosts, 20 + (seed % 40) as u32);
        let port = draw.pausable_port();
        let mut scenario = scenario(topology, port, flows);
        let hosts = scenario.topology.hosts as u16;
        scenario.flows.edit_all(|f| (f.src, f.dst) = (HostId(1 + f.src.0 % (hosts - 1)), HostId(0)));
        let pfc = draw.lossless();
        scenario.stop = Stop::At(Time(draw.pick(&[50 * MS, MS / 3])));
        scenario.sample_every = draw.pick(&[None, Some(Span(3_333_333))]);
        let time = |draw: &mut Draw| Span(draw.pick(&[1, 1_000, 2_000_000, 30_000_000, 400_000_000]));
        let (after, restore) = (time(&mut draw), time(&mut draw));
        let mut with = |after, action| {
            scenario.switch.lossless = Some(watched(pfc, after, action, restore));
            agreed(&scenario)
        };
        let outcome = with(after, StormAction::Drop);
        let lossless: u64 = pfc.lossless.iter().map(|class| dropped(&outcome, usize::from(class))).sum();
        assert_eq!(lossless, by_watchdog(&outcome), "seed {seed}");
        (met, lost) = (met + storms(&outcome), lost + lossless);
        assert_eq!(by_watchdog(&with(after, StormAction::Forward)), 0, "seed {seed}");
        let late = with(Span(1_000 * MS), StormAction::Drop);
        scenario.switch.lossless = Some(pfc);
        let without = agreed(&scenario);
        assert_eq!(
            (late.ports, late.queues, late.ledger),
            (without.ports, without.queues, without.ledger),
            "seed {seed}"
        );
        assert!(late.flows == without.flows && late.samples == without.samples, "seed {seed}");
    }
    assert!(met > 100 && lost > 1_000, "{met} {lost}");
}
