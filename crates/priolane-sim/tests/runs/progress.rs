//! Tests that a run reports its progress, and that it stops when asked.

use std::ops::ControlFlow;

use priolane_core::port::Buffer;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Outcome, Progress, RunError};
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::SingleSwitch;
use priolane_sim::{Drive, Simulation, Threads};

use crate::engines::random;
use crate::support::{SHUFFLED, built, drive, fifo, flow, link, scenario};

fn reports(spec: &ScenarioSpec, drive: Drive) -> (Vec<Progress>, Outcome) {
    let mut reports = Vec::new();
    let mut note = |progress| {
        reports.push(progress);
        ControlFlow::Continue(())
    };
    let scenario = built(spec);
    let simulation = Simulation::of(&scenario).reporting_to(&mut note);
    let outcome = simulation.run(drive).expect("no invariant is violated");
    (reports, outcome)
}

#[test]
fn the_last_report_is_of_the_end_with_all_flows_that_ended() {
    for seed in 0..40 {
        let mut spec = random(seed);
        // An aborted flow counts as completed.
        spec.controls.clear();
        for drive in [drive(Engine::Window), drive(Engine::Wheel), SHUFFLED] {
            let (reports, outcome) = reports(&spec, drive);
            let completed = outcome.flows.iter().filter(|flow| flow.fct_acked.is_some()).count() as u32;
            let last = Progress { now: outcome.stopped_at, completed, total: spec.flows.len() as u32 };
            assert_eq!(reports.last(), Some(&last), "seed {seed}, {drive:?}");
        }
    }
}

/// Some 400,000 events of the wheel.
fn long() -> ScenarioSpec {
    let topology = SingleSwitch { hosts: 4, host_link: link(10, Span::from_us(1)) }.build().unwrap();
    let flows = (0..2).map(|i| flow(i, (i as u16, 2 + i as u16), 50_000_000, Time::ZERO)).collect();
    let mut long = scenario(topology, fifo(Buffer::UNLIMITED), flows);
    long.stop = Stop::At(Time(36_000_000_000));
    long
}

#[test]
fn a_run_reports_in_order_of_time_and_stops_when_asked() {
    for engine in [Engine::Wheel, Engine::Window] {
        let (reports, outcome) = reports(&long(), drive(engine));
        // Each 2^18 events of the wheel, or each 256 windows of about 1.07 us, and at the end.
        let expected = if engine == Engine::Wheel { 2..5 } else { 120..140 };
        assert!(expected.contains(&reports.len()), "{engine:?}: {} reports", reports.len());
        assert!(reports.is_sorted_by_key(|progress| (progress.now, progress.completed)), "{reports:?}");
        let before_last = reports[reports.len() - 2];
        assert!(before_last.now < outcome.stopped_at && before_last.now > Time::ZERO, "{reports:?}");
        let mut asked = 0;
        let mut stop = |_| {
            asked += 1;
            ControlFlow::Break(())
        };
        let drive = Drive { threads: Threads::ONE, ..drive(engine) };
        let stopped = Simulation::of(&built(&long())).reporting_to(&mut stop).run(drive);
        assert!(matches!(stopped, Err(RunError::Interrupted)) && asked == 1, "{engine:?}: {stopped:?}");
    }
}
