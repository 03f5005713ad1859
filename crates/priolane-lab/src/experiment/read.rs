//! Reads an experiment file. Reads as many parts as possible and reports all mistakes at once.

use std::collections::HashSet;

use indexmap::IndexMap;
use priolane_core::packet::Frame;
use priolane_core::price::tariff::Charge;
use priolane_core::units::Span;
use priolane_source::{Field, InputError, Mistakes, Origin, Reader, Sources, Table};

use super::evaluation::{self, Names};
use super::schemes::{self, ReadSchemes};
use super::{
    Experiment, Group, HostSettings, LoadedExperiment, Metrics, Price, Seeds, Target, Timing, claims, events,
    group, network, noise, overlay, pricing, seeds, timing,
};
use crate::assumptions;

/// Maximum number of groups of an experiment.
const MAX_GROUPS: usize = 10_000;

/// Reads the experiment in `root`, the tree of the file `file`, at one point: without sweeps and overlays.
///
/// # Errors
/// Returns all mistakes of the file, except consequences of other mistakes.
pub fn read(file: &str, root: &Table, mut sources: Sources) -> Result<LoadedExperiment, InputError> {
    let origin = Origin { file: file.into(), line: Some(1) };
    let mut keys = Reader::new(root, "", &origin);
    let mut found = Mistakes::new(file);
    let words = words(&mut keys, &mut found);
    let seeds = found.keep(keys.take("seeds").map_or(Ok(Seeds::default()), |f| seeds::read(&f)));
    if let Some(seeds) = &seeds {
        sources.expect_seeds(seeds.list());
    }
    let ReadSchemes { names, schemes, send_jitter } = schemes::read(&mut keys, &mut sources, &mut found);
    let traffic = traffic(&mut keys, &mut sources, &mut found);
    let network = found.keep(topology(&mut keys, &mut sources));
    let hosts = hosts(&mut keys, &mut sources, &mut found);
    let sampling = sampling(&mut keys, &mut found);
    let known = traffic.groups.as_ref().map(|groups| groups.keys().map(String::as_str).collect());
    let mut names = Names::new(names.as_deref(), known, seeds.as_ref());
    let metrics = match keys.take("metrics") {
        None => Some(Metrics::default()),
        Some(field) => found.keep(evaluation::metrics(&field, &names)),
    };
    names.learn(metrics.as_ref(), sampling.as_ref().and_then(|sampling| sampling.admission_every));
    let panels = list(&mut found, keys.take("panel"), |field| evaluation::panel(field, &names, &mut sources));
    let paper = words.as_ref().and_then(|words| words.paper.as_deref());
    let mut reader = claims::ClaimReader::new(&names, paper);
    let claims = list(&mut found, keys.take("claim"), |field| reader.read(field));
    found.keep(keys.finish());
    let experiment = (|| {
        let Traffic { time, groups, events, controls } = traffic;
        let Description { title, paper, figure, quote, assumptions } = words?;
        let Hosts { frame, host_delay, delay_noise, clock_error, price } = hosts?;
        let Sampling { sample_every, rates_every, admission_every } = sampling?;
        Some(Experiment {
            title,
            paper,
            figure,
            quote,
            assumptions,
            schemes: schemes.iter().map(|named| named.name.clone()).collect(),
            seeds: seeds.clone()?,
            time: time?,
            frame,
            topology: network?,
            host_delay,
            delay_noise,
            clock_error,
            groups: groups?.into_values().collect::<Option<_>>()?,
            controls: controls?,
            events: events?,
            sample_every,
            rates_every,
            admission_every,
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
    let experiment = found.done(experiment)?;
    targets(&experiment, root)?;
    sending(&experiment, root)?;
    check_prices(&experiment, root)?;
    Ok(LoadedExperiment { experiment, schemes })
}

/// The descriptive keys of an experiment.
struct Description {
    title: String,
    paper: Option<String>,
    figure: Option<String>,
    quote: Option<String>,
    assumptions: Vec<&'static str>,
}

fn words(keys: &mut Reader<'_>, found: &mut Mistakes) -> Option<Description> {
    let text = |field: Option<Field<'_>>| field.map(|f| f.text().map(str::to_owned)).transpose();
    if let Some(field) = keys.take("flows") {
        found.add(field.error("the number of flows belongs in `time`", "time = { flows = 1000 }"));
    }
    let title = found
        .keep(keys.need("title", "title = \"What this shows\"").and_then(|f| f.text().map(str::to_owned)));
    let [paper, figure, quote] = ["paper", "figure", "quote"].map(|key| found.keep(text(keys.take(key))));
    let assumptions = found.keep(keys.take("assumptions").map_or(Ok(Vec::new()), |f| assumptions::read(&f)));
    Some(Description {
        title: title?,
        paper: paper?,
        figure: figure?,
        quote: quote?,
        assumptions: assumptions?,
    })
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
    let tables = found.keep(field.filled_list())?;
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
struct Hosts {
    frame: Frame,
    host_delay: Span,
    delay_noise: Option<super::Noise>,
    clock_error: Span,
    price: Option<Price>,
}

fn hosts(keys: &mut Reader<'_>, sources: &mut Sources, found: &mut Mistakes) -> Option<Hosts> {
    let frame = found.keep(keys.take("frame").map_or(Ok(Frame::ETHERNET), |f| network::frame(&f)));
    let host_delay = found.keep(keys.span_or("host_delay", Span::ZERO));
    let delay_noise = found.keep(keys.take("delay_noise").map(|f| noise::read(&f, sources)).transpose());
    let clock_error = found.keep(keys.span_or("clock_error", Span::ZERO));
    let price = found.keep(keys.take("price").map(|f| pricing::price(&f)).transpose());
    Some(Hosts {
        frame: frame?,
        host_delay: host_delay?,
        delay_noise: delay_noise?,
        clock_error: clock_error?,
        price: price?,
    })
}

/// Sampling intervals.
struct Sampling {
    sample_every: Option<Span>,
    rates_every: Option<Span>,
    admission_every: Option<Span>,
}

fn sampling(keys: &mut Reader<'_>, found: &mut Mistakes) -> Option<Sampling> {
    let [sample_every, rates_every, admission_every] = ["sample_every", "rates_every", "admission_every"]
        .map(|key| found.keep(keys.take(key).map(|f| f.positive_span()).transpose()));
    if let Some(field) = keys.take("tie_shuffle") {
        let what = "the order of simultaneous arrivals is drawn for each instant from the seed";
        found.add(field.error(what, "Remove the key"));
    }
    Some(Sampling {
        sample_every: sample_every?,
        rates_every: rates_every?,
        admission_every: admission_every?,
    })
}

fn list<T>(
    found: &mut Mistakes,
    field: Option<Field<'_>>,
    mut read: impl FnMut(&Field<'_>) -> Result<T, InputError>,
) -> Vec<T> {
    let items = found.keep(field.map_or(Ok(Vec::new()), |field| field.list()));
    found.each(items.into_iter().flatten(), |item| read(&item))
}

/// Checks that the destination groups exist.
fn targets(experiment: &Experiment, root: &Table) -> Result<(), InputError> {
    let names: HashSet<&str> = experiment.groups.iter().map(|group| group.name.as_str()).collect();
    let mut found = Mistakes::new(experiment.sources.experiment());
    found.each(&experiment.groups, |group| {
        let Target::Group(to) = &group.to else { return Ok(()) };
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
