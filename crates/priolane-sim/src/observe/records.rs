//! What became of each flow, as a list that keeps the times of each in 16 bytes.
//!
//! What becomes of few flows (retransmissions, other classes than asked for, waits) takes memory only where two flows differ
//! in it.

use priolane_core::columnar::{ColumnarVec, Columns, SparseColumn};
use priolane_core::ids::Class;
use priolane_core::units::{Span, Time};

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// When it started.
    pub began: StartTime,
    /// From start to the arrival of the last payload byte at the receiver; `None` if it did not arrive.
    pub fct: Option<Span>,
    /// From start to the last ACK at the sender; `None` if it did not arrive or the transport has none.
    pub fct_acked: Option<Span>,
    /// Classes asked for and used.
    pub class: ClassSpan,
    /// How long its application held it back, as it would have been downgraded.
    pub held: Span,
    /// How often its admission policy changed its class after it had started.
    pub moves: u32,
    /// Packets sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Payload bytes that were given up and did not arrive; 0 for reliable transports.
    pub missing: u64,
}

/// When a flow started, if it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartTime {
    /// When the flow list says.
    #[default]
    AsPlanned,
    /// It waited for others, and started at this instant.
    At(Time),
    /// It waited for others to the end of the run.
    Never,
    /// It was bounded, or waited for one that was, and the bound was passed: as if it were not in the list.
    NotIssued,
}

/// A class for tables: what a flow asked for and what its packets carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSpan {
    /// Asked for at the start.
    pub asked: Class,
    /// Given for it by the admission policy when the flow started: the same without one.
    pub given: Class,
    /// Of the first payload packet.
    pub first: Class,
    /// Of the last payload packet sent.
    pub last: Class,
}

impl ClassSpan {
    /// This class from beginning to end.
    pub(crate) fn all(class: Class) -> Self {
        Self { asked: class, given: class, first: class, last: class }
    }
}

/// Records of flows, in the order of the flow list.
pub type FlowRecords = ColumnarVec<RecordColumns>;

/// A span that may not be known: one more than its picoseconds, 0 where it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalSpan(u64);

impl OptionalSpan {
    /// What `bits` says.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// As a word, 0 where nothing is known.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// The span, if it is known.
    pub(crate) fn span(self) -> Option<Span> {
        self.0.checked_sub(1).map(Span)
    }
}

impl From<Option<Span>> for OptionalSpan {
    fn from(span: Option<Span>) -> Self {
        Self(span.map_or(0, |span| span.0.saturating_add(1)))
    }
}

/// From the start of a flow to its ends at the receiver and at the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTimes {
    pub(crate) fct: OptionalSpan,
    pub(crate) fct_acked: OptionalSpan,
}

/// How [`FlowRecords`] keeps its records.
#[derive(Clone, Debug, Default)]
pub struct RecordColumns {
    times: Vec<FlowTimes>,
    classes: SparseColumn<ClassSpan>,
    began: SparseColumn<StartTime>,
    held: SparseColumn<Span>,
    moves: SparseColumn<u32>,
    retransmits: SparseColumn<u32>,
    timeouts: SparseColumn<u32>,
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
        self.missing.push(record.missing);
    }

    fn reserve(&mut self, more: usize) {
        self.times.reserve(more);
    }
}

impl RecordColumns {
    /// Records with these times of flows of these classes, which had no adventures.
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
            missing: SparseColumn::uniform(len, 0),
        };
        classes.for_each(|class| columns.classes.push(class));
        columns
    }

    /// Reckons times from the starts of flows, `planned` one by one: `fct` was from time zero, and `fct_acked` without what
    /// a flow was held back.
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

    /// A record of which one in `few` has what few have.
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
