//! A host: a transport, a schedule, and a link that polls for packets.
//!
//! A host's transport is never served lazily. After every call the host polls for packets until the link is busy or
//! the transport has nothing to send now. The next action at a later instant is its *next local event*: the link
//! becomes free, a control message, the start of a flow, or a timer. An engine with lazy service also serves a
//! transmit queue lazily, unless it contains a packet whose departure the transport wants to know.

mod departures;
mod measuring;
mod pause;
mod schedule;
mod state;

use std::mem::offset_of;
use std::sync::Arc;

use priolane_core::endpoint::{Command, Control, Cx, Endpoint, Event, FlowReport, LocalClock, RxMeta, Stats};
use priolane_core::ids::{CLASSES, ClassSet, FlowId, HostId};
use priolane_core::packet::{self, Packet};
use priolane_core::port::{Discipline, PortFactory};
use priolane_core::prefetch::prefetch_part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::fabric::Fabric;
use super::features::{
    AbortedFlow, FeatureContext, Features, FlowEvent, HostMessage, OnScheduled, TransportCommand,
};
use super::nic::{NicMode, Outgoing, TransmitQueue, transmit_queue};
use super::port::Port;
use super::send_jitter::SendJitter;
use crate::device::event_sink::{EventKey, EventSink, Kind, Service};
use crate::model::scenario::{Nic, ScheduledControl};
use crate::observe::collector::Collector;
use crate::observe::counters::HostCounters;
use crate::observe::outcome::{FlowSample, Readings, ReceivedPayload};
use crate::observe::phase::{Phase, PhaseMarker, enter, in_transport};
use crate::observe::trace::TraceEvent;
use measuring::{Noise, clock};
use schedule::{HostSchedule, PendingAbort};
use state::{Pausing, Pull, Waiting};

/// A host with the transport `E`. Fields are ordered so that those that most packets need are adjacent.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host<E: Endpoint> {
    /// The earliest of `due`, `departure` and the transport's timer.
    next: EventKey,
    /// The next event of the schedule.
    due: EventKey,
    /// The time at which the link takes the next packet or the transport is polled.
    departure: EventKey,
    pull: Pull,
    processing: Span,
    clock: LocalClock,
    waiting: Waiting,
    host: HostId,
    /// Classes that the switch has paused.
    paused: ClassSet,
    /// The time at which the last flow of the list starts.
    last_start: Time,
    noise: Option<Box<Noise>>,
    nic: NicMode,
    /// Shows a profiler when the transport runs.
    phase: Option<Arc<PhaseMarker>>,
    /// The link and the transmit queue, which stays empty if the NIC has none.
    port: Port<TransmitQueue<E::Body>>,
    jitter: SendJitter,
    received: ReceivedPayload,
    exchanged: [HostCounters; CLASSES],
    endpoint: E,
    schedule: HostSchedule,
    rng: Stream,
    /// Set once the switch has paused any class.
    pausing: Option<Box<Pausing<E::Body>>>,
}

