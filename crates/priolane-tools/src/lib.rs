//! What a user may ask beside runs: what an experiment costs, what thresholds, channels and deployments would be, what
//! theory says, how fast this machine is.

pub mod analyze;
pub mod bench;
pub mod channels;
pub mod check;
pub mod deploy;
pub mod promised;
pub mod requirement;
pub mod thresholds;
