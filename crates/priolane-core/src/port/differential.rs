//! Every discipline against what an observer from outside would count, and the simple ones against a plain list.
//!
//! Random arrivals and services are offered to each kind of port. From outside it is known what arrived and what came out:
//! from that alone follow the backlog in packets and bytes at any time and the fate of each packet. First-in-first-out,
//! strict, push-out and ranked ports are also compared, packet for packet, with a list that is searched from its begin.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::pfabric::PFabricSpec;
use super::real_time_wfq::RealTimeWfqSpec;
use super::sp_pifo::SpPifoSpec;
use super::tests::Log;
use super::*;
use crate::ids::{CLASSES, ClassSet, FlowId, HostId, LinkId};
use crate::packet::{Frame, Header, Kind, Marks, Offset, Packet};
use crate::rng::{Purpose, Stream};
use crate::units::{Limit, Rate, Span, Time};

const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Classes 3 and above in turn to the queues 0, 2 and 5.
const CROSSED: [u8; CLASSES] = [2, 1, 0, 5, 0, 2, 5, 0, 2, 5, 0, 2, 5, 0, 2, 5];

fn context(buffer: Buffer, seed: u64) -> PortContext {
    PortContext {
        link: LinkId(3),
        rate: Rate::from_gbps(10),
        buffer,
        sort_by: SortBy::Class,
        frame: Frame::ETHERNET,
        returns: Returns::Forwarded,
        seed,
    }
}

/// A packet of a class, payload or not, whose rank is larger for worse classes on the whole.
fn drawn(draw: &mut Stream, id: u32) -> Packet<()> {
    let class = draw.below(6) as u8;
    let kind = [Kind::Data, Kind::Data, Kind::Data, Kind::Ack, Kind::Credit][draw.below(5) as usize];
    let payload = if kind == Kind::Data { 1 + draw.below(1_460) as u16 } else { 0 };
    let frame = Frame::ETHERNET;
    let wire = if kind == Kind::Data { frame.data_wire(payload) } else { frame.ack_wire() };
    let marks = if draw.below(4) == 0 { Marks::none() } else { Marks::ECN_CAPABLE };
    let header = Header {
        rank: u64::from(class) * 1_000 + draw.below(3_000),
        flow: FlowId(draw.below(5) as u32),
        src: HostId(draw.below(3) as u16),
        dst: HostId(9),
        offset: Offset::new(u64::from(id)),
        entropy: 0,
        wire,
        payload,
        class,
        host_level: draw.below(6) as u8,
        marks,
        kind,
    };
    Packet { header, body: () }
}

fn buffers() -> impl Iterator<Item = Buffer> {
    let limits = [
        Limit::Unlimited,
        Limit::Packets(0),
        Limit::Packets(1),
        Limit::Packets(7),
        Limit::Bytes(1_538),
        Limit::Bytes(9_000),
    ];
    let scopes = [Scope::Port, Scope::Queue];
    let mark = [Limit::Unlimited, Limit::Packets(2), Limit::Bytes(3_000)];
    limits.into_iter().enumerate().flat_map(move |(i, limit)| {
        mark.into_iter().enumerate().map(move |(j, mark_above)| Buffer {
            limit,
            limit_scope: scopes[(i + j) % 2],
            mark_above,
            mark_scope: scopes[(i / 2 + j) % 2],
            ramp: None,
        })
    })
}