impl<E: Endpoint> Host<E> {
    /// Creates the idle host `host`.
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
            phase: fabric.phase.clone(),
            port: Port::new(fabric.transmitter(line), transmit_queue(scenario, line)),
            jitter: SendJitter::new(scenario.seed, line, scenario.send_jitter(line)),
            waiting: Waiting { limited, ..Waiting::default() },
            paused: ClassSet::NONE,
            pausing: None,
            pull: Pull::Idle,
            due: schedule.next(),
            schedule,
            departure: EventKey::NEVER,
            next: EventKey::NEVER,
            exchanged: [HostCounters::default(); CLASSES],
            received: ReceivedPayload::default(),
            last_start: scenario.flows.last().map_or(Time::ZERO, |flow| flow.start),
        };
        idle.look_ahead();
        idle
    }

    /// Reserves capacity for `flows` planned flows.
    pub(crate) fn expect_opens(&mut self, flows: usize) {
        self.schedule.starts.expect(flows);
    }

    /// Schedules the start of a flow, by its index in the flow list; in order of start.
    pub(crate) fn plan_open(&mut self, start: Time, flow: u32) {
        self.schedule.starts.plan(start, flow);
        self.replan();
    }

    /// Schedules a control message; in order of time.
    pub(crate) fn plan_control(&mut self, control: ScheduledControl) {
        self.schedule.plan_control(control);
        self.replan();
    }

    /// Prefetches the fields that most packets need.
    #[inline]
    pub(crate) fn prefetch_hot(&self) {
        prefetch_part(self, 0..offset_of!(Self, exchanged) + 64);
        prefetch_part(self, offset_of!(Self, endpoint)..offset_of!(Self, schedule));
    }

    /// Prefetches the ends of the transmit queue.
    #[inline]
    pub(crate) fn prefetch_queue(&self) {
        self.port.queue.prefetch();
    }

    /// Prefetches the state of a packet's flow.
    #[inline]
    pub(crate) fn prefetch_flow(&self, packet: &Packet<E::Body>) {
        self.endpoint.prefetch(&packet.header);
    }

    /// Returns the next local event of the host.
    #[inline]
    pub(crate) fn next_event(&self) -> EventKey {
        self.next
    }

    /// Updates the next event after a change of the schedule.
    fn replan(&mut self) {
        self.due = self.schedule.next();
        self.look_ahead();
    }

    /// Updates the next event after a change of `due`, the departure or the transport's timer.
    #[inline]
    fn look_ahead(&mut self) {
        let next = self.due.min(self.departure);
        self.next = match self.endpoint.next_timeout() {
            Some(timer) => next.min(EventKey::new(timer, Kind::Timer)),
            None => next,
        };
    }

    /// Returns when the host must run next if nothing arrives: its next local event, or a departure that is served
    /// lazily.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let next = self.next_event().at();
        let lazy = self.waiting.packets > 0 && !self.waiting.limited && self.may_serve();
        if lazy { next.min(self.port.line.free_at) } else { next }
    }

    /// Runs the event that `next_event` returned for `now`.
    pub(crate) fn run_event<W: EventSink<E::Body>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        kind: Kind,
        sink: &mut W,
    ) {
        match kind {
            Kind::Departure => {
                // Queued packets leave before the transport is polled, as with lazy departures.
                self.serve(now, sink);
                if let Pull::NotBefore(_) = self.pull {
                    self.pull = Pull::Ask;
                }
                self.pump(now, sink);
                return;
            }
            Kind::Open => self.open_flow(fabric, now, sink),
            Kind::Control => self.control(fabric, now, sink),
            Kind::Timer | Kind::Arrival => {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                in_transport(&self.phase, || self.endpoint.on_timer(cx));
            }
        }
        self.settle(fabric, now, sink);
    }

    /// Starts the next flow, unless a feature delays it.
    fn open_flow<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, sink: &mut W) {
        let scenario = fabric.scenario;
        let opened = self.call_features(fabric, now, sink, HostSchedule::open_next);
        if let Some(flow) = opened {
            let path = || scenario.empty_path(&flow).into();
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            in_transport(&self.phase, || self.endpoint.open(cx, flow.request(), &path));
        }
    }

    /// Applies a control message that is due; otherwise runs a timer of a feature.
    fn control<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, sink: &mut W) {
        match self.schedule.take_control(now) {
            Some(ScheduledControl { flow, control, .. }) => {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                in_transport(&self.phase, || self.endpoint.control(cx, Command::Flow(flow, control)));
                if control == Control::Abort {
                    self.abort(flow, fabric, now, sink);
                }
                self.replan();
            }
            None => self.call_features(fabric, now, sink, HostSchedule::run_timer),
        }
    }

    /// Handles an aborted flow: it counts as done, unless it did before or still had open dependencies.
    fn abort<W: EventSink<E::Body>>(&mut self, flow: FlowId, fabric: &Fabric, now: Time, sink: &mut W) {
        let aborted = self.call_features(fabric, now, sink, |schedule, cx| {
            let aborted = schedule.features.iter_mut().map(|feature| feature.on_abort(flow, cx));
            aborted.fold(AbortedFlow::Scheduled, AbortedFlow::max)
        });
        if self.schedule.end(flow) == PendingAbort::Yes && aborted == AbortedFlow::Scheduled {
            let flows = &fabric.scenario.flows;
            self.schedule.starts.cancel(flow, flows);
            if flows.size(flow.index()).is_some() {
                sink.flow_done(flow, now);
            }
        }
    }

    /// Calls the schedule and its features, then passes the commands of features to the transport.
    fn call_features<W: EventSink<E::Body>, R>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        sink: &mut W,
        call: impl FnOnce(&mut HostSchedule, &mut FeatureContext) -> R,
    ) -> R {
        let flows = &fabric.scenario.flows;
        let mut features = FeatureContext { now, flows, sink, commands: Vec::new() };
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

    /// Passes a message to the features, which call `scheduled` with each dependent flow whose start is now known.
    pub(crate) fn on_message(&mut self, message: HostMessage, scheduled: OnScheduled) {
        for feature in &mut self.schedule.features {
            feature.on_message(message, scheduled);
        }
        self.replan();
    }

    /// Handles a packet that arrived and has been processed at `now`.
    // Not inlined, as measured: inlining sets up registers before it is known whether a packet arrived.
    #[inline(never)]
    pub(crate) fn arrive<W: EventSink<E::Body>>(
        &mut self,
        fabric: &Fabric,
        now: Time,
        packet: &Packet<E::Body>,
        sink: &mut W,
    ) {
        if packet.header.kind == packet::Kind::Pause {
            return self.pause(now, packet, sink);
        }
        self.exchanged[usize::from(packet.header.class) % CLASSES].taken.add(packet.header.wire);
        if packet.header.kind == packet::Kind::Data {
            let early = now - self.processing <= self.last_start;
            self.received.add(if early { packet.header.payload } else { 0 });
        }
        let noise = self.noise.as_mut().map_or(Span::ZERO, |noise| noise.of(&packet.header));
        let may_respond = self.would_poll(now);
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        let meta = RxMeta { stamp: now - self.processing, noise };
        // The eager engine, which traces, takes the two calls one by one.
        if W::SERVICE == Service::Lazy && may_respond {
            // Used in place, as in `fill`. The transport is called without a closure, so that it is inlined.
            enter(&self.phase, Phase::Transport);
            let mut response = self.endpoint.respond(cx, meta, packet);
            enter(&self.phase, Phase::Hosts);
            if let Some(response) = &mut response {
                return self.send_response(now, response, sink);
            }
        } else {
            in_transport(&self.phase, || self.endpoint.on_packet(cx, meta, packet));
        }
        self.settle(fabric, now, sink);
    }

    /// Handles the transport's events after a call, then its packets.
    #[inline(always)]
    fn settle<W: EventSink<E::Body>>(&mut self, fabric: &Fabric, now: Time, sink: &mut W) {
        sink.observe(|| TraceEvent::Called { host: self.host, at: now, endpoint: &self.endpoint });
        while let Some(event) = self.endpoint.poll_event() {
            self.on_event(&event, fabric, now, sink);
        }
        if !matches!(self.pull, Pull::Kept) {
            self.pull = if self.endpoint.may_transmit() { Pull::Ask } else { Pull::Idle };
        }
        self.pump(now, sink);
    }

    /// Handles an event of a flow.
    #[inline(never)]
    fn on_event<W: EventSink<E::Body>>(&mut self, event: &Event, fabric: &Fabric, now: Time, sink: &mut W) {
        let scenario = fabric.scenario;
        let seen = match event {
            &Event::Delivered { flow, at, missing, .. } => {
                sink.flow_log().delivered(flow, at, missing);
                FlowEvent::Delivered(flow)
            }
            Event::Completed(report) => {
                let flow = report.flow;
                sink.flow_log().completed(report, scenario.flows.at(flow.index()).class);
                self.schedule.end(flow);
                if scenario.flows.size(flow.index()).is_some() {
                    sink.flow_done(flow, now);
                }
                FlowEvent::Completed(report)
            }
            Event::Report(report) => {
                let &FlowReport { flow, bytes, .. } = report;
                if scenario.rates_every.is_some() {
                    sink.flow_log().sampled(FlowSample { at: now, flow, acked_bytes: bytes });
                }
                FlowEvent::Report(report)
            }
            &Event::Duplicate { flow } => return sink.flow_log().duplicated(flow),
            _ => return,
        };
        if !self.schedule.features.is_empty() {
            self.call_features(fabric, now, sink, |schedule, cx| {
                schedule.features.iter_mut().for_each(|feature| feature.on_event(seen, cx));
            });
        }
    }

    /// Returns whether the next sample will have something to record here.
    pub(crate) fn has_reading(&self) -> bool {
        self.waiting.packets > 0 || self.port.counts.unsampled_bytes() > 0
    }

    /// Samples transmit queue and link if there are queued packets or transmissions since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Readings) {
        let queued = self.port.queued();
        self.port.counts.sample((at, self.port.line.link), queued, samples);
    }

    /// Reports the results of the host.
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
        out.received(&ReceivedPayload { stats: payload, ..self.received }, credits);
        self.schedule.features.iter().for_each(|feature| feature.finish(out));
        self.port.drain(at, |outgoing: &Outgoing<_>| out.resident(&outgoing.packet.header));
        out.queue(self.port.counts.queue(self.port.line.link));
    }
}
