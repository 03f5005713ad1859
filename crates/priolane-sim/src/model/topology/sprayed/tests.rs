use priolane_core::rng::{Purpose, Stream};

use super::super::bare::{BareTimes, stream_time};
use super::super::{FatTree, LeafSpine, LinkSpec, PathChoice, Spray, file};
use super::*;
use priolane_core::units::Rate;

const FRAME: Frame = Frame::ETHERNET;
const PAIR: (HostId, HostId) = (HostId(0), HostId(1));

fn sprayed(mut topology: Topology) -> Topology {
    topology.path_choice = PathChoice::Sprayed(Spray::Random);
    topology
}

fn of(topology: &Topology, payload: u64) -> Span {
    BareTimes::new(topology, &FRAME).of(PAIR, 0, payload)
}

fn link(gbps: u64, us: u64) -> LinkSpec {
    LinkSpec::lossless(Rate::from_gbps(gbps), Span::from_us(us))
}

/// Two racks of one host each under some spines.
fn leaf_spine(spines: u32, host_link: LinkSpec, fabric_link: LinkSpec) -> Topology {
    let shape = LeafSpine { leaves: 2, spines, hosts_per_leaf: 1, host_link, fabric_link, links_per_pair: 1 };
    sprayed(shape.build().unwrap())
}

/// Two racks of one host each and a path over each of some switches; rates in units of 100 Mbps, delays in ns.
fn paths(hosts: [(u64, u64); 2], between: &[[(u64, u64); 2]]) -> Topology {
    let mut text = "node,a,host\nnode,b,host\nnode,l,switch\nnode,r,switch\n".to_owned();
    let cable = |from: &str, to: &str, (rate, delay): (u64, u64)| {
        format!("link,{from},{to},{}Mbps,{delay}ns\n", rate * 100)
    };
    text += &(cable("a", "l", hosts[0]) + &cable("b", "r", hosts[1]));
    for (i, &[up, down]) in between.iter().enumerate() {
        let name = format!("s{i}");
        text += &(format!("node,{name},switch\n") + &cable("l", &name, up) + &cable(&name, "r", down));
    }
    sprayed(file::parse(&text).unwrap())
}

/// The order in which a link serves waiting packets.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The packet that arrived first.
    Fifo,
    /// The tail, if it waits.
    TailFirst,
    /// A full packet, if one waits.
    TailLast,
}

/// Returns the departures from a link; each packet is (arrival, size, index).
fn served(mut waiting: Vec<(u64, u16, usize)>, rate: Rate, order: Order) -> Vec<(u64, usize)> {
    let (mut now, mut out) = (0, Vec::new());
    while !waiting.is_empty() {
        let first = waiting.iter().map(|packet| packet.0).min().unwrap();
        now = now.max(first);
        let here = |packet: &&(u64, u16, usize)| packet.0 <= now;
        let key = |&&(at, size, place): &&(u64, u16, usize)| match order {
            Order::Fifo => (0, at, place),
            Order::TailFirst => (u64::from(size), at, place),
            Order::TailLast => (u64::MAX - u64::from(size), at, place),
        };
        let next = *waiting.iter().filter(here).min_by_key(key).unwrap();
        waiting.retain(|packet| packet.2 != next.2);
        now += rate.serialize(next.1.into()).0;
        out.push((now, next.2));
    }
    out
}

/// Returns when all packets of these sizes, sent in this order on these paths, have arrived.
fn by_packets(
    topology: &Topology,
    between: &[Vec<LinkId>],
    sizes: &[u16],
    way: &[usize],
    order: Order,
) -> u64 {
    let rate = |link: LinkId| (topology.links[link.index()].rate, topology.links[link.index()].delay.0);
    let through = |link: LinkId, packets: Vec<(u64, u16, usize)>| -> Vec<(u64, u16, usize)> {
        let (rate, delay) = rate(link);
        let left = served(packets, rate, order);
        left.into_iter().map(|(at, place)| (at + delay, sizes[place], place)).collect()
    };
    // The source sends in the given order, whatever the order of other links.
    let (first, delay) = rate(topology.uplink(PAIR.0));
    let mut now = 0;
    let send = |(place, &size): (usize, &u16)| {
        now += first.serialize(size.into()).0;
        (now + delay, size, place)
    };
    let sent: Vec<(u64, u16, usize)> = sizes.iter().enumerate().map(send).collect();
    let mut arrived = Vec::new();
    for (path, links) in between.iter().enumerate() {
        let own: Vec<_> = sent.iter().copied().filter(|packet| way[packet.2] == path).collect();
        arrived.extend(links.iter().fold(own, |packets, &link| through(link, packets)));
    }
    through(topology.downlink(PAIR.1), arrived).iter().map(|packet| packet.0).max().unwrap()
}

