//! Runs two hosts twice, with and without the fast path: each call goes to both, and then their entire states are
//! compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::assign::{Count, DemotionThresholds};
use crate::endpoint::{Command, Control, Endpoint, FlowRequest, LocalClock, LocalHost, Path, Tx};
use crate::host::{AnyScheduler, SchedulerKind};
use crate::ids::{FlowId, HostId};
use crate::packet::{Frame, Kind};
use crate::rng::{Purpose, Stream};
use crate::transport::window::{Config, ControlClass, Handshake, LossRecovery};
use crate::transport::{dctcp, hpcc, new_reno, swift};
use crate::units::{Rate, Span, Time};

const LINE: Rate = Rate::from_gbps(10);
const END: Time = Time(150_000_000);
const STEPS_PER_FLOW: u64 = 80;

/// A host with the fast path and the same host without it.
struct Twins<C: CongestionControl> {
    fast: Window<C, AnyScheduler, true>,
    slow: Window<C, AnyScheduler, false>,
    rng: [Stream; 2],
    /// Packets that the fast path processed.
    taken: u64,
    /// Of these, the packets that were answered at once.
    answered: u64,
}

type Frames<C> = Packet<Segment<<C as CongestionControl>::Telemetry>>;

impl<C: CongestionControl> Twins<C> {
    fn new(host: LocalHost, config: Config, controller: &C::Config, kind: SchedulerKind) -> Self {
        let config = Arc::new(config);
        Self {
            fast: Window::new(host, Arc::clone(&config), controller.clone(), kind.into()),
            slow: Window::new(host, config, controller.clone(), kind.into()),
            rng: [(); 2].map(|()| Stream::new(1, Purpose::Endpoint, 0)),
            taken: 0,
            answered: 0,
        }
    }

    /// Makes the same call on both and compares the results and the states.
    fn call<R: std::fmt::Debug>(
        &mut self,
        now: Time,
        fast: impl FnOnce(&mut Window<C, AnyScheduler, true>, &mut Cx) -> R,
        slow: impl FnOnce(&mut Window<C, AnyScheduler, false>, &mut Cx) -> R,
    ) -> R {
        let [one, other] = &mut self.rng;
        let clock = LocalClock { offset_ps: 3_000_000 };
        let answer = fast(&mut self.fast, &mut Cx { now, clock, rng: one });
        let same = slow(&mut self.slow, &mut Cx { now, clock, rng: other });
        assert_eq!(format!("{answer:?}"), format!("{same:?}"), "at {now:?}");
        assert_eq!(format!("{:?}", self.fast), format!("{:?}", self.slow), "at {now:?}");
        answer
    }

    fn on_packet(&mut self, now: Time, packet: &Frames<C>) {
        let meta = RxMeta { stamp: Time(now.0 - 500), noise: Span(7_000) };
        self.taken += u64::from(self.is_expected(packet));
        self.call(now, |e, cx| e.on_packet(cx, meta, packet), |e, cx| e.on_packet(cx, meta, packet));
    }

    /// As [`Self::on_packet`] where a poll follows: the fast host may answer at once, what the slow host answers in two
    /// calls, without an event between them. Returns the answer.
    fn respond(&mut self, now: Time, packet: &Frames<C>) -> Option<Tx<Segment<C::Telemetry>>> {
        let meta = RxMeta { stamp: Time(now.0 - 500), noise: Span(7_000) };
        self.taken += u64::from(self.is_expected(packet));
        let is_answered = self.fast.outbox.is_empty()
            && (packet.header.kind == Kind::Data || self.fast.scheduler.is_empty())
            && self.is_expected(packet);
        self.answered += u64::from(is_answered);
        self.call(
            now,
            |e, cx| e.respond(cx, meta, packet),
            |e, cx| {
                e.on_packet(cx, meta, packet);
                is_answered.then(|| {
                    assert!(e.poll_event().is_none());
                    e.poll_transmit(cx)
                })
            },
        )
    }

    /// Returns true if the fast path should process a packet.
    fn is_expected(&mut self, packet: &Frames<C>) -> bool {
        let (header, flows) = (&packet.header, &mut self.slow.flows);
        match header.kind {
            Kind::Data if flows.limit.is_none() => flows
                .receiver_of(FlowKey::of(header))
                .and_then(|slot| flows.receivers.get(slot))
                .is_some_and(|receiver| receiver.expects(header, &self.slow.config)),
            Kind::Ack if !self.slow.peers.is_measuring() => flows
                .answering(header)
                .is_some_and(|sending| sending.flow.expects(header.offset.get(), packet.body.sack)),
            _ => false,
        }
    }

    fn poll(&mut self, now: Time) -> Option<Frames<C>> {
        let may_transmit = self.fast.may_transmit();
        let answer = self.call(now, |e, cx| e.poll_transmit(cx), |e, cx| e.poll_transmit(cx));
        assert!(may_transmit || matches!(answer, Tx::Idle), "{answer:?}");
        self.sent(now, answer)
    }

