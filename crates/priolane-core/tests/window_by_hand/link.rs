//! Two hosts and what lies between them, as a list of packets under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_core::endpoint::{
    Command, Control, Cx, Endpoint, Event, FlowReport, FlowSpec, LocalClock, LocalHost, Path, RxMeta,
    Thresholds, Tx,
};
use priolane_core::host::SchedulerKind;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Frame, Kind, Marks, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::new_reno;
use priolane_core::transport::window::{
    Config, CongestionControl, Handshake, LossRecovery, Segment, WindowEndpoint,
};
use priolane_core::units::{Rate, Span, Time};

/// One store-and-forward hop: a line and the way behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
}

/// The faults of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) loss: f64,
    pub(crate) duplicate: f64,
    /// Part of the packets that take up to `jitter` longer.
    pub(crate) reorder: f64,
    pub(crate) jitter: Span,
    /// Part of the ECN-capable packets that get marked.
    pub(crate) mark: f64,
    /// Part of the data packets whose payload is cut off.
    pub(crate) trim: f64,
    /// Timers come late by up to this.
    pub(crate) late: Span,
}

/// A packet as it left host `from`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenPacket {
    pub(crate) at: Time,
    pub(crate) from: usize,
    pub(crate) packet: Packet<Segment>,
}

type Judge = Box<dyn FnMut(&SeenPacket) -> Fate>;

/// The treatment of a packet by the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    Mark,
    Trim,
}

/// Two endpoints with `hops` between them in both directions.
pub(crate) struct Net<C: CongestionControl> {
    pub(crate) hosts: [WindowEndpoint<C>; 2],
    pub(crate) now: Time,
    pub(crate) log: Vec<SeenPacket>,
    pub(crate) events: Vec<(usize, Time, Event)>,
    pub(crate) faults: Faults,
    pub(crate) clocks: [LocalClock; 2],
    judge: Judge,
    hops: Vec<Hop>,
    free: [Vec<Time>; 2],
    /// A host's line ends its packet at `free[host][0]` and may have another.
    waiting: [bool; 2],
    late: [(Option<Time>, Time); 2],
    under_way: BTreeMap<(Time, u64), (usize, Packet<Segment>)>,
    opens: BTreeMap<(Time, u32), FlowSpec>,
    count: u64,
    rng: Stream,
}

impl<C: CongestionControl<Telemetry = ()>> Net<C> {
    pub(crate) fn new(config: Config, controller: C::Config, kind: SchedulerKind, hops: &[Hop]) -> Self {
        let host = |id| {
            let local = LocalHost::simulated(HostId(id), hops[0].rate);
            WindowEndpoint::with_kind(local, Arc::new(config), controller.clone(), kind)
        };
        Self {
            hosts: [host(0), host(1)],
            now: Time::ZERO,
            log: Vec::new(),
            events: Vec::new(),
            faults: Faults::default(),
            clocks: [LocalClock::default(); 2],
            judge: Box::new(|_| Fate::Pass),
            hops: hops.to_vec(),
            free: [vec![Time::ZERO; hops.len()], vec![Time::ZERO; hops.len()]],
            waiting: [false; 2],
            late: [(None, Time::NEVER); 2],
            under_way: BTreeMap::new(),
            opens: BTreeMap::new(),
            count: 0,
            rng: Stream::new(1, Purpose::Loss, 0),
        }
    }

    pub(crate) fn seeded(mut self, seed: u64, faults: Faults) -> Self {
        self.rng = Stream::new(seed, Purpose::Loss, 1);
        self.faults = faults;
        self
    }

    pub(crate) fn judged(mut self, judge: impl FnMut(&SeenPacket) -> Fate + 'static) -> Self {
        self.judge = Box::new(judge);
        self
    }

    pub(crate) fn open(&mut self, spec: FlowSpec) {
        self.opens.insert((spec.start, spec.id.0), spec);
    }

    pub(crate) fn control(&mut self, host: usize, id: FlowId, control: Control) {
        self.call(host, |end, cx| end.control(cx, Command::Flow(id, control)));
    }

