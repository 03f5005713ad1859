//! A host: a transport, the applications' agenda, and a line that asks for packets.
//!
//! A host's transport is never lazy. After every call to it the host asks for packets until the line is busy or the
//! transport has nothing to send now; what remains to be done at a later instant is its *next local event*: the line
//! becoming free, a control message, a flow to start, a timer. A transmit queue is served lazily by an engine that
//! serves ports lazily, unless it holds a packet whose departure the transport wants to know.

mod agenda;
mod departures;
mod measuring;
mod pause;

use std::sync::Arc;

use priolane_core::endpoint::{Control, Cx, Endpoint, Event, FlowReport, LocalClock, RxMeta, Weights};
use priolane_core::ids::{CLASSES, ClassSet, FlowId, HostId};
use priolane_core::packet::{self, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span, Time};

use super::collector::{Collector, Ended};
use super::counts::{Counts, Exchanged};
use super::estimator::{Estimator, ThresholdUpdate};
use super::fabric::Fabric;
use super::gate::Gate;
use super::line::Line;
use super::machines::Machines;
use super::nic::TransmitQueue;
use super::reactions::{Aborted, Reactions};
use super::switch::Seat;
use crate::outcome::{FlowSample, Readings, Received};
use crate::scenario::{Nic, ScheduledControl};
use crate::trace::Seen;
use crate::waits::News;
use crate::wire::{Due, Kind, Wire};
use agenda::Agenda;
use departures::{Pull, Waiting};
use measuring::{Noise, clock};
use pause::Pausing;

/// A host with the transport `E`. In this order, what most packets need lies together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host<E: Endpoint> {
    /// The first of what is due, the departure and the transport's timer.
    next: Due,
    /// What is next on the agenda.
    due: Due,
    /// When the line takes the next packet or the transport is asked for one.
    departure: Due,
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
    line: Line,
    received: Received,
    counts: Counts,
    queue: Option<TransmitQueue<E::Body>>,
    exchanged: [Exchanged; CLASSES],
    endpoint: E,
    agenda: Agenda,
    rng: Stream,
    /// Where the switch ever paused any class.
    pausing: Option<Box<Pausing<E::Body>>>,
    /// Of flows delivered, bytes that were given up.
    given_up: Vec<(FlowId, u64)>,
    /// What there is to keep of flows that ended, besides when.
    ended: Vec<Ended>,
    reports: Vec<FlowSample>,
}

impl<E: Endpoint> Host<E> {
    /// The idle host `host`.
    pub(crate) fn new(fabric: &Fabric, host: HostId, mut endpoint: E) -> Self {
        let scenario = fabric.scenario;
        let line = fabric.egress_links[host.index()][0];
        let queue = match &scenario.nic {
            Nic::Pull => None,
            Nic::Queue { port, sort_by } => {
                let rate = scenario.topology.host_capacity(host);
                let seat = Seat { spec: port, link: line, rate, frame: &scenario.frame, seed: scenario.seed };
                Some(TransmitQueue::new(&seat, *sort_by))
            }
        };
        let limited = queue.as_ref().is_some_and(TransmitQueue::is_limited);
        endpoint.attach(scenario.topology.host_capacity(host));
        let estimator =
            scenario.adaptation.as_ref().map(|a| Box::new(Estimator::new(host, a, scenario.seed)));
        let (machines, gate) = (Machines::new(scenario), Gate::new(scenario, host));
        let agenda = Agenda { estimator, machines, gate, ..Agenda::default() };
        let mut idle = Self {
            host,
            endpoint,
            rng: Stream::new(scenario.seed, Purpose::Endpoint, u64::from(host.0)),
            clock: clock(scenario, host),
            noise: Noise::new(scenario, host).map(Box::new),
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
            next: Due::NEVER,
            given_up: Vec::new(),
            ended: Vec::new(),
            reports: Vec::new(),
            exchanged: [Exchanged::default(); CLASSES],
            received: Received::default(),
            last_start: scenario.flows.last().map_or(Time::ZERO, |flow| flow.start),
        };
        idle.look_ahead();
        idle
    }

    /// So many flows will be put on the agenda.
    pub(crate) fn expect_opens(&mut self, flows: usize) {
        self.agenda.opens.expect(flows);
    }

    /// Puts a flow, by its index in the flow list, on the agenda; in order of start.
    pub(crate) fn plan_open(&mut self, start: Time, flow: u32) {
        self.agenda.opens.plan(start, flow);
        self.replan();
    }

