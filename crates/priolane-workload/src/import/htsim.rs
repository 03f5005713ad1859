//! Connection matrices (`.cm`) of htsim.
//!
//! ```text
//! Nodes 16
//! Connections 2
//! Triggers 1
//! 0->13 id 1 start 0 size 2000000 send_done_trigger 5
//! 13->4 id 2 trigger 5 size 2000000
//! trigger id 5 oneshot
//! ```
//!
//! The stated counts are checked. A flow that a trigger starts depends on the flows that fire the trigger: on the
//! one that does (`oneshot`, `multishot`), or on all of a `barrier`. A flow that starts after the first of several
//! flows cannot be listed and is dropped, with all flows that depend on it. Both `send_done_trigger` and
//! `recv_done_trigger` are treated as the arrival of the flow's last byte (docs/assumptions.md#import-cm-triggers).
//! `prio` and failures are ignored. A flow of size 0, or without a size, has no end, as in htsim.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::rc::Rc;

use priolane_source::InputError;
use priolane_source::csv::shown;

use super::collect::MAX_IMPORTED;
use super::collect::{Collector, MAX_HOSTS, ParsedFlow, too_many, whole};
use super::network::Network;
use super::options::Text;

/// The unit of `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Picoseconds,
    Microseconds,
}

/// The counts of items, as stated by the file or as found.
#[derive(Default)]
struct Counts {
    nodes: Option<u64>,
    connections: Option<u64>,
    triggers: Option<u64>,
    failures: Option<u64>,
}

struct Connection {
    found: ParsedFlow,
    line: usize,
    /// The trigger that starts it; `None` if it starts at a time.
    waits: Option<u64>,
    /// The triggers that it fires, without duplicates.
    pulls: Vec<u64>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Fires when it is triggered once.
    Shot,
    /// Fires when it has been triggered this number of times.
    Barrier(u64),
}

#[derive(Default)]
struct Matrix {
    stated: Counts,
    connections: Vec<Connection>,
    triggers: BTreeMap<u64, Kind>,
    ids: BTreeSet<u64>,
    failures: u64,
    priorities: u64,
}

pub(super) fn read(
    lines: &mut Text<'_>,
    into: &mut Collector<'_>,
    (unit, network): (Unit, Option<&Network>),
) -> Result<(), InputError> {
    let (mut line, mut matrix) = (String::new(), Matrix::default());
    while lines.next(&mut line)? {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "Nodes" | "Connections" | "Triggers" | "Failures" => header(lines, into, &words, &mut matrix)?,
            "Tiers" | "Tier" | "Podsize" => {
                let fix = "--topology with this file, beside the connection matrix (.cm)";
                return Err(lines.error(
                    "",
                    "the file is a topology of htsim (.topo), and has no flows",
                    fix,
                ));
            }
            "trigger" => trigger(lines, &words, &mut matrix)?,
            "failure" => matrix.failures += 1,
            _ => {
                into.rows += 1;
                connection(lines, into, &words, (&mut matrix, unit))?;
            }
        }
    }
    counted(lines, &matrix)?;
    if let Some(network) = network {
        fits(lines, &matrix, network)?;
        into.notes.extend(network.notes.iter().cloned());
    }
    let endless = matrix.connections.iter().filter(|connection| connection.found.size.is_none()).count();
    if endless > 0 {
        into.notes.push(format!("{endless} flows of size 0 have no end, as in htsim"));
    }
    for (what, count) in [("failures", matrix.failures), ("priorities of flows (prio)", matrix.priorities)] {
        if count > 0 {
            into.notes.push(format!("{count} {what} were not imported"));
        }
    }
    resolve(lines, into, &matrix)
}

fn header(
    lines: &Text<'_>,
    into: &mut Collector<'_>,
    words: &[&str],
    matrix: &mut Matrix,
) -> Result<(), InputError> {
    let &[name, number] = words else {
        return Err(lines.error("", "the count is not one number", "one number, such as Nodes 16"));
    };
    let number = whole(lines, number, "a number")?;
    let stated = match name {
        "Nodes" => &mut matrix.stated.nodes,
        "Connections" => &mut matrix.stated.connections,
        "Triggers" => &mut matrix.stated.triggers,
        _ => &mut matrix.stated.failures,
    };
    if stated.replace(number).is_some() {
        return Err(lines.error("", format!("{name} appears twice"), "each count once"));
    }
    if name == "Nodes" {
        if number == 0 || number > MAX_HOSTS {
            return Err(lines.error("", format!("there are {number} nodes"), "1 to 65536 nodes"));
        }
        into.set_hosts((0..number as u32).collect());
    }
    Ok(())
}

