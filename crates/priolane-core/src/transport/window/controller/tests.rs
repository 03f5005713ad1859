//! A controller whose path turns out to be another one goes on as if it had begun on that path.

use super::*;
use crate::endpoint::BaseDelay;
use crate::ids::{FlowId, HostId};
use crate::rng::Purpose;
use crate::transport::window::Growth;
use crate::transport::{dcqcn, hpcc, ledbat, nscc, pfabric, swift, timely};
use crate::units::Rate;

const MSS: u64 = 1_000;

fn path(hops: u32, gbps: u64, one_way_us: u64) -> Path {
    let delay = BaseDelay { one_way: Span::from_us(one_way_us), round_trip: Span::from_us(2 * one_way_us) };
    Path { hops, rate: Rate::from_gbps(gbps), data: delay, control: delay, send_jitter: Span::ZERO }
}

/// The window and the gate of a flow that begins on `first` after each of 60 ACKs, if its path becomes `then` before them.
/// Queues grow from none to 80 us and vanish again; a third of the ACKs are marked.
fn allowed<C: CongestionControl>(config: &C::Config, first: Path, then: Option<Path>) -> Vec<String> {
    let flow = FlowRequest::new(FlowId(1), HostId(1), None, Time::ZERO);
    let mut flow_of = C::new(config, MSS);
    let mut rng = Stream::new(1, Purpose::Endpoint, 0);
    let now = Time::ZERO;
    flow_of.open(&mut FlowStart { flow: &flow, now, path: &|| first, catch_up: Span::ZERO, rng: &mut rng });
    if let Some(then) = then {
        flow_of.on_path(&then);
    }
    let mut seen = Vec::new();
    for n in 1..=60 {
        let now = Time(Span::from_us(50 * n).0);
        let queue = Span::from_us(10 * (n % 9));
        flow_of.on_sent(now);
        flow_of.on_ack(&AckEvent {
            now,
            acked: MSS,
            delivered: MSS,
            in_flight: 0,
            una: n * MSS,
            next: (n + 5) * MSS,
            marked: n % 3 == 0,
            growth: Growth::Allowed,
            rtt: Some(Span::from_us(12) + queue),
            srtt: Span::from_us(30),
            one_way_ps: (Span::from_us(6) + queue).0.cast_signed(),
            host_delay: Span::ZERO,
        });
        seen.push(format!("{} {:?}", flow_of.window(), flow_of.gate()));
    }
    seen
}

fn follows<C: CongestionControl>(name: &str, config: &C::Config) {
    let (far, near) = (path(4, 100, 20), path(2, 10, 6));
    let from_the_start = allowed::<C>(config, near, None);
    assert_eq!(allowed::<C>(config, far, Some(near)), from_the_start, "{name}");
    assert_ne!(allowed::<C>(config, far, None), from_the_start, "{name} does not read its path");
}

#[test]
fn controllers_follow_their_path() {
    follows::<timely::Timely>("timely", &timely::Config::default());
    follows::<hpcc::Hpcc>("hpcc", &hpcc::Config::default());
    follows::<swift::Swift>("swift", &swift::Config::default());
    follows::<pfabric::PFabric>("pfabric", &pfabric::Config::default());
    // By default it measures the base delay itself.
    let of_path = ledbat::Config { base: ledbat::Base::Path, ..ledbat::Config::default() };
    follows::<ledbat::Ledbat>("ledbat", &of_path);
    follows::<dcqcn::Dcqcn>("dcqcn", &dcqcn::Config::default());
    follows::<nscc::Nscc>("nscc", &nscc::Config::default());
}