fn kinds() -> Vec<(&'static str, DisciplineSpec)> {
    let weights = QueueWeights::new(&[8, 4, 1]).unwrap();
    let tokens = |expiry, mode, data_queues| TokenGroupSpec {
        classes: 3,
        depth: 4,
        expiry,
        mode,
        data_queues,
        ..TokenGroupSpec::TOP
    };
    let unscheduled = Some(UnscheduledData { class: 2, room: Some(2) });
    let detour = Some(Span(2_000_000));
    let trimming = |headers, overflow| TrimmingSpec { headers, overflow };
    vec![
        ("fifo", FifoSpec.into()),
        ("strict", StrictSpec { queues: 8, map: IDENTITY }.into()),
        ("crossed", StrictSpec { queues: 4, map: CROSSED }.into()),
        ("push out", PushOutSpec { queues: 4, map: IDENTITY }.into()),
        ("ranked", RankedSpec.into()),
        ("wfq", WfqSpec { weights, map: IDENTITY }.into()),
        ("strict first", StrictFirstSpec { strict: 2, weights, map: IDENTITY }.into()),
        ("real-time wfq", RealTimeWfqSpec { weights, map: IDENTITY }.into()),
        ("trimming", trimming(Limit::Packets(4), Overflow::Drop).into()),
        ("returning", trimming(Limit::Bytes(400), Overflow::Return).into()),
        ("tokens", tokens(Some(3), TokenMode::A, 1).into()),
        ("tokens in mode B", tokens(None, TokenMode::B, 3).into()),
        ("aifo", AifoSpec { window: 8, k_thousandths: 250, ..AifoSpec::default() }.into()),
        ("pfabric", PFabricSpec.into()),
        ("sp-pifo", SpPifoSpec { queues: 4 }.into()),
        (
            "averaged",
            AveragedSpec { inner: Box::new(StrictSpec { queues: 4, map: IDENTITY }.into()), weight: 300_000 }
                .into(),
        ),
        ("limited", LimitedSpec { rate: Rate::from_gbps(7), burst: 3_000 }.into()),
        (
            "tokens and data without",
            TokenGroupSpec { unscheduled, ..tokens(Some(3), TokenMode::B, 1) }.into(),
        ),
        (
            "tokens by rank",
            TokenGroupSpec { order: TokenOrder::Rank, ..tokens(Some(3), TokenMode::B, 1) }.into(),
        ),
        ("tokens on a detour", TokenGroupSpec { detour, ..tokens(None, TokenMode::B, 1) }.into()),
        ("tokens split by class", tokens(Some(3), TokenMode::PerClassSplit, 1).into()),
        ("tokens limited as they come", tokens(Some(3), TokenMode::IngressBlind, 1).into()),
        ("tokens before free data", tokens(Some(3), TokenMode::UnlimitedDataLow, 1).into()),
        ("tokens after free data", tokens(Some(3), TokenMode::UnlimitedDataHigh, 1).into()),
    ]
}

/// A hash over all that a port does.
struct Story(u64);

impl fmt::Write for Story {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

/// The port's packets as an observer knows them, by the number that each packet has as its offset.
#[derive(Default)]
struct Observer {
    waiting: BTreeMap<u64, Header>,
}

impl Observer {
    fn remove(&mut self, header: &Header) {
        assert!(
            self.waiting.remove(&header.offset.get()).is_some(),
            "a packet left that was not there: {header:?}"
        );
    }

    /// Takes over what the port reported of queued packets.
    fn apply(&mut self, log: &Log, arriving: u64) {
        for (before, after) in log.trimmed.iter().filter(|(before, _)| before.offset.get() != arriving) {
            assert!(after.wire <= before.wire && after.payload == 0 && after.marks.has(Marks::TRIMMED));
            assert_eq!(
                Header { marks: before.marks, wire: before.wire, payload: before.payload, ..*after },
                *before
            );
            self.waiting.insert(after.offset.get(), *after);
        }
        log.evicted.iter().chain(&log.expired).for_each(|header| self.remove(header));
    }

    fn check(&self, port: &impl Discipline<Packet<()>>, what: &str) {
        let bytes: u64 = self.waiting.values().map(|header| u64::from(header.wire)).sum();
        assert_eq!((port.packets() as usize, port.bytes()), (self.waiting.len(), bytes), "{what}");
        assert_eq!(port.next_eligible_time().is_some(), !self.waiting.is_empty(), "{what}");
        assert!(port.payload_bytes() <= bytes, "{what}");
    }
}

/// Lets 400 packets come and go, and checks after each step that nothing appears or disappears. Returns the hash of all
/// that happened.
fn tell(name: &str, spec: &DisciplineSpec, buffer: Buffer, seed: u64) -> u64 {
    let mut draw = Stream::new(seed, Purpose::Ties, 7);
    let mut port = spec.build::<Packet<()>>(&context(buffer, seed));
    let mut observer = Observer::default();
    let mut story = Story(0xcbf2_9ce4_8422_2325);
    let mut now = Time::ZERO;
    for id in 0..400 {
        now += Span(draw.below(1_500_000));
        let what = format!("{name}, {buffer:?}, packet {id}");
        let mut log = Log::default();
        if draw.below(5) < 3 {
            let packet = drawn(&mut draw, id);
            let before = port.bytes_before(&packet.header);
            let admission = port.enqueue(now, &packet, &mut log);
            let mut header = packet.header;
            if let Some((_, after)) = log.trimmed.iter().find(|(before, _)| before.offset == header.offset) {
                header = *after;
            }
            if admission == Admission::Marked {
                assert!(header.marks.has(Marks::ECN_CAPABLE), "{what}");
                header.marks = header.marks.with(Marks::CONGESTED);
            }
            observer.apply(&log, u64::from(id));
            if admission.is_kept() {
                observer.waiting.insert(u64::from(id), header);
            }
            assert_eq!(admission == Admission::Returned, !log.returned.is_empty(), "{what}");
            assert!(admission != Admission::Returned || spec.sends_back(), "{what}");
            write!(story, "{before} {admission:?} {log:?}").unwrap();
        } else {
            let paused = if draw.below(4) == 0 { ClassSet(draw.below(64) as u16) } else { ClassSet::NONE };
            let pausable = spec.is_pausable() && paused != ClassSet::NONE;
            let ready = if pausable { port.is_ready(paused) } else { port.packets() > 0 };
            let at = port.next_eligible_time().map_or(now, |at| at.max(now));
            now = now.max(at);
            let served = if pausable {
                port.dequeue_unpaused(at, paused, &mut log).copied()
            } else {
                port.dequeue(at, &mut log).copied()
            };
            observer.apply(&log, u64::MAX);
            assert!(served.is_none() || ready, "{what}");
            assert!(served.is_some() || !ready || !log.expired.is_empty(), "{what}");
            if let Some(packet) = served {
                assert_eq!(observer.waiting.get(&packet.header.offset.get()), Some(&packet.header), "{what}");
                assert!(!pausable || !paused.has(packet.header.class), "{what}");
                observer.remove(&packet.header);
            }
            write!(story, "{at:?} {served:?} {log:?}").unwrap();
        }
        observer.check(&port, &what);
    }
    story.0
}

/// The list that a FIFO, strict, push-out or ranked port is compared with.
struct Plain {
    waiting: Vec<Packet<()>>,
    buffer: Buffer,
    key: fn(&Header) -> u64,
    pushes_out: bool,
}

impl Plain {
    fn of(name: &str, mut buffer: Buffer) -> Option<Self> {
        let key: fn(&Header) -> u64 = match name {
            "fifo" => |_| 0,
            "strict" => |header| u64::from(header.class),
            "crossed" => |header| u64::from(CROSSED[usize::from(header.class)].min(3)),
            "push out" => |header| u64::from(header.class.min(3)),
            "ranked" => |header| header.rank,
            _ => return None,
        };
        let pushes_out = name == "push out";
        if pushes_out || matches!(name, "fifo" | "ranked") {
            buffer.limit_scope = Scope::Port;
        }
        if matches!(name, "fifo" | "ranked") {
            buffer.mark_scope = Scope::Port;
        }
        Some(Self { waiting: Vec::new(), buffer, key, pushes_out })
    }

