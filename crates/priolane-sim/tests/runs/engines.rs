//! Random small experiments: the window engine, the wheel engine and nodes taken in shuffled order leave one
//! outcome, and what is random about the traffic does not depend on who carries it.

use crate::support::{
    Draw, HPCC, IDENTITY, LEDBAT, PFABRIC, SHUFFLED, SWIFT, agreed, d2tcp, dctcp, drive, fifo, flow, link,
    new_reno, paccp, paccp_dctcp, physics, prioplus, run, scenario,
};
use priolane_core::assign::control::{self, AdaptiveThresholds, ThresholdRange};
use priolane_core::assign::{EqualSplit, Solver};
use priolane_core::endpoint::{Control, FlowSpec, ThresholdSet, Weights};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::keys::with_defaults;
use priolane_core::noise::DelayNoise;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::HeadroomFrom;
use priolane_core::port::{
    AifoSpec, AveragedSpec, Buffer, DisciplineSpec, Overflow, PFabricSpec, QueueWeights, Ramp, Scope, SortBy,
    StrictFirstSpec, TrimmingSpec,
};
use priolane_core::transport::prioplus::Variant;
use priolane_core::transport::tokens::{self, priority::Priority};
use priolane_core::transport::window::{self, Handshake, LossRecovery, Reliability};
use priolane_core::transport::{Controller, Transport, cubic, dcqcn, timely};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_rounds::rounds;
use priolane_sim::Drive;
use priolane_sim::outcome::{Outcome, StartTime};
use priolane_sim::scenario::{
    Adaptation, Awaited, Engine, MeasurementError, Nic, PortSpec, ScenarioSpec, ScheduledControl, SendJitter,
    Stop, VmPricing,
};
use priolane_sim::topology::{LeafSpine, LinkSpec, PathChoice, SingleSwitch, Spray};

fn when_all_are_done(not_before: Time) -> Stop {
    let (grace, limit) = (Span::from_ms(1), Time(400_000_000_000));
    Stop::WhenDone { awaits: Awaited::Finite, grace, not_before, limit }
}

pub(crate) fn random(seed: u64) -> ScenarioSpec {
    let mut draw = Draw::new(seed);
    let topology = draw.topology(&[0.0, 0.0, 0.01, 0.1]);
    let flows = draw.flows(topology.hosts, 1 + (seed % 24) as u32);
    let port = draw.port();
    let mut scenario = scenario(topology, port, flows);
    if seed.is_multiple_of(5) {
        scenario.ports.iter_mut().for_each(|p| *p = draw.port());
    }
    scenario.transport = windowed(&mut draw, seed);
    scenario.switch.memory = draw.memory();
    scenario.nic = draw.nic();
    scenario.host_delay = draw.pick(&[Span::ZERO, Span::from_ns(700)]);
    scenario.sample_every = draw.pick(&[None, Some(Span(3_333_333))]);
    if seed % 3 == 2 {
        scenario.measuring = measuring(&mut draw);
        scenario.flows.edit_all(|flow| {
            if flow.id.0.is_multiple_of(2) {
                flow.deadline = Some(flow.start + Span::from_us(400));
            }
        });
    }
    scenario.send_jitter = draw.pick(&[SendJitter::NONE, SendJitter::PACKET, SendJitter::Span(Span(777))]);
    let not_before = draw.pick(&[Time::ZERO, Time(30_000_000_000)]);
    scenario.stop = draw.pick(&[when_all_are_done(not_before), Stop::At(Time(333_333_333))]);
    if seed.is_multiple_of(3) {
        let mut adaptation = adaptation(&mut draw);
        // No message is faster than a packet on one link.
        adaptation.config.delay = adaptation.config.delay.max(scenario.lookahead());
        scenario.adaptation = Some(adaptation);
    }
    if seed % 5 == 4 {
        pay(&mut scenario, &mut draw);
    }
    if seed.is_multiple_of(7) {
        let abort = Control::Abort;
        scenario.controls =
            vec![ScheduledControl { at: Time(200_000_000), flow: scenario.flows.at(0).id, control: abort }];
    }
    if seed % 9 == 4 {
        scenario.ports.iter_mut().for_each(|p| p.discipline = DisciplineSpec::PFabric(PFabricSpec));
    }
    if seed % 11 == 7 {
        let aifo = DisciplineSpec::Aifo(AifoSpec::default());
        scenario.ports.iter_mut().for_each(|p| p.discipline = aifo.clone());
    }
    let sprayed = |seed: u64| {
        PathChoice::Sprayed([Spray::Random, Spray::RoundRobin, Spray::Drill][(seed / 3 % 3) as usize])
    };
    scenario.topology.path_choice = draw.pick(&[PathChoice::Hashed, PathChoice::Hashed, sprayed(seed)]);
    if seed % 4 == 1 {
        scenario.waits = draw.waits(scenario.flows.len() as u32);
        if seed % 8 == 1 && scenario.flows.len() > 1 {
            let flow = FlowId(scenario.flows.len() as u32 - 1);
            let abort = ScheduledControl { at: Time(250_000_000), flow, control: Control::Abort };
            scenario.controls.push(abort);
        }
    }
    if seed % 6 == 2 {
        let mut lossless = draw.lossless();
        // Lossy flows get through: headroom leaves them room.
        lossless.headroom = HeadroomFrom::Beside;
        lossless.memory.size = lossless.memory.size.max(60_000);
        scenario.switch.memory = None;
        scenario.switch.lossless = Some(lossless);
        scenario.ports.iter_mut().for_each(|p| *p = draw.pausable_port());
    }
    if seed % 5 > 2 {
        scenario.outages = draw.outages(&scenario.topology);
    }
    if seed % 13 == 6 {
        scenario.transport = crate::support::receiver_driven(seed / 13);
        scenario.rates_every = None;
    }
    if seed % 4 > 1 && matches!(scenario.transport, Transport::Window { .. }) {
        // Draws of its own: what was drawn so far stays as it was.
        crate::support::admission::admit(&mut scenario, &mut Draw::new(seed + 1_000_000));
    }
    unusual_hosts(&mut scenario, seed);
    scenario
}

