//! Commands besides runs: predicted cost and flows of an experiment, thresholds, channels, deployment, closed-form analysis and
//! benchmarks.

pub mod analyze;
pub mod bench;
pub mod channels;
pub mod check;
pub mod deploy;
pub mod drawn;
pub mod linux;
pub mod network;
pub mod profile;
pub mod promised;
pub mod requirement;
pub mod thresholds;
