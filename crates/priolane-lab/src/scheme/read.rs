//! Scheme files to [`Scheme`].

use priolane_core::assign::by_flow::ByFlow;
use priolane_core::ids::CLASSES;
use priolane_core::port::{AifoSpec, Limit, QueueWeights};
use priolane_core::units::Rate;
use priolane_source::{
    Field, Form, InputError, Merge, Mistakes, Origin, Own, ReadKeys, Reader, Replace, Shared, Table,
};

use super::parts::{
    Assign, Buffer, Count, Ecn, Host, Map, Nic, NicQueue, Overflow, Port, PortKind, Scope, Sharing, WfqClock,
};
use super::{Admit, Scheme, admit, alpha, controller, pfc, thresholds, token_port, transport};
use crate::assumptions;

/// What is an alternative of what in a scheme.
pub const MERGE: Merge = Merge {
    rules: &[],
    inner: &[
        ("transport", &transport::MERGE),
        ("assign", &ASSIGN_MERGE),
        ("host", &HOST_MERGE),
        ("admit", &admit::MERGE),
        ("nic", &NIC_MERGE),
        ("port", &PORT_MERGE),
    ],
    each: None,
};

const COUNTS: [(&str, Count); 2] = [("stream_offset", Count::StreamOffset), ("bytes_sent", Count::BytesSent)];
const SCOPES: [(&str, Scope); 2] = [("port", Scope::Port), ("queue", Scope::Queue)];
const OVERFLOWS: [(&str, Overflow); 2] = [("drop", Overflow::Drop), ("return", Overflow::Return)];
const PORT_FIX: &str = "port = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }";

/// Reads the scheme in `table`, which stands at `origin` under the dotted key `path`.
///
/// # Errors
/// The first mistake of each part, and all keys that are unknown.
pub fn read(table: &Table, path: &str, origin: &Origin) -> Result<Scheme, InputError> {
    let mut keys = Reader::new(table, path, origin);
    let mut found = Mistakes::new(&origin.file);
    let paper = found.keep(keys.take("paper").map(|f| f.text().map(str::to_owned)).transpose());
    if let Some(price) = keys.take("price") {
        found.add(price.error("prices are not supported in this version", "leave the key out"));
    }
    let assumptions = found.keep(keys.take("assumptions").map_or(Ok(Vec::new()), |f| assumptions::read(&f)));
    let transport = keys.need("transport", "transport = { kind = \"dctcp\" }");
    let transport = found.keep(transport.and_then(|field| transport::read(&field)));
    let order = match &transport {
        Some(transport) if transport.schedules_itself() => Host::Own,
        _ => Host::RoundRobin,
    };
    let assign = found.keep(keys.take("assign").map_or(Ok(Assign::None), |f| assign(&f)));
    let host = found.keep(keys.take("host").map_or(Ok(order), |f| host(&f)));
    let admit = found.keep(keys.take("admit").map_or(Ok(Admit::None), |f| admit::read(&f)));
    let nic = found.keep(keys.take("nic").map_or(Ok(Nic::Pull), |f| nic(&f)));
    let port = found.keep(keys.need("port", PORT_FIX).and_then(|field| port(&field)));
    let map = found.keep(keys.take("map").map_or(Ok(Map::Identity), |f| map(&f)));
    found.keep(keys.finish());
    let scheme = (|| {
        Some(Scheme {
            paper: paper?,
            assumptions: assumptions?,
            transport: transport?,
            assign: assign?,
            host: host?,
            admit: admit?,
            nic: nic?,
            port: port?,
            map: map?,
        })
    })();
    found.done(scheme)
}

const ASSIGN_MERGE: Merge = Merge {
    rules: &[
        Replace::Kind {
            tag: "kind",
            default: None,
            own: Own::AllBut(&[]),
            shared: Shared::Listed(&[
                (&["bytes_sent", "equal_bytes", "power_law"], &["levels"]),
                (&["flow_fraction", "random_fraction", "deadline_rank"], &["fractions"]),
                (&["flow_fraction", "equal_bytes"], &["from"]),
            ]),
        },
        // Thresholds that were found are those of what is stated beside them.
        Replace::Stated(&["fractions", "levels", "from"], &["bytes"]),
        // Sizes and deadlines have different units.
        Replace::Kind {
            tag: "of",
            default: None,
            own: Own::Only(&["scale", "offset"]),
            shared: Shared::Listed(&[]),
        },
    ],
    inner: &[("thresholds", &thresholds::MERGE)],
    each: None,
};

