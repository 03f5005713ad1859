//! A host: a transport, the applications' agenda, and a line that asks for packets.
//!
//! A host's transport is never lazy. After every call to it the host asks for packets until the line is busy or the
//! transport has nothing to send now; what remains to be done at a later instant is its *next local event*: the line
//! becoming free, a control message, a flow to start, a timer. A transmit queue is served lazily by an engine that
//! serves ports lazily, unless it holds a packet whose departure the transport wants to know.

mod pause;

use std::sync::Arc;

use priolane_core::endpoint::{
    Control, Cx, Endpoint, Event, FlowReport, FlowSpec, LocalClock, RxMeta, SendId, Tx, Weights,
};
use priolane_core::ids::{CLASSES, ClassSet, FlowId, HostId};
use priolane_core::noise::DelayNoise;
use priolane_core::packet::{self, Body, Header, Marks, Packet};
use priolane_core::port::Admission;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::collector::Collector;
use super::counts::Counts;
use super::estimator::Estimator;
use super::fabric::Fabric;
use super::gate::Gate;
use super::line::Line;
use super::machines::Machines;
use super::nic::{Outgoing, TransmitQueue};
use super::reactions::{Aborted, Reactions};
use super::switch::queue_of;
use crate::engine::control_plane::Told;
use crate::outcome::{FlowSample, RunError, Sample, Tally};
use crate::scenario::{Nic, Scenario, ScheduledControl};
use crate::trace::{Backlog, Seen};
use crate::waits::News;
use crate::wire::{Due, Kind, Service, Wire};
use pause::Pausing;

/// What the transport answered when it was last asked for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pull {
    /// Nothing to send until something happens.
    Idle,
    /// Ask when the line is free.
    Ask,
    /// Ask at this instant.
    NotBefore(Time),
    /// Not before the packet that is kept has gone: its class is paused.
    Kept,
}

/// What the applications and the experiment do at this host, in order of time.
#[derive(Debug, Default)]
struct Agenda {
    /// Flows that start here: when, and index in the flow list.
    opens: Vec<(Time, u32)>,
    next_open: usize,
    controls: Vec<ScheduledControl>,
    next_control: usize,
    /// Flows that will be aborted and have not ended yet.
    doomed: Vec<FlowId>,
    /// Where thresholds follow the workload.
    estimator: Option<Box<Estimator>>,
    /// Where flows wait for others.
    reactions: Option<Box<Reactions>>,
    /// Where machines pay for their flows together.
    machines: Option<Box<Machines>>,
    /// Where flows do not simply get the class they ask for.
    gate: Option<Box<Gate>>,
}

impl Agenda {
    fn next(&self) -> Due {
        let control = self.controls.get(self.next_control);
        let open = self.next_open();
        let control = control.map_or(Due::NEVER, |control| Due::new(control.at, Kind::Control));
        let adapt = self.estimator.as_ref().map_or(Due::NEVER, |e| Due::new(e.next(), Kind::Control));
        let share = self.machines.as_ref().map_or(Due::NEVER, |m| Due::new(m.due(), Kind::Control));
        control.min(adapt).min(share).min(open.map_or(Due::NEVER, |(start, _)| Due::new(start, Kind::Open)))
    }

    /// The next flow to start, by its index in the flow list, and when.
    fn next_open(&self) -> Option<(Time, u32)> {
        let planned = self.opens.get(self.next_open).copied();
        let Some(reactions) = &self.reactions else { return planned };
        let released = reactions.next().map(|(start, flow)| (start, flow.0));
        [planned, released].into_iter().flatten().min()
    }

    /// A flow that has not started shall not.
    fn cancel(&mut self, flow: FlowId) {
        let planned = self.opens[self.next_open..].iter().position(|&(_, f)| f == flow.0);
        if let Some(ahead) = planned {
            self.opens.remove(self.next_open + ahead);
        }
    }

