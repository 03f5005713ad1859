//! Executes one run of a plan: simulates it, checks it, and stores it in the results directory atomically.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_core::ids::{Class, LinkId};
use priolane_core::transport::tokens::DATA_CLASS;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Outcome, PortClassRecord, PortQueue, Progress, RunError};
use priolane_sim::scenario::{Engine, Scenario, ScenarioSpec};
use priolane_sim::{Drive, Threads};
use priolane_source::InputError;
use serde_json::Value;

use crate::metrics::effective::Bottleneck;
use crate::metrics::{self, SizeClass};
use crate::optimum;
use crate::plan::{self, ActualRun, MeasuredFlows, ResolvedRun, Run};
use priolane_results::admission::AdmissionRecord;
use priolane_results::answer::RemoteRun;
use priolane_results::compare::{Difference, differing_member, first_difference};
use priolane_results::digest;
use priolane_results::draft::{Draft, PublishOutcome};
use priolane_results::jobs::Jobs;
use priolane_results::record::{self, Counters, LoadRecord, RunRecord, StormRow};
use priolane_results::rows::{Rows, canonical};
use priolane_results::source::Source;
use priolane_results::store::{RunId, Store, StoreError};
use priolane_results::summary::EffectiveRecord;
use priolane_results::tokens::{ReceivedRecord, TokenRecord};

/// The way in which runs are executed. Does not affect results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The engine, unless both are requested.
    pub engine: Engine,
    /// Whether to run on both engines and compare every row.
    pub verify: bool,
    /// Threads per run.
    pub threads: Threads,
}

/// A run that is in the results directory.
#[derive(Clone, Debug, PartialEq)]
pub enum FinishedRun {
    /// It was simulated just now.
    Simulated(RunRecord),
    /// It was already stored, complete.
    AlreadyThere(RunRecord),
}

impl FinishedRun {
    /// Returns the run's record.
    pub fn record(&self) -> &RunRecord {
        match self {
            Self::Simulated(record) | Self::AlreadyThere(record) => record,
        }
    }
}

/// The reason why a run is not in the results directory, or cannot be trusted if it is there.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The experiment is invalid.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An invariant is violated: a bug of priolane or of a transport. Nothing was written.
    #[error("{what}, at {when:?}, {place}")]
    Violation {
        /// The violation.
        what: String,
        /// The simulated time of the failure.
        when: Time,
        /// The place of the failure: a flow, a port or a class.
        place: String,
    },
    /// The two engines disagree (`a` is the window engine, `b` the wheel).
    #[error("the engines disagree: {0}")]
    Engines(Difference),
    /// A stored record differs from that of the same run now.
    #[error("run {run}: the stored `{key}` is {stored}, but the run now gives {now}")]
    Changed {
        /// Run id.
        run: String,
        /// The first member of the record that differs, as a dotted name.
        key: String,
        /// Its stored value.
        stored: Value,
        /// Its value now.
        now: Value,
    },
    /// The directory has the run as it was measured on real hosts.
    #[error("run {0} is there as it was measured on real hosts; choose another directory with -o")]
    Measured(String),
    /// The directory has the run as it was simulated.
    #[error("run {0} is there as it was simulated; choose another directory with -o")]
    Simulated(String),
    /// The caller requested a stop. Nothing was written.
    #[error("the run was stopped by request")]
    Interrupted,
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The answer belongs to another unit.
    #[error("the answer belongs to {0}")]
    Other(String),
    /// An answer could not be encoded.
    #[error("the answer cannot be encoded: {0}")]
    RemoteRun(std::io::Error),
    /// The run id is malformed.
    #[error("`{0}` is not a run id: 16 lower-case hexadecimal digits")]
    RunId(String),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Violation { what, at, place } => Self::Violation { what, when: at, place },
            RunError::Interrupted => Self::Interrupted,
        }
    }
}

/// Callback that receives progress from time to time, and returns whether to continue.
pub type OnProgress<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// A function that simulates a scenario on an engine.
pub(crate) type Simulate<'a> =
    dyn FnMut(&Scenario, Engine, &mut OnProgress) -> Result<Outcome, RunError> + 'a;

/// Executes `run` and stores it in `dir`, unless it is already there.
///
/// With `settings.verify`, it runs on both engines. A stored run is then run again on both, once, and its whole record
/// compared.
pub fn execute(
    run: &Run,
    dir: &Path,
    settings: &Settings,
    progress: &mut OnProgress,
) -> Result<FinishedRun, Failure> {
    execute_in(run, &Store::open(dir)?, settings, progress)
}

