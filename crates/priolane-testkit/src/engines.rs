//! Compares the outcomes of both engines.

use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Engine, Scenario};
use priolane_sim::{Drive, Simulation};

/// Runs `scenario` on both engines and returns their common outcome, with the engine-dependent event count set to 0.
///
/// # Panics
/// Panics if the outcomes differ or a run fails.
pub fn agreed(scenario: &Scenario) -> Outcome {
    let [window, wheel] = [Engine::Window, Engine::Wheel].map(|engine| {
        let run = Simulation::of(scenario).run(Drive::on(engine));
        let mut outcome = run.expect("no invariant is violated");
        outcome.work.events = 0;
        outcome
    });
    assert_eq!(window, wheel, "the wheel differs");
    window
}
