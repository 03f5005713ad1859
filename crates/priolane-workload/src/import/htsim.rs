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
//! The stated counts are checked. A flow that a trigger starts waits for the flows that pull it: for the one that
//! does (`oneshot`, `multishot`), or for all of a `barrier`. What starts at the first of several flows cannot be
//! listed and is dropped, with all that waits for it. Both `send_done_trigger` and `recv_done_trigger` are taken
//! as the arrival of the flow's last byte (docs/assumptions.md#import-cm-triggers). `prio` and failures are not
//! read.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::rc::Rc;

use priolane_source::InputError;
use priolane_source::csv::shown;

use super::collect::MAX_IMPORTED;
use super::collect::{Collector, Found, MAX_HOSTS, too_many, whole};
use super::options::Text;

/// What `start` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Picoseconds,
    Microseconds,
}

/// How many of each thing the file states, or has.
#[derive(Default)]
struct Counts {
    nodes: Option<u64>,
    connections: Option<u64>,
    triggers: Option<u64>,
    failures: Option<u64>,
}

struct Connection {
    found: Found,
    line: usize,
    /// The trigger that starts it, if it does not start by itself.
    waits: Option<u64>,
    /// The triggers that it pulls, each once.
    pulls: Vec<u64>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Fires when it is pulled.
    Shot,
    /// Fires when it has been pulled so often.
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

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>, unit: Unit) -> Result<(), InputError> {
    let (mut line, mut matrix) = (String::new(), Matrix::default());
    while lines.next(&mut line)? {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "Nodes" | "Connections" | "Triggers" | "Failures" => header(lines, into, &words, &mut matrix)?,
            "trigger" => trigger(lines, &words, &mut matrix)?,
            "failure" => matrix.failures += 1,
            _ => {
                into.rows += 1;
                connection(lines, into, &words, (&mut matrix, unit))?;
            }
        }
    }
    counted(lines, &matrix)?;
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
        return Err(lines.error("", "the count is not one number", "write such as Nodes 16"));
    };
    let number = whole(lines, number, "a number")?;
    let stated = match name {
        "Nodes" => &mut matrix.stated.nodes,
        "Connections" => &mut matrix.stated.connections,
        "Triggers" => &mut matrix.stated.triggers,
        _ => &mut matrix.stated.failures,
    };
    if stated.replace(number).is_some() {
        return Err(lines.error("", format!("{name} is stated twice"), "state each count once"));
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
            let fix = "write trigger id N oneshot, multishot or barrier count N";
            return Err(lines.error("", "this is no trigger", fix));
        }
    };
    if matrix.triggers.len() == MAX_IMPORTED {
        return Err(too_many(lines));
    }
    match matrix.triggers.insert(id, kind) {
        Some(_) => Err(lines.error("", format!("trigger {id} is there twice"), "give each its own id")),
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
        return Err(lines.error("", what, "write such as 0->13 id 1 start 0 size 2000000"));
    };
    let power = if unit == Unit::Picoseconds { 0 } else { 6 };
    let (mut start, mut waits, mut size, mut pulls) = (None, None, 0, Vec::new());
    for pair in words[1..].chunks(2) {
        let &[key, value] = pair else {
            return Err(lines.error("", "the connection is cut short", "give each key a value"));
        };
        let number = || whole(lines, value, "a number");
        match key {
            "start" if unit == Unit::Picoseconds && value.contains('.') => {
                let fix = "import older files as htsim-us";
                return Err(lines.error("start", "starts are whole picoseconds", fix));
            }
            "start" => start = Some(into.time(lines, value, power)?),
            "trigger" => waits = Some(number()?),
            "size" => size = number()?,
            "send_done_trigger" | "recv_done_trigger" => pulls.push(number()?),
            "prio" => matrix.priorities += 1,
            "id" => match number()? {
                0 => return Err(lines.error("id", "0 is no id", "number connections from 1")),
                id if !matrix.ids.insert(id) => {
                    return Err(lines.error("id", format!("connection {id} is there twice"), "an id each"));
                }
                _ => {}
            },
            _ => {
                return Err(lines.error(
                    "",
                    format!("no key is called {}", shown(key)),
                    "see docs/importing.md",
                ));
            }
        }
    }
    if start.is_some() == waits.is_some() {
        return Err(lines.error("", "a connection has either start or trigger", "give it one of them"));
    }
    if matrix.connections.len() == MAX_IMPORTED {
        return Err(too_many(lines));
    }
    pulls.sort_unstable();
    pulls.dedup();
    let (src, dst) = (into.host(lines, src)?, into.host(lines, dst)?);
    let found = Found { src, dst, bytes: size, start: start.unwrap_or(0), class: 0, coflow: None };
    matrix.connections.push(Connection { found, line: lines.number(), waits, pulls });
    Ok(())
}

/// Compares what is stated with what is there.
fn counted(lines: &Text<'_>, matrix: &Matrix) -> Result<(), InputError> {
    let stated = &matrix.stated;
    if stated.nodes.is_none() || stated.connections.is_none() {
        return Err(lines.whole("Nodes or Connections is not stated", "begin with both"));
    }
    let counts = [
        ("Connections", stated.connections, matrix.connections.len() as u64),
        ("Triggers", stated.triggers, matrix.triggers.len() as u64),
        ("Failures", stated.failures, matrix.failures),
    ];
    for (name, stated, there) in counts {
        if stated.unwrap_or(0) != there {
            let what = format!("{name} is stated as {}, but there are {there}", stated.unwrap_or(0));
            return Err(lines.whole(what, "is the file cut short?"));
        }
    }
    Ok(())
}

/// A trigger, and who pulls it and waits for it, by place in the file.
struct Pulled {
    kind: Kind,
    pullers: Vec<usize>,
    waiters: Vec<usize>,
    open: usize,
}

impl Pulled {
    /// Why what waits for it cannot be listed, if it cannot.
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
    let mut pulled: BTreeMap<u64, Pulled> = BTreeMap::new();
    for (&id, &kind) in &matrix.triggers {
        pulled.insert(id, Pulled { kind, pullers: Vec::new(), waiters: Vec::new(), open: 0 });
    }
    for (place, connection) in matrix.connections.iter().enumerate() {
        let unknown = |id: u64| {
            let what = format!("there is no trigger {id}");
            InputError::new(lines.file(), Some(connection.line), "", what, "add its line")
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
            Some(reason) => into.drop(reason, found.bytes),
            None if !starts[place] && Collector::fault(&found).is_none() => {
                into.drop("waits for a flow that never starts", found.bytes);
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

/// Which connections start in the end: those with a start, and those whose trigger all its pullers pull.
fn startable(connections: &[Connection], pulled: &mut BTreeMap<u64, Pulled>) -> Vec<bool> {
    let mut starts = vec![false; connections.len()];
    for trigger in pulled.values_mut() {
        trigger.open = trigger.pullers.len();
    }
    let good = |place: usize| Collector::fault(&connections[place].found).is_none();
    let mut ready: Vec<usize> =
        (0..starts.len()).filter(|&place| connections[place].waits.is_none() && good(place)).collect();
    while let Some(place) = ready.pop() {
        starts[place] = true;
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
