//! Testbeds in network namespaces of Linux: hosts of priolane-net, joined by switches of the kernel or in user space.
//!
//! ```text
//! Network, SwitchPort  pure data ──▶ Plan ──▶ steps (ip, sysctl, tc) ──▶ Testbed: up, down, status
//! RunJob               a Plan, what hosts speak, messages ──▶ a host process in each namespace ──▶ Measured
//! switch               a process that forwards packets by the disciplines of priolane-core
//! ```
//!
//! docs/real-hosts.md says how to use it and what it cannot do.

pub mod command;
pub mod counters;
pub mod guard;
pub mod host;
pub mod job;
pub mod journal;
pub mod marker;
pub mod network;
mod payload;
pub mod plan;
pub mod port;
pub mod probe;
mod row;
pub mod run;
pub mod scheme;
pub mod steps;
pub mod switch;
pub mod testbed;
pub mod user_port;
