//! Lists the names that experiment and scheme files can use.

use priolane_core::assign::Solver;
use priolane_core::part::{Entry, Row};
use priolane_core::scheme::ENTRIES;
use priolane_sim::topology::TopologySpec;
use priolane_source::parse;
use priolane_workload::App;
use priolane_workload::import::Format;
use priolane_workload::size_csv;
use serde::Serialize;

use crate::scheme::SHIPPED;

/// All names, by kind.
#[derive(Clone, Debug, Serialize)]
pub struct Catalogue {
    /// Shipped schemes.
    pub schemes: Vec<SchemeEntry>,
    /// Transports.
    pub transports: Vec<Choice>,
    /// Port disciplines.
    pub ports: Vec<Choice>,
    /// Host schedulers.
    pub host: Vec<Choice>,
    /// NICs: the stage between a host's transport and its link.
    pub nic: Vec<Choice>,
    /// Rules that assign classes.
    pub assign: Vec<Choice>,
    /// Threshold solvers.
    pub solvers: Vec<SolverEntry>,
    /// Admission policies.
    pub admit: Vec<Choice>,
    /// Apps.
    pub apps: Vec<Choice>,
    /// Size tables.
    pub workloads: Vec<Workload>,
    /// Kinds of topology.
    pub topologies: Vec<Choice>,
    /// Formats of flow lists that can be imported.
    pub formats: Vec<NamedChoice>,
}

/// A shipped scheme.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeEntry {
    /// Name.
    pub name: &'static str,
    /// The paper that it implements.
    pub paper: String,
    /// Its transport.
    pub transport: String,
    /// Its port discipline.
    pub port: String,
}

/// A part that files can choose.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// Name in files.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Source: the paper or RFC.
    pub source: &'static str,
    /// Parameters, with units and defaults.
    pub parameters: Vec<String>,
}

/// A name and its meaning.
#[derive(Clone, Debug, Serialize)]
pub struct NamedChoice {
    /// Name.
    pub name: &'static str,
    /// Meaning.
    pub summary: &'static str,
}

/// A threshold solver.
#[derive(Clone, Debug, Serialize)]
pub struct SolverEntry {
    /// Name in a scheme file.
    pub name: &'static str,
    /// Number of levels that it supports; `None` for any.
    pub levels: Option<u8>,
    /// The objective of the scheme, or the source of its thresholds.
    pub summary: &'static str,
    /// Source: the paper.
    pub source: &'static str,
}

/// A shipped size table.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    /// Name.
    pub name: &'static str,
    /// Mean size, interpolated linearly between rows, in bytes.
    pub mean_bytes: f64,
    /// Fraction of flows below 100 kB.
    pub below_100kb: f64,
    /// Fraction of flows above 10 MB.
    pub above_10mb: f64,
}

/// Returns all names.
pub fn catalogue() -> Catalogue {
    Catalogue {
        schemes: SHIPPED.iter().map(|&(name, text)| scheme(name, text)).collect(),
        transports: row(Row::Transport),
        ports: row(Row::Port),
        host: row(Row::Host),
        nic: row(Row::Nic),
        assign: row(Row::Assign),
        solvers: std::iter::zip(Solver::all(), Solver::entries()).map(solver).collect(),
        admit: row(Row::Admit),
        apps: App::entries().iter().map(choice).collect(),
        workloads: size_csv::names().filter_map(workload).collect(),
        topologies: TopologySpec::entries().iter().map(choice).collect(),
        formats: Format::ALL
            .map(|format| NamedChoice { name: format.name(), summary: format.about() })
            .to_vec(),
    }
}

fn row(row: Row) -> Vec<Choice> {
    ENTRIES.iter().filter(|entry| entry.row == row).map(choice).collect()
}

fn solver((solver, entry): (Solver, Entry)) -> SolverEntry {
    let Entry { name, summary, source, .. } = entry;
    SolverEntry { name, levels: solver.part().levels(), summary, source }
}

fn choice(entry: &Entry) -> Choice {
    let parameter = |p: &priolane_core::keys::KeyInfo| match p.default.as_str() {
        "" => p.name.to_owned(),
        default => format!("{} = {default}", p.name),
    };
    Choice {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        parameters: entry.parameters.iter().map(parameter).collect(),
    }
}

fn scheme(name: &'static str, text: &str) -> SchemeEntry {
    let tree =
        parse(name, text).map(|table| priolane_source::Value::Table(table).to_json()).unwrap_or_default();
    let of = |pointer: &str| tree.pointer(pointer).and_then(|v| v.as_str()).unwrap_or("-").to_owned();
    SchemeEntry { name, paper: of("/paper"), transport: of("/transport/kind"), port: of("/port/kind") }
}

fn workload(name: &'static str) -> Option<Workload> {
    let sizes = size_csv::read(name, priolane_core::sizes::Interpolation::Linear).ok()?;
    Some(Workload {
        name,
        mean_bytes: sizes.mean(),
        below_100kb: sizes.cdf(1e5),
        above_10mb: 1.0 - sizes.cdf(1e7),
    })
}
