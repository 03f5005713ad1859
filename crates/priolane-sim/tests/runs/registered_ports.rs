//! Ports of other crates: each discipline of this tree, registered as one of another crate would be, leaves the outcome
//! that it leaves without.

use crate::engines::random;
use crate::support::agreed;
use priolane_core::port::{DisciplineSpec, RegisteredSpec};
use priolane_rounds::rounds;
use priolane_sim::scenario::{Nic, ScenarioSpec};

/// The same scenario with every port, in hosts too, behind the interface for other crates.
fn registered(scenario: &ScenarioSpec) -> ScenarioSpec {
    let twin = |discipline: &mut DisciplineSpec| *discipline = RegisteredSpec::new(discipline.clone()).into();
    let mut scenario = scenario.clone();
    scenario.ports.iter_mut().for_each(|port| twin(&mut port.discipline));
    if let Nic::Queue { port, .. } = &mut scenario.nic {
        twin(&mut port.discipline);
    }
    scenario
}

#[test]
fn a_registered_twin_of_any_port_leaves_the_same_outcome_on_both_engines() {
    let (mut drops, mut marks, mut lossless) = (0_u64, 0_u64, 0_u32);
    for seed in 0..rounds(60, 1_500) {
        let scenario = random(seed);
        let outcome = agreed(&scenario);
        assert_eq!(agreed(&registered(&scenario)), outcome, "seed {seed}");
        drops += outcome.ledger.dropped.iter().map(|tally| tally.packets).sum::<u64>();
        marks += outcome.ports.iter().map(|port| port.marked).sum::<u64>();
        lossless += u32::from(scenario.switch.lossless.is_some());
    }
    assert!(drops > 1_000 && marks > 100 && lossless > 5, "{drops} {marks} {lossless}");
}