    pub(crate) fn set_thresholds(&mut self, host: usize, thresholds: &Thresholds) {
        self.call(host, |end, cx| end.control(cx, Command::Thresholds(thresholds)));
    }

    /// Hands `packet` to `host`, now.
    pub(crate) fn inject(&mut self, host: usize, packet: &Packet<Segment>) {
        let meta = RxMeta { stamp: self.now, noise: Span::ZERO };
        self.call(host, |end, cx| end.on_packet(cx, meta, packet));
    }

    /// Runs until nothing is left to happen, or `limit`; whether nothing is left.
    pub(crate) fn run(&mut self, limit: Time) -> bool {
        while let Some((at, what)) = self.next_event() {
            if at > limit {
                return false;
            }
            assert!(at >= self.now, "time went back");
            self.now = at;
            self.happen(what);
        }
        true
    }

    fn next_event(&mut self) -> Option<(Time, What)> {
        let open = self.opens.first_key_value().map(|(&(at, _), _)| (at, What::Open));
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| (at, What::Arrival));
        let mut all = vec![open, arrival];
        for host in 0..2 {
            all.push(self.waiting[host].then_some((self.free[host][0], What::Line(host))));
            all.push(self.timer(host).map(|at| (at, What::Timer(host))));
        }
        // The earliest; among equals the first of the list.
        all.into_iter().flatten().min_by_key(|&(at, _)| at)
    }

    /// Returns the time at which the timer of `host` fires: late, by an amount drawn once per deadline.
    fn timer(&mut self, host: usize) -> Option<Time> {
        let deadline = self.hosts[host].next_timeout()?;
        if self.late[host].0 != Some(deadline) {
            let lateness = Span(self.rng.below(self.faults.late.0 + 1));
            self.late[host] = (Some(deadline), deadline.max(self.now) + lateness);
        }
        Some(self.late[host].1.max(self.now))
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Open => {
                let (_, spec) = self.opens.pop_first().unwrap();
                self.call(spec.src.index(), |end, cx| end.open(cx, spec.request(), &|| Path::NOMINAL.into()));
            }
            What::Arrival => {
                let ((stamp, _), (host, packet)) = self.under_way.pop_first().unwrap();
                self.call(host, |end, cx| end.on_packet(cx, RxMeta { stamp, noise: Span::ZERO }, &packet));
            }
            What::Line(host) => self.transmit(host),
            What::Timer(host) => {
                self.late[host] = (None, Time::NEVER);
                self.call(host, |end, cx| end.on_timer(cx));
            }
        }
    }

    fn call(&mut self, host: usize, what: impl FnOnce(&mut WindowEndpoint<C>, &mut Cx)) {
        let mut cx = Cx { now: self.now, clock: self.clocks[host], rng: &mut self.rng };
        what(&mut self.hosts[host], &mut cx);
        while let Some(event) = self.hosts[host].poll_event() {
            self.events.push((host, self.now, event));
        }
        if self.free[host][0] <= self.now {
            self.transmit(host);
        }
    }

    fn transmit(&mut self, host: usize) {
        let mut cx = Cx { now: self.now, clock: self.clocks[host], rng: &mut self.rng };
        self.waiting[host] = false;
        if let Tx::Send { packet, .. } = self.hosts[host].poll_transmit(&mut cx) {
            self.waiting[host] = true;
            let seen = SeenPacket { at: self.now, from: host, packet };
            self.log.push(seen);
            self.travel(seen);
        }
    }

    fn travel(&mut self, seen: SeenPacket) {
        let mut packet = seen.packet;
        let mut at = self.now;
        for (hop, free) in self.hops.iter().zip(&mut self.free[seen.from]) {
            at = at.max(*free) + hop.rate.serialize(packet.header.wire.into());
            *free = at;
            at += hop.delay;
        }
        let fate = (self.judge)(&seen);
        if fate == Fate::Drop || self.rng.chance(self.faults.loss) {
            return;
        }
        let mark = fate == Fate::Mark || self.rng.chance(self.faults.mark);
        if mark && packet.header.marks.has(Marks::ECN_CAPABLE) {
            packet.header.marks = packet.header.marks.with(Marks::CONGESTED);
        }
        let may_trim = packet.header.kind == Kind::Data && self.faults.trim > 0.0;
        if fate == Fate::Trim || may_trim && self.rng.chance(self.faults.trim) {
            packet.header.payload = 0;
            packet.header.marks = packet.header.marks.with(Marks::TRIMMED);
        }
        let copies = 1 + u64::from(self.rng.chance(self.faults.duplicate));
        for _ in 0..copies {
            let slow = self.rng.chance(self.faults.reorder);
            let extra = if slow { Span(self.rng.below(self.faults.jitter.0 + 1)) } else { Span::ZERO };
            self.count += 1;
            self.under_way.insert((at + extra, self.count), (1 - seen.from, packet));
        }
    }

    /// Reports of completed flows, in order.
    pub(crate) fn completed(&self) -> Vec<FlowReport> {
        let report = |(_, _, event): &(usize, Time, Event)| match event {
            Event::Completed(report) => Some(*report),
            _ => None,
        };
        self.events.iter().filter_map(report).collect()
    }

    /// Arrivals of last bytes, in order.
    pub(crate) fn delivered(&self) -> Vec<(FlowId, Time)> {
        let delivery = |(_, _, event): &(usize, Time, Event)| match event {
            Event::Delivered { flow, at, .. } => Some((*flow, *at)),
            _ => None,
        };
        self.events.iter().filter_map(delivery).collect()
    }

    /// Payload packets that left `host`, as (time, offset).
    pub(crate) fn data(&self, host: usize) -> Vec<(Time, u64)> {
        let data = self.log.iter().filter(|s| s.from == host && s.packet.header.kind == Kind::Data);
        data.map(|s| (s.at, s.packet.header.offset.get())).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    Open,
    Arrival,
    Line(usize),
    Timer(usize),
}

