//! The thread of a host, driven step by step, with a scripted endpoint and peers that send datagrams by hand. No test here waits for
//! time to pass: a datagram over the loopback interface has arrived when `send` returns.

mod arrivals;
mod changes;
mod departures;
mod endings;
mod longest_steps;
mod orders;
mod setup;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use priolane_core::endpoint::{
    Command, Cx, Endpoint, Event, FlowReport, FlowRequest, LocalHost, PathInfo, RxMeta, Stats, Tx, Weights,
};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::{Header, Kind, Marks, Offset, Packet};
use priolane_core::transport::window::Segment;
use priolane_core::units::{Span, Time};

use super::driver::{Driver, Turn};
use super::start::prepare;
use crate::config::Config;
use crate::content::Content;
use crate::message::{MessageId, Outcome, Pending, Request};
use crate::scheme::Scheme;
use crate::shared::{Order, Outgoing};
use crate::socket::{Grouping, RecvBatch, SendBatch, SendOutcome, UdpSocket};

type Body = Segment<()>;

/// An endpoint that records its inputs, and whose outputs a test sets.
#[derive(Debug)]
struct Scripted {
    local: LocalHost,
    opened: Vec<(FlowRequest, PathInfo)>,
    commands: Vec<String>,
    arrived: Vec<(Time, RxMeta, Packet<Body>)>,
    timers: Vec<Time>,
    to_send: VecDeque<Tx<Body>>,
    events: VecDeque<Event>,
    timeout: Option<Time>,
    receives: bool,
    stats: Stats,
}

impl Scripted {
    fn new(local: LocalHost) -> Self {
        Self {
            local,
            opened: Vec::new(),
            commands: Vec::new(),
            arrived: Vec::new(),
            timers: Vec::new(),
            to_send: VecDeque::new(),
            events: VecDeque::new(),
            timeout: None,
            receives: true,
            stats: Stats::default(),
        }
    }

    /// Returns the commands since the last call.
    fn take_commands(&mut self) -> Vec<String> {
        std::mem::take(&mut self.commands)
    }

    /// Returns the flows that were opened since the last call.
    fn take_opened(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.opened).iter().map(|(request, _)| request.id.0).collect()
    }
}

impl Endpoint for Scripted {
    type Body = Body;

    fn open(&mut self, _: &mut Cx<'_>, flow: FlowRequest, path: &dyn Fn() -> PathInfo) {
        self.opened.push((flow, path()));
    }

    fn control(&mut self, _: &mut Cx<'_>, command: Command<'_>) {
        self.commands.push(format!("{command:?}"));
    }

    fn on_packet(&mut self, cx: &mut Cx<'_>, meta: RxMeta, packet: &Packet<Body>) {
        self.arrived.push((cx.now, meta, *packet));
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        self.timers.push(cx.now);
        self.timeout = None;
    }

    fn next_timeout(&self) -> Option<Time> {
        self.timeout
    }

    fn poll_transmit(&mut self, _: &mut Cx<'_>) -> Tx<Body> {
        self.to_send.pop_front().unwrap_or(Tx::Idle)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn is_receiving(&self, _: HostId, _: FlowId) -> bool {
        self.receives
    }

    fn stats(&self) -> Stats {
        self.stats
    }
}

fn config() -> Config {
    Config::new(Scheme::with("dctcp", &[]).unwrap())
}

fn driver(config: Config) -> Driver<Scripted> {
    let (start, _) = prepare(config).unwrap();
    start.driver(Scripted::new).unwrap()
}

/// A peer whose datagrams a test writes and reads.
struct Peer {
    socket: UdpSocket,
    address: SocketAddr,
    /// The nonce that the host drew for the session with this peer.
    nonce: u64,
}

/// The nonce of each peer.
const NONCE: u64 = 7;

const CHALLENGE: u8 = 1;
const WELCOME: u8 = 2;
const PING: u8 = 5;
const ABORT: u8 = 7;
const TOO_LONG: u8 = 8;
const GIVEN_UP: u8 = 9;

impl Peer {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), 1 << 20).unwrap();
        let address = socket.local_address().unwrap();
        Self { socket, address, nonce: 0 }
    }

    /// Creates a peer that has a session with `driver`, and returns it with the name that it has there.
    fn known_to<E: Endpoint>(driver: &mut Driver<E>) -> (Self, HostId) {
        let mut peer = Self::new();
        let host = peer.greet(driver, 1);
        driver.apply_changes();
        driver.fill_lanes();
        (peer, host)
    }

    /// Greets the host of `driver` as the given run of this peer, which the host accepts.
    fn greet<E: Endpoint>(&mut self, driver: &mut Driver<E>, run: u64) -> HostId {
        self.hello(driver, run);
        driver.transmit();
        let welcome = self.next_of(WELCOME);
        self.nonce = u64::from_le_bytes(welcome[17..25].try_into().unwrap());
        driver.peers.greet(self.address, driver.given).unwrap()
    }

    /// Sends HELLO as the given run of this peer, at first without and then with a cookie.
    fn hello<E: Endpoint>(&self, driver: &mut Driver<E>, run: u64) {
        let mut hello = [0; 44];
        hello[1..9].copy_from_slice(&run.to_le_bytes());
        hello[9..17].copy_from_slice(&NONCE.to_le_bytes());
        hello[26..32].copy_from_slice(b"window");
        hello[42..].copy_from_slice(&1_500u16.to_le_bytes());
        self.send(driver, 0, &hello);
        driver.transmit();
        let challenge = self.next_of(CHALLENGE);
        hello[17..26].copy_from_slice(&challenge[9..18]);
        self.send(driver, 0, &hello);
    }

    /// Sends a datagram with this TOS, which the driver then receives.
    fn send<E: Endpoint>(&self, driver: &mut Driver<E>, tos: u8, bytes: &[u8]) {
        self.send_only(driver, tos, bytes);
        driver.receive();
    }

    fn send_only<E: Endpoint>(&self, driver: &Driver<E>, tos: u8, bytes: &[u8]) {
        let to = driver.socket.local_address().unwrap();
        let mut batch = SendBatch::new(2_048, Grouping::Single);
        batch.push(&self.socket, (to, tos), |out| {
            out[..bytes.len()].copy_from_slice(bytes);
            Some(bytes.len())
        });
        assert!(matches!(batch.send(&self.socket), SendOutcome::All));
    }

    /// Sends a message of the session with the host.
    fn say<E: Endpoint>(&self, driver: &mut Driver<E>, number: u8, value: u32) {
        let nonces = [NONCE, self.nonce].map(u64::to_le_bytes);
        let message = [&[number][..], &nonces[0], &nonces[1], &value.to_le_bytes()].concat();
        self.send(driver, 0, &message);
    }

    /// Returns the datagrams that arrived since the last call, each with its TOS.
    fn received(&self) -> Vec<(u8, Vec<u8>)> {
        let mut batch = RecvBatch::new(2_048);
        let mut all = Vec::new();
        loop {
            batch.receive(&self.socket).unwrap();
            if batch.is_empty() {
                return all;
            }
            all.extend(batch.datagrams().map(|datagram| (datagram.tos, datagram.bytes.to_vec())));
        }
    }

    /// Returns the messages that arrived since the last call: their numbers and the values at their ends.
    fn messages(&self) -> Vec<(u8, u32)> {
        let value = |bytes: &[u8]| u32::from_le_bytes(bytes[bytes.len() - 4..].try_into().unwrap());
        self.received().iter().map(|(_, bytes)| (bytes[0], value(bytes))).collect()
    }

    fn next_of(&self, number: u8) -> Vec<u8> {
        let came = self.received();
        let found = came.iter().find(|(_, bytes)| bytes[0] == number);
        found.unwrap_or_else(|| panic!("no message {number} in {came:?}")).1.clone()
    }
}

