//! The outcome of a run as far as real hosts and switches know it, in the experiment's time.

use std::collections::{BTreeMap, HashMap};

use priolane_core::assign::DemotionThresholds;
use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{Class, LinkId};
use priolane_core::units::{Span, Time};
use priolane_lab::execute::Measurement;
use priolane_lab::plan::Run;
use priolane_linux::counters::QueueCount;
use priolane_linux::job::{ArrivedMessage, SchemeJob, SentMessage};
use priolane_linux::run::TestbedReport;
use priolane_linux::switch::PortCounts;
use priolane_results::record::MeasuredRecord;
use priolane_sim::outcome::{ClassSpan, FlowRecord, Outcome, PortClassRecord, PortQueue};
use priolane_sim::scenario::ScenarioSpec;

use super::admission::AdmissionOutcome;
use super::{clocks, traffic};

/// A nanosecond of a testbed in picoseconds of the experiment.
fn span(ns: u64, scale: u64) -> Span {
    Span(u64::try_from(u128::from(ns) * 1_000 / u128::from(scale.max(1))).unwrap_or(u64::MAX))
}

/// Returns the measurement of `run`, in the form of its tables.
pub(super) fn measurement(
    run: &Run,
    scenario: &ScenarioSpec,
    (scheme, scale): (&SchemeJob, u64),
    (measured, admission): (&TestbedReport, AdmissionOutcome),
) -> Measurement {
    let sent: HashMap<u32, &SentMessage> =
        measured.hosts.iter().flat_map(|host| &host.sent).map(|sent| (sent.id, sent)).collect();
    let arrived: HashMap<u32, &ArrivedMessage> =
        measured.hosts.iter().flat_map(|host| &host.arrived).map(|came| (came.id, came)).collect();
    let levels = scheme.class.demotion().unwrap_or(DemotionThresholds::FLAT);
    let record = |flow: FlowSpec| {
        let ends = (sent.get(&flow.id.0).copied(), arrived.get(&flow.id.0).copied());
        record(&flow, ends, &levels, scale)
    };
    let stopped_at = traffic::stopped_at(scenario, Time(span(measured.elapsed_ns, scale).0));
    let progress = measured.hosts.iter().flat_map(|host| &host.progress);
    let progress = progress.map(|flow| (flow.id, flow.bytes.as_slice()));
    let samples =
        run.experiment.rates_every.map(|every| traffic::samples(scenario, every, stopped_at, progress));
    let outcome = Outcome {
        flows: scenario.flows.iter().map(record).collect(),
        ports: ports(&measured.queues, scale),
        queues: longest_queues(measured),
        flow_samples: samples.unwrap_or_default(),
        admission: admission.accounts,
        notices: admission.notices,
        stopped_at,
        ..Outcome::default()
    };
    Measurement {
        outcome,
        on: MeasuredRecord {
            on: if measured.machines.is_empty() { "linux" } else { "machines" }.to_owned(),
            scale,
            machines: clocks::records(&measured.machines),
        },
        // The switches between machines are not of the run.
        drops: measured.machines.is_empty().then(|| measured.queues.iter().map(|queue| queue.dropped).sum()),
        marks: counted(measured, "marked"),
        warnings: warnings(run, measured, &sent, scale),
    }
}

/// Returns the sum of the counters of this name over all hosts.
fn counted(measured: &TestbedReport, name: &str) -> u64 {
    measured.hosts.iter().filter_map(|host| host.counts.get(name)).sum()
}

/// A flow. Its completion time begins where its message was handed over, or first held back, which is a little after the planned
/// start.
fn record(
    flow: &FlowSpec,
    (sent, arrived): (Option<&SentMessage>, Option<&ArrivedMessage>),
    levels: &DemotionThresholds,
    scale: u64,
) -> FlowRecord {
    let began = sent.map_or(0, |sent| sent.at_ns);
    let last = flow.size.unwrap_or(1).saturating_sub(1);
    let admitted = sent.and_then(|sent| sent.admitted);
    let given = admitted.map_or(flow.class, |admitted| admitted.class);
    let class = |level: u8| given.saturating_add(level) as Class;
    FlowRecord {
        fct: arrived.map(|arrived| span(arrived.at_ns.saturating_sub(began), scale)),
        fct_acked: sent.and_then(|sent| sent.acked_ns).map(|acked| span(acked.saturating_sub(began), scale)),
        class: ClassSpan {
            asked: flow.class,
            given,
            first: class(levels.level(0)),
            last: class(levels.level(last)),
        },
        retransmits: sent.map_or(0, |sent| sent.retransmits),
        timeouts: sent.map_or(0, |sent| sent.timeouts),
        missing: arrived.map_or(0, |arrived| arrived.missing),
        held: admitted.map_or(Span::ZERO, |admitted| span(admitted.held_ns, scale)),
        ..FlowRecord::default()
    }
}

