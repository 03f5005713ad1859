//! Two hosts and a network between them that carries bytes, loses, repeats, delays and reorders them. Each host has a clock of its
//! own and is scheduled late.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use priolane_core::endpoint::{
    Command, Cx, Endpoint, Event, FlowRequest, LocalClock, LocalHost, PathInfo, RealHost, Rejection, RxMeta,
    Tx,
};
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Rate, Span, Time};
use priolane_core::wire::{EcnCodepoint, RecvMeta, WireBody};

use crate::transports::codec;

/// The secret with which the hosts hash.
pub(crate) const SECRET: u64 = 0x9e37_79b9_7f4a_7c15;

/// The network between the two hosts, each way: a line, then a delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) line: Rate,
    pub(crate) delay: Span,
    /// Parts of the datagrams that are lost, that come twice, and that are held up for so long.
    pub(crate) lost: f64,
    pub(crate) twice: f64,
    pub(crate) held_up: (f64, Span),
    /// Part of the ECN-capable datagrams that are marked.
    pub(crate) marked: f64,
}

impl Network {
    /// A line of 1 Gbps and this delay; every datagram arrives once, in order and unmarked.
    pub(crate) const fn without_faults(delay: Span) -> Self {
        let line = Rate::from_gbps(1);
        Self { line, delay, lost: 0.0, twice: 0.0, held_up: (0.0, Span::ZERO), marked: 0.0 }
    }
}

/// A clock: what it is ahead of true time at the start, and parts per million that it gains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) ahead: Span,
    pub(crate) ppm: f64,
}

impl Clock {
    fn read(self, at: Time) -> Time {
        let gained = (at.0 as f64 * self.ppm / 1e6) as i64;
        Time((at + self.ahead).0.saturating_add_signed(gained))
    }

    /// Returns the earliest time at which the clock reads `reading` or more.
    fn when(self, reading: Time) -> Time {
        let since = reading.0.saturating_sub(self.ahead.0);
        let at = (since as f64 / (1.0 + self.ppm / 1e6)) as u64;
        let early = self.read(Time(at)).0;
        Time(at + reading.0.saturating_sub(early) + u64::from(early < reading.0))
    }
}

/// The scheduling of hosts: the lateness of timers, and that of one timer in a hundred.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) mostly: Span,
    pub(crate) rarely: Span,
}

impl Late {
    /// Every timer is on time.
    pub(crate) const NEVER: Self = Self { mostly: Span::ZERO, rarely: Span::ZERO };
}

/// Bytes of a flow at its receiver.
#[derive(Debug, Default)]
struct ReceiverState {
    bytes: Vec<u8>,
    here: Vec<bool>,
    handed_out: u64,
    delivered: bool,
}

/// A flow at its sender.
#[derive(Debug)]
struct SenderState {
    size: u64,
    acked: u64,
    completed: Option<Time>,
}

pub(crate) struct Host<E: Endpoint> {
    id: HostId,
    pub(crate) endpoint: E,
    rng: Stream,
    clock: Clock,
    line_free: Time,
    /// The times at which the host looks for something to send, and at which its timer is served; true time.
    pull: Option<Time>,
    timer: Option<Time>,
    sent: HashMap<FlowId, SenderState>,
    received: HashMap<FlowId, ReceiverState>,
    /// Flows to it that its endpoint forgot.
    forgotten: Vec<FlowId>,
    /// Packets of flows that its endpoint does not receive, by flow.
    rejected: Vec<(FlowId, Rejection)>,
    /// The number of times that the endpoint gave up asking a sender.
    unanswered: usize,
}

pub(crate) struct Net<E: Endpoint> {
    pub(crate) hosts: [Host<E>; 2],
    network: Network,
    late: Late,
    pub(crate) now: Time,
    draw: Stream,
    under_way: BTreeMap<(Time, u64), (usize, Datagram)>,
    count: u64,
    /// Every datagram that was sent, when, and by whom.
    pub(crate) log: Vec<(Time, usize, Datagram)>,
    /// Whether hosts send at all.
    pub(crate) sending: [bool; 2],
    name: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Datagram {
    pub(crate) bytes: Vec<u8>,
    class: Class,
    ecn: EcnCodepoint,
    wire: u16,
}

/// Bytes drawn at random, then the first [`CHUNK`] of them again.
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut draw = Stream::new(6, Purpose::Loss, 0);
    let mut noise: Vec<u8> = (0..PERIOD).map(|_| draw.below(256) as u8).collect();
    noise.extend_from_within(..CHUNK);
    noise
});

