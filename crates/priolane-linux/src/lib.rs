//! Testbeds in network namespaces of Linux: hosts of priolane-net, joined by switches of the kernel or in user space.
//!
//! ```text
//! Network, SwitchPort  pure data ──▶ TestbedPlan ──▶ steps (ip, sysctl, tc) ──▶ Testbed: up, down, status
//! RunJob               a TestbedPlan, a scheme, messages ──▶ a host process in each namespace ──▶ TestbedReport
//! MachinesJob          machines, a scheme, messages ──▶ an agent on each, which starts its hosts ──▶ TestbedReport
//! switch               a process that forwards packets by the disciplines of priolane-core
//! ```
//!
//! docs/real-hosts.md describes the use of testbeds and their limits.

pub mod admission;
pub mod admission_job;
pub mod agent;
mod child;
pub mod clock;
mod clock_correction;
pub mod command;
pub mod counters;
pub mod guard;
pub mod host;
mod host_error;
mod host_jobs;
mod host_process;
pub mod job;
pub mod journal;
mod last_words;
pub mod leftovers;
pub mod limits;
mod lines;
mod machine_hosts;
mod machine_job;
pub mod machines;
pub mod marker;
mod measure;
pub mod network;
mod payload;
mod pipe_writer;
pub mod plan;
pub mod port;
pub mod probe;
mod progress;
mod report_check;
mod row;
pub mod run;
pub mod scheme;
mod sender;
pub mod steps;
pub mod switch;
pub mod testbed;
mod timeline;
pub mod token_port;
mod under_way;
mod unix_socket;
pub mod user_port;
