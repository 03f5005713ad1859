//! The hosts of a run on several machines, controlled through the agents of these machines. A message of an agent is accepted only if it
//! is expected and plausible.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use priolane_core::text::printable;

use crate::agent::channel::{AgentEvent, Channel, Hearing};
use crate::agent::message::{FromAgent, Hello, Order, ToAgent, other_release};
use crate::clock::{ClockOffset, Drift, Exchange, MachineClock, MachineReport, best};
use crate::clock_correction;
use crate::job::{HostJob, HostReport};
use crate::last_words::SHOWN;
use crate::limits::{LONGEST_ANSWER, longest_report};
use crate::machine_job::MachineJob;
use crate::measure::{self, Hosts, Progress, RunError, Watch};
use crate::report_check::ReportBounds;

/// Time that an agent has to send its first message: SSH connects, and Python starts on a busy machine.
const CONNECTS: Duration = Duration::from_secs(60);
/// The largest number of events of all agents in the queue. Agents that send more are blocked.
const QUEUE: usize = 64;
/// Interval of probes, and the time within which an agent must answer them.
const PROBES: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(20);
/// Interval at which progress is reported.
const LOOK: Duration = Duration::from_millis(100);
/// Exchanges with each agent that measure its clock: the least number, the largest number, and the time after which they stop.
const LEAST_EXCHANGES: usize = 8;
const MOST_EXCHANGES: usize = 64;
const EXCHANGES_LAST: Duration = Duration::from_secs(2);
/// Time from the order to start until the start, in addition to four times the longest round trip.
const AHEAD: Duration = Duration::from_millis(200);

/// A machine whose agent is connected.
struct Machine {
    name: String,
    channel: Channel,
    hosts: BTreeSet<u16>,
    /// The time at which the last expected message arrived; `None` before the first one.
    last_heard: Option<Instant>,
    /// The times, by the controller's clock, at which the probes were sent that have not been answered.
    asked_ns: BTreeSet<u64>,
}

/// The time at which the hosts were ordered to start, and the clocks by which they start.
struct Start {
    /// The offset of the clock of each machine before the run.
    offsets: Vec<ClockOffset>,
    /// The time at which the offsets were measured, and the start of the run (`at_ns`), by the controller's clock in
    /// nanoseconds.
    measured_ns: u64,
    start_ns: u64,
}

/// A message of an agent or a host.
enum Event {
    Hello(usize, Hello),
    Line(u16, String),
    Probe(usize, Exchange),
}

/// The hosts of a run on several machines.
pub(crate) struct MachineHosts {
    machines: Vec<Machine>,
    jobs: BTreeMap<u16, Arc<HostJob>>,
    clock: MachineClock,
    events: Receiver<(usize, AgentEvent)>,
    /// The time at which probes were last sent to all agents.
    probed: Instant,
    finished: BTreeSet<u16>,
    started: Option<Start>,
}

impl Drop for MachineHosts {
    fn drop(&mut self) {
        // All are closed first, so that they end at the same time.
        self.machines.iter_mut().for_each(|machine| machine.channel.close());
    }
}

/// Converts `at_ns` of the controller's clock to the clock of a machine that is ahead by `offset`.
fn by_its_clock(at_ns: u64, offset: &ClockOffset) -> u64 {
    at_ns.saturating_add_signed(offset.offset_ns)
}

fn at_machine(name: &str, what: impl ToString) -> RunError {
    RunError::Machine { machine: name.to_owned(), message: what.to_string() }
}