    /// Puts a control message on the agenda; in order of time.
    pub(crate) fn plan_control(&mut self, control: ScheduledControl) {
        self.agenda.controls.push(control);
        self.replan();
        if control.control == Control::Abort && !self.agenda.doomed.contains(&control.flow) {
            self.agenda.doomed.push(control.flow);
        }
    }

    /// The next instant at which the host does something by itself, and what.
    #[inline]
    pub(crate) fn next_local(&self) -> Due {
        self.next
    }

    /// The agenda has changed.
    fn replan(&mut self) {
        self.due = self.agenda.next();
        self.look_ahead();
    }

    /// What is due, the departure or the transport's timer has changed.
    #[inline]
    fn look_ahead(&mut self) {
        let next = self.due.min(self.departure);
        self.next = match self.endpoint.next_timeout() {
            Some(timer) => next.min(Due::new(timer, Kind::Timer)),
            None => next,
        };
    }

    /// When the host must run next if nothing arrives: its next local event, or a departure that is none.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let next = self.next_local().at();
        let lazy = self.waiting.packets > 0 && !self.waiting.limited && self.may_serve();
        if lazy { next.min(self.line.free_at) } else { next }
    }

    /// Does what `next_local` announced for `now`.
    pub(crate) fn run_local<W: Wire<E::Body>>(
        &mut self,
        fabric: &Fabric,
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
                let scenario = fabric.scenario;
                if let Some(flow) = self.agenda.issue_next(&scenario.flows, now) {
                    let path = || scenario.topology.empty_path(&scenario.frame, &flow, scenario.host_delay);
                    self.endpoint.open_on(cx, flow, &path);
                }
                self.replan();
            }
            Kind::Control => self.control(fabric, now, wire),
            Kind::Timer | Kind::Arrival => self.endpoint.on_timer(cx),
        }
        self.settle(fabric, now, wire);
    }

    /// A control message takes effect or, if none does, the estimator has something to do.
    fn control<W: Wire<E::Body>>(&mut self, fabric: &Fabric, now: Time, wire: &mut W) {
        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
        let message = self.agenda.controls.get(self.agenda.next_control).copied();
        if let Some(message) = message.filter(|message| message.at <= now) {
            self.agenda.next_control += 1;
            self.endpoint.control(cx, message.flow, message.control);
            if message.control == Control::Abort {
                if let Some(gate) = &mut self.agenda.gate {
                    gate.aborted(message.flow);
                }
                self.end_doomed(message.flow, fabric, now, wire);
                self.departed(message.flow, fabric, now);
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
        self.replan();
    }

    /// A flow ended: its machine has others to give its share to.
    fn departed(&mut self, flow: FlowId, fabric: &Fabric, now: Time) {
        if let Some(machines) = &mut self.agenda.machines {
            machines.depart(fabric.scenario.flows.at(flow.index()).group, flow, now);
            self.replan();
        }
    }

    /// What the host does about flows that wait.
    pub(crate) fn reactions(&mut self) -> &mut Reactions {
        self.agenda.reactions.get_or_insert_default()
    }

    /// News is on its way here; when the flow that waits for it starts, if that is known now.
    pub(crate) fn hear(&mut self, news: &News) -> Option<Time> {
        let start = self.agenda.reactions.as_mut()?.hear(news)?;
        self.replan();
        Some(start)
    }

    /// A flow has been delivered here: the news goes to those who wait for it.
    fn spread<W: Wire<E::Body>>(&mut self, fabric: &Fabric, flow: FlowId, now: Time, wire: &mut W) {
        let Some(reactions) = &self.agenda.reactions else { return };
        let sent: Vec<News> = reactions.news(flow, now).collect();
        for news in &sent {
            if news.to != self.host {
                wire.notify(*news);
            } else if self.hear(news).is_some() && fabric.scenario.flows.size(news.flow.index()).is_some() {
                wire.flow_awaited();
            }
        }
    }

    /// New thresholds are on their way here.
    pub(crate) fn tell(&mut self, update: &ThresholdUpdate) {
        if let Some(estimator) = &mut self.agenda.estimator {
            estimator.tell(update.at, Arc::clone(&update.thresholds));
            self.replan();
        }
    }

    /// An aborted flow is done unless it completed before.
    fn end_doomed<W: Wire<E::Body>>(&mut self, flow: FlowId, fabric: &Fabric, now: Time, wire: &mut W) {
        let doomed = &mut self.agenda.doomed;
        if let Some(i) = doomed.iter().position(|&f| f == flow) {
            doomed.swap_remove(i);
            if let Some(reactions) = &mut self.agenda.reactions
                && reactions.abort(flow) == Aborted::Waiting
            {
                return;
            }
            self.agenda.cancel(flow, &fabric.scenario.flows);
            if fabric.scenario.flows.size(flow.index()).is_some() {
                wire.flow_done(now);
            }
        }
    }

    /// A packet arrived and has been processed at `now`.
    // A call of its own by measurement: in line, a visit prepares for it before it knows that anything arrived.
    #[inline(never)]
    pub(crate) fn arrive<W: Wire<E::Body>>(
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
    fn settle<W: Wire<E::Body>>(&mut self, fabric: &Fabric, now: Time, wire: &mut W) {
        wire.observe(|| Seen::Called { host: self.host, at: now, endpoint: &self.endpoint });
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Delivered { flow, at, missing } => {
                    fabric.fates.delivered(flow, at);
                    if missing > 0 {
                        self.given_up.push((flow, missing));
                    }
                    self.spread(fabric, flow, now, wire);
                }
                Event::Completed(report) => {
                    if let Some(estimator) = &mut self.agenda.estimator {
                        estimator.observe(report.bytes);
                    }
                    if let Some(gate) = &mut self.agenda.gate {
                        gate.completed(&report, now);
                    }
                    self.ended(&report, fabric);
                    self.departed(report.flow, fabric, now);
                    self.agenda.doomed.retain(|&f| f != report.flow);
                    if fabric.scenario.flows.size(report.flow.index()).is_some() {
                        wire.flow_done(now);
                    }
                }
                Event::Report(report) => self.reported(fabric, &report, now),
                _ => {}
            }
        }
        if self.pull != Pull::Kept {
            self.pull = Pull::Ask;
        }
        self.pump(now, wire);
    }

    /// A flow ended at its sender.
    fn ended(&mut self, report: &FlowReport, fabric: &Fabric) {
        fabric.fates.ended(report.flow, report.elapsed);
        let ended = Ended::from(report);
        let asked = fabric.scenario.flows.at(report.flow.index()).class;
        // What a gate gave stands in the record otherwise.
        if self.agenda.gate.is_some() || !ended.is_plain(asked) {
            self.ended.push(ended);
        }
    }

    /// A monitor interval of a flow ended.
    fn reported(&mut self, fabric: &Fabric, report: &FlowReport, now: Time) {
        let &FlowReport { flow, bytes, .. } = report;
        if fabric.scenario.rates_every.is_some() {
            self.reports.push(FlowSample { at: now, flow, acked_bytes: bytes });
        }
        if let Some(control) = self.agenda.gate.as_mut().and_then(|gate| gate.report(report, now)) {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.control(cx, flow, control);
        }
    }

    /// Whether the next sample will find something here.
    pub(crate) fn has_reading(&self) -> bool {
        self.waiting.packets > 0 || self.counts.unsampled_bytes() > 0
    }

    /// Reads transmit queue and line if the one holds something or the other sent something since the last sample.
    pub(crate) fn sample(&mut self, at: Time, samples: &mut Readings) {
        let (queued_packets, queued_bytes) = self.queue.as_ref().map_or((0, 0), TransmitQueue::backlog);
        self.counts.sample((at, self.line.link), (queued_packets, queued_bytes), samples);
    }

    /// Hands over what the run leaves.
    pub(crate) fn finish(&mut self, fabric: &Fabric, at: Time, out: &mut Collector) {
        let queues = match &fabric.scenario.nic {
            Nic::Pull => crate::scenario::Queues::Fifo,
            Nic::Queue { port, .. } => port.queues,
        };
        if let Some(packet) = self.end_pauses(at) {
            self.counts.payload_left(at, &packet.header);
            out.resident(&packet.header);
        }
        out.port(&self.counts, self.line.link, at, &|class| queues.queue_of(class));
        out.host(&self.exchanged);
        out.received(&self.received, self.endpoint.token_account());
        self.agenda.reactions.iter().for_each(|reactions| out.started(reactions.started()));
        self.agenda.gate.iter().for_each(|gate| out.admitted(gate));
        std::mem::take(&mut self.given_up).into_iter().for_each(|(flow, bytes)| out.given_up(flow, bytes));
        std::mem::take(&mut self.ended).iter().for_each(|ended| out.ended(ended));
        self.reports.iter().for_each(|&report| out.reported(report));
        if let Some(queue) = &mut self.queue {
            queue.drain(at, |header| {
                self.counts.payload_left(at, header);
                out.resident(header);
            });
        }
        out.queue(self.counts.queue(self.line.link));
    }
}
