//! A transmit queue with its own port discipline.

use super::{FlowRoom, HostNic, OtherRows, OwnPort, TransmitQueue};
use crate::finding::{Finding, NetworkFacts};
use crate::keys::{InTable, KeyConflict, Keys};
use crate::part::Part;
use crate::port::{ClassMap, Ecn, PortKeys, PortSetup, SortBy};
use crate::units::Limit;

/// Parameters of the NIC `port`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "nic_port")]
#[part(
    name = "port",
    notation = Key,
    summary = "a transmit queue configured as its own port: nic = { port = { kind, buffer, ecn, ... } }",
    source = "docs/assumptions.md#nic-ports",
    provides = [TransmitQueue],
    findings = Self::findings,
    example = r#"port = { kind = "strict", queues = 8, buffer = { shared = "240pkt" } }"#
)]
pub struct Config {
    /// The port, of any kind except tokens. Only switches support buffer = { dynamic }, pfc and overflow = "return".
    #[key(
        required = "port = { kind = \"pfabric\", buffer = { shared = \"30pkt\" } }",
        form = InTable,
        source = "docs/assumptions.md#nic-ports"
    )]
    pub port: HostPort,
    /// Queues of this port, if they differ from those of switches: { class = [queue of class 0, ...] }.
    #[key(optional, form = InTable, shown = "the scheme's map", source = "docs/assumptions.md#nic-ports")]
    pub map: Option<ClassMap>,
    /// Limit of one flow in the queue.
    #[keys(flatten)]
    pub flow: FlowRoom,
}

impl Config {
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.port.keys.findings_at_hosts(network)
    }
}

impl HostNic for Config {
    fn transmit_queue(&self, rows: &OtherRows<'_>) -> Option<TransmitQueue> {
        let keys = &self.port.keys;
        let map = self.map.as_ref().unwrap_or(rows.map).queues();
        let setup = PortSetup { buffer: &keys.buffer, map, frame: rows.frame };
        let discipline = keys.averaging(keys.kind.discipline(&setup));
        let buffer = keys.buffer_at(rows.rate);
        Some(TransmitQueue { discipline, buffer, sort_by: SortBy::Class })
    }

    fn port(&self) -> Option<OwnPort<'_>> {
        Some(OwnPort { keys: &self.port.keys, map: self.map.as_ref() })
    }

    fn port_mut(&mut self) -> Option<&mut PortKeys> {
        Some(&mut self.port.keys)
    }

    fn ecn_mut(&mut self) -> Option<&mut Ecn> {
        self.port.keys.ecn.as_mut()
    }

    fn per_flow_limit(&self) -> Limit {
        self.flow.per_flow_limit
    }
}

/// A port in front of a host's link: of any kind, without features that only switches have.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "port", check = Self::check)]
pub struct HostPort {
    /// The port; it has no lossless classes and no shared buffer.
    #[keys(flatten)]
    pub keys: PortKeys,
}

impl HostPort {
    fn check(&mut self) -> Result<(), KeyConflict> {
        self.keys.check_at_host()
    }
}
