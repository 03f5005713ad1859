//! Ports for tokens in whole networks: both engines, every token accounted for.

use crate::support::blaster::{Blaster, Mix};
use crate::support::paced::Paced;
use crate::support::{Draw, agreed_with, drive, flow, link, physics, run_with, scenario};
use priolane_core::ids::HostId;
use priolane_core::port::{Buffer, DisciplineSpec, TokenGroupSpec};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::{Outcome, PacketCount};
use priolane_sim::scenario::{Engine, PortSpec, ScenarioSpec, SendJitter, Stop};
use priolane_sim::topology::SingleSwitch;

/// The outcome on which both engines and shuffled nodes agree.
fn agreed(scenario: &ScenarioSpec, mix: Mix) -> Outcome {
    agreed_with(scenario, &|host| Blaster::new(host, scenario.frame, mix))
}

fn packets(tallies: &[PacketCount]) -> u64 {
    tallies.iter().map(|t| t.packets).sum()
}

#[test]
fn tokens_of_any_port_are_served_dropped_or_expired_alike_on_both_engines() {
    let mut totals = (0, 0, 0);
    for seed in 0..priolane_rounds::rounds(150, 1_500) {
        let mut draw = Draw::new(5_000 + seed);
        let topology = draw.topology(&[0.0, 0.0, 0.01]);
        let flows = draw.flows(topology.hosts, 20);
        let port = |draw: &mut Draw| PortSpec {
            discipline: DisciplineSpec::Tokens(draw.token_group()),
            buffer: Buffer { limit: Limit::Packets(30), ..Buffer::UNLIMITED },
        };
        let mut scenario = scenario(topology, port(&mut draw), flows);
        if seed % 3 == 0 {
            scenario
                .ports
                .iter_mut()
                .for_each(|p| *p = if seed % 2 == 0 { port(&mut draw) } else { draw.port() });
        }
        scenario.switch.memory = draw.memory();
        scenario.sample_every = draw.pick(&[None, Some(Span(3_333_333))]);
        scenario.send_jitter =
            draw.pick(&[SendJitter::NONE, SendJitter::PACKET, SendJitter::Span(Span(777))]);
        scenario.stop = Stop::At(draw.pick(&[Time(3_000_000_000), Time(333_333_333)]));
        let outcome = agreed(&scenario, Mix::Tokens);
        totals.0 += packets(&outcome.ledger.delivered);
        totals.1 += packets(&outcome.ledger.expired);
        totals.2 += packets(&outcome.ledger.dropped);
        let expired: u64 = outcome.ports.iter().map(|p| p.expired).sum();
        assert_eq!(expired, packets(&outcome.ledger.expired));
    }
    assert!(totals.0 > 30_000 && totals.1 > 2_000 && totals.2 > 5_000, "{totals:?}");
}

#[test]
fn a_token_expires_at_the_port_that_it_waits_at_and_is_told_there() {
    // Four hosts blast tokens at a fifth: its port serves one a slot of 1,297,600 ps, of four that come each 67,200 ps.
    let topology = SingleSwitch { hosts: 5, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = (0..4).map(|i| flow(i, (i as u16, 4), 1_460 * 400, Time::ZERO)).collect();
    let port =
        PortSpec { discipline: DisciplineSpec::Tokens(TokenGroupSpec::TOP), buffer: Buffer::UNLIMITED };
    let mut scenario = scenario(topology, port, flows);
    scenario.stop = Stop::At(Time(2_000_000_000));
    let outcome = agreed(&scenario, Mix::Tokens);
    let at_port = || outcome.ports.iter().filter(|p| p.link == scenario.topology.downlink(HostId(4)));
    assert_eq!(at_port().map(|p| p.expired).sum::<u64>(), packets(&outcome.ledger.expired));
    // The best class has the limiter to itself while it has tokens: hardly one of them expires, of the others most do.
    let expired: Vec<u64> =
        (0..6).map(|c| at_port().find(|p| p.class == c).map_or(0, |p| p.expired)).collect();
    assert!(expired[1..5].iter().all(|&others| others > 10 * expired[0]), "{expired:?}");
}

#[test]
fn a_receiver_paced_transport_runs_through_a_token_group_without_a_loss() {
    let topology = SingleSwitch { hosts: 6, host_link: link(10, Span::from_us(2)) }.build().unwrap();
    let flows = (0..5).map(|i| flow(i, (i as u16, 5), 146_000, Time::ZERO)).collect();
    let port =
        PortSpec { discipline: DisciplineSpec::Tokens(TokenGroupSpec::TOP), buffer: Buffer::UNLIMITED };
    let scenario = scenario(topology, port, flows);
    let interval = link(10, Span::ZERO).rate.serialize(1538 + 84);
    let [window, wheel] = [Engine::Window, Engine::Wheel].map(|engine| {
        let make = |host| Paced::new(host, scenario.frame, interval);
        physics(run_with(&scenario, drive(engine), &make))
    });
    assert_eq!(window, wheel);
    assert!(window.flows.iter().all(|f| f.fct.is_some()));
    assert_eq!(packets(&window.ledger.expired) + packets(&window.ledger.dropped), 0);
}
