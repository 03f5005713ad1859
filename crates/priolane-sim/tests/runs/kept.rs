//! Outcomes of random experiments, which stay the same to the bit.
//!
//! Both engines run the same devices, so comparing them does not show a fault of a device. What they agree on is kept here: a
//! digest over every field of every record of each experiment.

use priolane_sim::scenario::Engine;

use crate::engines::random;
use crate::support::kept::{assert_kept, digest};
use crate::support::{drive, run};

#[test]
fn random_experiments_end_as_they_always_have() {
    let line = |seed: u64| format!("{seed},{}", digest(run(&random(seed), drive(Engine::Window))));
    assert_kept("random.csv", &(0..260).map(line).collect::<Vec<_>>());
}
