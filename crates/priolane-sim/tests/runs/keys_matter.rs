//! Each key of each transport and each port changes what a run leaves, and always in the same way.
//!
//! A key that a part reads and then ignores, or takes for another, leaves outcomes that no comparison of engines would
//! show. Here every key gets other values, one at a time, in an experiment with losses, marks, timeouts and full buffers.

use std::collections::BTreeMap;

use priolane_core::assign::DemotionThresholds;
use priolane_core::endpoint::Weights;
use priolane_core::host::SchedulerKind;
use priolane_core::ids::FlowId;
use priolane_core::keys::{KeyInfo, Keys, Pairs, Schema, WrittenValue};
use priolane_core::noise::DelayNoise;
use priolane_core::packet::Frame;
use priolane_core::part::Entry;
use priolane_core::port::{Buffer, BufferSpec, PortKeys, PortSetup, SharedBuffer, SortBy};
use priolane_core::transport::{Setup, Spec, Transport};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::scenario::{Engine, MeasurementError, Nic, PortSpec, ScenarioSpec, Stop};
use priolane_sim::topology::{LeafSpine, LinkSpec};
use priolane_sim::trace::{Extent, Following};

use crate::support::in_memory::InMemory;
use crate::support::kept::{assert_kept, digest, digest_of};
use crate::support::{Draw, IDENTITY, drive, fifo, link, run, run_following, scenario, strict};

/// A quantity such as `10ms` times a factor.
fn scaled(text: &str, factor: f64) -> Option<WrittenValue> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let number: f64 = text[..end].parse().ok()?;
    let product = number * factor;
    let unit = &text[end..];
    let whole = matches!(unit, "pkt" | "ps" | "B");
    let shown = if whole { product.ceil().to_string() } else { product.to_string() };
    Some(WrittenValue::Text(format!("{shown}{unit}")))
}

/// Other values for a key with this value.
fn others(key: &KeyInfo, value: Option<&WrittenValue>) -> Vec<WrittenValue> {
    let by_schema = match &key.schema {
        Schema::Words(words) | Schema::OneOf(words, _) => {
            words.iter().map(|&(word, _)| word.into()).collect()
        }
        Schema::Quantity(example) => vec![WrittenValue::Text((*example).to_owned())],
        _ => Vec::new(),
    };
    let by_value = value.map_or(Vec::new(), |value| match value {
        WrittenValue::Bool(truth) => vec![WrittenValue::Bool(!truth)],
        WrittenValue::Integer(n) => [n + 1, n.saturating_sub(1), n * 3].map(WrittenValue::Integer).to_vec(),
        WrittenValue::Float(x) => [x * 0.5, x * 1.5, x + 0.25].map(WrittenValue::Float).to_vec(),
        WrittenValue::Text(text) => {
            [0.25, 0.5, 2.0, 8.0, 0.01].iter().filter_map(|&factor| scaled(text, factor)).collect()
        }
        WrittenValue::List(items) => {
            let all = |factor: f64| {
                let item = |item: &WrittenValue| match item {
                    WrittenValue::Integer(n) => Some(WrittenValue::Integer((*n as f64 * factor) as u64)),
                    WrittenValue::Float(x) => Some(WrittenValue::Float(x * factor)),
                    WrittenValue::Text(text) => scaled(text, factor),
                    _ => None,
                };
                items.iter().map(item).collect::<Option<Vec<_>>>().map(WrittenValue::List)
            };
            [0.5, 2.0].into_iter().filter_map(all).collect()
        }
        WrittenValue::Negative(_) | WrittenValue::Table(_) => Vec::new(),
    });
    by_schema.into_iter().chain(by_value).filter(|other| Some(other) != value).collect()
}

/// Random flows over a leaf-spine whose links lose packets, with everything that some transport looks at.
fn arena(transport: Transport) -> ScenarioSpec {
    let fabric = LinkSpec { loss: 0.004, ..link(10, Span::from_us(1)) };
    let shape = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 3,
        host_link: link(10, Span::from_us(2)),
        fabric_link: fabric,
        links_per_pair: 1,
    };
    let mut draw = Draw::new(4);
    let flows = draw.flows(9, 70);
    let buffer = Buffer { limit: Limit::Packets(60), mark_above: Limit::Packets(9), ..Buffer::UNLIMITED };
    let mut arena = scenario(shape.build().unwrap(), strict(4, buffer), flows);
    arena.flows.edit_all(|flow| {
        flow.deadline = flow.id.0.is_multiple_of(2).then(|| flow.start + Span::from_us(300));
        let theta = flow.id.0.is_multiple_of(5).then(|| Rate::from_bps(1_500_000_000).unwrap());
        flow.weights = Weights { theta, w_milli: [500, 1_000, 3_000][flow.id.0 as usize % 3] };
    });
    let noise = DelayNoise::new(&[(0.0, 0.1), (300e-9, 0.9), (4e-6, 1.0)], 1.0).unwrap();
    arena.measuring = MeasurementError { noise: Some(noise), clock_error: Span::from_ns(300) };
    arena.host_delay = Span::from_ns(700);
    arena.stop = Stop::At(Time(60_000_000_000));
    arena.frame = transport.frame();
    arena.transport = transport;
    arena
}

