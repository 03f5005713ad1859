use priolane_core::assign::control::{self, AdaptiveThresholds, ThresholdRange};
use priolane_core::assign::{EqualSplit, Solver};
use priolane_core::endpoint::ThresholdSet;
use priolane_core::endpoint::{Control, FlowSpec, Weights};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{ClassSet, HostId};
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{PfcSpec, Xoff};
use priolane_core::port::{Alpha, Buffer, DisciplineSpec, FifoSpec, RankedSpec, SharedBuffer};
use priolane_core::transport::Transport;
use priolane_core::transport::{Controller, new_reno, window};
use priolane_core::units::{Rate, Time};

use super::*;
use crate::model::dependencies::{FlowDependency, Step};
use crate::model::topology::{LinkSpec, SingleSwitch};

/// Two flows between three hosts, of which the second depends on the first.
fn scenario() -> ScenarioSpec {
    let host_link = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
    let topology = SingleSwitch { hosts: 3, host_link }.build().unwrap();
    let fifo = PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer: Buffer::UNLIMITED };
    let after_first = FlowDependency { flow: FlowId(1), after: after(&[0]), until: None };
    let transport = Transport::Window {
        window: window::Config::new(Frame::ETHERNET),
        controller: Controller::NewReno(new_reno::Config { init_window: None }),
        scheduler: SchedulerKind::RoundRobin,
    };
    let stop = Stop::WhenDone {
        awaits: Awaited::Finite,
        grace: Span::from_us(10),
        not_before: Time::ZERO,
        limit: Time(1 << 50),
    };
    let flows = vec![flow(0, (0, 1)), flow(1, (2, 0))];
    let ports = vec![fifo; topology.links.len()];
    ScenarioSpec {
        waits: vec![after_first],
        ..ScenarioSpec::new(topology, ports, transport, flows.into(), stop)
    }
}

fn flow(id: u32, (src, dst): (u16, u16)) -> FlowSpec {
    FlowSpec {
        start: Time(u64::from(id)),
        ..FlowSpec::new(FlowId(id), (HostId(src), HostId(dst)), Some(1_000))
    }
}

/// The predecessors of work that waits for these flows, 5 us after each.
fn after(flows: &[u32]) -> Vec<Predecessor> {
    Predecessor::flows(flows.iter().copied().map(FlowId), Span::from_us(5))
}

fn refused(break_it: impl FnOnce(&mut ScenarioSpec)) -> ScenarioError {
    let mut scenario = scenario();
    break_it(&mut scenario);
    scenario.build().expect_err("an invariant is broken")
}

fn dependency(break_it: impl FnOnce(&mut ScenarioSpec)) -> DependencyProblem {
    match refused(break_it) {
        ScenarioError::Dependency { flow: FlowId(1), problem } => problem,
        other => panic!("{other:?}"),
    }
}

