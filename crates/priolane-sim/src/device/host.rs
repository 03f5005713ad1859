//! A host: a transport, a schedule, and a line that asks for packets.
//!
//! A host's transport is never lazy. After every call to it the host asks for packets until the line is busy or the
//! transport has nothing to send now; what remains to be done at a later instant is its *next local event*: the line
//! becoming free, a control message, a flow to start, a timer. A transmit queue is served lazily by an engine that
//! serves ports lazily, unless it holds a packet whose departure the transport wants to know.

mod departures;
mod measuring;
mod pause;
mod schedule;
mod state;

use priolane_core::endpoint::{Command, Control, Cx, Endpoint, Event, FlowReport, LocalClock, RxMeta, Stats};
use priolane_core::ids::{CLASSES, ClassSet, FlowId, HostId};
use priolane_core::packet::{self, Packet};
use priolane_core::port::PortFactory;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::fabric::Fabric;
use super::features::{Aborted, FeatureContext, Features, FlowEvent, HostMessage, TransportCommand};
use super::nic::{NicMode, Outgoing, TransmitQueue, transmit_queue};
use super::port::Port;
use crate::device::event_sink::{EventKey, EventSink, Kind};
use crate::model::scenario::{Nic, ScheduledControl};
use crate::observe::collector::Collector;
use crate::observe::counters::HostCounters;
use crate::observe::outcome::{FlowSample, Readings, Received};
use crate::observe::trace::TraceEvent;
use measuring::{Noise, clock};
use schedule::{HostSchedule, PendingAbort};
use state::{Pausing, Pull, Waiting};

/// A host with the transport `E`. In this order, what most packets need lies together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host<E: Endpoint> {
    /// The first of what is due, the departure and the transport's timer.
    next: EventKey,
    /// What is next in the schedule.
    due: EventKey,
    /// When the line takes the next packet or the transport is asked for one.
    departure: EventKey,
    pull: Pull,
    processing: Span,
    clock: LocalClock,
    waiting: Waiting,
    host: HostId,
    /// Classes that the switch has paused.
    paused: ClassSet,
    /// When the last flow of the list starts.
    last_start: Time,
    noise: Option<Box<Noise>>,
    nic: NicMode,
    /// The line and the transmit queue, which stays empty without one.
    port: Port<TransmitQueue<E::Body>>,
    received: Received,
    exchanged: [HostCounters; CLASSES],
    endpoint: E,
    schedule: HostSchedule,
    rng: Stream,
    /// Where the switch ever paused any class.
    pausing: Option<Box<Pausing<E::Body>>>,
}

impl<E: Endpoint> Host<E> {
    /// The idle host `host`.
    pub(crate) fn new(fabric: &Fabric, host: HostId, endpoint: E, features: Features) -> Self {
        let scenario = fabric.scenario;
        let line = fabric.egress_links[host.index()][0];
        let (nic, limited) = match &scenario.nic {
            Nic::Pull => (NicMode::Pull, false),
            Nic::Queue { port, .. } => (NicMode::Queue, port.discipline.is_limited()),
        };
        let schedule = HostSchedule::new(features);
        let mut idle = Self {
            host,
            endpoint,
            rng: Stream::new(scenario.seed, Purpose::Endpoint, u64::from(host.0)),
            clock: clock(scenario, host),
            noise: Noise::new(scenario, host).map(Box::new),
            processing: scenario.host_delay,
            nic,
            port: Port::new(fabric.line(line), transmit_queue(scenario, line)),
            waiting: Waiting { limited, ..Waiting::default() },
            paused: ClassSet::NONE,
            pausing: None,
            pull: Pull::Idle,
            due: schedule.next(),
            schedule,
            departure: EventKey::NEVER,
            next: EventKey::NEVER,
            exchanged: [HostCounters::default(); CLASSES],
            received: Received::default(),
            last_start: scenario.flows.last().map_or(Time::ZERO, |flow| flow.start),
        };
        idle.look_ahead();
        idle
    }

    /// So many flows will be planned.
    pub(crate) fn expect_opens(&mut self, flows: usize) {
        self.schedule.starts.expect(flows);
    }

    /// Plans the start of a flow, by its index in the flow list; in order of start.
    pub(crate) fn plan_open(&mut self, start: Time, flow: u32) {
        self.schedule.starts.plan(start, flow);
        self.replan();
    }

