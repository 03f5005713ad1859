//! Every statistic of an outcome, counted again from the trace of all packets.
//!
//! Nodes count while packets pass; a trace lists each hop with its instants and its end. Here each record of an outcome is
//! computed from that list alone, with sums and loops over all hops of a port.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CLASSES, Class, LinkId};
use priolane_core::packet::{Header, Kind, Marks};
use priolane_core::port::{DisciplineSpec, Overflow, PortFactory, TrimmingSpec};
use priolane_core::transport::Transport;
use priolane_core::transport::window::LossRecovery;
use priolane_core::units::{Span, Time};
use priolane_rounds::rounds;
use priolane_sim::dependencies::{Predecessor, Work};
use priolane_sim::outcome::{
    ClassSample, FlowRecord, Ledger, Outcome, PacketCount, PortClassRecord, PortQueue, Sample, StartTime,
};
use priolane_sim::scenario::{Nic, ScenarioSpec};
use priolane_sim::trace::{Extent, Fate, Following, Hop, Loss, Marking, Trace, TracedPacket, Transmission};

use crate::engines::random;
use crate::support::run_following;

/// The whole trace of a run, with what happened at each port.
struct Traced {
    seed: u64,
    scenario: ScenarioSpec,
    outcome: Outcome,
    trace: Trace,
}

/// A hop with its packet, and what follows from both.
#[derive(Clone, Copy)]
struct Passage<'a> {
    hop: &'a Hop,
    packet: &'a TracedPacket,
    /// Bytes on the wire as the packet left the port.
    wire: u16,
    /// Bytes that this port cut off the packet.
    cut: u16,
    /// The time at which the packet ceased to wait; the end of the run if it never did.
    end: Time,
}

impl Passage<'_> {
    fn header(&self) -> &Header {
        &self.packet.header
    }

    fn start(&self) -> Option<Time> {
        self.hop.fate.service().map(|service| service.start)
    }

    fn was_dropped_on_arrival(&self) -> bool {
        self.hop.fate == Fate::Dropped && self.hop.removed == Some(self.hop.queued)
    }

    /// Whether the packet waits at `at`, after all departures and arrivals of that instant.
    fn waits_after(&self, at: Time) -> bool {
        let left = self.start().or(self.hop.removed);
        self.hop.queued <= at && left.is_none_or(|left| left > at)
    }
}

fn add(count: &mut PacketCount, bytes: u16) {
    count.packets += 1;
    count.bytes += u64::from(bytes);
}

impl Traced {
    fn new(seed: u64, scenario: ScenarioSpec) -> Self {
        let (from, until) = (Time::ZERO, Time::NEVER);
        let all = Extent { from, until, most_hops: usize::MAX, senders: Vec::new() };
        let (outcome, trace) = run_following(&scenario, &Following::Network(all));
        Self { seed, scenario, outcome, trace }
    }

    fn check(&self) {
        self.check_ports();
        self.check_queues();
        self.check_ledger();
        self.check_received();
        self.check_samples();
        self.check_flows();
        self.check_starts();
        self.check_losses();
    }