    /// The next flow starts.
    fn open_next(&mut self, flows: &[FlowSpec]) -> Option<FlowSpec> {
        let (start, flow) = self.next_open()?;
        match &mut self.reactions {
            Some(reactions) if reactions.next() == Some((start, FlowId(flow))) => reactions.start_next(),
            _ => self.next_open += 1,
        }
        Some(FlowSpec { start, ..flows[flow as usize] })
    }
}

/// What the transmit queue holds.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    /// Those whose departure the transport wants to know.
    named: u32,
    /// Whether the queue may hold packets back: then each departure is an event, at an instant that the queue knows.
    limited: bool,
}

impl Waiting {
    #[inline]
    fn add(&mut self, id: Option<SendId>) {
        self.packets += 1;
        self.named += u32::from(id.is_some());
    }

    #[inline]
    fn remove(&mut self, id: Option<SendId>) {
        self.packets -= 1;
        self.named -= u32::from(id.is_some());
    }

    /// Whether the next departure is an event of its own.
    #[inline]
    fn is_event<W: Wire<B>, B: Body>(self) -> bool {
        self.named > 0 || ((W::SERVICE == Service::Eager || self.limited) && self.packets > 0)
    }
}

/// A host with the transport `E`.
#[derive(Debug)]
pub(crate) struct Host<E: Endpoint> {
    host: HostId,
    endpoint: E,
    rng: Stream,
    clock: LocalClock,
    noise: Option<Noise>,
    processing: Span,
    line: Line,
    queue: Option<TransmitQueue<E::Body>>,
    waiting: Waiting,
    counts: Counts,
    /// Classes that the switch has paused.
    paused: ClassSet,
    /// Where it ever paused any.
    pausing: Option<Box<Pausing<E::Body>>>,
    pull: Pull,
    agenda: Agenda,
    /// What is next on the agenda.
    due: Due,
    /// When the line takes the next packet or the transport is asked for one.
    departure: Due,
    delivered: Vec<(FlowId, Time, u64)>,
    completed: Vec<FlowReport>,
    reports: Vec<FlowSample>,
    exchanged: [Exchanged; CLASSES],
}

/// What the host adds to the delays that it measures.
#[derive(Debug)]
struct Noise {
    of: DelayNoise,
    stream: Stream,
}

impl Noise {
    fn new(scenario: &Scenario, host: HostId) -> Option<Self> {
        let of = scenario.measuring.noise.clone()?;
        Some(Self { of, stream: Stream::new(scenario.seed, Purpose::DelayNoise, u64::from(host.0)) })
    }

    /// The error of what `header` reports; only answers report a delay.
    fn of(&mut self, header: &Header) -> Span {
        match header.kind {
            packet::Kind::Ack | packet::Kind::SynAck => self.of.sample(&mut self.stream),
            packet::Kind::Probe if header.marks.has(Marks::ECHO) => self.of.sample(&mut self.stream),
            _ => Span::ZERO,
        }
    }
}

/// How far the clock of `host` is off.
fn clock(scenario: &Scenario, host: HostId) -> LocalClock {
    let error = scenario.measuring.clock_error.0;
    let drawn =
        Stream::new(scenario.seed, Purpose::Clock, u64::from(host.0)).below(error.saturating_mul(2) + 1);
    LocalClock { offset_ps: drawn.cast_signed() - error.cast_signed() }
}

/// What a host's transport made and took of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchanged {
    pub(crate) made: Tally,
    pub(crate) taken: Tally,
}