    /// Plans a control message; in order of time.
    pub(crate) fn plan_control(&mut self, control: ScheduledControl) {
        self.schedule.plan_control(control);
        self.replan();
    }

    /// The next instant at which the host does something by itself, and what.
    #[inline]
    pub(crate) fn next_event(&self) -> EventKey {
        self.next
    }

    /// The schedule has changed.
    fn replan(&mut self) {
        self.due = self.schedule.next();
        self.look_ahead();
    }

    /// What is due, the departure or the transport's timer has changed.
    #[inline]
    fn look_ahead(&mut self) {
        let next = self.due.min(self.departure);
        self.next = match self.endpoint.next_timeout() {
            Some(timer) => next.min(EventKey::new(timer, Kind::Timer)),
            None => next,
        };
    }

    /// When the host must run next if nothing arrives: its next local event, or a departure that is none.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let next = self.next_event().at();
        let lazy = self.waiting.packets > 0 && !self.waiting.limited && self.may_serve();
        if lazy { next.min(self.port.line.free_at) } else { next }
    }

    /// Does what `next_event` announced for `now`.
    pub(crate) fn run_event<W: EventSink<E::Body>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        kind: Kind,
        wire: &mut W,
    ) {
        match kind {
            Kind::Departure => {
                // What waited in the queue leaves before the transport is asked, as where departures are no events.
                self.serve(now, wire);
                if let Pull::NotBefore(_) = self.pull {
                    self.pull = Pull::Ask;
                }
                self.pump(now, wire);
                return;
            }
            Kind::Open => self.open_flow(fabric, now, wire),
            Kind::Control => self.control(fabric, now, wire),
            Kind::Timer | Kind::Arrival => {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                self.endpoint.on_timer(cx);
            }
        }
        self.settle(fabric, now, wire);
    }

    /// The next flow starts, unless a feature makes it wait.
    fn open_flow<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, wire: &mut W) {
        let scenario = fabric.scenario;
        let opened = self.call_features(fabric, now, wire, HostSchedule::open_next);
        if let Some(flow) = opened {
            let path = || scenario.topology.empty_path(&scenario.frame, &flow, scenario.host_delay).into();
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.open(cx, flow.request(), &path);
        }
    }

    /// A control message takes effect or, if none does, a feature has a timer.
    fn control<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, wire: &mut W) {
        match self.schedule.take_control(now) {
            Some(ScheduledControl { flow, control, .. }) => {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                self.endpoint.control(cx, Command::Flow(flow, control));
                if control == Control::Abort {
                    self.abort(flow, fabric, now, wire);
                }
                self.replan();
            }
            None => self.call_features(fabric, now, wire, HostSchedule::run_timer),
        }
    }

    /// A flow was aborted: it is done, unless it was before or still depended on others.
    fn abort<W: EventSink<E::Body>>(&mut self, flow: FlowId, fabric: &Fabric, now: Time, wire: &mut W) {
        let aborted = self.call_features(fabric, now, wire, |schedule, cx| {
            let aborted = schedule.features.iter_mut().map(|feature| feature.on_abort(flow, cx));
            aborted.fold(Aborted::Scheduled, Aborted::max)
        });
        if self.schedule.end(flow) == PendingAbort::Yes && aborted == Aborted::Scheduled {
            let flows = &fabric.scenario.flows;
            self.schedule.starts.cancel(flow, flows);
            if flows.size(flow.index()).is_some() {
                wire.flow_done(now);
            }
        }
    }

    /// Something of the schedule and its features happens; then the transport is told what features ask for.
    fn call_features<W: EventSink<E::Body>, R>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        wire: &mut W,
        call: impl FnOnce(&mut HostSchedule, &mut FeatureContext) -> R,
    ) -> R {
        let flows = &fabric.scenario.flows;
        let mut features = FeatureContext { now, flows, sink: wire, commands: Vec::new() };
        let answer = call(&mut self.schedule, &mut features);
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        for command in features.commands {
            match command {
                TransportCommand::Control(flow, control) => {
                    self.endpoint.control(cx, Command::Flow(flow, control));
                }
                TransportCommand::Thresholds(thresholds) => {
                    self.endpoint.control(cx, Command::Thresholds(&thresholds));
                }
            }
        }
        self.replan();
        answer
    }

    /// A message is on its way here; the start of the flow that depended on it, if it is known now.
    pub(crate) fn on_message(&mut self, message: HostMessage) -> Option<Time> {
        let starts = self.schedule.features.iter_mut().filter_map(|feature| feature.on_message(message));
        let start = starts.min();
        self.replan();
        start
    }

    /// A packet arrived and has been processed at `now`.
    // A call of its own by measurement: in line, a visit prepares for it before it knows that anything arrived.
    #[inline(never)]
    pub(crate) fn arrive<W: EventSink<E::Body>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<E::Body>,
        wire: &mut W,
    ) {
        if packet.header.kind == packet::Kind::Pause {
            return self.pause(now, packet, wire);
        }
        self.exchanged[usize::from(packet.header.class) % CLASSES].taken.add(packet.header.wire);
        if packet.header.kind == packet::Kind::Data {
            let early = now - self.processing <= self.last_start;
            self.received.add(if early { packet.header.payload } else { 0 });
        }
        let noise = self.noise.as_mut().map_or(Span::ZERO, |noise| noise.of(&packet.header));
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        self.endpoint.on_packet(cx, RxMeta { stamp: now - self.processing, noise }, packet);
        self.settle(fabric, now, wire);
    }

    /// After a call to the transport: its events, then its packets.
    #[inline(always)]
    fn settle<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, wire: &mut W) {
        wire.observe(|| TraceEvent::Called { host: self.host, at: now, endpoint: &self.endpoint });
        while let Some(event) = self.endpoint.poll_event() {
            self.on_event(&event, fabric, now, wire);
        }
        if self.pull != Pull::Kept {
            self.pull = Pull::Ask;
        }
        self.pump(now, wire);
    }

    /// Something happened to a flow.
    #[inline(never)]
    fn on_event<W: EventSink<E::Body>>(&mut self, event: &Event, fabric: &Fabric, now: Time, wire: &mut W) {
        let scenario = fabric.scenario;
        let seen = match event {
            &Event::Delivered { flow, at, missing, .. } => {
                wire.flow_log().delivered(flow, at, missing);
                FlowEvent::Delivered(flow)
            }
            Event::Completed(report) => {
                let flow = report.flow;
                wire.flow_log().completed(report, scenario.flows.at(flow.index()).class);
                self.schedule.end(flow);
                if scenario.flows.size(flow.index()).is_some() {
                    wire.flow_done(now);
                }
                FlowEvent::Completed(report)
            }
            Event::Report(report) => {
                let &FlowReport { flow, bytes, .. } = report;
                if scenario.rates_every.is_some() {
                    wire.flow_log().sampled(FlowSample { at: now, flow, acked_bytes: bytes });
                }
                FlowEvent::Report(report)
            }
            _ => return,
        };
        if !self.schedule.features.is_empty() {
            self.call_features(fabric, now, wire, |schedule, cx| {
                schedule.features.iter_mut().for_each(|feature| feature.on_event(seen, cx));
            });
        }
    }

    /// Whether the next sample will find something here.
    pub(crate) fn has_reading(&self) -> bool {
        self.waiting.packets > 0 || self.port.counts.unsampled_bytes() > 0
    }

    /// Reads transmit queue and line if the one holds something or the other sent something since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Readings) {
        let queued = self.port.queued();
        self.port.counts.sample((at, self.port.line.link), queued, samples);
    }

    /// Hands over what the run leaves.
    pub(crate) fn finish(&mut self, fabric: &Fabric, at: Time, out: &mut Collector) {
        let queue_of = |class| match &fabric.scenario.nic {
            Nic::Pull => 0,
            Nic::Queue { port, .. } => port.discipline.queue_of(class),
        };
        if let Some(packet) = self.end_pauses(at) {
            self.port.counts.payload_left(at, &packet.header);
            out.resident(&packet.header);
        }
        out.port(&self.port.counts, self.port.line.link, at, &queue_of);
        out.host(&self.exchanged);
        let Stats { credits, payload, .. } = self.endpoint.stats();
        out.received(&Received { stats: payload, ..self.received }, credits);
        self.schedule.features.iter().for_each(|feature| feature.finish(out));
        self.port.drain(at, |outgoing: &Outgoing<_>| out.resident(&outgoing.packet.header));
        out.queue(self.port.counts.queue(self.port.line.link));
    }
}
