//! Reads an experiment file. Reads as many parts as possible and reports all mistakes at once.

use std::collections::HashSet;

use indexmap::IndexMap;
use priolane_core::keys::{InTable, KeyInfo, Keys, Period};
use priolane_core::price::tariff::Charge;
use priolane_core::units::Span;
use priolane_source::{Field, InputError, KeyReader, Mistakes, Origin, Reader, Sources, Table};

use super::arrays::{array, filled_array};
use super::evaluation::{self, Names};
use super::network::FrameKeys;
use super::schemes::{self, ReadSchemes, SchemeList};
use super::{
    Experiment, Group, HostSettings, LoadedExperiment, Metrics, Price, Seeds, Target, Timing, claims, events,
    group, network, overlay, references, timing,
};
use crate::assumptions::Anchors;

/// Maximum number of groups of an experiment.
const MAX_GROUPS: usize = 10_000;

/// Reads the experiment in `root`, the tree of the file `file`, at one point: without sweeps and overlays.
///
/// # Errors
/// Returns all mistakes of the file, except consequences of other mistakes.
pub fn read(file: &str, root: &Table, mut sources: Sources) -> Result<LoadedExperiment, InputError> {
    let origin = Origin { file: file.into(), line: Some(1) };
    let mut keys = KeyReader::new(Reader::new(root, "", &origin));
    let words = words(&mut keys);
    let seeds = keys.read_whole::<SeedKeys>().map(|keys| keys.seeds);
    if let Some(seeds) = &seeds {
        sources.expect_seeds(seeds.list());
    }
    let ReadSchemes { names, schemes, send_jitter } = schemes::read(&mut keys, &mut sources);
    let (table, found) = keys.split_mut();
    let traffic = traffic(table, &mut sources, found);
    let network = found.keep(topology(table, &mut sources));
    let hosts = hosts(&mut keys, &mut sources);
    let sampling = sampling(&mut keys);
    let known = traffic.groups.as_ref().map(|groups| groups.keys().map(String::as_str).collect());
    let mut names = Names::new(names.as_deref(), known);
    let (table, found) = keys.split_mut();
    let metrics = match table.take("metrics") {
        None => Some(Metrics::default()),
        Some(field) => found.keep(evaluation::metrics(&field, &names)),
    };
    names.learn(
        metrics.as_ref(),
        sampling.as_ref().and_then(|sampling| sampling.admission_every).map(|Period(span)| span),
    );
    let panels = table.take("panel");
    let panels = list("panel", panels, found, |field| evaluation::panel(field, &names, &mut sources));
    let paper = words.as_ref().and_then(|words| words.about.paper.as_deref());
    let mut reader = claims::ClaimReader::new(seeds.as_ref(), paper);
    let claims = list("claim", table.take("claim"), found, |field| {
        let mut found = Mistakes::new(file);
        references::check::<claims::Claim>(field, &names, &mut found);
        let claim = found.keep(reader.read(field));
        found.done(claim)
    });
    let experiment = (|| {
        let Traffic { time, groups, events, controls } = traffic;
        let Description { title, about: PaperKeys { paper, figure, quote, assumptions } } = words?;
        let HostsKeys { frame, host_delay, delay_noise, clock_error, price } = hosts?;
        let SamplingKeys { sample_every, rates_every, admission_every } = sampling?;
        Some(Experiment {
            title,
            paper,
            figure,
            quote,
            assumptions,
            schemes: schemes.iter().map(|named| named.name.clone()).collect(),
            seeds: seeds.clone()?,
            time: time?,
            frame: frame.frame(),
            topology: network?,
            host_delay,
            delay_noise,
            clock_error,
            groups: groups?.into_values().collect::<Option<_>>()?,
            controls: controls?,
            events: events?,
            sample_every: sample_every.map(|Period(span)| span),
            rates_every: rates_every.map(|Period(span)| span),
            admission_every: admission_every.map(|Period(span)| span),
            price,
            host: HostSettings { send_jitter },
            scheme: schemes.iter().map(|named| (named.name.clone(), named.scheme.clone())).collect(),
            metrics: metrics.clone()?,
            sweep: Vec::new(),
            panels,
            claims,
            sources,
        })
    })();
    let experiment = keys.finish(experiment)?;
    targets(&experiment, root)?;
    sending(&experiment, root)?;
    check_prices(&experiment, root)?;
    Ok(LoadedExperiment { experiment, schemes })
}

/// The descriptive keys of an experiment.
struct Description {
    title: String,
    about: PaperKeys,
}

/// The key of an experiment that every file has.
#[derive(Keys)]
struct TitleKeys {
    /// The title of the report: what the experiment shows.
    #[key(required = "title = \"What this shows\"")]
    title: String,
}

