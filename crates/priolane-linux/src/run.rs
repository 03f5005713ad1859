//! A run: a testbed that is made for it, a host process in each namespace, and what they measured.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use priolane_core::packet::Frame;
use priolane_core::units::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::counters::QueueCount;
use crate::guard::Guard;
use crate::job::{Flow, HostJob, HostReport, PathJob, SchemeJob};
use crate::journal::{Journal, JournalState};
use crate::network::Node;
use crate::plan::Plan;
use crate::switch::SwitchReport;
use crate::testbed::{Testbed, TestbedError};

/// What hosts have to be ready, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// From the order to start to the start.
const AHEAD: Duration = Duration::from_millis(200);
/// Interval of progress reports.
const LOOK: Duration = Duration::from_millis(100);

/// What is to be measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunJob {
    /// The testbed.
    pub plan: Plan,
    /// What hosts speak.
    pub scheme: SchemeJob,
    /// Whether hosts get the delay and the rate of paths, which transports depend on, with the job instead of measuring them.
    pub knows_paths: bool,
    /// The messages.
    pub flows: Vec<Flow>,
    /// When it ends at the latest, in nanoseconds since its start.
    pub limit_ns: u64,
    /// The real-time priority of hosts, if the system permits one.
    pub real_time: Option<u8>,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestbedReport {
    /// What each host saw, in order of hosts.
    pub hosts: Vec<HostReport>,
    /// What queues of switches counted.
    pub queues: Vec<QueueCount>,
    /// What switches in user space counted besides.
    pub switches: Vec<SwitchReport>,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The testbed could not be made or removed.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A process could not be started or written to.
    #[error("{0}")]
    Process(#[from] io::Error),
    /// A host process ended, or said what it should not.
    #[error("host {host}: {message}")]
    Host {
        /// The host.
        host: u16,
        /// Its last words.
        message: String,
    },
    /// A flow is none of the network.
    #[error("flow {0}: its hosts, its bytes, its class or its weight are none of this network")]
    Flow(u32),
    /// The caller asked to stop.
    #[error("stopped by request")]
    Stopped,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Time since its start.
    pub elapsed: Duration,
    /// Hosts whose messages all have an outcome.
    pub done: u16,
}

/// Takes the progress of a run; the run stops if it returns false.
pub type OnProgress<'a> = dyn FnMut(Progress) -> bool + 'a;

#[expect(clippy::disallowed_methods, reason = "a real run depends on the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Makes the testbed below `root`, runs and takes it down, also if this process is killed. `program` with the argument `host` is
/// a host process, with `guard` and a name a guard, with `switch`, a directory and a number a switch in user space.
///
/// # Errors
/// [`RunError`]; nothing is left.
pub fn run(
    job: &RunJob,
    (program, root): (&[String], &Path),
    progress: &mut OnProgress<'_>,
) -> Result<TestbedReport, RunError> {
    check(job)?;
    // The guard removes what has this name.
    if Journal::look(root, &job.plan.name) != JournalState::Nothing {
        return Err(TestbedError::AlreadyUp(job.plan.name.clone()).into());
    }
    let _guard = Guard::start(program, &job.plan.name)?;
    let mut testbed = Testbed::up(job.plan.clone(), root, program)?;
    let hosts = Hosts::start(testbed.plan(), job, program);
    let measured = hosts.and_then(|hosts| hosts.measure(&mut testbed, job, progress));
    // Hosts behind a switch that ended do not know why nothing arrives.
    let measured = measured.map_err(|error| testbed.check_switches().err().map_or(error, RunError::from));
    testbed.down()?;
    measured
}

fn check(job: &RunJob) -> Result<(), RunError> {
    let hosts = job.plan.network.hosts;
    let fits = |flow: &&Flow| {
        let Flow { src, dst, bytes, class, w_milli, .. } = **flow;
        src < hosts && dst < hosts && src != dst && bytes > 0 && class < 16 && w_milli > 0
    };
    match job.flows.iter().find(|flow| !fits(flow)) {
        Some(flow) => Err(RunError::Flow(flow.id)),
        None => Ok(()),
    }
}

/// What the wake-up of the process at the end of a cable takes, in nanoseconds: what is usual with real-time threads.
const WAKE_UP_NS: u64 = 50_000;

/// Returns the path from `host` to the farthest other.
fn path(plan: &Plan, host: u16) -> PathJob {
    let of = |to: u16| {
        let cables = plan.network.path(host, to).into_iter().map(|cable| &plan.network.cables[cable]);
        let empty = PathJob { hops: 0, rate_bps: plan.network.line_rate(host), data_ns: 0, control_ns: 0 };
        cables.fold(empty, |path, cable| {
            let hop = |wire: u16| {
                let line =
                    Rate::from_bps(cable.rate_bps).map_or(Span::ZERO, |rate| rate.serialize(u64::from(wire)));
                line.0 / 1_000 + cable.delay_ns + WAKE_UP_NS
            };
            PathJob {
                hops: path.hops + 1,
                rate_bps: path.rate_bps.min(cable.rate_bps),
                data_ns: path.data_ns + hop(Frame::ETHERNET.on_wire(plan.mtu)),
                control_ns: path.control_ns + hop(Frame::ETHERNET.ack_wire()),
            }
        })
    };
    let others = (0..plan.network.hosts).filter(|&to| to != host).map(of);
    others.max_by_key(|path| path.data_ns).unwrap_or_else(|| of(host))
}

/// Returns the part of the job that concerns host `host`.
fn host_job(job: &RunJob, delays: &[Vec<u64>], host: u16) -> HostJob {
    let hosts = job.plan.network.hosts;
    let own = |flow: &&Flow| flow.src == host || flow.dst == host;
    HostJob {
        host,
        addresses: (0..hosts).map(HostJob::testbed_address).collect(),
        delays_ns: delays.iter().map(|from| from[usize::from(host)]).collect(),
        scheme: job.scheme.clone(),
        line_bps: job.plan.network.line_rate(host),
        path: job.knows_paths.then(|| path(&job.plan, host)),
        mtu: job.plan.mtu,
        real_time: job.real_time,
        flows: job.flows.iter().filter(own).copied().collect(),
    }
}

/// The host processes of a run; they are killed when this is dropped.
struct Hosts {
    processes: Vec<(Child, ChildStdin)>,
    lines: Receiver<(u16, String)>,
    /// Hosts that have reported.
    finished: BTreeSet<u16>,
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for (child, _) in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Hosts {
    fn start(plan: &Plan, job: &RunJob, program: &[String]) -> Result<Self, RunError> {
        let (tell, lines) = mpsc::channel();
        let mut hosts = Self { processes: Vec::new(), lines, finished: BTreeSet::new() };
        let delays = plan.network.delays();
        for host in 0..plan.network.hosts {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &plan.namespace(Node::Host(host))]).args(program).arg("host");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn()?;
            let pipes = (child.stdin.take(), child.stdout.take());
            let (Some(mut input), Some(output)) = pipes else {
                return Err(io::Error::other("a host process has no pipes").into());
            };
            let text = serde_json::to_string(&host_job(job, &delays, host)).map_err(io::Error::other)?;
            let tell = tell.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if tell.send((host, line)).is_err() {
                        return;
                    }
                }
                // Empty lines are the end of a process.
                let _ = tell.send((host, String::new()));
            });
            let written = writeln!(input, "{text}");
            hosts.processes.push((child, input));
            // A process that has ended says why below.
            written.or_else(
                |error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) },
            )?;
        }
        Ok(hosts)
    }

    /// The next line of any host, within `most`; `None` if there is none.
    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError> {
        let line = loop {
            match self.lines.recv_timeout(most) {
                Ok((host, line)) if line.is_empty() && self.finished.contains(&host) => {}
                other => break other,
            }
        };
        match line {
            Ok((host, line)) if line.is_empty() => Err(self.ended(host)),
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended(0)),
        }
    }

    /// Why a host process ended.
    fn ended(&mut self, host: u16) -> RunError {
        let mut message = String::new();
        if let Some((child, _)) = self.processes.get_mut(usize::from(host))
            && let Some(mut errors) = child.stderr.take()
        {
            let _ = child.kill();
            let _ = errors.read_to_string(&mut message);
        }
        let last = message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("its process ended");
        RunError::Host { host, message: last.trim().to_owned() }
    }

    fn tell_all(&mut self, line: &str) -> io::Result<()> {
        self.processes.iter_mut().try_for_each(|(_, input)| writeln!(input, "{line}"))
    }

    fn count(&self) -> usize {
        self.processes.len()
    }

    fn measure(
        mut self,
        testbed: &mut Testbed,
        job: &RunJob,
        progress: &mut OnProgress<'_>,
    ) -> Result<TestbedReport, RunError> {
        self.wait_for("ready")?;
        self.tell_all("greet")?;
        self.wait_for("greeted")?;
        let start = now() + AHEAD;
        self.tell_all(&format!("start {}", wall_ns(AHEAD)))?;
        let limit = Duration::from_nanos(job.limit_ns);
        let mut done = 0;
        while usize::from(done) < self.count() {
            let elapsed = now().saturating_duration_since(start);
            if elapsed > limit {
                break;
            }
            testbed.check_switches()?;
            if !progress(Progress { elapsed, done }) {
                return Err(RunError::Stopped);
            }
            if let Some((host, line)) = self.next(LOOK)? {
                expect(host, &line, "done")?;
                done += 1;
            }
        }
        let elapsed = now().saturating_duration_since(start);
        let (queues, switches) = testbed.counters()?;
        self.tell_all("stop")?;
        let hosts = self.reports(done)?;
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        Ok(TestbedReport { hosts, queues, switches, elapsed_ns })
    }

    /// Waits until all hosts have said `wanted`.
    fn wait_for(&mut self, wanted: &str) -> Result<(), RunError> {
        for _ in 0..self.count() {
            let (host, line) = self.next(PATIENCE)?.ok_or_else(late)?;
            expect(host, &line, wanted)?;
        }
        Ok(())
    }

    /// The reports of all hosts. Some may still have said that they are done.
    fn reports(&mut self, done: u16) -> Result<Vec<HostReport>, RunError> {
        let mut reports = Vec::new();
        let mut done = usize::from(done);
        while reports.len() < self.count() {
            let (host, line) = self.next(PATIENCE)?.ok_or_else(late)?;
            if line == "done" && done < self.count() {
                done += 1;
                continue;
            }
            let report: HostReport = serde_json::from_str(&line)
                .map_err(|error| RunError::Host { host, message: format!("its report: {error}") })?;
            self.finished.insert(host);
            reports.push(report);
        }
        reports.sort_by_key(|report| report.host);
        Ok(reports)
    }
}

