//! The configuration of a host.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use priolane_core::endpoint::PathInfo;
use priolane_core::units::Rate;

use crate::assembly::LEAST_RECEIVING;
use crate::dscp::Dscp;
use crate::error::BindError;
use crate::key::Key;
use crate::meter::Meter;
use crate::scheme::Scheme;

/// The configuration of a host. [`Config::new`] returns the defaults.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to bind the host to. Default: the loopback interface, a free port. Without a `key`, use any other
    /// address only in networks in which all hosts are trusted.
    pub address: SocketAddr,
    /// The transport and its parameters, which all hosts must share.
    pub scheme: Scheme,
    /// The rate of the host's line. The host sends no faster, and token transports request no more. Default: 10 Gbit/s.
    pub line: Rate,
    /// The size of the largest IP packet in bytes, which must be the same at all hosts. Default: 1500.
    pub mtu: u16,
    /// The DSCP of each class, which must be the same at all hosts. Default: [`Dscp::DEFAULT`].
    pub dscp: Dscp,
    /// The secret that all hosts share. Default: none, and datagrams are neither encrypted nor authenticated.
    pub key: Option<Key>,
    /// The known properties of the paths to other hosts. Default: none are known, and the transport measures what it
    /// needs.
    pub path: PathInfo,
    /// The time for which datagrams from a host are held back on arrival, as if the line from that host were longer.
    /// Datagrams from hosts that are not in the map are not held back. Default: empty.
    pub delays: HashMap<SocketAddr, Duration>,
    /// The meter that counts messages instead of keeping them. Default: none, and all messages are kept.
    pub meter: Option<Arc<dyn Meter>>,
    /// The limits on memory, messages and peers.
    pub limits: Limits,
    /// The times for which the host waits for other hosts.
    pub patience: Patience,
    /// The real-time priority (`SCHED_FIFO`) of the host's thread, from 1 to 99, if the system permits one: the thread
    /// then runs before all ordinary threads. `Host::scheduling` tells whether it does. Default: none.
    pub real_time: Option<u8>,
    /// The time for which the host's thread polls for datagrams before it sleeps, which trades CPU time for latency.
    /// Default: zero.
    pub spin: Duration,
    /// Whether the kernel receives consecutive datagrams for one host as one buffer and cuts it. Default: no, because
    /// switches in user space and their counters expect single packets.
    pub segmentation: Segmentation,
    /// Whether the kernel passes consecutive datagrams of one host as a group. Default: no, because all datagrams of a
    /// group have the receive time of the first.
    pub receive_offload: ReceiveOffload,
}

/// The component that splits a group of received datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReceiveOffload {
    /// No groups: each datagram is received on its own.
    #[default]
    Off,
    /// The kernel forms groups (UDP_GRO) of consecutive datagrams of one sender, class, ECN codepoint and length, and
    /// the host splits them. A kernel without UDP_GRO is counted in `receive_offload_refused`, and datagrams are
    /// received singly.
    Kernel,
}

/// The component that cuts a send buffer into datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Segmentation {
    /// The host: each datagram passes through the network stack on its own.
    #[default]
    Host,
    /// The kernel (UDP_SEGMENT), for consecutive datagrams of one receiver, class, ECN codepoint and length. A kernel
    /// that refuses is counted in `segmentation_refused`, and the host sends datagrams singly.
    Kernel,
}

