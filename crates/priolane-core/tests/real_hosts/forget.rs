//! A host that is another from now on, and flows that nobody waits for any more.

use std::fmt::Debug;

use priolane_core::endpoint::{Command, Control, Endpoint, LocalHost, RealHost};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Span;
use priolane_core::wire::WireBody;

use crate::network::{Clock, Late, Net, Network, SECRET};
use crate::transports::{Trial, every_transport};

const NETWORK: Network = Network::without_faults(Span::from_us(30));

const REAL: RealHost = RealHost::new(SECRET);

const CLOCKS: [Clock; 2] = [Clock { ahead: Span::from_ms(1_000), ppm: 0.0 }; 2];

const SIZES: [u64; 5] = [1_000, 2_000_000, 2_000_000, 20_000, 2_000_000];

/// A host restarts while flows run in both directions. The other host is informed of the restart.
struct StartedAgain;

impl Trial for StartedAgain {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, &make, REAL, (NETWORK, Late::NEVER), CLOCKS);
        for round in 0..3 {
            for (id, size) in SIZES.into_iter().enumerate() {
                (0..2).for_each(|from| net.open(from, id as u32, size, 0));
            }
            let limit = net.now + Span::from_ms(40);
            while net.completed(0, 0).is_none() && net.now < limit {
                net.run(net.now + Span::from_ms(1));
            }
            let receiving =
                |net: &Net<E>, id| net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(id as u32));
            let begun = (0..SIZES.len()).filter(|&id| receiving(&net, id)).count();
            let ended = net.completed(0, 0).is_some();
            assert!(begun > 0 && ended, "{name}, round {round}: {begun} under way, {}", net.unfinished());
            net.restart(0, &make, REAL);
            net.lose_all();
            net.control(1, Command::ForgetHost(HostId(0)));
            assert!((0..SIZES.len()).all(|id| !receiving(&net, id)), "{name}");
            net.forget_flows();
        }
        // The same names at once, although flows of these have ended: all of them are new.
        for (id, size) in SIZES.into_iter().enumerate() {
            (0..2).for_each(|from| net.open(from, id as u32, size, 0));
        }
        net.run(net.now + Span::from_ms(600));
        assert!(net.is_done(), "{}", net.unfinished());
        net.run(net.now + REAL.time_wait.times(3));
        for host in &net.hosts {
            assert_eq!(host.endpoint.next_timeout(), None, "{name}: nothing is left to be done");
        }
    }
}

#[test]
fn a_host_that_was_started_again_begins_anew_with_one_that_is_told() {
    every_transport(&StartedAgain);
}

/// A flow that its sender gives up, of which the receiver's driver learns.
struct GivenUp;

impl Trial for GivenUp {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let mut net = Net::new(name, make, REAL, (NETWORK, Late::NEVER), CLOCKS);
        net.open(0, 1, 2_000_000, 0);
        net.run(net.now + Span::from_ms(3));
        let receiving = |net: &Net<E>| net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(1));
        assert!(receiving(&net), "{name}: not under way");
        net.control(0, Command::Flow(FlowId(1), Control::Abort));
        // What is on its way comes after the news.
        net.control(1, Command::EndReceived { src: HostId(0), flow: FlowId(1) });
        assert!(!receiving(&net), "{name}");
        net.run(net.now + Span::from_ms(5));
        assert!(!receiving(&net), "{name}: a packet that came late opens it again");
        net.run(net.now + REAL.time_wait.times(3));
        assert!(!receiving(&net), "{name}");
        assert!(net.hosts.iter().all(|host| host.endpoint.next_timeout().is_none()), "{name}");
        // The name is free.
        net.forget_flows();
        net.open(0, 1, 30_000, 0);
        net.run(net.now + Span::from_ms(100));
        assert!(net.is_done(), "{}", net.unfinished());
        // A flow that was silent for long is forgotten, and opened again by the next packet.
        net.forget_flows();
        net.open(0, 2, 200_000, 0);
        net.run(net.now + Span::from_us(600));
        net.control(1, Command::ForgetReceived { src: HostId(0), flow: FlowId(2) });
        assert!(!net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(2)), "{name}");
    }
}

#[test]
fn a_flow_that_is_given_up_is_forgotten_by_a_receiver_that_is_told() {
    every_transport(&GivenUp);
}

/// Answers that are lost for longer than ended flows are remembered.
struct AnswersLost;

impl Trial for AnswersLost {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        let real = RealHost { time_wait: Span::from_ms(400), ..REAL };
        let mut net = Net::new(name, make, real, (NETWORK, Late::NEVER), CLOCKS);
        net.open(0, 1, 1_000, 0);
        let limit = net.now + Span::from_ms(40);
        while !net.delivered(1, 1) && net.now < limit {
            net.run(net.now + Span::from_us(1));
        }
        assert!(net.delivered(1, 1), "{}", net.unfinished());
        net.sending[1] = false;
        net.lose_all();
        net.run(net.now + Span::from_ms(1_000));
        assert!(net.completed(0, 1).is_none(), "{name}: without an answer");
        let repeated = net.log.iter().filter(|&&(at, from, _)| from == 0 && at > limit).count();
        assert!(repeated > 2, "{name}: the sender retransmits");
        assert!(!net.hosts[1].endpoint.is_receiving(HostId(0), FlowId(1)), "{name}: taken for a new flow");
        net.sending[1] = true;
        // The next packet of the sender is answered.
        net.run(net.now + Span::from_ms(1_500));
        assert!(net.is_done(), "{}", net.unfinished());
    }
}

#[test]
fn a_flow_whose_answers_are_lost_for_long_is_delivered_once() {
    every_transport(&AnswersLost);
}
