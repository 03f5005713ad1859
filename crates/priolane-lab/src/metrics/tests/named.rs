//! Each metric of the registry reads the member of a run's record that its meaning states, in its unit.

use std::collections::BTreeMap;
use std::io;

use priolane_core::endpoint::ThresholdSet;
use priolane_results::RecordBatch;
use priolane_results::coflows::CoflowRow;
use priolane_results::column::{Row, batch};
use priolane_results::flows::FlowRow;
use priolane_results::record::{Counters, LoadRecord, RunRecord};
use priolane_results::rows::{Rows, Table};
use priolane_results::series::SeriesRow;
use priolane_results::summary::{PortSet, PortSummary};
use priolane_results::tokens::ReceivedRecord;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ladder::Threshold;
use super::metric::{Bins, Context, Metric, Missing, StoredData};
use super::*;

/// The numbers of a class in the summary.
const SUMMARY: [&str; 30] = [
    "flows",
    "unfinished",
    "mean_fct_s",
    "std_fct_s",
    "cv",
    "p50_fct_s",
    "p95_fct_s",
    "p99_fct_s",
    "p999_fct_s",
    "mean_fct_acked_s",
    "mean_fct_bound_s",
    "mean_slowdown",
    "p50_slowdown",
    "p95_slowdown",
    "p99_slowdown",
    "p999_slowdown",
    "deadlines_met",
    "deadlines_missed",
    "deadlines_censored",
    "deadline_miss_rate",
    "deadline_meet_ratio",
    "deadline_infeasible_rate",
    "deadline_jain",
    "downgraded",
    "upgraded",
    "goodput_bps",
    "timeouts",
    "timed_out",
    "tail_timed_out",
    "delivery_bps",
];

/// The numbers of a job.
const JOB: [&str; 7] =
    ["ranks", "time_s", "exposed_s", "slowdown", "straggle_s", "computing", "bus_bandwidth_bps"];

/// The numbers of the jobs of three classes, and those of their iterations from the eighth on.
fn jobs(more: f64) -> Value {
    let mut all = classes(more + 1_100.0, &JOB);
    for job in all.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        let first = job["ranks"].as_f64().unwrap();
        let (mean, p99, cv) = (first + 8.0, first + 9.0, first + 10.0);
        job["iterations"] = json!({ "count": 7, "mean_s": mean, "p99_s": p99, "cv": cv });
    }
    all
}

/// The numbers of a set of ports.
const PORTS: [&str; 10] = [
    "ports",
    "packets",
    "dropped",
    "wait_s",
    "drop_rate",
    "utilization",
    "busiest",
    "max_queue_bytes",
    "queue_bound_bytes",
    "queue_of_bound",
];

/// Numbers of three classes, 40 apart, from `first` on.
fn classes(first: f64, members: &[&str]) -> Value {
    let of_class = |(n, class): (usize, &&str)| {
        let number = |(m, member): (usize, &&str)| {
            let x = first + 40.0 * n as f64 + m as f64;
            ((*member).to_owned(), json!(x as u64))
        };
        ((*class).to_owned(), members.iter().enumerate().map(number).collect::<Value>())
    };
    ["all", "small", "large"].iter().enumerate().map(of_class).collect()
}

/// `classes`, each with the member `key` besides.
fn with(mut classes: Value, key: &str, value: &Value) -> Value {
    classes.as_object_mut().unwrap().values_mut().for_each(|class| class[key] = value.clone());
    classes
}

fn ports(more: f64, set: PortSet) -> PortSummary {
    let first = more + 900.0 + 10.0 * f64::from(set as u8);
    made(PORTS.iter().zip(0..).map(|(key, m)| ((*key).to_owned(), json!(first as u64 + m))).collect())
}

fn made<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn admission() -> Value {
    json!({
        "transitions": [], "moves": 1, "skipped": 2,
        "keys": { "count": 21, "with_200_updates": 22, "fewest_updates": 23, "median_updates": 24,
            "p_min": 0.25, "p_median": 0.26, "p_max": 0.27, "largest_drift": 0.28 },
        "settling": { "band": 0.2, "rtt_s": 0.3, "keys": 50, "settled": 40, "p50_updates": 31,
            "p90_updates": 32, "p50_rtts": 33.5, "p90_rtts": 34.5 },
        "over_time": { "every_s": 0.5, "classes": [
            { "class": 1, "keys": 1, "mean_p": [0.1, 0.2] }, { "class": 2, "keys": 1, "mean_p": [0.3, 0.4, 0.6] } ] },
    })
}

