//! Configurations of every transport, for paths within one busy machine.

use priolane_net::core::keys::Value;
use priolane_net::core::transport::Spec;
use priolane_net::core::units::Rate;
use priolane_net::{Config, Scheme};

/// Returns keys that replace defaults: shorter timeouts, so that losses take less time.
fn keys(name: &str) -> Vec<(&'static str, Value<'static>)> {
    let timeouts: &[&str] = match name {
        // The one timeout of pFabric sends all again.
        _ if name == "pfabric" || BY_RECEIVERS.contains(&name) => &[],
        _ => &["min_rto", "initial_rto"],
    };
    timeouts.iter().map(|&key| (key, Value::Text("5ms"))).collect()
}

/// The transports whose receivers grant permission to send.
const BY_RECEIVERS: [&str; 5] = ["expresspass", "top", "phost", "ndp", "homa"];

/// Returns the configuration of a host with a transport.
pub(crate) fn config(name: &str) -> Config {
    let scheme = Scheme::with(name, &keys(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    // Receivers ask for what the line carries: here no more than a test program on a busy machine can take.
    let mbps = if BY_RECEIVERS.contains(&name) { 200 } else { 10_000 };
    let line = Rate::from_bps(mbps * 1_000_000).unwrap();
    Config { line, ..Config::new(scheme) }
}

/// Returns the name of every transport with the configuration of a host.
pub(crate) fn every_transport() -> Vec<(&'static str, Config)> {
    let names = Spec::entries().into_iter().map(|entry| entry.name);
    names.map(|name| (name, config(name))).collect()
}