/// As [`execute`], for many runs of a directory, which is opened only once.
pub fn execute_in(
    run: &Run,
    store: &Store,
    settings: &Settings,
    progress: &mut OnProgress,
) -> Result<FinishedRun, Failure> {
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    let stored = store.accept(&id);
    if stored.as_ref().is_some_and(|record| record.measured.is_some()) {
        return Err(Failure::Measured(run.id.clone()));
    }
    if let Some(record) = &stored
        && (!settings.verify || store.is_verified(&id))
    {
        return Ok(FinishedRun::AlreadyThere(record.clone()));
    }
    let built = plan::build(run)?;
    let job = Job { run, built: &built, store, id: &id };
    let mut simulate = simulate(settings.threads);
    job.perform(settings, stored, &mut simulate, progress)
}

/// Returns the function that simulates each scenario on this number of threads.
fn simulate(threads: Threads) -> Box<Simulate<'static>> {
    Box::new(move |scenario, engine, progress| {
        let simulation = priolane_sim::Simulation::of(scenario).reporting_to(progress);
        simulation.run(Drive { threads, ..Drive::on(engine) })
    })
}

/// Copies `run` from the first of `others` that has it complete, with its own descriptive keys; returns whether one had
/// it.
///
/// # Errors
/// Returns an error if a file could not be written.
pub fn reuse_from(run: &Run, store: &Store, others: &[Store]) -> Result<bool, Failure> {
    let id = RunId::new(&run.id).ok_or_else(|| Failure::RunId(run.id.clone()))?;
    if others.is_empty() || store.accept(&id).is_some() {
        return Ok(false);
    }
    for other in others {
        other.read_packs_again();
        let Some(record) = other.accept(&id).filter(|record| record.measured.is_none()) else { continue };
        let mut draft = Draft::begin_for(store, &id, &record)?;
        for file in &record.files {
            draft.copy(other, file)?;
        }
        let verified = other.is_verified(&id);
        let mut own = RunRecord {
            title: run.experiment.title.clone(),
            point: run.point.iter().cloned().collect(),
            merged: run.merged.as_ref().clone(),
            ..record
        };
        draft.publish(&mut own)?;
        if verified {
            store.mark_verified(&id)?;
        }
        return Ok(true);
    }
    Ok(false)
}

/// Executes `run` and returns the contents of its directory in memory.
pub(crate) fn answer(
    run: &Run,
    settings: &Settings,
    progress: &mut OnProgress,
) -> Result<RemoteRun, Failure> {
    let built = plan::build(run)?;
    let simulation = Simulation { run, built: &built };
    let mut simulate = simulate(settings.threads);
    let ran = simulation.ran(settings, &mut simulate, progress)?;
    let rows = rows(&ran);
    let answer = RemoteRun::new(simulation.record(&rows, &ran), &rows).map_err(Failure::RemoteRun)?;
    Ok(RemoteRun { verified: settings.verify, ..answer })
}

/// Stores `answer`, unless `run` is already stored. The descriptive keys are those of `run`, since another figure may
/// have requested the same run.
pub(crate) fn store_answer(
    run: &Run,
    (store, id): (&Store, &RunId),
    answer: RemoteRun,
) -> Result<FinishedRun, Failure> {
    let RemoteRun { record, tables, verified } = answer;
    if record.run != run.id || record.version != priolane_results::VERSION {
        return Err(Failure::Other(format!("run {} of version {}", record.run, record.version)));
    }
    let files = record.files.clone();
    let record = RunRecord {
        title: run.experiment.title.clone(),
        point: run.point.iter().cloned().collect(),
        merged: run.merged.as_ref().clone(),
        ..record
    };
    let done = publish_or_compare((store, id), store.accept(id), record, |draft| {
        files.iter().zip(&tables).try_for_each(|(file, content)| draft.put(file, content))
    })?;
    if verified {
        store.mark_verified(id)?;
    }
    Ok(done)
}

/// A run with everything needed to execute it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its scenario.
    pub built: &'a ResolvedRun,
    /// The store for its results.
    pub store: &'a Store,
    /// Its id.
    pub id: &'a RunId,
}

impl Job<'_> {
    /// Simulates, checks and stores; `stored` is the record of the run if it is already in the store.
    pub fn perform(
        &self,
        settings: &Settings,
        stored: Option<RunRecord>,
        simulate: &mut Simulate,
        progress: &mut OnProgress,
    ) -> Result<FinishedRun, Failure> {
        let simulation = Simulation { run: self.run, built: self.built };
        let ran = simulation.ran(settings, simulate, progress)?;
        let rows = rows(&ran);
        let record = simulation.record(&rows, &ran);
        let done = publish_or_compare((self.store, self.id), stored, record, |draft| {
            rows.tables().into_iter().try_for_each(|table| draft.write(table, &rows))
        })?;
        if settings.verify {
            self.store.mark_verified(self.id)?;
        }
        Ok(done)
    }
}

