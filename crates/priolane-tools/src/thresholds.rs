//! `priolane thresholds`: what solvers find for sizes and a load, and what that costs.

mod answer;
mod request;

pub use answer::{Answer, Asked};
pub use request::{Request, answer};