/// After how many bytes a flow repeats itself, and the longest part of one that is read at once.
const PERIOD: usize = 65_521;
const CHUNK: usize = 4_096;

/// Returns the bytes of a flow from an offset on, `CHUNK` of them, which are compared and copied as a whole.
fn pattern(src: HostId, flow: FlowId, offset: usize) -> &'static [u8] {
    let start = (offset + 7_919 * flow.0 as usize + 104_729 * src.index()) % PERIOD;
    &NOISE[start..start + CHUNK]
}

impl<E: Endpoint<Body: WireBody>> Net<E> {
    pub(crate) fn new(
        name: &str,
        make: impl Fn(LocalHost) -> E,
        real: RealHost,
        (network, late): (Network, Late),
        clocks: [Clock; 2],
    ) -> Self {
        let host = |id: u16| {
            let local = LocalHost { real: Some(real), ..LocalHost::real(HostId(id), network.line, SECRET) };
            Host {
                id: HostId(id),
                endpoint: make(local),
                rng: Stream::new(1, Purpose::Endpoint, u64::from(id)),
                clock: clocks[usize::from(id)],
                line_free: Time::ZERO,
                pull: None,
                timer: None,
                sent: HashMap::new(),
                received: HashMap::new(),
                forgotten: Vec::new(),
                rejected: Vec::new(),
                unanswered: 0,
            }
        };
        Self {
            hosts: [host(0), host(1)],
            network,
            late,
            now: Time(1_000_000),
            draw: Stream::new(5, Purpose::Loss, 0),
            under_way: BTreeMap::new(),
            count: 0,
            log: Vec::new(),
            sending: [true; 2],
            name: name.to_owned(),
        }
    }

    /// Starts a flow now.
    pub(crate) fn open(&mut self, from: usize, id: u32, size: u64, class: Class) {
        let now = self.hosts[from].clock.read(self.now);
        let dst = self.hosts[1 - from].id;
        let deadline = Some(now + Span::from_ms(50));
        let flow = FlowRequest { class, deadline, ..FlowRequest::new(FlowId(id), dst, Some(size), now) };
        let sent = SenderState { size, acked: 0, completed: None };
        let before = self.hosts[from].sent.insert(FlowId(id), sent);
        assert!(before.is_none_or(|before| before.completed.is_some()), "an id that is in use");
        self.call(from, |end, cx| end.open(cx, flow, &|| PathInfo::UNKNOWN));
        self.hosts[from].pull = Some(self.now);
    }

    /// Returns the time at which a flow completed at its sender.
    pub(crate) fn completed(&self, from: usize, id: u32) -> Option<Time> {
        self.hosts[from].sent.get(&FlowId(id))?.completed
    }

    /// Whether all of a flow is delivered to its receiver.
    pub(crate) fn delivered(&self, at: usize, id: u32) -> bool {
        self.hosts[at].received.get(&FlowId(id)).is_some_and(|flow| flow.delivered)
    }

    /// The flows of which packets came that the endpoint of a host does not receive.
    pub(crate) fn rejected(&self, at: usize) -> &[(FlowId, Rejection)] {
        &self.hosts[at].rejected
    }

    /// Returns the number of times that the endpoint of a host gave up asking a sender.
    pub(crate) fn unanswered(&self, at: usize) -> usize {
        self.hosts[at].unanswered
    }

    /// The flows that the endpoint of a host forgot.
    pub(crate) fn forgotten(&self, at: usize) -> &[FlowId] {
        &self.hosts[at].forgotten
    }

    /// Bytes of a flow that its receiver can read.
    pub(crate) fn readable(&self, at: usize, id: u32) -> u64 {
        self.hosts[at].received.get(&FlowId(id)).map_or(0, |flow| flow.handed_out)
    }

    /// A host starts again: its endpoint knows nothing, and its flows are no more.
    pub(crate) fn restart(&mut self, at: usize, make: impl Fn(LocalHost) -> E, real: RealHost) {
        let id = self.hosts[at].id;
        let local = LocalHost { real: Some(real), ..LocalHost::real(id, self.network.line, SECRET) };
        let host = &mut self.hosts[at];
        (host.endpoint, host.timer, host.pull) = (make(local), None, None);
        host.sent.clear();
    }

    /// Passes a command to the endpoint of a host.
    pub(crate) fn control(&mut self, at: usize, command: Command<'_>) {
        self.call(at, |end, cx| end.control(cx, command));
        self.hosts[at].pull = Some(self.now);
    }

    /// Loses all datagrams that are on their way.
    pub(crate) fn lose_all(&mut self) {
        self.under_way.clear();
    }

