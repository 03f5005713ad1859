//! Implements `priolane plan top`: computes the switch resources needed for TOP's ports.
//!
//! ```text
//! token rate    r = C s / (s + F)                 C: port rate; s, F: wire sizes of token and frame    (TOP §3.1)
//!
//! group         the switch can limit the rate of a group of queues (802.1Qaz ETS)                      (§4.1)
//!   each port of the switch is a TOP port: V = P, with one shaper each
//! remedy        it limits queues or ports only: tokens leave and return through breakout sub-ports     (§4.2, Fig. 7)
//!   sub-ports   2 V: the shaped one with K queues, and the one on which tokens return
//!   V           the largest with V + ceil(2 V / lanes) <= P: with four lanes floor(P 2 / 3)
//!   assistant   2 V ports, ceil(2 V / size) switches
//!   VLANs       3 for data and tokens by level, and one for each pair of ports of an assistant switch
//!   entries     3 for each destination MAC: hosts = floor(entries / 3)
//!   detour      2 (84 B on a sub-port + its cable)
//!
//! expiry        T = d + |P| th + D,  th = depth (s + F) / C                                            (§4.3, §5.4)
//! ```
//!
//! If switches cannot expire tokens, senders do. T of a path is its idle one-way delay, plus the longest wait of a
//! class for each token queue on the path, plus the clock error.

use priolane_core::port::TokenGroupSpec;
use priolane_core::units::{Rate, Span};
use serde::{Deserialize, Serialize};

use priolane_source::InputError;
use priolane_source::quantity::{QuantityError, bytes, rate, span};

/// VLANs of leaf and spine switches: one for data, and two for tokens of odd and even levels.
const LEVEL_VLANS: u32 = 3;
/// Forwarding entries per destination if tokens traverse the switch twice.
const REMEDY_ENTRIES: u64 = 3;
/// Queues of a port besides token queues: signals and data.
const OTHER_QUEUES: u8 = 2;

/// The kind of token rate limiter in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// All token queues of a port together (ETS groups).
    Group,
    /// A single queue or a whole port: the remedy of TOP §4.2.
    Port,
}

/// The request, one JSON object; quantities are written as in experiment files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The kind of token rate limiter in the switch.
    pub limiter: Limiter,
    /// P, number of ports, 1 to 65,536.
    pub ports: u32,
    /// C, rate of a port.
    pub rate: String,
    /// Sub-ports into which a breakout cable splits a port, 2 to 16.
    pub lanes: u32,
    /// Priority queues of a port, 1 to 16.
    pub queues: u8,
    /// K, token classes, 1 to 13.
    pub classes: u8,
    /// Whether unscheduled packets have a queue.
    pub unscheduled: UnscheduledPackets,
    /// s, size of a token on the wire.
    pub token: String,
    /// F, size of a full frame on the wire.
    pub frame: String,
    /// Entries of the forwarding table.
    pub entries: u64,
    /// Ports of an assistant switch, 2 to 65,536.
    pub assistant_ports: u32,
    /// Price of a port of an assistant switch, in any currency, 0 or more.
    pub assistant_price: f64,
    /// Price of the switch, 0 or more.
    pub switch_price: f64,
    /// Propagation delay of a breakout cable.
    pub cable: String,
    /// The path whose expiry is computed, if any.
    #[serde(default)]
    pub path: Option<Path>,
}

/// Whether flows send unscheduled packets, that is, without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnscheduledPackets {
    /// They do, in a queue of their own.
    Queue,
    /// They do not.
    None,
}