    /// Whether the backlog with a packet is above a limit.
    fn is_above(&self, limit: Limit, scope: Scope, header: &Header) -> bool {
        let in_scope = |p: &&Packet<()>| scope == Scope::Port || (self.key)(&p.header) == (self.key)(header);
        let backlog = || self.waiting.iter().filter(in_scope);
        match limit {
            Limit::Unlimited => false,
            Limit::Packets(most) => backlog().count() + 1 > most as usize,
            Limit::Bytes(most) => {
                backlog().map(|p| u64::from(p.header.wire)).sum::<u64>() + u64::from(header.wire) > most
            }
        }
    }

    fn enqueue(&mut self, packet: &Packet<()>) -> (Admission, Vec<Header>) {
        let Buffer { limit, limit_scope, mark_above, mark_scope, .. } = self.buffer;
        let mut evicted = Vec::new();
        if self.pushes_out {
            let before = self.waiting.clone();
            while self.is_above(limit, limit_scope, &packet.header) {
                let worst = self.waiting.iter().map(|p| (self.key)(&p.header)).max();
                let Some(worst) = worst.filter(|&worst| worst > (self.key)(&packet.header)) else {
                    self.waiting = before;
                    return (Admission::Dropped, Vec::new());
                };
                let last = self.waiting.iter().rposition(|p| (self.key)(&p.header) == worst).unwrap();
                evicted.push(self.waiting.remove(last).header);
            }
        } else if self.is_above(limit, limit_scope, &packet.header) {
            return (Admission::Dropped, Vec::new());
        }
        let may = packet.header.marks.has(Marks::ECN_CAPABLE);
        let marks = may && self.is_above(mark_above, mark_scope, &packet.header);
        let admission = if marks { Admission::Marked } else { Admission::Queued };
        let mut kept = *packet;
        admission.mark(&mut kept);
        self.waiting.push(kept);
        (admission, evicted)
    }

    fn dequeue(&mut self) -> Option<Header> {
        let first = self.waiting.iter().map(|p| (self.key)(&p.header)).min()?;
        let place = self.waiting.iter().position(|p| (self.key)(&p.header) == first)?;
        Some(self.waiting.remove(place).header)
    }
}

#[test]
fn ports_do_what_a_plain_list_does() {
    let mut served = 0;
    for (name, spec) in kinds() {
        for (seed, buffer) in buffers().enumerate() {
            let Some(mut plain) = Plain::of(name, buffer) else { continue };
            let mut draw = Stream::new(seed as u64, Purpose::Ties, 8);
            let mut port = spec.build::<Packet<()>>(&context(buffer, 1));
            for id in 0..600 {
                let what = format!("{name}, {buffer:?}, packet {id}");
                if draw.below(7) < 4 {
                    let packet = drawn(&mut draw, id);
                    let mut log = Log::default();
                    if port.packets() == 0 && draw.below(2) == 0 {
                        // A packet that may pass an empty port is decided as one that is queued there.
                        let passed =
                            port.try_bypass(Time::ZERO, &packet.header).expect("an empty port lets pass");
                        assert_eq!(passed, plain.enqueue(&packet).0, "{what}");
                        plain.waiting.clear();
                        continue;
                    }
                    let admission = port.enqueue(Time::ZERO, &packet, &mut log);
                    assert_eq!((admission, log.evicted), plain.enqueue(&packet), "{what}");
                } else {
                    let first = port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.header);
                    assert_eq!(first, plain.dequeue(), "{what}");
                    served += u32::from(first.is_some());
                }
            }
        }
    }
    assert!(served > 10_000, "{served}");
}

