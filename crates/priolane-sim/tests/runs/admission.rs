//! Admission at work: what flows get, what is recorded of it, and that it is nothing where every probability is 1.

use crate::support::admission::{aequitas, firapam};
use crate::support::{agreed, dctcp, flow, link, scenario, wfq};
use priolane_core::admit::Policy;
use priolane_core::admit::firapam;
use priolane_core::admit::{Interval, Monitoring, Remap};
use priolane_core::endpoint::FlowSpec;
use priolane_core::packet::Frame;
use priolane_core::port::Buffer;
use priolane_core::transport::Transport;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::SingleSwitch;

/// Two hosts send to a third, 300 flows of 20 kB each in 10 ms, classes 0, 1, 2 in turn, at 10 Gbps behind WFQ 8:4:1.
fn busy(allowed: Span) -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 3, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let one = |id: u32| {
        let start = Time(u64::from(id / 2) * 33_000_000);
        let class = (id / 2 % 3) as u8;
        FlowSpec { class, deadline: Some(start + allowed), ..flow(id, ((id % 2) as u16, 2), 20_000, start) }
    };
    let buffer = Buffer { limit: Limit::Packets(240), mark_above: Limit::Packets(65), ..Buffer::UNLIMITED };
    let mut scenario = scenario(topology, wfq(&[8, 4, 1], buffer), (0..600).map(one).collect());
    let config = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(dctcp(), config);
    scenario
}

fn with(policy: Policy, scenario: &ScenarioSpec) -> Outcome {
    agreed(&ScenarioSpec { admission: policy, ..scenario.clone() })
}

#[test]
fn where_every_probability_stays_1_a_run_is_what_it_is_without_admission() {
    let scenario = busy(Span::from_us(100));
    let plain = with(Policy::default(), &scenario);
    assert!(plain.flows.iter().all(|f| f.fct.is_some() && f.class.given == f.class.asked && f.moves == 0));
    for policy in [Policy::Firapam(firapam(0.0)), Policy::Aequitas(aequitas(Span::from_ms(100)))] {
        let mut outcome = with(policy, &scenario);
        assert!(outcome.admission.iter().flat_map(|(_, account)| &account.keys).all(|key| key.p == 1.0));
        assert!(outcome.admission.len() == 2, "one account for each host that sends");
        outcome.admission.clear();
        assert_eq!(outcome, plain);
    }
}

#[test]
fn firapam_lowers_who_is_early_and_raises_who_is_late() {
    let moved = |allowed| {
        let outcome = with(Policy::Firapam(firapam(0.05)), &busy(allowed));
        let count = |up: bool| {
            let other = |f: &priolane_sim::outcome::FlowRecord| {
                if up { f.class.given < f.class.asked } else { f.class.given > f.class.asked }
            };
            outcome.flows.iter().filter(other).count()
        };
        assert!(
            outcome.flows.iter().all(|f| f.class.given.abs_diff(f.class.asked) <= 1,),
            "adjacent levels only"
        );
        assert!(
            outcome.flows.iter().all(|f| f.class.first == f.class.given && f.class.last == f.class.given)
        );
        (count(true), count(false))
    };
    // 20 kB take 16 us at line rate and more with others about: 10 us are never enough, 50 ms always are.
    let (up, down) = moved(Span::from_us(10));
    assert!(up > 150 && down == 0, "{up} {down}");
    let (up, down) = moved(Span::from_ms(50));
    assert!(up == 0 && down > 150, "{up} {down}");
}

#[test]
fn aequitas_sends_who_is_not_admitted_to_the_lowest_class() {
    let outcome = with(Policy::Aequitas(aequitas(Span::from_us(1))), &busy(Span::from_ms(1)));
    let given = |asked, given| {
        outcome.flows.iter().filter(|f| (f.class.asked, f.class.given) == (asked, given)).count()
    };
    // 14 packets in less than 14 us, at 1.23 us each: never. Each miss takes 0.14, down to 0.1.
    assert!(given(0, 2) > 100 && given(1, 2) > 100, "{} {}", given(0, 2), given(1, 2));
    assert_eq!((given(0, 1), given(1, 0), given(2, 2)), (0, 0, 200));
    let keys: Vec<_> = outcome.admission.iter().flat_map(|(_, account)| &account.keys).collect();
    assert_eq!(keys.len(), 4, "two sources, two classes");
    assert!(keys.iter().all(|key| (key.p - 0.1).abs() < 1e-9 && key.updates >= 7));
}

#[test]
fn flows_under_way_move_and_overtake_none_of_their_own_packets() {
    // One long flow of class 1 with much time, then one with little: the first falls, the second rises.
    let long = |allowed: Span| {
        let mut scenario = busy(Span::from_ms(1));
        scenario.flows.truncate(1);
        scenario.flows.edit(0, |first| {
            *first = FlowSpec {
                class: 1,
                deadline: Some(Time::ZERO + allowed),
                ..flow(0, (0, 2), 4_000_000, Time::ZERO)
            }
        });
        let Transport::Window { window, .. } = &mut scenario.transport else {
            unreachable!("the window machine")
        };
        window.monitor = Some(Span::from_us(100));
        let config = firapam::Config {
            monitoring: Monitoring { mi: Interval::Rtt, remap: Remap::PerInterval },
            ..firapam(0.05)
        };
        with(Policy::Firapam(config), &scenario).flows.at(0)
    };
    // 4 MB take 3.2 ms: some 30 intervals, each of which moves p by 0.1 at most.
    let early = long(Span::from_ms(1_000));
    assert_eq!((early.class.given, early.class.last, early.moves), (1, 2, 1));
    // Hopeless from the first interval on: upgraded while there is time left.
    let late = long(Span::from_ms(2));
    assert_eq!((late.class.given, late.class.last, late.moves), (1, 0, 1));
    assert_eq!((early.retransmits, late.retransmits), (0, 0));
}
