//! A host of a run, which sends its messages at their starts and records when messages arrive.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use priolane_core::endpoint::PathInfo;
use priolane_core::text::printable;
use priolane_core::units::Rate;
use priolane_net::{Config, Host, Limits, Meter, Receipt, Request, Scheduling};

use crate::admission::ScaledAdmission;
use crate::agent::message::Order;
use crate::clock::{self, since_ns};
pub use crate::host_error::HostError;
use crate::job::{ArrivedMessage, HostJob, HostReport};
use crate::last_words::SHOWN;
use crate::limits::{self, LONGEST_JOB};
use crate::lines::Lines;
use crate::payload::{ExpectedMessages, GREETING};
use crate::progress::Progress;
use crate::scheme::scheme;
use crate::sender::{Sender, StopCommand};

/// The interval at which a host that waits for others checks whether its parent process still runs.
const LOOK_FOR_PARENT: Duration = Duration::from_millis(500);
/// The longest time without any datagram from a peer. Queues are long where rates are low.
const SILENCE: Duration = Duration::from_secs(120);

/// The longest time that a stopping host takes to receive messages that have arrived.
const DRAINS: Duration = Duration::from_secs(10);

/// Reads commands from `input`, executes them, and writes answers to `output`, as described in `job`.
///
/// # Errors
/// Returns a [`HostError`].
pub fn serve(input: impl BufRead + Send + 'static, mut output: impl Write) -> Result<(), HostError> {
    let lines = lines(input);
    // Whoever started this host ends its input, by its own end at the latest.
    let next = || lines.recv().map_err(|_| HostError::ParentGone);
    let wrong = |what: String| HostError::Job(printable(&what, SHOWN));
    let job: HostJob = serde_json::from_str(&next()?).map_err(|error| wrong(error.to_string()))?;
    limits::check(&job).map_err(wrong)?;
    let run = RunningHost::bind(&job)?;
    say(&mut output, "ready")?;
    let order = next()?;
    if order != Order::Greet.line() {
        return Err(wrong(format!("{order:?} is not an order to greet")));
    }
    run.greet(&lines)?;
    say(&mut output, "greeted")?;
    let start = next()?;
    let start = instant(&start).ok_or_else(|| wrong(format!("{start:?} is not a start")))?;
    let report = run.carry_out(start, &lines, &mut || say(&mut output, "done"))?;
    let text = serde_json::to_string(&report).map_err(io::Error::other)?;
    Ok(say(&mut output, &text)?)
}

fn say(output: &mut impl Write, line: &str) -> io::Result<()> {
    writeln!(output, "{line}")?;
    output.flush()
}

/// The largest number of orders that wait.
const ORDERS: usize = 4;

