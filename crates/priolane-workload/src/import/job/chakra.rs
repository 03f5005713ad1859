//! Chakra execution traces, one file a rank (`et_def.proto` of mlcommons/chakra), as ASTRA-sim reads them.
//!
//! ```text
//! file        records: a varint of bytes, then a message; the first is GlobalMetadata, the others are Node
//! Node        1 id, 3 type, 4 ctrl_deps, 5 data_deps, 7 duration_micros, 10 attr
//! attr        1 name, then one value
//! types       4 COMP, 5 COMM_SEND, 6 COMM_RECV, 7 COMM_COLL; others take their duration
//! ```
//!
//! The wire format is read by [`wire`](super::wire), and not by a crate for Protocol Buffers: nine fields are needed, and
//! such a crate reads all fields of all messages through generated code.
//!
//! A process group has the ranks whose traces name it. Its k-th collective is the k-th of each of these ranks.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use priolane_core::sizes::MAX_BYTES;
use priolane_source::{InputError, open};

use super::collective;
use super::op::{Job, Kind, Op};
use super::wire::{Fields, Value, numbers, varint};
use crate::context::LATEST_START;
use crate::import::collect::{MAX_HOSTS, MAX_IMPORTED};
use crate::rounds::{Algorithm, Collective};

/// Maximum bytes of the trace of a rank.
const MAX_TRACE: u64 = 1 << 30;

/// The tags of collectives, above those of messages.
const COLLECTIVE_TAGS: u32 = 1 << 31;

/// A collective of one rank.
struct Call {
    rank: u32,
    /// Its op, which ends when the collective has.
    op: u32,
    kind: Collective,
    bytes: u64,
}

/// Reads the traces of all ranks.
pub(super) fn read(prefix: &Path, algorithm: Algorithm) -> Result<Job, InputError> {
    let mut job = Job::default();
    let mut calls: BTreeMap<Vec<u8>, Vec<Vec<Call>>> = BTreeMap::new();
    let mut ops = 0;
    for rank in 0..=MAX_HOSTS as u32 {
        let path = of_rank(prefix, rank);
        if rank > 0 && !path.exists() {
            break;
        }
        let shown = path.display().to_string();
        let mut trace =
            TraceReader { file: &shown, rank, job: &mut job, ops: Vec::new(), calls: BTreeMap::new() };
        trace.read(&bytes(&path, &shown)?)?;
        let TraceReader { ops: own, calls: own_calls, .. } = trace;
        ops += own.len();
        if ops > MAX_IMPORTED {
            let what = format!("the traces have more than {MAX_IMPORTED} nodes");
            return Err(InputError::new(shown, None, "", what, "a part of the traces"));
        }
        job.ranks.push(own);
        own_calls.into_iter().for_each(|(group, of_rank)| calls.entry(group).or_default().push(of_rank));
    }
    job.report.ranks = job.ranks.len() as u64;
    if job.ranks.len() > MAX_HOSTS as usize {
        let what = format!("there are traces of more than {MAX_HOSTS} ranks");
        return Err(InputError::new(prefix.display().to_string(), None, "", what, "a part of the traces"));
    }
    let wrong = |what: String| {
        let fix = "complete traces of one job, and --collectives ring";
        InputError::new(prefix.display().to_string(), None, "", what, fix)
    };
    check_peers(&job).map_err(wrong)?;
    calls.values().try_for_each(|of_group| expand(&mut job, of_group, algorithm)).map_err(wrong)?;
    Ok(job)
}

/// Checks that all ranks that are sent to have a trace; an error is what is wrong.
fn check_peers(job: &Job) -> Result<(), String> {
    let ranks = job.ranks.len();
    for (ops, rank) in job.ranks.iter().zip(0..) {
        let peer = |op: &Op| match op.kind {
            Kind::Send { to, .. } if to as usize >= ranks => Some(to),
            _ => None,
        };
        if let Some(to) = ops.iter().find_map(peer) {
            return Err(format!("rank {rank} sends to rank {to}, which has no trace"));
        }
    }
    Ok(())
}

fn of_rank(prefix: &Path, rank: u32) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!(".{rank}.et"));
    name.into()
}

