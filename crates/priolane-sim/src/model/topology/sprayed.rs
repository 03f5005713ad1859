//! A lower bound on the completion time of a flow alone in the network, with each packet on any of the equal paths.
//!
//! A flow has `n` full packets and a last one, the tail. All shortest paths from the source to the destination have
//! the same number of links. *Stage* `k` is the set of the `k`-th links of all of them, so each packet crosses exactly
//! one link of each stage. Stage 1 is the source's link, the last stage the destination's. For a link `e` and a
//! packet,
//!
//! ```text
//! s_e, t_e    serialization delay of a full packet, and of the tail, on the link
//! a_e, a'_e   earliest arrival of a full packet, and of the tail, at the link: the least delay over the paths to it
//! w_e, w'_e   least time from the end of the transmission of a full packet, and of the tail, to its arrival
//! r           earliest start of the tail at the source: 0, or n s_1 if it is the last to leave
//!
//! s', s''     serialization delay of a full packet on the source's and on the destination's link
//! j           number, from 0, of a link among the identical links of a stage: those with equal s, t, a, a', w and w'
//! f_e, u_e    (a_e + j s', T - w_e) or (a_e, T - w_e - j s'')
//!
//! m_e(T)      full packets that cross e and have arrived by T:  floor((u_e - f_e) / s_e)
//! m'_e(T)     the same if the tail also crosses e:  floor(max(x, y, z) / s_e), if T >= r + a'_e + t_e + w'_e
//!     x       the tail last on e:  min(u_e, T - w'_e - t_e) - f_e
//!     y       the tail first:      u_e - max(f_e, r + a'_e + t_e)
//!     z       the tail between:    u_e - f_e - t_e
//! T fits stage k if, for both choices of f_e and u_e, some e of it has m'_e(T) + (sum of m over its other links) >= n
//!
//! bound       if the tail is as large as full packets and counts as one:
//!               the least T with T >= n s_1 + w_1 at which m summed over the links of each later stage reaches n
//!             otherwise the lesser of
//!             the tail leaves last  the least T >= n s_1 + max(w_1, t_1 + w'_1) that fits all later stages, r = n s_1
//!             it leaves earlier     the least T >= n s_1 + t_1 + w_1            that fits all later stages, r = 0
//! ```
//!
//! **It is a bound.** Let all packets have arrived by `T`. A full packet that crosses `e` starts there at `a_e` at the
//! earliest and has left by `T - w_e`, since it needs `w_e` more. Full packets leave the source `s'` apart. Order
//! identical links by their first full packets: the `j`-th link has none before `a_e + j s'`. Full packets arrive at
//! the destination `s''` apart. Order identical links by their last full packets, from the end: the `j`-th link has
//! none after `T - w_e - j s''`. For either reason, all full packets of `e` lie in `f_e` to `u_e`. Transmissions on
//! one link do not overlap, so `m_e(T)` of them fit. On the link that the tail crosses, its transmission takes `t_e`
//! of that time, unless a part of it lies before `f_e` (the tail first) or after `u_e` (the tail last). These are the
//! three cases. Each full packet crosses each stage, hence the sums. At the source's link, either the tail is the last
//! packet: all full packets take `n s_1`, the last of them has left by `T - w_1`, and the tail by `T - w'_1`. Or a
//! full packet is the last: all `n s_1 + t_1` precede its end. In the former case the tail causes nothing before
//! `n s_1`. The proof does not use the order in which packets leave the source or queues, the path of a packet, or
//! that paths are identical. Retransmissions only take longer.
//!
//! **It is exact** on one path with the tail last (`stream_time` in `bare.rs`, which is used there), and if equal
//! paths are identical and a switch distributes packets evenly. With a tail shorter than a full packet, the bound may
//! be lower than the exact time by up to a full packet's delay on the hosts' links and the tail's on another. On paths
//! that differ, or that join and split again, it may be lower by more.

use std::cmp::Ordering;

use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};
use rustc_hash::FxHashMap;

use super::legs::{FlowLinkBounds, LinkBounds};
use super::network::Topology;

/// Picoseconds; sums do not overflow.
type Ps = i128;

/// Identical links of a stage, for one flow.
#[derive(Clone, Copy, Debug, Default)]
struct LinkGroup {
    /// Number of links.
    links: Ps,
    /// Times of a full packet.
    full: Crossing,
    /// Times of the tail.
    tail: Crossing,
}

/// The times at which a packet can be on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Crossing {
    /// s: its serialization delay on the link.
    takes: Ps,
    /// a: its earliest arrival.
    from: Ps,
    /// w: the minimum remaining time after its transmission.
    after: Ps,
}

