//! A run: a testbed that is made for the run, a host process in each namespace, and their measurements.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::agent::message::Order;
use crate::clock::MachineReport;
use crate::counters::QueueCount;
use crate::guard::Guard;
use crate::host_jobs::Work;
use crate::host_process::{HostOutput, HostProcess};
use crate::job::{Bins, Flow, FlowChange, HostJob, HostReport, SchemeJob};
use crate::journal::{Journal, JournalState};
use crate::limits;
use crate::measure::{self, Hosts, Watch};
use crate::network::Node;
use crate::plan::TestbedPlan;
use crate::report_check::ReportBounds;
use crate::switch::SwitchReport;
use crate::testbed::{Testbed, TestbedError};

pub use crate::measure::{Ends, OnProgress, Progress, RunError};

/// The time from the order to start to the start.
const AHEAD: Duration = Duration::from_millis(200);

/// The description of a run on a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunJob {
    /// The testbed to make.
    pub plan: TestbedPlan,
    /// The scheme of all hosts.
    pub scheme: SchemeJob,
    /// Whether hosts are given the delay and the rate of paths with the job, instead of measuring them. Transports
    /// depend on these.
    pub knows_paths: bool,
    /// The messages of the run.
    pub flows: Vec<Flow>,
    /// The changes of messages during the run.
    #[serde(default)]
    pub changes: Vec<FlowChange>,
    /// The time bins in which endless messages are counted; `None` to count none.
    #[serde(default)]
    pub bins: Option<Bins>,
    /// The latest end of the run, in nanoseconds since its start.
    pub limit_ns: u64,
    /// Whether the run may end before its limit.
    #[serde(default)]
    pub ends: Ends,
    /// The real-time priority of hosts, if the system permits one; `None` for none.
    pub real_time: Option<u8>,
}

impl RunJob {
    fn work(&self) -> Work<'_> {
        let Self { plan, scheme, knows_paths, flows, changes, bins, real_time, .. } = self;
        let (network, mtu) = (&plan.network, plan.mtu);
        let (knows_paths, bins, real_time) = (*knows_paths, *bins, *real_time);
        Work { network, mtu, scheme, knows_paths, flows, changes, bins, real_time }
    }
}

/// The results of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestbedReport {
    /// The reports of all hosts, in order of hosts.
    pub hosts: Vec<HostReport>,
    /// The counters of the queues of switches.
    pub queues: Vec<QueueCount>,
    /// The further counters of switches in user space.
    pub switches: Vec<SwitchReport>,
    /// The machines and their clocks, if the hosts were on several machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineReport>,
    /// The duration of the run in nanoseconds.
    pub elapsed_ns: u64,
}

/// Makes the testbed below `root`, runs, and removes the testbed, even if this process is killed. `program` must be a
/// host process with the argument `host`, a guard with `guard` and a name, and a switch in user space with `switch`, a
/// directory and a number.
///
/// # Errors
/// Returns a [`RunError`]. Nothing is left.
pub fn run(
    job: &RunJob,
    (program, root): (&[String], &Path),
    progress: &mut OnProgress<'_>,
) -> Result<TestbedReport, RunError> {
    let work = job.work();
    if let Some(flow) = work.wrong_flow() {
        return Err(RunError::Flow(flow));
    }
    // The guard removes what has this name.
    if Journal::look(root, &job.plan.name) != JournalState::Nothing {
        return Err(TestbedError::AlreadyUp(job.plan.name.clone()).into());
    }
    let guard = Guard::start(program, &job.plan.name)?;
    let mut go_on = || progress(Progress { elapsed: Duration::ZERO, done: 0 });
    let mut testbed = match Testbed::up(job.plan.clone(), root, program, &mut go_on) {
        Ok(testbed) => testbed,
        Err(error) => {
            // What failed has been removed, and what another process makes by this name is not ours.
            guard.release();
            return Err(match error {
                TestbedError::Stopped => RunError::Stopped,
                error => error.into(),
            });
        }
    };
    let limit = (Duration::from_nanos(job.limit_ns), job.ends);
    let hosts = TestbedHosts::start(testbed.plan(), &work, program);
    let measured = hosts.and_then(|hosts| hosts.measure(&mut testbed, limit, progress));
    // Hosts behind a switch that ended do not know why nothing arrives.
    let measured = measured.map_err(|error| testbed.check_switches().err().map_or(error, RunError::from));
    testbed.down()?;
    measured
}

/// The largest number of lines of hosts that wait. Hosts that write more are blocked.
const QUEUE: usize = 64;

