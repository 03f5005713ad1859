//! Endpoints as real hosts drive them, all of every transport: datagrams that anyone may have written.

mod datagrams;
mod transports;