impl<E: Endpoint> Host<E> {
    /// The idle host `host`.
    pub(crate) fn new(fabric: &Fabric, host: HostId, mut endpoint: E) -> Self {
        let scenario = fabric.scenario;
        let line = fabric.egress_links[host.index()][0];
        let queue = match &scenario.nic {
            Nic::Pull => None,
            Nic::Queue { port, sort_by } => {
                Some(TransmitQueue::new(port, *sort_by, scenario.topology.host_capacity(host)))
            }
        };
        let limited = queue.as_ref().is_some_and(TransmitQueue::is_limited);
        endpoint.attach(scenario.topology.host_capacity(host));
        let estimator =
            scenario.adaptation.as_ref().map(|a| Box::new(Estimator::new(host, a, scenario.seed)));
        let (machines, gate) = (Machines::new(scenario), Gate::new(scenario, host));
        let agenda = Agenda { estimator, machines, gate, ..Agenda::default() };
        Self {
            host,
            endpoint,
            rng: Stream::new(scenario.seed, Purpose::Endpoint, u64::from(host.0)),
            clock: clock(scenario, host),
            noise: Noise::new(scenario, host),
            processing: scenario.host_delay,
            line: fabric.line(line),
            queue,
            waiting: Waiting { limited, ..Waiting::default() },
            counts: Counts::default(),
            paused: ClassSet::NONE,
            pausing: None,
            pull: Pull::Idle,
            due: agenda.next(),
            agenda,
            departure: Due::NEVER,
            delivered: Vec::new(),
            completed: Vec::new(),
            reports: Vec::new(),
            exchanged: [Exchanged::default(); CLASSES],
        }
    }

    /// Puts a flow, by its index in the flow list, on the agenda; in order of start.
    pub(crate) fn plan_open(&mut self, start: Time, flow: u32) {
        self.agenda.opens.push((start, flow));
        self.due = self.agenda.next();
    }

    /// Puts a control message on the agenda; in order of time.
    pub(crate) fn plan_control(&mut self, control: ScheduledControl) {
        self.agenda.controls.push(control);
        self.due = self.agenda.next();
        if control.control == Control::Abort && !self.agenda.doomed.contains(&control.flow) {
            self.agenda.doomed.push(control.flow);
        }
    }

    /// The next instant at which the host does something by itself, and what.
    #[inline]
    pub(crate) fn next_local(&self) -> Due {
        let next = self.due.min(self.departure);
        match self.endpoint.next_timeout() {
            Some(timer) => next.min(Due::new(timer, Kind::Timer)),
            None => next,
        }
    }

    /// When the next packet may leave, as of now.
    #[inline]
    fn next_departure<W: Wire<E::Body>>(&self) -> Due {
        let asked = match self.pull {
            Pull::Idle | Pull::Kept => Time::NEVER,
            Pull::Ask => self.line.free_at,
            Pull::NotBefore(t) if self.queue.is_some() => t,
            Pull::NotBefore(t) => t.max(self.line.free_at),
        };
        let waits = self.waiting.is_event::<W, _>() && self.may_serve();
        let queued = if waits { self.next_service() } else { Time::NEVER };
        Due::new(asked.min(queued), Kind::Departure)
    }

    /// When the transmit queue, which holds something, starts the next packet.
    #[inline]
    fn next_service(&self) -> Time {
        if !self.waiting.limited {
            return self.line.free_at;
        }
        self.queue.as_ref().map_or(Time::NEVER, |queue| queue.next_start().max(self.line.free_at))
    }

    /// Departures that are not events and were due by `limit` happen.
    #[inline]
    pub(crate) fn catch_up<W: Wire<E::Body>>(&mut self, limit: Time, wire: &mut W) {
        while self.waiting.packets > 0 && self.line.free_at <= limit && !self.waiting.is_event::<W, _>() {
            let start = self.line.free_at;
            let paused = self.paused;
            let Some(outgoing) = self.queue.as_mut().and_then(|queue| queue.start(start, paused)) else {
                return;
            };
            self.waiting.remove(None);
            self.counts.dequeued(start, outgoing.packet.header.class);
            self.line.transmit(start, &outgoing.packet, &mut self.counts, wire);
        }
    }