    /// Whether all flows completed and were delivered.
    pub(crate) fn is_done(&self) -> bool {
        let done = |host: &Host<E>| host.sent.values().all(|flow| flow.completed.is_some());
        let here = |host: &Host<E>| host.received.values().all(|flow| flow.delivered);
        self.hosts.iter().all(|host| done(host) && here(host))
    }

    /// Every flow's state, where they are not done.
    pub(crate) fn unfinished(&self) -> String {
        let of = |host: &Host<E>| {
            let sent = host.sent.iter().filter(|(_, flow)| flow.completed.is_none());
            let received = host.received.iter().filter(|(_, flow)| !flow.delivered);
            let received: Vec<_> = received.map(|(id, flow)| (*id, flow.handed_out)).collect();
            format!("{:?} sends {:?}, receives {received:?}; ", host.id, sent.collect::<Vec<_>>())
        };
        format!("{} at {:?}: {}{}", self.name, self.now, of(&self.hosts[0]), of(&self.hosts[1]))
    }

    /// Forgets what applications had, so that ids can be used again.
    pub(crate) fn forget_flows(&mut self) {
        for host in &mut self.hosts {
            host.sent.clear();
            host.received.clear();
        }
    }

    fn call<T>(&mut self, at: usize, what: impl FnOnce(&mut E, &mut Cx) -> T) -> T {
        let Host { endpoint, rng, clock, .. } = &mut self.hosts[at];
        let out = what(endpoint, &mut Cx { now: clock.read(self.now), clock: LocalClock::default(), rng });
        while let Some(event) = self.hosts[at].endpoint.poll_event() {
            self.learn(at, &event);
        }
        let host = &mut self.hosts[at];
        let due = host.endpoint.next_timeout().map(|due| host.clock.when(due));
        let late = if self.draw.chance(0.01) { self.late.rarely } else { self.late.mostly };
        host.timer = due.map(|due| (due + late).max(self.now));
        out
    }

    fn learn(&mut self, at: usize, event: &Event) {
        let name = &self.name;
        match *event {
            Event::Readable { src, flow, bytes } => {
                let received = self.hosts[at].received.get_mut(&flow).expect("a flow with bytes");
                assert!(bytes > received.handed_out, "{name}: {event:?} after {}", received.handed_out);
                for start in (received.handed_out as usize..bytes as usize).step_by(CHUNK) {
                    let range = start..(start + CHUNK).min(bytes as usize);
                    let here = received.here.get(range.clone());
                    assert!(here == Some(&[true; CHUNK][..range.len()]), "{name}: {event:?}, not all came");
                    let expected = &pattern(src, flow, start)[..range.len()];
                    assert!(received.bytes[range] == *expected, "{name}: {event:?}, other bytes");
                }
                received.handed_out = bytes;
            }
            Event::Forgotten { flow, .. } => self.hosts[at].forgotten.push(flow),
            Event::Rejected { flow, why, .. } => self.hosts[at].rejected.push((flow, why)),
            Event::Unanswered { .. } => self.hosts[at].unanswered += 1,
            Event::Delivered { src, flow, missing, .. } => {
                let size = self.hosts[src.index()].sent[&flow].size;
                let received = self.hosts[at].received.get_mut(&flow).expect("a flow with bytes");
                assert!(!received.delivered, "{name}: {event:?} twice");
                assert_eq!((received.handed_out, missing), (size, 0), "{name}: {event:?}");
                received.delivered = true;
            }
            Event::Acked { flow, bytes } => {
                let readable = self.hosts[1 - at].received[&flow].handed_out;
                let sent = self.hosts[at].sent.get_mut(&flow).expect("a flow that was opened");
                assert!(bytes > sent.acked && bytes <= readable, "{name}: {event:?}, {readable} readable");
                sent.acked = bytes;
            }
            Event::Completed(report) => {
                assert!(self.hosts[1 - at].received[&report.flow].delivered, "{name}: {event:?} too early");
                let sent = self.hosts[at].sent.get_mut(&report.flow).expect("a flow that was opened");
                assert_eq!(sent.completed, None, "{name}: {event:?} twice");
                sent.completed = Some(self.now);
            }
            _ => {}
        }
    }

