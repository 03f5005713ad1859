//! A run on several machines: an agent on each starts its hosts, and packets go over the network that is there.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::agent::channel::{AgentEvent, Channel};
use crate::agent::message::{FromAgent, Hello, ToAgent, other_release};
use crate::clock::{ClockOffset, Drift, Exchange, MachineClock, MachineReport, best};
use crate::clock_correction;
use crate::host_jobs::Work;
use crate::job::{Bins, Flow, FlowChange, HostReport, SchemeJob};
use crate::measure::{self, Ends, Hosts, OnProgress, Progress, RunError};
use crate::network::Network;
use crate::run::TestbedReport;

pub use crate::agent::channel::AgentAddress;

/// What an agent has to be there.
const CONNECTS: Duration = Duration::from_secs(30);
/// Interval of probes, and how long an agent may be silent.
const PROBES: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(20);
/// Interval of looks at the progress.
const LOOK: Duration = Duration::from_millis(100);
/// Exchanges with each agent by which a clock is read: at least, at most, and how long they go on.
const LEAST_EXCHANGES: usize = 8;
const MOST_EXCHANGES: usize = 64;
const EXCHANGES_LAST: Duration = Duration::from_secs(2);
/// From the order to start to the start, beside four times the longest round trip.
const AHEAD: Duration = Duration::from_millis(200);

/// A machine and its hosts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineJob {
    /// Its name.
    pub name: String,
    /// How its agent is reached.
    pub agent: AgentAddress,
    /// The address that its hosts bind to.
    pub address: IpAddr,
    /// The UDP port of its first host; the others have those that follow.
    pub port: u16,
    /// Its hosts.
    pub hosts: Vec<u16>,
}

/// What is to be measured on several machines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachinesJob {
    /// The machines; together they have each host once.
    pub machines: Vec<MachineJob>,
    /// Hosts and lines that the experiment asks for. Its switches are those that are there, and its cables have no ports.
    pub network: Network,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
    /// What hosts speak.
    pub scheme: SchemeJob,
    /// Whether hosts know the delay and the rate of paths of `network`.
    pub knows_paths: bool,
    /// The messages.
    pub flows: Vec<Flow>,
    /// What changes of them.
    #[serde(default)]
    pub changes: Vec<FlowChange>,
    /// By which endless ones are counted; `None` if nobody asks.
    #[serde(default)]
    pub bins: Option<Bins>,
    /// When it ends at the latest, in nanoseconds since its start.
    pub limit_ns: u64,
    /// Whether it ends sooner.
    #[serde(default)]
    pub ends: Ends,
    /// The real-time priority of hosts, if the system permits one.
    pub real_time: Option<u8>,
}

impl MachinesJob {
    fn work(&self) -> Work<'_> {
        let Self { network, mtu, scheme, knows_paths, flows, changes, bins, real_time, .. } = self;
        let (mtu, knows_paths, bins, real_time) = (*mtu, *knows_paths, *bins, *real_time);
        Work { network, mtu, scheme, knows_paths, flows, changes, bins, real_time }
    }

    /// Where each host is bound.
    fn addresses(&self) -> Result<Vec<SocketAddr>, RunError> {
        let of = |host: u16| {
            let bound = |machine: &MachineJob| {
                let place = machine.hosts.iter().position(|&own| own == host)?;
                let port = machine.port.checked_add(u16::try_from(place).ok()?)?;
                Some(SocketAddr::new(machine.address, port))
            };
            let found = self.machines.iter().find_map(bound);
            found.ok_or_else(|| RunError::Host {
                host,
                message: "it is on no machine, or has no port".to_owned(),
            })
        };
        (0..self.network.hosts).map(of).collect()
    }
}

/// Runs on the machines of `job`; their agents are of this `release` of priolane and its results.
///
/// # Errors
/// [`RunError`]; no host is left on any machine that can be reached.
pub fn run(
    job: &MachinesJob,
    release: &str,
    progress: &mut OnProgress<'_>,
) -> Result<TestbedReport, RunError> {
    let work = job.work();
    if let Some(flow) = work.wrong_flow() {
        return Err(RunError::Flow(flow));
    }
    let addresses = job.addresses()?;
    let mut watch = |how_far| if progress(how_far) { Ok(()) } else { Err(RunError::Stopped) };
    let mut hosts = MachineHosts::connect(job, release, &mut watch)?;
    for (place, machine) in job.machines.iter().enumerate() {
        for &host in &machine.hosts {
            // Delays are those of the network that is there.
            let job = work.of(host, addresses.clone(), Vec::new());
            hosts.tell(place, &ToAgent::Host(Box::new(job)))?;
        }
    }
    let limit = (Duration::from_nanos(job.limit_ns), job.ends);
    let ended = measure::carry_out(&mut hosts, limit, &mut watch)?;
    let elapsed_ns = u64::try_from(ended.elapsed.as_nanos()).unwrap_or(u64::MAX);
    let mut reports = ended.reports(&mut hosts)?;
    let machines = hosts.by_one_clock(job, &mut reports)?;
    Ok(TestbedReport { hosts: reports, queues: Vec::new(), switches: Vec::new(), machines, elapsed_ns })
}

