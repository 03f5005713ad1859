//! GOAL, the text schedules of LogGOPSim (grammar: `txt2bin.re` of spcl/LogGOPSim).
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 1500 cpu 0
//! l2: send 64b to 1 tag 7 cpu 0 nic 0
//! l2 requires l1
//! }
//! ```
//!
//! `calc` is in nanoseconds. `A requires B`: A begins when B has ended; `A irequires B`: when B has begun. Comments are
//! `// ...` and `/* ... */`. `cpu` and `nic` order nothing here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use priolane_core::sizes::MAX_BYTES;
use priolane_source::InputError;
use priolane_source::csv::{Lines, shown};

use super::op::{Job, Kind, Op};
use crate::context::LATEST_START;
use crate::import::collect::{MAX_HOSTS, MAX_IMPORTED, digits};

/// Reads all ranks.
pub(super) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Job, InputError> {
    let mut reader = GoalReader { lines, job: Job::default(), seen: BTreeSet::new(), ops: 0, comment: false };
    reader.read()?;
    Ok(reader.job)
}

struct GoalReader<'a, R> {
    lines: &'a mut Lines<R>,
    job: Job,
    seen: BTreeSet<u32>,
    ops: usize,
    /// Whether the text is within `/* ... */`.
    comment: bool,
}

/// The labels of the rank being read, and its cpus.
struct Labels {
    rank: u32,
    ops: BTreeMap<String, u32>,
    /// The cpus that have computed.
    cpus: BTreeSet<u32>,
    /// Computations on a cpu that had one before.
    followers: Vec<u32>,
}

const STATEMENT: &str = "num_ranks N, rank R {, [label:] send Nb to R tag T, [label:] recv Nb from R tag T, \
                         [label:] calc NS, label requires label, label irequires label, or }";