/// A link of a stage, with its end nodes (numbered within the stages).
#[derive(Clone, Copy, Debug)]
struct Edge {
    link: LinkId,
    from: usize,
    to: usize,
    /// Number of links that it represents.
    links: u32,
}

/// All shortest paths between two racks, by stage, without the hosts' links.
#[derive(Clone, Debug, Default)]
pub(super) struct EqualPathStages {
    stages: Vec<Vec<Edge>>,
}

impl EqualPathStages {
    /// Computes the paths from the rack of `src` to that of `dst`; empty if they are the same.
    pub(super) fn between(topology: &Topology, src: HostId, dst: HostId) -> Self {
        let target = topology.hosts + topology.rack[dst.index()];
        let mut layer = vec![topology.hosts + topology.rack[src.index()]];
        let mut stages = Vec::new();
        // Large networks have thousands of links in a stage.
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        while layer.first().is_some_and(|&node| node != target) {
            let (mut next, mut stage) = (Vec::new(), Vec::new());
            places.clear();
            for (from, &node) in layer.iter().enumerate() {
                for link in topology.next_links(priolane_core::ids::NodeId(node), dst) {
                    let to = topology.links[link.index()].to.0;
                    let place = *places.entry(to).or_insert_with(|| {
                        next.push(to);
                        next.len() - 1
                    });
                    stage.push(Edge { link, from, to: place, links: 1 });
                }
            }
            stages.push(stage);
            layer = next;
        }
        Self { stages }.merged(topology)
    }

    /// Merges the links of each stage into one edge, if the links within each stage are identical.
    fn merged(self, topology: &Topology) -> Self {
        let like = |edge: &Edge| {
            let link = &topology.links[edge.link.index()];
            (link.rate, link.delay)
        };
        let alike = |stage: &Vec<Edge>| stage.windows(2).all(|pair| like(&pair[0]) == like(&pair[1]));
        if !self.stages.iter().all(alike) {
            return self;
        }
        let one = |stage: &Vec<Edge>| Edge { link: stage[0].link, from: 0, to: 0, links: stage.len() as u32 };
        Self { stages: self.stages.iter().map(|stage| vec![one(stage)]).collect() }
    }

    /// Returns whether all packets take one path.
    pub(super) fn is_one_path(&self) -> bool {
        self.stages.iter().all(|stage| stage.iter().map(|edge| edge.links).sum::<u32>() == 1)
    }

    /// Returns the bound for `payload` bytes, at least 1, from `src` to `dst`; saturates at the longest span.
    pub(super) fn bound(
        &self,
        (topology, frame): (&Topology, &Frame),
        (src, dst): (HostId, HostId),
        payload: u64,
    ) -> Span {
        let mss = u64::from(frame.mss());
        let before = (payload - 1) / mss;
        let sizes = [frame.mss(), (payload - before * mss) as u16].map(|bytes| frame.data_wire(bytes).into());
        let stages = self.link_groups(topology, (src, dst), sizes);
        let full = Ps::from(before) + Ps::from(sizes[0] == sizes[1]);
        let arrival = if sizes[0] == sizes[1] { of_full(&stages, full) } else { with_tail(&stages, full) };
        Span(u64::try_from(arrival).unwrap_or(u64::MAX))
    }

    /// Returns the time of a packet of `wire` bytes over the fastest path.
    pub(super) fn quickest(&self, topology: &Topology, pair: (HostId, HostId), wire: u64) -> Span {
        let source = self.link_groups(topology, pair, [wire, wire])[0][0].tail;
        Span(u64::try_from(source.takes + source.after).unwrap_or(u64::MAX))
    }

    /// Returns the total rate of the links of the slowest stage; `None` within a rack.
    pub(super) fn slowest(&self, topology: &Topology) -> Option<Rate> {
        let rate =
            |edge: &Edge| u128::from(topology.links[edge.link.index()].rate.bps()) * u128::from(edge.links);
        let least = self.stages.iter().map(|stage| stage.iter().map(rate).sum::<u128>()).min()?;
        Rate::from_bps(u64::try_from(least).unwrap_or(u64::MAX))
    }