    /// When the host must live again if nothing arrives: its next local event, or a departure that is none.
    #[inline]
    pub(crate) fn next_life(&self) -> Time {
        let next = self.next_local().at();
        let lazy = self.waiting.packets > 0 && !self.waiting.limited && self.may_serve();
        if lazy { next.min(self.line.free_at) } else { next }
    }

    /// Whether a transmit queue that holds something may serve it.
    #[inline]
    fn may_serve(&self) -> bool {
        self.paused == ClassSet::NONE || self.has_unpaused()
    }

    /// Does what `next_local` announced for `now`.
    pub(crate) fn run_local<W: Wire<E::Body>>(
        &mut self,
        scenario: &Scenario,
        now: Time,
        kind: Kind,
        wire: &mut W,
    ) {
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        match kind {
            Kind::Departure => {
                if let Pull::NotBefore(_) = self.pull {
                    self.pull = Pull::Ask;
                }
                self.pump(now, wire);
                return;
            }
            Kind::Open => {
                if let Some(mut flow) = self.agenda.open_next(&scenario.flows) {
                    if let Some(machines) = &mut self.agenda.machines {
                        flow.weights = machines.arrive(&flow, now);
                    }
                    if let Some(gate) = &mut self.agenda.gate {
                        flow.class = gate.open(&flow, now);
                    }
                    let path = || scenario.topology.empty_path(&scenario.frame, &flow, scenario.host_delay);
                    self.endpoint.open_on(cx, flow, &path);
                }
                self.due = self.agenda.next();
            }
            Kind::Control => self.control(scenario, now, wire),
            Kind::Timer | Kind::Arrival => self.endpoint.on_timer(cx),
        }
        self.settle(scenario, now, wire);
    }

    /// A control message takes effect or, if none does, the estimator has something to do.
    fn control<W: Wire<E::Body>>(&mut self, scenario: &Scenario, now: Time, wire: &mut W) {
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        let message = self.agenda.controls.get(self.agenda.next_control).copied();
        if let Some(message) = message.filter(|message| message.at <= now) {
            self.agenda.next_control += 1;
            self.endpoint.control(cx, message.flow, message.control);
            if message.control == Control::Abort {
                if let Some(gate) = &mut self.agenda.gate {
                    gate.aborted(message.flow);
                }
                self.end_doomed(message.flow, scenario, now, wire);
                self.departed(message.flow, scenario, now);
            }
        } else if self.agenda.machines.as_ref().is_some_and(|machines| machines.due() <= now) {
            let changes = self.agenda.machines.as_mut().map_or(Vec::new(), |m| m.changes(now));
            for (flow, Weights { theta, w_milli }) in changes {
                self.endpoint.control(cx, flow, Control::Weights { theta, w_milli });
            }
        } else if let Some(estimator) = &mut self.agenda.estimator {
            let adapted = estimator.run(now);
            adapted.thresholds.iter().for_each(|thresholds| self.endpoint.set_thresholds(cx, thresholds));
            if let Some(posted) = adapted.posted {
                wire.post(posted);
            }
        }
        self.due = self.agenda.next();
    }

    /// A flow ended: its machine has others to give its share to.
    fn departed(&mut self, flow: FlowId, scenario: &Scenario, now: Time) {
        if let Some(machines) = &mut self.agenda.machines {
            machines.depart(scenario.flows[flow.index()].group, flow, now);
            self.due = self.agenda.next();
        }
    }

    /// What the host does about flows that wait.
    pub(crate) fn reactions(&mut self) -> &mut Reactions {
        self.agenda.reactions.get_or_insert_default()
    }

    /// News is on its way here; when the flow that waits for it starts, if that is known now.
    pub(crate) fn hear(&mut self, news: &News) -> Option<Time> {
        let start = self.agenda.reactions.as_mut()?.hear(news)?;
        self.due = self.agenda.next();
        Some(start)
    }

