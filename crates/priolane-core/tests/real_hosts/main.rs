//! Endpoints as real hosts drive them, all of every transport: over a bad network with clocks of their own, with datagrams that
//! anyone may have written, with hosts that do not send, and with
//! more flows than a host may have.

mod bad_network;
mod clocks;
mod datagrams;
mod flood;
mod forget;
mod kept;
mod limits;
mod network;
mod silence;
mod stamps;
mod transports;