/// The host processes of a testbed.
struct TestbedHosts {
    processes: Vec<(Arc<HostJob>, HostProcess)>,
    output: Receiver<(u16, HostOutput)>,
    /// The hosts that have reported.
    finished: BTreeSet<u16>,
}

impl TestbedHosts {
    fn start(plan: &TestbedPlan, work: &Work<'_>, program: &[String]) -> Result<Self, RunError> {
        let (tell, output) = mpsc::sync_channel(QUEUE);
        let mut hosts = Self { processes: Vec::new(), output, finished: BTreeSet::new() };
        let delays = plan.network.delays();
        let addresses: Vec<_> = (0..plan.network.hosts).map(HostJob::testbed_address).collect();
        for host in 0..plan.network.hosts {
            let inside = ["ip", "netns", "exec", &plan.namespace(Node::Host(host))].map(str::to_owned);
            let argv = [&inside, program, &["host".to_owned()]].concat();
            let held_back = delays_to(host, &delays);
            let job = Arc::new(work.of(host, addresses.clone(), held_back));
            limits::check(&job).map_err(|message| RunError::Host { host, message })?;
            let tell = tell.clone();
            let process = HostProcess::start(&argv, &job, move |output| tell.send((host, output)).is_ok())?;
            hosts.processes.push((job, process));
        }
        Ok(hosts)
    }

    fn tell(&self, line: &str) -> Result<(), RunError> {
        Ok(self.processes.iter().try_for_each(|(_, process)| process.tell(line.to_owned()))?)
    }

    fn measure(
        mut self,
        testbed: &mut Testbed,
        limit: (Duration, Ends),
        progress: &mut OnProgress<'_>,
    ) -> Result<TestbedReport, RunError> {
        let mut watch = |how_far| {
            testbed.check_switches()?;
            if progress(how_far) { Ok(()) } else { Err(RunError::Stopped) }
        };
        let ended = measure::carry_out(&mut self, limit, &mut watch)?;
        let (queues, switches) = testbed.counters()?;
        let mut watch = |how_far| if progress(how_far) { Ok(()) } else { Err(RunError::Stopped) };
        let elapsed_ns = u64::try_from(ended.elapsed.as_nanos()).unwrap_or(u64::MAX);
        let hosts = ended.reports(&mut self, &mut watch)?;
        Ok(TestbedReport { hosts, queues, switches, machines: Vec::new(), elapsed_ns })
    }
}

impl Hosts for TestbedHosts {
    fn count(&self) -> usize {
        self.processes.len()
    }

    fn tell_all(&mut self, order: Order) -> Result<(), RunError> {
        self.tell(order.line())
    }

    fn start(&mut self, _: &mut Watch<'_>) -> Result<Instant, RunError> {
        let start = measure::now() + AHEAD;
        self.tell(&format!("start {}", wall_ns(AHEAD)))?;
        Ok(start)
    }

    fn bounds(&self, host: u16, since_start: Duration) -> ReportBounds {
        ReportBounds::new(Arc::clone(&self.processes[usize::from(host)].0), since_start)
    }

    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError> {
        loop {
            match self.output.recv_timeout(most) {
                Ok((host, HostOutput::Line(line))) => return Ok(Some((host, line))),
                Ok((host, HostOutput::End(_))) if self.finished.contains(&host) => {}
                Ok((host, HostOutput::End(message))) => return Err(RunError::Host { host, message }),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("all host processes ended").into());
                }
            }
        }
    }

    fn finished(&mut self, host: u16) {
        self.finished.insert(host);
    }
}

/// Returns the delay from each host to `host`.
fn delays_to(host: u16, delays: &[Vec<u64>]) -> Vec<u64> {
    delays.iter().map(|from| from[usize::from(host)]).collect()
}

/// Returns the time `ahead` from now in nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "hosts start together by the clock of the machine")]
fn wall_ns(ahead: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default() + ahead;
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_those_of_the_way_to_a_host_and_a_start_is_ahead() {
        assert_eq!(delays_to(1, &[vec![0, 5], vec![7, 0]]), [5, 0]);
        assert_eq!(delays_to(0, &[vec![0, 5], vec![7, 0]]), [0, 7]);
        let day = Duration::from_secs(86_400);
        // A machine may stop between two readings of its clock.
        let apart = wall_ns(day) - wall_ns(Duration::ZERO);
        assert!(apart.abs_diff(86_400_000_000_000) < 600_000_000_000, "{apart}");
    }
}
