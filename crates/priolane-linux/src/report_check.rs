//! Checks the report of a host. A report comes from another process, often on another machine, so each of its values is checked against
//! what is possible.
//!
//! ```text
//! times       at most the time from the start to the report by the controller's clock, plus the error of clocks
//! messages    those of the host's job, each once
//! counts      at most what the line carries in that time
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use priolane_core::ids::CLASSES;
use priolane_core::packet::Frame;
use priolane_core::text::printable;
use priolane_net::Stats;

use crate::admission_job::{AdmissionCall, AdmissionEvent, EndOfMessage};
use crate::job::{ArrivedMessage, Flow, FlowKind, FlowProgress, HostJob, HostReport, SentMessage};
use crate::last_words::SHOWN;
use crate::limits::{FAILURE_SHOWN, most_calls};

/// Errors of times at hosts, in addition to the offset between clocks of machines: a fraction of the time for the drift of a clock, and a
/// constant for a process that stops between two readings of a clock.
const DRIFT: u64 = 100;
const STOPS: Duration = Duration::from_millis(100);
/// The least time between two retransmission timeouts of a message, which is the resolution of timers at hosts.
const LEAST_TIMEOUT_NS: u64 = 10_000;
/// Allowances beyond the capacity of the line of a host: a number of packets for bursts, and a factor for pacing that catches up after
/// delays.
const BURST: u64 = 10_000;
const BEYOND_LINE: u64 = 2;
/// The least time between two increments of a counter.
const LEAST_COUNTED_NS: u64 = 10;
/// The size of the largest datagram in bytes.
const LARGEST: u64 = 65_535;

/// Bounds on the values in the report of a host.
#[derive(Debug)]
pub(crate) struct ReportBounds {
    job: Arc<HostJob>,
    /// The time from the start to the report plus the error of clocks, in nanoseconds.
    latest_ns: u64,
    error_ns: u64,
}

fn ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// A condition that every possible report meets.
trait Condition {
    /// Returns the error `what` if the condition is false.
    fn or_else_say(self, what: impl FnOnce() -> String) -> Result<(), String>;
}

impl Condition for bool {
    fn or_else_say(self, what: impl FnOnce() -> String) -> Result<(), String> {
        if self { Ok(()) } else { Err(impossible(what())) }
    }
}

fn impossible(what: impl fmt::Display) -> String {
    format!("its report cannot be: {what}")
}

impl ReportBounds {
    /// Creates the bounds for the host with this job, which reports `since_start` after the start.
    pub(crate) fn new(job: impl Into<Arc<HostJob>>, since_start: Duration) -> Self {
        let since_start = ns(since_start);
        let error_ns = ns(STOPS).saturating_add(since_start / DRIFT);
        Self { job: job.into(), latest_ns: since_start.saturating_add(error_ns), error_ns }
    }

    /// Allows for clocks that are wrong by `more_ns` more.
    pub(crate) fn with_clock_error(self, more_ns: u64) -> Self {
        let Self { job, latest_ns, error_ns } = self;
        Self { job, latest_ns: latest_ns.saturating_add(more_ns), error_ns: error_ns.saturating_add(more_ns) }
    }

    /// Reads and checks a report. Control characters in its texts are replaced.
    ///
    /// # Errors
    /// Returns a message that says why the line is not a report, or which value is impossible.
    pub(crate) fn read(&self, line: &str) -> Result<HostReport, String> {
        let report: HostReport = serde_json::from_str(line)
            .map_err(|error| format!("its report: {}", printable(&error.to_string(), SHOWN)))?;
        if report.host != self.job.host {
            return Err(format!("its report is of host {}", report.host));
        }
        self.check(&report)?;
        let shown = |text: String, most| printable(&text, most);
        let sent = report
            .sent
            .into_iter()
            .map(|sent| SentMessage { failed: sent.failed.map(|why| shown(why, FAILURE_SHOWN)), ..sent });
        let not_real_time = report.not_real_time.map(|why| shown(why, SHOWN));
        Ok(HostReport { sent: sent.collect(), not_real_time, ..report })
    }