fn transport(table: InMemory) -> Result<Transport, String> {
    let setup = Setup {
        frame: Frame::ETHERNET,
        scheduler: SchedulerKind::RoundRobin,
        class: DemotionThresholds::FLAT,
        host_level: DemotionThresholds::FLAT,
        queue_limit: None,
        monitor: None,
    };
    let spec = Spec::read(&mut table.clone())?;
    spec.fits(&Frame::ETHERNET).map_err(|conflict| format!("{conflict:?}"))?;
    Ok(spec.transport(&setup))
}

/// The port that a transport needs, in words of a scheme file.
fn port_for(kind: &str) -> InMemory {
    let table = |kind: &str| InMemory(vec![("kind".into(), kind.into()), ("buffer".into(), shared("60pkt"))]);
    match kind {
        "expresspass" | "top" => table("tokens"),
        "ndp" => table("trimming").with("buffer", shared("8pkt")),
        "pfabric" => table("pfabric"),
        _ => table("strict").with("queues", 4.into()),
    }
}

fn shared(limit: &str) -> WrittenValue {
    WrittenValue::Table(vec![("shared".into(), limit.into())])
}

fn port(table: InMemory) -> Result<(PortSpec, Option<SharedBuffer>), String> {
    let keys = PortKeys::read(&mut table.clone())?;
    let setup = PortSetup { buffer: &keys.buffer, map: IDENTITY, frame: &Frame::ETHERNET };
    let buffer = keys.buffer_at(Rate::from_gbps(10));
    let memory = BufferSpec::memory(&keys.buffer);
    Ok((PortSpec { discipline: keys.kind.discipline(&setup), buffer }, memory))
}

fn outcome_of(arena: &ScenarioSpec) -> String {
    digest(run(arena, drive(Engine::Window)))
}

/// The experiment with a transport, in ports and behind NICs that suit it.
fn with_transport(kind: &str, table: InMemory) -> Result<ScenarioSpec, String> {
    let mut arena = arena(transport(table)?);
    if !matches!(arena.transport, Transport::Window { .. }) || kind == "pfabric" {
        let (port, _) = port(port_for(kind)).expect("the port is valid");
        arena.ports.iter_mut().for_each(|p| *p = port);
    }
    if matches!(arena.transport, Transport::Tokens(_)) {
        let (port, _) = port(port_for(kind)).expect("the port is valid");
        let port = PortSpec { buffer: Buffer::UNLIMITED, ..port };
        arena.nic = Nic::Queue { port, sort_by: SortBy::Class };
    }
    Ok(arena)
}

fn of_port(table: InMemory) -> Result<String, String> {
    let is_token = table.0.iter().any(|(_, value)| *value == "tokens".into());
    let name = if is_token { "top" } else { "dctcp" };
    let mut arena = arena(transport(InMemory(vec![("kind".into(), name.into())]))?);
    let (port, memory) = port(table)?;
    arena.ports.iter_mut().for_each(|p| *p = port);
    arena.switch.memory = memory;
    if is_token {
        arena.nic =
            Nic::Queue { port: PortSpec { buffer: Buffer::UNLIMITED, ..port }, sort_by: SortBy::Class };
    } else {
        arena.nic = Nic::Queue { port: fifo(Buffer::UNLIMITED), sort_by: SortBy::HostLevel };
    }
    Ok(outcome_of(&arena))
}

