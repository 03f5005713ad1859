//! Answers that need no run: predicted cost and flows of an experiment, its network, thresholds, channels, deployment, and closed
//! forms.

pub mod analyze;
pub mod channels;
pub mod check;
pub mod deploy;
pub mod drawn;
pub mod network;
pub mod promised;
pub mod requirement;
pub mod thresholds;