/// A path of tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// d, one-way delay of a token on the idle path.
    pub delay: String,
    /// |P|, token queues on it, including that of the receiver's NIC, 1 to 64.
    pub queues: u32,
    /// Maximum number of tokens waiting in a queue, 1 to 1,000,000.
    pub depth: u32,
    /// D, maximum clock offset.
    pub clock: String,
    /// Token rate as a fraction of the link rate; 0 for s / (s + F).
    pub share: f64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// V, number of TOP ports.
    pub top_ports: u32,
    /// Ports of the switch that are split into sub-ports.
    pub split_ports: u32,
    /// Ports of the switch that are neither TOP ports nor split.
    pub spare_ports: u32,
    /// Shapers, one per TOP port.
    pub shapers: u32,
    /// Rate of each shaper, in bits per second, rounded down.
    pub token_rate_bps: u64,
    /// Queues needed per port.
    pub queues_needed: u8,
    /// Ports of assistant switches in use.
    pub assistant_ports: u32,
    /// Number of assistant switches.
    pub assistants: u32,
    /// VLAN identifiers of leaf and spine switches.
    pub level_vlans: u32,
    /// VLAN identifiers of an assistant switch; all assistants share them.
    pub assistant_vlans: u32,
    /// Total number of VLAN identifiers.
    pub vlans: u32,
    /// Total number of VLAN identifiers if an assistant switch is full.
    pub vlans_full: u32,
    /// Forwarding entries per destination.
    pub entries_per_host: u64,
    /// Destinations that fit in the forwarding table.
    pub hosts: u64,
    /// Additional delay of tokens per switch.
    pub detour_ps: u64,
    /// Cost of the assistant switches.
    pub assistant_cost: f64,
    /// Cost of the switch and its assistants per TOP port.
    pub cost_per_port: f64,
    /// T of the path, if one was given.
    pub expiry_ps: Option<u64>,
}

fn wrong(key: &str, what: impl Into<String>, fix: &str) -> InputError {
    InputError::new("plan top", None, key, what.into(), fix)
}

fn read<T>(key: &'static str, value: Result<T, QuantityError>) -> Result<T, InputError> {
    value.map_err(|error| wrong(key, error.what, &error.fix))
}

/// Answers `request`.
///
/// # Errors
/// Returns an [`InputError`] if a value is invalid or out of range, if K classes do not fit in the port's queues, or if
/// a sub-port is slower than its token rate.
pub fn answer(request: &Request) -> Result<Answer, InputError> {
    check_counts(request)?;
    let line = read("rate", rate(&request.rate))?;
    let spec = TokenGroupSpec {
        token_wire: wire("token", &request.token)?,
        data_wire: wire("frame", &request.frame)?,
        ..TokenGroupSpec::TOP
    };
    let whole = u128::from(spec.token_wire) + u128::from(spec.data_wire);
    let token_rate = (u128::from(line.bps()) * u128::from(spec.token_wire) / whole) as u64;
    let queues_needed = queues_needed(request);
    if queues_needed > request.queues {
        let what = format!("{queues_needed} queues are needed, but the port has {}", request.queues);
        return Err(wrong("classes", what, "fewer classes, or a port with more queues"));
    }
    let expiry = request.path.as_ref().map(|path| expiry(path, line, &spec)).transpose()?;
    let base = Answer {
        top_ports: request.ports,
        split_ports: 0,
        spare_ports: 0,
        shapers: request.ports,
        token_rate_bps: token_rate,
        queues_needed,
        assistant_ports: 0,
        assistants: 0,
        level_vlans: 0,
        assistant_vlans: 0,
        vlans: 0,
        vlans_full: 0,
        entries_per_host: 1,
        hosts: request.entries,
        detour_ps: 0,
        assistant_cost: 0.0,
        cost_per_port: request.switch_price / f64::from(request.ports),
        expiry_ps: expiry.map(|expiry| expiry.0),
    };
    match request.limiter {
        Limiter::Group => Ok(base),
        Limiter::Port => remedy(request, line, base),
    }
}