/// A machine whose agent is there.
struct Machine {
    name: String,
    channel: Channel,
    /// When it was last last_heard.
    last_heard: Instant,
}

/// When hosts were told to start, and by which clocks.
struct Start {
    /// By machine, before the run.
    offsets: Vec<ClockOffset>,
    /// When these were measured, and the start, by the controller's clock.
    measured_ns: u64,
    start_ns: u64,
}

/// What agents and hosts say.
enum Event {
    Hello(usize, Hello),
    Line(u16, String),
    Probe(usize, Exchange),
}

/// The hosts of a run on several machines.
struct MachineHosts {
    machines: Vec<Machine>,
    clock: MachineClock,
    events: Receiver<(usize, AgentEvent)>,
    /// Lines that came while clocks were read.
    waiting: VecDeque<(u16, String)>,
    /// When probes were last sent to all.
    probed: Instant,
    count: usize,
    finished: BTreeSet<u16>,
    started: Option<Start>,
}

impl Drop for MachineHosts {
    fn drop(&mut self) {
        // All at once: each then takes its time to end.
        self.machines.iter_mut().for_each(|machine| machine.channel.close());
    }
}

fn at_machine(name: &str, what: impl ToString) -> RunError {
    RunError::Machine { machine: name.to_owned(), message: what.to_string() }
}

impl MachineHosts {
    /// Connects to all agents and waits until they have said that they are of this release.
    fn connect(
        job: &MachinesJob,
        release: &str,
        watch: &mut dyn FnMut(Progress) -> Result<(), RunError>,
    ) -> Result<Self, RunError> {
        let clock = MachineClock::shifted(0);
        let (tell, events) = mpsc::channel();
        let mut machines = Vec::with_capacity(job.machines.len());
        for (place, machine) in job.machines.iter().enumerate() {
            let tell = tell.clone();
            let channel =
                Channel::open(&machine.agent, clock, move |event| tell.send((place, event)).is_ok())
                    .map_err(|error| at_machine(&machine.name, error))?;
            machines.push(Machine { name: machine.name.clone(), channel, last_heard: measure::now() });
        }
        let count = usize::from(job.network.hosts);
        let (waiting, finished) = (VecDeque::new(), BTreeSet::new());
        let probed = measure::now();
        let mut hosts = Self { machines, clock, events, waiting, probed, count, finished, started: None };
        for place in 0..hosts.machines.len() {
            hosts.tell(place, &ToAgent::Hello(Hello { release: release.to_owned() }))?;
        }
        hosts.wait_for_hellos(release, watch)?;
        Ok(hosts)
    }