/// Starts a thread that reads the lines of `input`.
fn lines(input: impl BufRead + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(ORDERS);
    thread::spawn(move || {
        for line in Lines::new(input, LONGEST_JOB).map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Returns the instant of `start NANOSECONDS` since 1970.
fn instant(line: &str) -> Option<Instant> {
    let ns: u64 = line.strip_prefix("start ")?.parse().ok()?;
    let (now, wall) = clock::read();
    match ns.checked_sub(wall) {
        Some(ahead) => now.checked_add(Duration::from_nanos(ahead)),
        None => now.checked_sub(Duration::from_nanos(wall - ns)),
    }
}

/// A host that is bound.
struct RunningHost<'a> {
    job: &'a HostJob,
    host: Arc<Host>,
    admission: Option<ScaledAdmission>,
    progress: Arc<Progress>,
    not_real_time: Option<String>,
}

impl<'a> RunningHost<'a> {
    fn bind(job: &'a HostJob) -> Result<Self, HostError> {
        let scheme = scheme(&job.scheme).map_err(HostError::Job)?;
        let admission = job.scheme.admission.as_ref();
        let admission = admission.map(|admission| ScaledAdmission::new(admission, job.host, None));
        let admission = admission.transpose().map_err(HostError::Job)?;
        let no_address = || HostError::Job(format!("host {} has no address", job.host));
        let address = job.socket(job.host).ok_or_else(no_address)?;
        let line = Rate::from_bps(job.line_bps)
            .ok_or_else(|| HostError::Job("line_bps is 0: write a rate above it".to_owned()))?;
        let hosts = 0..job.addresses.len() as u16;
        let delay = |host: u16| job.delays_ns.get(usize::from(host)).copied().unwrap_or(0);
        let delays =
            hosts.filter_map(|host| Some((job.socket(host)?, Duration::from_nanos(delay(host))))).collect();
        // An application of the simulator hands over all it has; nothing waits outside.
        let limits = Limits {
            message: (1 << 48) - 1,
            queued: u64::MAX >> 1,
            messages: usize::MAX >> 1,
            sender: u64::MAX >> 1,
            ahead: u64::MAX >> 1,
            ..Limits::default()
        };
        let progress = Arc::new(Progress::new(job));
        let meter: Arc<dyn Meter> = Arc::<Progress>::clone(&progress);
        let mut config = Config {
            meter: Some(meter),
            line,
            mtu: job.mtu,
            delays,
            limits,
            path: job.path.map_or(PathInfo::UNKNOWN, |path| path.info()),
            real_time: job.real_time,
            ..Config::new(scheme).at(address)
        };
        config.patience.silence = SILENCE;
        config.patience.idle = SILENCE;
        let host = Arc::new(Host::bind(config)?);
        // This thread, and those that it starts.
        let own = Scheduling::of_this_thread(job.real_time);
        let not_real_time = match (host.scheduling(), &own) {
            (Scheduling::Refused(why), _) | (_, Scheduling::Refused(why)) => Some(why.clone()),
            (Scheduling::Ordinary, _) => Some("it was not asked for".to_owned()),
            (Scheduling::RealTime, _) => None,
        };
        Ok(Self { job, host, admission, progress, not_real_time })
    }

    /// Greets the hosts to which this host sends.
    fn greet(&self, lines: &Receiver<String>) -> Result<(), HostError> {
        let own = self.job.flows.iter().filter(|flow| flow.src == self.job.host);
        let peers: BTreeSet<u16> = own.map(|flow| flow.dst).collect();
        let failed = |error| HostError::Greeting(Box::new(error));
        let greet = |peer| {
            let to = self.job.socket(peer).unwrap_or(self.host.address());
            self.host.send_with_receipt(Request::to(to), GREETING).map_err(failed)
        };
        let receipts: Vec<Receipt> = peers.into_iter().map(greet).collect::<Result<_, _>>()?;
        for receipt in receipts {
            loop {
                if let Some(outcome) = receipt.wait_for(LOOK_FOR_PARENT) {
                    outcome.map_err(failed)?;
                    break;
                }
                if let Err(TryRecvError::Disconnected) = lines.try_recv() {
                    return Err(HostError::ParentGone);
                }
            }
        }
        Ok(())
    }

    /// Sends and receives until a stop command. Calls `done` when every message that this host sends has an outcome.
    fn carry_out(
        mut self,
        start: Instant,
        lines: &Receiver<String>,
        done: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<HostReport, HostError> {
        self.progress.start(start);
        let stop = Arc::new(AtomicBool::new(false));
        let receiver = {
            let (host, stop) = (Arc::clone(&self.host), Arc::clone(&stop));
            let expected = ExpectedMessages::new(&self.job.flows, self.job.host);
            let hosts = self.hosts();
            thread::spawn(move || receive(&host, (&hosts, expected), start, &stop))
        };
        let mut sender = Sender::new(self.job, &self.host, start, self.admission.take());
        let ended = sender.send_all(lines).and_then(|stop| match stop {
            StopCommand::Pending => sender.settle(lines, done, SILENCE),
            StopCommand::Received => Ok(()),
        });
        let (sent, admission) = sender.end();
        stop.store(true, Ordering::Relaxed);
        let (arrived, wrong) =
            receiver.join().map_err(|_| io::Error::other("the receiving thread panicked"))?;
        let counts = self.host.stats().counts().map(|(name, count)| (name.to_owned(), count)).into();
        ended?;
        let Self { job, progress, not_real_time, .. } = self;
        let progress = progress.report();
        let host = job.host;
        Ok(HostReport { host, sent, arrived, progress, wrong, not_real_time, counts, admission })
    }

    fn hosts(&self) -> HashMap<SocketAddr, u16> {
        (0..self.job.addresses.len() as u16).filter_map(|host| Some((self.job.socket(host)?, host))).collect()
    }
}

/// Records messages that arrive until `stop`. Returns the number of messages that match no message sent.
fn receive(
    host: &Host,
    (hosts, mut expected): (&HashMap<SocketAddr, u16>, ExpectedMessages),
    start: Instant,
    stop: &AtomicBool,
) -> (Vec<ArrivedMessage>, u64) {
    let (mut arrived, mut wrong) = (Vec::new(), 0);
    let mut stopped = None;
    loop {
        // Others may go on sending.
        if stop.load(Ordering::Relaxed)
            && clock::now().saturating_duration_since(*stopped.get_or_insert_with(clock::now)) > DRAINS
        {
            return (arrived, wrong);
        }
        match host.recv_timeout(Duration::from_millis(50)) {
            Ok(Some(message)) if message.bytes == GREETING => {}
            Ok(Some(message)) => {
                let number = hosts
                    .get(&message.from)
                    .and_then(|&src| expected.take(src, &message.bytes, message.missing));
                match number {
                    Some(id) => {
                        let at_ns = since_ns(start, message.arrived);
                        arrived.push(ArrivedMessage { id, at_ns, missing: message.missing });
                    }
                    None => wrong += 1,
                }
            }
            Ok(None) if stop.load(Ordering::Relaxed) => return (arrived, wrong),
            Ok(None) => {}
            Err(_) => return (arrived, wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_an_instant_before_or_after_now() {
        let (now, wall) = clock::read();
        let hour = 3_600_000_000_000;
        let apart = |ns: u64| instant(&format!("start {ns}")).unwrap();
        // A machine may stop between two readings of clocks.
        let near = |at: Instant, expected: Instant| {
            at.saturating_duration_since(expected).max(expected.saturating_duration_since(at))
                < Duration::from_secs(600)
        };
        let span = Duration::from_nanos(hour);
        assert!(near(apart(wall + hour), now + span));
        if let Some(before) = now.checked_sub(span) {
            assert!(near(apart(wall - hour), before));
        }
        for line in ["start", "start x", "start -1", "stop", ""] {
            assert_eq!(instant(line), None, "{line}");
        }
    }
}
