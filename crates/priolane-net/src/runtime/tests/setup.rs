//! Tests of the configuration that an endpoint and its driver receive.

use std::time::Duration;

use priolane_core::endpoint::{BaseDelay, RealHost};
use priolane_core::keys::Value;
use priolane_core::units::Rate;

use super::*;
use crate::config::{Limits, Patience};

/// Creates a configuration in which all numbers differ.
fn distinct(transport: &str, keys: &[(&str, Value<'_>)]) -> Config {
    let limits = Limits {
        message: 1_000_001,
        queued: 2_000_002,
        messages: 303,
        sender: 4_000_004,
        ahead: 5_000_005,
        receiving: 64_000_064,
        arrived: 7_000_007,
        held: 8_000_008,
        flows: 9,
        peers: 110,
        socket: 120_000,
    };
    let patience = Patience {
        greeting: Duration::from_secs(13),
        silence: Duration::from_secs(14),
        idle: Duration::from_secs(15),
    };
    let line = Rate::from_bps(160_000_000).unwrap();
    Config { limits, patience, line, ..Config::new(Scheme::with(transport, keys).unwrap()) }
}

fn real(config: Config) -> (LocalHost, RealHost) {
    let local = driver(config).endpoint.local;
    (local, local.real.unwrap())
}

#[test]
fn an_endpoint_has_the_limits_and_times_of_the_configuration() {
    let (local, real) = real(distinct("dctcp", &[("max_rto", Value::Text("17ms"))]));
    assert_eq!((local.id, local.line), (crate::peers::SELF, Rate::from_bps(160_000_000).unwrap()));
    let defaults = RealHost::new(real.secret);
    let expected = RealHost {
        // A sender retransmits until its receiver is silent, and after that once more.
        time_wait: defaults.time_wait + Span::from_ms(14_000) + Span::from_ms(17),
        flows_per_peer: 9,
        idle: Span::from_ms(15_000),
        longest: 1_000_001,
        flow_memory: 16_000_016,
        peers: 110,
        ..defaults
    };
    assert_eq!(real, expected);
    assert_ne!(real.secret, self::real(config()).1.secret);
}

#[test]
fn what_is_known_of_paths_reaches_the_endpoint() {
    let known = BaseDelay { one_way: Span::from_us(1), round_trip: Span::from_us(77) };
    let path = PathInfo { data: Some(known), ..PathInfo::UNKNOWN };
    let (_, real) = real(Config { path, ..config() });
    assert_eq!(real.first_rtt, Span::from_us(77));
}

#[test]
fn a_host_remembers_peers_and_flows_for_the_same_time() {
    let driver = driver(distinct("dctcp", &[]));
    let real = driver.endpoint.local.real.unwrap();
    let patience = crate::peers::Patience {
        greeting: Span::from_ms(13_000),
        silence: Span::from_ms(14_000),
        idle: real.time_wait,
        most: 110,
    };
    let peers = format!("{:?}", driver.peers);
    assert!(peers.contains(&format!("patience: {patience:?}")), "{peers}");
    assert_eq!(driver.setup.limits.flows, 9);
    assert_eq!((driver.scratch.len(), driver.blocked, driver.line_at), (1_500, false, Time::NEVER));
    assert!(!driver.setup.unreliable);
}