/// Tokens, or a transmit queue of any kind of port, in some of the runs; with draws of their own.
fn unusual_hosts(scenario: &mut ScenarioSpec, seed: u64) {
    if matches!(seed % 20, 8 | 16) && scenario.switch.lossless.is_none() {
        token_transport(scenario, &mut Draw::new(seed + 2_000_000));
    }
    if matches!(seed % 10, 3 | 9) && !matches!(scenario.transport, Transport::Tokens(_)) {
        scenario.nic = Draw::new(seed + 3_000_000).any_port_as_nic();
    }
}

/// So many nodes run in a window that the window engine prefetches their data: hosts with and without transmit queues,
/// switches that share a buffer or not, any kind of port, paths by hash or at random.
#[test]
fn large_networks_agree() {
    for seed in 0..rounds(4, 40) {
        let mut draw = Draw::new(4_000_000 + seed);
        let (host_link, fabric_link) = (link(10, Span::from_us(1)), link(40, Span::from_us(1)));
        let topology = LeafSpine {
            leaves: 40,
            spines: 4,
            hosts_per_leaf: 20,
            host_link,
            fabric_link,
            links_per_pair: 1,
        };
        let flows = (0..1_600u32).map(|id| {
            let (src, dst) = (id % 800, (id * 7 + 31 + id / 800) % 800);
            let start = Time(u64::from(id) * 500);
            flow(id, (src as u16, dst as u16), 2_000 + 1_000 * u64::from(id % 9), start)
        });
        let flows = flows.filter(|flow| flow.src != flow.dst).zip(0..);
        let flows = flows.map(|(flow, id)| FlowSpec { id: FlowId(id), ..flow }).collect();
        let mut scenario = scenario(topology.build().unwrap(), fifo(draw.buffer()), flows);
        scenario.transport = windowed(&mut draw, seed);
        scenario.nic = draw.nic();
        if seed % 2 == 1 {
            scenario.ports.iter_mut().for_each(|port| *port = draw.port());
            scenario.switch.memory = draw.memory();
            scenario.topology.path_choice = PathChoice::Sprayed(Spray::Random);
        }
        let outcome = agreed(&scenario);
        assert!(outcome.work.packet_hops > 20_000, "{}", outcome.work.packet_hops);
    }
}

