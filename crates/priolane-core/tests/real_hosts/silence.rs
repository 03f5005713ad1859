//! A sender that opens flows and then falls silent: what its receiver sends to it is bounded, and its flows end.

use std::fmt::Debug;

use priolane_core::endpoint::{Command, Control, Endpoint, LocalHost, RealHost, Rejection};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Span;
use priolane_core::wire::WireBody;

use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport};

const NETWORK: Network = Network::without_faults(Span::from_us(30));

const CLOCKS: [Clock; 2] = [Clock { ahead: Span::from_ms(1_000), ppm: 0.0 }; 2];

const REAL: RealHost =
    RealHost { time_wait: Span::from_ms(100), idle: Span::from_ms(400), ..RealHost::new(SECRET) };

/// A flow of 128 TiB.
const HUGE: u64 = 1 << 47;

/// Opens `flows` flows of `size` bytes and delivers the first datagram of each, after which the sender is silent.
fn open<E: Endpoint<Body: WireBody>>(net: &mut Net<E>, flows: u32, size: u64) {
    for flow in 0..flows {
        let first = net.log.len();
        net.open(0, flow, size, 0);
        net.drain(0);
        net.lose_all();
        let (_, _, datagram) = net.log[first].clone();
        net.receive(1, &datagram);
    }
    net.sending[0] = false;
    net.log.clear();
}

/// Returns the datagrams that a receiver sent, and the bytes of their payload.
fn sent<E: Endpoint<Body: WireBody>>(net: &Net<E>) -> (usize, usize) {
    let sent = net.log.iter().filter(|(_, from, _)| *from == 1);
    (sent.clone().count(), sent.map(|(_, _, datagram)| datagram.bytes.len()).sum())
}

/// One datagram of each of `flows` flows, then nothing.
struct Silent<F> {
    flows: u32,
    /// Datagrams and bytes that go, by transport.
    expected: F,
}

impl<F: Fn(&str) -> (usize, usize)> Trial for Silent<F> {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, make, REAL, (NETWORK, Late::NEVER), CLOCKS);
        let began = net.now;
        open(&mut net, self.flows, HUGE);
        net.run(began + Span::from_ms(300));
        let (early, _) = sent(&net);
        // No flow is idle yet, and none ends before.
        assert_eq!(net.forgotten(1), [], "{name}");
        net.run(began + REAL.idle + Span::from_ms(1));
        let (datagrams, bytes) = sent(&net);
        // 2 x 1 Gbit/s x 1 ms.
        assert!(bytes <= 250_000, "{name}: {bytes} bytes in {datagrams} datagrams");
        let unanswered = net.unanswered(1);
        assert!(unanswered <= 1, "{name}: asks {unanswered} times whether the sender is there");
        assert!(unanswered == 0 || early == datagrams, "{name}: goes on when its budget is spent");
        assert_eq!(net.forgotten(1).len(), self.flows as usize, "{name}: flows that ended");
        let receiving = |flow| net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(flow));
        assert!((0..self.flows).all(|flow| !receiving(flow)), "{name}");
        net.run(began + REAL.idle + REAL.time_wait.times(3));
        assert_eq!(sent(&net), (datagrams, bytes), "{name}: something is sent after the flows ended");
        assert_eq!(net.hosts[1].endpoint.next_timeout(), None, "{name}: nothing is left to be done");
        assert_eq!((datagrams, bytes), (self.expected)(name), "{name}");
    }
}

/// A flow that is longer than may be, and one that came to life after it had ended.
struct Rejected;