    fn check(&self, report: &HostReport) -> Result<(), String> {
        let flows: HashMap<u32, &Flow> = self.job.flows.iter().map(|flow| (flow.id, flow)).collect();
        self.check_sent(&flows, &report.sent)?;
        self.check_arrived(&flows, &report.arrived)?;
        self.check_progress(&flows, &report.progress)?;
        self.check_calls(&flows, &report.admission)?;
        let messages = flows.len() as u64;
        (report.wrong <= messages)
            .or_else_say(|| format!("{} wrong messages of {messages}", report.wrong))?;
        self.check_counts(&report.counts)
    }

    fn check_time(&self, what: &str, id: u32, at_ns: u64) -> Result<(), String> {
        (at_ns <= self.latest_ns).or_else_say(|| {
            format!("message {id} {what} at {at_ns} ns, and the run lasted {} ns at most", self.latest_ns)
        })
    }

    /// Returns the largest number of packets that the line of the host can carry before the report.
    fn most_packets(&self) -> u64 {
        let bits = u128::from(self.job.line_bps) * u128::from(self.latest_ns) / 1_000_000_000;
        let least = 8 * u128::from(Frame::ETHERNET.ack_wire());
        u64::try_from(bits / least).unwrap_or(u64::MAX).saturating_mul(BEYOND_LINE).saturating_add(BURST)
    }

    fn most_timeouts(&self) -> u64 {
        1 + self.latest_ns / LEAST_TIMEOUT_NS
    }

    fn check_sent(&self, flows: &HashMap<u32, &Flow>, all: &[SentMessage]) -> Result<(), String> {
        let mut changes: HashMap<u32, u32> = HashMap::new();
        self.job.changes.iter().for_each(|change| *changes.entry(change.flow).or_default() += 1);
        let mut seen = HashSet::new();
        let mut retransmits = 0_u64;
        for sent in all {
            let id = sent.id;
            let flow = flows.get(&id).filter(|flow| flow.src == self.job.host);
            let Some(flow) = flow else {
                return Err(impossible(format!("message {id} is not sent by this host")));
            };
            seen.insert(id).or_else_say(|| format!("message {id} was sent twice"))?;
            self.check_time("was sent", id, sent.at_ns)?;
            let is_early = sent.at_ns.saturating_add(self.error_ns) < flow.start_ns;
            (!is_early).or_else_say(|| {
                format!("message {id} was sent at {} ns, and is due at {} ns", sent.at_ns, flow.start_ns)
            })?;
            if let Some(acked_ns) = sent.acked_ns {
                self.check_time("was acknowledged", id, acked_ns)?;
                (acked_ns >= sent.at_ns).or_else_say(|| {
                    format!("message {id} was acknowledged at {acked_ns} ns, and sent at {} ns", sent.at_ns)
                })?;
            }
            retransmits = retransmits.saturating_add(sent.retransmits.into());
            self.check_timeouts(id, sent.timeouts)?;
            let most = changes.get(&id).copied().unwrap_or(0);
            (sent.changes <= most)
                .or_else_say(|| format!("message {id} was changed {} times of {most}", sent.changes))?;
            if let Some(admitted) = sent.admitted {
                self.job
                    .scheme
                    .admission
                    .is_some()
                    .or_else_say(|| format!("message {id} was admitted by no policy"))?;
                (usize::from(admitted.class) < CLASSES)
                    .or_else_say(|| format!("message {id} was admitted to class {}", admitted.class))?;
                self.check_time("was held back", id, admitted.held_ns)?;
            }
        }
        let most = self.most_packets();
        (retransmits <= most).or_else_say(|| {
            format!("{retransmits} packets were sent again, and the line carries {most} at most")
        })
    }

    fn check_timeouts(&self, id: u32, timeouts: u32) -> Result<(), String> {
        let most = self.most_timeouts();
        (u64::from(timeouts) <= most).or_else_say(|| {
            format!("message {id} had {timeouts} timeouts, and the run had time for {most} at most")
        })
    }

