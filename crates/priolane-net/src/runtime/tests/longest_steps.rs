//! Measures the work of a host for one datagram when its tables are full. The test prints the processor time of each
//! step, which decides nothing: `PRIOLANE_SOAK=1 cargo test --release -p priolane-net --lib longest_steps --
//! --nocapture` prints the numbers of docs/evidence/security.md.
#![expect(clippy::print_stdout, reason = "the test prints the time of each step")]

use std::time::Duration;

use cpu_time::ThreadTime;
use priolane_core::host::SchedulerKind;
use priolane_core::transport::window;
use priolane_core::transport::{EndpointUser, RegisteredController};

use super::super::start::Start;
use super::*;
use crate::config::Limits;

struct StepTimes {
    start: Start,
    flows: u32,
    runs: u64,
}

/// Prints the processor time of a step.
fn timed<T>(what: &str, step: impl FnOnce() -> T) -> T {
    let before = ThreadTime::now();
    let done = step();
    println!("{what}: {:.3} ms", before.elapsed().as_secs_f64() * 1e3);
    done
}

impl EndpointUser for StepTimes {
    type Out = ();

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) {
        let Self { start, flows, runs } = self;
        let mut driver = start.driver(make).unwrap();
        let (mut peer, host) = Peer::known_to(&mut driver);
        let message = |flow| payload(flow, 0, &[7; 10]);
        peer.send_only(&driver, 0, &message(0));
        timed("a message of one packet, with empty tables", || driver.receive());
        let mut longest = Duration::ZERO;
        for flow in 1..flows {
            peer.send_only(&driver, 0, &message(flow));
            let before = ThreadTime::now();
            driver.receive();
            longest = longest.max(before.elapsed());
            driver.transmit();
            if flow % 64 == 0 {
                peer.received();
                while driver.shared.take_message().unwrap().is_some() {}
            }
        }
        println!("the longest of {flows} messages of one packet: {:.3} ms", longest.as_secs_f64() * 1e3);
        assert_eq!(driver.stats.arrived, u64::from(flows));
        peer.send_only(&driver, 0, &message(flows));
        timed(&format!("the same with {flows} remembered flows"), || driver.receive());
        assert_eq!(driver.stats.arrived, u64::from(flows) + 1);

        // A packet that is not the last of its message.
        let part = |offset| {
            let mut bytes = payload(flows + 1, offset, &[1]);
            bytes[1] = 0;
            bytes
        };
        // Every other byte of a message, from the last to the first: as many runs as bytes.
        for place in (1..=runs).rev() {
            peer.send(&mut driver, 0, &part(2 * place));
        }
        let kept = driver.assembly.bytes();
        peer.send_only(&driver, 0, &part(1));
        timed(&format!("a packet of a message in {runs} runs"), || driver.receive());
        assert!(kept > 128 * runs && driver.assembly.bytes() > kept);
        let abort =
            [&[ABORT][..], &NONCE.to_le_bytes(), &peer.nonce.to_le_bytes(), &(flows + 1).to_le_bytes()];
        peer.send_only(&driver, 0, &abort.concat());
        timed("its abort", || driver.receive());
        timed("a step that frees runs", || driver.assembly.free_some());
        while driver.assembly.free_some() {}
        assert_eq!((driver.assembly.bytes(), driver.stats.dropped), (0, 1));

        // Other peers fill the table. Their sockets stay open, so that each has an address of its own.
        let others: Vec<_> = (1..driver.setup.limits.peers).map(|_| Peer::known_to(&mut driver)).collect();
        assert_eq!(driver.peers.count(), 1 + others.len());
        peer.received();
        // The last datagram of this greeting restarts the peer.
        let name =
            timed(&format!("the greeting of a peer that restarts, with {flows} remembered flows"), || {
                let name = peer.greet(&mut driver, 2);
                driver.apply_changes();
                name
            });
        assert_eq!(name, host);
        // The flows are forgotten: the first one opens again.
        peer.send(&mut driver, 0, &message(0));
        assert_eq!(driver.stats.arrived, u64::from(flows) + 2);
    }

    fn run_registered(self, _: &dyn RegisteredController, _: Arc<window::Config>, _: SchedulerKind) {
        panic!("DCTCP is of this crate")
    }
}

#[test]
fn full_tables_change_nothing_of_what_a_datagram_does() {
    let flows = priolane_rounds::rounds(3_000, 1_000_000) as u32;
    let runs = priolane_rounds::rounds(3_000, 200_000);
    let limits = Limits { peers: 64, arrived: 1 << 40, ..Limits::default() };
    let (start, transport) = prepare(Config { limits, ..config() }).unwrap();
    transport.with_endpoints(StepTimes { start, flows, runs });
}
