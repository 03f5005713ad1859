//! A peer with a socket of its own, whose datagrams are written byte by byte.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use priolane_net::Host;

use crate::wait::PATIENCE;

/// A peer whose datagrams a test writes.
pub(crate) struct ByHand {
    pub(crate) socket: UdpSocket,
}

/// The position of the cookie in HELLO, counted from the start of the datagram, and the length of HELLO, both in bytes.
pub(crate) const BEFORE_COOKIE: usize = 17;
const HELLO: usize = 44;

impl ByHand {
    /// Creates a peer at an address of its own.
    pub(crate) fn new(address: &str) -> Self {
        Self { socket: UdpSocket::bind(address).unwrap() }
    }

    pub(crate) fn hello(run: u64, transport: &str, mtu: u16) -> [u8; HELLO] {
        let mut hello = [0; HELLO];
        hello[1..9].copy_from_slice(&run.to_le_bytes());
        hello[9..17].copy_from_slice(&7u64.to_le_bytes());
        hello[26..26 + transport.len()].copy_from_slice(transport.as_bytes());
        hello[42..].copy_from_slice(&mtu.to_le_bytes());
        hello
    }

    pub(crate) fn receive(&self) -> Vec<u8> {
        self.receive_within(PATIENCE).unwrap_or_else(|| panic!("no answer to {:?}", self.socket.local_addr()))
    }

    pub(crate) fn receive_within(&self, time: Duration) -> Option<Vec<u8>> {
        let mut buffer = [0; 2_048];
        self.socket.set_read_timeout(Some(time)).unwrap();
        let len = self.socket.recv(&mut buffer).ok()?;
        Some(buffer[..len].to_vec())
    }

    /// Sends `bytes` once a second until an answer arrives, because the kernel may drop a datagram while another test
    /// floods it.
    fn ask(&self, host: &Host, bytes: &[u8]) -> Vec<u8> {
        let began = Instant::now();
        loop {
            self.send(host, bytes);
            if let Some(answer) = self.receive_within(Duration::from_secs(1)) {
                return answer;
            }
            assert!(began.elapsed() < PATIENCE, "no answer to {:?}", self.socket.local_addr());
        }
    }

    pub(crate) fn send(&self, host: &Host, bytes: &[u8]) {
        self.socket.send_to(bytes, host.address()).unwrap();
    }

    /// Greets a host, and returns the first byte of its last answer: 2 if the peer is known now, 3 if it is refused.
    pub(crate) fn greet(&self, host: &Host, run: u64, transport: &str, mtu: u16) -> u8 {
        let mut hello = Self::hello(run, transport, mtu);
        let challenge = self.ask(host, &hello);
        assert_eq!((challenge[0], challenge.len()), (1, 18));
        assert!(challenge.len() <= HELLO, "no answer is longer than what it answers");
        hello[BEFORE_COOKIE..26].copy_from_slice(&challenge[9..18]);
        let mut answer = self.ask(host, &hello);
        // An answer to a HELLO that was sent again: another CHALLENGE.
        while answer[0] == 1 {
            answer = self.receive();
        }
        answer[0]
    }

    /// Sends a data packet of the window transports that holds a whole flow, and waits for its ACK.
    pub(crate) fn deliver(&self, host: &Host, flow: u32, payload: &[u8]) {
        let mut answer = self.ask(host, &packet(flow, 0, payload));
        while answer[1] & 0xf != 1 {
            answer = self.receive();
        }
    }
}

/// Returns the only packet of a flow of the window transports: version 1, format 0, LAST, DATA.
pub(crate) fn packet(flow: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let head = [0x10, 0x20].into_iter().chain(flow.to_le_bytes());
    let fields = offset.to_le_bytes().into_iter().take(6).chain([1, 2, 3, 4]);
    head.chain(fields).chain(payload.iter().copied()).collect()
}