/// Returns the least time over all paths and orders of `full` full packets and a tail.
fn searched(topology: &Topology, full: usize, tail: u16) -> u64 {
    let leaf = |host: HostId| priolane_core::ids::NodeId(topology.hosts + topology.rack[host.index()]);
    let between: Vec<Vec<LinkId>> = topology
        .next_links(leaf(PAIR.0), PAIR.1)
        .into_iter()
        .map(|up| vec![up, topology.next_links(topology.links[up.index()].to, PAIR.1)[0]])
        .collect();
    let mut least = u64::MAX;
    for place in 0..=full {
        let mut sizes = vec![FRAME.data_wire(FRAME.mss()); full];
        sizes.insert(place, FRAME.data_wire(tail));
        for number in 0..between.len().pow(full as u32 + 1) {
            let digit = |i: usize| number / between.len().pow(i as u32) % between.len();
            let way: Vec<usize> = (0..=full).map(digit).collect();
            for order in [Order::Fifo, Order::TailFirst, Order::TailLast] {
                least = least.min(by_packets(topology, &between, &sizes, &way, order));
            }
        }
    }
    least
}

fn payload(full: usize, tail: u16) -> u64 {
    full as u64 * u64::from(FRAME.mss()) + u64::from(tail)
}

#[test]
fn the_tail_overtakes_over_a_fast_fabric_by_hand() {
    let fast = leaf_spine(2, link(10, 1), link(40, 1));
    // The full packet of 1538 B alone: 2 x 1230.4 + 2 x 307.6 ns and 4 us. 40 B more (118 B on the wire) take another
    // spine, and overtake it on the last link; over one path they would arrive 94.4 ns later.
    assert_eq!(of(&fast, 1_500), Span(2 * 1_230_400 + 2 * 307_600 + 4_000_000));
    let hashed = Topology { path_choice: PathChoice::Hashed, ..fast.clone() };
    assert_eq!(of(&hashed, 1_500), of(&fast, 1_500) + Span(94_400));
    // Behind two full packets it cannot overtake: one path takes as long as all paths.
    assert_eq!(of(&fast, 2 * 1_460 + 40), of(&hashed, 2 * 1_460 + 40));
}

#[test]
fn slow_links_work_side_by_side_by_hand() {
    // Four spines at 1 Gbps: 12,304 ns per packet. 8 packets leave the source every 1230.4 ns; four go at once, the
    // next four wait for them. The fourth is at the leaf at 5921.6 ns. Two packets of its spine take 24,608 ns up to
    // the end of the second. The path to the other leaf and down adds 1 us + 12,304 + 1 us + 1230.4 + 1 us.
    let slow = leaf_spine(4, link(10, 1), link(1, 1));
    let least = 5_921_600 + 2 * 12_304_000 + 12_304_000 + 1_230_400 + 3_000_000;
    assert_eq!(of(&slow, 8 * 1_460), Span(least));
    // On one path the eighth would wait for seven, of which the first starts 3691.2 ns earlier.
    let hashed = Topology { path_choice: PathChoice::Hashed, ..slow };
    assert_eq!(of(&hashed, 8 * 1_460), Span(least - 3_691_200 + 6 * 12_304_000));
}

#[test]
fn no_choice_of_paths_and_no_order_is_faster_on_paths_of_any_kind() {
    let mut draw = Stream::new(3, Purpose::Paths, 0);
    let (mut equal, mut cases) = (0, 0);
    for _ in 0..400 {
        let mut cable =
            || ([4, 10, 25, 100, 400][draw.below(5) as usize], 1 + draw.below(3) * draw.below(4_000));
        let hosts = [cable(), cable()];
        let between: Vec<[(u64, u64); 2]> = (0..3).map(|_| [cable(), cable()]).collect();
        let topology = paths(hosts, &between[..2 + draw.below(2) as usize]);
        let (full, tail) = (draw.below(4) as usize, [1, 40, 400, 1_460][draw.below(4) as usize]);
        let (bound, least) = (of(&topology, payload(full, tail)).0, searched(&topology, full, tail));
        assert!(bound <= least, "{bound} {least}: {full} and {tail} over {hosts:?} {between:?}");
        equal += u32::from(bound == least);
        cases += 1;
    }
    assert!(equal * 10 >= cases * 7, "{equal} of {cases}");
}

