//! The sender of a host: it sends each message at its start, in the class that admission gives, and applies changes
//! when they are due.
//!
//! ```text
//! planned starts and changes ──┐
//!                              ├──▶ in order of time ──▶ admission ──▶ priolane_net::Host
//! flows held back ─────────────┘            what ended before ──┘
//! ```
//!
//! A policy decides only when a flow starts. Before each decision, the policy learns of all flows that have ended since
//! the last one, each with the time of its end.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use priolane_core::endpoint::Weights;
use priolane_core::units::Rate;
use priolane_net::{Host, Request, SendError};

use crate::admission::ScaledAdmission;
use crate::admission_job::{AdmissionEvent, AdmittedFlow};
use crate::clock::{now, since_ns};
use crate::host_error::HostError;
use crate::job::{Change, Flow, FlowChange, FlowKind, HostJob, SentMessage};
use crate::payload::payload;
use crate::timeline::{Action, timeline};
use crate::under_way::{MessageEnd, UnderWay};

/// The interval at which outcomes and orders are polled once all messages are sent.
const LOOK: Duration = Duration::from_millis(2);

/// Whether the command to stop has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopCommand {
    Pending,
    Received,
}

/// A host that sends from `start` on.
pub(crate) struct Sender<'a> {
    job: &'a HostJob,
    host: &'a Host,
    start: Instant,
    under_way: Vec<UnderWay>,
    /// The index of each message in `under_way`, by its number.
    places: HashMap<u32, usize>,
    admission: Option<ScaledAdmission>,
    /// The indices of messages whose end was not yet reported to admission.
    open: Vec<usize>,
}

impl<'a> Sender<'a> {
    /// Creates the sender of `host`, with the admission of its scheme, if the scheme has one.
    pub(crate) fn new(
        job: &'a HostJob,
        host: &'a Host,
        start: Instant,
        admission: Option<ScaledAdmission>,
    ) -> Self {
        Self { job, host, start, under_way: Vec::new(), places: HashMap::new(), admission, open: Vec::new() }
    }

    /// Hands over each message at its start, and applies changes when they are due.
    ///
    /// # Errors
    /// Returns an error if a change is out of range, or if the writer of `lines` is gone.
    pub(crate) fn send_all(&mut self, lines: &Receiver<String>) -> Result<StopCommand, HostError> {
        let own = self.job.flows.iter().filter(|flow| flow.src == self.job.host);
        let own: HashMap<u32, &Flow> = own.map(|flow| (flow.id, flow)).collect();
        let mut planned = timeline(self.job).into_iter().peekable();
        loop {
            let next_ns = planned.peek().map_or(u64::MAX, Action::at_ns);
            let held = self.admission.as_ref().and_then(ScaledAdmission::next);
            let held = held.filter(|&(at_ns, _)| at_ns < next_ns);
            let again = held.and_then(|(at_ns, id)| Some((at_ns, Action::Send(own.get(&id)?))));
            let Some((at_ns, action)) = again.or_else(|| planned.next().map(|next| (next.at_ns(), next)))
            else {
                break;
            };
            let bytes = match action {
                Action::Send(flow) if flow.kind == FlowKind::Message => payload(flow),
                Action::Send(_) | Action::Change(_) => Bytes::new(),
            };
            let Some(at) = self.start.checked_add(Duration::from_nanos(at_ns)) else { break };
            match lines.recv_timeout(at.saturating_duration_since(now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) => return Ok(StopCommand::Received),
                Err(RecvTimeoutError::Disconnected) => return Err(HostError::ParentGone),
            }
            match action {
                Action::Send(flow) => self.send(flow, bytes),
                Action::Change(change) => self.change(change)?,
            }
        }
        Ok(StopCommand::Pending)
    }

    /// Hands over a message, unless admission holds it back. `bytes` is the content of a message that is not endless.
    fn send(&mut self, flow: &Flow, bytes: Bytes) {
        let at_ns = since_ns(self.start, now());
        self.tell_ends(at_ns);
        let admitted = match &mut self.admission {
            None => None,
            Some(admission) => match admission.ask(flow, at_ns) {
                None => return,
                admitted => admitted,
            },
        };
        let request = self.request(flow, admitted);
        let taken = match flow.kind {
            FlowKind::Message => self.host.try_send(request, bytes),
            FlowKind::Endless => self.host.try_send_repeated(request, &flow.id.to_le_bytes(), flow.bytes),
        };
        let place = self.under_way.len();
        self.places.insert(flow.id, place);
        if self.admission.is_some() {
            self.open.push(place);
        }
        self.under_way.push(UnderWay::new((flow.id, flow.kind), (at_ns, admitted), taken));
    }