/// Returns a data packet of the window transports.
fn payload(flow: u32, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let head = [0x10, 0x20].into_iter().chain(flow.to_le_bytes());
    let fields = offset.to_le_bytes().into_iter().take(6).chain([1, 2, 3, 4]);
    head.chain(fields).chain(bytes.iter().copied()).collect()
}

/// Returns a data packet that the endpoint sends.
fn data(to: HostId, flow: u32, (offset, payload): (u64, u16)) -> Packet<Body> {
    let header = Header {
        flow: FlowId(flow),
        dst: to,
        kind: Kind::Data,
        offset: Offset::new(offset),
        payload,
        wire: payload + 100,
        ..Header::default()
    };
    Packet { header, body: Body::default() }
}

/// Returns an acknowledgement that the endpoint sends.
fn acknowledgement(to: HostId, flow: u32) -> Packet<Body> {
    let header = Header { flow: FlowId(flow), dst: to, kind: Kind::Ack, wire: 84, ..Header::default() };
    Packet { header, body: Body::default() }
}

fn sending(packet: Packet<Body>) -> Tx<Body> {
    Tx::Send { packet, id: None }
}

/// Queues a message, and returns the place where its outcome appears.
fn send(driver: &mut Driver<Scripted>, id: u64, request: Request, bytes: &'static [u8]) -> Arc<Pending> {
    let receipt = Arc::new(Pending::default());
    let outgoing = Outgoing {
        id: MessageId(id),
        request,
        content: Content::Whole(bytes.into()),
        receipt: Some(Arc::clone(&receipt)),
    };
    driver.shared.reserve(bytes.len() as u64, (u64::MAX, usize::MAX)).unwrap();
    order(driver, Order::Send(outgoing));
    receipt
}

fn order(driver: &mut Driver<Scripted>, order: Order) {
    driver.shared.order(order);
    let now = driver.given;
    assert!(driver.take_orders(now).is_some());
    driver.fill_lanes();
}

/// Returns the flow of message `id`.
fn flow(driver: &Driver<Scripted>, id: u64) -> u32 {
    driver.setup.first_flow.wrapping_add(id as u32)
}

fn outcome(receipt: &Pending) -> Option<Outcome> {
    receipt.get()
}

/// Lets the endpoint report `event`.
fn report(driver: &mut Driver<Scripted>, event: Event) {
    driver.endpoint.events.push_back(event);
    driver.tell();
    driver.fill_lanes();
}

/// Returns the report of a completed flow, in which each number differs from all others.
fn completed(flow: u32) -> Event {
    Event::Completed(FlowReport {
        flow: FlowId(flow),
        bytes: 11,
        remaining: 12,
        rate_bps: 13,
        retransmitted: 14,
        retransmits: 15,
        timeouts: 16,
        initial_timeouts: 0,
        spurious: 0,
        rtt: Span::from_ns(17),
        elapsed: Span::from_ns(18),
        class_first: 3,
        class_last: 4,
    })
}
