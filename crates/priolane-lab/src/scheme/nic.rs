//! What stands between a host's transport and its line: its kinds and their keys.

use priolane_core::port::Limit;
use priolane_source::quantity::show_limit;
use priolane_source::{Field, Form, InputError, Merge, Reader, Replace};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::buffer::{Ecn, Sharing, ecn};
use super::map::{self, Map};
use super::port::{self, Overflow, Port, PortKind};

/// What stands between a host's transport and its line.
#[derive(Clone, Debug, PartialEq)]
pub enum Nic {
    /// Nothing: the line asks the host's scheduler.
    Pull,
    /// The token discipline of the switch ports.
    Tokens,
    /// A transmit queue.
    Queue {
        /// Its discipline.
        queue: NicQueue,
        /// Its room.
        limit: Limit,
        /// Its marking, if any.
        ecn: Option<Ecn>,
        /// Most of one flow that waits in it.
        per_flow_limit: Limit,
    },
    /// A transmit queue that is a port of its own, as a switch could have it.
    Port {
        /// The port; it has no lossless classes, and its buffer is its own.
        port: Port,
        /// Which of its queues a class goes to; `None` where that is as at switches.
        map: Option<Map>,
        /// Most of one flow that waits in it.
        per_flow_limit: Limit,
    },
}

/// The discipline of a transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicQueue {
    /// One queue.
    Fifo,
    /// That of the host row.
    Host,
    /// That of the switch ports, by class.
    Ports,
}

impl Nic {
    /// The name in core's list of entries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Tokens => "tokens",
            Self::Queue { queue: NicQueue::Fifo, .. } => "fifo",
            Self::Queue { queue: NicQueue::Host, .. } => "host",
            Self::Queue { queue: NicQueue::Ports, .. } => "ports",
            Self::Port { .. } => "port",
        }
    }

    /// Most of one flow that waits in the transmit queue.
    pub fn per_flow_limit(&self) -> Limit {
        match *self {
            Self::Queue { per_flow_limit, .. } | Self::Port { per_flow_limit, .. } => per_flow_limit,
            Self::Pull | Self::Tokens => Limit::Unlimited,
        }
    }
}

impl Serialize for Nic {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Pull | Self::Tokens => return s.serialize_str(self.name()),
            Self::Queue { limit, ecn, .. } => {
                let mut map = s.serialize_map(None)?;
                map.serialize_entry("queue", self.name())?;
                map.serialize_entry("limit", &show_limit(*limit))?;
                match ecn {
                    Some(ecn) => map.serialize_entry("ecn", ecn)?,
                    None => map.serialize_entry("ecn", &false)?,
                }
                map
            }
            Self::Port { port, map: classes, .. } => {
                let mut map = s.serialize_map(None)?;
                map.serialize_entry("port", port)?;
                if let Some(classes) = classes {
                    map.serialize_entry("map", classes)?;
                }
                map
            }
        };
        if self.per_flow_limit() != Limit::Unlimited {
            map.serialize_entry("per_flow_limit", &show_limit(self.per_flow_limit()))?;
        }
        map.end()
    }
}

pub(super) const MERGE: Merge = Merge {
    rules: &[Replace::OneOf(&[
        Form { by: &["queue"], with: &["limit", "ecn"] },
        Form { by: &["port"], with: &["map"] },
    ])],
    inner: &[("port", &port::MERGE)],
    each: None,
};

pub(super) fn read(field: &Field<'_>) -> Result<Nic, InputError> {
    let Ok(mut keys) = field.table() else {
        return match field.text() {
            Ok("pull") => Ok(Nic::Pull),
            Ok("tokens") => Ok(Nic::Tokens),
            _ => Err(field.error(
                "this is no NIC",
                "nic = \"pull\", \"tokens\", nic = { queue = \"fifo\" | \"host\" | \"ports\", ... } or \
                 nic = { port = { kind = \"pfabric\", ... } }",
            )),
        };
    };
    if let Some(field) = keys.take("port") {
        if let Some(queue) = keys.take("queue") {
            return Err(queue.error("both queue and port are stated", "one of them"));
        }
        let (port, per_flow_limit) = (nic_port(&field)?, per_flow_limit(&mut keys)?);
        let map = keys.take("map").map(|f| map::read(&f)).transpose()?;
        keys.finish()?;
        return Ok(Nic::Port { port, map, per_flow_limit });
    }
    let queues = [("fifo", NicQueue::Fifo), ("host", NicQueue::Host), ("ports", NicQueue::Ports)];
    let queue = keys.need("queue", "queue = \"fifo\"")?.word(&queues)?;
    let limit = keys.take("limit").map_or(Ok(Limit::Unlimited), |f| f.limit())?;
    let ecn = match keys.take("ecn") {
        None => None,
        Some(field) => match field.truth() {
            Ok(false) => None,
            Ok(true) => {
                return Err(
                    field.error("no threshold is stated", "false, or { per = \"port\", at = { ... } }")
                );
            }
            Err(_) => Some(ecn(&field)?),
        },
    };
    let per_flow_limit = per_flow_limit(&mut keys)?;
    keys.finish()?;
    Ok(Nic::Queue { queue, limit, ecn, per_flow_limit })
}

fn per_flow_limit(keys: &mut Reader<'_>) -> Result<Limit, InputError> {
    let Some(field) = keys.take("per_flow_limit") else { return Ok(Limit::Unlimited) };
    match field.limit()? {
        Limit::Packets(0) | Limit::Bytes(0) => Err(field.error("no flow could send", "at least \"1pkt\"")),
        limit => Ok(limit),
    }
}

/// A port in front of a host's line: of any kind, without what only a switch has.
fn nic_port(field: &Field<'_>) -> Result<Port, InputError> {
    let port = port::read(field)?;
    let refused = match (&port.kind, port.buffer.sharing) {
        (PortKind::Tokens(_), _) => {
            Some(("hosts limit tokens as their switch ports do", "nic = \"tokens\", or another kind"))
        }
        (PortKind::Trimming { overflow: Overflow::Return, .. }, _) => {
            Some(("a host has nobody to send a header back to", "overflow = \"drop\""))
        }
        (_, Sharing::Dynamic(_)) => Some((
            "a host has one port, and nothing to share its buffer with",
            "buffer = { shared = \"240pkt\" }",
        )),
        _ if port.pfc.is_some() => {
            Some(("a host pauses nobody: what waits here is its own", "no pfc, or queue = \"ports\""))
        }
        _ => None,
    };
    match refused {
        Some((what, fix)) => Err(field.error(what, fix)),
        None => Ok(port),
    }
}
