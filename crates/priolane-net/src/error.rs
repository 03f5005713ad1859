//! Errors of hosts and messages, each with its remedy.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use priolane_core::wire::MtuError;

use crate::scheme::SchemeError;

/// The reason why a host could not be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The system refuses to bind the address.
    #[error(
        "cannot bind to {address}: {source}; bind to an address of this machine and a free port, or port 0 for any"
    )]
    Address {
        /// The address that was to be bound.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The packets of the transport do not fit the MTU.
    #[error("the MTU does not fit: {0}")]
    Mtu(#[from] MtuError),
    /// The parameters of the transport do not fit each other or the MTU.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The transport was registered by another crate.
    #[error(
        "{0} is a transport of another crate, which only simulations run; use one that `priolane list` shows of this one"
    )]
    ForeignTransport(&'static str),
    /// A number in the configuration is out of range.
    #[error("{what} is {value}: write {fix}")]
    Setting {
        /// The name of the setting.
        what: &'static str,
        /// The value that is out of range.
        value: u64,
        /// The permitted values.
        fix: &'static str,
    },
    /// The system provides no random numbers, without which other hosts could predict the numbers that this host draws.
    #[error("the system gives no random numbers (getrandom); bind again once it does")]
    Random,
    /// The system refuses to create a thread or an event.
    #[error("the system has no room for another host: {0}")]
    System(io::Error),
}

/// The reason why a message was not accepted or did not arrive.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message has no bytes.
    #[error("a message has at least one byte")]
    Empty,
    /// The message is longer than the limit.
    #[error("a message of {bytes} bytes; the limit is {most}: cut it, or raise limits.message at both hosts")]
    TooLong {
        /// The length of the message in bytes.
        bytes: u64,
        /// The length of the longest permitted message in bytes.
        most: u64,
    },
    /// The class is above 15.
    #[error("class {0}: write one from 0, served first, to 15")]
    Class(u8),
    /// The weight is 0.
    #[error("a weight of 0 thousandths: write at least 1")]
    Weight,
    /// The message is addressed to the host that sends it.
    #[error("{0} is this host's own address")]
    ToItself(SocketAddr),
    /// The addresses of sender and receiver are of different versions of IP.
    #[error("{to} cannot be reached from {from}: bind to an address of the same version of IP")]
    Family {
        /// The address of the sender.
        from: SocketAddr,
        /// The address of the receiver.
        to: SocketAddr,
    },
    /// The limit on undelivered messages is reached.
    #[error("{bytes} bytes in {messages} messages wait to be delivered: wait, or raise limits.queued")]
    Full {
        /// The number of bytes that wait to be delivered.
        bytes: u64,
        /// The number of messages that wait to be delivered.
        messages: usize,
    },
    /// The table of peers is full, and the receiver found no place in the table or lost its place.
    #[error("this host has something under way with as many others as it may: wait, or raise limits.peers")]
    Peers,
    /// The receiver could not be greeted, because the system provides no random numbers.
    #[error(
        "the system gives no random numbers (getrandom) for a greeting of {0}; send the message again once it does"
    )]
    Random(SocketAddr),
    /// The receiver did not answer the greeting.
    #[error("no answer from {peer} for {after:?}: is a host bound there, reachable, and with the same key?")]
    NoAnswer {
        /// The address of the receiver.
        peer: SocketAddr,
        /// The time without an answer or any other datagram.
        after: Duration,
    },
    /// The receiver uses another transport or another MTU.
    #[error("{peer} speaks {theirs}, this host {ours}: bind both with the same transport and MTU")]
    Mismatch {
        /// The address of the receiver.
        peer: SocketAddr,
        /// The transport and the MTU of the receiver.
        theirs: String,
        /// The transport and the MTU of this host.
        ours: String,
    },
    /// The receiver accepts only authenticated datagrams.
    #[error("{0} takes only messages with its key: bind with that key")]
    NeedsKey(SocketAddr),
    /// The receiver's table of peers is full.
    #[error("{0} has no room for another host: try again later, or raise its limits.peers")]
    PeerFull(SocketAddr),
    /// The receiver fell silent.
    #[error("{peer} was not heard for {after:?}; the message may or may not have arrived")]
    Silent {
        /// The address of the receiver.
        peer: SocketAddr,
        /// The time without an answer or any other datagram.
        after: Duration,
    },
    /// The receiver restarted.
    #[error(
        "{0} was started again; the message may or may not have arrived before that: send it again if that does no harm"
    )]
    Restarted(SocketAddr),
    /// The receiver does not accept messages of this length.
    #[error(
        "{0} takes no message of that length: cut it, or raise limits.message there, and limits.receiving to twice as much"
    )]
    TooLongForPeer(SocketAddr),
    /// The receiver gave up the message.
    #[error(
        "{0} gave the message up: none of its data came for its patience.idle, or its memory was full and the message too slow; \
         send it again"
    )]
    GivenUp(SocketAddr),
    /// The message was aborted by `abort`.
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

/// The reason why no further messages arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecvError {
    /// The host was closed.
    #[error("the host is closed")]
    Dropped,
    /// The host's thread panicked, which is a defect of this crate.
    #[error("the host's thread panicked; report what it printed, and bind again")]
    Panicked,
    /// The calling process was forked from the process that bound the host.
    #[error(
        "the host belongs to the process that bound it, and this process was forked from that one: bind a host here, \
         or use the host where it was bound"
    )]
    Forked,
}
