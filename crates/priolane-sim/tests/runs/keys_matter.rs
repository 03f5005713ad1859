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
use priolane_core::transport::tokens::Paths;
use priolane_core::transport::{Setup, Spec, Transport};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::scenario::{Engine, MeasurementError, Nic, PortSpec, ScenarioSpec, Stop};
use priolane_sim::topology::{LeafSpine, LinkSpec, PathChoice, Spray};
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

/// Other values that a schema allows for a key with this value.
fn of_schema(schema: &Schema, value: Option<&WrittenValue>) -> Vec<WrittenValue> {
    match schema {
        Schema::Words(words) | Schema::OneOf(words, _) => {
            words.iter().map(|&(word, _)| word.into()).collect()
        }
        Schema::Quantity(example) => {
            // Small intervals of repetition flood the network: they are taken only where there is none.
            let is_set = matches!(value, Some(WrittenValue::Text(text)) if scaled(text, 1.0).is_some() && !text.starts_with("0ps"));
            let factors: &[f64] = if is_set { &[1.0] } else { &[1.0, 0.1, 0.01, 0.001] };
            factors.iter().filter_map(|&factor| scaled(example, factor)).collect()
        }
        Schema::Bool => [true, false].map(WrittenValue::Bool).to_vec(),
        Schema::Integer => [1, 2, 4].map(WrittenValue::Integer).to_vec(),
        Schema::Number => [0.2, 0.75, 3.0].map(WrittenValue::Float).to_vec(),
        // Of several forms, the quantity or the number.
        Schema::AnyOf(all) => all
            .iter()
            .filter(|one| matches!(one, Schema::Quantity(_) | Schema::Integer))
            .flat_map(|one| of_schema(one, value))
            .collect(),
        _ => Vec::new(),
    }
}

/// Other values for a key with this value.
fn others(key: &KeyInfo, value: Option<&WrittenValue>) -> Vec<WrittenValue> {
    let by_schema = of_schema(&key.schema, value);
    let by_value = value.map_or(Vec::new(), |value| match value {
        WrittenValue::Bool(truth) => vec![WrittenValue::Bool(!truth)],
        WrittenValue::Integer(n) => {
            [n + 1, n.saturating_sub(1), n * 3, n / 2].map(WrittenValue::Integer).to_vec()
        }
        WrittenValue::Float(x) => [x * 0.5, x * 1.5, x + 0.25].map(WrittenValue::Float).to_vec(),
        WrittenValue::Text(text) => {
            [0.25, 0.5, 2.0, 8.0, 0.01, 100.0].iter().filter_map(|&factor| scaled(text, factor)).collect()
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
            let turned = WrittenValue::List(items.iter().rev().cloned().collect());
            [0.5, 2.0].into_iter().filter_map(all).chain([turned]).collect()
        }
        WrittenValue::Negative(_) | WrittenValue::Table(_) => Vec::new(),
    });
    let by_name = match key.name {
        "buffer" => buffers(),
        "ecn" => vec![marking("port"), marking("queue")],
        "token_min" => vec!["70B".into()],
        "thresholds" => vec![WrittenValue::List([4, 8, 13, 27, 46].map(WrittenValue::Integer).to_vec())],
        _ => Vec::new(),
    };
    by_schema.into_iter().chain(by_value).chain(by_name).filter(|other| Some(other) != value).collect()
}

fn of_table<const N: usize>(entries: [(&str, WrittenValue); N]) -> WrittenValue {
    WrittenValue::Table(entries.map(|(key, value)| (key.to_owned(), value)).to_vec())
}

/// A buffer of every kind, small enough to overflow.
fn buffers() -> Vec<WrittenValue> {
    let limits = ["shared", "per_queue", "push_out"].map(|kind| of_table([(kind, "4pkt".into())]));
    let dynamic = of_table([("dynamic", "20kB".into()), ("alpha", 1.into())]);
    limits.into_iter().chain([dynamic, "unbounded".into()]).collect()
}

fn marking(per: &str) -> WrittenValue {
    of_table([("per", per.into()), ("at", of_table([("10Gbps", "5pkt".into())]))])
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
        "nscc" => table("trimming").with("buffer", shared("12pkt")).with("ecn", marking("port")),
        _ => table("strict").with("queues", 4.into()),
    }
}

fn shared(limit: &str) -> WrittenValue {
    of_table([("shared", limit.into())])
}

fn port(table: InMemory) -> Result<(PortSpec, Option<SharedBuffer>), String> {
    let keys = PortKeys::read(&mut table.clone())?;
    let setup = PortSetup { buffer: &keys.buffer, map: IDENTITY, frame: &Frame::ETHERNET };
    let buffer = keys.buffer_at(Rate::from_gbps(10));
    let memory = BufferSpec::memory(&keys.buffer);
    let discipline = keys.averaging(keys.kind.discipline(&setup));
    Ok((PortSpec { discipline, buffer }, memory))
}

