//! Flow records, as a list that stores the times of each flow in 16 bytes.
//!
//! Rare attributes (retransmissions, changed classes, dependencies) take memory only if two flows differ in them.

use priolane_core::columnar::{ColumnarVec, Columns, SparseColumn};
use priolane_core::ids::Class;
use priolane_core::units::{Span, Time};

/// The outcome of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// The time at which the flow started.
    pub began: StartTime,
    /// Time from start to the arrival of the last payload byte at the receiver; `None` if it did not arrive.
    pub fct: Option<Span>,
    /// Time from start to the last ACK at the sender; `None` if it did not arrive or the transport has none.
    pub fct_acked: Option<Span>,
    /// Classes requested and used.
    pub class: ClassSpan,
    /// The time for which the application held the flow back to avoid a downgrade.
    pub held: Span,
    /// The number of times that the admission policy changed the class of the flow after its start.
    pub moves: u32,
    /// Retransmitted packets.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Those of them that waited for the key `initial_rto`, as no round-trip time had been measured; 0 for transports
    /// without that key.
    pub initial_timeouts: u32,
    /// Timeouts after which the reply to the original packet arrived; for transports without such replies, packets that
    /// the receiver already had. Of flows that ended at their sender, but for such packets.
    pub spurious: u32,
    /// Payload bytes that were given up and did not arrive; 0 for reliable transports.
    pub missing: u64,
}

/// The time at which a flow started, if it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartTime {
    /// At the time in the flow list.
    #[default]
    AsPlanned,
    /// At this instant, after its dependencies.
    At(Time),
    /// Never: its dependencies were not met by the end of the run.
    Never,
    /// Not issued: it, or a flow that it depends on, missed its bound. It counts as if it were not in the list.
    NotIssued,
}

/// The classes of a flow: requested, assigned and used by its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSpan {
    /// Requested at the start.
    pub asked: Class,
    /// Assigned by the admission policy at the start; equal to `asked` without a policy.
    pub given: Class,
    /// Class of the first payload packet.
    pub first: Class,
    /// Class of the last payload packet sent.
    pub last: Class,
}

impl ClassSpan {
    /// Returns the same class for all stages.
    pub(crate) fn all(class: Class) -> Self {
        Self { asked: class, given: class, first: class, last: class }
    }
}

/// Records of flows, in the order of the flow list.
pub type FlowRecords = ColumnarVec<RecordColumns>;

/// An optional span in one word: its picoseconds plus one, or 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalSpan(u64);

impl OptionalSpan {
    /// Decodes a word.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Encodes the span as a word; 0 for none.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// Returns the span, if there is one.
    pub(crate) fn span(self) -> Option<Span> {
        self.0.checked_sub(1).map(Span)
    }
}

impl From<Option<Span>> for OptionalSpan {
    fn from(span: Option<Span>) -> Self {
        Self(span.map_or(0, |span| span.0.saturating_add(1)))
    }
}

/// Times from the start of a flow to its ends at the receiver and at the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTimes {
    pub(crate) fct: OptionalSpan,
    pub(crate) fct_acked: OptionalSpan,
}

/// Columns of [`FlowRecords`].
#[derive(Clone, Debug, Default)]
pub struct RecordColumns {
    times: Vec<FlowTimes>,
    classes: SparseColumn<ClassSpan>,
    began: SparseColumn<StartTime>,
    held: SparseColumn<Span>,
    moves: SparseColumn<u32>,
    retransmits: SparseColumn<u32>,
    timeouts: SparseColumn<u32>,
    initial_timeouts: SparseColumn<u32>,
    spurious: SparseColumn<u32>,
    missing: SparseColumn<u64>,
}

impl Columns for RecordColumns {
    type Item = FlowRecord;

    #[inline]
    fn len(&self) -> usize {
        self.times.len()
    }

    fn at(&self, place: usize) -> FlowRecord {
        let FlowTimes { fct, fct_acked } = self.times[place];
        FlowRecord {
            began: self.began.at(place),
            fct: fct.span(),
            fct_acked: fct_acked.span(),
            class: self.classes.at(place),
            held: self.held.at(place),
            moves: self.moves.at(place),
            retransmits: self.retransmits.at(place),
            timeouts: self.timeouts.at(place),
            initial_timeouts: self.initial_timeouts.at(place),
            spurious: self.spurious.at(place),
            missing: self.missing.at(place),
        }
    }

