//! Scheme files to [`Scheme`].

use priolane_core::admit::Policy;
use priolane_core::assign::by_flow::ByFlow;
use priolane_core::ids::CLASSES;
use priolane_core::keys::{InTable, Plain};
use priolane_core::nic::Nic;
use priolane_core::port::ClassMap;
use priolane_source::{
    Field, InputError, Merge, Mistakes, Origin, Own, ReadKeys, Reader, Replace, Shared, Table,
};

use super::parts::{Assign, Count, Host};
use super::{Scheme, admit, controller, port, thresholds, transport};
use crate::assumptions;

/// What is an alternative of what in a scheme.
pub const MERGE: Merge = Merge {
    rules: &[],
    inner: &[
        ("transport", &transport::MERGE),
        ("assign", &ASSIGN_MERGE),
        ("host", &HOST_MERGE),
        ("admit", &admit::MERGE),
        ("nic", &port::NIC_MERGE),
        ("port", &port::MERGE),
    ],
    each: None,
};

const COUNTS: [(&str, Count); 2] = [("stream_offset", Count::StreamOffset), ("bytes_sent", Count::BytesSent)];
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
    let admit = found.keep(keys.take("admit").map_or(Ok(Policy::default()), |f| admit::read(&f)));
    let nic = found.keep(keys.take("nic").map_or(Ok(Nic::Pull), |f| f.read_as::<Plain, _>()));
    let port = found.keep(keys.need("port", PORT_FIX).and_then(|field| port::read(&field)));
    let map = found.keep(keys.take("map").map_or(Ok(ClassMap::IDENTITY), |f| f.read_as::<InTable, _>()));
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
