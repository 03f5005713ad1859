//! Calls of the driver reach the transports that they are for, and the answers of all transports become one.

use std::sync::Mutex;

use super::*;
use crate::endpoint::{LocalClock, PayloadStats, ThresholdSet, Thresholds};
use crate::packet::Header;
use crate::rng::{Purpose, Stream};
use crate::units::Span;

/// A transport that records its calls and gives answers that a test sets.
#[derive(Default)]
struct Scripted {
    name: u8,
    calls: Arc<Mutex<Vec<String>>>,
    flows: usize,
    control: bool,
    timeout: Option<Time>,
    events: Vec<Event>,
}

impl Scripted {
    fn note(&self, call: &str) {
        self.calls.lock().unwrap().push(format!("{}{call}", self.name));
    }
}

impl Endpoint for Scripted {
    type Body = Segment;

    fn open(&mut self, _: &mut Cx, _: FlowRequest, _: &dyn Fn() -> PathInfo) {
        self.note("open");
    }

    fn control(&mut self, _: &mut Cx, _: Command) {
        self.note("control");
    }

    fn on_packet(&mut self, _: &mut Cx, _: RxMeta, _: &Packet<Segment>) {
        self.note("packet");
    }

    fn on_timer(&mut self, _: &mut Cx) {
        self.note("timer");
    }

    fn next_timeout(&self) -> Option<Time> {
        self.timeout
    }

    fn poll_transmit(&mut self, _: &mut Cx) -> Tx<Segment> {
        if !std::mem::take(&mut self.control) && self.flows == 0 {
            return Tx::Idle;
        }
        Tx::Send { packet: Packet::default(), id: None }
    }

    fn may_transmit(&self) -> bool {
        self.control || self.flows > 0
    }

    fn waiting(&self) -> Waiting {
        Waiting { control: self.control, flows: self.flows }
    }

