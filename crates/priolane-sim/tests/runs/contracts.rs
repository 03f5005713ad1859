//! The contracts are not shaped by DCTCP: a receiver-paced transport with a delay probe, over a rate-limited
//! port, on both engines.

use crate::support::paced::Paced;
use crate::support::{drive, fifo, flow, link, physics, run_with, scenario, strict};
use priolane_core::port::{Buffer, DisciplineSpec, LimitedSpec};
use priolane_core::units::{Rate, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, PortSpec, ScenarioSpec};
use priolane_sim::topology::{LeafSpine, SingleSwitch};

fn run(scenario: &ScenarioSpec, engine: Engine) -> Outcome {
    let interval = Rate::from_gbps(10).serialize(1538 + 84);
    run_with(scenario, drive(engine), &|h| Paced::new(h, scenario.frame, interval))
}

fn incast() -> ScenarioSpec {
    let topology = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 4,
        host_link: link(10, Span::from_us(1)),
        fabric_link: link(40, Span::from_us(1)),
        links_per_pair: 1,
    };
    let flows = (0..11).map(|i| flow(i, (i as u16 + 1, 0), 100_000, Time(u64::from(i) * 1_000))).collect();
    scenario(topology.build().unwrap(), strict(2, Buffer::UNLIMITED), flows)
}

#[test]
fn a_receiver_paced_transport_completes_alike_on_both_engines() {
    let scenario = incast();
    let window = physics(run(&scenario, Engine::Window));
    let wheel = physics(run(&scenario, Engine::Wheel));
    assert_eq!(window, wheel);
    assert!(window.flows.iter().all(|f| f.fct.is_some() && f.fct_acked.is_some()));
    // 11 x 69 packets at one per 1622 B on 10G: 759 * 1.2976 us, plus two trips.
    let last = window.flows.iter().filter_map(|f| f.fct).max().unwrap();
    let paced = Span(759 * 1_297_600);
    assert!(last > paced && last < Span(paced.0 + 40_000_000), "{last:?} against {paced:?}");
}

#[test]
fn pacing_keeps_queues_to_a_few_packets_that_a_window_would_fill() {
    let mut scenario = incast();
    scenario.sample_every = Some(Span::from_us(5));
    let outcome = run(&scenario, Engine::Window);
    let peak = outcome.samples.ports.iter().map(|s| s.queued_packets).max().unwrap_or(0);
    assert!(peak <= 11, "{peak}");
    assert_eq!(physics(outcome), physics(run(&scenario, Engine::Wheel)));
}

#[test]
fn a_rate_limited_port_is_as_slow_as_it_says_on_both_engines() {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(2)) }.build().unwrap();
    let limited = PortSpec {
        discipline: DisciplineSpec::Limited(LimitedSpec { rate: Rate::from_gbps(1), burst: 0 }),
        buffer: Buffer::UNLIMITED,
    };
    let fast =
        scenario(topology.clone(), fifo(Buffer::UNLIMITED), vec![flow(0, (0, 1), 1_460_000, Time::ZERO)]);
    let slow = scenario(topology, limited, fast.flows.iter().collect());
    let fct = |s, e| run(s, e).flows.at(0).fct.unwrap();
    assert_eq!(fct(&slow, Engine::Window), fct(&slow, Engine::Wheel));
    // 999 gaps of 1538 B at 1 Gbps are 12.292 ms; unlimited, credits set the pace: 1.296 ms.
    assert!((fct(&slow, Engine::Wheel).as_secs_f64() - 12.3e-3).abs() < 0.1e-3);
    assert!((fct(&fast, Engine::Wheel).as_secs_f64() - 1.3e-3).abs() < 0.1e-3);
}