impl MachineHosts {
    /// Connects to all agents and waits until each has reported this release.
    pub(crate) fn connect(
        all: &[MachineJob],
        jobs: BTreeMap<u16, Arc<HostJob>>,
        release: &str,
        watch: &mut Watch<'_>,
    ) -> Result<Self, RunError> {
        let clock = MachineClock::shifted(0);
        let (tell, events) = mpsc::sync_channel(QUEUE);
        let probed = measure::now();
        let (machines, finished) = (Vec::with_capacity(all.len()), BTreeSet::new());
        let mut hosts = Self { machines, jobs, clock, events, probed, finished, started: None };
        for (place, machine) in all.iter().enumerate() {
            watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
            let tell = tell.clone();
            let own = machine.hosts.iter().filter_map(|host| hosts.jobs.get(host));
            let longest = own.map(|job| longest_report(job)).fold(LONGEST_ANSWER, usize::max);
            let on_event = move |event| tell.send((place, event)).is_ok();
            let mut stopped = None;
            let mut go_on = || {
                stopped = watch(Progress { elapsed: Duration::ZERO, done: 0 }).err();
                stopped.is_none()
            };
            let opened = Channel::open(&machine.agent, Hearing { clock, longest }, on_event, &mut go_on);
            let channel = match (opened, stopped) {
                (Err(_), Some(stopped)) => return Err(stopped),
                (opened, _) => opened.map_err(|error| at_machine(&machine.name, error))?,
            };
            hosts.machines.push(Machine {
                name: machine.name.clone(),
                channel,
                hosts: machine.hosts.iter().copied().collect(),
                last_heard: None,
                asked_ns: BTreeSet::new(),
            });
        }
        for place in 0..hosts.machines.len() {
            hosts.tell(place, &ToAgent::Hello(Hello { release: release.to_owned() }))?;
        }
        hosts.wait_for_hellos(release, watch)?;
        Ok(hosts)
    }

    /// Makes each machine start its hosts.
    pub(crate) fn start_hosts(&mut self, watch: &mut Watch<'_>) -> Result<(), RunError> {
        for place in 0..self.machines.len() {
            for host in self.machines[place].hosts.clone() {
                watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
                let Some(job) = self.jobs.get(&host).map(Arc::clone) else { continue };
                self.tell(place, &ToAgent::Host(Box::new(HostJob::clone(&job))))?;
            }
        }
        Ok(())
    }

