//! The flows of a run as a list that stores each of them in 20 bytes.
//!
//! Attributes that most experiments set alike for all flows (group, class, deadline, coflow, weights, bytes sent before, connection)
//! take memory only if two flows differ. The same holds for ids, which mostly are indices in the list.

use crate::columnar::{ColumnarVec, Columns, SparseColumn};
use crate::endpoint::{FlowSpec, Weights};
use crate::ids::{Class, CoflowId, ConnectionId, FlowId, HostId};
use crate::packet::Offset;
use crate::units::Time;

/// Up to 2^32 flows, each endless or of at most [`MOST_BYTES`].
pub type FlowList = ColumnarVec<FlowColumns>;

/// Maximum payload bytes of a flow with an end: 2^48 - 2. A list truncates larger sizes to this.
pub(crate) const MOST_BYTES: u64 = Offset::MAX - 1;

/// Encodes the size of an endless flow.
const ENDLESS: u64 = Offset::MAX;

/// Columns of a [`FlowList`].
#[derive(Clone, Debug, Default)]
pub struct FlowColumns {
    entries: Vec<Entry>,
    groups: SparseColumn<u16>,
    classes: SparseColumn<Class>,
    /// Difference between id and index, modulo 2^32.
    id_beyond_place: SparseColumn<u32>,
    deadlines: SparseColumn<Option<Time>>,
    coflows: SparseColumn<Option<CoflowId>>,
    coflow_places: SparseColumn<u32>,
    weights: SparseColumn<Weights>,
    attained: SparseColumn<u64>,
    connections: SparseColumn<Option<ConnectionId>>,
}

/// The attributes that differ from flow to flow.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Entry {
    start: Time,
    bytes: Offset,
    src: HostId,
    dst: HostId,
    entropy: u16,
}

const _: () = assert!(size_of::<Entry>() == 20);

impl From<&FlowSpec> for Entry {
    fn from(flow: &FlowSpec) -> Self {
        let &FlowSpec { src, dst, size, start, entropy, .. } = flow;
        let bytes = Offset::new(size.map_or(ENDLESS, |bytes| bytes.min(MOST_BYTES)));
        Self { start, bytes, src, dst, entropy }
    }
}

impl Entry {
    fn size(self) -> Option<u64> {
        Some({ self.bytes }.get()).filter(|&bytes| bytes != ENDLESS)
    }
}

fn beyond_place(id: FlowId, place: usize) -> u32 {
    id.0.wrapping_sub(place as u32)
}

impl Columns for FlowColumns {
    type Item = FlowSpec;

    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn at(&self, place: usize) -> FlowSpec {
        let entry = self.entries[place];
        let Entry { start, src, dst, entropy, .. } = entry;
        FlowSpec {
            id: FlowId(self.id_beyond_place.at(place).wrapping_add(place as u32)),
            src,
            dst,
            size: entry.size(),
            start,
            class: self.classes.at(place),
            deadline: self.deadlines.at(place),
            group: self.groups.at(place),
            entropy,
            coflow: self.coflows.at(place),
            coflow_place: self.coflow_places.at(place),
            weights: self.weights.at(place),
            attained: self.attained.at(place),
            connection: self.connections.at(place),
        }
    }

    fn set(&mut self, place: usize, flow: FlowSpec) {
        self.entries[place] = Entry::from(&flow);
        self.groups.set(place, flow.group);
        self.classes.set(place, flow.class);
        self.id_beyond_place.set(place, beyond_place(flow.id, place));
        self.deadlines.set(place, flow.deadline);
        self.coflows.set(place, flow.coflow);
        self.coflow_places.set(place, flow.coflow_place);
        self.weights.set(place, flow.weights);
        self.attained.set(place, flow.attained);
        self.connections.set(place, flow.connection);
    }

    fn push(&mut self, flow: FlowSpec) {
        self.id_beyond_place.push(beyond_place(flow.id, self.len()));
        self.entries.push(Entry::from(&flow));
        self.groups.push(flow.group);
        self.classes.push(flow.class);
        self.deadlines.push(flow.deadline);
        self.coflows.push(flow.coflow);
        self.coflow_places.push(flow.coflow_place);
        self.weights.push(flow.weights);
        self.attained.push(flow.attained);
        self.connections.push(flow.connection);
    }

    fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }
}

impl FlowList {
    /// Returns when the flow at index `place` starts. Panics if there is none.
    pub fn start(&self, place: usize) -> Time {
        self.columns().entries[place].start
    }

    /// Returns the payload bytes of the flow at index `place`; `None` if it is endless. Panics if there is no such
    /// flow.
    pub fn size(&self, place: usize) -> Option<u64> {
        self.columns().entries[place].size()
    }

