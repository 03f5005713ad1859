//! The inputs of an endpoint on a real host, recorded and replayed to a second endpoint, lead to the same outputs.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use priolane_core::endpoint::{
    Command, Control, Cx, Event, FlowRequest, LocalClock, PathInfo, RxMeta, Tx, Weights,
};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::keys::Value;
use priolane_core::packet::Packet;
use priolane_core::units::Rate;

use super::*;
use crate::error::SendError;
use crate::host::Host;
use crate::message::Request;
use crate::scheme::Scheme;

/// An input of an endpoint.
#[derive(Clone, Copy, Debug)]
enum Input<B> {
    Open(FlowRequest, PathInfo),
    Change(FlowId, Control),
    Forget(HostId),
    Packet(RxMeta, Packet<B>),
    Timer,
    Poll,
}

/// A call of the endpoint with its formatted results: packets, events, and the time at which the next timer is due.
#[derive(Debug)]
struct Call<B> {
    now: Time,
    input: Input<B>,
    output: String,
}

impl<B> Input<B> {
    fn change(&self) -> Option<Control> {
        match *self {
            Self::Change(_, control) => Some(control),
            Self::Open(..) | Self::Forget(_) | Self::Packet(..) | Self::Timer | Self::Poll => None,
        }
    }
}

type Log<B> = Arc<Mutex<(Option<Stream>, Vec<Call<B>>)>>;

/// An endpoint that records its inputs and outputs.
struct Recorded<E: Endpoint> {
    inner: E,
    events: std::collections::VecDeque<Event>,
    log: Log<E::Body>,
}

/// Calls an endpoint with an input, and returns the formatted results.
fn tell<E: Endpoint>(
    endpoint: &mut E,
    cx: &mut Cx<'_>,
    input: Input<E::Body>,
) -> (Tx<E::Body>, Vec<Event>, String) {
    let mut sent = Tx::Idle;
    match input {
        Input::Open(flow, path) => endpoint.open(cx, flow, &|| path),
        Input::Change(flow, control) => endpoint.control(cx, Command::Flow(flow, control)),
        Input::Forget(host) => endpoint.control(cx, Command::ForgetHost(host)),
        Input::Packet(meta, packet) => endpoint.on_packet(cx, meta, &packet),
        Input::Timer => endpoint.on_timer(cx),
        Input::Poll => sent = endpoint.poll_transmit(cx),
    }
    let events: Vec<Event> = std::iter::from_fn(|| endpoint.poll_event()).collect();
    let output = format!("{sent:?} {events:?} {:?}", endpoint.next_timeout());
    (sent, events, output)
}

impl<E: Endpoint> Recorded<E> {
    fn record(&mut self, cx: &mut Cx<'_>, input: Input<E::Body>) -> Tx<E::Body> {
        let mut log = self.log.lock().unwrap();
        log.0.get_or_insert_with(|| cx.rng.clone());
        let (sent, events, output) = tell(&mut self.inner, cx, input);
        self.events.extend(events);
        log.1.push(Call { now: cx.now, input, output });
        sent
    }
}

impl<E: Endpoint> Endpoint for Recorded<E> {
    type Body = E::Body;

    fn open(&mut self, cx: &mut Cx<'_>, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        self.record(cx, Input::Open(flow, path()));
    }

    fn control(&mut self, cx: &mut Cx<'_>, command: Command<'_>) {
        let input = match command {
            Command::Flow(flow, control) => Input::Change(flow, control),
            Command::ForgetHost(host) => Input::Forget(host),
            other => panic!("{other:?} is not part of the trial"),
        };
        self.record(cx, input);
    }

    fn on_packet(&mut self, cx: &mut Cx<'_>, meta: RxMeta, packet: &Packet<E::Body>) {
        self.record(cx, Input::Packet(meta, *packet));
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        self.record(cx, Input::Timer);
    }

    fn next_timeout(&self) -> Option<Time> {
        self.inner.next_timeout()
    }