fn window_of(scenario: &mut ScenarioSpec) -> &mut window::Config {
    match &mut scenario.transport {
        Transport::Window { window, .. } => window,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_scenario_whose_invariants_hold_is_accepted() {
    assert!(scenario().build().is_ok());
}

#[test]
fn the_transport_has_the_frame_and_the_interval_of_the_scenario() {
    let frame = refused(|s| window_of(s).frame = Frame { gap: 0, ..Frame::ETHERNET });
    assert_eq!(frame, ScenarioError::TransportFrame);
    let every = Span::from_us(70);
    let interval = refused(|s| s.rates_every = Some(every));
    assert_eq!(interval, ScenarioError::MonitorInterval { rates: every.0, monitor: None });
    let mut same = scenario();
    same.rates_every = Some(every);
    window_of(&mut same).monitor = Some(every);
    assert!(same.build().is_ok());
}

#[test]
fn there_is_a_port_for_each_link() {
    let missing = refused(|s| s.ports.truncate(5));
    assert_eq!(missing, ScenarioError::PortCount { ports: 5, links: 6 });
}

fn shared() -> SharedBuffer {
    SharedBuffer { size: 1 << 20, alpha: Alpha::new((1, 1)).unwrap() }
}

#[test]
fn lossless_classes_can_be_named_and_paused_and_have_the_buffer_alone() {
    let spec = |classes: u16| PfcSpec {
        memory: shared(),
        lossless: ClassSet(classes),
        xoff: Xoff::Bytes(0),
        xon_below: 0,
        headroom: HeadroomFrom::Memory,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    };
    let with = |classes, change: fn(&mut ScenarioSpec)| {
        refused(|s| {
            s.switch.lossless = Some(spec(classes));
            change(s);
        })
    };
    assert_eq!(with(1 << 8, |_| {}), ScenarioError::LosslessClass { class: 8 });
    let ranked = with(1, |s| s.ports[3].discipline = DisciplineSpec::Ranked(RankedSpec));
    assert_eq!(ranked, ScenarioError::NotPausable { link: LinkId(3) });
    let memory = refused(|s| s.switch = SwitchSpec { memory: Some(shared()), lossless: Some(spec(1)) });
    assert_eq!(memory, ScenarioError::TwoSharedBuffers);
}

#[test]
fn flows_are_sorted_by_start_named_by_place_and_join_hosts() {
    let id = refused(|s| s.flows = vec![flow(0, (0, 1)), flow(2, (2, 0))].into());
    assert_eq!(id, ScenarioError::FlowId { flow: FlowId(2), place: 1 });
    let late = FlowSpec { start: Time(9), ..flow(0, (0, 1)) };
    let order = refused(|s| s.flows = vec![late, flow(1, (2, 0))].into());
    assert_eq!(order, ScenarioError::FlowOrder { flow: FlowId(1) });
    let host = refused(|s| s.flows = vec![flow(0, (0, 3))].into());
    assert_eq!(host, ScenarioError::FlowHost { flow: FlowId(0), hosts: 3 });
}

#[test]
fn each_flow_waits_once_for_other_flows_that_end() {
    assert_eq!(dependency(|s| s.waits.push(s.waits[0].clone())), DependencyProblem::Order);
    assert_eq!(dependency(|s| s.waits[0].after.clear()), DependencyProblem::Empty);
    assert_eq!(dependency(|s| s.waits[0].after.extend(after(&[0]))), DependencyProblem::Twice);
    assert_eq!(dependency(|s| s.waits[0].after.extend(after(&[7]))), DependencyProblem::NoFlow);
    assert_eq!(dependency(|s| s.flows.edit(0, |flow| flow.size = None)), DependencyProblem::Endless);
    assert_eq!(dependency(|s| s.waits[0].after[0].delay = Span::ZERO), DependencyProblem::NoDelay);
    // A signal within host 2 may take no time.
    let mut within = scenario();
    within.flows.edit(0, |flow| flow.dst = HostId(2));
    within.waits[0].after[0].delay = Span::ZERO;
    within.stop = Stop::At(Time(1 << 40));
    assert!(within.build().is_ok());
}

#[test]
fn no_flow_waits_for_itself() {
    assert_eq!(dependency(|s| s.waits[0].after = after(&[1])), DependencyProblem::Circle);
    let back = FlowDependency { flow: FlowId(0), after: after(&[1]), until: None };
    let both = refused(|s| s.waits.insert(0, back));
    assert_eq!(both, ScenarioError::Dependency { flow: FlowId(0), problem: DependencyProblem::Circle });
}

#[test]
fn steps_wait_for_flows_and_for_steps_of_their_own_host() {
    let of_step = |work| Predecessor { work: Work::Step(StepId(work)), delay: Span::ZERO };
    let step = |host, after| Step {
        group: 0,
        host: HostId(host),
        start: Time::ZERO,
        takes: Span::from_us(3),
        after,
    };
    let with = |steps: Vec<Step>| {
        let mut scenario = scenario();
        scenario.waits[0].after = vec![of_step(0)];
        scenario.steps = steps;
        scenario.build().map(|_| ())
    };
    // Flow 0 ends at host 1, flow 1 begins at host 2.
    assert_eq!(with(vec![step(2, after(&[0]))]), Ok(()));
    let problem = |number, problem| Err(ScenarioError::Step { step: StepId(number), problem });
    // The end of a step that waits for nothing is known: nothing waits for it.
    let known = ScenarioError::Dependency { flow: FlowId(1), problem: DependencyProblem::Known };
    assert_eq!(with(vec![step(2, vec![])]), Err(known));
    assert_eq!(with(vec![step(2, after(&[0])), step(1, vec![])]), Ok(()));
    assert_eq!(with(vec![step(3, after(&[0]))]), problem(0, DependencyProblem::NoHost));
    // Flow 1 waits for the step, and the step for flow 1: the flow is named.
    let both = ScenarioError::Dependency { flow: FlowId(1), problem: DependencyProblem::Circle };
    assert_eq!(with(vec![step(2, after(&[1]))]), Err(both));
    assert_eq!(with(vec![step(2, after(&[9]))]), problem(0, DependencyProblem::NoFlow));
    assert_eq!(with(vec![step(2, vec![of_step(1)])]), problem(0, DependencyProblem::NoFlow));
    let on_each_other = vec![step(2, after(&[0])), step(2, vec![of_step(2)]), step(2, vec![of_step(1)])];
    assert_eq!(with(on_each_other), problem(1, DependencyProblem::Circle));
    let elsewhere = vec![step(2, after(&[0])), step(1, vec![of_step(0)])];
    assert_eq!(with(elsewhere), problem(1, DependencyProblem::OtherHost));
    let flow_elsewhere = with(vec![step(1, after(&[0]))]);
    let expected = ScenarioError::Dependency { flow: FlowId(1), problem: DependencyProblem::OtherHost };
    assert_eq!(flow_elsewhere, Err(expected));
    let no_time = vec![step(2, Predecessor::flows([FlowId(0)], Span::ZERO))];
    assert_eq!(with(no_time), problem(0, DependencyProblem::NoDelay));
}

#[test]
fn control_messages_are_sorted_by_time_and_for_flows_that_exist() {
    let abort = |at, flow| ScheduledControl { at: Time(at), flow: FlowId(flow), control: Control::Abort };
    let order = refused(|s| s.controls = vec![abort(2, 0), abort(1, 0)]);
    assert_eq!(order, ScenarioError::ControlOrder { place: 1 });
    let flow = refused(|s| s.controls = vec![abort(1, 0), abort(2, 2)]);
    assert_eq!(flow, ScenarioError::ControlFlow { place: 1, flow: FlowId(2) });
}

#[test]
fn intervals_are_above_zero() {
    let zero = |key| ScenarioError::ZeroInterval { key };
    assert_eq!(refused(|s| s.sample_every = Some(Span::ZERO)), zero("sample_every"));
    assert_eq!(refused(|s| s.admission_every = Some(Span::ZERO)), zero("admission_every"));
    let rates = refused(|s| {
        window_of(s).monitor = Some(Span::ZERO);
        s.rates_every = Some(Span::ZERO);
    });
    assert_eq!(rates, zero("rates_every"));
    let machine = VmPricing { pair: Weights::default(), interval: Some(Span::ZERO) };
    assert_eq!(refused(|s| s.machines = vec![None, Some(machine)]), zero("machines.interval"));
    let defer = |by, times| vec![OnDowngrade::Ignore, OnDowngrade::Defer { by, times }];
    assert_eq!(refused(|s| s.on_downgrade = defer(Span::ZERO, 1)), zero("on_downgrade.by"));
    let times = refused(|s| s.on_downgrade = defer(Span(1), 0));
    assert_eq!(times, ScenarioError::ZeroDeferrals { group: 1 });
    let lasts = OnDowngrade::Reclassify { lasts: Span::ZERO };
    assert_eq!(refused(|s| s.on_downgrade = vec![lasts]), zero("on_downgrade.lasts"));
}

#[test]
fn no_message_is_faster_than_the_lookahead() {
    // 64 B and their gap at 10 Gbps after 1 us; a signal takes 5 us.
    let lookahead = scenario().lookahead();
    let config = control::Config {
        period: Span::from_ms(1),
        delay: Span(lookahead.0 - 1),
        window: 1,
        min_samples: 1,
        max_age: 1,
        bounds: ThresholdRange { min: 1, max: 2 },
        report_loss: 0.0,
        report_jitter: Span::ZERO,
        load: None,
    };
    let adaptation = |config| {
        let target = AdaptiveThresholds {
            of: ThresholdSet::Class,
            solver: Solver::EqualSplit(EqualSplit),
            levels: 2,
            load: 0.5,
        };
        let (global, local) = (vec![target], Vec::new());
        Some(Adaptation { config, global, local })
    };
    let period = refused(|s| s.adaptation = adaptation(control::Config { period: Span::ZERO, ..config }));
    assert_eq!(period, ScenarioError::ZeroInterval { key: "adaptation.config.period" });
    let late = refused(|s| s.adaptation = adaptation(config));
    let (delay, lookahead_ps) = (config.delay.0, lookahead.0);
    assert_eq!(late, ScenarioError::ControllerDelay { delay, lookahead: lookahead_ps });
    let loss = refused(|s| {
        s.adaptation = adaptation(control::Config { delay: lookahead, report_loss: 1.5, ..config })
    });
    assert_eq!(loss, ScenarioError::ReportLoss { found: "1.5".to_owned() });
    let grace = Span(lookahead.0 - 1);
    let stop =
        Stop::WhenDone { awaits: Awaited::Finite, grace, not_before: Time::ZERO, limit: Time(1 << 50) };
    let short = refused(|s| s.stop = stop);
    assert_eq!(short, ScenarioError::Grace { grace: grace.0, lookahead: lookahead.0 });
}

#[test]
fn the_empty_path_counts_the_random_time_of_both_hosts() {
    let mut scenario = scenario();
    let path = |scenario: &ScenarioSpec| scenario.empty_path(&flow(0, (0, 1)));
    let without = path(&scenario);
    scenario.send_jitter = SendJitter::PACKET;
    let with = path(&scenario);
    // 1538 B at 10 Gbps take 1,230,400 ps, at each of two hosts; that is 3,076 B of the line.
    assert_eq!((without.send_jitter, with.send_jitter), (Span::ZERO, Span(2 * 1_230_400)));
    assert_eq!(with.longest_round_trip(), without.data.round_trip + Span(2 * 1_230_400));
    assert_eq!(with.bdp() - without.bdp(), 3_076);
    // What a transport can measure at least stays.
    assert_eq!((with.data, with.control), (without.data, without.control));
}

#[test]
fn the_longest_hop_counts_the_random_time_of_hosts_and_the_time_of_the_receiver() {
    let mut scenario = scenario();
    // 1538 B at 10 Gbps take 1,230,400 ps, and a link takes 1 us.
    assert_eq!(scenario.longest_hop(), Span(1_230_400 + 1_000_000));
    scenario.host_delay = Span::from_us(3);
    scenario.send_jitter = SendJitter::PACKET;
    assert_eq!(scenario.longest_hop(), Span(2 * 1_230_400 + 4_000_000));
    scenario.send_jitter = SendJitter::Span(Span(777));
    assert_eq!(scenario.longest_hop(), Span(1_230_400 + 777 + 4_000_000));
    // No host sends on a link that a switch sends on, however long it takes.
    for link in scenario.topology.links.iter_mut().filter(|link| link.from.0 >= 3) {
        link.delay = Span::from_us(2);
    }
    assert_eq!(scenario.longest_hop(), Span(1_230_400 + 5_000_000));
}