/// A transport on the window machine.
fn windowed(draw: &mut Draw, seed: u64) -> Transport {
    let controller = match seed % 5 {
        _ if seed % 3 == 2 => delay_based(seed / 3),
        0 | 1 => dctcp(),
        2 | 3 => new_reno(),
        _ if seed.is_multiple_of(2) => paccp(),
        _ => paccp_dctcp(),
    };
    let scheduler =
        draw.pick(&[SchedulerKind::RoundRobin, SchedulerKind::Mlfq, SchedulerKind::Srpt, SchedulerKind::Las]);
    Transport::Window { window: draw.window_config(), controller, scheduler }
}

/// ExpressPass or TOP in ports for tokens of any kind.
fn token_transport(scenario: &mut ScenarioSpec, draw: &mut Draw) {
    let priority = Priority::Size(vec![4, 13, 46]);
    let config = if draw.0.chance(0.5) {
        tokens::Config::expresspass(scenario.frame)
    } else {
        tokens::Config::top(scenario.frame, priority)
    };
    let mut port =
        || PortSpec { discipline: DisciplineSpec::Tokens(draw.token_group()), buffer: draw.buffer() };
    scenario.ports.iter_mut().for_each(|p| *p = port());
    scenario.nic =
        Nic::Queue { port: PortSpec { buffer: Buffer::UNLIMITED, ..port() }, sort_by: SortBy::Class };
    scenario.transport = Transport::Tokens(config);
}

/// A controller that uses delay, deadlines or telemetry.
fn delay_based(seed: u64) -> Controller {
    let variant = if seed.is_multiple_of(2) { Variant::Paper } else { Variant::Released };
    match seed % 8 {
        0 => Controller::Swift(SWIFT),
        7 if seed.is_multiple_of(3) => Controller::PFabric(PFABRIC),
        7 if seed.is_multiple_of(5) => Controller::Timely(timely::Config::default()),
        7 => Controller::Hpcc(HPCC),
        1 => Controller::Ledbat(LEDBAT),
        2 => d2tcp(),
        3 | 4 => Controller::PrioPlusLedbat(prioplus(LEDBAT, variant, 3)),
        _ => Controller::PrioPlusSwift(prioplus(SWIFT, variant, 3)),
    }
}

/// Draws the errors of hosts in measurements of delays.
fn measuring(draw: &mut Draw) -> MeasurementError {
    let noise = DelayNoise::new(&[(0.0, 0.1), (300e-9, 0.9), (4e-6, 1.0)], 1.0).unwrap();
    MeasurementError {
        noise: draw.pick(&[false, false, true]).then_some(noise),
        clock_error: draw.pick(&[Span::ZERO, Span::from_ns(800)]),
    }
}

/// Flows of two groups: one pays flow by flow, one by machine; and their rates are reported.
fn pay(scenario: &mut ScenarioSpec, draw: &mut Draw) {
    let interval = draw.pick(&[None, Some(Span::from_us(30))]);
    let pair = Weights { theta: Rate::from_bps(2_000_000_000), w_milli: 3_000 };
    scenario.machines = vec![None, Some(VmPricing { pair, interval })];
    scenario.rates_every = draw.pick(&[None, Some(Span::from_us(70))]);
    let Transport::Window { window, .. } = &mut scenario.transport else {
        unreachable!("the window machine")
    };
    window.monitor = scenario.rates_every;
    window.reliability = draw.pick(&[Reliability::Reliable, Reliability::Reliable, Reliability::Unreliable]);
    scenario.flows.edit_all(|flow| {
        flow.group = draw.pick(&[0, 1]);
        flow.weights = Weights { theta: None, w_milli: draw.pick(&[300, 1_000, 4_000]) };
    });
}