    fn poll_transmit(&mut self, cx: &mut Cx<'_>) -> Tx<E::Body> {
        self.record(cx, Input::Poll)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn is_receiving(&self, src: HostId, flow: FlowId) -> bool {
        self.inner.is_receiving(src, flow)
    }
}

/// Changes a message that does not end by itself, and aborts it. Returns the commands that the endpoint must receive.
fn change_and_abort(host: &Host, to: SocketAddr, weights: Weights, name: &str) -> [Control; 3] {
    let receipt = host.try_send_repeated(Request::to(to), b"endless", 1 << 30).expect(name);
    host.set_weights(receipt.id(), weights).expect(name);
    host.set_class(receipt.id(), 3).expect(name);
    host.abort(receipt.id());
    assert_eq!(receipt.wait().map(|_| ()), Err(SendError::Aborted), "{name}");
    let Weights { theta, w_milli } = weights;
    [Control::Weights { theta, w_milli }, Control::Class(3), Control::Abort]
}

/// Two hosts exchange messages; the inputs of the first endpoint are replayed to another one.
struct Replayed {
    start: Start,
    other: Host,
    name: &'static str,
}

impl EndpointUser for Replayed {
    type Out = ();

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) {
        let Self { start, other, name } = self;
        let limits = start.config.limits;
        let (log, local): (Log<E::Body>, Arc<Mutex<Option<LocalHost>>>) = (Log::default(), Arc::default());
        let recorded = |host| {
            *local.lock().unwrap() = Some(host);
            Recorded { inner: make(host), events: Default::default(), log: Arc::clone(&log) }
        };
        let (address, shared) = (start.address, Arc::clone(&start.shared));
        let mut driver = start.driver(recorded).unwrap();
        let thread = thread::spawn(move || driver.run());
        let host = Host::of(HostThread { shared, address, scheduling: Scheduling::Ordinary, thread }, limits);
        for len in [1, 3_000, 60_000, 200_000] {
            let receipt = host.send_with_receipt(Request::to(other.address()), vec![1; len]).unwrap();
            other.send(Request::to(address), vec![2; len]).unwrap();
            receipt.wait_for(Duration::from_secs(10)).expect(name).expect(name);
            assert_eq!(host.recv().unwrap().bytes.len(), len, "{name}");
        }
        let weights = Weights { theta: Rate::from_bps(1_000_000), w_milli: 2_500 };
        let changes = change_and_abort(&host, other.address(), weights, name);
        drop(host);
        let local = local.lock().unwrap().take().unwrap();
        let mut again = make(local);
        let mut log = log.lock().unwrap();
        let mut rng = log.0.take().unwrap();
        let changed: Vec<Control> = log.1.iter().filter_map(|call| call.input.change()).collect();
        assert_eq!(changed, changes, "{name}");
        let count = |is_one: fn(&Call<E::Body>) -> bool| log.1.iter().filter(|call| is_one(call)).count();
        let (sent, came) = (
            count(|call| call.output.starts_with("Send")),
            count(|call| matches!(call.input, Input::Packet(..))),
        );
        assert!(sent > 100 && came > 100, "{name}: {sent} packets sent, {came} came");
        for (place, call) in log.1.iter().enumerate() {
            let mut cx = Cx { now: call.now, clock: LocalClock::default(), rng: &mut rng };
            let (_, _, output) = tell(&mut again, &mut cx, call.input);
            assert_eq!(output, call.output, "{name}, call {place}: {:?}", call.input);
        }
    }

    fn run_registered(self, _: &dyn RegisteredController, _: Arc<window::Config>, _: SchedulerKind) {
        panic!("{} is of this crate", self.name)
    }
}

#[test]
fn a_system_that_makes_no_groups_is_counted_and_datagrams_come_singly() {
    let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
    let single = format!("{:?}", RecvBatch::new(1_500));
    for (socket, offload, refused) in [
        (&socket, ReceiveOffload::Off, 0),
        (&socket, ReceiveOffload::Kernel, 0),
        (&UdpSocket::without_options(), ReceiveOffload::Kernel, 1),
    ] {
        let (batch, count) = arriving(socket, 1_500, offload);
        let singly = format!("{batch:?}") == single;
        assert_eq!((count, singly), (refused, offload == ReceiveOffload::Off || refused == 1));
    }
}

#[test]
fn a_host_is_not_bound_without_random_numbers() {
    use crate::random::FailingSource;
    let start_with = |calls| {
        let config = Config::new(Scheme::with("dctcp", &[]).unwrap());
        let limits = config.limits;
        let (start, transport) = prepare(config).unwrap();
        let random = Arc::new(FailingSource::after(calls));
        transport.with_endpoints(Start { random, ..start }).map(|started| Host::of(started, limits))
    };
    // The secret of flows, the first flow, the run, and the seed.
    for calls in 0..4 {
        assert!(matches!(start_with(calls), Err(BindError::Random)), "after {calls}");
    }
    assert!(start_with(4).is_ok());
}

#[test]
fn a_recorded_run_replayed_to_another_endpoint_leads_to_the_same_packets() {
    for name in ["dctcp", "swift", "prioplus_swift", "paccp", "expresspass", "top", "phost", "ndp", "homa"] {
        // Channels of delay that are wider than what processes are late by.
        let keys: &[(&str, Value<'_>)] = match name {
            "swift" => &[("target", Value::Text("2ms"))],
            "prioplus_swift" => &[("fluctuation", Value::Text("1ms")), ("noise", Value::Text("500us"))],
            "phost" => &[("expiry", Value::Integer(2_000)), ("relax", Value::Integer(2_000))],
            _ => &[],
        };
        let line = Rate::from_gbps(1);
        let config = Config { line, ..Config::new(Scheme::with(name, keys).unwrap()) };
        let other = Host::bind(config.clone()).unwrap();
        let (start, transport) = prepare(config).unwrap();
        transport.with_endpoints(Replayed { start, other, name });
    }
}
