//! Tests of hosts over the loopback interface, with every transport and with all faults of a network between them.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "real hosts go by the clock; tests say how long they took"
)]

mod api;
mod bad_network;
mod by_hand;
mod counted;
mod digest;
mod forks;
mod freeze;
mod hostile;
mod keys;
mod many;
mod namespaces;
mod process;
mod proxy;
mod segments;
mod silent;
mod transports;
mod wait;
mod whole;