#[test]
fn the_bound_is_met_on_equal_paths_that_are_alike() {
    let mut draw = Stream::new(4, Purpose::Paths, 0);
    for _ in 0..300 {
        let mut rate = || [1, 4, 10, 25, 40][draw.below(5) as usize];
        let (own, fabric) = (rate(), rate());
        let topology = leaf_spine(2 + draw.below(2) as u32, link(own, 1), link(fabric, 1));
        let (full, tail) = (draw.below(5) as usize, [1, 40, 400, 1_460][draw.below(4) as usize]);
        let (bound, least) = (of(&topology, payload(full, tail)).0, searched(&topology, full, tail));
        let tail_wire = u64::from(FRAME.data_wire(tail));
        let slack = Rate::from_gbps(own).serialize(1_538).0 + Rate::from_gbps(fabric).serialize(tail_wire).0;
        let case = format!("{full} and {tail}, {own} and {fabric} Gbps: {bound} {least}");
        assert!(bound <= least && least - bound <= slack, "{case}");
        assert!(bound == least || (tail < 1_460 && fabric < own), "{case}");
    }
}

#[test]
fn one_path_is_the_closed_form_and_many_alike_are_never_above_it() {
    let mut draw = Stream::new(5, Purpose::Paths, 0);
    let fabric = FatTree { k: 4, host_link: link(10, 1), fabric_link: link(40, 1) };
    let tree = sprayed(fabric.build().unwrap());
    for _ in 0..2_000 {
        let payload = 1 + draw.below(60_000);
        let mut cable = || (1 + draw.below(400), 1 + draw.below(9_000));
        let topology = paths([cable(), cable()], &[[cable(), cable()]]);
        let links = topology.path(PAIR.0, PAIR.1, 0);
        let links = links.iter().map(|link| &topology.links[link.index()]);
        let closed = stream_time(links.clone(), &FRAME, payload);
        assert_eq!(of(&topology, payload), closed);
        // The bound of the same path, for any order of packets.
        let fan = EqualPathStages::between(&topology, PAIR.0, PAIR.1);
        assert!(fan.bound((&topology, &FRAME), PAIR, payload) <= closed);
        let (src, dst) = (HostId(draw.below(8) as u16), HostId(8 + draw.below(8) as u16));
        let hashed = Topology { path_choice: PathChoice::Hashed, ..tree.clone() };
        let [over_all, over_one] = [&tree, &hashed].map(|t| t.bare_fct(&FRAME, src, dst, 9, payload));
        assert!(over_all <= over_one, "{payload}");
        // A fabric four times as fast as hosts hides everything except a tail that overtakes the only packet before
        // it.
        assert!(over_all == over_one || payload < 2 * 1_460, "{payload}");
    }
}