/// Compares `record` with the `stored` one, or publishes it with the tables written by `write`.
fn publish_or_compare(
    (store, id): (&Store, &RunId),
    stored: Option<RunRecord>,
    mut record: RunRecord,
    write: impl FnOnce(&mut Draft) -> Result<(), StoreError>,
) -> Result<FinishedRun, Failure> {
    if let Some(stored) = stored {
        return match differing_member(&stored, &record) {
            Some((key, stored, now)) => Err(Failure::Changed { run: record.run, key, stored, now }),
            None => Ok(FinishedRun::AlreadyThere(stored)),
        };
    }
    let mut draft = Draft::begin_for(store, id, &record)?;
    write(&mut draft)?;
    Ok(match draft.publish(&mut record)? {
        PublishOutcome::New => FinishedRun::Simulated(record),
        PublishOutcome::AlreadyThere => FinishedRun::AlreadyThere(store.accept(id).unwrap_or(record)),
    })
}

/// A run with its scenario, independent of where its results go.
#[derive(Clone, Copy)]
struct Simulation<'a> {
    run: &'a Run,
    built: &'a ResolvedRun,
}

impl<'a> Simulation<'a> {
    /// Returns the outcome on the requested engines.
    fn ran(
        &self,
        settings: &Settings,
        simulate: &mut Simulate,
        progress: &mut OnProgress,
    ) -> Result<SimulatedRun<'a>, Failure> {
        if settings.verify {
            self.agreed(simulate, progress)
        } else {
            self.simulated(settings.engine, simulate, progress)
        }
    }

    /// Returns the checked outcome of one engine, with its records in canonical order.
    fn simulated(
        &self,
        engine: Engine,
        simulate: &mut Simulate,
        progress: &mut OnProgress,
    ) -> Result<SimulatedRun<'a>, Failure> {
        let mut outcome = simulate(&self.built.scenario, engine, progress)?;
        canonical(&mut outcome);
        let with_actual_starts = self.built.with_actual_starts(&mut outcome);
        check(&source(&with_actual_starts), &outcome)?;
        check_zero_loss(self.built, &outcome)?;
        Ok(SimulatedRun { with_actual_starts, outcome })
    }

    /// Returns the outcome if both engines agree.
    fn agreed(
        &self,
        simulate: &mut Simulate,
        progress: &mut OnProgress,
    ) -> Result<SimulatedRun<'a>, Failure> {
        let window = self.simulated(Engine::Window, simulate, progress)?;
        let wheel = self.simulated(Engine::Wheel, simulate, progress)?;
        let rows = [&window, &wheel].map(rows);
        let totals = || differing_totals(&window.outcome, &wheel.outcome);
        let records = || {
            let [a, b] = [self.record(&rows[0], &window), self.record(&rows[1], &wheel)];
            let (column, a, b) = differing_member(&a, &b)?;
            Some(Difference { table: record::FILE, row: 0, column, a: a.to_string(), b: b.to_string() })
        };
        match first_difference(&rows[0], &rows[1]).or_else(totals).or_else(records) {
            Some(difference) => Err(Failure::Engines(difference)),
            None => Ok(window),
        }
    }

    fn record(&self, rows: &Rows, SimulatedRun { with_actual_starts, outcome }: &SimulatedRun) -> RunRecord {
        let Run { id, scheme, point, seed, experiment, merged, .. } = self.run;
        let classes = &experiment.metrics.classes;
        let (built, scenario) = (with_actual_starts.built, with_actual_starts.scenario.as_ref());
        let optimum = scenario.rates_every.and_then(|_| optimum::of(scenario).ok());
        let ran = (&source(with_actual_starts), outcome);
        let rtt = plan::round_trip(&scenario.topology, &scenario.frame);
        let admission = AdmissionRecord::of(ran.0, outcome, rtt);
        let summaries = metrics::summarize(ran.0, outcome, classes);
        let texts = optimum.iter().filter_map(optimum::Optimum::warning);
        let storms = record::storms(outcome, &scenario.topology);
        let texts = texts
            .chain(deadlock(built, outcome))
            .chain(storm_warning(&storms))
            .chain(admission.iter().flat_map(metrics::admission::warnings))
            .chain(metrics::spurious(scheme, &summaries.by_class));
        let warnings = built.warnings.iter().cloned().chain(texts).collect();
        let window = experiment.time.window();
        let jobs = Jobs::new(&built.scenario, built.groups.len(), &built.bare_fct, (scenario, outcome));
        RunRecord {
            run: id.clone(),
            version: priolane_results::VERSION.to_owned(),
            title: experiment.title.clone(),
            scheme: scheme.clone(),
            point: point.iter().cloned().collect(),
            seed: *seed,
            merged: merged.as_ref().clone(),
            digest: digest::of_rows(rows),
            stopped_at_ps: outcome.stopped_at.0,
            counters: Counters::of(scenario, outcome),
            load: load(&with_actual_starts.load),
            findings: self.run.findings.clone(),
            warnings,
            admission,
            priorities: record::priorities(outcome),
            ledger: record::ledger(&outcome.ledger),
            summary: summaries.by_class,
            steady: summaries.steady,
            coflows: metrics::coflows::summarize(rows.coflows(), classes),
            jobs: metrics::jobs::summarize(jobs.as_ref(), &built.groups, classes),
            order: metrics::order::order(scenario, outcome, built.observed_port, window),
            ports: metrics::ports::summarize(scenario, built.zero_loss.as_deref(), outcome),
            storms,
            received: ReceivedRecord::of(scenario, outcome),
            tokens: TokenRecord::of(outcome),
            effective: effective(self.run, ran, classes, rtt),
            rates: metrics::rates::rates(ran, classes, optimum.as_ref(), window),
            measured: None,
            files: Vec::new(),
        }
    }
}