fn assign(field: &Field<'_>) -> Result<Assign, InputError> {
    let mut keys = field.table()?;
    let names = ["none", "bytes_sent"].iter().chain(ByFlow::NAMES);
    let words: Vec<(&str, &str)> = names.map(|&name| (name, name)).collect();
    let assign = match keys.need("kind", "kind = \"bytes_sent\"")?.word(&words)? {
        "none" => Assign::None,
        "bytes_sent" => bytes_sent(&mut keys)?,
        name => Assign::Known(ByFlow::read(name, &mut keys)?.expect("invariant: the name is on the list")),
    };
    keys.finish()?;
    Ok(assign)
}

fn bytes_sent(keys: &mut Reader<'_>) -> Result<Assign, InputError> {
    let controller = keys.take("controller").map(|f| controller::read(&f)).transpose()?;
    let levels = levels(keys)?;
    let count = keys.word_or("count", &COUNTS, Count::StreamOffset)?;
    let thresholds = ladder(keys, levels)?;
    Ok(Assign::BytesSent { levels, count, thresholds, controller })
}

/// Orders of flows in a host, each with how its keys are read.
const HOSTS: [(&str, ReadKeys<Host>); 6] = [
    ("round_robin", |_| Ok(Host::RoundRobin)),
    ("mlfq", |keys| {
        let levels = levels(keys)?;
        Ok(Host::Mlfq { levels, thresholds: ladder(keys, levels)? })
    }),
    ("srpt", |_| Ok(Host::Srpt)),
    ("las", |_| Ok(Host::Las)),
    ("fifo", |_| Ok(Host::Fifo)),
    ("own", |_| Ok(Host::Own)),
];

const HOST_MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&[]),
        shared: Shared::Listed(&[]),
    }],
    inner: &[("thresholds", &thresholds::MERGE)],
    each: None,
};

fn host(field: &Field<'_>) -> Result<Host, InputError> {
    let mut keys = field.table()?;
    let host = keys.need("kind", "kind = \"round_robin\"")?.word(&HOSTS)?(&mut keys)?;
    keys.finish()?;
    Ok(host)
}

fn levels(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.need("levels", "levels = 8")?.integer(1, CLASSES as u64)? as u8)
}

fn ladder(keys: &mut Reader<'_>, levels: u8) -> Result<thresholds::Thresholds, InputError> {
    let fix = "thresholds = { solver = \"equal_split\", from = \"global\" }, or a list such as [\"100kB\"]";
    thresholds::read(&keys.need("thresholds", fix)?, levels)
}

const NIC_MERGE: Merge = Merge {
    rules: &[Replace::OneOf(&[
        Form { by: &["queue"], with: &["limit", "ecn"] },
        Form { by: &["port"], with: &["map"] },
    ])],
    inner: &[("port", &PORT_MERGE)],
    each: None,
};