    /// Returns the minimum times before and after a packet of `wire` bytes is on a link of the first, second, second
    /// to last and last stage. If the inner stages are unknown, uses the times between the hosts' links.
    pub(super) fn legs(&self, topology: &Topology, pair: (HostId, HostId), wire: u64) -> FlowLinkBounds {
        let stages = self.link_groups(topology, pair, [wire, wire]);
        let span = |ps: Option<Ps>| Span(u64::try_from(ps.unwrap_or(0)).unwrap_or(u64::MAX));
        let leg = |stage: &Vec<LinkGroup>| LinkBounds {
            head: span(stage.iter().map(|lane| lane.tail.from).min()),
            tail: span(stage.iter().map(|lane| lane.tail.after).min()),
        };
        let (source, destination) = (leg(&stages[0]), leg(&stages[stages.len() - 1]));
        let last = stages[stages.len() - 1][0].tail;
        let hidden = LinkBounds { head: destination.head, tail: span(Some(last.takes + last.after)) };
        let between = &stages[1..stages.len() - 1];
        let racks = [between.first(), between.last()].map(|stage| stage.map_or(hidden, leg));
        FlowLinkBounds { source, racks: Some(racks), destination }
    }

    /// Returns the stages, including the hosts' links, with the times of a full packet and of a tail of these bytes on
    /// the wire.
    fn link_groups(
        &self,
        topology: &Topology,
        (src, dst): (HostId, HostId),
        sizes: [u64; 2],
    ) -> Vec<Vec<LinkGroup>> {
        let own = |link| vec![Edge { link, from: 0, to: 0, links: 1 }];
        let (first, last) = (own(topology.uplink(src)), own(topology.downlink(dst)));
        let stages: Vec<&Vec<Edge>> = [&first].into_iter().chain(&self.stages).chain([&last]).collect();
        let takes = |edge: &Edge, size| Ps::from(topology.links[edge.link.index()].rate.serialize(size).0);
        let delay = |edge: &Edge| Ps::from(topology.links[edge.link.index()].delay.0);
        let nodes = |stage: &Vec<Edge>, end: fn(&Edge) -> usize| {
            stage.iter().map(end).max().map_or(1, |node| node + 1)
        };
        let mut link_groups: Vec<Vec<LinkGroup>> = stages
            .iter()
            .map(|stage| {
                stage.iter().map(|e| LinkGroup { links: e.links.into(), ..LinkGroup::default() }).collect()
            })
            .collect();
        for (which, size) in sizes.into_iter().enumerate() {
            let mut arrived = vec![0; 1];
            for (stage, link_groups) in stages.iter().zip(&mut link_groups) {
                let mut next = vec![Ps::MAX; nodes(stage, |edge| edge.to)];
                for (edge, lane) in stage.iter().zip(link_groups) {
                    let crossing = if which == 0 { &mut lane.full } else { &mut lane.tail };
                    (crossing.takes, crossing.from) = (takes(edge, size), arrived[edge.from]);
                    next[edge.to] = next[edge.to].min(crossing.from + crossing.takes + delay(edge));
                }
                arrived = next;
            }
            let mut left = vec![0; 1];
            for (stage, link_groups) in stages.iter().zip(&mut link_groups).rev() {
                let mut before = vec![Ps::MAX; nodes(stage, |edge| edge.from)];
                for (edge, lane) in stage.iter().zip(link_groups) {
                    let crossing = if which == 0 { &mut lane.full } else { &mut lane.tail };
                    crossing.after = delay(edge) + left[edge.to];
                    before[edge.from] = before[edge.from].min(crossing.takes + crossing.after);
                }
                left = before;
            }
        }
        link_groups.into_iter().map(grouped).collect()
    }
}

/// Groups the identical links of a stage.
fn grouped(stage: Vec<LinkGroup>) -> Vec<LinkGroup> {
    let mut groups: Vec<LinkGroup> = Vec::new();
    for lane in stage {
        match groups.iter_mut().find(|other| (other.full, other.tail) == (lane.full, lane.tail)) {
            Some(group) => group.links += lane.links,
            None => groups.push(lane),
        }
    }
    groups
}

/// Returns the bound for `full` full packets, at least 1, without a tail.
fn of_full(stages: &[Vec<LinkGroup>], full: Ps) -> Ps {
    let (first, last) = (stages[0][0].full, stages[stages.len() - 1][0].full);
    let load = Load { full, tail: None, first: first.takes, last: last.takes };
    least(&stages[1..], load, full * first.takes + first.after)
}

/// Returns the bound for `full` full packets and a tail over these stages.
fn with_tail(stages: &[Vec<LinkGroup>], full: Ps) -> Ps {
    let (LinkGroup { full: f, tail: t, .. }, last) = (stages[0][0], stages[stages.len() - 1][0].full);
    if full == 0 {
        return t.takes + t.after;
    }
    let released = |at| Load { full, tail: Some(at), first: f.takes, last: last.takes };
    let tail_last = full * f.takes + f.after.max(t.takes + t.after);
    let tail_earlier = full * f.takes + t.takes + f.after;
    let tail_last = least(&stages[1..], released(full * f.takes), tail_last);
    tail_last.min(least(&stages[1..], released(0), tail_earlier))
}