    /// A flow has been delivered here: the news goes to those who wait for it.
    fn spread<W: Wire<E::Body>>(&mut self, scenario: &Scenario, flow: FlowId, now: Time, wire: &mut W) {
        let Some(reactions) = &self.agenda.reactions else { return };
        let sent: Vec<News> = reactions.news(flow, now).collect();
        for news in &sent {
            if news.to != self.host {
                wire.notify(*news);
            } else if self.hear(news).is_some() && scenario.flows[news.flow.index()].size.is_some() {
                wire.flow_awaited();
            }
        }
    }

    /// New thresholds are on their way here.
    pub(crate) fn tell(&mut self, told: &Told) {
        if let Some(estimator) = &mut self.agenda.estimator {
            estimator.tell(told.at, Arc::clone(&told.thresholds));
            self.due = self.agenda.next();
        }
    }

    /// An aborted flow is done unless it completed before.
    fn end_doomed<W: Wire<E::Body>>(&mut self, flow: FlowId, scenario: &Scenario, now: Time, wire: &mut W) {
        let doomed = &mut self.agenda.doomed;
        if let Some(i) = doomed.iter().position(|&f| f == flow) {
            doomed.swap_remove(i);
            if let Some(reactions) = &mut self.agenda.reactions
                && reactions.abort(flow) == Aborted::Waiting
            {
                return;
            }
            self.agenda.cancel(flow);
            if scenario.flows[flow.index()].size.is_some() {
                wire.flow_done(now);
            }
        }
    }

    /// A packet arrived and has been processed at `now`.
    #[inline]
    pub(crate) fn arrive<W: Wire<E::Body>>(
        &mut self,
        scenario: &Scenario,
        now: Time,
        packet: &Packet<E::Body>,
        wire: &mut W,
    ) {
        if packet.header.kind == packet::Kind::Pause {
            return self.pause(now, packet, wire);
        }
        self.exchanged[usize::from(packet.header.class) % CLASSES].taken.add(packet.header.wire);
        let noise = self.noise.as_mut().map_or(Span::ZERO, |noise| noise.of(&packet.header));
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        self.endpoint.on_packet(cx, RxMeta { stamp: now - self.processing, noise }, packet);
        self.settle(scenario, now, wire);
    }

