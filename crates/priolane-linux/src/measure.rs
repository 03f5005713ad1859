//! The steps that all hosts of a run take together, on one machine or on several.
//!
//! ```text
//! ready ──▶ greet, greeted ──▶ start ──▶ done, or the limit ──▶ stop, reports
//! ```

use std::io;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::job::HostReport;
use crate::testbed::TestbedError;

/// What hosts have to be ready, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of progress reports.
const LOOK: Duration = Duration::from_millis(100);

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
    /// The agent of a machine cannot be reached, ended, or is of another release.
    #[error("machine {machine}: {message}")]
    Machine {
        /// The name of the machine.
        machine: String,
        /// What is wrong.
        message: String,
    },
    /// A flow is none of the network.
    #[error("flow {0}: its hosts, its bytes, its class or its weight are none of this network")]
    Flow(u32),
    /// The caller asked to stop.
    #[error("stopped by request")]
    Stopped,
}

/// When a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// When all messages have an outcome, endless flows apart, at the latest at its limit.
    #[default]
    WhenDone,
    /// At its limit.
    AtLimit,
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

/// The host processes of a run.
pub(crate) trait Hosts {
    /// How many there are.
    fn count(&self) -> usize;

    /// Writes a line to all.
    fn tell_all(&mut self, line: &str) -> Result<(), RunError>;

    /// Lets all start together, a little later; the instant.
    fn start(&mut self) -> Result<Instant, RunError>;

    /// The next line of any host, within `most`; `None` if there is none.
    ///
    /// # Errors
    /// A process that ended before it reported.
    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError>;

    /// Notes that a host has reported: its process may end.
    fn finished(&mut self, host: u16);
}

#[expect(clippy::disallowed_methods, reason = "a real run depends on the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Messages that are under way no longer; the hosts still run.
#[derive(Debug)]
pub(crate) struct RunEnd {
    /// Time since the start.
    pub(crate) elapsed: Duration,
    /// Hosts that have said that they are done.
    done: usize,
}

/// Lets hosts send until `limit`, or until all are done if that comes first and ends the run. `watch` receives the progress, and stops the run by an error.
pub(crate) fn carry_out(
    hosts: &mut dyn Hosts,
    (limit, ends): (Duration, Ends),
    watch: &mut dyn FnMut(Progress) -> Result<(), RunError>,
) -> Result<RunEnd, RunError> {
    wait_for(hosts, "ready", watch)?;
    hosts.tell_all("greet")?;
    wait_for(hosts, "greeted", watch)?;
    let start = hosts.start()?;
    let elapsed = || now().saturating_duration_since(start);
    let mut done = 0;
    while (usize::from(done) < hosts.count() || ends == Ends::AtLimit) && elapsed() <= limit {
        watch(Progress { elapsed: elapsed(), done })?;
        if let Some((host, line)) = hosts.next(LOOK)? {
            expect(host, &line, "done")?;
            done += 1;
        }
    }
    Ok(RunEnd { elapsed: elapsed(), done: done.into() })
}

impl RunEnd {
    /// Stops all hosts and gives their reports, in order of hosts. Some may still say that they are done.
    pub(crate) fn reports(mut self, hosts: &mut dyn Hosts) -> Result<Vec<HostReport>, RunError> {
        hosts.tell_all("stop")?;
        let mut reports = Vec::new();
        while reports.len() < hosts.count() {
            let (host, line) = hosts.next(PATIENCE)?.ok_or_else(late)?;
            if line == "done" && self.done < hosts.count() {
                self.done += 1;
                continue;
            }
            let report: HostReport = serde_json::from_str(&line)
                .map_err(|error| RunError::Host { host, message: format!("its report: {error}") })?;
            hosts.finished(host);
            reports.push(report);
        }
        reports.sort_by_key(|report| report.host);
        Ok(reports)
    }
}

/// Waits until all hosts have said `wanted`.
fn wait_for(
    hosts: &mut dyn Hosts,
    wanted: &str,
    watch: &mut dyn FnMut(Progress) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let (mut done, mut last) = (0, now());
    while done < hosts.count() {
        watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
        match hosts.next(LOOK)? {
            Some((host, line)) => {
                expect(host, &line, wanted)?;
                done += 1;
                last = now();
            }
            None if now().saturating_duration_since(last) > PATIENCE => return Err(late()),
            None => {}
        }
    }
    Ok(())
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