/// Thresholds that move often, on reports that get lost and come late.
fn adaptation(draw: &mut Draw) -> Adaptation {
    let target =
        |of, levels| AdaptiveThresholds { of, solver: Solver::EqualSplit(EqualSplit), levels, load: 0.5 };
    let period = draw.pick(&[Span::from_us(50), Span(77_777_777)]);
    let delay = draw.pick(&[Span::from_us(15), Span::from_us(120)]);
    let global =
        draw.pick(&[&[][..], &[target(ThresholdSet::Class, 4), target(ThresholdSet::HostLevel, 2)]]).to_vec();
    let local = draw.pick(&[&[][..], &[target(ThresholdSet::HostLevel, 8)]]).to_vec();
    let config = control::Config {
        period,
        delay,
        window: 4,
        min_samples: 1,
        max_age: 5,
        bounds: ThresholdRange { min: 2_000, max: 1_000_000 },
        report_loss: draw.pick(&[0.0, 0.3]),
        report_jitter: draw.pick(&[Span::ZERO, Span::from_us(100)]),
        load: None,
    };
    Adaptation { config, global, local }
}

fn outcome(scenario: &ScenarioSpec, drive: Drive) -> Outcome {
    physics(run(scenario, drive))
}

#[test]
fn both_engines_and_any_order_of_nodes_leave_the_same() {
    let mut totals = (0, 0, 0, 0);
    let mut events = (0, 0, 0, 0);
    let mut paused = 0;
    let mut admitted = (0, 0);
    let seeds = rounds(200, 4_000);
    // 3399: a paced packet is due when the line becomes free and a ranked transmit queue holds another.
    for seed in (0..seeds).chain([3_399]) {
        let scenario = random(seed);
        let window = outcome(&scenario, drive(Engine::Window));
        assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)), "wheel differs, seed {seed}");
        assert_eq!(window, outcome(&scenario, SHUFFLED), "shuffled differs, seed {seed}");
        totals.0 += window.flows.iter().filter(|f| f.fct.is_some()).count();
        totals.1 += window.ports.iter().map(|p| p.dropped).sum::<u64>();
        totals.3 += window.ports.iter().map(|p| p.trimmed).sum::<u64>();
        totals.2 += window.ports.iter().map(|p| p.lost).sum::<u64>();
        paused += window.ports.iter().map(|p| u64::from(p.paused > Span::ZERO)).sum::<u64>();
        admitted.0 += window.flows.iter().filter(|f| f.class.given != f.class.asked).count();
        admitted.1 += window.flows.iter().map(|f| f.moves).sum::<u32>();
        let began = |is: fn(&StartTime) -> bool| window.flows.iter().filter(|f| is(&f.began)).count();
        events.0 += began(|began| matches!(began, StartTime::At(_)));
        events.1 += began(|began| *began == StartTime::Never);
        events.2 += began(|began| *began == StartTime::NotIssued);
        events.3 += window.ledger.unrouted.iter().map(|t| t.packets).sum::<u64>();
    }
    // Bounds are those of 400 experiments.
    let exceeds = |count: u64, bound: u64| 400 * count > bound * seeds;
    // Some hundred flows get another class than they ask for, and some change it under way.
    assert!(exceeds(admitted.0 as u64, 200) && admitted.1 > 30, "{admitted:?}");
    // Hundreds of flows wait and start, some wait in vain or too long; packets find no way.
    let waited =
        exceeds(events.0 as u64, 150) && exceeds(events.1 as u64, 100) && exceeds(events.2 as u64, 50);
    assert!(waited && exceeds(events.3, 100), "{events:?}");
    // A hundred times and more a class was paused at a port.
    assert!(exceeds(paused, 150), "{paused}");
    // The experiments are no idle ones: thousands of flows end, thousands of packets are dropped and lost.
    let busy = exceeds(totals.0 as u64, 2_500) && exceeds(totals.1, 2_500) && exceeds(totals.2, 2_500);
    assert!(busy && exceeds(totals.3, 300), "{totals:?}");
}