fn outcome_of(arena: &ScenarioSpec) -> String {
    digest(run(arena, drive(Engine::Window)))
}

/// The experiment with a transport, in ports and behind NICs that suit it.
fn with_transport(kind: &str, table: InMemory) -> Result<ScenarioSpec, String> {
    let mut arena = arena(transport(table.clone())?);
    if let Spec::Top(top) = Spec::read(&mut table.clone())? {
        arena.topology.path_choice = match top.paths {
            Paths::Symmetric => PathChoice::Symmetric,
            Paths::Spray => PathChoice::Sprayed(Spray::Random),
            Paths::RoundRobin => PathChoice::Sprayed(Spray::RoundRobin),
            Paths::Drill => PathChoice::Sprayed(Spray::Drill),
        };
    }
    if !matches!(arena.transport, Transport::Window { .. }) || ["pfabric", "nscc"].contains(&kind) {
        let (port, _) = port(port_for(kind)).expect("the port is valid");
        arena.ports.iter_mut().for_each(|p| *p = port.clone());
    }
    if matches!(arena.transport, Transport::Tokens(_)) {
        let (port, _) = port(port_for(kind)).expect("the port is valid");
        let port = PortSpec { buffer: Buffer::UNLIMITED, ..port };
        arena.nic = Nic::Queue { port, sort_by: SortBy::Class };
    }
    Ok(arena)
}

fn of_port(carried: InMemory, table: InMemory) -> Result<String, String> {
    let mut arena = arena(transport(carried).expect("the transport is valid"));
    let (port, memory) = port(table)?;
    arena.ports.iter_mut().for_each(|p| *p = port.clone());
    arena.switch.memory = memory;
    let (nic, sort_by) = match arena.transport {
        Transport::Tokens(_) => (PortSpec { buffer: Buffer::UNLIMITED, ..port }, SortBy::Class),
        _ => (fifo(Buffer::UNLIMITED), SortBy::HostLevel),
    };
    arena.nic = Nic::Queue { port: nic, sort_by };
    Ok(outcome_of(&arena))
}

/// The number of values of a key that must change the outcome.
const ENOUGH: usize = 2;

/// A part in several settings, and which of its keys have changed an outcome in one of them.
struct Variation<'a> {
    name: &'static str,
    keys: &'a [KeyInfo],
    lines: Vec<String>,
    effective: Vec<&'static str>,
}

impl<'a> Variation<'a> {
    fn new(name: &'static str, keys: &'a [KeyInfo]) -> Self {
        Self { name, keys, lines: Vec::new(), effective: Vec::new() }
    }

    /// Runs the part as `base` says, and with each key changed that has changed nothing so far.
    fn vary(&mut self, setting: &str, base: &InMemory, run: &dyn Fn(InMemory) -> Result<String, String>) {
        let plain = run(base.clone()).unwrap_or_else(|error| panic!("{} {setting}: {error}", self.name));
        self.lines.push(format!("{},{setting},{plain}", self.name));
        for key in self.keys {
            if self.effective.contains(&key.name) {
                continue;
            }
            let value = base.0.iter().find(|(known, _)| known == key.name).map(|(_, value)| value);
            let mut effects = 0;
            for other in others(key, value) {
                if effects == ENOUGH {
                    break;
                }
                if let Ok(left) = run(base.clone().with(key.name, other.clone())) {
                    effects += usize::from(left != plain);
                    self.lines.push(format!("{},{setting} {} = {other},{left}", self.name, key.name));
                }
            }
            if effects > 0 {
                self.effective.push(key.name);
            }
        }
    }

    fn idle(&self) -> impl Iterator<Item = String> {
        let idle = self.keys.iter().filter(|key| !self.effective.contains(&key.name));
        idle.map(|key| format!("{}.{}", self.name, key.name))
    }
}

/// The keys of a part with the values that it has if a file states only these.
fn written<K: Keys>(stated: InMemory) -> InMemory {
    let mut pairs = Pairs::new();
    K::read(&mut stated.clone()).expect("the part is valid").write(&mut pairs);
    InMemory::of(pairs)
}

fn by_name(entries: &[Entry]) -> BTreeMap<&'static str, &[KeyInfo]> {
    entries.iter().map(|entry| (entry.name, &entry.parameters[..])).collect()
}

/// The keys of a transport that a file must state here.
fn stated_transport(name: &str) -> InMemory {
    let kind = InMemory(vec![("kind".into(), name.into())]);
    match name {
        "pfabric" => ["min_rto", "initial_rto", "max_rto"]
            .into_iter()
            .fold(kind, |table, key| table.with(key, "45us".into())),
        "nscc" => kind.with("min_rto", "1ms".into()).with("recovery", "trims".into()),
        _ => kind.with("min_rto", "1ms".into()),
    }
}

