//! The configuration of a host, as `priolane.net.Host` writes it in JSON.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use priolane_linux::job::SchemeJob;
use priolane_linux::scheme::udp_scheme;
use priolane_net::core::ids::CLASSES;
use priolane_net::core::quantity;
use priolane_net::{Config, Dscp, Key, Limits, Patience, ReceiveOffload, Segmentation};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::InputError;

/// All settings of a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    scheme: SchemeJob,
    ip: String,
    port: u16,
    line: String,
    mtu: u16,
    dscp: Option<Vec<u8>>,
    key_hex: Option<String>,
    limits: LimitSettings,
    patience: PatienceSettings,
    real_time: Option<u8>,
    spin_s: f64,
    segmentation: String,
    receive_offload: String,
}

/// `priolane.net.Limits`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitSettings {
    message: u64,
    queued: u64,
    messages: usize,
    sender: u64,
    ahead: u64,
    receiving: u64,
    arrived: u64,
    held: u64,
    flows: u32,
    peers: u16,
    socket: usize,
}

/// `priolane.net.Patience`, in seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatienceSettings {
    greeting: f64,
    silence: f64,
    idle: f64,
}

fn wrong(key: &str, what: impl std::fmt::Display) -> PyErr {
    InputError::new_err(format!("{key}: {what}"))
}

/// Reads an IP address.
pub(super) fn ip(text: &str) -> PyResult<IpAddr> {
    text.parse().map_err(|_| {
        wrong("address", format!("{text:?} is not an IP address. Use one such as \"127.0.0.1\""))
    })
}

/// Reads a number of seconds.
pub(super) fn seconds(key: &str, value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| wrong(key, format!("{value} is not a duration. Use seconds, 0 or more")))
}

impl Settings {
    /// The configuration of a host. Raises `InputError` for what is out of range.
    pub(super) fn config(self) -> PyResult<Config> {
        let scheme = udp_scheme(&self.scheme).map_err(InputError::new_err)?;
        let line = quantity::rate(&self.line)
            .map_err(|error| wrong("line", format!("{}. Use {}", error.what, error.fix)))?;
        let LimitSettings { message, queued, messages, sender, ahead, .. } = self.limits;
        let LimitSettings { receiving, arrived, held, flows, peers, socket, .. } = self.limits;
        let limits = Limits {
            message,
            queued,
            messages,
            sender,
            ahead,
            receiving,
            arrived,
            held,
            flows,
            peers,
            socket,
        };
        let PatienceSettings { greeting, silence, idle } = self.patience;
        let segmentation = match self.segmentation.as_str() {
            "host" => Segmentation::Host,
            "kernel" => Segmentation::Kernel,
            other => {
                return Err(wrong("segmentation", format!("{other:?} is none. Use \"host\" or \"kernel\"")));
            }
        };
        let receive_offload = match self.receive_offload.as_str() {
            "off" => ReceiveOffload::Off,
            "kernel" => ReceiveOffload::Kernel,
            other => {
                return Err(wrong(
                    "receive_offload",
                    format!("{other:?} is none. Use \"off\" or \"kernel\""),
                ));
            }
        };
        let config = Config {
            line,
            mtu: self.mtu,
            limits,
            patience: Patience {
                greeting: seconds("patience.greeting", greeting)?,
                silence: seconds("patience.silence", silence)?,
                idle: seconds("patience.idle", idle)?,
            },
            real_time: self.real_time,
            spin: seconds("spin", self.spin_s)?,
            segmentation,
            receive_offload,
            ..Config::new(scheme).at(SocketAddr::new(ip(&self.ip)?, self.port))
        };
        let config = match self.dscp {
            Some(dscp) => Config { dscp: dscps(dscp)?, ..config },
            None => config,
        };
        Ok(match self.key_hex {
            Some(digits) => config.key(Key::from_hex(&digits).map_err(|error| wrong("key", error))?),
            None => config,
        })
    }
}

fn dscps(of: Vec<u8>) -> PyResult<Dscp> {
    let count = of.len();
    let of: [u8; CLASSES] = of
        .try_into()
        .map_err(|_| wrong("dscp", format!("{count} numbers. Use {CLASSES}, one for each class")))?;
    Dscp::new(of).map_err(|error| wrong("dscp", error))
}