/// The random experiments on the window machine, with controllers that no other of them has.
#[test]
fn both_engines_leave_the_same_under_cubic_and_dcqcn_on_ports_that_mark_by_chance() {
    let usual: cubic::Config = with_defaults(&[]);
    let rise = Span::from_us(3);
    let slow_start =
        cubic::hystart::Config { hystart_min_rise: rise, hystart_samples: 2, ..usual.slow_start };
    let connectx = dcqcn::Config::of(dcqcn::Preset::Connectx);
    let (mut ran, mut marks) = (0, 0);
    for seed in 0..rounds(60, 1_000) {
        let mut scenario = random(seed);
        let Transport::Window { controller, .. } = &mut scenario.transport else { continue };
        *controller = if seed.is_multiple_of(2) {
            Controller::Cubic(cubic::Config { slow_start, ..usual })
        } else {
            Controller::Dcqcn(dcqcn::Config { cnp_interval: Span::from_us(20), ..connectx })
        };
        let ramp = Some(Ramp { full: Limit::Packets(10), most: 800_000 });
        scenario.ports.iter_mut().for_each(|port| {
            port.buffer = Buffer { mark_above: Limit::Packets(3), ramp, ..port.buffer };
        });
        let window = outcome(&scenario, drive(Engine::Window));
        assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)), "wheel differs, seed {seed}");
        assert_eq!(window, outcome(&scenario, SHUFFLED), "shuffled differs, seed {seed}");
        ran += 1;
        marks += window.ports.iter().map(|port| port.marked).sum::<u64>();
    }
    assert!(ran > 30 && marks > 500, "{ran} {marks}");
}

/// The random experiments on the window machine, on ports that trim; links lose packets.
#[test]
fn both_engines_leave_the_same_where_trimmed_headers_name_the_losses() {
    let mut found = (0, 0, 0);
    for seed in 0..rounds(60, 1_000) {
        let mut scenario = random(seed);
        let Transport::Window { controller, window, .. } = &mut scenario.transport else { continue };
        window.recovery = LossRecovery::Trims;
        if !seed.is_multiple_of(3) {
            *controller = Controller::Nscc(with_defaults(&[]));
        }
        scenario.switch.lossless = None;
        let ramp = Some(Ramp { full: Limit::Packets(6), most: 800_000 });
        scenario.ports.iter_mut().for_each(|port| {
            port.discipline = DisciplineSpec::Trimming(TrimmingSpec {
                headers: Limit::Packets(9),
                overflow: Overflow::Drop,
            });
            let limit = Limit::Packets(7);
            port.buffer = Buffer { limit, mark_above: Limit::Packets(2), ramp, ..Buffer::UNLIMITED };
        });
        if seed.is_multiple_of(2) {
            scenario.topology.path_choice = PathChoice::Sprayed(Spray::Random);
        }
        let window = outcome(&scenario, drive(Engine::Window));
        assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)), "wheel differs, seed {seed}");
        assert_eq!(window, outcome(&scenario, SHUFFLED), "shuffled differs, seed {seed}");
        found.0 += 1;
        found.1 += window.ports.iter().map(|port| port.trimmed).sum::<u64>();
        found.2 += window.flows.iter().map(|flow| u64::from(flow.retransmits)).sum::<u64>();
    }
    assert!(found.0 > 30 && found.1 > 500 && found.2 > 500, "{found:?}");
}

#[test]
fn both_engines_leave_the_same_where_strict_queues_go_before_weighted_ones() {
    let weights = QueueWeights::new(&[5, 3, 1]).unwrap();
    let (mut ran, mut delivered) = (0, 0);
    for seed in 0..rounds(60, 1_000) {
        let mut scenario = random(seed);
        if !matches!(scenario.transport, Transport::Window { .. }) {
            continue;
        }
        let strict = 1 + (seed % 2) as u8;
        let discipline = DisciplineSpec::from(StrictFirstSpec { strict, weights, map: IDENTITY });
        scenario.ports.iter_mut().for_each(|port| port.discipline = discipline.clone());
        let window = outcome(&scenario, drive(Engine::Window));
        assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)), "wheel differs, seed {seed}");
        assert_eq!(window, outcome(&scenario, SHUFFLED), "shuffled differs, seed {seed}");
        ran += 1;
        delivered += window.ports.iter().map(|port| port.bytes).sum::<u64>();
    }
    assert!(ran > 30 && delivered > 10_000_000, "{ran} {delivered}");
}