/// Limits on memory, messages and peers of a host. Each is at least 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The length of the longest message in bytes, sent or received, at most 2^48 - 1. Default: 1 GiB.
    pub message: u64,
    /// The bytes of messages that were sent and are not yet delivered. `send` waits while the limit is reached. A
    /// single message may exceed the limit. Default: 64 MiB.
    pub queued: u64,
    /// The number of messages that were sent and are not yet delivered. Default: 65,536.
    pub messages: usize,
    /// The bytes of the incomplete messages of one sender. The sender's oldest message may exceed the limit. Default:
    /// 64 MiB.
    pub sender: u64,
    /// The bytes of a message that may be stored beyond the part that has arrived without gaps; at least the MTU.
    /// Default: 16 MiB.
    pub ahead: u64,
    /// The memory for incomplete messages of all senders with their bookkeeping, in bytes, from 2^20 to 2^62. A quarter
    /// is for the state of flows, a part is for one message at a time that needs more memory than is free, and the rest
    /// is divided fairly among senders. A message that is longer than half of the limit is refused. Default: 2 GiB,
    /// twice the longest message, so that one of the longest messages can always complete.
    pub receiving: u64,
    /// The memory for messages that have arrived and wait for `recv`, in bytes. No payload is accepted while the limit
    /// is reached. Messages that had mostly arrived by then may exceed the limit; their memory was counted in
    /// `receiving` before, so the sum of both limits always holds. Default: 256 MiB.
    pub arrived: u64,
    /// The memory for datagrams that [`Config::delays`] holds back, in bytes. Datagrams beyond the limit are lost.
    /// Default: 64 MiB.
    pub held: u64,
    /// The number of messages under way at once between this host and one other, in each direction. Further messages
    /// wait. Default: 4096; token transports start at most 64.
    pub flows: u32,
    /// The number of peers that are known, at most 65,534. Default: 4096.
    pub peers: u16,
    /// The size of the socket's send and receive buffers in bytes, if the system permits that size. Default: 4 MiB.
    pub socket: usize,
}

/// The largest value of `Limits::receiving`.
const MOST_RECEIVING: u64 = 1 << 62;

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 1 << 30,
            queued: 64 << 20,
            messages: 65_536,
            sender: 64 << 20,
            ahead: 16 << 20,
            receiving: 2 << 30,
            arrived: 256 << 20,
            held: 64 << 20,
            flows: 4_096,
            peers: 4_096,
            socket: 4 << 20,
        }
    }
}

/// The times for which a host waits for other hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// The time to wait for the answer of a host that is not known yet. Default: 5 s.
    pub greeting: Duration,
    /// The time without any datagram from a host to which messages are under way, after which these messages fail.
    /// Default: 10 s.
    pub silence: Duration,
    /// The time without further payload after which an incomplete message is dropped. Default: 60 s.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            greeting: Duration::from_secs(5),
            silence: Duration::from_secs(10),
            idle: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// Returns the default configuration of a host that speaks `scheme`.
    pub fn new(scheme: Scheme) -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            scheme,
            line: Rate::from_gbps(10),
            mtu: 1_500,
            dscp: Dscp::DEFAULT,
            key: None,
            path: PathInfo::UNKNOWN,
            delays: HashMap::new(),
            meter: None,
            limits: Limits::default(),
            patience: Patience::default(),
            real_time: None,
            spin: Duration::ZERO,
            segmentation: Segmentation::Host,
            receive_offload: ReceiveOffload::Off,
        }
    }

    /// Sets the address to bind to.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// Sets the key.
    #[must_use]
    pub fn key(self, key: Key) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Checks that all numbers are within their ranges.
    pub(crate) fn check(&self) -> Result<(), BindError> {
        let Limits { message, queued, messages, sender, ahead, .. } = self.limits;
        let Limits { receiving, arrived, held, flows, peers, socket, .. } = self.limits;
        let most = (1 << 48) - 1;
        let least_one = [
            ("limits.queued", queued),
            ("limits.messages", messages as u64),
            ("limits.sender", sender),
            ("limits.arrived", arrived),
            ("limits.held", held),
            ("limits.flows", u64::from(flows)),
            ("limits.peers", u64::from(peers)),
            ("limits.socket", socket as u64),
        ];
        if let Some(&(what, value)) = least_one.iter().find(|(_, value)| *value == 0) {
            return Err(BindError::Setting { what, value, fix: "at least 1" });
        }
        if message == 0 || message > most {
            return Err(BindError::Setting { what: "limits.message", value: message, fix: "1 to 2^48 - 1" });
        }
        if ahead < u64::from(self.mtu) {
            return Err(BindError::Setting { what: "limits.ahead", value: ahead, fix: "at least the MTU" });
        }
        if !(LEAST_RECEIVING..=MOST_RECEIVING).contains(&receiving) {
            return Err(BindError::Setting {
                what: "limits.receiving",
                value: receiving,
                fix: "2^20 to 2^62, twice the longest message or more",
            });
        }
        match self.real_time {
            Some(value) if !(1..=99).contains(&value) => {
                Err(BindError::Setting { what: "real_time", value: u64::from(value), fix: "1 to 99" })
            }
            _ => Ok(()),
        }
    }
}