    /// The hops of each port, in order of arrival.
    fn by_port(&self) -> BTreeMap<LinkId, Vec<Passage<'_>>> {
        let mut ports: BTreeMap<LinkId, Vec<Passage>> = BTreeMap::new();
        let mut was_trimmed = vec![false; self.trace.packets.len()];
        for hop in &self.trace.hops {
            let packet = &self.trace.packets[hop.packet as usize];
            let before =
                std::mem::replace(&mut was_trimmed[hop.packet as usize], hop.marks.has(Marks::TRIMMED));
            let (whole, headers) = (packet.header.wire, self.scenario.frame.trimmed_wire());
            let trimmed = whole.min(headers);
            let wire = if hop.marks.has(Marks::TRIMMED) { trimmed } else { whole };
            let cut = if before { 0 } else { whole - wire };
            let service = hop.fate.service().map(|service| service.start);
            let end = service.or(hop.removed).unwrap_or(self.outcome.stopped_at);
            ports.entry(hop.link).or_default().push(Passage { hop, packet, wire, cut, end });
        }
        ports
    }

    fn queue_of(&self, link: LinkId, class: Class) -> u8 {
        let is_host = self.scenario.topology.links[link.index()].from.0 < self.scenario.topology.hosts;
        match &self.scenario.nic {
            _ if !is_host => self.scenario.ports[link.index()].discipline.queue_of(class),
            Nic::Pull => 0,
            Nic::Queue { port, .. } => port.discipline.queue_of(class),
        }
    }

    /// The record of a port and class; `None` if no packet came.
    fn record(&self, link: LinkId, class: Class, port: &[Passage]) -> PortClassRecord {
        let mut record =
            PortClassRecord { link, class, queue: self.queue_of(link, class), ..Default::default() };
        for passage in port.iter().filter(|passage| passage.header().class == class) {
            if passage.start().is_some() {
                record.packets += 1;
                record.bytes += u64::from(passage.wire);
            }
            record.dropped += u64::from(passage.hop.fate == Fate::Dropped);
            record.expired += u64::from(passage.hop.fate == Fate::Expired);
            record.lost += u64::from(matches!(passage.hop.fate, Fate::Lost { .. }));
            record.marked += u64::from(passage.hop.marking == Marking::Marked);
            record.trimmed += u64::from(passage.cut > 0);
            if !passage.was_dropped_on_arrival() {
                record.waited += passage.end.since(passage.hop.queued).0;
            }
        }
        record
    }

    /// Returns the number of packets of `class` that started while a better one waited: fewest and most, since the
    /// order of a departure and an arrival of one instant is not in the trace.
    fn inversions(class: Class, port: &[Passage]) -> (u64, u64) {
        let mut found = (0, 0);
        for start in port.iter().filter(|p| p.header().class == class).filter_map(Passage::start) {
            let better = || {
                port.iter()
                    .filter(|p| p.header().class < class && !p.was_dropped_on_arrival() && p.end > start)
            };
            found.0 += u64::from(better().any(|p| p.hop.queued < start));
            found.1 += u64::from(better().any(|p| p.hop.queued <= start));
        }
        found
    }

    fn check_ports(&self) {
        let ports = self.by_port();
        let mut expected = Vec::new();
        for (&link, port) in &ports {
            for class in 0..CLASSES as Class {
                if port.iter().any(|passage| passage.header().class == class) {
                    expected.push((self.record(link, class, port), Self::inversions(class, port)));
                }
            }
        }
        // Pauses are not in a trace: ports that were only paused are left out.
        let counted: Vec<&PortClassRecord> = self
            .outcome
            .ports
            .iter()
            .filter(|p| expected.iter().any(|(e, _)| (e.link, e.class) == (p.link, p.class)))
            .collect();
        assert_eq!(counted.len(), expected.len(), "seed {}", self.seed);
        for (counted, (expected, (fewest, most))) in counted.into_iter().zip(expected) {
            let PortClassRecord { paused, inversions, .. } = *counted;
            assert_eq!(*counted, PortClassRecord { paused, inversions, ..expected }, "seed {}", self.seed);
            assert!(
                (fewest..=most).contains(&inversions),
                "{counted:?}: {fewest} to {most}, seed {}",
                self.seed
            );
        }
        let hops: u64 = self.outcome.ports.iter().map(|port| port.packets).sum();
        assert_eq!(self.outcome.work.packet_hops, hops);
    }

    /// The most bytes that wait just after a payload packet has been queued.
    fn peak(port: &[Passage]) -> u64 {
        let mut peak = 0;
        for (place, arrival) in port.iter().enumerate() {
            if arrival.header().kind != Kind::Data || arrival.was_dropped_on_arrival() {
                continue;
            }
            let waiting = port[..=place].iter().filter(|p| p.waits_after(arrival.hop.queued));
            peak = peak.max(waiting.map(|p| u64::from(p.wire)).sum());
        }
        peak
    }

    /// Whether all queues of a port hold payload, and none is emptied from the end.
    fn has_one_kind_of_queue(&self, link: LinkId) -> bool {
        !matches!(
            self.scenario.ports[link.index()].discipline,
            DisciplineSpec::Trimming(_) | DisciplineSpec::Tokens(_)
        )
    }

    fn check_queues(&self) {
        for (&link, port) in &self.by_port() {
            let counted = self.outcome.queues.iter().find(|queue| queue.link == link).copied();
            let data = port.iter().filter(|p| p.header().kind == Kind::Data && !p.was_dropped_on_arrival());
            let waited: u64 = data.map(|p| p.end.since(p.hop.queued).0).sum();
            let counted = counted.unwrap_or(PortQueue { link, ..PortQueue::default() });
            assert_eq!(counted.waited, waited, "{link:?}, seed {}", self.seed);
            let from_host = self.scenario.topology.links[link.index()].from.0 < self.scenario.topology.hosts;
            if from_host {
                assert_eq!(counted.peak_bytes, 0);
            } else if self.has_one_kind_of_queue(link) {
                assert_eq!(counted.peak_bytes, Self::peak(port), "{link:?}, seed {}", self.seed);
            }
        }
    }

    fn check_ledger(&self) {
        let mut ledger = Ledger { unrouted: self.outcome.ledger.unrouted, ..Ledger::default() };
        let mut last: Vec<Option<Passage>> = vec![None; self.trace.packets.len()];
        for port in self.by_port().into_values() {
            for passage in port {
                let class = usize::from(passage.header().class);
                if passage.cut > 0 {
                    add(&mut ledger.trimmed[class], passage.cut);
                }
                let last = &mut last[passage.hop.packet as usize];
                if last.is_none_or(|last| last.hop.queued <= passage.hop.queued) {
                    *last = Some(passage);
                }
            }
        }
        let mut unrouted = [PacketCount::default(); CLASSES];
        for passage in last.into_iter().flatten() {
            let class = usize::from(passage.header().class);
            add(&mut ledger.made[class], passage.header().wire);
            let count = match passage.hop.fate {
                Fate::Dropped => &mut ledger.dropped,
                Fate::Expired => &mut ledger.expired,
                Fate::Lost { .. } => &mut ledger.lost,
                Fate::Waiting | Fate::Sent(_) => &mut ledger.resident,
                Fate::Arrived { .. } if passage.packet.delivered.is_some() => &mut ledger.delivered,
                Fate::Arrived { .. } => &mut unrouted,
            };
            add(&mut count[class], passage.wire);
        }
        assert_eq!(ledger, self.outcome.ledger, "seed {}", self.seed);
        assert_eq!(unrouted, self.outcome.ledger.unrouted, "seed {}", self.seed);
    }

    fn check_received(&self) {
        let last_start = self.scenario.flows.last().unwrap().start;
        let delivered = |p: &&TracedPacket| p.header.kind == Kind::Data && p.delivered.is_some();
        let arrived: Vec<&TracedPacket> = self.trace.packets.iter().filter(delivered).collect();
        assert_eq!(self.outcome.received.packets, arrived.len() as u64, "seed {}", self.seed);
        if self.outcome.ledger.trimmed.iter().all(|trimmed| trimmed.packets == 0) {
            let early =
                arrived.iter().filter(|p| p.delivered.unwrap() <= last_start + self.scenario.host_delay);
            let bytes: u64 = early.map(|p| u64::from(p.header.payload)).sum();
            assert_eq!(self.outcome.received.early_bytes, bytes, "seed {}", self.seed);
        }
    }

    fn check_samples(&self) {
        let Some(every) = self.scenario.sample_every else {
            return assert_eq!(self.outcome.samples, Default::default());
        };
        let ports = self.by_port();
        let mut expected = (Vec::new(), Vec::new());
        let instants = (0..).map(|i| Time(i * every.0)).take_while(|&at| at < self.outcome.stopped_at);
        for at in instants {
            let since = at.0.checked_sub(every.0).map(Time);
            for (&link, port) in &ports {
                let sent = |class: Option<Class>| -> u64 {
                    let of_class = |p: &&Passage| class.is_none_or(|class| p.header().class == class);
                    let in_bin = |p: &&Passage| {
                        p.start().is_some_and(|start| start <= at && since.is_none_or(|since| start > since))
                    };
                    port.iter().filter(of_class).filter(in_bin).map(|p| u64::from(p.wire)).sum()
                };
                let waiting = || port.iter().filter(|p| p.waits_after(at));
                let queued_bytes = waiting().map(|p| u64::from(p.wire)).sum();
                let queued_packets = waiting().count() as u32;
                let sent_bytes = sent(None);
                if queued_packets > 0 || sent_bytes > 0 {
                    expected.0.push(Sample { at, link, queued_bytes, queued_packets, sent_bytes });
                }
                for class in 1..CLASSES as Class {
                    let sent_bytes = sent(Some(class));
                    if sent_bytes > 0 {
                        expected.1.push(ClassSample { at, link, class, sent_bytes });
                    }
                }
            }
        }
        assert_eq!(self.outcome.samples.classes, expected.1, "seed {}", self.seed);
        // A packet that is trimmed while it waits has its full size before.
        if self.outcome.ledger.trimmed.iter().all(|trimmed| trimmed.packets == 0) {
            assert_eq!(self.outcome.samples.ports, expected.0, "seed {}", self.seed);
        }
    }

    /// Whether receivers discard payload that is not the next.
    fn discards_out_of_order(&self) -> bool {
        matches!(&self.scenario.transport, Transport::Window { window, .. } if window.recovery == LossRecovery::GoBackN)
    }

    /// Returns the time at which the last byte of a flow's payload arrived.
    fn delivered(&self, flow: &FlowSpec) -> Option<Time> {
        let size = flow.size?;
        let data = |p: &&TracedPacket| p.header.flow == flow.id && p.header.kind == Kind::Data;
        let mut arrivals: Vec<(Time, u64, u64)> = self
            .trace
            .packets
            .iter()
            .filter(data)
            .filter_map(|p| {
                let begin = p.header.offset.get();
                Some((p.delivered?, begin, begin + u64::from(p.header.payload)))
            })
            .collect();
        arrivals.sort_unstable();
        let mut missing: Vec<(u64, u64)> = vec![(0, size)];
        for (at, begin, end) in arrivals {
            if self.discards_out_of_order() && begin > missing[0].0 {
                continue;
            }
            missing = missing
                .into_iter()
                .flat_map(|(from, to)| [(from, to.min(begin)), (from.max(end), to)])
                .filter(|(from, to)| from < to)
                .collect();
            if missing.is_empty() {
                return Some(at);
            }
        }
        None
    }

    fn check_flows(&self) {
        let is_cut = self.outcome.ledger.trimmed.iter().any(|trimmed| trimmed.packets > 0);
        for (flow, record) in self.scenario.flows.iter().zip(&self.outcome.flows) {
            let sent: Vec<&TracedPacket> = self
                .trace
                .packets
                .iter()
                .filter(|p| p.header.flow == flow.id && p.header.kind == Kind::Data)
                .collect();
            if record.missing == 0 && !is_cut {
                let began = if let StartTime::At(at) = record.began { at } else { flow.start };
                // A packet that is delivered has arrived the processing time of the host before.
                let fct = self.delivered(&flow).map(|at| at.since(began + self.scenario.host_delay));
                assert_eq!(record.fct, fct, "{flow:?}, seed {}", self.seed);
            }
            self.check_flow_of_window(&flow, &record, &sent);
        }
    }

    fn check_flow_of_window(&self, flow: &FlowSpec, record: &FlowRecord, sent: &[&TracedPacket]) {
        // An endpoint reports classes and retransmissions when a flow completes.
        if record.fct_acked.is_none() || !matches!(self.scenario.transport, Transport::Window { .. }) {
            return;
        }
        let again = sent.iter().filter(|p| p.turn == Transmission::Again).count();
        assert_eq!(record.retransmits as usize, again, "{flow:?}, seed {}", self.seed);
        let ends = (sent[0].header.class, sent[sent.len() - 1].header.class);
        assert_eq!((record.class.first, record.class.last), ends, "{flow:?}, seed {}", self.seed);
        assert_eq!(record.class.asked, flow.class);
        let began = if let StartTime::At(at) = record.began { at } else { flow.start };
        assert!(sent.iter().all(|p| p.made >= began + record.held), "{flow:?}, seed {}", self.seed);
    }

    /// A flow that waits for others starts a delay after the last of them has been delivered, and not before its planned
    /// start; one that would start at its bound or later never does.
    fn check_starts(&self) {
        let is_cut = self.outcome.ledger.trimmed.iter().any(|trimmed| trimmed.packets > 0);
        if is_cut || !self.scenario.controls.is_empty() {
            return;
        }
        let flows = &self.scenario.flows;
        for wait in &self.scenario.waits {
            let start = flows.at(wait.flow.index()).start;
            let mut signals = wait.after.iter().map(|&Predecessor { work, delay }| {
                let Work::Flow(first) = work else { panic!("random scenarios have no steps") };
                let missing = self.outcome.flows.at(first.index()).missing;
                self.delivered(&flows.at(first.index())).filter(|_| missing == 0).map(|at| at + delay)
            });
            let release = signals.try_fold(start, |latest, signal| Some(latest.max(signal?)));
            let began = self.outcome.flows.at(wait.flow.index()).began;
            let expected = match release {
                Some(at) if wait.until.is_none_or(|until| at < until) && at < self.outcome.stopped_at => {
                    StartTime::At(at)
                }
                _ if began == StartTime::NotIssued => StartTime::NotIssued,
                _ => StartTime::Never,
            };
            assert_eq!(began, expected, "{wait:?}, seed {}", self.seed);
        }
    }

    /// Losses have the cause that the network gives them.
    fn check_losses(&self) {
        for hop in &self.trace.hops {
            let Fate::Lost { by, .. } = hop.fate else { continue };
            match by {
                Loss::Chance => assert!(self.scenario.topology.links[hop.link.index()].loss > 0.0),
                Loss::Down => assert!(!self.scenario.outages.is_empty()),
            }
        }
    }
}

/// Whether a port, or a host's transmit queue, sends headers back: those are not traced.
fn returns_headers(scenario: &ScenarioSpec) -> bool {
    let is_returning = |discipline: &DisciplineSpec| {
        matches!(discipline, DisciplineSpec::Trimming(TrimmingSpec { overflow: Overflow::Return, .. }))
    };
    scenario.ports.iter().any(|port| is_returning(&port.discipline))
}

#[test]
fn every_statistic_is_what_the_trace_of_all_packets_says() {
    let mut checked = 0;
    for seed in 0..rounds(72, 2_000) {
        let mut scenario = random(seed);
        if returns_headers(&scenario) {
            continue;
        }
        scenario.sample_every = scenario.sample_every.map(|_| Span(33_333_333));
        let traced = Traced::new(seed, scenario);
        traced.check();
        checked += 1;
    }
    assert!(checked > 48, "{checked}");
}