#[test]
fn no_port_loses_or_makes_a_packet_and_each_does_as_it_always_has() {
    // What every kind does with each buffer, as one hash. It changes only with the results of runs.
    let hashes: Vec<(&str, u64)> = kinds()
        .iter()
        .map(|(name, spec)| {
            let all = buffers().zip(1..).map(|(buffer, seed)| tell(name, spec, buffer, seed));
            (*name, all.fold(0, |sum: u64, story| sum.rotate_left(1) ^ story))
        })
        .collect();
    assert_eq!(hashes, KEPT);
}

/// The average of one packet is that packet's backlog. Ports that evict before they mark, and those that keep no average,
/// are not compared.
#[test]
fn an_average_in_which_the_last_arrival_has_all_weight_marks_as_the_backlog_does() {
    let names = [
        "fifo",
        "strict",
        "crossed",
        "ranked",
        "wfq",
        "strict first",
        "real-time wfq",
        "aifo",
        "sp-pifo",
        "limited",
    ];
    let compared = kinds().into_iter().filter(|(name, _)| names.contains(name));
    for (name, spec) in compared {
        let averaged = AveragedSpec { inner: Box::new(spec.clone()), weight: 1_000_000 }.into();
        for (seed, buffer) in (1..).zip(buffers()) {
            for ramp in [None, Some(Ramp { full: Limit::Packets(9), most: 500_000 })] {
                let buffer = Buffer { ramp, ..buffer };
                let stories = [&averaged, &spec].map(|spec| tell(name, spec, buffer, seed));
                assert_eq!(stories[0], stories[1], "{name}, {buffer:?}");
            }
        }
    }
}

#[test]
fn a_port_of_another_crate_does_what_its_twin_here_does() {
    // Headers in slots, as another crate's discipline queues them, in place of packets.
    for (name, spec) in kinds() {
        let twin = DisciplineSpec::from(RegisteredSpec::new(spec.clone()));
        assert_eq!(twin, RegisteredSpec::new(spec.clone()).into());
        for (seed, buffer) in (1..).zip(buffers()) {
            assert_eq!(
                tell(name, &twin, buffer, seed),
                tell(name, &spec, buffer, seed),
                "{name}, {buffer:?}"
            );
        }
    }
}

const KEPT: [(&str, u64); 24] = [
    ("fifo", 0x5936_d34d_8d58_a011),
    ("strict", 0x234e_6449_35d4_05ca),
    ("crossed", 0x3730_d9fd_a442_9541),
    ("push out", 0xc2fa_c01f_19d7_ff40),
    ("ranked", 0x6923_6c08_45b2_6478),
    ("wfq", 0x3804_d6b1_9ec4_7863),
    ("strict first", 0x5133_eb9b_5986_9d9f),
    ("real-time wfq", 0xacae_2632_b171_09a8),
    ("trimming", 0x2cfe_8184_1b2e_a165),
    ("returning", 0xb9fe_11d0_b6e5_62b9),
    ("tokens", 0x8c81_ce79_4a90_5065),
    ("tokens in mode B", 0xfd9c_623a_e9dc_e9f6),
    ("aifo", 0x21ea_621d_0efe_e371),
    ("pfabric", 0xc4dd_1ccb_c83b_0dab),
    ("sp-pifo", 0x5b8f_1538_f0be_c3b4),
    ("averaged", 0xc27b_5bd7_6b4e_1ffa),
    ("limited", 0x0699_0510_f0e2_0ad0),
    ("tokens and data without", 0x51f1_aa29_896b_b9f0),
    ("tokens by rank", 0xc5aa_b8ef_026f_302c),
    ("tokens on a detour", 0x855f_746b_ed02_7769),
    ("tokens split by class", 0xc7b5_21ef_9341_5eab),
    ("tokens limited as they come", 0xd869_a4a0_7790_728f),
    ("tokens before free data", 0x148b_3084_b9ec_67e2),
    ("tokens after free data", 0x4977_7e14_f8cd_7952),
];