#[test]
fn both_engines_leave_the_same_where_ports_mark_by_an_average() {
    let (mut ran, mut marks) = (0, 0);
    for seed in 0..rounds(60, 1_000) {
        let mut scenario = random(seed);
        let Transport::Window { controller, .. } = &mut scenario.transport else { continue };
        *controller = dctcp();
        let scope = if seed.is_multiple_of(2) { Scope::Port } else { Scope::Queue };
        let ramp = Some(Ramp { full: Limit::Packets(9), most: 500_000 });
        scenario.ports.iter_mut().for_each(|port| {
            port.buffer = Buffer { mark_above: Limit::Packets(2), mark_scope: scope, ramp, ..port.buffer };
            let inner = Box::new(port.discipline.clone());
            port.discipline = AveragedSpec { inner, weight: 100_000 }.into();
        });
        let window = outcome(&scenario, drive(Engine::Window));
        assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)), "wheel differs, seed {seed}");
        assert_eq!(window, outcome(&scenario, SHUFFLED), "shuffled differs, seed {seed}");
        ran += 1;
        marks += window.ports.iter().map(|port| port.marked).sum::<u64>();
    }
    assert!(ran > 30 && marks > 500, "{ran} {marks}");
}

#[test]
fn a_run_repeated_is_the_same_and_another_seed_is_not() {
    let mut scenario = random(11);
    scenario.topology.links.iter_mut().for_each(|l| l.loss = 0.05);
    let first = outcome(&scenario, drive(Engine::Window));
    assert_eq!(first, outcome(&scenario, drive(Engine::Window)));
    scenario.seed += 1;
    assert_ne!(first, outcome(&scenario, drive(Engine::Window)));
}

#[test]
fn every_flow_ends_where_nothing_is_lost_for_good() {
    // 110: Homa with senders that try again as often as receivers ask. 357: pHost over a congested core.
    // 608: ACKs of copies are delayed beyond the last flow's end.
    for seed in (0..rounds(100, 1_000)).chain([110, 357, 608]) {
        let mut scenario = random(seed);
        if matches!(scenario.transport, Transport::PHost(_)) {
            bound_queues(&mut scenario);
        }
        scenario.controls.clear();
        scenario.waits.iter_mut().for_each(|wait| wait.until = None);
        scenario.stop = Stop::WhenDone {
            awaits: Awaited::Finite,
            // Longer than a receiver delays an ACK, which may be 1 ms.
            grace: Span::from_ms(2),
            not_before: Time::ZERO,
            limit: Time(100_000_000_000_000),
        };
        let outcome = outcome(&scenario, drive(Engine::Window));
        assert!(outcome.flows.iter().all(|f| f.fct.is_some() && f.fct_acked.is_some()), "seed {seed}");
        assert!(outcome.flows.iter().all(|f| f.fct <= f.fct_acked), "seed {seed}");
        let resident: u64 = outcome.ledger.resident.iter().map(|t| t.packets).sum();
        assert_eq!(resident, 0, "seed {seed}");
    }
}

/// Queues of at most 36 kB. pHost assumes a core without congestion: in a queue without limit its receivers start a new round
/// before the queue is empty, and copies of missing packets accumulate faster than they leave.
fn bound_queues(scenario: &mut ScenarioSpec) {
    for port in scenario.ports.iter_mut().filter(|port| port.buffer.limit == Limit::Unlimited) {
        port.buffer.limit = Limit::Bytes(36_000);
    }
}

#[test]
fn no_flow_is_faster_than_the_bare_network() {
    for seed in 0..rounds(100, 1_000) {
        let scenario = random(seed);
        for (flow, record) in scenario.flows.iter().zip(&outcome(&scenario, drive(Engine::Window)).flows) {
            let bytes = flow.size.unwrap();
            let bare = scenario.topology.bare_fct(&scenario.frame, flow.src, flow.dst, flow.entropy, bytes);
            // A flow that gave up its last bytes has not carried them.
            let whole = record.missing == 0;
            assert!(record.fct.is_none_or(|fct| fct >= bare || !whole), "seed {seed}, {:?}", flow.id);
        }
    }
}

#[test]
fn a_run_goes_on_until_its_earliest_end_on_both_engines() {
    for engine in [Engine::Window, Engine::Wheel] {
        let mut scenario = random(3);
        scenario.sample_every = None;
        let limit = Time(100_000_000_000_000);
        let end = Time(77_000_000_123);
        scenario.stop =
            Stop::WhenDone { awaits: Awaited::Finite, grace: Span::from_ms(1), not_before: end, limit };
        let last = outcome(&scenario, drive(engine));
        assert!(last.flows.iter().all(|f| f.fct.is_some()));
        assert_eq!(last.stopped_at, end, "{engine:?}");
    }
}