    fn set(&mut self, place: usize, record: FlowRecord) {
        self.times[place] = FlowTimes { fct: record.fct.into(), fct_acked: record.fct_acked.into() };
        self.classes.set(place, record.class);
        self.began.set(place, record.began);
        self.held.set(place, record.held);
        self.moves.set(place, record.moves);
        self.retransmits.set(place, record.retransmits);
        self.timeouts.set(place, record.timeouts);
        self.initial_timeouts.set(place, record.initial_timeouts);
        self.spurious.set(place, record.spurious);
        self.missing.set(place, record.missing);
    }

    fn push(&mut self, record: FlowRecord) {
        self.times.push(FlowTimes { fct: record.fct.into(), fct_acked: record.fct_acked.into() });
        self.classes.push(record.class);
        self.began.push(record.began);
        self.held.push(record.held);
        self.moves.push(record.moves);
        self.retransmits.push(record.retransmits);
        self.timeouts.push(record.timeouts);
        self.initial_timeouts.push(record.initial_timeouts);
        self.spurious.push(record.spurious);
        self.missing.push(record.missing);
    }

    fn reserve(&mut self, more: usize) {
        self.times.reserve(more);
    }
}

impl RecordColumns {
    /// Creates records with these times and classes, and default values for the rare attributes.
    pub(crate) fn new(times: Vec<FlowTimes>, classes: impl Iterator<Item = ClassSpan>) -> Self {
        let len = times.len();
        let mut columns = Self {
            times,
            classes: SparseColumn::default(),
            began: SparseColumn::uniform(len, StartTime::AsPlanned),
            held: SparseColumn::uniform(len, Span::ZERO),
            moves: SparseColumn::uniform(len, 0),
            retransmits: SparseColumn::uniform(len, 0),
            timeouts: SparseColumn::uniform(len, 0),
            initial_timeouts: SparseColumn::uniform(len, 0),
            spurious: SparseColumn::uniform(len, 0),
            missing: SparseColumn::uniform(len, 0),
        };
        classes.for_each(|class| columns.classes.push(class));
        columns
    }

    /// Converts times to be relative to the starts of flows, `planned` in order. Before, `fct` was relative to time
    /// zero, and `fct_acked` excluded deferrals.
    pub(crate) fn reckon_from_starts(&mut self, planned: impl Iterator<Item = Time>) {
        for (place, (times, planned)) in self.times.iter_mut().zip(planned).enumerate() {
            let start = match self.began.at(place) {
                StartTime::At(start) => start,
                _ => planned,
            };
            times.fct = times.fct.span().map(|fct| fct - start.since(Time::ZERO)).into();
            times.fct_acked = times.fct_acked.span().map(|elapsed| self.held.at(place) + elapsed).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::rng::{Purpose, Stream};

    /// Draws a record. One in `few` records has non-default rare attributes.
    fn drawn(draw: &mut Stream, few: u64) -> FlowRecord {
        let span = |draw: &mut Stream| match draw.below(3) {
            0 => None,
            1 => Some(Span(draw.below(2))),
            _ => Some(Span(draw.bits() >> 3)),
        };
        let mut some = |bits: u32| if draw.below(few) == 0 { draw.bits() >> (64 - bits) } else { 0 };
        let class = ClassSpan {
            asked: some(4) as u8,
            given: some(4) as u8,
            first: some(4) as u8,
            last: some(4) as u8,
        };
        let [began, held, moves, retransmits, timeouts, missing] = [61, 61, 32, 32, 32, 48].map(&mut some);
        let [initial_timeouts, spurious] = [32, 32].map(|bits| some(bits) as u32);
        FlowRecord {
            began: match began % 3 {
                _ if began == 0 => StartTime::AsPlanned,
                0 => StartTime::Never,
                1 => StartTime::NotIssued,
                _ => StartTime::At(Time(began)),
            },
            fct: span(draw),
            fct_acked: span(draw),
            class,
            held: Span(held),
            moves: moves as u32,
            retransmits: retransmits as u32,
            timeouts: timeouts as u32,
            initial_timeouts,
            spurious,
            missing,
        }
    }

    #[test]
    fn records_come_out_as_they_went_in() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        for few in [1, 3, 50, u64::MAX] {
            let mut plain: Vec<FlowRecord> = (0..300).map(|_| drawn(&mut draw, few)).collect();
            let mut records = FlowRecords::from(plain.clone());
            for _ in 0..100 {
                let (place, record) = (draw.below(300) as usize, drawn(&mut draw, few));
                records.edit(place, |old| *old = record);
                plain[place] = record;
            }
            assert!(records.iter().eq(plain.iter().copied()));
            records.retain(|record| record.fct.is_some());
            plain.retain(|record| record.fct.is_some());
            assert_eq!(records, FlowRecords::from(plain.clone()));
            records.truncate(9);
            assert!(records.iter().eq(plain[..9].iter().copied()));
        }
    }
}
