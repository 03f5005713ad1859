//! Imports a file to output files: all are written to temporary files next to their final paths first, then
//! renamed.

use std::ffi::OsString;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use priolane_source::csv::shown;
use priolane_source::{FLOW_LIST_LIMIT, InputError, SIZE_LIMIT, open, read_text};
use serde::Deserialize;

use priolane_core::units::{Span, Time};
use priolane_sim::topology::text;

use super::bonds::Bond;
use super::collect::{Collector, MAX_HOSTS};
use super::format::Format;
use super::imported::ImportedFlows;
use super::instant::instant;
use super::job::{self, Algorithm, Order, Placement, SendEnds};
use super::network::Network;
use super::options::{Options, Start};
use super::pending::{Failure, Pending};
use super::read::{Source, read};
use super::replaced::Earlier;
use super::report::Report;
use super::sizes::SizeTable;
use super::topology::read as read_topology;
use crate::context::LATEST_START;
use crate::flow_list::{OptionalColumn, Row, Writer};

/// The request of the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the format, or `auto`.
    pub format: String,
    /// The file to import.
    pub file: PathBuf,
    /// The flow list to write; `x.hosts.csv`, `x.report.json` and `x.topology.csv` are written next to `x.csv`.
    pub out: PathBuf,
    /// Number of hosts of the network, 2 to 65536; default: as in the file.
    #[serde(default)]
    pub hosts: Option<u32>,
    /// A `topology.txt` of HPCC, or a topology (`.topo`) of htsim.
    #[serde(default)]
    pub topology: Option<PathBuf>,
    /// The treatment of hosts of the topology that have several links; default: an error.
    #[serde(default)]
    pub bond: Option<Bond>,
    /// A size table to write.
    #[serde(default)]
    pub sizes: Option<PathBuf>,
    /// Start of the list: `0`, a time such as `1.5ms`, or `keep`; default `0`.
    #[serde(default)]
    pub start: Option<String>,
    /// Time over which flows with equal start times are spread.
    #[serde(default)]
    pub spread: Option<String>,
    /// Bytes per YAPS packet, 1 to 65535.
    #[serde(default)]
    pub mss: Option<u32>,
    /// Bytes per megabyte, above 0.
    #[serde(default)]
    pub megabyte: Option<u32>,
    /// Maximum gap between NetFlow records of a flow, a time.
    #[serde(default)]
    pub gap: Option<String>,
    /// NetFlow sampling: one in this many packets, above 0.
    #[serde(default)]
    pub sampling: Option<u32>,
    /// The first start of a log that is listed: a date with a clock, or seconds since 1970.
    #[serde(default)]
    pub from: Option<String>,
    /// The start of a log from which on flows are not listed.
    #[serde(default)]
    pub until: Option<String>,
    /// The order in which hosts get the ranks of a job: `packed`, `round_robin` or `random`.
    #[serde(default)]
    pub place: Option<String>,
    /// Number of hosts, from the first in this order on, that other jobs have.
    #[serde(default)]
    pub first: Option<u32>,
    /// Hosts of a rack, for `round_robin`.
    #[serde(default)]
    pub rack: Option<u32>,
    /// Seed of `random`.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The algorithm of a job's collectives: `ring`, `tree` or `halving_doubling`.
    #[serde(default)]
    pub collectives: Option<String>,
    /// The end of a send of a job: `at-once`, `at-nic`, `delivered` or `received`.
    #[serde(default)]
    pub send_ends: Option<String>,
    /// Largest message whose send ends at once, in bytes.
    #[serde(default)]
    pub eager: Option<u64>,
    /// Rate of the NICs, for `at-nic`.
    #[serde(default)]
    pub nic_rate: Option<String>,
}