#[test]
fn each_link_loses_packets_by_its_own_dice() {
    // Two flows alike from two hosts to two others: the same dice would lose the same packets of both.
    let lossy = LinkSpec { loss: 0.05, ..link(10, Span::from_us(1)) };
    let topology = SingleSwitch { hosts: 4, host_link: lossy }.build().unwrap();
    let flows = vec![flow(0, (0, 2), 600_000, Time::ZERO), flow(1, (1, 3), 600_000, Time::ZERO)];
    let scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let lost = outcome(&scenario, drive(Engine::Window));
    assert!(lost.flows.iter().all(|f| f.retransmits > 5), "{:?}", lost.flows);
    assert_ne!(lost.flows.at(0).fct, lost.flows.at(1).fct);
}

#[test]
fn control_messages_reach_their_flows_on_both_engines() {
    let at =
        |us: u64, flow, control| ScheduledControl { at: Time(us * 1_000_000), flow: FlowId(flow), control };
    for engine in [Engine::Window, Engine::Wheel] {
        let topology = SingleSwitch { hosts: 4, host_link: link(10, Span::from_us(1)) }.build().unwrap();
        let flows = vec![flow(0, (0, 2), 1_000_000, Time::ZERO), flow(1, (1, 3), 1_000_000, Time::ZERO)];
        let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
        scenario.controls = vec![at(100, 0, Control::Abort), at(200, 1, Control::Class(3))];
        let outcome = outcome(&scenario, drive(engine));
        // 100 us at 10 Gbps are 80 packets of 685: the first flow is cut off there, the run does not wait for it.
        assert_eq!((outcome.flows.at(0).fct, outcome.flows.at(0).fct_acked), (None, None));
        let of_first = outcome.ports.iter().find(|p| p.link == scenario.topology.uplink(HostId(0))).unwrap();
        assert!((60..=90).contains(&of_first.packets), "{}", of_first.packets);
        assert!(outcome.stopped_at < Time(3_000_000_000), "{:?}", outcome.stopped_at);
        // The second changes class after some 160 packets.
        assert_eq!((outcome.flows.at(1).class.first, outcome.flows.at(1).class.last), (0, 3));
        let uplink = scenario.topology.uplink(HostId(1));
        let first_class = outcome.ports.iter().find(|p| p.link == uplink && p.class == 0).unwrap();
        assert!((140..=170).contains(&first_class.packets), "{}", first_class.packets);
    }
}

#[test]
fn a_flow_aborted_before_its_start_never_starts_and_is_not_waited_for() {
    for engine in [Engine::Window, Engine::Wheel] {
        let topology = SingleSwitch { hosts: 4, host_link: link(10, Span::from_us(1)) }.build().unwrap();
        let flows = vec![flow(0, (0, 2), 1_460, Time::ZERO), flow(1, (1, 3), 1_460, Time(50_000_000))];
        let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
        scenario.controls =
            vec![ScheduledControl { at: Time(40_000_000), flow: FlowId(1), control: Control::Abort }];
        let outcome = outcome(&scenario, drive(engine));
        assert!(outcome.flows.at(0).fct.is_some() && outcome.flows.at(1).fct.is_none());
        assert!(outcome.ports.iter().all(|p| p.link != scenario.topology.uplink(HostId(1))));
    }
}

#[test]
fn samples_come_after_departures_of_their_instant_on_both_engines() {
    // A sample at every packet boundary of the bottleneck, to the picosecond: 1538 B at 10 Gbps.
    let topology = SingleSwitch { hosts: 5, host_link: link(10, Span(1_230_400)) }.build().unwrap();
    let flows = (0..4).map(|i| flow(i, (i as u16, 4), 200_000, Time::ZERO)).collect();
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    scenario.sample_every = Some(Span(1_230_400));
    let window = outcome(&scenario, drive(Engine::Window));
    assert!(window.samples.ports.len() > 400, "{}", window.samples.ports.len());
    assert_eq!(window, outcome(&scenario, drive(Engine::Wheel)));
}