/// The settings of a transport in which its keys are varied, and the fraction of packets that links lose.
fn settings_of_transport(name: &str) -> Vec<(&'static str, f64, InMemory)> {
    let base = stated_transport(name);
    let usual = ("", 0.004, base.clone());
    let mut more = match name {
        "dctcp" => {
            let late = base.clone().with("ack_every", 2.into()).with("handshake", "1rtt".into());
            let timeouts = base.with("initial_rto", "2ms".into()).with("max_rto", "3ms".into());
            vec![("late acks", 0.004, late), ("timeouts", 0.2, timeouts.with("handshake", "1rtt".into()))]
        }
        "swift" | "d2tcp" => vec![("timeouts", 0.2, base)],
        "dcqcn" => {
            let early = base.clone().with("recovery_stages", 1.into()).with("byte_counter", "3kB".into());
            let kept = base.clone().with("preset", "connectx".into());
            vec![
                ("early", 0.004, early.with("rate_timer", "2us".into()).with("cnp_interval", "1us".into())),
                ("connectx", 0.004, kept),
            ]
        }
        "cubic" => {
            // The cubic function counts at 20 us if C is 5,000^3 times that of 100 ms.
            let steep = base.clone().with("c", WrittenValue::Float(1e12));
            let sensitive =
                base.with("hystart_min_rise", "0.5us".into()).with("hystart_max_rise", "100us".into());
            let judged = sensitive.with("hystart_samples", 2.into()).with("hystart_rounds", 2.into());
            vec![("steep", 0.03, steep), ("delays", 0.0005, judged.with("ack_every", 4.into()))]
        }
        "prioplus_swift" | "prioplus_ledbat" => {
            let classes = base.clone().with("priorities", 3.into());
            let released = base.clone().with("variant", "released".into());
            vec![("timeouts", 0.2, base), ("three classes", 0.004, classes), ("released", 0.004, released)]
        }
        "expresspass" | "top" => {
            let sizes = base.clone().with("token_min", "84B".into()).with("token_max", "92B".into());
            let end_host = base.clone().with("expiry", "end_host".into()).with("lifetime", "30us".into());
            let by_deadline = base
                .clone()
                .with("priority", "deadline".into())
                .with("deadline_min", "20us".into())
                .with("deadline_max", "400us".into());
            let light = base.with("tail", "light".into()).with("p", 80.into()).with("mean", 20.into());
            let mut settings = vec![("sizes", 0.004, sizes)];
            if name == "top" {
                settings.extend([
                    ("end host", 0.004, end_host),
                    ("deadlines", 0.004, by_deadline),
                    ("light", 0.004, light),
                ]);
            }
            settings
        }
        "nscc" => {
            // Packets wait for more than the target before a port marks, and the average follows at once.
            let short = base.with("target", "1us".into()).with("delay_alpha", WrittenValue::Float(0.5));
            vec![("delays", 0.004, short.with("qa_gate", 30.into()))]
        }
        "timely" => vec![("gradients", 0.004, base.with("t_low", "5us".into()))],
        "homa" => {
            let levels = base.with("unscheduled_classes", 2.into());
            let cutoffs = WrittenValue::List(vec!["1.5kB".into()]);
            vec![("levels", 0.004, levels.with("cutoffs", cutoffs))]
        }
        _ => Vec::new(),
    };
    more.insert(0, usual);
    more
}

#[test]
fn each_key_of_each_transport_changes_outcomes_as_it_always_has() {
    let entries = Spec::entries();
    let mut window = Vec::new();
    priolane_core::transport::window::Config::describe(&mut window);
    let (mut lines, mut idle) = (Vec::new(), Vec::new());
    for (name, keys) in by_name(&entries) {
        // Keys of the window transport are varied under one controller.
        let is_own = |key: &&KeyInfo| name == "dctcp" || window.iter().all(|known| known.name != key.name);
        let keys: Vec<KeyInfo> = keys.iter().filter(is_own).cloned().collect();
        let mut of_part = Variation::new(name, &keys);
        for (setting, loss, stated) in settings_of_transport(name) {
            let run = |table| with_transport(name, table).map(|arena| outcome_of(&losing(arena, loss)));
            of_part.vary(setting, &written::<Spec>(stated.clone()), &run);
            // Values that depend on another key are written, and hide it.
            of_part.vary(&format!("{setting} as stated"), &stated, &run);
        }
        idle.extend(of_part.idle());
        lines.extend(of_part.lines);
    }
    assert_kept("transports.csv", &lines);
    assert_eq!(idle, TRANSPORT_KEYS_WITHOUT_EFFECT.concat());
}

