//! Outcomes on which the engines agree.

use std::ops::ControlFlow;

use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, Scenario};
use priolane_sim::{Drive, run};

/// The outcome of `scenario` on which both engines agree, without what may depend on the engine.
///
/// # Panics
/// If they do not agree, or the run fails.
pub fn agreed(scenario: &Scenario) -> Outcome {
    let [window, wheel] = [Engine::Window, Engine::Wheel].map(|engine| {
        let run = run(scenario, Drive::on(engine), &mut |_| ControlFlow::Continue(()));
        let mut outcome = run.expect("no invariant is violated");
        outcome.work.events = 0;
        outcome
    });
    assert_eq!(window, wheel, "the wheel differs");
    window
}