fn bytes(path: &Path, shown: &str) -> Result<Vec<u8>, InputError> {
    let fail = |what: String| {
        InputError::new(shown, None, "", what, "PREFIX of files PREFIX.0.et, PREFIX.1.et and so on")
    };
    let mut bytes = Vec::new();
    let file = open(path, shown)?;
    file.take(MAX_TRACE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fail(format!("reading failed: {error}")))?;
    if bytes.len() as u64 > MAX_TRACE {
        Err(fail("the trace is larger than 1 GiB".to_owned()))
    } else {
        Ok(bytes)
    }
}

/// Reads the trace of one rank.
struct TraceReader<'a> {
    file: &'a str,
    rank: u32,
    job: &'a mut Job,
    ops: Vec<Op>,
    /// Its collectives, by process group.
    calls: BTreeMap<Vec<u8>, Vec<Call>>,
}

/// The fields of a node that are read.
#[derive(Default)]
struct Node<'a> {
    id: u64,
    kind: u64,
    after: Vec<u64>,
    micros: u64,
    size: Option<u64>,
    peer: [Option<u64>; 2],
    tag: u64,
    collective: Option<u64>,
    group: &'a [u8],
}

impl TraceReader<'_> {
    fn error(&self, what: impl Into<String>) -> InputError {
        InputError::new(self.file, None, "", what, "an execution trace as Chakra and ASTRA-sim write it")
    }

    fn read(&mut self, mut bytes: &[u8]) -> Result<(), InputError> {
        let mut places = BTreeMap::new();
        let mut waits = Vec::new();
        let mut record = 0_u64;
        while !bytes.is_empty() {
            let cut = || format!("record {record} is cut off");
            let size = varint(&mut bytes).and_then(|size| usize::try_from(size).ok());
            let message = size.and_then(|size| bytes.split_at_checked(size));
            let (message, rest) = message.ok_or_else(|| self.error(cut()))?;
            bytes = rest;
            if record > 0 {
                let node = node(message).ok_or_else(|| self.error(format!("record {record} is no node")))?;
                if places.insert(node.id, self.ops.len() as u32).is_some() {
                    return Err(self.error(format!("two nodes have the id {}", node.id)));
                }
                let op = self.op(&node)?;
                waits.push(node.after);
                self.ops.push(op);
            }
            record += 1;
        }
        for (op, after) in self.ops.iter_mut().zip(waits) {
            let known = after.iter().filter_map(|id| places.get(id).copied());
            op.after_end = known.collect();
            self.job.report.missing_dependencies += (after.len() - op.after_end.len()) as u64;
            op.after_end.sort_unstable();
            op.after_end.dedup();
        }
        Ok(())
    }

    fn op(&mut self, node: &Node<'_>) -> Result<Op, InputError> {
        let id = node.id;
        let [source, destination] = node.peer;
        let rank = |name: &str, number: Option<u64>| {
            let known =
                number.and_then(|number| u32::try_from(number).ok()).filter(|&to| u64::from(to) < MAX_HOSTS);
            known.ok_or_else(|| self.error(format!("node {id} has no {name}, or none that is a rank")))
        };
        let bytes = || {
            let known = node.size.filter(|&size| size <= MAX_BYTES as u64);
            known.ok_or_else(|| self.error(format!("node {id} has no comm_size, or one above 2^47")))
        };
        let tag = (node.tag % u64::from(COLLECTIVE_TAGS)) as u32;
        let kind = match node.kind {
            5 => Kind::Send { bytes: bytes()?, to: rank("comm_dst", destination)?, tag },
            6 => Kind::Receive { bytes: bytes()?, from: Some(rank("comm_src", source)?), tag: Some(tag) },
            // A collective ends with a join; calls of the framework around it have no size.
            7 if node.size.is_some() || node.collective == Some(9) => {
                let number = node.collective.unwrap_or(0);
                let collective = Collective::of_chakra(number)
                    .ok_or_else(|| self.error(format!("node {id} has the unknown comm_type {number}")))?;
                let bytes = if node.size.is_some() { bytes()? } else { 1 };
                let call = Call { rank: self.rank, op: self.ops.len() as u32, kind: collective, bytes };
                self.calls.entry(node.group.to_vec()).or_default().push(call);
                Kind::Compute(0)
            }
            _ => {
                let takes = node.micros.checked_mul(1_000_000).filter(|&takes| takes <= LATEST_START.0);
                let takes = takes.ok_or_else(|| self.error(format!("node {id} takes more than 26 days")))?;
                self.job.report.untimed += u64::from(takes == 0 && node.kind == 4);
                self.job.report.computations += u64::from(node.kind == 4);
                Kind::Compute(takes)
            }
        };
        self.job.report.sends += u64::from(node.kind == 5);
        self.job.report.receives += u64::from(node.kind == 6);
        Ok(Op::new(kind))
    }
}