/// Keys of transports that change nothing in a run.
const TRANSPORT_KEYS_WITHOUT_EFFECT: [&[&str]; 7] = [
    // No flow of the arena is still sending after its deadline; `d2tcp/tests.rs` has one that is.
    &["d2tcp.late"],
    // The plan of an experiment computes cut-offs from a distribution; as many classes as cut-offs and one.
    &["homa.unscheduled_classes", "homa.from"],
    // Channels that exceed the budget are refused.
    &["prioplus_ledbat.delay_budget"],
    // A channel states the target and the base delay, and the window may exceed what is in flight.
    &[
        "prioplus_ledbat.target",
        "prioplus_ledbat.class_step",
        "prioplus_ledbat.allowed_increase",
        "prioplus_ledbat.base_interval",
    ],
    &["prioplus_swift.delay_budget"],
    // A channel states the target, and its class how a flow starts.
    &[
        "prioplus_swift.start",
        "prioplus_swift.target",
        "prioplus_swift.target_from",
        "prioplus_swift.hop",
        "prioplus_swift.class_step",
        "prioplus_swift.fs_range",
        "prioplus_swift.fs_min",
        "prioplus_swift.fs_max",
    ],
    // Packets that leave do not tell a byte of the window; `swift/tests.rs` has windows that do.
    &["swift.whole_bytes"],
];

fn losing(mut arena: ScenarioSpec, loss: f64) -> ScenarioSpec {
    arena.topology.links.iter_mut().filter(|link| link.loss > 0.0).for_each(|link| link.loss = loss);
    arena
}

/// Keys of ports that change nothing by themselves, and why.
const PORT_KEYS_WITHOUT_EFFECT: [(&str, &str); 3] = [
    ("tokens.ecn", "no transport with tokens sends packets that may be marked"),
    ("wfq.queues", "the number of weights, which must equal it, has the effect"),
    ("wfq.strict", "the number of weights must be that of the other queues"),
];

/// The settings of a port in which its keys are varied, each with its transport.
fn settings_of_port(name: &str) -> Vec<(&'static str, InMemory, InMemory)> {
    let base = InMemory(vec![("kind".into(), name.into()), ("buffer".into(), shared("30pkt"))]);
    let dctcp = stated_transport("dctcp");
    match name {
        "strict" | "pifo" => vec![("", dctcp, base.with("queues", 4.into()))],
        "wfq" => {
            let weights = WrittenValue::List([8, 4, 1].map(WrittenValue::Integer).to_vec());
            vec![("", dctcp, base.with("queues", 3.into()).with("weights", weights))]
        }
        "trimming" => {
            let full = base.clone().with("buffer", shared("4pkt")).with("headers", "3pkt".into());
            vec![("", stated_transport("ndp"), base), ("dctcp", dctcp, full.with("buffer", shared("9pkt")))]
        }
        "tokens" => {
            let top = stated_transport("top");
            let ranked = top.clone().with("priority", "asked".into()).with("ranks", "data".into());
            let detour = base.clone().with("expiry", 0.into());
            vec![("", top.clone(), base.clone()), ("no expiry", top, detour), ("ranked data", ranked, base)]
        }
        _ => vec![("", dctcp, base)],
    }
}

#[test]
fn each_key_of_each_port_changes_outcomes_as_it_always_has() {
    let entries = PortKeys::entries();
    let (mut lines, mut idle) = (Vec::new(), Vec::new());
    for (name, keys) in by_name(&entries) {
        let keys: Vec<KeyInfo> = keys.iter().filter(|key| key.name != "pfc").cloned().collect();
        let mut of_part = Variation::new(name, &keys);
        for (setting, carried, stated) in settings_of_port(name) {
            let run = |table| of_port(carried.clone(), table);
            of_part.vary(setting, &written::<PortKeys>(stated), &run);
        }
        idle.extend(of_part.idle());
        lines.extend(of_part.lines);
    }
    assert_kept("ports.csv", &lines);
    assert_eq!(idle, PORT_KEYS_WITHOUT_EFFECT.map(|(key, _)| key));
}

#[test]
fn each_transport_shows_the_packets_and_the_state_that_it_always_has() {
    let mut lines = Vec::new();
    for name in by_name(&Spec::entries()).into_keys() {
        let arena = with_transport(name, stated_transport(name)).expect("the transport is valid");
        let (from, until) = (Time::ZERO, Time(3_000_000_000));
        let senders = (0..12).map(FlowId).collect();
        let extent = Extent { from, until, most_hops: 6_000, senders };
        let (_, trace) = run_following(&arena, &Following::Network(extent));
        assert!(trace.packets.len() > 500, "{name}");
        lines.push(format!("{name},{}", digest_of(&trace)));
    }
    assert_kept("traces.csv", &lines);
}