fn rates(more: f64) -> Value {
    let members = [
        "flows",
        "hosts",
        "mean",
        "host_mean",
        "jain",
        "below_theta",
        "promised",
        "best",
        "equal",
        "gap_closed",
    ];
    json!({
        "every_s": 0.25, "first": 1, "end": 3, "utility": [9.0, 0.5, null, 0.7], "optimum": null,
        "classes": with(classes(more + 500.0, &members), "rates", &json!([1e9, null, 3e9])),
    })
}

fn effective(more: f64) -> Value {
    let bins = json!([2e9, 4e9]);
    json!({
        "every_s": 0.5, "capacity_bps": 8000.0, "rtt_s": 0.25,
        "classes": with(classes(more + 700.0, &["end", "settled"]), "bins", &bins),
    })
}

fn order() -> Value {
    json!({ "port": "a->b", "contended": 1, "o1": 0.11, "wanted": 2, "o2": 0.12,
        "queue_p99_bytes": 13, "queue_max_bytes": 14 })
}

fn tokens() -> Value {
    json!({ "sent": 1000, "used": 101, "wasted": 102, "expired_at_hosts": 103, "dropped": 104,
        "expired_at_ports": 205, "lost": 106, "resident": 107, "wire_share": 0.08 })
}

/// A record in which every number that a metric reads differs from all others; those of the baseline are larger by `more`.
fn record(more: f64) -> RunRecord {
    let coflows = ["unfinished", "mean_cct_s", "p50_cct_s", "p95_cct_s", "p99_cct_s", "coflows"];
    RunRecord {
        run: "0123456789abcdef".to_owned(),
        version: String::new(),
        title: String::new(),
        scheme: "own".to_owned(),
        point: BTreeMap::new(),
        seed: 1,
        merged: json!({}),
        digest: String::new(),
        stopped_at_ps: 0,
        counters: Counters::default(),
        load: LoadRecord::default(),
        findings: Vec::new(),
        warnings: Vec::new(),
        priorities: Vec::new(),
        admission: Some(made(admission())),
        ledger: Vec::new(),
        steady: BTreeMap::new(),
        summary: made(classes(more + 100.0, &SUMMARY)),
        coflows: made(classes(more + 300.0, &coflows)),
        jobs: made(jobs(more)),
        rates: Some(made(rates(more))),
        effective: Some(made(effective(more))),
        order: Some(made(order())),
        ports: PortSet::ALL.into_iter().map(|set| (set, ports(more, set))).collect(),
        storms: Vec::new(),
        received: ReceivedRecord {
            packets: 61,
            wait_s: Some(0.62),
            throughput_bps: Some(63e9),
            loss: Some(0.64),
            new_packets: 200,
            reordered: 50,
        },
        tokens: Some(made(tokens())),
        measured: None,
        files: Vec::new(),
    }
}

/// The tables and the baseline beside `record`.
struct RunTables {
    baseline: RunRecord,
    flows: MadeUp,
}

impl StoredData for RunTables {
    fn baseline(&self) -> Result<&RunRecord, Missing> {
        Ok(&self.baseline)
    }

    fn alone(&self, _: &str) -> Result<&RunRecord, Missing> {
        Ok(&self.baseline)
    }