    fn check_arrived(&self, flows: &HashMap<u32, &Flow>, all: &[ArrivedMessage]) -> Result<(), String> {
        let mut seen = HashSet::new();
        for &ArrivedMessage { id, at_ns, missing } in all {
            let to = |flow: &&&Flow| flow.dst == self.job.host && flow.kind == FlowKind::Message;
            let flow = flows.get(&id).filter(to);
            let Some(flow) = flow else {
                return Err(impossible(format!("message {id} is not for this host")));
            };
            seen.insert(id).or_else_say(|| format!("message {id} arrived twice"))?;
            self.check_time("arrived", id, at_ns)?;
            (missing <= flow.bytes).or_else_say(|| {
                format!("{missing} bytes of message {id} are missing, and it has {}", flow.bytes)
            })?;
            let earliest_ns = self.earliest_ns(flow.start_ns, flow.bytes - missing);
            (at_ns >= earliest_ns).or_else_say(|| {
                format!(
                    "message {id} arrived at {at_ns} ns, and is due and sent at {earliest_ns} ns at the earliest"
                )
            })?;
        }
        Ok(())
    }

    /// Returns the earliest time at which `bytes` that start at `start_ns` can have arrived over the line of the host,
    /// less the error of clocks.
    fn earliest_ns(&self, start_ns: u64, bytes: u64) -> u64 {
        let line_ns = u128::from(bytes) * 8_000_000_000 / u128::from(self.job.line_bps.max(1));
        let line_ns = u64::try_from(line_ns / u128::from(BEYOND_LINE)).unwrap_or(u64::MAX);
        start_ns.saturating_add(line_ns).saturating_sub(self.error_ns)
    }

    fn check_progress(&self, flows: &HashMap<u32, &Flow>, all: &[FlowProgress]) -> Result<(), String> {
        let mut seen = HashSet::new();
        let bins = self.job.bins.map_or(0, |bins| bins.count as usize);
        let most = u128::from(self.most_packets()) * u128::from(LARGEST);
        for FlowProgress { id, bytes } in all {
            let to = |flow: &&&Flow| flow.dst == self.job.host && flow.kind == FlowKind::Endless;
            let flow = flows.get(id).filter(to);
            let Some(flow) = flow else {
                return Err(impossible(format!("flow {id} is not an endless one for this host")));
            };
            seen.insert(*id).or_else_say(|| format!("flow {id} is counted twice"))?;
            (bytes.len() == bins).or_else_say(|| format!("flow {id} has {} bins of {bins}", bytes.len()))?;
            let total: u128 = bytes.iter().map(|&bytes| u128::from(bytes)).sum();
            (total <= most.min(flow.bytes.into()))
                .or_else_say(|| format!("{total} bytes of flow {id} arrived"))?;
        }
        Ok(())
    }

    fn check_calls(&self, flows: &HashMap<u32, &Flow>, all: &[AdmissionEvent]) -> Result<(), String> {
        let own = self.job.flows.iter().filter(|flow| flow.src == self.job.host).count() as u64;
        let most = own.saturating_mul(most_calls(&self.job));
        (all.len() as u64 <= most)
            .or_else_say(|| format!("admission was called {} times of {most}", all.len()))?;
        for &AdmissionEvent { at_ns, flow, call } in all {
            let is_own = flows.get(&flow).is_some_and(|own| own.src == self.job.host);
            is_own.or_else_say(|| {
                format!("message {flow} is not sent by this host, and admission was called for it")
            })?;
            self.check_time("was passed to admission", flow, at_ns)?;
            match call {
                AdmissionCall::Asked { given: Some(class) } => {
                    (usize::from(class) < CLASSES)
                        .or_else_say(|| format!("message {flow} was admitted to class {class}"))?;
                }
                AdmissionCall::Completed(EndOfMessage { elapsed_ns, rtt_ns, timeouts, .. }) => {
                    self.check_time("was delivered", flow, elapsed_ns)?;
                    self.check_time("had a round trip", flow, rtt_ns)?;
                    self.check_timeouts(flow, timeouts)?;
                }
                AdmissionCall::Asked { given: None } | AdmissionCall::Aborted => {}
            }
        }
        Ok(())
    }

    fn check_counts(&self, counts: &BTreeMap<String, u64>) -> Result<(), String> {
        let known = Stats::default().counts().map(|(name, _)| name);
        let most = (self.latest_ns / LEAST_COUNTED_NS).saturating_add(BURST);
        for (name, &count) in counts {
            let shown = || printable(name, FAILURE_SHOWN);
            known
                .contains(&name.as_str())
                .or_else_say(|| format!("it counts \"{}\", which no host does", shown()))?;
            let most = if name.ends_with("_bytes") { most.saturating_mul(LARGEST) } else { most };
            (count <= most).or_else_say(|| format!("{name} is {count}, and {most} at most in that time"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