    /// Returns the packet of an answer, which leaves at `now`.
    fn sent(&mut self, now: Time, answer: Tx<Segment<C::Telemetry>>) -> Option<Frames<C>> {
        match answer {
            Tx::Send { packet, id } => {
                if let Some(id) = id {
                    let sent = crate::endpoint::Departure::Sent(now);
                    self.call(
                        now,
                        |e, cx| e.on_departure(cx, id, sent),
                        |e, cx| e.on_departure(cx, id, sent),
                    );
                }
                Some(packet)
            }
            Tx::NotBefore(_) | Tx::Idle => None,
        }
    }

    fn settle(&mut self, now: Time) {
        while self.call(now, |e, _| e.poll_event(), |e, _| e.poll_event()).is_some() {}
    }
}

/// Faults that affect random packets.
#[derive(Clone, Copy, Debug)]
struct Faults {
    lost: f64,
    late: f64,
    twice: f64,
    marked: f64,
    trimmed: f64,
}

/// Two hosts, 5 us apart. Flows start at random times in both directions, and some are changed or aborted.
struct Pair<C: CongestionControl> {
    hosts: [Twins<C>; 2],
    now: Time,
    free: [Time; 2],
    under_way: BTreeMap<(Time, u64), (usize, Frames<C>)>,
    draw: Stream,
    count: u64,
    faults: Faults,
}

impl<C: CongestionControl> Pair<C> {
    fn open(&mut self, flow: u32) {
        let host = self.draw.below(2) as usize;
        let size = (!self.draw.chance(0.05)).then(|| 1 + self.draw.below(120_000));
        let request = FlowRequest::new(FlowId(flow), HostId(1 - host as u16), size, self.now);
        let path = || Path::NOMINAL.into();
        let now = self.now;
        self.hosts[host].call(now, |e, cx| e.open(cx, request, &path), |e, cx| e.open(cx, request, &path));
        self.change(host, flow);
        self.settle(host);
    }

    /// Occasionally changes an older flow, or ends one.
    fn change(&mut self, host: usize, flow: u32) {
        let control = match self.draw.below(8) {
            0 => Control::Class(2),
            1 | 2 => Control::Promote(1),
            3 => Control::Abort,
            _ => return,
        };
        let (now, id) = (self.now, FlowId(self.draw.below(u64::from(flow) + 1) as u32));
        let command = || Command::Flow(id, control);
        self.hosts[host].call(now, |e, cx| e.control(cx, command()), |e, cx| e.control(cx, command()));
    }

    fn settle(&mut self, host: usize) {
        self.hosts[host].settle(self.now);
        while self.free[host] <= self.now {
            let Some(packet) = self.hosts[host].poll(self.now) else { return };
            self.leave(host, packet);
        }
    }

    fn leave(&mut self, host: usize, packet: Frames<C>) {
        self.free[host] = self.now + LINE.serialize(u64::from(packet.header.wire));
        self.travel(host, packet);
    }

    fn arrive(&mut self, host: usize, packet: &Frames<C>) {
        let now = self.now;
        if self.free[host] > now {
            return self.hosts[host].on_packet(now, packet);
        }
        if let Some(answer) = self.hosts[host].respond(now, packet)
            && let Some(packet) = self.hosts[host].sent(now, answer)
        {
            self.leave(host, packet);
        }
    }

    fn travel(&mut self, from: usize, mut packet: Frames<C>) {
        let Faults { lost, late, twice, marked, trimmed } = self.faults;
        if self.draw.chance(lost) {
            return;
        }
        if self.draw.chance(marked) && packet.header.marks.has(Marks::ECN_CAPABLE) {
            packet.header.marks = packet.header.marks.with(Marks::CONGESTED);
        }
        if trimmed > 0.0 && packet.header.kind == Kind::Data && self.draw.chance(trimmed) {
            packet.header.payload = 0;
            packet.header.marks = packet.header.marks.with(Marks::TRIMMED);
        }
        for _ in 0..1 + u64::from(self.draw.chance(twice)) {
            let more = if self.draw.chance(late) { self.draw.below(12_000_000) } else { 0 };
            self.count += 1;
            let at = self.free[from] + Span(5_000_000 + more);
            self.under_way.insert((at, self.count), (1 - from, packet));
        }
    }