    /// A datagram arrives at a host, as its runtime takes it: bytes first.
    pub(crate) fn receive(&mut self, at: usize, datagram: &Datagram) {
        let (src, dst) = (self.hosts[1 - at].id, self.hosts[at].id);
        let reading = self.hosts[at].clock.read(self.now);
        let meta = RecvMeta { src, dst, class: datagram.class, ecn: datagram.ecn, at: reading };
        let (packet, payload) =
            codec::<E::Body>().decode(&datagram.bytes, &meta).expect("an honest datagram");
        let start = packet.header.offset.get() as usize;
        if !payload.is_empty() {
            let received = self.hosts[at].received.entry(packet.header.flow).or_default();
            let end = start + payload.len();
            while received.bytes.len() < end {
                let more = (end - received.bytes.len()).min(CHUNK);
                received.bytes.extend_from_slice(&[0; CHUNK][..more]);
                received.here.extend_from_slice(&[false; CHUNK][..more]);
            }
            received.bytes[start..end].copy_from_slice(payload);
            received.here[start..end].copy_from_slice(&[true; CHUNK][..payload.len()]);
        }
        self.call(at, |end, cx| end.on_packet(cx, RxMeta { stamp: reading, noise: Span::ZERO }, &packet));
        self.hosts[at].pull = Some(self.now);
    }

    /// Runs until `limit`, or until nothing more happens.
    pub(crate) fn run(&mut self, limit: Time) {
        loop {
            let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
            let of = |get: fn(&Host<E>) -> Option<Time>| {
                (0..2).filter_map(|h| get(&self.hosts[h]).map(|at| (at, h))).min()
            };
            let (timer, pull) = (of(|host| host.timer), of(|host| host.pull));
            let next = [arrival, timer.map(|(at, _)| at), pull.map(|(at, _)| at)].into_iter().flatten().min();
            let Some(at) = next.filter(|&at| at <= limit) else {
                self.now = self.now.max(limit);
                return;
            };
            self.now = self.now.max(at);
            if arrival == Some(at) {
                let (_, (host, datagram)) = self.under_way.pop_first().unwrap();
                self.receive(host, &datagram);
            } else if let Some((_, host)) = timer.filter(|&(due, _)| due == at) {
                self.call(host, |end, cx| end.on_timer(cx));
                self.hosts[host].pull = Some(self.now);
            } else if let Some((_, host)) = pull {
                self.transmit(host);
            }
        }
    }

    /// A host looks for a packet to send.
    fn transmit(&mut self, from: usize) {
        self.hosts[from].pull = None;
        if !self.sending[from] {
            return;
        }
        if self.hosts[from].line_free > self.now {
            self.hosts[from].pull = Some(self.hosts[from].line_free);
            return;
        }
        match self.call(from, |end, cx| end.poll_transmit(cx)) {
            Tx::Send { packet, .. } => {
                let reading = self.hosts[from].clock.read(self.now);
                let mut buffer = [0; 256];
                let len = codec::<E::Body>().encode(&packet, reading, &mut buffer).expect("it can be sent");
                let header = packet.header;
                let payload = pattern(self.hosts[from].id, header.flow, header.offset.get() as usize);
                let datagram = Datagram {
                    bytes: [&buffer[..len], &payload[..usize::from(header.payload)]].concat(),
                    class: header.class,
                    ecn: EcnCodepoint::of(header.marks),
                    wire: header.wire.max(84),
                };
                self.log.push((self.now, from, datagram.clone()));
                self.carry(from, datagram);
                self.hosts[from].pull = Some(self.hosts[from].line_free);
            }
            Tx::NotBefore(at) => {
                let late = if self.draw.chance(0.01) { self.late.rarely } else { self.late.mostly };
                self.hosts[from].pull = Some(self.hosts[from].clock.when(at).max(self.now + Span(1)) + late);
            }
            Tx::Idle => {}
        }
    }

    /// A host sends all that waits, now; how many packets.
    pub(crate) fn drain(&mut self, from: usize) -> usize {
        let before = self.log.len();
        loop {
            self.hosts[from].line_free = self.now;
            let sent = self.log.len();
            self.transmit(from);
            if self.log.len() == sent {
                self.hosts[from].pull = Some(self.now);
                return sent - before;
            }
        }
    }

    fn carry(&mut self, from: usize, mut datagram: Datagram) {
        let Network { line, delay, lost, twice, held_up, marked } = self.network;
        let sent = self.now + line.serialize(u64::from(datagram.wire));
        self.hosts[from].line_free = sent;
        if self.draw.chance(lost) {
            return;
        }
        if datagram.ecn == EcnCodepoint::Ect0 && self.draw.chance(marked) {
            datagram.ecn = EcnCodepoint::Ce;
        }
        let copies = 1 + u32::from(self.draw.chance(twice));
        for _ in 0..copies {
            let held = if self.draw.chance(held_up.0) { held_up.1 } else { Span::ZERO };
            self.count += 1;
            self.under_way.insert((sent + delay + held, self.count), (1 - from, datagram.clone()));
        }
    }
}
