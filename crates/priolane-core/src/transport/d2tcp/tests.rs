use super::super::new_reno;
use super::super::window::Growth;
use super::*;
use crate::endpoint::{FlowSpec, Path};
use crate::ids::{FlowId, HostId};
use crate::rng::{Purpose, Stream};
use crate::units::Span;

const MSS: u64 = 1_000;

/// A flow of 1 MB with a window of 40 segments, alpha at 0.25, and a deadline in microseconds, if any.
fn flow(deadline: Option<u64>) -> D2tcp {
    let dctcp = dctcp::Config {
        reno: new_reno::Config { init_window: Some(40 * MSS) },
        g: 1.0 / 16.0,
        alpha_0: 0.25,
        min_window: 2,
        reduction: dctcp::Reduction::AtOnce,
    };
    let spec = FlowSpec {
        deadline: deadline.map(|us| Time(us * 1_000_000)),
        ..FlowSpec::new(FlowId(0), (HostId(0), HostId(1)), Some(1_000_000))
    };
    let mut flow = D2tcp::new(&Config { dctcp, late: 0.5 }, MSS);
    let rng = &mut Stream::new(1, Purpose::Endpoint, 0);
    flow.open(&mut FlowStart {
        flow: &spec.request(),
        catch_up: Span::ZERO,
        now: Time::ZERO,
        path: &|| Path::NOMINAL,
        rng,
    });
    flow
}

/// The window after a mark at 100 us, with 700,000 B left and a round-trip time of 60 us. The first ACK of a
/// flow ends its first window of data, here all marked.
fn after_a_mark(deadline: Option<u64>) -> (f64, f64, f64) {
    let mut flow = flow(deadline);
    flow.on_ack(&AckEvent {
        now: Time(100_000_000),
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una: 300_000,
        next: 340_000,
        marked: true,
        growth: Growth::Allowed,
        rtt: None,
        srtt: Span::from_us(60),
        one_way_ps: 0,
        host_delay: Span::ZERO,
    });
    (flow.urgency(), flow.window() as f64, flow.dctcp.alpha())
}

#[test]
fn the_cut_is_by_alpha_to_the_power_of_the_urgency() {
    // Tc = 700,000 x 60 / (0.75 x 40,000) = 1,400 us.
    for (deadline, urgency) in [(1_500, 1.0), (1_100, 1.4), (200, 2.0), (2_100, 0.7), (50_000, 0.5)] {
        let (d, window, alpha) = after_a_mark(Some(deadline));
        assert!((d - urgency).abs() < 1e-9, "{deadline}: {d}");
        // alpha = 15/16 x 0.25 + 1/16 = 0.296875.
        assert_eq!(alpha, 0.296_875);
        let kept = 40_000.0 * (1.0 - libm::pow(alpha, urgency) / 2.0);
        assert!((window - kept).abs() <= 1.0, "{deadline}: {window} {kept}");
    }
}

#[test]
fn a_flow_without_a_deadline_is_dctcp_and_a_late_one_yields() {
    let (d, window, alpha) = after_a_mark(None);
    assert_eq!((d, window), (1.0, (40_000.0 * (1.0 - alpha / 2.0)).floor()));
    let (d, late, _) = after_a_mark(Some(100));
    // alpha^(1/2) is larger than alpha: the late flow keeps less.
    assert!(d == 0.5 && late < window, "{d} {late}");
}

#[test]
fn urgent_flows_keep_more_of_their_window_than_others() {
    let windows: Vec<f64> = [100_000, 2_000, 1_400, 900, 300].map(|us| after_a_mark(Some(us)).1).to_vec();
    assert!(windows.is_sorted(), "{windows:?}");
}
