//! The steps that all hosts of a run take together, on one machine or on several.
//!
//! ```text
//! ready ──▶ greet, greeted ──▶ start ──▶ done, or the limit ──▶ stop, reports
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use priolane_core::text::printable;
use serde::{Deserialize, Serialize};

use crate::agent::message::Order;
use crate::job::HostReport;
use crate::report_check::ReportBounds;
use crate::testbed::TestbedError;

/// The time that hosts have to become ready, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of progress reports.
const LOOK: Duration = Duration::from_millis(100);

/// The number of characters that an error shows of an unexpected line.
const SHOWN: usize = 200;

/// The reason why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The testbed could not be made or removed.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A process could not be started or written to.
    #[error("{0}")]
    Process(#[from] io::Error),
    /// A host process ended, or wrote an unexpected line.
    #[error("host {host}: {message}")]
    Host {
        /// The number of the host.
        host: u16,
        /// The last words of the process.
        message: String,
    },
    /// The agent of a machine cannot be reached, has ended, or has another release.
    #[error("machine {machine}: {message}")]
    Machine {
        /// The name of the machine.
        machine: String,
        /// The error of the agent or of the connection.
        message: String,
    },
    /// The hosts of the flow are not in the network, or a change of the flow is not valid.
    #[error("flow {0}: its hosts, its bytes, its class or its weight are none of this network")]
    Flow(u32),
    /// The caller asked to stop.
    #[error("stopped by request")]
    Stopped,
}

/// The time at which a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// The run ends when all messages except endless flows have an outcome, and at its limit at the latest.
    #[default]
    WhenDone,
    /// The run ends at its limit.
    AtLimit,
}

/// The progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The time since the start of the run.
    pub elapsed: Duration,
    /// The number of hosts whose messages all have an outcome.
    pub done: u16,
}

/// Takes the progress of a run; the run stops if it returns false.
pub type OnProgress<'a> = dyn FnMut(Progress) -> bool + 'a;

/// Takes the progress of a run, and ends the run by an error.
pub(crate) type Watch<'a> = dyn FnMut(Progress) -> Result<(), RunError> + 'a;

/// The host processes of a run.
pub(crate) trait Hosts {
    /// Returns the number of host processes.
    fn count(&self) -> usize;

    /// Sends an order to all host processes.
    ///
    /// # Errors
    /// Returns an error if a process does not read the order.
    fn tell_all(&mut self, order: Order) -> Result<(), RunError>;

