//! Endpoints as real hosts drive them, all of every transport: over a bad network with clocks of their own, with datagrams that
//! anyone may have written, and with hosts that do not send.

mod bad_network;
mod clocks;
mod datagrams;
mod flood;
mod network;
mod transports;