fn late() -> RunError {
    io::Error::new(io::ErrorKind::TimedOut, "a host process does not answer").into()
}

fn expect(host: u16, line: &str, wanted: &str) -> Result<(), RunError> {
    if line == wanted {
        return Ok(());
    }
    Err(RunError::Host { host, message: format!("it said {line:?}, not {wanted:?}") })
}

/// Nanoseconds since 1970, so long from now.
#[expect(clippy::disallowed_methods, reason = "hosts start together by the clock of the machine")]
fn wall_ns(ahead: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default() + ahead;
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::star;
    use crate::port::Port;

    #[test]
    fn a_path_is_as_long_as_packets_take_over_idle_cables_and_processes_to_wake_up() {
        let mut plan = star(3, Port::fifo());
        plan.network.cables.iter_mut().for_each(|cable| cable.delay_ns = 100_000);
        plan.network.cables[2].delay_ns = 200_000;
        // Two lines of 100 Mbit/s: 1538 bytes take 123.04 us on each, 84 bytes 6.72 us; 50 us at the end of each.
        let expected = PathJob { hops: 2, rate_bps: 100_000_000, data_ns: 646_080, control_ns: 413_440 };
        assert_eq!(path(&plan, 0), expected);
        let info = expected.info();
        assert_eq!(info.data.unwrap().round_trip, Span::from_ns(1_059_520));
        assert_eq!(info.control.unwrap().round_trip, Span::from_ns(826_880));
    }
}