impl Trial for Rejected {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let real = RealHost { longest: 1_000_000, time_wait: Span::from_ms(5_000), ..REAL };
        let mut net = Net::new(name, &make, real, (NETWORK, Late::NEVER), CLOCKS);
        // The lengths of flows of the window transports are not announced: their driver counts bytes.
        let announces = ["expresspass", "top", "phost", "ndp", "homa"].iter().any(|of| name.starts_with(of));
        if announces {
            net.open(0, 7, 1_000_001, 0);
            net.run(net.now + Span::from_ms(50));
            assert!(
                net.rejected(1).contains(&(FlowId(7), Rejection::TooLong)),
                "{name}: {:?}",
                net.rejected(1)
            );
            assert_eq!((sent(&net).0, net.readable(1, 7)), (0, 0), "{name}: it is not asked for");
        }
        // Two flows of which the first datagram came, and then none for long.
        let mut net = Net::new(name, make, real, (NETWORK, Late::NEVER), CLOCKS);
        open(&mut net, 2, 900_000);
        net.run(net.now + real.idle + Span::from_ms(1));
        assert_eq!(net.forgotten(1).len(), 2, "{name}");
        net.sending[0] = true;
        net.drain(0);
        net.run(net.now + Span::from_ms(4_000));
        assert!(net.rejected(1).contains(&(FlowId(0), Rejection::GivenUp)), "{name}: {:?}", net.rejected(1));
        assert!(!net.delivered(1, 0), "{name}: a flow without its first bytes");
    }
}

#[test]
fn a_sender_learns_of_flows_that_are_too_long_or_have_ended() {
    every_transport(&Rejected);
}

/// Two hosts talk over a bad network, and then every datagram of theirs comes once more.
struct PlayedAgain;

impl Trial for PlayedAgain {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let bad = Network { lost: 0.05, held_up: (0.02, Span::from_us(300)), ..NETWORK };
        let mut net = Net::new(name, make, RealHost::new(SECRET), (bad, Late::NEVER), CLOCKS);
        for (id, size) in [1_000, 100_000, 400_000].into_iter().enumerate() {
            (0..2).for_each(|from| net.open(from, id as u32, size, 0));
        }
        net.open(0, 7, 3_000_000, 0);
        net.run(net.now + Span::from_ms(2));
        net.control(0, Command::Flow(FlowId(7), Control::Abort));
        net.control(1, Command::EndReceived { src: HostId(0), flow: FlowId(7) });
        net.run(net.now + Span::from_ms(300));
        assert!(net.completed(0, 2).is_some() && net.completed(1, 2).is_some(), "{}", net.unfinished());
        let log = std::mem::take(&mut net.log);
        let mut most = 0;
        for (_, from, datagram) in log.iter().step_by(log.len().div_ceil(1_500)) {
            net.receive(1 - from, datagram);
            net.run(net.now + Span::from_us(200));
            let answers: Vec<usize> = net.log.iter().map(|(_, _, answer)| answer.bytes.len()).collect();
            most = most.max(answers.len());
            // An answer, and in turn its answer, which ends it: a token of a flow that was aborted, RESET, DONE.
            assert!(answers.len() <= 2, "{name}: {answers:?} in answer to {:?}", &datagram.bytes[..2]);
            let longest = 20.max(datagram.bytes.len());
            assert!(answers.iter().all(|&len| len <= longest), "{name}: {answers:?} bytes");
            net.log.clear();
        }
        assert!(most > 0, "{name}: nothing is answered");
    }
}

#[test]
fn no_datagram_that_comes_again_starts_an_exchange_that_feeds_itself() {
    every_transport(&PlayedAgain);
}

/// Datagrams and bytes that a silent sender gets for one flow, and for 64. The budget at 1 Gbit/s is 162 packets: 2 x 125 kB in
/// packets of 1538 bytes.
fn expected(name: &str) -> [(usize, usize); 2] {
    match name {
        // Tokens of 18 bytes.
        _ if name.starts_with("top") || name == "expresspass" => [(162, 162 * 18); 2],
        // Tokens of 16 bytes: for a flow in ever longer rounds, which reach the budget only with many flows.
        "phost" => [(99, 99 * 16), (162, 162 * 16)],
        // An ACK for each packet; more is asked for where it comes.
        "ndp" => [(1, 16), (64, 64 * 16)],
        // Requests for retransmission, of 18 bytes each, for more and more packets; and the grants of 13 bytes before them.
        "homa" => [(19, 337), (22, 391)],
        // A SYN/ACK for each SYN.
        _ => [(1, 10), (64, 640)],
    }
}

#[test]
fn a_sender_that_falls_silent_gets_a_bounded_number_of_bytes_and_its_flows_end() {
    for (place, flows) in [1, 64].into_iter().enumerate() {
        every_transport(&Silent { flows, expected: |name: &str| expected(name)[place] });
    }
}