fn trigger(lines: &Text<'_>, words: &[&str], matrix: &mut Matrix) -> Result<(), InputError> {
    let number = |word: &str| whole(lines, word, "a number");
    let (id, kind) = match words[1..] {
        ["id", id, "oneshot" | "multishot"] => (number(id)?, Kind::Shot),
        ["id", id, "barrier", "count", count] => (number(id)?, Kind::Barrier(number(count)?)),
        _ => {
            let fix = "trigger id N, followed by oneshot, multishot or barrier count N";
            return Err(lines.error("", "the line is not a trigger", fix));
        }
    };
    if matrix.triggers.len() == MAX_IMPORTED {
        return Err(too_many(lines));
    }
    match matrix.triggers.insert(id, kind) {
        Some(_) => {
            Err(lines.error("", format!("trigger {id} appears twice"), "a different id for each trigger"))
        }
        None => Ok(()),
    }
}

fn connection(
    lines: &Text<'_>,
    into: &mut Collector<'_>,
    words: &[&str],
    (matrix, unit): (&mut Matrix, Unit),
) -> Result<(), InputError> {
    let Some((src, dst)) = words[0].split_once("->") else {
        let what = format!("{} is neither a count nor a connection", shown(words[0]));
        return Err(lines.error("", what, "a connection such as 0->13 id 1 start 0 size 2000000"));
    };
    let power = if unit == Unit::Picoseconds { 0 } else { 6 };
    let (mut start, mut waits, mut size, mut pulls) = (None, None, 0, Vec::new());
    for pair in words[1..].chunks(2) {
        let &[key, value] = pair else {
            return Err(lines.error("", "the connection is incomplete", "a value for each key"));
        };
        let number = || whole(lines, value, "a number");
        match key {
            "start" if unit == Unit::Picoseconds && value.contains('.') => {
                let fix = "the format htsim-us for older files";
                return Err(lines.error("start", "the start is not a whole number of picoseconds", fix));
            }
            "start" => start = Some(into.time(lines, value, power)?),
            "trigger" => waits = Some(number()?),
            "size" => size = number()?,
            "send_done_trigger" | "recv_done_trigger" => pulls.push(number()?),
            "prio" => matrix.priorities += 1,
            "id" => match number()? {
                0 => return Err(lines.error("id", "0 is not an id", "ids from 1")),
                id if !matrix.ids.insert(id) => {
                    return Err(lines.error(
                        "id",
                        format!("connection {id} appears twice"),
                        "a different id for each connection",
                    ));
                }
                _ => {}
            },
            _ => {
                return Err(lines.error("", format!("unknown key {}", shown(key)), "See docs/importing.md"));
            }
        }
    }
    if start.is_some() == waits.is_some() {
        return Err(lines.error(
            "",
            "the connection has both start and trigger, or neither",
            "either start or trigger",
        ));
    }
    if matrix.connections.len() == MAX_IMPORTED {
        return Err(too_many(lines));
    }
    pulls.sort_unstable();
    pulls.dedup();
    let (src, dst) = (into.host(lines, src)?, into.host(lines, dst)?);
    let found = ParsedFlow {
        src,
        dst,
        size: Some(size).filter(|&size| size > 0),
        start: start.unwrap_or(0),
        class: 0,
        coflow: None,
    };
    matrix.connections.push(Connection { found, line: lines.number(), waits, pulls });
    Ok(())
}

/// Checks that the matrix has as many nodes as the network has hosts, as htsim does.
fn fits(lines: &Text<'_>, matrix: &Matrix, network: &Network) -> Result<(), InputError> {
    let (nodes, hosts) = (matrix.stated.nodes.unwrap_or(0), network.hosts.len() as u64);
    if nodes == hosts {
        return Ok(());
    }
    let what = format!("the matrix has {nodes} nodes, and the topology {hosts}");
    Err(lines.whole(what, "the topology of this matrix"))
}