/// The keys of an experiment about its paper.
#[derive(Keys)]
struct PaperKeys {
    /// The paper that it reproduces.
    #[key(optional)]
    paper: Option<String>,
    /// The figure or table of the paper that it reproduces.
    #[key(optional)]
    figure: Option<String>,
    /// A short quotation from the paper about the result.
    #[key(optional)]
    quote: Option<String>,
    /// Anchors of docs/assumptions.md on which it relies, besides those of its schemes.
    #[key(default = Vec::new(), shown = "none", form = Anchors)]
    assumptions: Vec<&'static str>,
}

/// The key of an experiment that states seeds.
#[derive(Keys)]
struct SeedKeys {
    /// The number of seeds of each point and scheme, 1 to 10000, which are then 1, 2, ...; or a list of seeds, each at least 1.
    #[key(default = Seeds::default(), range = "[1, )")]
    seeds: Seeds,
}

/// Describes the keys at the top of an experiment file, without its tables.
pub(super) fn describe_top(out: &mut Vec<KeyInfo>) {
    TitleKeys::describe(out);
    PaperKeys::describe(out);
    SchemeList::describe(out);
    SeedKeys::describe(out);
    HostsKeys::describe(out);
    SamplingKeys::describe(out);
}

fn words(keys: &mut KeyReader<'_>) -> Option<Description> {
    if let Some(field) = keys.take_field("flows") {
        keys.mistakes().add(field.error("the number of flows belongs in `time`", "time = { flows = 1000 }"));
    }
    let title = keys.read::<TitleKeys>();
    let about = keys.read::<PaperKeys>();
    Some(Description { title: title?.title, about: about? })
}

/// The traffic of an experiment; `None` for parts that could not be read.
struct Traffic {
    time: Option<Timing>,
    /// By name; `None` for an invalid group, and `None` as a whole if some names could not be read.
    groups: Option<IndexMap<String, Option<Group>>>,
    events: Option<Vec<super::Event>>,
    controls: Option<Vec<super::ControlText>>,
}

fn traffic(keys: &mut Reader<'_>, sources: &mut Sources, found: &mut Mistakes) -> Traffic {
    let time = keys.need("time", "time = { warmup = \"5ms\", measure = \"50ms\" }");
    let time = found.keep(time.and_then(|field| timing::read(&field)));
    let groups = match keys.need("group", "at least one [[group]]") {
        Ok(field) => groups(&field, sources, found),
        Err(error) => found.keep(Err(error)),
    };
    let events = match keys.take("event") {
        None => Some(Vec::new()),
        Some(field) => {
            let context = events::Context { time: time.as_ref(), groups: groups.as_ref() };
            found.keep(events::read(&field, &context, sources))
        }
    };
    let controls = found.keep(keys.take("control").map_or(Ok(Vec::new()), |f| timing::controls(&f)));
    Traffic { time, groups, events, controls }
}

fn groups(
    field: &Field<'_>,
    sources: &mut Sources,
    found: &mut Mistakes,
) -> Option<IndexMap<String, Option<Group>>> {
    let tables = found.keep(filled_array("group", field))?;
    if tables.len() > MAX_GROUPS {
        found.add(
            field.error(format!("there are {} groups", tables.len()), format!("at most {MAX_GROUPS} groups")),
        );
        return None;
    }
    let mut groups = IndexMap::new();
    let mut named = true;
    let count = tables.len();
    let read = found.each(tables, |table| {
        let (name, keys) = match group::name(&table) {
            Ok(read) => read,
            Err(error) => {
                named = false;
                return Err(error);
            }
        };
        if groups.contains_key(&name) {
            let what = format!("a second group has the name {name:?}");
            return Err(table.error(what, "a different name for each group"));
        }
        let group = group::group(&keys, &name, sources);
        groups.insert(name, group.as_ref().ok().cloned());
        group.map(drop)
    });
    // If not all groups were read, no name can be reported as missing.
    (named && (read.len() == count || groups.len() == count)).then_some(groups)
}

