//! A transmit queue that is a port of its own.

use super::{FlowRoom, HostNic, OtherRows, OwnPort, TransmitQueue};
use crate::keys::{InTable, Keys, Misfit};
use crate::part::Part;
use crate::port::{ClassMap, PortKeys, PortSetup, SortBy};
use crate::units::Limit;

/// The NIC `port`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "nic_port")]
#[part(
    name = "port",
    notation = Key,
    summary = "a transmit queue that is a port of its own: nic = { port = { kind, buffer, ecn, ... } }",
    source = "docs/assumptions.md#nic-ports",
    provides = [TransmitQueue]
)]
pub struct Config {
    /// A port of any kind but tokens, with its keys; buffer = { dynamic }, pfc and overflow = "return" are what only
    /// switches have.
    #[key(
        required = "port = { kind = \"pfabric\", buffer = { shared = \"30pkt\" } }",
        form = InTable,
        source = "docs/assumptions.md#nic-ports"
    )]
    pub port: HostPort,
    /// { class = [queue of class 0, ...] }: the queues of this port, where they are not those of switches.
    #[key(optional, form = InTable, shown = "the scheme's map", source = "docs/assumptions.md#nic-ports")]
    pub map: Option<ClassMap>,
    /// Most of one flow that waits in it.
    #[keys(flatten)]
    pub flow: FlowRoom,
}

impl HostNic for Config {
    fn transmit_queue(&self, rows: &OtherRows<'_>) -> Option<TransmitQueue> {
        let keys = &self.port.keys;
        let map = self.map.as_ref().unwrap_or(rows.map).queues();
        let setup = PortSetup { buffer: &keys.buffer, map, frame: rows.frame };
        let (discipline, buffer) = (keys.kind.discipline(&setup), keys.buffer_at(rows.rate));
        Some(TransmitQueue { discipline, buffer, sort_by: SortBy::Class })
    }

    fn port(&self) -> Option<OwnPort<'_>> {
        Some(OwnPort { keys: &self.port.keys, map: self.map.as_ref() })
    }

    fn per_flow_limit(&self) -> Limit {
        self.flow.per_flow_limit
    }
}

/// A port in front of a host's line: of any kind, without what only a switch has.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "port", check = Self::check)]
pub struct HostPort {
    /// The port; it has no lossless classes, and its buffer is its own.
    #[keys(flatten)]
    pub keys: PortKeys,
}

impl HostPort {
    fn check(&mut self) -> Result<(), Misfit> {
        self.keys.check_at_host()
    }
}