    fn wait_for_hellos(
        &mut self,
        release: &str,
        watch: &mut dyn FnMut(Progress) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let began = measure::now();
        let mut silent: BTreeSet<usize> = (0..self.machines.len()).collect();
        while let Some(&first) = silent.first() {
            watch(Progress { elapsed: Duration::ZERO, done: 0 })?;
            match self.next_event(LOOK)? {
                Some(Event::Hello(place, theirs)) if theirs.release == release => {
                    silent.remove(&place);
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
        let Machine { name, channel, .. } = &mut self.machines[place];
        channel.tell(message).map_err(|error| at_machine(name, error))
    }

    fn tell_machines(&mut self, message: &ToAgent) -> Result<(), RunError> {
        (0..self.machines.len()).try_for_each(|place| self.tell(place, message))
    }

    /// Lets agents know that the controller is there, and sees that they are.
    fn keep_alive(&mut self) -> Result<(), RunError> {
        let now = measure::now();
        let since = |then: Instant| now.saturating_duration_since(then);
        if since(self.probed) < PROBES {
            return Ok(());
        }
        // Who did not call this for long has not listened either.
        if since(self.probed) < SILENCE
            && let Some(place) = self.machines.iter().position(|machine| since(machine.last_heard) > SILENCE)
        {
            return Err(self.at(place, format!("its agent has said nothing for {} s", SILENCE.as_secs())));
        }
        self.probed = now;
        self.tell_machines(&ToAgent::Probe { sent_ns: self.clock.now_ns() })
    }

    /// The next event, within `most`; `None` if there is none, or none that matters.
    fn next_event(&mut self, most: Duration) -> Result<Option<Event>, RunError> {
        self.keep_alive()?;
        let (place, event) = match self.events.recv_timeout(most) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("all agents ended").into()),
        };
        self.machines[place].last_heard = measure::now();
        let (message, returned_ns) = match event {
            AgentEvent::Message(message, came_ns) => (message, came_ns),
            AgentEvent::Gone(why) => return Err(self.at(place, why)),
        };
        match message {
            FromAgent::Hello(hello) => Ok(Some(Event::Hello(place, hello))),
            FromAgent::Probe { sent_ns, received_ns, answered_ns } => {
                Ok(Some(Event::Probe(place, Exchange { sent_ns, received_ns, answered_ns, returned_ns })))
            }
            FromAgent::Host { host, line } => Ok(Some(Event::Line(host, line))),
            FromAgent::Ended { host, .. } if self.finished.contains(&host) => Ok(None),
            FromAgent::Ended { host, message } => {
                let message = format!("on machine {}: {message}", self.machines[place].name);
                Err(RunError::Host { host, message })
            }
            FromAgent::Refused(why) => Err(self.at(place, why)),
        }
    }

    /// By how much the clock of each machine is ahead.
    fn read_clocks(&mut self) -> Result<Vec<ClockOffset>, RunError> {
        let began = measure::now();
        let mut exchanges = vec![Vec::new(); self.machines.len()];
        for round in 0..MOST_EXCHANGES {
            let lasts = measure::now().saturating_duration_since(began);
            if round >= LEAST_EXCHANGES && lasts > EXCHANGES_LAST {
                break;
            }
            for (place, of) in exchanges.iter_mut().enumerate() {
                of.push(self.exchange(place)?);
            }
        }
        let found = exchanges.iter().map(|of| best(of));
        Ok(found.collect::<Option<_>>().unwrap_or_default())
    }

    fn exchange(&mut self, place: usize) -> Result<Exchange, RunError> {
        let asked_ns = self.clock.now_ns();
        self.tell(place, &ToAgent::Probe { sent_ns: asked_ns })?;
        loop {
            match self.next_event(LOOK)? {
                Some(Event::Probe(from, exchange)) if (from, exchange.sent_ns) == (place, asked_ns) => {
                    return Ok(exchange);
                }
                Some(Event::Line(host, line)) => self.waiting.push_back((host, line)),
                _ => {}
            }
        }
    }

    /// Reads clocks again, and gives times in `reports` by the clock of the controller. All are moved alike, so that none is before the
    /// first.
    fn by_one_clock(
        mut self,
        job: &MachinesJob,
        reports: &mut [HostReport],
    ) -> Result<Vec<MachineReport>, RunError> {
        let after = self.read_clocks()?;
        let after_ns = self.clock.now_ns();
        let Some(Start { offsets, measured_ns, start_ns }) = self.started.take() else {
            return Err(io::Error::other("the run did not start").into());
        };
        let clocks: Vec<[ClockOffset; 2]> = offsets.into_iter().zip(after).map(<[_; 2]>::from).collect();
        let drift = |host: u16| {
            let place = job.machines.iter().position(|machine| machine.hosts.contains(&host))?;
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
        Ok(job.machines.iter().zip(&clocks).map(report).collect())
    }
}

impl Hosts for MachineHosts {
    fn count(&self) -> usize {
        self.count
    }

    fn tell_all(&mut self, line: &str) -> Result<(), RunError> {
        self.tell_machines(&ToAgent::Tell(line.to_owned()))
    }

    fn start(&mut self) -> Result<Instant, RunError> {
        let offsets = self.read_clocks()?;
        let slowest = offsets.iter().map(|offset| offset.uncertainty_ns).max().unwrap_or(0);
        let ahead = AHEAD + Duration::from_nanos(slowest.saturating_mul(8));
        let measured_ns = self.clock.now_ns();
        let start = measure::now() + ahead;
        let start_ns = measured_ns.saturating_add(u64::try_from(ahead.as_nanos()).unwrap_or(u64::MAX));
        for (place, offset) in offsets.iter().enumerate() {
            let at_ns = start_ns.saturating_add_signed(offset.offset_ns);
            self.tell(place, &ToAgent::Start { at_ns })?;
        }
        self.started = Some(Start { offsets, measured_ns, start_ns });
        Ok(start)
    }

    fn next(&mut self, most: Duration) -> Result<Option<(u16, String)>, RunError> {
        if let Some(line) = self.waiting.pop_front() {
            return Ok(Some(line));
        }
        let until = measure::now() + most;
        loop {
            let left = until.saturating_duration_since(measure::now());
            match self.next_event(left.min(PROBES))? {
                Some(Event::Line(host, line)) => return Ok(Some((host, line))),
                None if left.is_zero() => return Ok(None),
                _ => {}
            }
        }
    }

    fn finished(&mut self, host: u16) {
        self.finished.insert(host);
    }
}