fn load(load: &plan::Load) -> LoadRecord {
    LoadRecord {
        asked: load.asked,
        offered_host: load.offered_host,
        offered_core: load.offered_core,
        demands: load.demands.clone(),
    }
}

/// Computes the effective throughput of the experiment's declared bottleneck.
fn effective(
    run: &Run,
    (source, outcome): (&Source, &Outcome),
    classes: &[SizeClass],
    rtt: Span,
) -> Option<EffectiveRecord> {
    let declared = run.experiment.metrics.effective.as_ref()?;
    let topology = &source.scenario.topology;
    let group = run.experiment.groups.iter().find(|group| group.name == declared.to)?;
    let hosts = group.hosts.list(topology.hosts).ok()?;
    let bottleneck = Bottleneck { hosts, every: declared.every.0 };
    let window = run.experiment.time.window();
    Some(metrics::effective::effective((source, outcome), &bottleneck, classes, (window, rtt)))
}

/// Describes the cycle of a PFC deadlock, if there is one.
fn deadlock(built: &ResolvedRun, outcome: &Outcome) -> Option<String> {
    let topology = &built.scenario.topology;
    let name = |&(link, class): &(LinkId, Class)| {
        let link = &topology.links[link.index()];
        let [from, to] = [link.from, link.to].map(|node| &topology.names[node.index()]);
        format!("{from}->{to} (class {class})")
    };
    let cycle: Vec<String> = outcome.deadlock.iter().map(name).collect();
    (!cycle.is_empty()).then(|| {
        format!("deadlock: these links are paused and wait for each other forever: {}", cycle.join(", "))
    })
}

/// Describes the storms that watchdogs found, if there were any.
fn storm_warning(storms: &[StormRow]) -> Option<String> {
    let first = storms.first()?;
    let found: u64 = storms.iter().map(|row| row.storms).sum();
    let dropped: u64 = storms.iter().map(|row| row.dropped).sum();
    let ports = storms.len();
    Some(format!(
        "watchdogs of paused classes acted {found} times at {ports} ports and classes, such as {} (class {}), and dropped \
         {dropped} packets",
        first.port, first.class
    ))
}

/// A completed run.
struct SimulatedRun<'a> {
    with_actual_starts: ActualRun<'a>,
    outcome: Outcome,
}

fn rows<'a>(ran: &'a SimulatedRun<'_>) -> Rows<'a> {
    Rows::new(source(&ran.with_actual_starts), &ran.outcome)
        .with_bills(ran.with_actual_starts.built.pricing.as_ref())
}

/// Returns the inputs of a run's rows.
pub(crate) fn source<'a>(with_actual_starts: &'a ActualRun<'_>) -> Source<'a> {
    let ActualRun { built, scenario, measured, bare_fct, with_handshake, .. } = with_actual_starts;
    let window = match built.window {
        MeasuredFlows::Within(window) => Some((window.from, window.until)),
        MeasuredFlows::All => None,
    };
    Source {
        scenario,
        groups: &built.groups,
        measured,
        bare_fct,
        with_handshake: with_handshake.as_deref(),
        under_way: &built.under_way,
        window,
        arrivals_continue: built.arrivals_continue,
    }
}