/// The link that leaves an end of a cable: the first of a pair leaves its first end, and a host's first link the host.
fn link(cable: usize, end: usize) -> LinkId {
    LinkId(2 * cable as u32 + end as u32)
}

/// The longest queues of ports: of switches in user space, as no others know theirs.
fn longest_queues(measured: &TestbedReport) -> Vec<PortQueue> {
    let ports = measured.switches.iter().flat_map(|switch| &switch.ports);
    let queue = |port: &PortCounts| PortQueue {
        link: link(port.cable, port.end),
        peak_bytes: port.longest_queue,
        ..PortQueue::default()
    };
    ports.map(queue).collect()
}

/// The ports of switches; where they count by queues, what a queue counted is shown as of its best class.
fn ports(queues: &[QueueCount], scale: u64) -> Vec<PortClassRecord> {
    let mut records: BTreeMap<(u32, Class), PortClassRecord> = BTreeMap::new();
    for count in queues {
        let link = link(count.cable, count.end);
        let record = PortClassRecord {
            link,
            class: count.class,
            queue: count.queue,
            packets: count.packets,
            bytes: count.bytes,
            dropped: count.dropped,
            marked: count.marked,
            trimmed: count.trimmed,
            expired: count.expired,
            waited: count.waited_ps / scale.max(1),
            ..PortClassRecord::default()
        };
        if count.packets + count.dropped + count.expired > 0 {
            records.insert((link.0, count.class), record);
        }
    }
    records.into_values().collect()
}

/// Returns the warnings about a measurement.
fn warnings(
    run: &Run,
    measured: &TestbedReport,
    sent: &HashMap<u32, &SentMessage>,
    scale: u64,
) -> Vec<String> {
    let network = match (measured.machines.len(), measured.switches.len()) {
        (0, 0) => "with switches of the kernel".to_owned(),
        (0, _) => "with switches in user space".to_owned(),
        (machines, _) => format!(
            "on {machines} machines and the network between them, of whose queues and drops nothing is known"
        ),
    };
    let mut all =
        vec![format!("{}: measured on Linux at scale {scale} {network}, not simulated", run.scheme)];
    all.extend(clocks::warnings(measured, scale));
    let not_real_time = measured.hosts.iter().find_map(|host| host.not_real_time.as_deref());
    if let Some(why) = not_real_time {
        all.push(format!(
            "hosts were not real-time, and late by milliseconds where the machine is busy: {why}"
        ));
    }
    for switch in &measured.switches {
        if let Some(why) = &switch.not_real_time {
            all.push(format!(
                "switch {} was not real-time, and late where the machine is busy: {why}",
                switch.switch
            ));
        }
        all.extend(
            switch.counts.warnings().into_iter().map(|what| format!("switch {}: {what}", switch.switch)),
        );
    }
    let failed: Vec<&str> = sent.values().filter_map(|sent| sent.failed.as_deref()).collect();
    if let Some(first) = failed.first() {
        all.push(format!("{} messages failed, such as: {first}", failed.len()));
    }
    for (name, what) in [
        ("lost_in_socket", "packets were lost in the sockets of hosts, which no switch does"),
        ("malformed", "packets were none of a transport"),
    ] {
        let count = counted(measured, name);
        if count > 0 {
            all.push(format!("{count} {what}"));
        }
    }
    let wrong: u64 = measured.hosts.iter().map(|host| host.wrong).sum();
    if wrong > 0 {
        all.push(format!("{wrong} messages arrived with other bytes than were sent"));
    }
    all
}
