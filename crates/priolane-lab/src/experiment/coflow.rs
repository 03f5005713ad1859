//! `app = "coflow"` and `app = "coflow_trace"`: coflows by laws, and those of a recorded trace.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::HostId;
use priolane_core::sizes::{MAX_BYTES, SizeDistribution};
use priolane_core::units::Time;
use priolane_source::quantity::as_text;
use priolane_source::{FLOW_LIST_LIMIT, Field, InputError, Reader, SIZE_LIMIT};
use priolane_workload::import::{self, Imported};
use priolane_workload::{Counts, LATEST_START, LoadOf, Parts, size_csv};
use serde::Serialize;
use serde::ser::Serializer;

use super::Sources;
use super::load::{self, LoadText};
use super::sizes::{self, Sizes};

/// The most hosts on one side of a coflow.
const MAX_COUNT: u64 = 65_535;

/// Coflows as the file states them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoflowText {
    /// Bytes of a whole coflow.
    pub sizes: Sizes,
    /// Hosts that send.
    pub mappers: CountText,
    /// Hosts that receive.
    pub reducers: CountText,
    /// What the mean flow of a coflow must have.
    pub flow_bytes: BytesText,
    /// How bytes go to flows.
    #[serde(serialize_with = "parts_text")]
    pub flow_sizes: Parts,
    /// Offered load.
    pub load: LoadText,
}

impl CoflowText {
    /// What its sizes are of those of their table, unless they are these.
    pub fn scaled(&self) -> Option<String> {
        let Sizes { csv, factor, .. } = &self.sizes;
        let is_scaled = (factor - 1.0).abs() > 1e-9;
        is_scaled
            .then(|| format!("coflows have {factor:.6} times the bytes of {csv}, and come as the load says"))
    }
}

/// A range of bytes, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BytesText {
    /// At least.
    #[serde(serialize_with = "as_text::bytes")]
    pub from: u64,
    /// At most.
    #[serde(serialize_with = "as_text::bytes")]
    pub to: u64,
}

/// A law of whole numbers: one number, or a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CountText {
    /// The table's shipped name or path; `None` for one number.
    pub csv: Option<String>,
    /// The law itself.
    pub law: SizeDistribution,
}

impl Serialize for CountText {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.csv {
            Some(name) => s.serialize_str(name),
            None => s.serialize_u64(self.law.max() as u64),
        }
    }
}

/// A recorded trace as the file states it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceText {
    /// The path of a file of the coflow benchmark's form.
    pub trace: String,
    /// Bytes of a megabyte.
    #[serde(serialize_with = "as_text::bytes")]
    pub megabyte: u64,
    /// The first so many coflows; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coflows: Option<u32>,
    /// What bytes of flows are multiplied by.
    pub bytes_scale: f64,
    /// What arrival times are multiplied by.
    pub time_scale: f64,
}

fn parts_text<S: Serializer>(parts: &Parts, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match parts {
        Parts::Even => "even",
        Parts::Drawn => "drawn",
    })
}