/// Completes the answer for the remedy of §4.2.
fn remedy(request: &Request, line: Rate, base: Answer) -> Result<Answer, InputError> {
    let sub = line.bps() / u64::from(request.lanes);
    if sub < base.token_rate_bps {
        let what = format!("tokens need {} bps, but a sub-port carries only {sub} bps", base.token_rate_bps);
        return Err(wrong("lanes", what, "fewer lanes"));
    }
    let split = |ports: u32| (2 * ports).div_ceil(request.lanes);
    let top_ports = (0..=request.ports).rev().find(|&v| v + split(v) <= request.ports).unwrap_or(0);
    if top_ports == 0 {
        return Err(wrong("ports", format!("{} ports are too few", request.ports), "at least 2 ports"));
    }
    let cable = read("cable", span(&request.cable))?;
    let sub = Rate::from_bps(sub)
        .ok_or_else(|| wrong("rate", "the rate of a sub-port is zero", "a higher rate, such as 40Gbps"))?;
    let token = u64::from(wire("token", &request.token)?);
    let assistant_ports = 2 * top_ports;
    let per_assistant = request.assistant_ports / 2;
    let assistant_vlans = top_ports.min(per_assistant);
    let assistant_cost = f64::from(assistant_ports) * request.assistant_price;
    Ok(Answer {
        top_ports,
        split_ports: split(top_ports),
        spare_ports: request.ports - top_ports - split(top_ports),
        shapers: top_ports,
        assistant_ports,
        assistants: assistant_ports.div_ceil(2 * per_assistant),
        level_vlans: LEVEL_VLANS,
        assistant_vlans,
        vlans: LEVEL_VLANS + assistant_vlans,
        vlans_full: LEVEL_VLANS + per_assistant,
        entries_per_host: REMEDY_ENTRIES,
        hosts: request.entries / REMEDY_ENTRIES,
        detour_ps: 2 * (sub.serialize(token) + cable).0,
        assistant_cost,
        cost_per_port: (request.switch_price + assistant_cost) / f64::from(top_ports),
        ..base
    })
}

/// Returns the queues of the port that needs most: the one with token classes; with the remedy, this is the shaped
/// sub-port.
fn queues_needed(request: &Request) -> u8 {
    let blind = u8::from(request.unscheduled == UnscheduledPackets::Queue);
    let beside = OTHER_QUEUES + blind;
    match request.limiter {
        Limiter::Group => request.classes + beside,
        // After the detour, tokens share one queue.
        Limiter::Port => request.classes.max(1 + beside),
    }
}

/// Returns T of a path.
fn expiry(path: &Path, line: Rate, spec: &TokenGroupSpec) -> Result<Span, InputError> {
    let delay = read("path.delay", span(&path.delay))?;
    let clock = read("path.clock", span(&path.clock))?;
    if !(1..=64).contains(&path.queues) {
        return Err(wrong("path.queues", format!("{} is out of range", path.queues), "1 to 64 token queues"));
    }
    if !(1..=1_000_000).contains(&path.depth) {
        return Err(wrong("path.depth", format!("{} is out of range", path.depth), "1 to 1000000 tokens"));
    }
    if !(path.share >= 0.0 && path.share < 1.0) {
        return Err(wrong(
            "path.share",
            format!("{} is out of range", path.share),
            "a number of at least 0 and below 1",
        ));
    }
    let slot = if path.share > 0.0 {
        line.serialize(u64::from(spec.token_wire)).0 as f64 / path.share
    } else {
        line.serialize(u64::from(spec.token_wire) + u64::from(spec.data_wire)).0 as f64
    };
    let waits = f64::from(path.queues) * f64::from(path.depth) * slot;
    let total = waits + delay.0 as f64 + clock.0 as f64;
    if total > 1e12 {
        return Err(wrong("path", "tokens would be valid for more than a second", "shorter queues"));
    }
    Ok(Span(total.round() as u64))
}

fn check_counts(request: &Request) -> Result<(), InputError> {
    let whole = |key: &'static str, n: u64, low: u64, high: u64| {
        let fix = format!("a number from {low} to {high}");
        if (low..=high).contains(&n) { Ok(()) } else { Err(wrong(key, format!("{n} is out of range"), &fix)) }
    };
    whole("ports", request.ports.into(), 1, 65_536)?;
    whole("lanes", request.lanes.into(), 2, 16)?;
    whole("queues", request.queues.into(), 1, 16)?;
    whole("classes", request.classes.into(), 1, 13)?;
    whole("assistant_ports", request.assistant_ports.into(), 2, 65_536)?;
    whole("entries", request.entries, 1, 1 << 40)?;
    for (key, price) in [("assistant_price", request.assistant_price), ("switch_price", request.switch_price)]
    {
        if !(price >= 0.0 && price.is_finite()) {
            return Err(wrong(key, format!("{price} is not a price"), "a number of at least 0"));
        }
    }
    Ok(())
}

fn wire(key: &'static str, text: &str) -> Result<u16, InputError> {
    match read(key, bytes(text))? {
        size @ 1..=9_999 => Ok(size as u16),
        size => Err(wrong(key, format!("{size} bytes are out of range"), "1B to 9999B on the wire")),
    }
}

#[cfg(test)]
mod tests;