    /// Sets the id of each flow to its index in the list.
    pub fn number(&mut self) {
        let len = self.len();
        self.columns_mut().id_beyond_place = SparseColumn::uniform(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::units::Rate;

    /// Draws a flow. One in `few` flows has a deadline, a coflow, weights, bytes sent before, or an id that is not its index.
    fn drawn(draw: &mut Stream, place: u32, few: u64) -> FlowSpec {
        let mut rarely = || draw.below(few) == 0;
        let [odd_id, due, in_coflow, paying, under_way, shares] = [(); 6].map(|()| rarely());
        let size = match draw.below(4) {
            0 => None,
            1 => Some([1, MOST_BYTES][draw.below(2) as usize]),
            _ => Some(1 + draw.below(1 << 40)),
        };
        let host = |draw: &mut Stream| HostId(draw.bits() as u16);
        FlowSpec {
            id: FlowId(if odd_id { draw.bits() as u32 } else { place }),
            src: host(draw),
            dst: host(draw),
            size,
            start: Time(draw.bits() >> draw.below(64)),
            class: draw.below(16) as Class,
            deadline: due.then(|| Time(draw.bits())),
            group: draw.bits() as u16,
            entropy: draw.bits() as u16,
            coflow: if in_coflow { CoflowId::new(draw.below(9) as u32) } else { None },
            coflow_place: if in_coflow { draw.bits() as u32 } else { 0 },
            weights: match paying {
                true => Weights { theta: Rate::from_bps(draw.below(1 << 36)), w_milli: draw.bits() as u32 },
                false => Weights::BEST_EFFORT,
            },
            attained: if under_way { draw.bits() >> 20 } else { 0 },
            connection: if shares { ConnectionId::new(draw.below(9) as u32) } else { None },
        }
    }

    #[test]
    fn flows_come_out_as_they_went_in() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        for few in [1, 2, 20, u64::MAX] {
            let mut plain: Vec<FlowSpec> = (0..300).map(|place| drawn(&mut draw, place, few)).collect();
            let mut list = FlowList::from(plain.clone());
            assert!(list.iter().eq(plain.iter().copied()) && list.len() == 300);
            for _ in 0..50 {
                let place = draw.below(300) as usize;
                let flow = drawn(&mut draw, place as u32, few);
                list.edit(place, |old| *old = flow);
                plain[place] = flow;
            }
            assert!(list.iter().eq(plain.iter().copied()));
            let by = |flow: &FlowSpec| (flow.class, flow.group % 3);
            list.sort_by_key(by);
            plain.sort_by_key(by);
            assert!(list.iter().eq(plain.iter().copied()));
            list.retain(|flow| flow.class != 3);
            plain.retain(|flow| flow.class != 3);
            assert_eq!(list, FlowList::from(plain.clone()));
            list.truncate(40);
            assert!(list.range(10..99).eq(plain[10..40].iter().copied()));
            assert!((0..40).all(|place| list.start(place) == plain[place].start));
            assert!((0..40).all(|place| list.size(place) == plain[place].size));
            list.number();
            assert!(list.iter().enumerate().all(|(place, flow)| flow.id.index() == place));
            assert_ne!(list, FlowList::from(plain[..39].to_vec()));
        }
    }

    #[test]
    fn what_all_flows_have_alike_takes_no_memory() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        let mut list: FlowList = (0..100).map(|place| drawn(&mut draw, place, u64::MAX)).collect();
        list.edit_all(|flow| {
            flow.weights.w_milli = 2_000;
            flow.deadline = Some(Time(9));
            (flow.group, flow.class) = (3, 1);
        });
        let FlowColumns {
            groups,
            classes,
            id_beyond_place,
            deadlines,
            coflows,
            coflow_places,
            weights,
            attained,
            connections,
            ..
        } = list.columns();
        let common = [groups.bytes(), classes.bytes(), id_beyond_place.bytes(), deadlines.bytes()];
        assert_eq!(common, [0; 4]);
        assert_eq!([coflows.bytes(), coflow_places.bytes(), weights.bytes(), attained.bytes()], [0; 4]);
        assert_eq!(connections.bytes(), 0);
    }

    #[test]
    fn a_size_beyond_the_most_is_the_most() {
        let mut draw = Stream::new(1, Purpose::Ties, 0);
        let size = Some(u64::MAX);
        let list = FlowList::from(vec![FlowSpec { size, ..drawn(&mut draw, 0, 1) }]);
        assert_eq!(list.size(0), Some(MOST_BYTES));
    }
}