    fn request(&self, flow: &Flow, admitted: Option<AdmittedFlow>) -> Request {
        let to = self.job.socket(flow.dst).unwrap_or(self.host.address());
        let theta = flow.theta_bps.and_then(Rate::from_bps);
        let AdmittedFlow { class, held_ns } =
            admitted.unwrap_or(AdmittedFlow { class: flow.class, held_ns: 0 });
        let left_ns = flow.deadline_ns.map(|within| within.saturating_sub(held_ns));
        Request {
            deadline: left_ns.map(Duration::from_nanos),
            ..Request::to(to).class(class).weights(Weights { theta, w_milli: flow.w_milli })
        }
    }

    fn change(&mut self, &FlowChange { flow, change, .. }: &FlowChange) -> Result<(), HostError> {
        let at_ns = since_ns(self.start, now());
        self.tell_ends(at_ns);
        let place = self.places.get(&flow).copied();
        if let Some(message) = place.and_then(|place| self.under_way.get_mut(place)) {
            let wrong = |error: SendError| HostError::Job(format!("flow {flow}: {error}"));
            message.change(self.host, change).map_err(wrong)?;
        }
        if let (Change::Abort, Some(admission)) = (change, &mut self.admission) {
            admission.aborted(flow, at_ns);
            self.open.retain(|&open| Some(open) != place);
        }
        Ok(())
    }

    /// Reports the messages that have ended to admission, in order of their ends, at the time `now_ns`.
    fn tell_ends(&mut self, now_ns: u64) {
        let Some(admission) = &mut self.admission else { return };
        let mut ended = Vec::new();
        self.open.retain(|&place| {
            let message = &self.under_way[place];
            let end = message.outcome();
            ended.extend(end.map(|end| (message.id(), end)));
            end.is_none()
        });
        let at_ns = |end: &MessageEnd| match *end {
            MessageEnd::Delivered { at_ns, .. } => at_ns,
            MessageEnd::Failed => now_ns,
        };
        ended.sort_by_key(|(id, end)| (at_ns(end), *id));
        for (id, end) in ended {
            match end {
                MessageEnd::Delivered { at_ns, end } => admission.completed(id, at_ns, end),
                MessageEnd::Failed => admission.aborted(id, now_ns),
            }
        }
    }

    /// Waits for the outcomes of messages until a stop command. Calls `done` when every message has one.
    ///
    /// # Errors
    /// Returns the errors of `done`, or an error if the writer of `lines` is gone.
    pub(crate) fn settle(
        &mut self,
        lines: &Receiver<String>,
        done: &mut dyn FnMut() -> io::Result<()>,
        silence: Duration,
    ) -> Result<(), HostError> {
        let mut is_announced = false;
        loop {
            let left = self.under_way.iter().any(UnderWay::is_waited_for);
            if !left && !is_announced {
                done()?;
                is_announced = true;
            }
            match lines.recv_timeout(if is_announced { silence } else { LOOK }) {
                Ok(_) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(HostError::ParentGone),
            }
        }
    }

    /// Returns the outcomes of all messages, and the calls of admission.
    pub(crate) fn end(mut self) -> (Vec<SentMessage>, Vec<AdmissionEvent>) {
        self.tell_ends(since_ns(self.start, now()));
        let sent = self.under_way.into_iter().map(UnderWay::end).collect();
        (sent, self.admission.map_or(Vec::new(), ScaledAdmission::into_events))
    }
}

#[cfg(test)]
mod tests {
    use priolane_net::{Config, Scheme};

    use super::*;
    use crate::host_jobs::tests::{host_job, plain};

    #[test]
    fn a_message_that_was_held_back_has_the_rest_of_its_deadline_and_the_class_that_it_got() {
        let host = Host::bind(Config::new(Scheme::of_row("dctcp", &[]).unwrap())).unwrap();
        let job = host_job(0, Vec::new());
        let sender = Sender::new(&job, &host, now(), None);
        let flow = Flow { deadline_ns: Some(900), class: 3, theta_bps: Some(5), w_milli: 7, ..plain(1) };
        let asked = sender.request(&flow, None);
        assert_eq!((asked.deadline, asked.class), (Some(Duration::from_nanos(900)), 3));
        assert_eq!(asked.weights, Weights { theta: Rate::from_bps(5), w_milli: 7 });
        let held = |held_ns| sender.request(&flow, Some(AdmittedFlow { class: 5, held_ns }));
        assert_eq!((held(400).deadline, held(400).class), (Some(Duration::from_nanos(500)), 5));
        assert_eq!(held(901).deadline, Some(Duration::ZERO));
    }
}
