//! A network between two hosts that loses, duplicates and delays datagrams, by a generator with a seed.

use std::collections::BinaryHeap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use priolane_net::core::rng::{Purpose, Stream};

/// The fractions of datagrams that are lost, duplicated, and delayed by 0.2 to 2 ms, so that others overtake them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    pub(crate) lost: f64,
    pub(crate) twice: f64,
    pub(crate) held_up: f64,
    /// The fraction of datagrams in which a byte is changed.
    pub(crate) changed: f64,
}

impl Faults {
    pub(crate) const NONE: Self = Self { lost: 0.0, twice: 0.0, held_up: 0.0, changed: 0.0 };
}

/// The host that a datagram is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    First,
    Second,
}

/// A datagram that is delayed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    /// The time of departure, reversed so that the first to leave is the greatest.
    due: std::cmp::Reverse<Instant>,
    to: To,
    bytes: Vec<u8>,
}

/// The network between two hosts, which ends on drop.
pub(crate) struct Proxy {
    /// The address at which the first host reaches the second.
    pub(crate) second: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Creates the network to the host at `second`. The first host is the one that sends to the network first.
    pub(crate) fn new(second: SocketAddr, faults: Faults, seed: u64) -> Self {
        let [front, back] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let (address, stop) = (front.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        for socket in [&front, &back] {
            socket.set_nonblocking(true).unwrap();
        }
        let network = Network {
            front,
            back,
            first: None,
            second,
            faults,
            draw: Stream::new(seed, Purpose::Loss, 0),
            held: BinaryHeap::new(),
        };
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || network.run(&stop_flag));
        Self { second: address, stop, thread: Some(thread) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

struct Network {
    front: UdpSocket,
    back: UdpSocket,
    first: Option<SocketAddr>,
    second: SocketAddr,
    faults: Faults,
    draw: Stream,
    held: BinaryHeap<Held>,
}

impl Network {
    fn run(mut self, stop: &AtomicBool) {
        let mut buffer = [0; 2_048];
        while !stop.load(Ordering::Relaxed) {
            let mut idle = true;
            for to in [To::Second, To::First] {
                let socket = if to == To::Second { &self.front } else { &self.back };
                let Ok((len, from)) = socket.recv_from(&mut buffer) else { continue };
                if to == To::Second {
                    self.first = Some(from);
                }
                self.carry(to, &mut buffer[..len]);
                idle = false;
            }
            while self.held.peek().is_some_and(|held| held.due.0 <= Instant::now()) {
                let Held { to, bytes, .. } = self.held.pop().unwrap();
                self.send(to, &bytes);
            }
            if idle {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
    }

    fn carry(&mut self, to: To, bytes: &mut [u8]) {
        let Faults { lost, twice, held_up, changed } = self.faults;
        if self.draw.chance(lost) {
            return;
        }
        if self.draw.chance(changed) && !bytes.is_empty() {
            let place = self.draw.below(bytes.len() as u64) as usize;
            bytes[place] ^= 1 << self.draw.below(8);
        }
        for _ in 0..1 + u32::from(self.draw.chance(twice)) {
            if self.draw.chance(held_up) {
                let due = Instant::now() + Duration::from_micros(200 + self.draw.below(1_800));
                self.held.push(Held { due: std::cmp::Reverse(due), to, bytes: bytes.to_vec() });
            } else {
                self.send(to, bytes);
            }
        }
    }

    fn send(&self, to: To, bytes: &[u8]) {
        // What does not fit the system's buffer is lost, as in any network.
        if to == To::Second {
            let _ = self.back.send_to(bytes, self.second);
        } else if let Some(first) = self.first {
            let _ = self.front.send_to(bytes, first);
        }
    }
}
