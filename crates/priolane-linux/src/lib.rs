//! Testbeds in network namespaces of Linux: hosts of priolane-net, joined by kernel switches.
//!
//! ```text
//! Network, Port   pure data ──▶ Plan ──▶ steps (ip, sysctl, tc) ──▶ Testbed: up, down, status
//! ```
//!
//! docs/real-hosts.md says how to use it and what it cannot do.

pub mod command;
pub mod journal;
pub mod marker;
pub mod network;
pub mod plan;
pub mod port;
pub mod probe;
mod steps;
pub mod testbed;