fn nic(field: &Field<'_>) -> Result<Nic, InputError> {
    let Ok(mut keys) = field.table() else {
        return match field.text() {
            Ok("pull") => Ok(Nic::Pull),
            Ok("tokens") => Ok(Nic::Tokens),
            _ => Err(field.error(
                "this is no NIC",
                "nic = \"pull\", \"tokens\", nic = { queue = \"fifo\" | \"host\" | \"ports\", ... } or \
                 nic = { port = { kind = \"pfabric\", ... } }",
            )),
        };
    };
    if let Some(field) = keys.take("port") {
        if let Some(queue) = keys.take("queue") {
            return Err(queue.error("both queue and port are stated", "one of them"));
        }
        let (port, per_flow_limit) = (nic_port(&field)?, per_flow_limit(&mut keys)?);
        let map = keys.take("map").map(|f| map(&f)).transpose()?;
        keys.finish()?;
        return Ok(Nic::Port { port, map, per_flow_limit });
    }
    let queues = [("fifo", NicQueue::Fifo), ("host", NicQueue::Host), ("ports", NicQueue::Ports)];
    let queue = keys.need("queue", "queue = \"fifo\"")?.word(&queues)?;
    let limit = keys.take("limit").map_or(Ok(Limit::Unlimited), |f| f.limit())?;
    let ecn = match keys.take("ecn") {
        None => None,
        Some(field) => match field.truth() {
            Ok(false) => None,
            Ok(true) => {
                return Err(
                    field.error("no threshold is stated", "false, or { per = \"port\", at = { ... } }")
                );
            }
            Err(_) => Some(ecn(&field)?),
        },
    };
    let per_flow_limit = per_flow_limit(&mut keys)?;
    keys.finish()?;
    Ok(Nic::Queue { queue, limit, ecn, per_flow_limit })
}

fn per_flow_limit(keys: &mut Reader<'_>) -> Result<Limit, InputError> {
    let Some(field) = keys.take("per_flow_limit") else { return Ok(Limit::Unlimited) };
    match field.limit()? {
        Limit::Packets(0) | Limit::Bytes(0) => Err(field.error("no flow could send", "at least \"1pkt\"")),
        limit => Ok(limit),
    }
}

/// A port in front of a host's line: of any kind, without what only a switch has.
fn nic_port(field: &Field<'_>) -> Result<Port, InputError> {
    let port = port(field)?;
    let refused = match (&port.kind, port.buffer.sharing) {
        (PortKind::Tokens(_), _) => {
            Some(("hosts limit tokens as their switch ports do", "nic = \"tokens\", or another kind"))
        }
        (PortKind::Trimming { overflow: Overflow::Return, .. }, _) => {
            Some(("a host has nobody to send a header back to", "overflow = \"drop\""))
        }
        (_, Sharing::Dynamic(_)) => Some((
            "a host has one port, and nothing to share its buffer with",
            "buffer = { shared = \"240pkt\" }",
        )),
        _ if port.pfc.is_some() => {
            Some(("a host pauses nobody: what waits here is its own", "no pfc, or queue = \"ports\""))
        }
        _ => None,
    };
    match refused {
        Some((what, fix)) => Err(field.error(what, fix)),
        None => Ok(port),
    }
}

/// Disciplines of ports, each with how its keys are read.
const PORTS: [(&str, ReadKeys<PortKind>); 9] = [
    ("fifo", |_| Ok(PortKind::Fifo)),
    ("strict", |keys| Ok(PortKind::Strict { queues: queues(keys)? })),
    ("ranked", |_| Ok(PortKind::Ranked)),
    ("wfq", wfq),
    ("trimming", |keys| {
        let headers = keys.take("headers").map_or(Ok(Limit::Unlimited), |f| f.limit())?;
        Ok(PortKind::Trimming { headers, overflow: keys.word_or("overflow", &OVERFLOWS, Overflow::Drop)? })
    }),
    ("tokens", |keys| token_port::read(keys).map(PortKind::Tokens)),
    ("pfabric", |_| Ok(PortKind::PFabric)),
    ("pifo", |_| Ok(PortKind::Pifo)),
    ("aifo", aifo),
];

const PORT_MERGE: Merge = Merge {
    rules: &[Replace::Kind {
        tag: "kind",
        default: None,
        own: Own::AllBut(&["buffer", "ecn", "pfc", "tiers"]),
        shared: Shared::Listed(&[(&["strict", "wfq"], &["queues"])]),
    }],
    inner: &[("buffer", &BUFFER_MERGE)],
    each: None,
};

