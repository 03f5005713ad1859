//! Ports as scheme files state them: a kind with its keys, and what all ports have.

use super::pfc::Pfc;
use super::{Buffer, BufferSpec, DisciplineSpec, Ecn, PortKind};
use crate::ids::CLASSES;
use crate::keys::{InTable, Keys, Misfit};
use crate::packet::Frame;
use crate::part::{Capability, Entry, Provision};
use crate::units::Rate;

/// What a discipline takes from the rest of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct PortSetup<'a> {
    /// The port's buffer.
    pub buffer: &'a BufferSpec,
    /// The queue, or rank, of each class.
    pub map: [u8; CLASSES],
    /// Packet sizes on the wire.
    pub frame: &'a Frame,
}

/// What a kind of port says of itself; a struct of keys implements it.
pub trait KindRules {
    /// The discipline of a port of this kind.
    fn discipline(&self, setup: &PortSetup<'_>) -> DisciplineSpec;

    /// How many queues, or ranks, classes can be told apart by. Default: 1.
    fn queues(&self) -> u8 {
        1
    }

    /// Whether classes choose the queue or the rank. Default: yes.
    fn is_by_class(&self) -> bool {
        true
    }

    /// Whether a port of this kind, called `name`, can have this buffer. Default: push-out and zero loss are refused.
    ///
    /// # Errors
    /// It cannot.
    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
        ordinary(name, buffer)
    }

    /// Whether its keys fit the packets. Default: yes.
    ///
    /// # Errors
    /// They do not.
    fn check_frame(&self, frame: &Frame) -> Result<(), Misfit> {
        let _ = frame;
        Ok(())
    }

    /// Whether a host's transmit queue can be of this kind. Default: yes.
    ///
    /// # Errors
    /// It cannot.
    fn check_at_host(&self) -> Result<(), Misfit> {
        Ok(())
    }
}

const ORDINARY: &str = "buffer = { shared = \"240pkt\" }";

/// Refuses buffers that only some kinds of port can have.
pub(super) fn ordinary(name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
    let (what, kind) = match buffer {
        BufferSpec::PushOut { .. } => {
            (format!("nothing is pushed out of a port of kind {name}: it has one queue"), "strict")
        }
        BufferSpec::ZeroLoss { .. } => {
            (format!("what data takes at most is derived for ports of tokens, not of kind {name}"), "tokens")
        }
        _ => return Ok(()),
    };
    Err(Misfit::of("buffer", what, format!("kind = {kind:?}, or {ORDINARY}")))
}

/// Refuses buffers in which another rule than the port's own says what has room.
pub(super) fn one_sorted_queue(name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
    ordinary(name, buffer)?;
    if matches!(buffer, BufferSpec::Unbounded | BufferSpec::Shared { .. }) {
        return Ok(());
    }
    let what = format!("a port of kind {name} decides itself what has room in its one queue");
    Err(Misfit::of("buffer", what, ORDINARY))
}

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