impl<R: BufRead> GoalReader<'_, R> {
    fn read(&mut self) -> Result<(), InputError> {
        let mut line = String::new();
        let mut current: Option<Labels> = None;
        while self.lines.next_raw(&mut line)? {
            let text = self.without_comments(&line);
            let spaced = text.replace(':', " : ").replace('{', " { ").replace('}', " } ");
            let words: Vec<&str> = spaced.split_whitespace().collect();
            let (words, closes) = match words.split_last() {
                Some((&"}", rest)) => (rest, true),
                _ => (&words[..], false),
            };
            match (words, &mut current) {
                ([], _) => {}
                (["num_ranks", count], None) if self.job.ranks.is_empty() => self.ranks(count)?,
                (["rank", rank, "{"], None) => current = Some(self.rank(rank)?),
                (words, Some(labels)) => self.statement(words, labels)?,
                _ => return Err(self.wrong(&line)),
            }
            if closes {
                let Some(labels) = current.take() else {
                    return Err(self.lines.error("", "there is no rank to end", "rank R { before }"));
                };
                self.end(&labels);
            }
        }
        if let Some(Labels { rank, .. }) = current {
            return Err(self.lines.whole(format!("rank {rank} does not end"), "} after its last line"));
        }
        if self.job.ranks.is_empty() {
            return Err(self.lines.whole("the schedule has no ranks", "num_ranks N, then rank 0 { ... }"));
        }
        Ok(())
    }

    fn without_comments(&mut self, line: &str) -> String {
        let (mut kept, mut rest) = (String::new(), line);
        loop {
            if self.comment {
                let Some((_, after)) = rest.split_once("*/") else { return kept };
                (rest, self.comment) = (after, false);
            }
            match (rest.find("//"), rest.find("/*")) {
                (Some(end), open) if open.is_none_or(|open| end < open) => return kept + &rest[..end],
                (_, Some(open)) => {
                    kept += &rest[..open];
                    kept.push(' ');
                    (rest, self.comment) = (&rest[open + 2..], true);
                }
                _ => return kept + rest,
            }
        }
    }

    fn wrong(&self, line: &str) -> InputError {
        self.lines.error("", format!("{} is no statement of GOAL here", shown(line.trim())), STATEMENT)
    }

    fn number(&self, word: &str, most: u64) -> Result<u64, InputError> {
        digits(word).filter(|&number| number <= most).ok_or_else(|| {
            let what = format!("{} is not a whole number up to {most}", shown(word));
            self.lines.error("", what, "digits only")
        })
    }

    fn ranks(&mut self, count: &str) -> Result<(), InputError> {
        let count = self.number(count, MAX_HOSTS)?;
        self.job.ranks = vec![Vec::new(); count as usize];
        self.job.report.ranks = count;
        Ok(())
    }

    fn rank(&mut self, rank: &str) -> Result<Labels, InputError> {
        let rank = self.number(rank, u64::from(u32::MAX))? as u32;
        if rank as usize >= self.job.ranks.len() {
            let what = format!("rank {rank} is not one of the {} of num_ranks", self.job.ranks.len());
            return Err(self.lines.error("", what, "num_ranks N above, and ranks from 0 to N - 1"));
        }
        if !self.seen.insert(rank) {
            return Err(self.lines.error(
                "",
                format!("rank {rank} is there twice"),
                "one block for each rank",
            ));
        }
        Ok(Labels { rank, ops: BTreeMap::new(), cpus: BTreeSet::new(), followers: Vec::new() })
    }

    /// Counts the computations of a rank that overlap with another one of their cpu.
    fn end(&mut self, labels: &Labels) {
        let ops = &self.job.ranks[labels.rank as usize];
        let waits_for_nothing = |&&op: &&u32| {
            let op = &ops[op as usize];
            op.after_end.is_empty() && op.after_start.is_empty()
        };
        self.job.report.overlapping += labels.followers.iter().filter(waits_for_nothing).count() as u64;
    }

    fn statement(&mut self, words: &[&str], labels: &mut Labels) -> Result<(), InputError> {
        match *words {
            [later, "requires", first] => self.dependency(labels, later, first, |op| &mut op.after_end),
            [later, "irequires", first] => self.dependency(labels, later, first, |op| &mut op.after_start),
            [label, ":", ref op @ ..] => self.op(op, labels, Some(label)),
            ref op => self.op(op, labels, None),
        }
    }

    fn dependency(
        &mut self,
        labels: &Labels,
        later: &str,
        first: &str,
        list: fn(&mut Op) -> &mut Vec<u32>,
    ) -> Result<(), InputError> {
        let op = |label: &str| {
            labels.ops.get(label).copied().ok_or_else(|| {
                let what = format!("rank {} has no op {} above", labels.rank, shown(label));
                self.lines.error("", what, "the label of an op above in this rank")
            })
        };
        let (later, first) = (op(later)?, op(first)?);
        list(&mut self.job.ranks[labels.rank as usize][later as usize]).push(first);
        Ok(())
    }

    fn op(&mut self, words: &[&str], labels: &mut Labels, label: Option<&str>) -> Result<(), InputError> {
        let (kind, rest) = self.kind(words)?;
        let cpu = self.check_rest(words, rest, kind)?;
        let ops = &mut self.job.ranks[labels.rank as usize];
        let place = ops.len() as u32;
        self.ops += 1;
        if self.ops > MAX_IMPORTED {
            let what = format!("the schedule has more than {MAX_IMPORTED} ops");
            return Err(self.lines.error("", what, "a shorter schedule"));
        }
        ops.push(Op::new(kind));
        match kind {
            Kind::Compute(_) => {
                self.job.report.computations += 1;
                if !labels.cpus.insert(cpu) {
                    labels.followers.push(place);
                }
            }
            Kind::Send { .. } => self.job.report.sends += 1,
            Kind::Receive { .. } => self.job.report.receives += 1,
        }
        if let Some(label) = label
            && labels.ops.insert(label.to_owned(), place).is_some()
        {
            let what = format!("rank {} has two ops {}", labels.rank, shown(label));
            return Err(self.lines.error("", what, "another label"));
        }
        Ok(())
    }

    /// Returns the op that `words` begin with, and the words behind it.
    fn kind<'w>(&self, words: &'w [&'w str]) -> Result<(Kind, &'w [&'w str]), InputError> {
        let (name, rest) = words.split_first().unwrap_or((&"", &[]));
        match (*name, rest) {
            ("calc", [ns, rest @ ..]) => {
                let ns = self.number(ns, LATEST_START.0 / 1_000)?;
                Ok((Kind::Compute(ns * 1_000), rest))
            }
            ("send", [bytes, "b", "to", to, rest @ ..]) | ("send", [bytes, "to", to, rest @ ..]) => {
                let (bytes, to) = (self.bytes(bytes)?, self.peer(to)?);
                let tag = self.tag(rest)?.unwrap_or(Some(0)).unwrap_or(u32::MAX);
                Ok((Kind::Send { bytes, to, tag }, rest))
            }
            ("recv", [bytes, "b", "from", from, rest @ ..]) | ("recv", [bytes, "from", from, rest @ ..]) => {
                let from = if *from == "-1" { None } else { Some(self.peer(from)?) };
                let (bytes, tag) = (self.bytes(bytes)?, self.tag(rest)?.unwrap_or(Some(0)));
                Ok((Kind::Receive { bytes, from, tag }, rest))
            }
            _ => Err(self.wrong(&words.join(" "))),
        }
    }

    fn bytes(&self, word: &str) -> Result<u64, InputError> {
        self.number(word.strip_suffix('b').unwrap_or(word), MAX_BYTES as u64)
    }

    fn peer(&self, word: &str) -> Result<u32, InputError> {
        self.number(word, (self.job.ranks.len() as u64).saturating_sub(1)).map(|rank| rank as u32)
    }

    /// Returns the tag among the attributes; `Some(None)` for any tag, and `None` if there is none.
    fn tag(&self, rest: &[&str]) -> Result<Option<Option<u32>>, InputError> {
        match rest {
            ["tag", "-1", ..] => Ok(Some(None)),
            ["tag", tag, ..] => self.number(tag, u64::from(u32::MAX) - 1).map(|tag| Some(Some(tag as u32))),
            _ => Ok(None),
        }
    }

    /// Checks the attributes of an op, and returns its cpu.
    fn check_rest(&self, words: &[&str], rest: &[&str], kind: Kind) -> Result<u32, InputError> {
        let names: &[&str] = if matches!(kind, Kind::Compute(_)) { &["cpu"] } else { &["tag", "cpu", "nic"] };
        let mut cpu = 0;
        let mut next = 0;
        for pair in rest.chunks(2) {
            let [name, value] = pair else { return Err(self.wrong(&words.join(" "))) };
            let Some(place) = names.iter().position(|known| known == name).filter(|&place| place >= next)
            else {
                return Err(self.wrong(&words.join(" ")));
            };
            next = place + 1;
            if *name == "cpu" {
                cpu = self.number(value, 255)? as u32;
            } else if *name == "nic" {
                self.number(value, 255)?;
            }
        }
        Ok(cpu)
    }
}
