//! Implements `priolane thresholds`: solves for thresholds, given sizes and a load, and predicts their cost.

mod answer;
mod request;

pub use answer::{Answer, SolverChoice};
pub use request::{Request, answer};
