//! How a host is set up.

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

/// How a host is set up. [`Config::new`] has the defaults.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it is bound. Default: the loopback interface, a free port. Any other address is for networks in which all hosts
    /// are trusted, unless there is a `key`.
    pub address: SocketAddr,
    /// What it speaks.
    pub scheme: Scheme,
    /// The rate of its line: it sends no faster, and token transports ask for no more. Default: 10 Gbit/s.
    pub line: Rate,
    /// Bytes of the largest IP packet; the same at all hosts. Default: 1500.
    pub mtu: u16,
    /// The DSCP of each class; the same at all hosts.
    pub dscp: Dscp,
    /// The secret that all hosts share. Default: none, and datagrams are not authenticated.
    pub key: Option<Key>,
    /// What is known of the paths to other hosts. Default: nothing; what a transport needs is measured.
    pub path: PathInfo,
    /// For how long datagrams of a host are held back when they arrive, as if the line from there were longer. Of hosts that are
    /// not in it: not at all. Default: empty.
    pub delays: HashMap<SocketAddr, Duration>,
    /// What counts messages that are not kept. Default: nothing, and all are kept.
    pub meter: Option<Arc<dyn Meter>>,
    /// How much is kept.
    pub limits: Limits,
    /// How long others are waited for.
    pub patience: Patience,
    /// The priority from 1 to 99 with which its thread runs before all ordinary ones (`SCHED_FIFO`), if the system permits
    /// that; `Host::scheduling` tells. Default: none.
    pub real_time: Option<u8>,
    /// How long its thread looks for datagrams before it sleeps: less latency for more CPU. Default: not at all.
    pub spin: Duration,
    /// Whether datagrams that leave for one host together are given to the kernel as one. Default: they are not, since
    /// switches in user space and their counts are for single packets.
    pub segmentation: Segmentation,
    /// Whether datagrams that come from one host together are taken from the kernel as one. Default: they are not, since all of a
    /// group have the time at which its first came.
    pub receive_offload: ReceiveOffload,
}

/// Who takes datagrams that come together apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReceiveOffload {
    /// The kernel, or nobody: each datagram comes to the host on its own.
    #[default]
    Off,
    /// The host: the kernel gives it groups (UDP_GRO) of consecutive datagrams of one sender, class, ECN codepoint and length. One that
    /// does not is counted in `receive_offload_refused`, and they come singly.
    Kernel,
}

/// Who cuts what leaves into datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Segmentation {
    /// The host: each datagram goes down to the line on its own.
    #[default]
    Host,
    /// The kernel (UDP_SEGMENT), for consecutive datagrams of one receiver, class, ECN codepoint and length. One that does not is
    /// counted in `segmentation_refused`, and the host goes on by itself.
    Kernel,
}

/// How much a host keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of the longest message, sent or received. Default: 1 GiB.
    pub message: u64,
    /// Bytes of messages that are sent and not yet delivered; `send` waits at that. One message may have more. Default: 64 MiB.
    pub queued: u64,
    /// Messages that are sent and not yet delivered. Default: 65,536.
    pub messages: usize,
    /// Bytes of messages of one sender of which not all has come; its oldest message may have more. Default: 64 MiB.
    pub sender: u64,
    /// Bytes of one message beyond those from its start that have come. Default: 16 MiB.
    pub ahead: u64,
    /// Memory for messages of all senders of which not all has come, in bytes, with the bookkeeping. A quarter of it is for the
    /// state of flows, a part for one message at a time that needs more room than there is, and the rest is divided fairly
    /// among senders. A message that is longer than half of it is refused. Default: 2 GiB, twice the longest message, so
    /// that one of these always ends.
    pub receiving: u64,
    /// Memory for messages that have arrived and wait for `recv`, in bytes. Beyond that, no payload is taken. It may be exceeded by
    /// messages that are already here for the most part; those were counted in `receiving` before. So both limits together hold
    /// always. Default: 256 MiB.
    pub arrived: u64,
    /// Memory for datagrams that are held back by [`Config::delays`], in bytes; those that find no room are lost. Default: 64 MiB.
    pub held: u64,
    /// Messages between this host and one other that are under way at once, each way; more wait. Default: 4096;
    /// token transports begin at most 64.
    pub flows: u32,
    /// Other hosts that are known, at most 65,534. Default: 4096.
    pub peers: u16,
    /// Bytes that the system keeps of datagrams which wait to be read, or to be sent, if it permits so many. Default: 4 MiB.
    pub socket: usize,
}

/// The largest `Limits::receiving`.
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

/// How long a host waits for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the answer of a host that it does not know yet. Default: 5 s.
    pub greeting: Duration,
    /// For anything of a host that messages are under way to. Default: 10 s.
    pub silence: Duration,
    /// For the rest of a message of which nothing comes. Default: 60 s.
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
    /// The defaults, for hosts that speak `scheme`.
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

    /// At this address.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// With this key.
    #[must_use]
    pub fn key(self, key: Key) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Checks the numbers.
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
