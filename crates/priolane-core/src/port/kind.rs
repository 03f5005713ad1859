//! Ports as scheme files state them: a kind with its keys, and what all ports have.

use super::kind_rules::ORDINARY;
use super::pfc::Pfc;
use super::{Buffer, BufferSpec, Ecn, PortKind};
use crate::keys::{InTable, Keys, Misfit};
use crate::part::{Capability, Entry, Provision};
use crate::units::Rate;

/// A port as scheme files state it.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "port", check = Self::check)]
pub struct PortKeys {
    /// Its queues.
    #[keys(flatten)]
    pub kind: PortKind,
    /// Room: { shared = LIMIT } over all queues, { per_queue = LIMIT }, { push_out = LIMIT } over all queues of a strict
    /// port, with worse packets making way for better ones, { dynamic = SIZE, alpha } shared by all ports of a switch,
    /// { zero_loss = SIZE } for what data of tokens takes and so much for signals, or unbounded; at = { RATE = LIMIT } where
    /// it depends on the link. The packet on the line is not counted.
    #[key(
        required = "buffer = { shared = \"240pkt\" }",
        unit = "pkt or B",
        source = "docs/assumptions.md#buffers, docs/assumptions.md#push-out, docs/assumptions.md#dynamic-thresholds"
    )]
    pub buffer: BufferSpec,
    /// An arrival that makes the backlog exceed the limit is marked.
    #[key(
        optional,
        form = InTable,
        shown = "none",
        unit = "pkt or B",
        source = "RFC 8257 §3.1; docs/assumptions.md#marking"
    )]
    pub ecn: Option<Ecn>,
    /// Classes that are paused upstream (PFC) and never dropped; with buffer = { dynamic }.
    #[key(
        optional,
        form = InTable,
        shown = "none",
        source = "IEEE 802.1Q-2018 clause 36; HPCC (SIGCOMM 2019) §5.1; docs/assumptions.md#pfc"
    )]
    pub pfc: Option<Pfc>,
}

impl PortKeys {
    fn check(&mut self) -> Result<(), Misfit> {
        self.buffer.normalize();
        self.kind.part().check_buffer(self.kind.name(), &self.buffer)
    }

    /// What the catalogue says of each kind.
    pub fn entries() -> Vec<Entry> {
        let mut all = Vec::new();
        Self::describe(&mut all);
        all.retain(|key| key.group == "port");
        let mut entries = PortKind::entries();
        for entry in &mut entries {
            let pauses = entry.provides.iter().any(|p| p.capability == Capability::ClassPause);
            entry.parameters.extend(all.iter().filter(|key| pauses || key.name != "pfc").cloned());
            entry.provides.push(Provision { capability: Capability::CongestionMarks, if_set: Some("ecn") });
        }
        entries
    }

    /// The buffer in front of a line of `rate`; what a switch shares among its ports is not in it.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let buffer = self.buffer.buffer_at(rate);
        self.ecn.as_ref().map_or(buffer, |ecn| ecn.marking(rate, buffer))
    }

    /// Whether a host's transmit queue can be such a port.
    ///
    /// # Errors
    /// It has what only a switch has.
    pub fn check_at_host(&self) -> Result<(), Misfit> {
        self.kind.part().check_at_host()?;
        if matches!(self.buffer, BufferSpec::Dynamic { .. }) {
            return Err(Misfit::of(
                "buffer",
                "a host has one port, and nothing to share its buffer with",
                ORDINARY,
            ));
        }
        if self.pfc.is_some() {
            let what = "a host pauses nobody: what waits here is its own";
            return Err(Misfit::of("pfc", what, "no pfc, or queue = \"ports\""));
        }
        Ok(())
    }
}