    /// Runs until [`END`]. A flow starts in the first step and in one of [`STEPS_PER_FLOW`] steps on average.
    /// Returns the number of packets that the fast path processed, and of those that it answered at once.
    fn run(mut self) -> [u64; 2] {
        let mut flows = 0;
        while self.now < END {
            if flows == 0 || self.draw.below(STEPS_PER_FLOW) == 0 {
                self.open(flows);
                flows += 1;
            }
            let arrival = self.under_way.first_key_value().map_or(END, |(&(at, _), _)| at);
            let timers = [0, 1].map(|host| self.hosts[host].fast.next_timeout().unwrap_or(END));
            let lines = self.free.map(|at| if at > self.now { at } else { END });
            let first = [arrival, timers[0], timers[1], lines[0], lines[1]].into_iter().min().unwrap_or(END);
            self.now = first.max(self.now).min(END);
            let now = self.now;
            if arrival <= now
                && let Some((_, (host, packet))) = self.under_way.pop_first()
            {
                self.arrive(host, &packet);
            }
            for (host, at) in timers.into_iter().enumerate() {
                if at <= now {
                    self.hosts[host].call(now, |e, cx| e.on_timer(cx), |e, cx| e.on_timer(cx));
                }
                self.settle(host);
            }
        }
        let [a, b] = &self.hosts;
        [a.taken + b.taken, a.answered + b.answered]
    }
}

fn simulated(id: u16) -> LocalHost {
    LocalHost::simulated(HostId(id), LINE)
}

fn real(id: u16) -> LocalHost {
    LocalHost::real(HostId(id), LINE, 99)
}

/// Runs a random trace; returns the counts of [`Pair::run`].
fn trace<C: CongestionControl>(seed: u64, host: fn(u16) -> LocalHost, controller: &C::Config) -> [u64; 2] {
    let mut draw = Stream::new(seed, Purpose::Loss, 7);
    let kind = [SchedulerKind::RoundRobin, SchedulerKind::Mlfq, SchedulerKind::Srpt][seed as usize % 3];
    let some = |draw: &mut Stream, most: f64| if draw.chance(0.5) { draw.uniform() * most } else { 0.0 };
    let faults = Faults {
        lost: some(&mut draw, 0.03),
        late: some(&mut draw, 0.2),
        twice: some(&mut draw, 0.02),
        marked: some(&mut draw, 0.2),
        trimmed: if trims(seed) { 0.05 } else { 0.0 },
    };
    let pair = Pair::<C> {
        hosts: [0, 1].map(|id| Twins::new(host(id), config(seed), controller, kind)),
        now: Time(1_000_000),
        free: [Time::ZERO; 2],
        under_way: BTreeMap::new(),
        draw,
        count: 0,
        faults,
    };
    pair.run()
}

/// Whether switches trim packets in a random trace.
fn trims(seed: u64) -> bool {
    seed.is_multiple_of(4)
}

/// Random parameters of the window transport.
fn config(seed: u64) -> Config {
    let mut draw = Stream::new(seed, Purpose::Loss, 8);
    let ladder = |at: &[u64], count| DemotionThresholds::new(at, count).unwrap_or(DemotionThresholds::FLAT);
    let pick = |draw: &mut Stream| draw.below(3) as usize;
    Config {
        handshake: [Handshake::None, Handshake::OneRtt, Handshake::Reuse][pick(&mut draw)],
        recovery: match [LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN][pick(&mut draw)] {
            _ if trims(seed) => LossRecovery::Trims,
            recovery => recovery,
        },
        ack_every: [1, 1, 2][pick(&mut draw)],
        control_class: if seed.is_multiple_of(3) { ControlClass::OfFlow } else { ControlClass::Fixed(1) },
        min_rto: Span::from_us(100),
        initial_rto: Span::from_us(200),
        max_window: [None, None, Some(20_000)][pick(&mut draw)],
        queue_limit: [None, None, Some(4_000)][pick(&mut draw)],
        class: [
            DemotionThresholds::FLAT,
            ladder(&[9_000, 40_000], Count::BytesSent),
            DemotionThresholds::FLAT,
        ][pick(&mut draw)],
        host_level: [
            ladder(&[5_000], Count::StreamOffset),
            DemotionThresholds::FLAT,
            DemotionThresholds::FLAT,
        ][pick(&mut draw)],
        monitor: [None, Some(Span::from_us(50)), None][pick(&mut draw)],
        ..Config::new(Frame::ETHERNET)
    }
}

fn all_traces<C: CongestionControl>(controller: &C::Config, host: fn(u16) -> LocalHost) -> [u64; 2] {
    let traces = (0..priolane_rounds::rounds(12, 200)).map(|seed| trace::<C>(seed, host, controller));
    traces.fold([0; 2], |[a, b], [c, d]| [a + c, b + d])
}

#[test]
fn both_ways_through_the_machine_leave_the_same_state_after_every_call() {
    let dctcp = dctcp::Config { min_window: 2, ..dctcp::Config::<new_reno::Config>::default() };
    let taken = [
        all_traces::<dctcp::Dctcp>(&dctcp, simulated),
        all_traces::<swift::Swift>(&swift::Config::default(), simulated),
        all_traces::<hpcc::Hpcc>(&hpcc::Config::default(), simulated),
    ];
    assert!(taken.iter().all(|&[taken, answered]| taken > answered && answered > 100), "{taken:?}");
}

/// A real host measures peers and limits flows, so every packet goes through the state machine.
#[test]
fn a_real_host_is_the_same_with_and_without_a_fast_path() {
    all_traces::<new_reno::NewReno>(&new_reno::Config::default(), real);
}