/// Imports a file and writes the requested files.
///
/// # Errors
/// Returns a [`Failure`]; existing files are then unchanged.
pub fn import_files(request: &Request) -> Result<Report, Failure> {
    let options = options(request)?;
    let format = format(&request.format)?;
    if request.bond.is_some() && request.topology.is_none() {
        let what = "--bond has no meaning without --topology";
        return Err(InputError::new("--bond", None, "", what, "--topology FILE, or remove --bond").into());
    }
    let paths = Paths::of(request)?;
    let earlier = paths.refuse_foreign(request)?;
    let network = request.topology.as_deref().map(|path| network(path, request.bond)).transpose()?;
    let shown = request.file.display().to_string();
    let source = Source { file: &shown, format, network: network.as_ref() };
    let (imported, guess) = match format {
        Some(Format::Chakra) => job::read_chakra(&request.file, &options)?,
        _ => read(BufReader::new(open(&request.file, &shown)?), source, &options)?,
    };
    let mut report = Report::new(&shown, &guess, &imported);
    report.sha256 = earlier.kept();
    if request.sizes.is_some() && imported.rows.iter().all(|row| row.flow.size.is_none()) {
        let what = "no flow of the file has an end, so there are no sizes";
        return Err(InputError::new(shown, None, "--sizes", what, "Remove --sizes").into());
    }
    let sizes = request.sizes.as_ref().map(|_| SizeTable::of(&imported.rows, &shown));
    report.sizes = sizes.as_ref().map(|table| table.report);
    report.outputs.flows = paths.flows.display().to_string();
    report.outputs.hosts = paths.hosts.display().to_string();
    report.outputs.report = paths.report.display().to_string();
    report.outputs.topology = network.as_ref().map(|_| paths.topology.display().to_string());
    report.outputs.sizes = request.sizes.as_ref().map(|path| path.display().to_string());

    let mut files = Pending::default();
    report.sha256.flows = files.add(&paths.flows, |out| list(out, &imported))?;
    if files.last_size()? > FLOW_LIST_LIMIT {
        let what = format!("the list would be larger than {} MiB", FLOW_LIST_LIMIT >> 20);
        return Err(InputError::new(shown, None, "", what, "Import a part of the file").into());
    }
    report.sha256.hosts = files.add(&paths.hosts, |out| names(out, &imported))?;
    if let Some(network) = &network {
        let digest = files.add(&paths.topology, |out| out.write_all(network.text.as_bytes()))?;
        report.sha256.topology = Some(digest);
    }
    if let (Some(path), Some(table)) = (&request.sizes, &sizes) {
        report.sha256.sizes = Some(files.add(path, |out| out.write_all(table.text.as_bytes()))?);
    }
    files.add(&paths.report, |out| {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)
    })?;
    files.keep()?;
    Ok(report)
}

fn network(path: &Path, bond: Option<Bond>) -> Result<Network, InputError> {
    let shown = path.display().to_string();
    let text = read_text(path, &shown, 64 * SIZE_LIMIT)?;
    let network = read_topology(&mut text.as_bytes(), &shown, bond)?;
    if network.text.len() as u64 > SIZE_LIMIT {
        let what = "the topology would be larger than 1 MiB, more than experiments read";
        return Err(InputError::new(shown, None, "", what, "a fat_tree or leaf_spine of the same size"));
    }
    Ok(network)
}

fn format(name: &str) -> Result<Option<Format>, InputError> {
    if name == "auto" {
        return Ok(None);
    }
    Format::named(name).map(Some).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        let fix = format!("auto or one of {}", names.join(", "));
        InputError::new("FORMAT", None, "", format!("unknown format {name:?}"), fix)
    })
}

fn options(request: &Request) -> Result<Options, InputError> {
    let span = |flag: &str, given: &Option<String>| {
        given.as_deref().map(|given| self::span(flag, given)).transpose()
    };
    let start = match request.start.as_deref() {
        Some("keep") => Start::Keep,
        Some(given) => Start::First(Time(self::span("--start", given)?.0)),
        None => Start::First(Time::ZERO),
    };
    let most = MAX_HOSTS as u32;
    Ok(Options {
        hosts: within("--hosts", request.hosts, (2, most))?,
        start,
        spread: span("--spread", &request.spread)?,
        mss: within("--mss", request.mss, (1, 65_535))?,
        megabyte: within("--megabyte", request.megabyte, (1, u32::MAX))?,
        gap: span("--gap", &request.gap)?,
        sampling: within("--sampling", request.sampling, (1, u32::MAX))?,
        from: clock("--from", request.from.as_deref())?,
        until: clock("--until", request.until.as_deref())?,
        placement: placement(request)?,
        collectives: request.collectives.as_deref().map(algorithm).transpose()?,
        send_ends: SendEnds::stated(
            request.send_ends.as_deref(),
            request.eager,
            request.nic_rate.as_deref(),
        )?,
    })
}

fn placement(request: &Request) -> Result<Option<Placement>, InputError> {
    let Request { place, first, rack, seed, .. } = request;
    let bad = |flag: &str, what: &str, fix: &str| InputError::new(flag, None, "", what, fix);
    let order = match (place.as_deref().unwrap_or("packed"), rack, seed) {
        ("packed", None, None) => Order::Packed,
        ("round_robin", Some(rack), None) if *rack > 0 => Order::RoundRobin { rack: *rack },
        ("round_robin", _, None) => {
            return Err(bad(
                "--place",
                "round_robin goes from rack to rack",
                "--rack with the hosts of a rack, such as 16",
            ));
        }
        ("random", None, seed) => Order::Random { seed: seed.unwrap_or(1) },
        ("packed" | "round_robin" | "random", ..) => {
            let what = "--rack is for round_robin, and --seed for random";
            return Err(bad("--place", what, "the order that these are for"));
        }
        _ => return Err(bad("--place", "unknown order", "packed, round_robin or random")),
    };
    let is_stated = place.is_some() || first.is_some() || rack.is_some() || seed.is_some();
    Ok(is_stated.then_some(Placement { order, first: first.unwrap_or(0) }))
}

fn algorithm(name: &str) -> Result<Algorithm, InputError> {
    let known = Algorithm::ALL.into_iter().find(|(known, _)| *known == name);
    known.map(|(_, algorithm)| algorithm).ok_or_else(|| {
        let what = format!("unknown algorithm {name:?}");
        InputError::new("--collectives", None, "", what, "ring, tree or halving_doubling")
    })
}

