//! What can go wrong, and what to do then.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use priolane_core::wire::MtuError;

use crate::scheme::SchemeError;

/// Why a host cannot be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The system does not give it the address.
    #[error(
        "cannot bind to {address}: {source}; bind to an address of this machine and a free port, or port 0 for any"
    )]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Packets do not fit the MTU.
    #[error("the MTU does not fit: {0}")]
    Mtu(#[from] MtuError),
    /// Parameters of the transport do not fit each other or the MTU.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The transport was registered by another crate.
    #[error(
        "{0} is a transport of another crate, which only simulations run; use one that `priolane list` shows of this one"
    )]
    ForeignTransport(&'static str),
    /// A number of the configuration is out of range.
    #[error("{what} is {value}: write {fix}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        fix: &'static str,
    },
    /// The system gives no random numbers, without which other hosts could foresee what this host draws.
    #[error("the system gives no random numbers (getrandom); bind again once it does")]
    Random,
    /// The system gives it no thread or event.
    #[error("the system has no room for another host: {0}")]
    System(io::Error),
}

/// Why a message was not taken, or did not arrive.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It has no bytes.
    #[error("a message has at least one byte")]
    Empty,
    /// It is longer than messages may be.
    #[error("a message of {bytes} bytes; the limit is {most}: cut it, or raise limits.message at both hosts")]
    TooLong {
        /// Its bytes.
        bytes: u64,
        /// The most that it may have.
        most: u64,
    },
    /// Its class is none.
    #[error("class {0}: write one from 0, served first, to 15")]
    Class(u8),
    /// Its weight is none.
    #[error("a weight of 0 thousandths: write at least 1")]
    Weight,
    /// It is addressed to the host that sends it.
    #[error("{0} is this host's own address")]
    ToItself(SocketAddr),
    /// The addresses of sender and receiver are of different versions of IP.
    #[error("{to} cannot be reached from {from}: bind to an address of the same version of IP")]
    Family {
        /// The sender's.
        from: SocketAddr,
        /// The receiver's.
        to: SocketAddr,
    },
    /// Too much waits already.
    #[error("{bytes} bytes in {messages} messages wait to be delivered: wait, or raise limits.queued")]
    Full {
        /// Bytes that wait.
        bytes: u64,
        /// Messages that wait.
        messages: usize,
    },
    /// The host knows as many others as it may, and the receiver found no place among them, or had to give it up.
    #[error("this host has something under way with as many others as it may: wait, or raise limits.peers")]
    Peers,
    /// The receiver could not be greeted, as the system gives no random numbers.
    #[error(
        "the system gives no random numbers (getrandom) for a greeting of {0}; send the message again once it does"
    )]
    Random(SocketAddr),
    /// The receiver did not answer.
    #[error("no answer from {peer} for {after:?}: is a host bound there, reachable, and with the same key?")]
    NoAnswer {
        /// The receiver.
        peer: SocketAddr,
        /// Time without an answer or any datagram.
        after: Duration,
    },
    /// The receiver speaks something else.
    #[error("{peer} speaks {theirs}, this host {ours}: bind both with the same transport and MTU")]
    Mismatch {
        /// The receiver.
        peer: SocketAddr,
        /// Its transport and MTU.
        theirs: String,
        /// Those of this host.
        ours: String,
    },
    /// The receiver takes only what is authenticated.
    #[error("{0} takes only messages with its key: bind with that key")]
    NeedsKey(SocketAddr),
    /// The receiver knows as many others as it may.
    #[error("{0} has no room for another host: try again later, or raise its limits.peers")]
    PeerFull(SocketAddr),
    /// The receiver was heard no more.
    #[error("{peer} was not heard for {after:?}; the message may or may not have arrived")]
    Silent {
        /// The receiver.
        peer: SocketAddr,
        /// Time without an answer or any datagram.
        after: Duration,
    },
    /// The receiver was started again.
    #[error(
        "{0} was started again; the message may or may not have arrived before that: send it again if that does no harm"
    )]
    Restarted(SocketAddr),
    /// The receiver takes no message of that length.
    #[error(
        "{0} takes no message of that length: cut it, or raise limits.message there, and limits.receiving to twice as much"
    )]
    TooLongForPeer(SocketAddr),
    /// The receiver gave the message up.
    #[error(
        "{0} gave the message up: nothing of it came for its patience.idle, or its memory was full and the message too slow; \
         send it again"
    )]
    GivenUp(SocketAddr),
    /// It was given up by `abort`.
    #[error("the message was aborted; it may or may not have arrived")]
    Aborted,
    /// The host was closed.
    #[error(transparent)]
    Closed(#[from] RecvError),
}

impl SendError {
    /// Returns the name of the error in snake case, for logs and for other languages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong { .. } => "too_long",
            Self::Class(_) => "class",
            Self::Weight => "weight",
            Self::ToItself(_) => "to_itself",
            Self::Family { .. } => "family",
            Self::Full { .. } => "full",
            Self::Peers => "peers",
            Self::Random(_) => "random",
            Self::NoAnswer { .. } => "no_answer",
            Self::Mismatch { .. } => "mismatch",
            Self::NeedsKey(_) => "needs_key",
            Self::PeerFull(_) => "peer_full",
            Self::Silent { .. } => "silent",
            Self::Restarted(_) => "restarted",
            Self::TooLongForPeer(_) => "too_long_for_peer",
            Self::GivenUp(_) => "given_up",
            Self::Aborted => "aborted",
            Self::Closed(RecvError::Forked) => "forked",
            Self::Closed(_) => "closed",
        }
    }
}

/// Why no more messages come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecvError {
    /// The host was closed.
    #[error("the host is closed")]
    Dropped,
    /// The host's thread ended by a panic: a mistake of this crate.
    #[error("the host's thread panicked; report what it printed, and bind again")]
    Panicked,
    /// The call came from a process that was forked from the one that bound the host.
    #[error(
        "the host belongs to the process that bound it, and this process was forked from that one: bind a host here, \
         or use the host where it was bound"
    )]
    Forked,
}
