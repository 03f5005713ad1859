//! Ports as scheme files state them: a kind with its keys, and the keys of all ports.

use super::kind_rules::ORDINARY;
use super::pfc::Pfc;
use super::registered::RegisteredKind;
use super::{
    AveragedSpec, Buffer, BufferSpec, DisciplineSpec, Ecn, KindRules, OfKind, PortFactory, PortKind,
};
use crate::keys::{InTable, KeyConflict, Keys};
use crate::part::{Capability, Entry, Part, Provision};
use crate::registry::RegisterError;
use crate::units::Rate;

/// A port as scheme files state it.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "port", check = Self::check)]
pub struct PortKeys {
    /// Its queues.
    #[keys(flatten)]
    pub kind: PortKind,
    /// Buffer: { shared = LIMIT } over all queues, { per_queue = LIMIT }, { push_out = LIMIT } over all queues of a
    /// strict port, where better packets push out worse ones, { dynamic = SIZE, alpha } shared by all ports of a
    /// switch, { zero_loss = SIZE } for the data requested by tokens plus SIZE for signals, or unbounded; at = {
    /// RATE = LIMIT } if it depends on the link rate. The packet in transmission is not counted.
    #[key(
        required = "buffer = { shared = \"240pkt\" }",
        unit = "pkt or B",
        source = "docs/assumptions.md#buffers, docs/assumptions.md#push-out, docs/assumptions.md#dynamic-thresholds"
    )]
    pub buffer: BufferSpec,
    /// ECN: an arriving packet that makes the backlog exceed the threshold is marked.
    #[key(
        optional,
        form = InTable,
        shown = "none",
        unit = "pkt or B",
        source = "RFC 8257 §3.1; docs/assumptions.md#marking"
    )]
    pub ecn: Option<Ecn>,
    /// Classes that are paused upstream (PFC) and never dropped; requires buffer = { dynamic }.
    #[key(
        optional,
        form = InTable,
        shown = "none",
        source = "IEEE 802.1Q-2018 clause 36; HPCC (SIGCOMM 2019) §5.1; docs/assumptions.md#pfc"
    )]
    pub pfc: Option<Pfc>,
}

impl Ecn {
    /// Returns `discipline` with marks by an average of its backlog, if there are marks and they are to be so.
    pub fn averaging(ecn: Option<&Self>, discipline: DisciplineSpec) -> DisciplineSpec {
        match ecn.and_then(|ecn| ecn.average) {
            Some(weight) => AveragedSpec { inner: Box::new(discipline), weight }.into(),
            None => discipline,
        }
    }
}

impl PortKeys {
    fn check(&mut self) -> Result<(), KeyConflict> {
        self.buffer.normalize();
        self.kind.part().check_buffer(self.kind.name(), &self.buffer)?;
        match &self.ecn {
            Some(ecn) if ecn.average.is_some() => self.kind.part().check_average(self.kind.name(), ecn.per),
            _ => Ok(()),
        }
    }

    /// Returns the discipline of a port with these keys, and `discipline` for its kind.
    pub fn averaging(&self, discipline: DisciplineSpec) -> DisciplineSpec {
        Ecn::averaging(self.ecn.as_ref(), discipline)
    }

    /// Returns the catalogue entries of all kinds.
    pub fn entries() -> Vec<Entry> {
        let mut all = Vec::new();
        Self::describe(&mut all);
        all.retain(|key| key.group == "port");
        let mut entries = PortKind::all_entries();
        for entry in &mut entries {
            let pauses = entry.provides.iter().any(|p| p.capability == Capability::ClassPause);
            entry.parameters.extend(all.iter().filter(|key| pauses || key.name != "pfc").cloned());
            entry.provides.push(Provision { capability: Capability::CongestionMarks, if_set: Some("ecn") });
        }
        entries
    }

    /// Returns the buffer of a port on a link of `rate`, without the shared buffer of the switch.
    pub fn buffer_at(&self, rate: Rate) -> Buffer {
        let buffer = self.buffer.buffer_at(rate);
        self.ecn.as_ref().map_or(buffer, |ecn| ecn.marking(rate, buffer))
    }