    fn table(&self, run: &RunRecord, table: Table) -> io::Result<Vec<RecordBatch>> {
        let coflow = |coflow, cct_ps| CoflowRow {
            group: "g",
            coflow,
            flows: 1,
            bytes: Some(5),
            class_asked: 0,
            class_given: 0,
            start_ps: 0,
            cct_ps: Some(cct_ps),
            cos: "BE",
            measured: true,
        };
        let reading = |t_ps, metric, value| SeriesRow { t_ps, entity: "controller", metric, value };
        Ok(match table {
            Table::Flows => Rows::new(self.flows.source(), &self.flows.outcome).batches(table).collect(),
            // Ratios of 3 and 1: their mean is 2.
            Table::Coflows if run == &self.baseline => {
                vec![batch(&[coflow(1, 30), coflow(2, 7)], BTreeMap::new())]
            }
            Table::Coflows => vec![batch(&[coflow(1, 10), coflow(2, 7)], BTreeMap::new())],
            _ => {
                let rows = [
                    reading(10, "class_threshold_1", 1.0),
                    reading(20, "class_threshold_2", 71.0),
                    reading(30, "host_threshold_2", 72.0),
                    reading(40, "class_threshold_2", 100.0),
                    reading(50, "host_threshold_1", 3.0),
                    // After the end of the window.
                    reading(90, "class_threshold_2", 500.0),
                    reading(90, "host_threshold_2", 500.0),
                ];
                vec![batch(&rows, BTreeMap::new())]
            }
        })
    }

    fn threshold(&self, _: ThresholdSet, number: usize) -> Option<Threshold> {
        let (window, period) = ((Time(10), Time(80)), Some(Span(5)));
        (number <= 2).then_some(Threshold { start: Some(60.0), period, own: false, window })
    }
}

/// Half the distance between the roots of n (p - q)^2 = z^2 q (1 - q), where p is the part missed: Wilson's interval.
fn wilson(missed: f64, n: f64) -> f64 {
    let (p, z2) = (missed / n, 1.959_963_984_540_054_f64 * 1.959_963_984_540_054);
    let (a, b, c) = (n + z2, -(2.0 * n * p + z2), n * p * p);
    (b * b - 4.0 * a * c).sqrt() / (2.0 * a)
}

/// The value of each metric of `record(0)`, for the class, number or set beside it. Members of the summary of `small`
/// are numbered from 140, those of `large` from 180; the baseline's are larger by 5000.
fn expected_of_flows() -> Vec<(&'static str, &'static str, f64)> {
    let flows = vec![
        ("gain", "small", 5142.0 / 142.0),
        ("fct", "small", 142.0),
        ("fct_acked", "small", 149.0),
        ("fct_p50", "small", 145.0),
        ("fct_p95", "small", 146.0),
        ("fct_p99", "small", 147.0),
        ("fct_p999", "small", 148.0),
        ("cv", "small", 144.0),
        ("slowdown", "small", 151.0),
        ("slowdown_p50", "small", 152.0),
        ("slowdown_p95", "small", 153.0),
        ("slowdown_p99", "small", 154.0),
        ("slowdown_p999", "small", 155.0),
        ("fct_ratio", "small", 142.0 / 182.0),
        ("fct_bound", "small", 150.0),
        ("fct_over_bound", "small", 142.0 / 150.0),
        ("downgraded", "small", 163.0),
        ("upgraded", "small", 164.0),
        // Flows of 1000 and 1001 B are small; there are three more, of at most 1004 B.
        ("size", "small", 1000.5),
        ("size", "all", 1002.0),
        ("flow_share", "small", 140.0 / 180.0),
        ("flow_share", "large", 180.0 / 100.0),
        ("goodput", "small", 165e-9),
        ("delivery_rate", "small", 169e-9),
        ("timeouts", "small", 166.0),
        ("timed_out", "small", 167.0),
        ("tail_timed_out", "small", 168.0),
        ("deadline_miss_rate", "small", 159.0),
        ("deadline_meet_ratio", "small", 160.0),
        ("deadline_infeasible_rate", "small", 161.0),
        ("deadline_miss_share", "small", 157.0 / 180.0),
        ("deadline_jain", "small", 162.0),
        ("deadline_miss_half_width", "small", wilson(157.0, 156.0 + 157.0)),
    ];
    let thresholds = vec![
        ("class_threshold", "2", 100.0),
        ("class_threshold", "1", 1.0),
        ("host_threshold", "2", 72.0),
        // 71 is far from 100; it is near from 40 on, which is 30 after the start of the window, or six periods of 5.
        ("class_threshold_settling", "2", 6.0),
    ];
    let rates = vec![
        ("rate", "small", 542e-9),
        ("rate_ratio", "small", 542.0 / 582.0),
        ("host_rate", "small", 543e-9),
        ("jain", "small", 544.0),
        ("below_theta", "small", 545.0),
        ("promised_rate", "small", 546e-9),
        ("rate_of_promised", "small", 542.0 / 546.0),
        ("gap_closed", "small", 549.0),
        ("utility", "all", 0.5),
    ];
    [flows, thresholds, rates].concat()
}

