//! The rows of a job: flows for messages, and steps for what else takes time or joins several ops.
//!
//! Ops are taken in an order in which each follows those that it waits for. A row of the list stands for the begin and
//! for the end of each op; an op that takes no time and waits for one row has that row for both, so that most receives and
//! sends need no step of their own.

use std::collections::VecDeque;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CoflowId, FlowId, HostId};
use priolane_core::units::{Span, Time};
use priolane_source::InputError;

use super::op::{Job, Kind, Op, PerOp, Place};
use super::send_end::{Ends, SendEnd};
use crate::context::LATEST_START;
use crate::flow_list::{After, Row};
use crate::import::collect::MAX_IMPORTED;

/// The rows at which an op begins and ends; `None` for the begin of the job.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    begin: Option<u32>,
    end: Option<u32>,
    /// Whether another op waits for its begin, or its end.
    begin_is_awaited: bool,
    end_is_awaited: bool,
}

/// Returns the rows, and counts them in the job's report.
///
/// # Errors
/// Fails if ops wait for each other, or there are too many rows.
pub(super) fn rows(
    job: &mut Job,
    message_of: &PerOp<Option<Place>>,
    (host_of, ends): (&[HostId], Ends),
    file: &str,
) -> Result<Vec<Row>, InputError> {
    let receive_of = receives(job, message_of, ends);
    let order = order(job, message_of, &receive_of, file)?;
    let mut marks = PerOp::new(job, Marks::default());
    for place in job.places() {
        let op = job.op(place);
        for &first in &op.after_end {
            marks.of(Place { op: first, ..place }).end_is_awaited = true;
        }
        for &first in &op.after_start {
            marks.of(Place { op: first, ..place }).begin_is_awaited = true;
        }
    }
    let delivered = PerOp::new(job, None);
    let mut listing = Listing {
        host_of,
        send_ends: ends,
        marks,
        receive_of,
        delivered,
        rows: Vec::new(),
        ends: Vec::new(),
        local: 0,
        empty: 0,
        receipts: 0,
    };
    for place in order {
        listing.add(job, place, *message_of.get(place));
        if listing.rows.len() > MAX_IMPORTED {
            let what = format!("the job has more than {MAX_IMPORTED} flows and steps");
            return Err(InputError::new(file, None, "", what, "a part of the job"));
        }
    }
    let longest = listing.ends.iter().copied().max().unwrap_or(0);
    if longest > LATEST_START.0 {
        let fix = "shorter computations";
        return Err(InputError::new(file, None, "", "the job takes more than 26 days", fix));
    }
    job.report.local = listing.local;
    job.report.empty_messages = listing.empty;
    job.report.receipts = listing.receipts;
    job.report.steps = listing.rows.iter().filter(|row| row.is_step()).count() as u64;
    job.report.compute_ps = longest;
    Ok(listing.rows)
}

/// Returns the receive of each send that ends when its message has been received.
fn receives(job: &Job, message_of: &PerOp<Option<Place>>, ends: Ends) -> PerOp<Option<Place>> {
    let mut receive_of = PerOp::new(job, None);
    for place in job.places() {
        if let Some(send) = *message_of.get(place)
            && ends.of(job.op(send)) == Some(SendEnd::Received)
        {
            *receive_of.of(send) = Some(place);
        }
    }
    receive_of
}

/// Orders all ops, each after those that it waits for; a receive waits for its send, and what waits for the end of a send
/// may wait for its receive.
fn order(
    job: &Job,
    message_of: &PerOp<Option<Place>>,
    receive_of: &PerOp<Option<Place>>,
    file: &str,
) -> Result<Vec<Place>, InputError> {
    let mut open = PerOp::new(job, 0_u32);
    let mut waiters: PerOp<Vec<Place>> = PerOp::new(job, Vec::new());
    for place in job.places() {
        let op = job.op(place);
        let own = op.after_end.iter().chain(&op.after_start).map(|&first| Place { op: first, ..place });
        let ended = op.after_end.iter().filter_map(|&first| *receive_of.get(Place { op: first, ..place }));
        for first in own.chain(ended).chain(*message_of.get(place)) {
            *open.of(place) += 1;
            waiters.of(first).push(place);
        }
    }
    let mut ready: VecDeque<Place> = job.places().filter(|&place| *open.get(place) == 0).collect();
    let mut order = Vec::new();
    while let Some(place) = ready.pop_front() {
        order.push(place);
        for waiter in std::mem::take(waiters.of(place)) {
            *open.of(waiter) -= 1;
            if *open.get(waiter) == 0 {
                ready.push_back(waiter);
            }
        }
    }
    match job.places().find(|&place| *open.get(place) > 0) {
        Some(Place { rank, op }) => {
            let what = format!("op {op} of rank {rank}, counted from 0, waits for itself through other ops");
            let fix = if job.places().any(|place| receive_of.get(place).is_some()) {
                "dependencies and messages without a circle, or --send-ends at-once"
            } else {
                "dependencies and messages without a circle"
            };
            Err(InputError::new(file, None, "", what, fix))
        }
        None => Ok(order),
    }
}

/// The rows so far.
struct Listing<'a> {
    host_of: &'a [HostId],
    send_ends: Ends,
    marks: PerOp<Marks>,
    /// The receive that ends a send.
    receive_of: PerOp<Option<Place>>,
    /// The row at which the message of a send has arrived.
    delivered: PerOp<Option<u32>>,
    rows: Vec<Row>,
    /// The end of each row if messages take no time, in picoseconds.
    ends: Vec<u64>,
    local: u64,
    empty: u64,
    receipts: u64,
}

