//! `series.parquet`: one row per instant, entity and metric.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use priolane_core::endpoint::ThresholdSet;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::Time;
use priolane_sim::outcome::{Outcome, Sample};
use priolane_sim::topology::Topology;

use crate::row;

row! {
    /// A row of `series.parquet`: a reading.
    pub struct SeriesRow<'a> {
        t_ps: u64, "ps", "time of the reading, since the start of the run";
        entity: &'a str, "",
            "source of the reading: a port, named as in ports.parquet; a flow, as flow12; or controller";
        metric: &'a str, "",
            "queued_bytes (B), queued_packets (1): queued in the port, without the packet in transmission; \
             sent_bytes (B): of packets sent since the previous reading; acked_bytes (B): payload of a flow \
             acknowledged since its start, including SACK blocks";
        value: f64, "see metric", "value of the reading";
    }
}

/// Rows of a run's readings: samples of ports, then thresholds of the controller, then reports of flows, then admit
/// probabilities.
#[derive(Debug)]
pub(crate) struct Readings<'a> {
    outcome: &'a Outcome,
    /// A row for each threshold that the controller set.
    thresholds: Vec<Threshold>,
    /// Names of the flows with reports.
    flows: BTreeMap<FlowId, String>,
    /// Admit probabilities over time: entity, instant, value.
    probabilities: Vec<(Arc<str>, Time, f64)>,
}

/// A threshold that the controller sent to the hosts.
#[derive(Debug)]
struct Threshold {
    at: Time,
    metric: String,
    bytes: u64,
}

impl<'a> Readings<'a> {
    pub(crate) fn of(topology: &Topology, outcome: &'a Outcome) -> Self {
        let flows = outcome.flow_samples.iter().map(|report| report.flow);
        Self {
            outcome,
            thresholds: thresholds(outcome),
            flows: flows.map(|flow| (flow, format!("flow{}", flow.0))).collect(),
            probabilities: probabilities(topology, outcome),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.outcome.samples.ports.len() * SAMPLED.len()
            + self.thresholds.len()
            + self.outcome.flow_samples.len()
            + self.probabilities.len()
    }

    /// Returns the rows in `range`; `ports` are names by link.
    pub(crate) fn rows<'r>(&'r self, ports: &'r [String], range: Range<usize>) -> Vec<SeriesRow<'r>> {
        range.map(|row| self.row(ports, row)).collect()
    }

    fn row<'r>(&'r self, ports: &'r [String], row: usize) -> SeriesRow<'r> {
        let reading = |at: Time, entity: &'r str, metric: &'r str, value: f64| SeriesRow {
            t_ps: at.0,
            entity,
            metric,
            value,
        };
        let per = SAMPLED.len();
        if let Some(sample) = self.outcome.samples.ports.get(row / per) {
            let (metric, value) = SAMPLED[row % per];
            return reading(sample.at, &ports[sample.link.index()], metric, value(sample));
        }
        let row = row - self.outcome.samples.ports.len() * per;
        if let Some(threshold) = self.thresholds.get(row) {
            return reading(threshold.at, "controller", &threshold.metric, threshold.bytes as f64);
        }
        let row = row - self.thresholds.len();
        if let Some(report) = self.outcome.flow_samples.get(row) {
            return reading(report.at, &self.flows[&report.flow], "acked_bytes", report.acked_bytes as f64);
        }
        let (entity, at, p) = &self.probabilities[row - self.outcome.flow_samples.len()];
        reading(*at, entity, "p_admit", *p)
    }
}

/// Returns a row for each interval in which a probability was updated: `h0->h3/1` is that of flows from host 0 to host
/// 3 that request class 1.
fn probabilities(topology: &Topology, outcome: &Outcome) -> Vec<(Arc<str>, Time, f64)> {
    let name = |host: HostId| {
        let node = topology.node_of(host);
        topology.names.get(node.0 as usize).cloned().unwrap_or_else(|| format!("host{}", host.0))
    };
    let keys =
        outcome.admission.iter().flat_map(|(host, account)| account.keys.iter().map(|key| (*host, key)));
    let rows = keys.filter(|(_, key)| !key.watched.is_empty()).flat_map(|(host, key)| {
        let entity: Arc<str> = format!("{}->{}/{}", name(host), name(key.dst), key.class).into();
        key.watched.iter().map(move |&(at, p)| (Arc::clone(&entity), at, p))
    });
    rows.collect()
}

/// Returns a row for each threshold that the controller set: `class_threshold_1` is the first threshold of classes.
fn thresholds(outcome: &Outcome) -> Vec<Threshold> {
    let rows = outcome.thresholds.iter().flat_map(|change| {
        let ladder = match change.of {
            ThresholdSet::Class => "class",
            ThresholdSet::HostLevel => "host",
        };
        let row = move |(i, &bytes): (usize, &u64)| Threshold {
            at: change.at,
            metric: format!("{ladder}_threshold_{}", i + 1),
            bytes,
        };
        change.bytes.iter().enumerate().map(row)
    });
    rows.collect()
}

/// A metric of a sample: its name and value.
type SampledMetric = (&'static str, fn(&Sample) -> f64);

/// The metrics of a sample, in the order of their rows.
const SAMPLED: [SampledMetric; 3] = [
    ("queued_bytes", |sample| sample.queued_bytes as f64),
    ("queued_packets", |sample| f64::from(sample.queued_packets)),
    ("sent_bytes", |sample| sample.sent_bytes as f64),
];