/// The others.
fn expected_of_runs() -> Vec<(&'static str, &'static str, f64)> {
    let coflows = vec![
        ("cct", "small", 341.0),
        ("cct_p50", "small", 342.0),
        ("cct_p95", "small", 343.0),
        ("cct_p99", "small", 344.0),
        ("cct_gain", "small", 5341.0 / 341.0),
        ("coflow_speedup", "all", 2.0),
        ("coflows_finished", "small", 345.0 - 340.0),
        ("coflows_finished_gain", "small", 1.0),
    ];
    let shared = vec![
        ("effective_rate", "small", 740e-9),
        ("effective_share", "small", 740.0 / 8000.0),
        ("effective_settling", "small", 741.0 * 0.5 / 0.25),
        ("effective_settled", "small", 1.0),
        ("p_settling", "all", 33.5),
        ("p_settling_updates", "all", 31.0),
        ("p_settled", "all", 0.8),
        ("p_updates", "all", 23.0),
        ("p_updates_p50", "all", 24.0),
        ("p_drift", "all", 0.28),
        ("p_admit", "small", 0.6),
        ("o1", "all", 0.11),
        ("o2", "all", 0.12),
        ("queue_p99", "all", 13.0),
        ("queue_max", "all", 14.0),
        ("port_wait", "edge", 913.0),
        ("port_drop_rate", "edge", 914.0),
        ("port_utilization", "hosts", 905.0),
        ("port_busiest", "core", 926.0),
        ("port_max_queue", "switches", 937.0),
        ("port_queue_bound", "edge", 918.0),
        ("port_queue_of_bound", "edge", 919.0),
    ];
    let of_run = vec![
        ("token_used", "all", 0.101),
        ("token_wasted", "all", 0.102),
        ("token_dropped", "all", 0.104),
        ("token_expired", "all", 0.308),
        ("token_wire_share", "all", 0.08),
        ("data_wait", "all", 0.62),
        ("throughput", "all", 63.0),
        ("loss", "all", 0.64),
        ("reordering", "all", 0.25),
    ];
    let jobs = vec![
        ("job_time", "small", 1_141.0),
        ("job_exposed", "small", 1_142.0),
        ("job_slowdown", "small", 1_143.0),
        ("job_straggle", "small", 1_144.0),
        ("job_computing", "small", 1_145.0),
        // Every number here is another one, so that a share is no share.
        ("job_bubble", "small", -1_144.0),
        ("bus_bandwidth", "small", 1_146.0 / 1e9),
        ("iteration_time", "small", 1_148.0),
        ("iteration_p99", "small", 1_149.0),
        ("iteration_cv", "small", 1_150.0),
        // The run alone is that of the baseline here.
        ("job_over_alone", "small", 1_141.0 / 6_141.0),
        ("iteration_over_alone", "small", 1_148.0 / 6_148.0),
    ];
    [coflows, jobs, shared, of_run].concat()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

fn value(metric: &Metric, context: &Context<'_>) -> f64 {
    let value = match metric.quotient {
        Some(quotient) => quotient(context).map(|(of, over)| of / over),
        None => (metric.eval)(context),
    };
    value.unwrap_or_else(|missing| panic!("{} of {}: {missing:?}", metric.name, context.class))
}

#[test]
fn every_metric_is_the_number_that_its_meaning_states() {
    let stored = RunTables { baseline: record(5_000.0), flows: MadeUp::with_flows(5) };
    let record = record(0.0);
    let small = SizeClass {
        name: "small".into(),
        to: Some(1_001),
        over: Some("large".into()),
        asked: Some(2),
        ..SizeClass::all()
    };
    let large = SizeClass { name: "large".into(), above: Some(1_001), ..SizeClass::all() };
    let mut without_asked = [small.clone(), large.clone()];
    without_asked[0].asked = None;
    let with_asked = [small, large];
    for (name, class, expected) in [expected_of_flows(), expected_of_runs()].concat() {
        let metric = Metric::named(name).unwrap();
        // Flows of the table ask for class 1.
        let classes = if name == "size" { &without_asked } else { &with_asked };
        let found = value(metric, &Context { record: &record, class, classes, stored: &stored });
        assert!(near(found, expected), "{name}.{class} is {found}, not {expected}");
        let summary = record.summary.get(class);
        if let Some(tuned) = metric.tuned {
            assert_eq!(summary.and_then(tuned), Some(found), "{name}.{class}, tuned");
        }
    }
    let untested: Vec<&str> = Metric::all()
        .map(|metric| metric.name)
        .filter(|name| {
            ![expected_of_flows(), expected_of_runs()].concat().iter().any(|(tested, ..)| tested == name)
        })
        .collect();
    assert_eq!(untested, [""; 0], "metrics without a line in `expected`");
}

#[test]
fn metrics_over_time_are_those_of_the_bins_in_their_unit() {
    let stored = RunTables { baseline: record(5_000.0), flows: MadeUp::with_flows(1) };
    let record = record(0.0);
    let small = [SizeClass { name: "small".into(), asked: Some(2), to: Some(9), ..SizeClass::all() }];
    let bins = |every, values: &[Option<f64>]| Bins { every, values: values.to_vec() };
    let expected = [
        ("rate", "small", bins(0.25, &[Some(1.0), None, Some(3.0)])),
        ("utility", "all", bins(0.25, &[Some(9.0), Some(0.5), None, Some(0.7)])),
        ("effective_rate", "small", bins(0.5, &[Some(2.0), Some(4.0)])),
        ("p_admit", "small", bins(0.5, &[Some(0.3), Some(0.4), Some(0.6)])),
    ];
    for (name, class, expected) in &expected {
        let over_time = Metric::named(name).unwrap().over_time.unwrap();
        let context = Context { record: &record, class, classes: &small, stored: &stored };
        assert_eq!(over_time(&context).as_ref(), Ok(expected), "{name}");
    }
    let drawn: Vec<&str> = Metric::all().filter(|m| m.over_time.is_some()).map(|m| m.name).collect();
    assert_eq!(drawn.len(), expected.len(), "{drawn:?}");
}

#[test]
fn a_metric_of_one_flow_is_that_of_its_row() {
    // Flow 2 has 1002 B, takes 2074 ps and 100 ps more until it is acknowledged; alone it would take 1000 ps.
    let mut flows = MadeUp::with_flows(3);
    flows.outcome.flows.edit(2, |flow| (flow.timeouts, flow.missing) = (4, 2));
    let batches: Vec<RecordBatch> = Rows::new(flows.source(), &flows.outcome).batches(Table::Flows).collect();
    let rows = FlowRow::read(&batches[0]).unwrap();
    let expected = [
        ("fct", 2074e-12),
        ("slowdown", 2.074),
        ("size", 1002.0),
        // 1000 B that arrived in 2074 ps.
        ("goodput", 8000.0 / 2074e-12 / 1e9),
        ("timeouts", 4.0),
    ];
    for (name, expected) in expected {
        let found = Metric::named(name).and_then(|metric| metric.of_flow?(&rows[2])).unwrap();
        assert!(near(found, expected), "{name} is {found}, not {expected}");
    }
    let of_flows: Vec<&str> = Metric::all().filter(|m| m.of_flow.is_some()).map(|m| m.name).collect();
    assert_eq!(of_flows.len(), expected.len(), "{of_flows:?}");
    let stored = RunTables { baseline: record(0.0), flows };
    let record = record(0.0);
    let context = |class| Context { record: &record, class, classes: &[], stored: &stored };
    let of = |name: &str| value(Metric::named(name).unwrap(), &context("flow2"));
    assert!(near(of("fct"), 2074e-12) && near(of("fct_acked"), 2174e-12) && near(of("fct_bound"), 1e-9));
    assert!(near(of("slowdown_p99"), 2.074) && near(of("fct_p50"), 2074e-12) && of("cv") == 0.0);
    // What has no meaning for one flow, and a flow that is not there, have no value.
    let none = [
        ("goodput", "flow2"),
        ("delivery_rate", "flow2"),
        ("timed_out", "flow2"),
        ("fct", "flow3"),
        ("fct", "flowx"),
    ];
    for (name, class) in none {
        assert!((Metric::named(name).unwrap().eval)(&context(class)).is_err(), "{name}.{class}");
    }
}
