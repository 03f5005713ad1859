//! Every transport, with parameters for paths within one machine that has other things to do.

use priolane_net::core::keys::Value;
use priolane_net::core::transport::Spec;
use priolane_net::core::units::Rate;
use priolane_net::{Config, Scheme};

/// Keys in place of defaults that are for networks whose hosts are never late: targets of delay, tokens and timeouts that are
/// longer than a host may sleep, windows and rates that losses do not bring to nearly nothing.
fn keys(name: &str) -> Vec<(&'static str, Value<'static>)> {
    let text = Value::Text;
    let mut keys = match name {
        "swift" => vec![("target", text("2ms")), ("min_cwnd", text("0.5pkt"))],
        "ledbat" => vec![("target", text("2ms"))],
        "timely" => vec![
            ("t_low", text("1ms")),
            ("t_high", text("5ms")),
            ("delta", text("200Mbps")),
            ("min_rate", text("200Mbps")),
        ],
        "prioplus_swift" | "prioplus_ledbat" => {
            vec![("priorities", Value::Integer(4)), ("fluctuation", text("1ms")), ("noise", text("500us"))]
        }
        "pfabric" => vec![("max_rto", text("5ms"))],
        "phost" => {
            vec![("expiry", Value::Integer(2_000)), ("relax", Value::Integer(2_000)), ("retry", text("20ms"))]
        }
        "ndp" => vec![("rto", text("10ms"))],
        "expresspass" | "top" => vec![("min_rto", text("5ms"))],
        _ => vec![],
    };
    if !BY_RECEIVERS.contains(&name) {
        keys.extend([("min_rto", text("5ms")), ("initial_rto", text("5ms"))]);
    }
    keys
}

/// Transports whose receivers say who may send.
const BY_RECEIVERS: [&str; 5] = ["expresspass", "top", "phost", "ndp", "homa"];

/// The set-up of a host with a transport.
pub(crate) fn config(name: &str) -> Config {
    let scheme = Scheme::with(name, &keys(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    // Receivers ask for what the line carries: here no more than a test program on a busy machine can take.
    let line = Rate::from_gbps(if BY_RECEIVERS.contains(&name) { 1 } else { 10 });
    Config { line, ..Config::new(scheme) }
}

/// Every transport: its name, and the set-up of a host.
pub(crate) fn every_transport() -> Vec<(&'static str, Config)> {
    let names = Spec::entries().into_iter().map(|entry| entry.name);
    names.map(|name| (name, config(name))).collect()
}