fn port(field: &Field<'_>) -> Result<Port, InputError> {
    let mut keys = field.table()?;
    let kind = keys.need("kind", "kind = \"fifo\"")?.word(&PORTS)?(&mut keys)?;
    let room = keys.need("buffer", "buffer = { shared = \"240pkt\" }")?;
    let buffer = buffer(&room)?;
    if buffer.sharing == Sharing::PushOut && !matches!(kind, PortKind::Strict { .. }) {
        let what = format!("nothing is pushed out of a port of kind {}: it has one queue", kind.name());
        return Err(room.error(what, "kind = \"strict\", or buffer = { shared = \"240pkt\" }"));
    }
    if by_rank(kind) && buffer.sharing != Sharing::Shared {
        let what = format!("a port of kind {} decides itself what has room in its one queue", kind.name());
        return Err(room.error(what, "buffer = { shared = \"240pkt\" }"));
    }
    if matches!(kind, PortKind::Aifo { .. }) && buffer.limit == Limit::Unlimited {
        return Err(room.error("admission goes by how full the port is", "buffer = { shared = \"240pkt\" }"));
    }
    if buffer.sharing == Sharing::ZeroLoss && !matches!(kind, PortKind::Tokens(_)) {
        let what =
            format!("what data takes at most is derived for ports of tokens, not of kind {}", kind.name());
        return Err(room.error(what, "kind = \"tokens\", or buffer = { shared = \"240pkt\" }"));
    }
    let ecn = keys.take("ecn").map(|f| ecn(&f)).transpose()?;
    if let Some(tiers) = keys.take("tiers") {
        let what = "ports that differ by tier are not supported in this version";
        return Err(tiers.error(what, "one port for all switches"));
    }
    let pfc = keys.take("pfc").map(|f| pfc::read(&f)).transpose()?;
    keys.finish()?;
    Ok(Port { kind, buffer, ecn, pfc })
}

/// Whether the order of classes is kept by what is admitted or pushed out of one queue.
fn by_rank(kind: PortKind) -> bool {
    matches!(kind, PortKind::Pifo | PortKind::Aifo { .. })
}

fn aifo(keys: &mut Reader<'_>) -> Result<PortKind, InputError> {
    let mut count = |key, most| keys.take(key).map(|f| Ok(f.integer(1, most)? as u16)).transpose();
    let (window, sample) = (count("window", 1_000)?, count("sample", 1_000)?);
    let k = keys.take("k").map(|f| Ok((f.number(0.0, 0.999)? * 1e3).round() as u16)).transpose()?;
    let AifoSpec { window: w, sample: s, k_thousandths, .. } = AifoSpec::PAPER;
    Ok(PortKind::Aifo {
        window: window.unwrap_or(w),
        sample: sample.unwrap_or(s),
        k_thousandths: k.unwrap_or(k_thousandths),
    })
}

fn queues(keys: &mut Reader<'_>) -> Result<u8, InputError> {
    Ok(keys.need("queues", "queues = 8")?.integer(1, CLASSES as u64)? as u8)
}

const CLOCKS: [(&str, WfqClock); 2] =
    [("virtual", WfqClock::Virtual), ("aequitas_compat", WfqClock::AequitasCompat)];

fn wfq(keys: &mut Reader<'_>) -> Result<PortKind, InputError> {
    let queues = queues(keys)?;
    let field = keys.need("weights", "weights = [8, 4, 1]")?;
    let items = field.filled_list()?;
    if items.len() != usize::from(queues) {
        let what = format!("{} weights for {queues} queue(s)", items.len());
        return Err(field.error(what, "one weight per queue, queue 0 first"));
    }
    let weights = items.iter().map(|item| Ok(item.integer(1, u64::from(u32::MAX))? as u32));
    let weights =
        QueueWeights::new(&weights.collect::<Result<Vec<u32>, InputError>>()?).ok_or_else(|| {
            let what = "the least common multiple of these weights is above 2^40: shares would not be exact";
            field.error(what, "smaller weights, such as [8, 4, 1]")
        })?;
    let clock = keys.word_or("clock", &CLOCKS, WfqClock::Virtual)?;
    Ok(PortKind::Wfq { queues, weights, clock })
}

const BUFFER_MERGE: Merge = Merge::of(&[Replace::OneOf(&[
    Form { by: &["shared"], with: &["at"] },
    Form { by: &["per_queue"], with: &["at"] },
    Form { by: &["push_out"], with: &["at"] },
    Form { by: &["dynamic"], with: &["alpha"] },
    Form { by: &["zero_loss"], with: &[] },
])]);