/// Reads `[topology]`.
fn topology(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<super::Network, InputError> {
    network::network(&keys.need("topology", "[topology] with kind = \"leaf_spine\" and its keys")?, sources)
}

/// Settings that apply to all hosts.
#[derive(Keys)]
struct HostsKeys {
    /// Packet sizes.
    #[key(default = FrameKeys::default(), shown = "those of Ethernet", form = InTable, source = "docs/experiments.md")]
    frame: FrameKeys,
    /// Delay between a packet's arrival at a host and its delivery to the transport.
    #[key(default = Span::ZERO)]
    host_delay: Span,
    /// Measurement error that hosts add to delays.
    #[key(optional, shown = "none", form = InTable)]
    delay_noise: Option<super::Noise>,
    /// Maximum offset of a host's clock in either direction.
    #[key(default = Span::ZERO)]
    clock_error: Span,
    /// Prices of virtual machines and flows.
    #[key(optional, shown = "none", form = InTable, source = "PACCP §IV")]
    price: Option<Price>,
}

fn hosts(keys: &mut KeyReader<'_>, sources: &mut Sources) -> Option<HostsKeys> {
    let noise = keys.field("delay_noise");
    let mut hosts = keys.read::<HostsKeys>()?;
    if let (Some(noise), Some(field)) = (&mut hosts.delay_noise, noise) {
        keys.mistakes().keep(noise.open(&field, sources))?;
    }
    Some(hosts)
}

/// Sampling intervals.
#[derive(Keys)]
struct SamplingKeys {
    /// Sampling interval of queues.
    #[key(optional, shown = "no samples", range = "(0, )")]
    sample_every: Option<Period>,
    /// Interval at which senders report the acknowledged bytes of their flows.
    #[key(optional, shown = "no reports", range = "(0, )")]
    rates_every: Option<Period>,
    /// Sampling interval of admission probabilities.
    #[key(optional, shown = "no samples", range = "(0, )")]
    admission_every: Option<Period>,
}

fn sampling(keys: &mut KeyReader<'_>) -> Option<SamplingKeys> {
    let sampling = keys.read();
    if let Some(field) = keys.take_field("tie_shuffle") {
        let what = "the order of simultaneous arrivals is drawn for each instant from the seed";
        keys.mistakes().add(field.error(what, "Remove the key"));
    }
    sampling
}

fn list<T>(
    name: &str,
    field: Option<Field<'_>>,
    found: &mut Mistakes,
    mut read: impl FnMut(&Field<'_>) -> Result<T, InputError>,
) -> Vec<T> {
    let items = found.keep(field.map_or(Ok(Vec::new()), |field| array(name, &field)));
    found.each(items.into_iter().flatten(), |item| read(&item))
}

/// Checks that the destination groups exist.
fn targets(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    let names: HashSet<&str> = experiment.groups.iter().map(|group| group.name.as_str()).collect();
    let mut found = Mistakes::new(experiment.sources.experiment());
    found.each(&experiment.groups, |group| {
        let Some(Target::Group(to)) = &group.flows.to else { return Ok(()) };
        if names.contains(to.as_str()) {
            return Ok(());
        }
        let key = format!("group.{}.to", group.name);
        let origin = overlay::locate(root, &key).unwrap_or(Origin { file: "".into(), line: None });
        let names: Vec<&str> = experiment.groups.iter().take(30).map(|g| g.name.as_str()).collect();
        let fix = format!("\"*\" for every host, or one of the groups {}", names.join(", "));
        Err(origin.error(&key, format!("unknown group {to:?}"), fix))
    });
    found.finish()
}

/// Checks that some group sends, and that no class consists of groups that only receive.
fn sending(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    let mut found = Mistakes::new(experiment.sources.experiment());
    let mut fault = |key: &str, what: String, fix: &str| {
        let origin = overlay::locate(root, key).unwrap_or(Origin { file: "".into(), line: None });
        found.add(origin.error(key, what, fix));
    };
    let senders = experiment.groups.iter().filter(|group| group.app.part().sends());
    let senders: HashSet<&str> = senders.map(|group| group.name.as_str()).collect();
    if senders.is_empty() {
        let fix = "an app other than \"none\" in one of the groups";
        fault("group", "no group sends flows".to_owned(), fix);
    }
    for class in &experiment.metrics.classes {
        if !class.group.is_empty() && !class.group.iter().any(|group| senders.contains(group.as_str())) {
            let key = format!("metrics.classes.{}.group", class.name);
            let what =
                format!("group {} sends no flows, so no flow is in this class", class.group.join(", "));
            fault(&key, what, "a group that sends");
        }
    }
    found.finish()
}

/// Charges for sent bits require reports of senders.
fn check_prices(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    let sent = experiment.price.is_some_and(|price| price.charge == Charge::Sent);
    if !sent || experiment.rates_every.is_some() {
        return Ok(());
    }
    let origin = overlay::locate(root, "price.charge").unwrap_or(Origin { file: "".into(), line: None });
    let what = "the bytes sent so far are known only from reports of the senders, which are off";
    Err(origin.error("price.charge", what, "rates_every = \"1ms\", or charge = \"reserved\""))
}