    fn on_departure(&mut self, _: &mut Cx, SendId(bits): SendId, _: Departure) {
        self.note(&format!("departed{bits}"));
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn is_receiving(&self, _: HostId, flow: FlowId) -> bool {
        flow == FlowId(self.name.into())
    }

    fn stats(&self) -> Stats {
        let own = u64::from(self.name) + 1;
        Stats { payload: PayloadStats { packets: 10 * own, reordered: own }, receiving: 5, credits: None }
    }

    fn inspect(&self, _: FlowId, see: &mut dyn FnMut(&'static str, f64)) {
        see("name", f64::from(self.name));
    }
}

/// A host with three transports, and what they were called for. Groups 0 to 3 have transports 1, 0, 2 and 2.
struct Host {
    all: Coexisting,
    calls: Arc<Mutex<Vec<String>>>,
    rng: Stream,
}

impl Host {
    fn of(change: impl Fn(&mut Scripted)) -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let stack = |name| {
            let mut scripted = Scripted { name, calls: Arc::clone(&calls), ..Scripted::default() };
            change(&mut scripted);
            Box::new(scripted) as Stack
        };
        let stacks = [0, 1, 2].map(stack).into();
        let all = Coexisting { stacks, of_group: [1, 0, 2, 2].into(), turn: Turn { of: 0, left: 0 } };
        Self { all, calls, rng: Stream::new(1, Purpose::Classes, 0) }
    }

    /// The calls of the transports while `act` runs.
    fn calls(&mut self, act: impl FnOnce(&mut Coexisting, &mut Cx)) -> Vec<String> {
        let mut cx = Cx { now: Time(7), clock: LocalClock::default(), rng: &mut self.rng };
        act(&mut self.all, &mut cx);
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    /// The transports of the next `count` packets; 9 for none.
    fn sent(&mut self, count: usize) -> Vec<u8> {
        let mut cx = Cx { now: Time(7), clock: LocalClock::default(), rng: &mut self.rng };
        let next = |_| match self.all.poll_transmit(&mut cx) {
            Tx::Send { packet, .. } => packet.header.marks.transport(),
            _ => 9,
        };
        (0..count).map(next).collect()
    }
}

#[test]
fn flows_packets_and_departures_reach_their_transport_and_timers_all() {
    let mut host = Host::of(|_| ());
    let request = |group| FlowRequest { group, ..FlowRequest::new(FlowId(1), HostId(1), Some(9), Time(0)) };
    for (group, call) in [(0, "1open"), (1, "0open"), (2, "2open"), (3, "2open"), (4, "0open")] {
        assert_eq!(host.calls(|all, cx| all.open(cx, request(group), &|| unreachable!())), [call]);
    }
    let meta = RxMeta { stamp: Time(7), noise: Span::ZERO };
    let packet = |number| Packet {
        header: Header { marks: Marks::none().of_transport(number), ..Header::default() },
        body: Segment::default(),
    };
    for (number, calls) in [(0, vec!["0packet"]), (1, vec!["1packet"]), (2, vec!["2packet"]), (3, vec![])] {
        assert_eq!(host.calls(|all, cx| all.on_packet(cx, meta, &packet(number))), calls);
    }
    assert_eq!(host.calls(Coexisting::on_timer), ["0timer", "1timer", "2timer"]);
    for number in [0_u64, 1, 2] {
        let id = SendId(NonZeroU64::new(number << SEND_ID_SHIFT | 77).unwrap());
        let departed = host.calls(|all, cx| all.on_departure(cx, id, Departure::Dropped));
        assert_eq!(departed, [format!("{number}departed77")]);
    }
    // No transport has the number 3, and no packet the name 0.
    for bits in [3 << SEND_ID_SHIFT | 77, 1 << SEND_ID_SHIFT] {
        let id = SendId(NonZeroU64::new(bits).unwrap());
        assert_eq!(host.calls(|all, cx| all.on_departure(cx, id, Departure::Dropped)), [""; 0]);
    }
}

#[test]
fn commands_reach_all_transports_and_thresholds_the_first() {
    let mut host = Host::of(|_| ());
    let forget = Command::ForgetHost(HostId(3));
    assert_eq!(host.calls(|all, cx| all.control(cx, forget)), ["0control", "1control", "2control"]);
    let thresholds = Thresholds { of: ThresholdSet::HostLevel, bytes: vec![1] };
    let set = Command::Thresholds(&thresholds);
    assert_eq!(host.calls(|all, cx| all.control(cx, set)), ["0control"]);
}

#[test]
fn a_turn_has_as_many_packets_as_its_transport_has_flows_and_control_goes_first() {
    let mut host = Host::of(|own| own.flows = [2, 0, 3][usize::from(own.name)]);
    assert_eq!(host.sent(11), [2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 2]);
    let mut host = Host::of(|own| (own.flows, own.control) = (usize::from(own.name != 1), own.name == 1));
    assert!(host.all.may_transmit());
    assert_eq!(host.all.waiting(), Waiting { control: true, flows: 2 });
    assert_eq!(host.sent(4), [1, 2, 0, 2]);
    assert_eq!(host.all.waiting(), Waiting { control: false, flows: 2 });
    let mut idle = Host::of(|_| ());
    assert_eq!((idle.sent(2), idle.all.may_transmit()), (vec![9, 9], false));
    assert_eq!(idle.all.waiting(), Waiting { control: false, flows: 0 });
}

#[test]
fn the_answers_of_all_transports_are_one_answer() {
    let times = [Some(Time(9)), None, Some(Time(8))];
    let mut host = Host::of(|own| {
        own.timeout = times[usize::from(own.name)];
        own.events = vec![Event::Duplicate { flow: FlowId(own.name.into()) }];
    });
    assert_eq!(host.all.next_timeout(), Some(Time(8)));
    assert_eq!(Host::of(|_| ()).all.next_timeout(), None);
    let events: Vec<Event> = std::iter::from_fn(|| host.all.poll_event()).collect();
    assert_eq!(events, [0, 1, 2].map(|flow| Event::Duplicate { flow: FlowId(flow) }));
    assert_eq!([0, 2, 3].map(|flow| host.all.is_receiving(HostId(1), FlowId(flow))), [true, true, false]);
    // 10 + 20 + 30 packets, 1 + 2 + 3 of them reordered, and three times five flows.
    let payload = PayloadStats { packets: 60, reordered: 6 };
    assert_eq!(host.all.stats(), Stats { payload, receiving: 15, credits: None });
    let mut seen = Vec::new();
    host.all.inspect(FlowId(0), &mut |name, value| seen.push((name, value)));
    assert_eq!(seen, [("name", 0.0), ("name", 1.0), ("name", 2.0)]);
}