/// Parses a time on the clock of a log.
fn clock(flag: &str, given: Option<&str>) -> Result<Option<u128>, InputError> {
    let options = Options::default();
    let read = |text: &str| {
        instant(&mut Collector::new(&options), text).ok_or_else(|| {
            let what = format!("{} is not a time of a clock", shown(text));
            InputError::new(
                flag,
                None,
                "",
                what,
                "a time such as \"2024-05-01 12:00:00\" (UTC) or seconds since 1970",
            )
        })
    };
    given.map(read).transpose()
}

pub(super) fn within(
    flag: &str,
    given: Option<u32>,
    (least, most): (u32, u32),
) -> Result<Option<u32>, InputError> {
    match given {
        Some(number) if !(least..=most).contains(&number) => Err(InputError::new(
            flag,
            None,
            "",
            format!("{number} is out of range"),
            format!("a number from {least} to {most}"),
        )),
        _ => Ok(given),
    }
}

fn span(flag: &str, given: &str) -> Result<Span, InputError> {
    let read = if given == "0" { Ok(Span::ZERO) } else { text::span(given).map_err(|e| e.to_string()) };
    let bad = |what: String| InputError::new(flag, None, "", what, "a time such as 1.5ms or 15s");
    match read {
        Ok(span) if span.0 > LATEST_START.0 => Err(bad("the time is above 26 days".to_owned())),
        Ok(span) => Ok(span),
        Err(what) => Err(bad(what)),
    }
}

/// The output paths.
struct Paths {
    flows: PathBuf,
    hosts: PathBuf,
    report: PathBuf,
    topology: PathBuf,
}

impl Paths {
    fn of(request: &Request) -> Result<Self, InputError> {
        let out = &request.out;
        let paths = Self {
            flows: out.clone(),
            hosts: beside(out, ".hosts.csv"),
            report: beside(out, ".report.json"),
            topology: beside(out, ".topology.csv"),
        };
        let bad = |path: &Path, what: &str| {
            InputError::new(path.display().to_string(), None, "", what, "another path for the output")
        };
        if out.file_name().is_none() || out.is_dir() {
            return Err(bad(out, "the path does not name a file"));
        }
        let inputs = [Some(&request.file), request.topology.as_ref()];
        let inputs: Vec<PathBuf> =
            inputs.into_iter().flatten().filter_map(|p| p.canonicalize().ok()).collect();
        let mut own = vec![&paths.flows, &paths.hosts, &paths.report];
        own.extend(request.topology.as_ref().map(|_| &paths.topology));
        if let Some(sizes) = &request.sizes {
            if own.contains(&sizes) || sizes.file_name().is_none() || sizes.is_dir() {
                return Err(bad(sizes, "the size table needs its own path"));
            }
            own.push(sizes);
        }
        match own.iter().find(|path| path.canonicalize().is_ok_and(|path| inputs.contains(&path))) {
            Some(path) => Err(bad(path, "the input would be overwritten")),
            None => Ok(paths),
        }
    }

    /// Checks that no output replaces a file that an import did not write; returns what an earlier import wrote.
    fn refuse_foreign(&self, request: &Request) -> Result<Earlier, InputError> {
        let earlier = Earlier::read(&self.report);
        earlier.allows(&self.flows, |digests| Some(&digests.flows))?;
        earlier.allows(&self.hosts, |digests| Some(&digests.hosts))?;
        if request.topology.is_some() {
            earlier.allows(&self.topology, |digests| digests.topology.as_deref())?;
        }
        if let Some(sizes) = &request.sizes {
            earlier.allows(sizes, |digests| digests.sizes.as_deref())?;
        }
        earlier.allows_report(&self.report)?;
        Ok(earlier)
    }
}

/// Returns `x.hosts.csv` for `x.csv`.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.file_stem().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

fn list(out: &mut dyn Write, imported: &ImportedFlows) -> io::Result<()> {
    // `after` stands beside `delay_ns`, which steps have that wait for nothing.
    let waits = |row: &Row| !row.after.is_empty() || row.delay.is_some();
    let used = [
        (OptionalColumn::Class, imported.rows.iter().any(|row| row.flow.class > 0)),
        (OptionalColumn::Coflow, imported.rows.iter().any(|row| row.flow.coflow.is_some())),
        (OptionalColumn::After, imported.rows.iter().any(waits)),
    ];
    let extras: Vec<OptionalColumn> =
        used.into_iter().filter(|(_, used)| *used).map(|(extra, _)| extra).collect();
    let mut writer = Writer::new(out, &extras)?;
    imported.rows.iter().try_for_each(|row| writer.row(row))
}

fn names(out: &mut dyn Write, imported: &ImportedFlows) -> io::Result<()> {
    writeln!(out, "name,host")?;
    imported.names.iter().try_for_each(|(name, host)| writeln!(out, "{name},{}", host.0))
}