/// Compares totals that must not depend on the engine and are in no table.
fn differing_totals(window: &Outcome, wheel: &Outcome) -> Option<Difference> {
    let total = |column: &str, a: String, b: String| {
        (a != b).then(|| Difference { table: "totals", row: 0, column: column.to_owned(), a, b })
    };
    let ledgers = [&window.ledger, &wheel.ledger].map(record::ledger);
    let rows = ledgers[0].len().max(ledgers[1].len());
    let row = |side: usize, row: usize| format!("{:?}", ledgers[side].get(row));
    total("stopped_at", format!("{:?}", window.stopped_at), format!("{:?}", wheel.stopped_at))
        .or_else(|| {
            let [a, b] = [window, wheel].map(|o| o.work.packet_hops.to_string());
            total("packet_hops", a, b)
        })
        .or_else(|| (0..rows).find_map(|i| total("ledger", row(0, i), row(1, i))))
        .or_else(|| {
            let [a, b] = [window, wheel].map(|o| format!("{:?} {:?}", o.received, o.tokens));
            total("received", a, b)
        })
        .or_else(|| {
            let differs = |(a, b): &(&PortQueue, &PortQueue)| a != b;
            let (a, b) = window.queues.iter().zip(&wheel.queues).find(differs)?;
            total("queues", format!("{a:?}"), format!("{b:?}"))
        })
}

/// Returns an error if a switch port dropped data although its buffer is dimensioned for zero loss.
fn check_zero_loss(built: &ResolvedRun, outcome: &Outcome) -> Result<(), Failure> {
    let ScenarioSpec { topology, outages, .. } = &*built.scenario;
    let Some(bounds) = built.zero_loss.as_ref().filter(|_| outages.is_empty()) else { return Ok(()) };
    let lossy = |p: &&PortClassRecord| p.class == DATA_CLASS && p.dropped > 0 && bounds[p.link.index()] > 0;
    let Some(port) = outcome.ports.iter().find(lossy) else { return Ok(()) };
    let link = &topology.links[port.link.index()];
    let [from, to] = [link.from, link.to].map(|node| &topology.names[node.index()]);
    let (lost, room) = (port.dropped, bounds[port.link.index()]);
    let what =
        format!("{lost} data packets were dropped in a buffer of {room} B, which was computed for zero loss");
    Err(Failure::Violation { what, when: outcome.stopped_at, place: format!("{from}->{to}") })
}

/// Checks the invariants of every run.
pub(crate) fn check(source: &Source, outcome: &Outcome) -> Result<(), Failure> {
    let end = outcome.stopped_at;
    let violation = |what: String, when: Time, place: String| Err(Failure::Violation { what, when, place });
    let flows = source.scenario.flows.len();
    for (what, n) in [
        ("flow records", outcome.flows.len()),
        ("measured", source.measured.len()),
        ("bare", source.bare_fct.len()),
    ] {
        if n != flows {
            return violation(format!("{n} {what} for {flows} flows"), end, "the run".to_owned());
        }
    }
    if let Some(row) = record::ledger(&outcome.ledger).iter().find(|row| !row.is_conserved()) {
        let what = format!("packets or bytes are not conserved: {row:?}");
        return violation(what, end, format!("class {}", row.class));
    }
    if let Some(tokens) = TokenRecord::of(outcome).filter(|tokens| !tokens.is_conserved()) {
        return violation(format!("tokens are not conserved: {tokens:?}"), end, "the run".to_owned());
    }
    // Paths around a failure may differ from those of the idle-network time.
    if !source.scenario.outages.is_empty() {
        return Ok(());
    }
    for ((spec, record), bare) in source.scenario.flows.iter().zip(&outcome.flows).zip(source.bare_fct) {
        // A flow that gave up payload did not transfer all of it.
        let Some(fct) = record.fct.filter(|_| record.missing == 0) else { continue };
        if spec.size.is_some() && fct < *bare {
            let place = format!("flow {} from host {} to host {}", spec.id.0, spec.src.0, spec.dst.0);
            let what = format!("the flow completed in {fct:?}, faster than alone in the network ({bare:?})");
            return violation(what, spec.start + fct, place);
        }
    }
    Ok(())
}

mod measured;

pub use measured::{Measurement, store_measured};

#[cfg(test)]
mod tests;
