//! UDP on Linux with the features that a transport needs for each packet: DSCP and ECN in both directions, the kernel's
//! receive time, and many packets per call. This is the only module with `unsafe`, and each block says why it is sound.
//!
//! ```text
//! Address    a socket address as the kernel reads and writes it
//! UdpSocket  bound, non-blocking, with the options that the batches rely on
//! SendBatch  datagrams that wait for sendmmsg, singly or as segments; what the kernel did not take stays
//! RecvBatch  datagrams that recvmmsg gave, singly or in groups, with TOS and time
//! Wakeup     an eventfd: other threads end a wait
//! ```
#![expect(unsafe_code, reason = "system calls that no crate of the standard library makes")]

mod address;
mod control;
mod forks;
mod receive;
mod send;
mod system;
mod thread;
mod udp;
mod wait;

pub(crate) use receive::RecvBatch;
pub(crate) use send::{Grouping, SendBatch, SendOutcome};
pub(crate) use thread::{be_real_time, wake_on_time};
pub(crate) use udp::UdpSocket;
pub(crate) use wait::{WaitFor, Wakeup, wait};

#[cfg(test)]
mod tests;