/// A flow of `size` bytes from host 0 to host 1, opened at 0.
pub(crate) fn flow(id: u32, size: u64) -> FlowSpec {
    FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(size))
}

/// One hop of 10 Gbps and 5 us.
pub(crate) const PLAIN: [Hop; 1] = [Hop { rate: Rate::from_gbps(10), delay: Span::from_us(5) }];

/// 1000 B of payload in 1000 B on the line, control packets without size.
pub(crate) const UNIT: Frame = Frame { mtu: 1000, header: 0, link: 0, minimum: 0, gap: 0, ack: 0, syn: 0 };

/// One hop on which a `UNIT` segment takes 1 us and the way 10 us: an ACK is back 21 us after its segment.
pub(crate) const UNIT_HOP: [Hop; 1] = [Hop { rate: Rate::from_gbps(8), delay: Span::from_us(10) }];

/// NewReno with a first window of `segments` of `UNIT`.
pub(crate) fn unit_reno(segments: u64) -> new_reno::Config {
    new_reno::Config { init_window: Some(segments * 1000) }
}

/// Payload at once, in `UNIT` segments; timeouts of at least 200 us, 500 us without a sample.
pub(crate) fn unit_config(recovery: LossRecovery) -> Config {
    Config {
        handshake: Handshake::None,
        recovery,
        min_rto: Span::from_us(200),
        initial_rto: Span::from_us(500),
        ..Config::new(UNIT)
    }
}

/// Drops the first transmission of each of these segments.
pub(crate) fn drop_once(segments: Vec<u64>) -> impl FnMut(&SeenPacket) -> Fate {
    once(segments, Fate::Drop)
}

/// Gives `fate` to one transmission of each of these segments, as often as the segment is in the list.
pub(crate) fn once(mut segments: Vec<u64>, fate: Fate) -> impl FnMut(&SeenPacket) -> Fate {
    move |seen| {
        let header = &seen.packet.header;
        let at = segments.iter().position(|&s| s * 1000 == header.offset.get() && header.kind == Kind::Data);
        at.map_or(Fate::Pass, |i| {
            segments.remove(i);
            fate
        })
    }
}