/// Runs a part as `base` says and with each key of `keys` changed. Returns a line for each run, and the keys whose values
/// all leave the same.
fn vary(
    name: &str,
    base: &InMemory,
    keys: &[KeyInfo],
    run: impl Fn(InMemory) -> Result<String, String>,
) -> (Vec<String>, Vec<String>) {
    let plain = run(base.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut lines = vec![format!("{name},,{plain}")];
    let mut idle = Vec::new();
    for key in keys {
        let value = base.0.iter().find(|(known, _)| known == key.name).map(|(_, value)| value);
        let mut matters = false;
        for other in others(key, value) {
            if let Ok(left) = run(base.clone().with(key.name, other.clone())) {
                matters |= left != plain;
                lines.push(format!("{name},{} = {other},{left}", key.name));
            }
        }
        if !matters {
            idle.push(format!("{name}.{}", key.name));
        }
    }
    (lines, idle)
}

/// The keys of a part with the values that it has if a file states only these.
fn written<K: Keys>(stated: InMemory) -> InMemory {
    let mut pairs = Pairs::new();
    K::read(&mut stated.clone()).expect("the part is valid").write(&mut pairs);
    InMemory::of(pairs)
}

fn entries_of<'a>(entries: &'a [Entry], kinds: &[&str]) -> BTreeMap<&'static str, &'a [KeyInfo]> {
    let of_kind = |entry: &&Entry| kinds.is_empty() || kinds.contains(&entry.name);
    entries.iter().filter(of_kind).map(|entry| (entry.name, &entry.parameters[..])).collect()
}

#[test]
fn each_key_of_each_transport_changes_outcomes_as_it_always_has() {
    let entries = Spec::entries();
    let mut window = Vec::new();
    priolane_core::transport::window::Config::describe(&mut window);
    let (mut lines, mut idle) = (Vec::new(), Vec::new());
    for (name, keys) in entries_of(&entries, &[]) {
        // Keys of the window transport are varied under one controller.
        let is_own = |key: &&KeyInfo| name == "dctcp" || window.iter().all(|known| known.name != key.name);
        let keys: Vec<KeyInfo> = keys.iter().filter(is_own).cloned().collect();
        let stated = InMemory(vec![("kind".into(), name.into()), ("min_rto".into(), "1ms".into())]);
        let base = written::<Spec>(stated);
        let (of_part, idle_here) =
            vary(name, &base, &keys, |table| with_transport(name, table).map(|arena| outcome_of(&arena)));
        lines.extend(of_part);
        idle.extend(idle_here);
    }
    assert_kept("transports.csv", &lines);
    assert_eq!(idle, [""; 0]);
}

#[test]
fn each_key_of_each_port_changes_outcomes_as_it_always_has() {
    let entries = PortKeys::entries();
    let (mut lines, mut idle) = (Vec::new(), Vec::new());
    for (name, keys) in entries_of(&entries, &[]) {
        let stated = InMemory(vec![("kind".into(), name.into())]);
        let stated = match name {
            "strict" | "pifo" => stated.with("queues", 4.into()),
            "wfq" => stated
                .with("queues", 3.into())
                .with("weights", WrittenValue::List([8, 4, 1].map(WrittenValue::Integer).to_vec())),
            _ => stated,
        };
        let base = written::<PortKeys>(stated.with("buffer", shared("30pkt")));
        let keys: Vec<KeyInfo> = keys.iter().filter(|key| key.name != "pfc").cloned().collect();
        let (of_part, idle_here) = vary(name, &base, &keys, of_port);
        lines.extend(of_part);
        idle.extend(idle_here);
        for buffer in ["unbounded", "per_queue", "push_out"] {
            let value = match buffer {
                "unbounded" => buffer.into(),
                _ => WrittenValue::Table(vec![(buffer.into(), "12pkt".into())]),
            };
            if let Ok(left) = of_port(base.clone().with("buffer", value)) {
                lines.push(format!("{name},buffer = {buffer},{left}"));
            }
        }
    }
    assert_kept("ports.csv", &lines);
    assert_eq!(idle, [""; 0]);
}

#[test]
fn each_transport_shows_the_packets_and_the_state_that_it_always_has() {
    let mut lines = Vec::new();
    for name in entries_of(&Spec::entries(), &[]).into_keys() {
        let arena =
            with_transport(name, InMemory(vec![("kind".into(), name.into())])).expect("defaults are valid");
        let (from, until) = (Time::ZERO, Time(3_000_000_000));
        let senders = (0..12).map(FlowId).collect();
        let extent = Extent { from, until, most_hops: 6_000, senders };
        let (_, trace) = run_following(&arena, &Following::Network(extent));
        assert!(trace.packets.len() > 500, "{name}");
        lines.push(format!("{name},{}", digest_of(&trace)));
    }
    assert_kept("traces.csv", &lines);
}