    fn wait_for_hellos(&mut self, release: &str, watch: &mut Watch<'_>) -> Result<(), RunError> {
        let began = measure::now();
        let mut silent: BTreeSet<usize> = (0..self.machines.len()).collect();
        while let Some(&first) = silent.first() {
            watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
            match self.next_event(LOOK)? {
                Some(Event::Hello(place, theirs)) if theirs.release == release => {
                    silent.remove(&place);
                }
                Some(Event::Line(..)) => {
                    return Err(self.at(first, "its agent passes on a line of a host before it has one"));
                }
                Some(Event::Hello(place, theirs)) => {
                    return Err(self.at(place, other_release(&theirs.release, release)));
                }
                _ if measure::now().saturating_duration_since(began) > CONNECTS => {
                    return Err(self.at(first, "no agent answers"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn at(&self, place: usize, what: impl ToString) -> RunError {
        at_machine(self.machines.get(place).map_or("?", |machine| &machine.name), what)
    }

    fn tell(&mut self, place: usize, message: &ToAgent) -> Result<(), RunError> {
        let Machine { name, channel, .. } = &self.machines[place];
        channel.tell(message).map_err(|error| at_machine(name, error))
    }

    fn tell_machines(&mut self, message: &ToAgent) -> Result<(), RunError> {
        (0..self.machines.len()).try_for_each(|place| self.tell(place, message))
    }

    /// Sends a probe to a machine; returns the time of the probe by the controller's clock.
    fn ask(&mut self, place: usize) -> Result<u64, RunError> {
        let asked_ns = self.clock.now_ns();
        self.machines[place].asked_ns.insert(asked_ns);
        self.tell(place, &ToAgent::Probe { sent_ns: asked_ns })?;
        Ok(asked_ns)
    }

    /// Sends probes to all agents, and checks that none has been silent for too long.
    fn keep_alive(&mut self) -> Result<(), RunError> {
        let now = measure::now();
        let since = |then: Instant| now.saturating_duration_since(then);
        if since(self.probed) < PROBES {
            return Ok(());
        }
        // A controller that has not called this function for long has not read any messages either.
        let is_silent = |machine: &Machine| machine.last_heard.is_some_and(|heard| since(heard) > SILENCE);
        if since(self.probed) < SILENCE
            && let Some(place) = self.machines.iter().position(is_silent)
        {
            return Err(self.silent(place));
        }
        self.probed = now;
        let known = |place: &usize| self.machines[*place].last_heard.is_some();
        let known: Vec<usize> = (0..self.machines.len()).filter(known).collect();
        known.into_iter().try_for_each(|place| self.ask(place).map(drop))
    }

    fn silent(&self, place: usize) -> RunError {
        let what = format!("its agent has answered no question for its time for {} s", SILENCE.as_secs());
        self.at(place, what)
    }

    /// Returns the next event within `most`, or `None` if there is none or the event needs no action. Only expected messages show that an agent
    /// is alive: its first message, answers to probes, and lines of its hosts.
    fn next_event(&mut self, most: Duration) -> Result<Option<Event>, RunError> {
        self.keep_alive()?;
        let (place, event) = match self.events.recv_timeout(most) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("all agents ended").into()),
        };
        let (message, returned_ns) = match event {
            AgentEvent::Message(message, came_ns) => (message, came_ns),
            AgentEvent::Gone(why) => return Err(self.at(place, printable(&why, SHOWN))),
        };
        let event = self.take(place, message, returned_ns)?;
        self.machines[place].last_heard = Some(measure::now());
        Ok(event)
    }

    /// Handles a message of the agent at `place` that arrived at `returned_ns`.
    fn take(
        &mut self,
        place: usize,
        message: FromAgent,
        returned_ns: u64,
    ) -> Result<Option<Event>, RunError> {
        let machine = &mut self.machines[place];
        let wrong = |what: String| Err(at_machine(&machine.name, what));
        if machine.last_heard.is_none() && !matches!(message, FromAgent::Hello(_) | FromAgent::Refused(_)) {
            return wrong("its agent says something before its release".to_owned());
        }
        match message {
            FromAgent::Hello(_) if machine.last_heard.is_some() => {
                wrong("its agent says its release twice".to_owned())
            }
            FromAgent::Hello(hello) => Ok(Some(Event::Hello(place, hello))),
            FromAgent::Probe { sent_ns, received_ns, answered_ns } => {
                if !machine.asked_ns.remove(&sent_ns) {
                    return wrong("its agent answers a question for its time that was not asked".to_owned());
                }
                let exchange = Exchange { sent_ns, received_ns, answered_ns, returned_ns };
                match exchange.check() {
                    Ok(()) => Ok(Some(Event::Probe(place, exchange))),
                    Err(what) => wrong(what),
                }
            }
            FromAgent::Host { host, .. } | FromAgent::Ended { host, .. }
                if !machine.hosts.contains(&host) =>
            {
                wrong(format!("its agent speaks for host {host}, which is not on this machine"))
            }
            FromAgent::Host { host, line } => Ok(Some(Event::Line(host, line))),
            // A host that has reported may end, once.
            FromAgent::Ended { host, .. } if self.finished.contains(&host) && machine.hosts.remove(&host) => {
                Ok(None)
            }
            FromAgent::Ended { host, message } => {
                let message = format!("on machine {}: {}", machine.name, printable(&message, SHOWN));
                Err(RunError::Host { host, message })
            }
            FromAgent::Refused(why) => wrong(printable(&why, SHOWN)),
        }
    }

    /// Measures the time by which the clock of each machine is ahead.
    fn read_clocks(&mut self, watch: &mut Watch<'_>) -> Result<Vec<ClockOffset>, RunError> {
        let began = measure::now();
        let mut exchanges = vec![Vec::new(); self.machines.len()];
        for round in 0..MOST_EXCHANGES {
            let lasts = measure::now().saturating_duration_since(began);
            if round >= LEAST_EXCHANGES && lasts > EXCHANGES_LAST {
                break;
            }
            for (place, of) in exchanges.iter_mut().enumerate() {
                of.push(self.exchange(place, watch)?);
            }
        }
        let found = exchanges.iter().map(|of| best(of));
        Ok(found.collect::<Option<_>>().unwrap_or_default())
    }

    /// Sends a probe to a machine and waits for the answer. A line of a host is an error meanwhile.
    fn exchange(&mut self, place: usize, watch: &mut Watch<'_>) -> Result<Exchange, RunError> {
        let began = measure::now();
        let asked_ns = self.ask(place)?;
        loop {
            watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
            match self.next_event(LOOK)? {
                Some(Event::Probe(from, exchange)) if (from, exchange.sent_ns) == (place, asked_ns) => {
                    return Ok(exchange);
                }
                Some(Event::Line(host, line)) => {
                    let what = format!("it said \"{}\" while nothing was due", printable(&line, SHOWN));
                    return Err(self.wrong(host, what));
                }
                _ if measure::now().saturating_duration_since(began) > SILENCE => {
                    return Err(self.silent(place));
                }
                _ => {}
            }
        }
    }

    /// Pairs the offsets of each machine before the run with those `apart_ns` later, and checks their drift.
    fn both(
        &self,
        before: Vec<ClockOffset>,
        after: Vec<ClockOffset>,
        apart_ns: u64,
    ) -> Result<Vec<[ClockOffset; 2]>, RunError> {
        let clocks: Vec<[ClockOffset; 2]> = before.into_iter().zip(after).map(<[_; 2]>::from).collect();
        for (place, [before, after]) in clocks.iter().enumerate() {
            before.check_drift(after, apart_ns).map_err(|what| self.at(place, what))?;
        }
        Ok(clocks)
    }

    /// Measures the clocks again, and converts times in `reports` to the clock of the controller. All times are shifted by the same
    /// amount, so that none is before the first.
    pub(crate) fn by_one_clock(
        mut self,
        all: &[MachineJob],
        reports: &mut [HostReport],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<MachineReport>, RunError> {
        let after = self.read_clocks(watch)?;
        let after_ns = self.clock.now_ns();
        let Some(Start { offsets, measured_ns, start_ns }) = self.started.take() else {
            return Err(io::Error::other("the run did not start").into());
        };
        let clocks = self.both(offsets, after, after_ns.saturating_sub(measured_ns))?;
        let drift = |host: u16| {
            let place = all.iter().position(|machine| machine.hosts.contains(&host))?;
            let offsets = *clocks.get(place)?;
            Some(Drift { offsets, measured_ns: [measured_ns, after_ns], start_ns })
        };
        clock_correction::correct(reports, drift);
        let report = |(machine, [before, after]): (&MachineJob, &[ClockOffset; 2])| MachineReport {
            name: machine.name.clone(),
            hosts: machine.hosts.clone(),
            before: *before,
            after: *after,
        };
        Ok(all.iter().zip(&clocks).map(report).collect())
    }
}

impl Hosts for MachineHosts {
    fn count(&self) -> usize {
        self.jobs.len()
    }

    fn tell_all(&mut self, order: Order) -> Result<(), RunError> {
        self.tell_machines(&ToAgent::Tell(order))
    }

    fn start(&mut self, watch: &mut Watch<'_>) -> Result<Instant, RunError> {
        let offsets = self.read_clocks(watch)?;
        let slowest = offsets.iter().map(|offset| offset.uncertainty_ns).max().unwrap_or(0);
        let ahead = AHEAD + Duration::from_nanos(slowest.saturating_mul(8));
        // The order matters: if this process stops in between, its start is not later than that of the hosts.
        let start = measure::now() + ahead;
        let measured_ns = self.clock.now_ns();
        let start_ns = measured_ns.saturating_add(u64::try_from(ahead.as_nanos()).unwrap_or(u64::MAX));
        for (place, offset) in offsets.iter().enumerate() {
            self.tell(place, &ToAgent::Start { at_ns: by_its_clock(start_ns, offset) })?;
        }
        self.started = Some(Start { offsets, measured_ns, start_ns });
        Ok(start)
    }

    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError> {
        let until = measure::now() + most;
        loop {
            let left = until.saturating_duration_since(measure::now());
            if let Some(Event::Line(host, line)) = self.next_event(left.min(PROBES))? {
                return Ok(Some((host, line)));
            }
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    fn bounds(&self, host: u16, since_start: Duration) -> ReportBounds {
        let offsets = self.started.as_ref().map_or(&[][..], |start| &start.offsets);
        let error_ns = offsets.iter().map(|offset| offset.uncertainty_ns).max().unwrap_or(0);
        // Lines are accepted only from hosts that have a job.
        let job = Arc::clone(&self.jobs[&host]);
        ReportBounds::new(job, since_start).with_clock_error(error_ns)
    }

    fn wrong(&self, host: u16, message: String) -> RunError {
        let place = self.machines.iter().position(|machine| machine.hosts.contains(&host));
        self.at(place.unwrap_or(usize::MAX), format!("host {host}: {message}"))
    }

    fn finished(&mut self, host: u16) {
        self.finished.insert(host);
    }
}

#[cfg(test)]
mod tests;