fn buffer(field: &Field<'_>) -> Result<Buffer, InputError> {
    let Ok(mut keys) = field.table() else {
        return match field.text() {
            Ok("unbounded") => {
                Ok(Buffer { limit: Limit::Unlimited, at: Vec::new(), sharing: Sharing::Shared })
            }
            _ => {
                let fix = "{ shared = \"240pkt\" }, { per_queue = \"64KiB\" }, { push_out = \"240pkt\" }, \
                           { dynamic = \"12MB\", alpha = 1 }, { zero_loss = \"10kB\" } or \"unbounded\"";
                Err(field.error("this is no buffer", fix))
            }
        };
    };
    let kinds =
        [("shared", Sharing::Shared), ("per_queue", Sharing::PerQueue), ("push_out", Sharing::PushOut)];
    if let Some(size) = keys.take("dynamic") {
        let alpha = alpha::read(&keys.need("alpha", "alpha = 1")?)?;
        keys.finish()?;
        let sharing = Sharing::Dynamic(alpha);
        return Ok(Buffer { limit: Limit::Bytes(size.bytes()?), at: Vec::new(), sharing });
    }
    if let Some(signals) = keys.take("zero_loss") {
        keys.finish()?;
        let limit = Limit::Bytes(signals.bytes()?);
        return Ok(Buffer { limit, at: Vec::new(), sharing: Sharing::ZeroLoss });
    }
    let mut stated: Vec<_> = kinds
        .iter()
        .filter_map(|&(key, sharing)| keys.take(key).map(|limit| (limit, sharing, key)))
        .collect();
    let (limit, sharing, first) = match stated.pop() {
        Some(one) => one,
        None => (keys.need("shared", "shared = \"240pkt\"")?, Sharing::Shared, "shared"),
    };
    if let Some((.., second)) = stated.pop() {
        return Err(field.error(format!("both {second} and {first} are stated"), "one of them"));
    }
    let at = keys.take("at").map_or(Ok(Vec::new()), |field| limits_by_rate(&field))?;
    keys.finish()?;
    Ok(Buffer { limit: limit.limit()?, at, sharing })
}

fn ecn(field: &Field<'_>) -> Result<Ecn, InputError> {
    let mut keys = field.table()?;
    let per = keys.word_or("per", &SCOPES, Scope::Port)?;
    let at_field = keys.need("at", "at = { \"10Gbps\" = \"65pkt\" }")?;
    let at = limits_by_rate(&at_field)?;
    if at.is_empty() {
        return Err(at_field.error("no threshold is stated", "at = { \"10Gbps\" = \"65pkt\" }"));
    }
    keys.finish()?;
    Ok(Ecn { per, at })
}

/// `{ RATE = LIMIT }`, in order of rate.
fn limits_by_rate(field: &Field<'_>) -> Result<Vec<(Rate, Limit)>, InputError> {
    let mut at: Vec<(Rate, Limit)> = Vec::new();
    for (key, value) in field.entries()? {
        let rate = priolane_source::quantity::rate(key).map_err(|e| value.error(e.what, e.fix))?;
        if at.iter().any(|(r, _)| *r == rate) {
            return Err(value.error("this rate is stated twice", "one limit per rate"));
        }
        at.push((rate, value.limit()?));
    }
    at.sort_by_key(|(rate, _)| *rate);
    Ok(at)
}

fn map(field: &Field<'_>) -> Result<Map, InputError> {
    let mut keys = field.table()?;
    let class = keys.need("class", "class = \"queue\"")?;
    keys.finish()?;
    match class.text() {
        Ok("queue") => return Ok(Map::Identity),
        Ok(text) => return Err(class.no_such(text, &["queue"])),
        Err(_) => {}
    }
    let items = class.filled_list()?;
    if items.len() > CLASSES {
        return Err(class.error(format!("{} classes", items.len()), format!("at most {CLASSES}")));
    }
    let queues = items.iter().map(|item| Ok(item.integer(0, CLASSES as u64 - 1)? as u8));
    queues.collect::<Result<_, InputError>>().map(Map::List)
}