/// Returns the least T, at least `from`, that fits all of `stages`.
fn least(stages: &[Vec<LinkGroup>], load: Load, from: Ps) -> Ps {
    stages.iter().fold(from, |so_far, stage| first_fit(stage, load, so_far))
}

/// The packets that cross a stage.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// n, the number of full packets, at least 1.
    full: Ps,
    /// r: the earliest departure of the tail from the source, if there is a tail.
    tail: Option<Ps>,
    /// s': serialization delay of a full packet on the source's link.
    first: Ps,
    /// s'': serialization delay of a full packet on the destination's link.
    last: Ps,
}

/// Returns the least T, at least `from`, that fits a stage.
fn first_fit(stage: &[LinkGroup], load: Load, from: Ps) -> Ps {
    if fits(stage, load, from) {
        return from;
    }
    let (mut low, mut step) = (from, 1);
    while !fits(stage, load, low + step) {
        low += step;
        step *= 2;
    }
    let mut high = low + step;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(stage, load, middle) { high = middle } else { low = middle }
    }
    high
}

/// Returns whether the packets of `load` can cross a stage and arrive by `by`.
fn fits(stage: &[LinkGroup], load: Load, by: Ps) -> bool {
    [(load.first, 0), (0, load.last)].into_iter().all(|steps| fits_in_steps(stage, load, (by, steps)))
}

/// As `fits`, where each of several identical links has its first full packet `later` than the previous link, and its
/// last one `earlier`.
///
/// A tail takes the time of at most one full packet, since it is no longer: with one more full packet than `n`, its link
/// does not matter.
fn fits_in_steps(stage: &[LinkGroup], load: Load, (by, (later, earlier)): (Ps, (Ps, Ps))) -> bool {
    let sum: Ps = stage.iter().map(|group| carried(group, by, later + earlier)).sum();
    let Some(released) = load.tail else { return sum >= load.full };
    let has_time = |LinkGroup { tail, .. }: &&LinkGroup| by >= released + tail.from + tail.takes + tail.after;
    // Whether the nth of several identical links carries as many full packets besides the tail as without it.
    let is_free = |&LinkGroup { full, tail, .. }: &LinkGroup, nth: Ps| {
        let (from, until) = (full.from + nth * later, by - full.after - nth * earlier);
        let tail_last = until.min(by - tail.after - tail.takes) - from;
        let tail_first = until - from.max(released + tail.from + tail.takes);
        let between = until - from - tail.takes;
        let beside = tail_last.max(tail_first).max(between).max(0);
        quotient(beside, full.takes) == quotient((until - from).max(0), full.takes)
    };
    let mut in_time = stage.iter().filter(has_time);
    match sum.cmp(&load.full) {
        Ordering::Less => false,
        Ordering::Greater => in_time.next().is_some(),
        Ordering::Equal => in_time.any(|group| (0..group.links).any(|nth| is_free(group, nth))),
    }
}

/// Returns the number of full packets that identical links can carry by `by`, each `step` later, or until that much
/// earlier, than the previous one.
fn carried(&LinkGroup { links, full, .. }: &LinkGroup, by: Ps, step: Ps) -> Ps {
    let room = by - full.after - full.from;
    if room < 0 {
        return 0;
    }
    let used = if step == 0 { links } else { links.min(quotient(room, step) + 1) };
    sum_of_quotients(used, full.takes, (step, room - (used - 1) * step))
}

/// Returns the sum of floor((step i + first) / divisor) for i from 0 to `count - 1`, with `step` and `first` of at least 0.
///
/// The sum counts the points with whole coordinates below a line. Each round takes away the whole parts of the slope and
/// of the intercept, and exchanges the axes, as the Euclidean algorithm does.
fn sum_of_quotients(count: Ps, divisor: Ps, (step, first): (Ps, Ps)) -> Ps {
    let (mut count, mut divisor, mut step, mut first, mut sum) = (count, divisor, step, first, 0);
    loop {
        sum += (count - 1) * count / 2 * quotient(step, divisor) + count * quotient(first, divisor);
        (step, first) =
            (step - quotient(step, divisor) * divisor, first - quotient(first, divisor) * divisor);
        let top = step * count + first;
        if top < divisor {
            return sum;
        }
        let height = quotient(top, divisor);
        (count, first, divisor, step) = (height, top - height * divisor, step, divisor);
    }
}

/// Returns `a / b`, both of at least 0, `b` above 0. Most times are below 2^63, where a division is ten times as fast.
fn quotient(a: Ps, b: Ps) -> Ps {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => Ps::from(a / b),
        _ => a / b,
    }
}

#[cfg(test)]
mod tests;