    /// Checks whether a host's transmit queue can be such a port.
    ///
    /// # Errors
    /// Fails if the port has a feature that only switches have.
    pub fn check_at_host(&self) -> Result<(), KeyConflict> {
        self.kind.part().check_at_host()?;
        if matches!(self.buffer, BufferSpec::Dynamic { .. }) {
            return Err(KeyConflict::of(
                "buffer",
                "a host has one port, so no other port can share its buffer",
                ORDINARY,
            ));
        }
        if self.pfc.is_some() {
            let what = "a host sends no pause frames, because its queue holds only its own packets";
            return Err(KeyConflict::of("pfc", what, "queue = \"ports\", or remove pfc"));
        }
        Ok(())
    }
}

/// Adds the kind of port `K`, under the name of the part, to the ports that files can name.
///
/// `code` identifies the code that computes its results, and is part of the ids of its runs:
/// `priolane_core::code_id!()` of the crate that defines the kind.
///
/// ```
/// # use priolane_core::keys::Keys;
/// # use priolane_core::packet::{Header, QueueItem};
/// # use priolane_core::part::{Part, Row};
/// # use priolane_core::port::{self, *};
/// # use priolane_core::units::Time;
/// #[derive(Clone, Debug, PartialEq, Keys, Part)]
/// #[part(name = "newest_first", summary = "serves the packet that came last", source = "this page")]
/// struct NewestFirst {
///     /// The number of packets above which others are dropped.
///     #[key(default = 100, unit = "pkt", range = "[1, )", source = "this page")]
///     most: u32,
/// }
/// impl KindRules for NewestFirst {}
/// impl OfKind for NewestFirst {
///     type Spec = Self;
///     fn discipline(&self, _: &PortSetup<'_>) -> Self { self.clone() }
/// }
/// impl PortFactory for NewestFirst {
///     type Port<P: QueueItem> = Stack<P>;
///     fn build<P: QueueItem>(&self, _: &PortContext) -> Stack<P> {
///         Stack { most: self.most, queued: Vec::new(), leaving: P::default() }
///     }
/// }
/// struct Stack<P> { most: u32, queued: Vec<P>, leaving: P }
/// # impl<P: QueueItem> Discipline<P> for Stack<P> {
/// #     fn enqueue(&mut self, _: Time, item: &P, _: &mut dyn PortSink<P>) -> Admission {
/// #         if self.packets() == self.most { return Admission::Dropped; }
/// #         self.queued.push(*item);
/// #         Admission::Queued
/// #     }
/// #     fn next_eligible_time(&self) -> Option<Time> { self.queued.last().map(|_| Time::ZERO) }
/// #     fn dequeue(&mut self, _: Time, _: &mut dyn PortSink<P>) -> Option<&P> {
/// #         self.leaving = self.queued.pop()?;
/// #         Some(&self.leaving)
/// #     }
/// #     fn packets(&self) -> u32 { self.queued.len() as u32 }
/// #     fn bytes(&self) -> u64 { self.queued.iter().map(|item| u64::from(item.header().wire)).sum() }
/// # }
/// // `impl<P: QueueItem> Discipline<P> for Stack<P>` is as on the first page of this crate.
/// port::register::<NewestFirst>(1)?;
/// assert!(priolane_core::scheme::names(Row::Port).contains(&"newest_first"));
/// # Ok::<(), priolane_core::registry::RegisterError>(())
/// ```
///
/// # Errors
/// Fails as [`RegisterError`] describes.
pub fn register<K>(code: u64) -> Result<(), RegisterError>
where
    K: KindRules + OfKind + Part + std::fmt::Debug + Clone + PartialEq + Send + Sync + 'static,
    K::Spec: PortFactory + PartialEq + Send + Sync + 'static,
{
    <dyn RegisteredKind>::register::<K>(code, PortKind::NAMES)
}
