//! The coflows of a recorded trace in the format of the coflow benchmark, mapped to the hosts of a group.

use std::collections::BTreeMap;
use std::sync::Arc;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::HostId;
use priolane_core::keys::{Bytes, KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::quantity::about_bytes;
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::Time;
use priolane_source::{FLOW_LIST_LIMIT, InputError, Reader, Sources};

use super::application::Application;
use super::context::{LATEST_START, WorkloadContext};
use super::error::AppError;
use super::import::{self, ImportedFlows};
use super::listed::ListedFlows;
use super::rescaling::Factor;
use super::traffic::Traffic;

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "coflow_trace", check = Self::check)]
#[part(
    name = "coflow_trace",
    summary = "the coflows of a recorded trace",
    source = "coflow-benchmark, FB2010"
)]
pub struct CoflowTrace {
    /// The path of a file in the format of the coflow benchmark.
    #[key(required = "trace = \"FB2010-1Hr-150-0.txt\"")]
    pub trace: String,
    /// Number of bytes per megabyte.
    #[key(default = 1 << 20, form = Bytes)]
    pub megabyte: u64,
    /// Only the first coflows, up to this number; left out, all of them.
    #[key(optional, range = "[1, 2147483648]")]
    pub coflows: Option<u32>,
    /// Factor for the bytes of flows.
    #[key(default = 1.0, form = Factor)]
    pub bytes_scale: f64,
    /// Factor for arrival times.
    #[key(default = 1.0, form = Factor)]
    pub time_scale: f64,
    /// The text of the file; empty until it is read.
    #[keys(skip = "".into())]
    text: Arc<str>,
}

impl Application for CoflowTrace {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        if let Some(field) = keys.take("trace") {
            self.text = files.read(&field, &self.trace, FLOW_LIST_LIMIT)?;
        }
        // Reports mistakes in the trace, with their lines.
        self.import(None).map(drop)
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        ListedFlows::plain(self.flows(site.hosts).map_err(Box::new)?.into()).traffic(site)
    }

    fn is_replay(&self) -> bool {
        true
    }

    fn notes(&self, hosts: u32) -> Result<Vec<String>, InputError> {
        let Self { trace, bytes_scale, time_scale, .. } = self;
        let scaled = ((*bytes_scale, *time_scale) != (1.0, 1.0)).then(|| {
            format!("flows have {bytes_scale} times the bytes of {trace}, and arrival times are {time_scale} times those")
        });
        let imported = self.import(Some(hosts))?;
        let fold = imported.fold.iter().map(|fold| {
            let each = (fold.factor * 100.0).round() / 100.0;
            format!("{} ports are folded onto {} hosts, {each} ports on each", fold.from, fold.to)
        });
        let of = if self.coflows.is_some() { ", of all coflows of the trace" } else { "" };
        let dropped = imported.dropped.iter().map(|dropped| {
            let bytes = about_bytes(u64::try_from(dropped.bytes).unwrap_or(u64::MAX));
            let flows = if dropped.count == 1 { "flow is" } else { "flows are" };
            format!("{} {flows} dropped, with {bytes}{of}: {}", dropped.count, dropped.reason)
        });
        Ok(scaled.into_iter().chain(fold).chain(dropped).collect())
    }
}

impl CoflowTrace {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if (1..=1 << 30).contains(&self.megabyte) {
            return Ok(());
        }
        let what = format!("a megabyte of {} bytes is out of range", self.megabyte);
        Err(KeyConflict::of("megabyte", what, "megabyte = \"1MB\" or \"1MiB\""))
    }

    /// Imports the trace, with its ports folded onto `hosts` hosts.
    fn import(&self, hosts: Option<u32>) -> Result<ImportedFlows, InputError> {
        let source =
            import::Source { file: &self.trace, format: Some(import::Format::Coflow), network: None };
        let options =
            import::Options { hosts, megabyte: Some(self.megabyte as u32), ..import::Options::default() };
        import::read(self.text.as_bytes(), source, &options).map(|(imported, _)| imported)
    }

    /// Returns its flows between the hosts of a group: port p is host p of the group, modulo their number.
    fn flows(&self, hosts: &[HostId]) -> Result<Vec<FlowSpec>, InputError> {
        let imported = self.import(Some(hosts.len() as u32))?;
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
            return Err(wrong("no flow remains after its ports are folded", "more hosts"));
        }
        Ok(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::ids::CoflowId;

    /// Three coflows of one flow each, at 1, 100 and 200 ms.
    fn trace() -> CoflowTrace {
        CoflowTrace {
            trace: "t".to_owned(),
            megabyte: 1_000_000,
            coflows: None,
            bytes_scale: 3.0,
            time_scale: 2.0,
            text: "8 3\n1 1 1 2 1 3:10\n2 100 1 4 1 5:20\n3 200 1 6 1 7:30\n".into(),
        }
    }

    #[test]
    fn times_and_bytes_are_scaled_each_by_its_own_factor() {
        let hosts: Vec<HostId> = (0..8).map(HostId).collect();
        let flows = trace().flows(&hosts).unwrap();
        let ms = |flow: &FlowSpec| flow.start.0 / 1_000_000_000 - flows[0].start.0 / 1_000_000_000;
        assert_eq!(flows.iter().map(ms).collect::<Vec<_>>(), [0, 198, 398]);
        let sizes: Vec<_> = flows.iter().map(|flow| flow.size.unwrap()).collect();
        assert_eq!(sizes, [30_000_000, 60_000_000, 90_000_000]);
    }

    #[test]
    fn notes_say_which_flows_are_left_out_and_of_how_many_coflows() {
        // Ports 4 and 7 are the same host of three.
        let text = "8 2\n1 1 1 2 1 3:10\n2 100 1 4 1 7:20\n";
        let notes = |coflows| CoflowTrace { coflows, text: text.into(), ..trace() }.notes(3).unwrap();
        let dropped = "1 flow is dropped, with 20MB: source and destination fold onto one host";
        assert_eq!(notes(None).last().unwrap(), dropped);
        assert_eq!(
            notes(Some(1)).last().unwrap(),
            &dropped.replace("20MB", "20MB, of all coflows of the trace")
        );
        assert_eq!(notes(None)[1], "8 ports are folded onto 3 hosts, 2.67 ports on each");
    }

    #[test]
    fn only_as_many_coflows_as_asked_for_are_taken() {
        let hosts: Vec<HostId> = (0..8).map(HostId).collect();
        for most in 1..=4 {
            let flows = CoflowTrace { coflows: Some(most), ..trace() }.flows(&hosts).unwrap();
            let taken: Vec<_> = flows.iter().map(|flow| flow.coflow.map(CoflowId::number)).collect();
            assert_eq!(taken, [Some(1), Some(2), Some(3)][..most.min(3) as usize]);
        }
    }
}