/// Reads the keys of `app = "coflow"`.
pub(super) fn coflow(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<CoflowText, InputError> {
    let sizes =
        sizes::read(&keys.need("sizes", "sizes = \"coflows.csv\": bytes of whole coflows")?, sources)?;
    let mappers = count(&keys.need("mappers", "mappers = 20, or \"coflow_mappers\"")?, sources)?;
    let reducers = count(&keys.need("reducers", "reducers = 1, or \"coflow_reducers\"")?, sources)?;
    let flow_bytes = match keys.take("flow_bytes") {
        None => BytesText { from: 1, to: MAX_BYTES as u64 },
        Some(field) => range(&field)?,
    };
    let parts = [("even", Parts::Even), ("drawn", Parts::Drawn)];
    let flow_sizes = keys.word_or("flow_sizes", &parts, Parts::Even)?;
    let field = keys.need("load", "load = { of = \"host\", counts = \"payload\", value = 0.4 }")?;
    let load = load::read(&field)?;
    if load.of != LoadOf::Host || load.counts != Counts::Payload {
        let what = "a load of coflows is payload as a part of the hosts' links";
        return Err(field.error(what, "of = \"host\", counts = \"payload\""));
    }
    Ok(CoflowText { sizes, mappers, reducers, flow_bytes, flow_sizes, load })
}

fn range(field: &Field<'_>) -> Result<BytesText, InputError> {
    let mut keys = field.table()?;
    let from = keys.take("from").map_or(Ok(1), |f| sizes::payload(&f))?;
    let to = keys.take("to").map_or(Ok(MAX_BYTES as u64), |f| sizes::payload(&f))?;
    keys.finish()?;
    if from > to {
        return Err(field.error("from is above to", "flow_bytes = { from = \"1kB\", to = \"100MB\" }"));
    }
    Ok(BytesText { from, to })
}

fn count(field: &Field<'_>, sources: &mut Sources) -> Result<CountText, InputError> {
    let fix =
        "a number from 1 on, or a table with the header count,cdf: a shipped one by name, yours by path";
    let Ok(name) = field.text() else {
        let number = field.integer(1, MAX_COUNT).map_err(|error| InputError { fix: fix.into(), ..error })?;
        let law =
            SizeDistribution::fixed(number as f64).map_err(|error| field.error(error.to_string(), fix))?;
        return Ok(CountText { csv: None, law });
    };
    let law = match size_csv::shipped_counts(name) {
        Some(text) => {
            sources.note(name, text);
            size_csv::parse_counts(name, text.as_bytes())?
        }
        None if !name.contains(['/', '.']) => {
            let names: Vec<&str> = size_csv::count_names().collect();
            return Err(field.no_such(name, &names));
        }
        None => size_csv::parse_counts(name, sources.read(field, name, SIZE_LIMIT)?.as_bytes())?,
    };
    let whole = |value: f64| value.fract() == 0.0 && (1.0..=MAX_COUNT as f64).contains(&value);
    match law.points().iter().find(|point| !whole(point.bytes)) {
        Some(point) => Err(field.error(format!("{} is no number of hosts", point.bytes), fix)),
        None => Ok(CountText { csv: Some(name.to_owned()), law }),
    }
}

/// Reads the keys of `app = "coflow_trace"`.
pub(super) fn trace(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<TraceText, InputError> {
    let field = keys.need("trace", "trace = \"FB2010-1Hr-150-0.txt\"")?;
    let path = field.text()?.to_owned();
    sources.read(&field, &path, FLOW_LIST_LIMIT)?;
    let scale = |field: Option<Field<'_>>| field.map_or(Ok(1.0), |field| factor(&field));
    let text = TraceText {
        trace: path,
        megabyte: keys.take("megabyte").map_or(Ok(1 << 20), |f| f.bytes())?,
        coflows: keys.take("coflows").map(|f| f.integer(1, 1 << 31)).transpose()?.map(|n| n as u32),
        bytes_scale: scale(keys.take("bytes_scale"))?,
        time_scale: scale(keys.take("time_scale"))?,
    };
    if !(1..=1 << 30).contains(&text.megabyte) {
        return Err(
            field.error(format!("a megabyte of {} bytes", text.megabyte), "megabyte = \"1MB\" or \"1MiB\"")
        );
    }
    // What is wrong with the trace shows here, with its line.
    text.imported(sources, None)?;
    Ok(text)
}

fn factor(field: &Field<'_>) -> Result<f64, InputError> {
    let value = field.any_number()?;
    if value > 0.0 && value <= 1e6 {
        return Ok(value);
    }
    Err(field.error(format!("a factor of {value}"), "a number above 0 and at most a million, such as 0.001"))
}

impl TraceText {
    /// The trace, its ports folded onto so many hosts.
    fn imported(&self, sources: &Sources, hosts: Option<u32>) -> Result<Imported, InputError> {
        let source =
            import::Source { file: &self.trace, format: Some(import::Format::Coflow), network: None };
        let options =
            import::Options { hosts, megabyte: Some(self.megabyte as u32), ..import::Options::default() };
        import::read(sources.known(&self.trace).as_bytes(), source, &options).map(|(imported, _)| imported)
    }

    /// Its flows between the hosts of a group: port p is the group's host p modulo their number.
    ///
    /// # Errors
    /// Those of the trace, or if a flow were later than 26 days or there were none.
    pub fn flows(&self, sources: &Sources, hosts: &[HostId]) -> Result<Vec<FlowSpec>, InputError> {
        let imported = self.imported(sources, Some(hosts.len() as u32))?;
        let wrong = |what: &str, fix: &str| InputError::new(&self.trace, None, "", what, fix);
        let mut places = BTreeMap::new();
        let mut flows = Vec::new();
        for row in imported.rows {
            let next = places.len() as u32;
            let place = *places.entry(row.flow.coflow).or_insert(next);
            if self.coflows.is_some_and(|most| place >= most) {
                continue;
            }
            let start = row.flow.start.0 as f64 * self.time_scale;
            if start > LATEST_START.0 as f64 {
                return Err(wrong("a flow would start after more than 26 days", "a smaller time_scale"));
            }
            let bytes = row.flow.size.unwrap_or(0) as f64 * self.bytes_scale;
            flows.push(FlowSpec {
                src: hosts[row.flow.src.index()],
                dst: hosts[row.flow.dst.index()],
                size: Some(bytes.round().clamp(1.0, MAX_BYTES) as u64),
                start: Time(start.round() as u64),
                ..row.flow
            });
        }
        if flows.is_empty() {
            return Err(wrong("no flow is left once its ports are folded", "more hosts"));
        }
        Ok(flows)
    }

    /// What its bytes and times are of those of the trace, unless they are these.
    pub fn scaled(&self) -> Option<String> {
        let Self { trace, bytes_scale, time_scale, .. } = self;
        ((*bytes_scale, *time_scale) != (1.0, 1.0)).then(|| {
            format!("flows have {bytes_scale} times the bytes of {trace}, and arrival times are {time_scale} times those")
        })
    }

    /// What of the trace is not in those flows.
    ///
    /// # Errors
    /// Those of the trace.
    pub fn left_out(&self, sources: &Sources, hosts: u32) -> Result<Vec<String>, InputError> {
        let imported = self.imported(sources, Some(hosts))?;
        let fold = imported.fold.iter().map(|fold| {
            format!("{} ports are folded onto {} hosts, {} on each", fold.from, fold.to, fold.factor)
        });
        let dropped = imported.dropped.iter().map(|dropped| {
            format!("{} flows of {} bytes are left out: {}", dropped.count, dropped.bytes, dropped.reason)
        });
        Ok(fold.chain(dropped).collect())
    }
}