    /// After a call to the transport: its events, then its packets.
    #[inline]
    fn settle<W: Wire<E::Body>>(&mut self, scenario: &Scenario, now: Time, wire: &mut W) {
        wire.observe(|| Seen::Called { host: self.host, at: now, endpoint: &self.endpoint });
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Delivered { flow, at, missing } => {
                    self.delivered.push((flow, at, missing));
                    self.spread(scenario, flow, now, wire);
                }
                Event::Completed(report) => {
                    if let Some(estimator) = &mut self.agenda.estimator {
                        estimator.observe(report.bytes);
                    }
                    if let Some(gate) = &mut self.agenda.gate {
                        gate.completed(&report, now);
                    }
                    self.completed.push(report);
                    self.departed(report.flow, scenario, now);
                    self.agenda.doomed.retain(|&f| f != report.flow);
                    if scenario.flows[report.flow.index()].size.is_some() {
                        wire.flow_done(now);
                    }
                }
                Event::Report(report) => self.reported(scenario, &report, now),
                _ => {}
            }
        }
        if self.pull != Pull::Kept {
            self.pull = Pull::Ask;
        }
        self.pump(now, wire);
    }

    /// A monitor interval of a flow ended.
    fn reported(&mut self, scenario: &Scenario, report: &FlowReport, now: Time) {
        let &FlowReport { flow, bytes, .. } = report;
        if scenario.rates_every.is_some() {
            self.reports.push(FlowSample { at: now, flow, acked_bytes: bytes });
        }
        if let Some(control) = self.agenda.gate.as_mut().and_then(|gate| gate.report(report, now)) {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.control(cx, flow, control);
        }
    }

    /// Asks for packets and puts them on the line for as long as both are willing.
    #[inline]
    fn pump<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        if self.queue.is_some() {
            self.fill(now, wire);
            self.serve_queue(now, wire);
        } else {
            self.pull(now, wire);
        }
        self.departure = self.next_departure::<W>();
    }

    /// Without a transmit queue: the free line asks.
    #[inline]
    fn pull<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        while self.pull == Pull::Ask && self.line.free_at <= now {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            match self.endpoint.poll_transmit(cx) {
                Tx::Send { packet, id } => {
                    self.exchanged[usize::from(packet.header.class) % CLASSES].made.add(packet.header.wire);
                    wire.observe(|| Seen::Made { at: now, packet });
                    wire.observe(|| self.offered(now, &packet.header));
                    wire.observe(|| Seen::Admitted(Admission::Queued));
                    if self.paused.has(packet.header.class) {
                        return self.keep(now, Outgoing { packet, id });
                    }
                    self.line.transmit(now, &packet, &mut self.counts, wire);
                    if let Some(id) = id {
                        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                        self.endpoint.on_sent(cx, id, now);
                    }
                }
                other => self.wait(other, now, wire),
            }
        }
    }

    /// Notes an answer other than a packet.
    #[inline]
    fn wait<W: Wire<E::Body>>(&mut self, answer: Tx<E::Body>, now: Time, wire: &mut W) {
        self.pull = match answer {
            Tx::NotBefore(t) if t > now => Pull::NotBefore(t),
            Tx::NotBefore(_) => {
                wire.violated(self.asked_for_the_past(now));
                Pull::Idle
            }
            Tx::Idle | Tx::Send { .. } => Pull::Idle,
        };
    }

    #[cold]
    fn asked_for_the_past(&self, now: Time) -> RunError {
        RunError::Violation {
            what: "a transport asked to wait until an instant that has passed".into(),
            at: now,
            place: format!("host {}", self.host.0),
        }
    }

    /// Moves what the transport wants to send into the transmit queue, or past it where nothing is before it.
    fn fill<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        while self.pull == Pull::Ask {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            let mut outgoing = match self.endpoint.poll_transmit(cx) {
                Tx::Send { packet, id } => Outgoing { packet, id },
                other => return self.wait(other, now, wire),
            };
            let Header { class, wire: size, .. } = outgoing.packet.header;
            self.expire(now, wire);
            self.exchanged[usize::from(class) % CLASSES].made.add(size);
            wire.observe(|| Seen::Made { at: now, packet: outgoing.packet });
            wire.observe(|| self.offered(now, &outgoing.packet.header));
            let Some(queue) = &mut self.queue else { return };
            let paused = self.paused.has(class);
            let idle = self.line.free_at <= now && self.waiting.packets == 0 && !paused;
            let passed = if idle { queue.pass(now, &outgoing.packet.header) } else { None };
            let admission = passed.unwrap_or_else(|| queue.enqueue(now, &outgoing));
            while let Some(Outgoing { packet, id }) = queue.pop_evicted() {
                wire.observe(|| Seen::Evicted { link: self.line.link, header: packet.header });
                self.waiting.remove(id);
                self.counts.evicted(now, packet.header.class, packet.header.wire);
                if let Some(id) = id {
                    let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                    self.endpoint.on_refused(cx, id);
                }
            }
            wire.observe(|| Seen::Admitted(admission));
            match admission {
                Admission::Dropped | Admission::Returned => {
                    self.counts.dropped(class, size);
                    if let Some(id) = outgoing.id {
                        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                        self.endpoint.on_refused(cx, id);
                    }
                    continue;
                }
                Admission::Marked => self.counts.marked(class),
                Admission::Queued => {}
            }
            if passed.is_some() {
                admission.mark(&mut outgoing);
                self.send(now, &outgoing, wire);
            } else {
                self.waiting.add(outgoing.id);
                self.counts.queued(now, class);
                if idle || self.paused != ClassSet::NONE {
                    self.line.free_at = self.line.free_at.max(now);
                }
            }
        }
    }

    /// What a packet of the transport finds in front of the line now.
    fn offered(&self, at: Time, header: &Header) -> Seen<'static, E::Body> {
        let (packets, bytes) = self.queue.as_ref().map_or((0, 0), TransmitQueue::backlog);
        Seen::Offered { link: self.line.link, at, header: *header, ahead: Backlog { packets, bytes } }
    }

    /// Puts a packet on the line.
    #[inline]
    fn send<W: Wire<E::Body>>(&mut self, now: Time, outgoing: &Outgoing<E::Body>, wire: &mut W) {
        self.line.transmit(now, &outgoing.packet, &mut self.counts, wire);
        if let Some(id) = outgoing.id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_sent(cx, id, now);
            self.pull = Pull::Ask;
        }
    }

    fn serve_queue<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        self.expire(now, wire);
        while self.waiting.packets > 0 && self.line.free_at <= now {
            let paused = self.paused;
            let Some(outgoing) = self.queue.as_mut().and_then(|q| q.start(now, paused)) else { return };
            self.waiting.remove(outgoing.id);
            self.counts.dequeued(now, outgoing.packet.header.class);
            self.line.transmit(now, &outgoing.packet, &mut self.counts, wire);
            if let Some(id) = outgoing.id {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                self.endpoint.on_sent(cx, id, now);
                self.pull = Pull::Ask;
                self.fill(now, wire);
            }
        }
    }

    /// Takes out of the transmit queue what has waited too long.
    #[inline]
    fn expire<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        if !self.waiting.limited {
            return;
        }
        while let Some(Outgoing { packet, id }) = self.queue.as_mut().and_then(|q| q.pop_expired(now)) {
            wire.observe(|| Seen::Evicted { link: self.line.link, header: packet.header });
            self.waiting.remove(id);
            self.counts.expired(now, packet.header.class, packet.header.wire);
        }
    }

    /// Whether the next sample will find something here.
    pub(crate) fn has_reading(&self) -> bool {
        self.waiting.packets > 0 || self.counts.unsampled_bytes() > 0
    }

    /// Reads transmit queue and line if the one holds something or the other sent something since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Vec<Sample>) {
        let (queued_packets, queued_bytes) = self.queue.as_ref().map_or((0, 0), TransmitQueue::backlog);
        let sent_by_class = self.counts.sample_bytes();
        let sent_bytes: u64 = sent_by_class.iter().sum();
        if queued_packets > 0 || sent_bytes > 0 {
            samples.push(Sample {
                at,
                link: self.line.link,
                queued_bytes,
                queued_packets,
                sent_bytes,
                sent_by_class,
            });
        }
    }

    /// Hands over what the run leaves.
    pub(crate) fn finish(&mut self, fabric: &Fabric, at: Time, out: &mut Collector) {
        let queues = match &fabric.scenario.nic {
            Nic::Pull => crate::scenario::Queues::Fifo,
            Nic::Queue { port, .. } => port.queues,
        };
        if let Some(packet) = self.end_pauses(at) {
            out.resident(&packet.header);
        }
        out.port(&self.counts, self.line.link, at, &|class| queue_of(&queues, class));
        out.host(&self.exchanged);
        self.agenda.reactions.iter().for_each(|reactions| out.started(reactions.started()));
        self.agenda.gate.iter().for_each(|gate| out.admitted(gate));
        self.delivered.iter().for_each(|&(flow, at, missing)| out.delivered(flow, at, missing));
        self.completed.iter().for_each(|report| out.completed(report));
        self.reports.iter().for_each(|&report| out.reported(report));
        if let Some(queue) = &mut self.queue {
            queue.drain(at, |header| out.resident(header));
        }
    }
}
