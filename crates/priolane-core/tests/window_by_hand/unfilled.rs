//! Windows that are not what holds the sender back (RFC 7661 §4.1): the line carries 21 segments until the first ACK.

use priolane_core::endpoint::Endpoint;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::FlowId;
use priolane_core::transport::new_reno::NewReno;
use priolane_core::transport::window::LossRecovery;
use priolane_core::units::Time;

use crate::link::{Net, UNIT_HOP, flow, unit_config, unit_reno};

/// The window of a flow of 1,000 segments, in segments, at each of these microseconds.
fn windows(first: u64, at_us: &[u64]) -> Vec<u64> {
    let config = unit_config(LossRecovery::Sack);
    let mut net: Net<NewReno> = Net::new(config, unit_reno(first), SchedulerKind::RoundRobin, &UNIT_HOP);
    net.open(flow(0, 1_000_000));
    let window = |at: &u64| {
        net.run(Time(at * 1_000_000));
        let mut window = 0.0;
        net.hosts[0].inspect(FlowId(0), &mut |name, value| {
            window = if name == "cwnd_bytes" { value } else { window };
        });
        window as u64 / 1_000
    };
    at_us.iter().map(window).collect()
}

#[test]
fn a_window_that_the_line_does_not_fill_never_grows() {
    // 21 segments are in flight when the first ACK is processed, at 21 us, and never more.
    assert_eq!(windows(23, &[20, 22, 100, 500]), [23, 23, 23, 23]);
}

#[test]
fn growth_ends_with_the_last_byte_that_filled_the_window() {
    // Segment 20 fills a window of 21. The ACKs of segments 0 to 20, at 21 to 41 us, add one each. The ACK of
    // segment 21, which left with room in the window, is the first that adds none.
    assert_eq!(windows(21, &[20, 21, 31, 41, 42, 43, 500]), [21, 22, 32, 42, 42, 42, 42]);
}
