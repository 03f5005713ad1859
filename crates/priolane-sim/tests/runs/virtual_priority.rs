//! PrioPlus over one queue: classes that take and give back, incasts, starved classes, and what probes cost.

use crate::support::{LEDBAT, SWIFT, drive, flow, link, prioplus, run, run_traced, scenario};
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::HostId;
use priolane_core::noise::DelayNoise;
use priolane_core::packet::{Frame, Kind, Marks};
use priolane_core::port::{Buffer, DisciplineSpec, StrictSpec};
use priolane_core::transport::Controller;
use priolane_core::transport::prioplus::Variant;
use priolane_core::transport::window::{self, ControlClass, Handshake};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, PortSpec, ScenarioSpec, Stop};
use priolane_sim::topology::SingleSwitch;

/// Data in one queue, ACKs (class 15) before it.
fn port() -> PortSpec {
    let mut map = [1; 16];
    map[15] = 0;
    PortSpec {
        discipline: DisciplineSpec::Strict(StrictSpec { queues: 2, map }),
        buffer: Buffer { limit: Limit::Unlimited, ..Buffer::UNLIMITED },
    }
}

/// Senders on 100 Gbps, 1,000 B of payload a packet, 3 us a link: 12 us there and back, to the last host.
fn star(senders: u32, flows: Vec<FlowSpec>, controller: Controller) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: senders + 1, host_link: link(100, Span::from_us(3)) };
    let mut scenario = scenario(topology.build().unwrap(), port(), flows);
    scenario.frame = Frame { mtu: 1_048, header: 48, ..Frame::ETHERNET };
    let every = Some(Span::from_us(10));
    let window = window::Config {
        handshake: Handshake::None,
        control_class: ControlClass::Fixed(15),
        monitor: every,
        ..window::Config::new(scenario.frame)
    };
    scenario.transport = crate::support::window(controller, window);
    scenario.rates_every = every;
    scenario
}

fn outcome(scenario: &ScenarioSpec) -> Outcome {
    run(scenario, drive(Engine::Window))
}

/// Goodput in Gbps of the flows that `is` names, between two instants in microseconds.
fn gbps(outcome: &Outcome, is: impl Fn(u32) -> bool, from: u64, until: u64) -> f64 {
    let mut last = std::collections::BTreeMap::new();
    let mut bytes = 0;
    for report in outcome.flow_samples.iter().filter(|r| is(r.flow.0)) {
        let before = last.insert(report.flow, report.acked_bytes).unwrap_or(0);
        if (from * 1_000_000..until * 1_000_000).contains(&report.at.0) {
            bytes += report.acked_bytes - before;
        }
    }
    bytes as f64 * 8e-3 / (until - from) as f64
}

/// Two endless flows of class 7 from the start, two of class `class` with 12 MB each from 1 ms on.
fn two_classes(class: u8, controller: Controller) -> ScenarioSpec {
    let low = (0..2u32).map(|i| FlowSpec { class: 7, size: None, ..flow(i, (i as u16, 4), 1, Time::ZERO) });
    let from = Time(1_000_000_000);
    let high = (2..4u32).map(|i| FlowSpec { class, ..flow(i, (i as u16, 4), 12_000_000, from) });
    let mut scenario = star(4, low.chain(high).collect(), controller);
    scenario.stop = Stop::At(Time(4_000_000_000));
    scenario
}

fn paper(n: u64) -> Controller {
    Controller::PrioPlusSwift(prioplus(SWIFT, Variant::Paper, n))
}

/// The payload that the line carries: 1,000 of 1,086 B.
const FULL: f64 = 100.0 / 1.086;

/// Property: the lower class has stopped after two round trips of 12 us; what it had in flight, at most three times what
/// fills the path with the two windows of the higher class, is gone 36 us later, and its ACKs after another 12.
#[test]
fn a_higher_class_takes_the_line_in_two_round_trips_and_gives_it_back() {
    let outcome = outcome(&two_classes(0, paper(8)));
    let low = |from, until| gbps(&outcome, |f| f < 2, from, until) / FULL;
    let high = |from, until| gbps(&outcome, |f| f > 1, from, until) / FULL;
    assert!(low(500, 1_000) > 0.98, "{}", low(500, 1_000));
    assert!(
        low(1_080, 3_080) < 0.002 && high(1_080, 3_080) > 0.98,
        "{} {}",
        low(1_080, 3_080),
        high(1_080, 3_080)
    );
    // 24 MB take 2.085 ms of the line; four round trips are lost at both ends.
    let last = outcome.flows.range(2..).map(|f| f.fct.unwrap()).max().unwrap();
    assert!(last < Span::from_us(2_133), "{last:?}");
    // Back: a wait, a probe, and the eight round trips of linear start with 1/8, shared by two.
    assert!(low(3_290, 3_900) > 0.98, "{}", low(3_290, 3_900));
}

#[test]
fn two_flows_of_a_class_use_the_line_with_noise_as_wide_as_the_channel_allows() {
    for (noise, least) in [(None, 0.98), (Some(800e-9), 0.98)] {
        let mut scenario = two_classes(7, paper(8));
        scenario.flows.truncate(2);
        scenario.measuring.noise =
            noise.map(|most| DelayNoise::new(&[(0.0, 0.0), (most, 1.0)], 1.0).unwrap());
        let share = gbps(&outcome(&scenario), |_| true, 1_000, 4_000) / FULL;
        assert!(share > least, "{noise:?}: {share}");
    }
}