impl Listing<'_> {
    fn add(&mut self, job: &Job, place: Place, message: Option<Place>) {
        let op = job.op(place);
        let host = self.host_of[place.rank as usize];
        let mark = |first: u32| *self.marks.get(Place { op: first, ..place });
        let ends = op.after_end.iter().filter_map(|&first| mark(first).end);
        let begins = op.after_start.iter().filter_map(|&first| mark(first).begin);
        let mut before: Vec<u32> = ends.chain(begins).collect();
        before.sort_unstable();
        before.dedup();
        let Marks { begin_is_awaited, end_is_awaited, .. } = *self.marks.get(place);
        let (begin, end) = match op.kind {
            Kind::Compute(0) if begin_is_awaited || end_is_awaited => {
                let joined = self.joined(host, &mut before);
                (joined, joined)
            }
            Kind::Compute(0) => (None, None),
            Kind::Compute(takes) => {
                let begin = if begin_is_awaited { self.joined(host, &mut before) } else { None };
                (begin, Some(self.step(host, &before, takes)))
            }
            Kind::Send { bytes, to, .. } => {
                self.send(op, place, (bytes, self.host_of[to as usize]), &mut before)
            }
            Kind::Receive { .. } => {
                let begin = if begin_is_awaited { self.joined(host, &mut before) } else { None };
                before.extend(message.and_then(|send| *self.delivered.get(send)));
                before.sort_unstable();
                before.dedup();
                let waiting = message.filter(|&send| {
                    self.receive_of.get(send).is_some() && self.marks.get(send).end_is_awaited
                });
                let is_awaited = end_is_awaited || waiting.is_some();
                let end = if is_awaited { self.joined(host, &mut before) } else { None };
                if let Some(send) = waiting {
                    let end = self.receipt((host, self.host_of[send.rank as usize]), end);
                    self.marks.of(send).end = end;
                }
                (begin, end)
            }
        };
        let marks = self.marks.of(place);
        (marks.begin, marks.end) = (begin, end);
    }

    /// Adds a message of these bytes to this host; returns the rows at which the send begins and ends. A send that ends when
    /// it is received gets that end with the receive.
    fn send(
        &mut self,
        op: &Op,
        place: Place,
        (bytes, to): (u64, HostId),
        before: &mut Vec<u32>,
    ) -> (Option<u32>, Option<u32>) {
        let host = self.host_of[place.rank as usize];
        let is_local = to == host;
        let Marks { begin_is_awaited, end_is_awaited, .. } = *self.marks.get(place);
        let how = self.send_ends.of(op).unwrap_or(SendEnd::AtOnce);
        let ends_here = end_is_awaited && matches!(how, SendEnd::AtOnce | SendEnd::AtNic(_));
        let is_awaited = begin_is_awaited || ends_here || is_local;
        let begin = if is_awaited { self.joined(host, before) } else { None };
        let arrived = if is_local {
            self.local += 1;
            begin
        } else {
            self.empty += u64::from(bytes == 0);
            Some(self.flow((host, to), bytes.max(1), before, op.collective))
        };
        *self.delivered.of(place) = arrived;
        let end = match how {
            SendEnd::AtOnce => begin,
            SendEnd::AtNic(rate) if end_is_awaited && !is_local => {
                Some(self.step(host, before, rate.serialize(bytes).0))
            }
            SendEnd::AtNic(_) => begin,
            SendEnd::Delivered | SendEnd::Received => arrived,
        };
        (begin, end)
    }

    /// Returns the row at which the host `to` knows that the message that it sent to the host `from` was received at the row
    /// `end`: that of the message itself, or of a message of one byte if the receive ended later.
    fn receipt(&mut self, (from, to): (HostId, HostId), end: Option<u32>) -> Option<u32> {
        let row = end?;
        if from == to || !self.rows[row as usize].is_step() {
            return end;
        }
        self.receipts += 1;
        Some(self.flow((from, to), 1, &[row], None))
    }

    /// Returns the row at which all of `before` have ended, and leaves that row alone in `before`; `None` for the begin
    /// of the job.
    fn joined(&mut self, host: HostId, before: &mut Vec<u32>) -> Option<u32> {
        if before.len() > 1 {
            let join = self.step(host, before, 0);
            *before = vec![join];
        }
        before.first().copied()
    }

    fn step(&mut self, host: HostId, before: &[u32], takes: u64) -> u32 {
        let flow = FlowSpec::new(FlowId(self.rows.len() as u32), (host, host), Some(0));
        let delay = (takes > 0).then_some(Span(takes));
        self.push(Row {
            flow,
            after: before.iter().map(|&row| After::row(FlowId(row))).collect(),
            delay,
            path: None,
        })
    }

    fn flow(&mut self, pair: (HostId, HostId), bytes: u64, before: &[u32], collective: Option<u32>) -> u32 {
        let plain = FlowSpec::new(FlowId(self.rows.len() as u32), pair, Some(bytes));
        let flow = FlowSpec { coflow: collective.and_then(CoflowId::new), start: Time::ZERO, ..plain };
        // The host itself knows at once that a message arrived; another host after the app's delay of notifications.
        let after = |&row: &u32| {
            let first = &self.rows[row as usize];
            let at_once = !first.is_step() && first.flow.dst == pair.0;
            After { row: FlowId(row), delay: at_once.then_some(Span::ZERO) }
        };
        let after = before.iter().map(after).collect();
        self.push(Row { flow, after, delay: None, path: None })
    }

    fn push(&mut self, row: Row) -> u32 {
        let start = row.after.iter().map(|first| self.ends[first.row.index()]).max().unwrap_or(0);
        self.ends.push(start.saturating_add(row.delay.map_or(0, |delay| delay.0)));
        self.rows.push(row);
        self.rows.len() as u32 - 1
    }
}
