//! Tests of the memory that peers can make a host use, measured by an allocator that counts.
//!
//! This is a separate program with a single test, because the allocator counts the memory of the whole process.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "real hosts go by the clock; tests say what they measured"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use priolane_net::{Config, Host, Limits, Scheme};

#[path = "../hosts/by_hand.rs"]
mod by_hand;
#[path = "../hosts/wait.rs"]
mod wait;

use by_hand::{ByHand, packet};
use wait::eventually;

/// The number of bytes that are allocated now, and the size of the largest allocation since the last reset.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An upper bound on the overhead of an allocation in bytes.
const HEADER: usize = 16;

#[expect(unsafe_code, reason = "an allocator that counts")]
// SAFETY: all is passed to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() + HEADER, Ordering::Relaxed);
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() + HEADER, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Returns the number of bytes that `what` leaves allocated, with its result.
fn grown<T>(what: impl FnOnce() -> T) -> (usize, T) {
    let before = live();
    let out = what();
    (live().saturating_sub(before), out)
}

/// Sends datagrams in such a way that the host's socket has room for all of them.
struct Flood<'a> {
    host: &'a Host,
    sent: u64,
    began: u64,
}

impl<'a> Flood<'a> {
    fn new(host: &'a Host) -> Self {
        Self { host, sent: 0, began: host.stats().datagrams_received }
    }

    fn send(&mut self, peer: &ByHand, datagram: &[u8]) {
        peer.send(self.host, datagram);
        self.sent += 1;
        if self.sent.is_multiple_of(32) {
            self.settle();
        }
        // ACKs find room too.
        peer.socket.set_nonblocking(true).unwrap();
        while peer.socket.recv(&mut [0; 2_048]).is_ok() {}
        peer.socket.set_nonblocking(false).unwrap();
    }

    fn settle(&self) {
        let stats = || self.host.stats();
        eventually(|| stats().datagrams_received + stats().lost_in_socket >= self.began + self.sent);
    }
}

fn host(limits: Limits) -> Host {
    Host::bind(Config { limits, ..Config::new(Scheme::named("dctcp").unwrap()) }).unwrap()
}

fn known(host: &Host, count: usize) -> Vec<ByHand> {
    let peers: Vec<ByHand> = (0..count).map(|_| ByHand::new("127.0.0.1:0")).collect();
    peers.iter().for_each(|peer| assert_eq!(peer.greet(host, 1, "window", 1_500), 2));
    peers
}

/// An upper bound in bytes on the memory for each datagram besides its payload: a run with its place in the tree, and
/// an interval at the endpoint.
const EACH: usize = 320;

/// Sends a byte far ahead of each of four messages, from each of 24 peers: 17 bytes for 16 MiB, once.
fn far_ahead() {
    let host = host(Limits::default());
    let (_, peers) = grown(|| known(&host, 24));
    let (memory, sent) = grown(|| {
        let mut flood = Flood::new(&host);
        for peer in &peers {
            (0..4).for_each(|flow| flood.send(peer, &packet_of(flow, (16 << 20) - 1, &[1])));
        }
        flood.settle();
        flood.sent as usize
    });
    // The entries of each message, and the tables that grow by half of themselves at once.
    let most = 3 * sent * (EACH + 512 + 256);
    assert!(memory <= most, "{memory} bytes for {sent} datagrams of a byte; at most {most}");
    println!("a byte far ahead of {sent} messages: {memory} bytes, {} a message", memory / sent);
}

/// Sends every other byte of a message, each in a datagram of its own.
fn scattered() {
    let host = host(Limits::default());
    let peers = known(&host, 1);
    let (memory, sent) = grown(|| {
        let mut flood = Flood::new(&host);
        (0..4_000).for_each(|n| flood.send(&peers[0], &packet_of(1, 2 * n, &[1])));
        flood.settle();
        flood.sent as usize
    });
    let kept = host.stats().receiving_bytes as usize;
    assert!(memory <= 4 * sent + sent * EACH + 65_536, "{memory} bytes for {sent} datagrams of a byte");
    println!("{sent} datagrams of a byte, scattered: {memory} bytes, {kept} by the host's own count");
}

/// Sends a message in order that never ends.
fn in_order() {
    let host = host(Limits::default());
    let peers = known(&host, 1);
    let (memory, came) = grown(|| {
        let mut flood = Flood::new(&host);
        (0..3_000).for_each(|n| flood.send(&peers[0], &packet_of(1, 1_456 * n, &[1; 1_456])));
        flood.settle();
        3_000 * 1_456
    });
    assert!(memory <= came + came / 8 + 65_536, "{memory} bytes for {came} in order");
    println!("{came} bytes in order: {memory} bytes");
}

/// Lets ten peers each send more than the whole memory limit.
fn all_room() {
    let limits = Limits { receiving: 4 << 20, peers: 16, ..Limits::default() };
    let host = host(limits);
    let peers = known(&host, 10);
    let (memory, ()) = grown(|| {
        let mut flood = Flood::new(&host);
        for n in 0..400 {
            for (flow, peer) in (0..).zip(&peers) {
                // In messages of 64 kB; one datagram of each is missing.
                let (message, at) = (n / 45, 1_456 * (n % 45 + 1));
                flood.send(peer, &packet_of(1_000 * flow + message as u32, at, &[1; 1_456]));
            }
        }
        flood.settle();
    });
    let stats = host.stats();
    assert!(stats.no_room > 500, "{stats:#?}");
    assert!(memory <= 4 << 20, "{memory} bytes of 4 MiB");
    assert!(stats.receiving_bytes <= 4 << 20);
    println!(
        "ten peers that want 5.8 MB: {memory} bytes of 4 MiB, {} by the host's own count",
        stats.receiving_bytes
    );
    // A host with a short message still gets in.
    let [honest] = &known(&host, 1)[..] else { unreachable!() };
    honest.deliver(&host, 1, b"short");
    assert_eq!(host.recv().unwrap().bytes, b"short");
}

/// Sends messages of one datagram, which are remembered after their arrival.
fn remembered() {
    let host = host(Limits::default());
    let peers = known(&host, 1);
    let (memory, sent) = grown(|| {
        let mut flood = Flood::new(&host);
        for flow in 0..30_000 {
            flood.send(&peers[0], &packet(flow, 0, b"x"));
            while host.try_recv().unwrap().is_some() {}
        }
        flood.settle();
        while host.try_recv().unwrap().is_some() {}
        flood.sent as usize
    });
    assert!(memory <= 96 * sent + 65_536, "{} bytes a message", memory / sent);
    println!("{sent} messages of a datagram, remembered: {memory} bytes, {} a message", memory / sent);
}

/// Returns a packet that is not the last of its flow.
fn packet_of(flow: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = packet(flow, offset, payload);
    bytes[1] = 0;
    bytes
}

#[test]
fn memory_is_bounded_by_the_bytes_that_came_and_by_what_a_host_may_keep() {
    for attack in [far_ahead, scattered, in_order, all_room, remembered] {
        LARGEST.store(0, Ordering::Relaxed);
        attack();
        // No datagram makes the host's thread fill a large block: its socket's buffers are the largest, and tables that grow.
        let largest = LARGEST.load(Ordering::Relaxed);
        assert!(largest <= 2 << 20, "an allocation of {largest} bytes");
    }
}