#[test]
fn bytes_sent_between_samples_add_up_to_what_each_port_served() {
    // No queue anywhere: two hosts, one flow of 300 kB, a pull NIC. What was sent is found all the same.
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let mut scenario =
        scenario(topology, fifo(Buffer::UNLIMITED), vec![flow(0, (0, 1), 300_000, Time::ZERO)]);
    let window = window::Config { handshake: Handshake::None, ..window::Config::new(Frame::ETHERNET) };
    scenario.transport = crate::support::window(new_reno(), window);
    // Past the last packet: every byte falls between two samples.
    scenario.stop = Stop::At(Time(1_000_000_000));
    // 10 us hold 8.13 packets of 1538 B at 10 Gbps, 1.2304 us each: at most 9 begin in any 10 us.
    scenario.sample_every = Some(Span::from_us(10));
    for engine in [Engine::Window, Engine::Wheel] {
        let outcome = outcome(&scenario, drive(engine));
        assert_eq!(outcome.ports.iter().filter(|p| p.bytes > 0).count(), 4, "both ways, host and switch");
        for port in &outcome.ports {
            let bins = || outcome.samples.ports.iter().filter(|s| s.link == port.link).map(|s| s.sent_bytes);
            assert_eq!(bins().sum::<u64>(), port.bytes, "{:?} on {engine:?}", port.link);
            assert!(bins().all(|bytes| (1..=9 * 1538).contains(&bytes)), "an idle bin has no row");
        }
        assert!(
            outcome.samples.ports.iter().all(|s| s.queued_packets == 0 && s.at.0.is_multiple_of(10_000_000))
        );
    }
}

#[test]
fn a_flow_may_start_as_late_as_a_run_may_last() {
    let topology = SingleSwitch { hosts: 2, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let late = Time(Time::LATEST.0 - 1_000_000_000);
    let flows = vec![flow(0, (0, 1), 100_000, Time::ZERO), flow(1, (1, 0), 100_000, late)];
    let mut scenario = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    scenario.stop = Stop::WhenDone {
        awaits: Awaited::Finite,
        grace: Span::from_us(2),
        not_before: Time::ZERO,
        limit: Time::LATEST,
    };
    let outcome = agreed(&scenario);
    let [first, second] = [0, 1].map(|flow: usize| outcome.flows.at(flow).fct);
    assert!(first.is_some() && first == second, "{first:?} {second:?}");
}

#[test]
fn a_run_waits_for_the_flows_that_start_in_its_window_and_for_no_other() {
    let (grace, limit) = (Span::from_ms(2), Time(100_000_000_000_000));
    let mut dependents = 0;
    for seed in 0..rounds(40, 400) {
        let mut scenario = random(seed);
        if matches!(scenario.transport, Transport::PHost(_)) {
            bound_queues(&mut scenario);
        }
        scenario.controls.clear();
        scenario.sample_every = None;
        scenario.waits.iter_mut().for_each(|wait| wait.until = None);
        scenario.stop = Stop::WhenDone { awaits: Awaited::Finite, grace, not_before: Time::ZERO, limit };
        // Starts and ends of all flows, from a run that waits for all.
        let whole = outcome(&scenario, drive(Engine::Window));
        let times: Vec<(Time, Time)> = scenario
            .flows
            .iter()
            .zip(&whole.flows)
            .map(|(flow, record)| {
                let start = match record.began {
                    StartTime::At(start) => start,
                    _ => flow.start,
                };
                (start, start + record.fct_acked.unwrap())
            })
            .collect();
        let mut starts: Vec<Time> = times.iter().map(|&(start, _)| start).collect();
        starts.sort_unstable();
        let [from, until] = [starts.len() / 4, starts.len() / 2].map(|place| starts[place]);
        let inside = |start: Time| (from..until).contains(&start);
        let last = times.iter().filter(|&&(start, _)| inside(start)).map(|&(_, end)| end).max();
        let expected = last.map_or(until, |last| until.max(last + grace));
        dependents += scenario.waits.iter().filter(|wait| inside(times[wait.flow.index()].0)).count();
        let awaits = Awaited::StartedIn { from, until };
        scenario.stop = Stop::WhenDone { awaits, grace, not_before: until, limit };
        for engine in [Engine::Window, Engine::Wheel] {
            assert_eq!(outcome(&scenario, drive(engine)).stopped_at, expected, "seed {seed}, {engine:?}");
        }
    }
    assert!(dependents > 0, "no window had a flow that waited for others");
}