fn node(message: &[u8]) -> Option<Node<'_>> {
    let mut node = Node::default();
    for field in Fields::new(message) {
        match field? {
            (1, Value::Number(id)) => node.id = id,
            (3, Value::Number(kind)) => node.kind = kind,
            (4 | 5, ids) => node.after.extend(numbers(ids)?),
            (7, Value::Number(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => node.read_attribute(attribute)?,
            _ => {}
        }
    }
    Some(node)
}

impl<'a> Node<'a> {
    fn read_attribute(&mut self, attribute: &'a [u8]) -> Option<()> {
        let (mut name, mut value): (&[u8], Option<Value<'_>>) = (&[], None);
        for field in Fields::new(attribute) {
            match field? {
                (1, Value::Bytes(text)) => name = text,
                (2, _) => {}
                (_, found) => value = Some(found),
            }
        }
        match (name, value) {
            (b"comm_size", Some(Value::Number(size))) => self.size = Some(size),
            (b"comm_src", Some(Value::Number(rank))) => self.peer[0] = Some(rank),
            (b"comm_dst", Some(Value::Number(rank))) => self.peer[1] = Some(rank),
            (b"comm_tag", Some(Value::Number(tag))) => self.tag = tag,
            (b"comm_type", Some(Value::Number(kind))) => self.collective = Some(kind),
            (b"pg_name", Some(Value::Bytes(group))) => self.group = group,
            _ => {}
        }
        Some(())
    }
}

/// Replaces the collectives of a process group by their messages; an error is what is wrong.
fn expand(job: &mut Job, of_group: &[Vec<Call>], algorithm: Algorithm) -> Result<(), String> {
    let Some(first) = of_group.first() else { return Ok(()) };
    let ranks: Vec<u32> = of_group.iter().filter_map(|calls| calls.first().map(|call| call.rank)).collect();
    for calls in of_group {
        let (rank, count) = (calls[0].rank, calls.len());
        if count != first.len() {
            let (other, wanted) = (first[0].rank, first.len());
            return Err(format!(
                "rank {rank} has {count} collectives of a group of which rank {other} has {wanted}"
            ));
        }
    }
    if ranks.len().pow(2) > MAX_IMPORTED {
        return Err(format!("the collectives of {} ranks have too many messages", ranks.len()));
    }
    for number in 0..first.len() {
        let Call { kind, bytes, .. } = first[number];
        if let Some(calls) =
            of_group.iter().find(|calls| (calls[number].kind, calls[number].bytes) != (kind, bytes))
        {
            let (rank, other) = (calls[0].rank, first[0].rank);
            return Err(format!(
                "collective {number} of a group is {:?} of {} bytes at rank {rank}, and {kind:?} of {bytes} bytes at \
                 rank {other}",
                calls[number].kind, calls[number].bytes
            ));
        }
        let instance = job.report.collectives as u32;
        job.report.collectives += 1;
        let parts = collective::parts(kind, algorithm, &ranks, bytes, COLLECTIVE_TAGS + instance)?;
        for (calls, parts) in of_group.iter().zip(parts) {
            let ops = &mut job.ranks[calls[number].rank as usize];
            insert(ops, calls[number].op, parts, instance);
        }
    }
    if job.ranks.iter().map(Vec::len).sum::<usize>() > MAX_IMPORTED {
        return Err(format!("the collectives have more than {MAX_IMPORTED} messages"));
    }
    Ok(())
}

/// Adds the ops of a rank in a collective: the first ones wait for what the collective waits for, and the collective, which
/// is the op `join`, ends after all of them.
fn insert(ops: &mut Vec<Op>, join: u32, parts: Vec<collective::Part>, instance: u32) {
    let first = ops.len() as u32;
    let before = ops[join as usize].after_end.clone();
    let all = first..first + parts.len() as u32;
    for part in parts {
        let own: Vec<u32> = part.after.iter().map(|&earlier| first + earlier).collect();
        let after_end = if own.is_empty() { before.clone() } else { own };
        ops.push(Op { after_end, collective: Some(instance), ..Op::new(part.kind) });
    }
    ops[join as usize].after_end.extend(all);
}