/// Compares the stated counts with the items found.
fn counted(lines: &Text<'_>, matrix: &Matrix) -> Result<(), InputError> {
    let stated = &matrix.stated;
    if stated.nodes.is_none() || stated.connections.is_none() {
        return Err(lines.whole("Nodes or Connections is missing", "Begin with both"));
    }
    let counts = [
        ("Connections", stated.connections, matrix.connections.len() as u64),
        ("Triggers", stated.triggers, matrix.triggers.len() as u64),
        ("Failures", stated.failures, matrix.failures),
    ];
    for (name, stated, there) in counts {
        if stated.unwrap_or(0) != there {
            let what = format!("the file declares {} {name}, but there are {there}", stated.unwrap_or(0));
            return Err(lines.whole(what, "Check that the file is complete"));
        }
    }
    Ok(())
}

/// A trigger with the flows that fire it and those that depend on it, by index in the file.
struct Trigger {
    kind: Kind,
    pullers: Vec<usize>,
    waiters: Vec<usize>,
    open: usize,
}

impl Trigger {
    /// Returns why the flows that depend on it cannot be listed, if they cannot.
    fn fault(&self) -> Option<&'static str> {
        let pullers = self.pullers.len() as u64;
        match self.kind {
            _ if pullers == 0 => Some("its trigger never fires"),
            Kind::Barrier(count) if count > pullers => Some("its trigger never fires"),
            Kind::Barrier(count) if count == pullers => None,
            Kind::Shot if pullers == 1 => None,
            Kind::Barrier(_) | Kind::Shot => Some("its trigger fires before the last of several flows"),
        }
    }
}

fn resolve(lines: &Text<'_>, into: &mut Collector<'_>, matrix: &Matrix) -> Result<(), InputError> {
    let mut pulled: BTreeMap<u64, Trigger> = BTreeMap::new();
    for (&id, &kind) in &matrix.triggers {
        pulled.insert(id, Trigger { kind, pullers: Vec::new(), waiters: Vec::new(), open: 0 });
    }
    for (place, connection) in matrix.connections.iter().enumerate() {
        let unknown = |id: u64| {
            let what = format!("unknown trigger {id}");
            InputError::new(lines.file(), Some(connection.line), "", what, "Add the line of the trigger")
        };
        for &id in &connection.pulls {
            pulled.get_mut(&id).ok_or_else(|| unknown(id))?.pullers.push(place);
        }
        if let Some(id) = connection.waits {
            pulled.get_mut(&id).ok_or_else(|| unknown(id))?.waiters.push(place);
        }
    }
    let starts = startable(&matrix.connections, &mut pulled);
    let mut place_of = vec![usize::MAX; starts.len()];
    for (place, connection) in matrix.connections.iter().enumerate() {
        let found = connection.found;
        let fault = connection.waits.and_then(|id| pulled[&id].fault());
        match fault {
            Some(reason) => into.drop(reason, found.bytes()),
            None if !starts[place] && Collector::fault(&found).is_none() => {
                into.drop("the flow depends on one that never starts or never ends", found.bytes());
            }
            None => place_of[place] = into.take(lines, found)?.unwrap_or(usize::MAX),
        }
    }
    for pulled in pulled.values().filter(|pulled| pulled.fault().is_none()) {
        let others: Rc<[usize]> = pulled.pullers.iter().map(|&place| place_of[place]).collect();
        let listed = pulled.waiters.iter().map(|&place| place_of[place]).filter(|&place| place != usize::MAX);
        listed.for_each(|place| into.wait(place, Rc::clone(&others)));
    }
    Ok(())
}

/// Returns which connections can start: those with a start time, and those whose trigger fires.
fn startable(connections: &[Connection], pulled: &mut BTreeMap<u64, Trigger>) -> Vec<bool> {
    let mut starts = vec![false; connections.len()];
    for trigger in pulled.values_mut() {
        trigger.open = trigger.pullers.len();
    }
    let good = |place: usize| Collector::fault(&connections[place].found).is_none();
    let mut ready: Vec<usize> =
        (0..starts.len()).filter(|&place| connections[place].waits.is_none() && good(place)).collect();
    while let Some(place) = ready.pop() {
        starts[place] = true;
        if connections[place].found.size.is_none() {
            continue;
        }
        for id in &connections[place].pulls {
            let Some(trigger) = pulled.get_mut(id) else { continue };
            trigger.open -= 1;
            if trigger.open == 0 && trigger.fault().is_none() {
                ready.extend(trigger.waiters.iter().copied().filter(|&place| good(place)));
            }
        }
    }
    starts
}