#[test]
fn merged_stages_give_what_single_links_give() {
    let topology = leaf_spine(3, link(10, 1), link(4, 2));
    let leaf = priolane_core::ids::NodeId(2);
    let up = topology.next_links(leaf, PAIR.1);
    let edge = |(i, &link): (usize, &LinkId)| Edge { link, from: 0, to: i, links: 1 };
    let down = |(i, &link): (usize, &LinkId)| {
        let next = topology.next_links(topology.links[link.index()].to, PAIR.1)[0];
        Edge { link: next, from: i, to: 0, links: 1 }
    };
    let single = EqualPathStages {
        stages: vec![up.iter().enumerate().map(edge).collect(), up.iter().enumerate().map(down).collect()],
    };
    let merged = EqualPathStages::between(&topology, PAIR.0, PAIR.1);
    assert_eq!(merged.stages.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
    for payload in (1..30_000).step_by(37) {
        let [a, b] = [&single, &merged].map(|fan| fan.bound((&topology, &FRAME), PAIR, payload));
        assert_eq!(a, b, "{payload}");
    }
}

#[test]
fn long_flows_are_cheap_and_saturate_instead_of_wrapping() {
    let topology = leaf_spine(2, link(10, 1), link(1, 1));
    // 10^9 packets, half of them over each spine at 12,304 ns.
    let bound = of(&topology, 1_460 * 1_000_000_000);
    let cut =
        3_460_800 + 500_000_000 * 12_304_000 + 1_000_000 + 12_304_000 + 1_000_000 + 1_230_400 + 1_000_000;
    assert_eq!(bound, Span(cut));
    let slow = paths([(1, 1), (1, 1)], &[[(1, 1), (1, 1)], [(1, 1), (1, 1)]]);
    assert_eq!(of(&slow, u64::MAX / 2), Span(u64::MAX));
}

/// As `fits_in_steps`, link by link.
fn fits_link_by_link(stage: &[LinkGroup], load: Load, (by, (later, earlier)): (Ps, (Ps, Ps))) -> bool {
    let alone = |LinkGroup { full, .. }: &LinkGroup, nth: Ps| {
        ((by - full.after - nth * earlier) - (full.from + nth * later)).max(0) / full.takes
    };
    let beside = |&LinkGroup { full, tail, .. }: &LinkGroup, nth: Ps, released: Ps| {
        let (from, until) = (full.from + nth * later, by - full.after - nth * earlier);
        let tail_from = released + tail.from;
        let in_time = by >= tail_from + tail.takes + tail.after;
        let tail_last = until.min(by - tail.after - tail.takes) - from;
        let tail_first = until - from.max(tail_from + tail.takes);
        let between = until - from - tail.takes;
        in_time.then(|| tail_last.max(tail_first).max(between).max(0) / full.takes)
    };
    let links = || stage.iter().flat_map(|group| (0..group.links).map(move |nth| (group, nth)));
    let sum: Ps = links().map(|(group, nth)| alone(group, nth)).sum();
    let Some(released) = load.tail else { return sum >= load.full };
    let lost = |(group, nth)| Some(alone(group, nth) - beside(group, nth, released)?);
    links().filter_map(lost).min().is_some_and(|lost| sum - lost >= load.full)
}

#[test]
fn groups_of_links_fit_as_their_links_do_one_by_one() {
    let mut rng = Stream::new(3, Purpose::Paths, 0);
    let mut answers = [0; 2];
    for round in 0..200_000 {
        let mut draw = |most: u64| Ps::from(rng.below(most));
        // Times of a few units meet exactly; those of hours exceed 64 bits in sums.
        let unit: Ps = [1, 1, 1_000, 1 << 60][round % 4];
        let group = |draw: &mut dyn FnMut(u64) -> Ps| {
            let full =
                Crossing { takes: unit * (1 + draw(12)), from: unit * draw(30), after: unit * draw(30) };
            let tail = Crossing {
                takes: (full.takes - draw(5)).max(1),
                from: full.from - unit.min(full.from) * draw(2),
                after: full.after - unit.min(full.after) * draw(2),
            };
            LinkGroup { links: 1 + draw(9), full, tail }
        };
        let stage: Vec<LinkGroup> = (0..1 + draw(3)).map(|_| group(&mut draw)).collect();
        let tail = (draw(3) > 0).then(|| unit * draw(40));
        let load = Load { full: 1 + draw(20), tail, first: unit * draw(4), last: unit * draw(4) };
        let (by, steps) = (unit * draw(150), [(load.first, 0), (0, load.last)][round / 4 % 2]);
        let expected = fits_link_by_link(&stage, load, (by, steps));
        assert_eq!(fits_in_steps(&stage, load, (by, steps)), expected, "{stage:?} {load:?} {by} {steps:?}");
        answers[usize::from(expected)] += 1;
    }
    assert!(answers.iter().all(|&count| count > 20_000), "{answers:?}");
}

#[test]
fn quotients_add_up_as_one_by_one() {
    let mut rng = Stream::new(5, Purpose::Paths, 0);
    for _ in 0..100_000 {
        let mut draw = |most: u64| Ps::from(rng.below(most));
        let (count, divisor, step, first) = (draw(40), 1 + draw(50), draw(120), draw(400));
        let expected: Ps = (0..count).map(|i| (step * i + first) / divisor).sum();
        assert_eq!(sum_of_quotients(count, divisor, (step, first)), expected);
    }
}