    /// Lets all hosts start together a little later, and returns the instant of the start.
    ///
    /// # Errors
    /// Returns an error if the clock of a machine cannot be read, or the error of `watch`.
    fn start(&mut self, watch: &mut Watch<'_>) -> Result<Instant, RunError>;

    /// Returns the next line of any host within `most`, or `None` if there is none. The line was written by the process
    /// of that host.
    ///
    /// # Errors
    /// Returns an error if a process ended before it reported.
    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError>;

    /// Returns bounds on the report of a host that arrived `since_start` after the start.
    fn bounds(&self, host: u16, since_start: Duration) -> ReportBounds;

    /// Records that a host has reported, so that its process may end.
    fn finished(&mut self, host: u16);

    /// Returns the error for a line of a host that is not valid, or not valid at this point.
    fn wrong(&self, host: u16, message: String) -> RunError {
        RunError::Host { host, message }
    }
}

#[expect(clippy::disallowed_methods, reason = "a real run depends on the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The end of the messages of a run, after which the hosts still run.
#[derive(Debug)]
pub(crate) struct RunEnd {
    start: Instant,
    /// The time since the start of the run.
    pub(crate) elapsed: Duration,
    /// The hosts that have said that they are done.
    done: BTreeSet<u16>,
}

/// Lets hosts send until `limit`, or until all are done if that comes first and ends the run. `watch` receives the progress, and stops the run by an error.
pub(crate) fn carry_out(
    hosts: &mut dyn Hosts,
    (limit, ends): (Duration, Ends),
    watch: &mut Watch<'_>,
) -> Result<RunEnd, RunError> {
    wait_for(hosts, "ready", watch)?;
    hosts.tell_all(Order::Greet)?;
    wait_for(hosts, "greeted", watch)?;
    let start = hosts.start(watch)?;
    let elapsed = || now().saturating_duration_since(start);
    let mut done = BTreeSet::new();
    while (done.len() < hosts.count() || ends == Ends::AtLimit) && elapsed() <= limit {
        watch(Progress { elapsed: elapsed(), done: done.len() as u16 })?;
        if let Some((host, line)) = hosts.next(LOOK)? {
            expect(hosts, (host, &line), "done", &mut done)?;
        }
    }
    Ok(RunEnd { start, elapsed: elapsed(), done })
}

impl RunEnd {
    /// Stops all hosts and returns their reports, checked and in order of hosts. Some hosts may still say that they are
    /// done.
    pub(crate) fn reports(
        mut self,
        hosts: &mut dyn Hosts,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<HostReport>, RunError> {
        hosts.tell_all(Order::Stop)?;
        let mut reports: BTreeMap<u16, HostReport> = BTreeMap::new();
        let mut last = now();
        while reports.len() < hosts.count() {
            watch(Progress { elapsed: self.elapsed, done: self.done.len() as u16 })?;
            let Some((host, line)) = hosts.next(LOOK)? else {
                if now().saturating_duration_since(last) > PATIENCE {
                    return Err(late());
                }
                continue;
            };
            if reports.contains_key(&host) {
                return Err(hosts.wrong(host, "it said more after its report".to_owned()));
            }
            if line == "done" {
                expect(hosts, (host, &line), "done", &mut self.done)?;
                continue;
            }
            let bounds = hosts.bounds(host, now().saturating_duration_since(self.start));
            let report = bounds.read(&line).map_err(|what| hosts.wrong(host, what))?;
            hosts.finished(host);
            reports.insert(host, report);
            last = now();
        }
        Ok(reports.into_values().collect())
    }
}

/// Waits until all hosts have said `wanted`.
fn wait_for(hosts: &mut dyn Hosts, wanted: &str, watch: &mut Watch<'_>) -> Result<(), RunError> {
    let (mut done, mut last) = (BTreeSet::new(), now());
    while done.len() < hosts.count() {
        watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
        match hosts.next(LOOK)? {
            Some((host, line)) => {
                expect(hosts, (host, &line), wanted, &mut done)?;
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

/// Checks a line of a host, which must be `wanted` and must come once from each host.
fn expect(
    hosts: &dyn Hosts,
    (host, line): (u16, &str),
    wanted: &str,
    heard: &mut BTreeSet<u16>,
) -> Result<(), RunError> {
    if line != wanted {
        let shown = printable(line, SHOWN);
        return Err(hosts.wrong(host, format!("it said \"{shown}\", not \"{wanted}\"")));
    }
    if !heard.insert(host) {
        return Err(hosts.wrong(host, format!("it said \"{wanted}\" twice")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Scripted hosts that write these lines and ignore all orders.
    struct Scripted {
        count: usize,
        lines: VecDeque<(u16, String)>,
        told: Vec<Order>,
        finished: Vec<u16>,
        /// The number of lines before the order to stop. By default, all lines come before the order.
        at_limit: usize,
    }

    impl Scripted {
        fn new(count: usize, lines: &[(u16, &str)]) -> Self {
            let lines = lines.iter().map(|&(host, line)| (host, line.to_owned())).collect();
            Self { count, lines, told: Vec::new(), finished: Vec::new(), at_limit: usize::MAX }
        }
    }

    impl Hosts for Scripted {
        fn count(&self) -> usize {
            self.count
        }

        fn tell_all(&mut self, order: Order) -> Result<(), RunError> {
            self.told.push(order);
            Ok(())
        }

        fn start(&mut self, _: &mut Watch<'_>) -> Result<Instant, RunError> {
            Ok(now())
        }

        fn next(&mut self, _: Duration) -> Result<Option<(u16, String)>, RunError> {
            let is_silent = self.at_limit == 0 && !self.told.contains(&Order::Stop);
            if is_silent {
                std::thread::sleep(Duration::from_millis(1));
                return Ok(None);
            }
            self.at_limit = self.at_limit.saturating_sub(1);
            Ok(self.lines.pop_front())
        }

        fn bounds(&self, host: u16, since_start: Duration) -> ReportBounds {
            ReportBounds::new(crate::host_jobs::tests::host_job(host, Vec::new()), since_start)
        }

        fn finished(&mut self, host: u16) {
            self.finished.push(host);
        }
    }

    fn run(hosts: &mut Scripted, ends: Ends, watch: &mut Watch<'_>) -> Result<Vec<HostReport>, RunError> {
        let limit = Duration::from_millis(50);
        carry_out(hosts, (limit, ends), watch)?.reports(hosts, watch)
    }

    fn error(lines: &[(u16, &str)]) -> String {
        let mut hosts = Scripted::new(2, lines);
        // What is not said is waited for, until somebody stops it.
        let mut looks = 0;
        let mut watch = |_| {
            looks += 1;
            if looks < 1_000_000 { Ok(()) } else { Err(RunError::Stopped) }
        };
        run(&mut hosts, Ends::WhenDone, &mut watch).unwrap_err().to_string()
    }

    const READY: [(u16, &str); 4] = [(1, "ready"), (0, "ready"), (0, "greeted"), (1, "greeted")];

    fn report(host: u16) -> String {
        serde_json::to_string(&HostReport::empty(host)).unwrap()
    }

    #[test]
    fn a_run_goes_from_ready_to_reports_in_order_of_hosts() {
        let reports = [report(0), report(1)];
        let mut lines = READY.to_vec();
        lines.extend([(1, "done"), (0, "done"), (1, &reports[1]), (0, &reports[0])]);
        let mut hosts = Scripted::new(2, &lines);
        let found = run(&mut hosts, Ends::WhenDone, &mut |_| Ok(())).unwrap();
        assert_eq!(found, [0, 1].map(HostReport::empty));
        assert_eq!((hosts.told, hosts.finished), (vec![Order::Greet, Order::Stop], vec![1, 0]));
        // A host that is done late says so after the order to stop, before its report.
        let mut lines = READY.to_vec();
        lines.extend([(1, "done"), (0, "done"), (0, &reports[0]), (1, &reports[1])]);
        let mut hosts = Scripted { at_limit: lines.len() - 3, ..Scripted::new(2, &lines) };
        let found = run(&mut hosts, Ends::AtLimit, &mut |_| Ok(())).unwrap();
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_run_ends_when_all_are_done_or_at_its_limit() {
        let mut lines = READY.to_vec();
        lines.extend([(1, "done"), (0, "done")]);
        let ended = |lines: &[(u16, &str)], limit_s, ends| {
            let mut hosts = Scripted { at_limit: lines.len(), ..Scripted::new(2, lines) };
            let mut most = Duration::ZERO;
            // What goes on half a minute beyond its limit does not end.
            let mut watch = |progress: Progress| {
                most = most.max(progress.elapsed);
                if progress.elapsed < Duration::from_secs(30) { Ok(()) } else { Err(RunError::Stopped) }
            };
            carry_out(&mut hosts, (Duration::from_millis(limit_s), ends), &mut watch).unwrap()
        };
        let hour = 3_600_000;
        assert_eq!(ended(&lines, hour, Ends::WhenDone).done.len(), 2);
        assert!(ended(&lines, 50, Ends::AtLimit).elapsed >= Duration::from_millis(50));
        assert_eq!(ended(&lines[..5], 50, Ends::WhenDone).done.len(), 1);
    }

    #[test]
    fn what_a_host_says_twice_or_out_of_turn_counts_for_no_other() {
        assert_eq!(error(&[(0, "ready"), (0, "ready")]), "host 0: it said \"ready\" twice");
        assert_eq!(error(&[(0, "done")]), "host 0: it said \"done\", not \"ready\"");
        assert_eq!(error(&[(0, "\u{1b}[2J\n")]), "host 0: it said \"�[2J␊\", not \"ready\"");
        let after = |more: &[(u16, &str)]| error(&[&READY[..], more].concat());
        assert_eq!(after(&[(1, "done"), (1, "done")]), "host 1: it said \"done\" twice");
        let done = [(1, "done"), (0, "done")];
        let zero = report(0);
        assert_eq!(
            after(&[done[0], done[1], (0, &zero), (0, &zero)]),
            "host 0: it said more after its report"
        );
        assert_eq!(after(&[done[0], done[1], (0, &zero), (1, &zero)]), "host 1: its report is of host 0");
        assert_eq!(after(&[done[0], done[1], (0, "{}")]).split(": ").nth(1), Some("its report"));
    }

    #[test]
    fn every_wait_for_hosts_can_be_stopped() {
        let reports = [report(0), report(1)];
        let mut all = READY.to_vec();
        all.extend([(1, "done"), (0, "done"), (1, &reports[1])]);
        for said in 0..=all.len() {
            let mut hosts = Scripted::new(2, &all[..said]);
            let limit = (Duration::from_secs(1_000), Ends::WhenDone);
            let mut looks = 0;
            let mut watch = |_| {
                looks += 1;
                if looks < 100 { Ok(()) } else { Err(RunError::Stopped) }
            };
            let ended = carry_out(&mut hosts, limit, &mut watch)
                .and_then(|ended| ended.reports(&mut hosts, &mut watch));
            assert!(matches!(ended, Err(RunError::Stopped)), "after {said} lines: {ended:?}");
        }
    }
}