/// 300 flows of 500 kB from 30 hosts to one, all of class 4, D_limit 18.4 us above the empty path.
#[test]
fn an_incast_stays_below_its_limit_once_flows_have_counted_each_other() {
    let flow = |i: u32| flow(i, ((i % 30) as u16, 30), 500_000, Time(u64::from(i) * 1_000));
    let mut scenario = star(30, (0..300).map(|i| FlowSpec { class: 4, ..flow(i) }).collect(), paper(8));
    scenario.sample_every = Some(Span::from_us(1));
    let outcome = outcome(&scenario);
    assert!(outcome.flows.iter().all(|f| f.fct.is_some()));
    // 150 MB take 13.03 ms of the line: three quarters of it are used up to the end of the last flow.
    assert!(outcome.stopped_at < Time(17_400_000_000), "{:?}", outcome.stopped_at);
    let down = scenario.topology.downlink(HostId(30));
    // A byte takes 80 ps.
    let of_port = outcome.samples.ports.iter().filter(|s| s.link == down);
    let queue: Vec<(Time, u64)> = of_port.map(|s| (s.at, s.queued_bytes * 80)).collect();
    let peak = queue.iter().map(|q| q.1).max().unwrap();
    // Every one finds an empty path first: 300 shares of a quarter of 152 kB would be 0.9 ms. It peaks at 621 us; from
    // the 140th round trip of 12 us on the channel holds.
    assert!((300_000_000..900_000_000).contains(&peak), "{peak}");
    let mut held: Vec<u64> = queue.iter().filter(|q| q.0 > Time(1_680_000_000)).map(|q| q.1).collect();
    held.sort_unstable();
    let p99 = held[held.len() * 99 / 100];
    assert!(p99 <= 18_400_000, "{p99}");
}

/// Property: a yielding flow sends 64 B per round trip and (delay - D_target) + U(0, base round trip), and nothing else.
#[test]
fn probes_of_yielding_flows_cost_what_the_formula_says() {
    // 10 Gbps: a packet of 1,086 B takes 868.8 ns, a probe or ACK of 84 B (64 B and what is around it) 67.2 ns.
    let (packet, probe) = (868_800u64, 67_200u64);
    let base = 12_000_000 + 2 * packet + 2 * probe;
    let lows = 4u32;
    let low = (0..lows).map(|i| FlowSpec {
        class: 7,
        size: None,
        ..flow(2 + i, (i as u16, 6), 1, Time(1_000_000_000))
    });
    // Two of the best class: one alone has no queue but at its host.
    let high =
        (0..2).map(|i| FlowSpec { class: 0, size: None, ..flow(i, ((lows + i) as u16, 6), 1, Time::ZERO) });
    let mut scenario = star(6, high.chain(low).collect(), paper(8));
    let topology = SingleSwitch { hosts: 7, host_link: link(10, Span::from_us(3)) };
    scenario.topology = topology.build().unwrap();
    scenario.stop = Stop::At(Time(30_000_000_000));
    let (mut waits, mut jitter) = (0u64, 0.0);
    for id in 2..2 + lows {
        let (_, trace) = run_traced(&scenario, id);
        let probes = trace.packets.iter().filter(|p| p.header.kind == Kind::Probe && p.header.wire == 84);
        assert_eq!(probes.count(), trace.packets.len(), "nothing but probes of 84 B");
        let answers = trace.packets.iter().filter(|p| p.header.marks.has(Marks::ECHO));
        let sent = trace.packets.iter().filter(|p| !p.header.marks.has(Marks::ECHO));
        let mut answered = None;
        for (sent, answer) in sent.zip(answers) {
            // From the second on: how long after the answer to the one before, less (delay - D_target).
            if let Some((at, delay)) =
                answered.replace((answer.delivered, answer.delivered.map(|at| at.since(sent.made))))
                && let (Some(at), Some(Span(delay))) = (at, delay)
            {
                // The delay of a probe lacks what a packet takes longer on two lines; D_target is 4 us above the base.
                let above = (delay + 2 * (packet - probe)) as f64 - (base + 4_000_000) as f64;
                jitter += sent.made.since(at).0 as f64 - above;
                waits += 1;
            }
        }
    }
    assert!(waits >= 1_000, "{waits}");
    // Even over a base round trip: a mean of half of it, a sigma of 1 / sqrt(12) of it.
    let sigma = base as f64 / 12f64.sqrt() / (waits as f64).sqrt();
    let mean = jitter / waits as f64;
    assert!((mean - base as f64 / 2.0).abs() < 4.0 * sigma, "{mean} after {waits}, sigma {sigma}");
}

#[test]
fn starved_classes_finish() {
    let inner = |variant| {
        [
            Controller::PrioPlusSwift(prioplus(SWIFT, variant, 8)),
            Controller::PrioPlusLedbat(prioplus(LEDBAT, variant, 8)),
        ]
    };
    for controller in [inner(Variant::Paper), inner(Variant::Released)].concat() {
        let class = |i: u32| (i % 8) as u8;
        let flows = (0..24u32)
            .map(|i| FlowSpec { class: class(i), ..flow(i, ((i % 6) as u16, 6), 1_000_000, Time::ZERO) });
        let outcome = outcome(&star(6, flows.collect(), controller.clone()));
        let fct = |of: u8| {
            let own = outcome.flows.iter().enumerate().filter(|(i, _)| class(*i as u32) == of);
            own.map(|(_, f)| f.fct.expect("every flow ends")).max().unwrap()
        };
        assert!(fct(0) < fct(4) && fct(0) < fct(7), "{controller:?}");
    }
}
