//! Costs of priorities at one port (PrioPlus §2), and its queue length. O1 is the capacity that lower classes use while
//! a higher class is backlogged; O2 is the capacity that is idle while any class is backlogged.
//!
//! ```text
//! bin        interval between two samples of the port, inside the measured window
//! class c    is backlogged in a bin if a flow of c whose path includes the port is active throughout it:
//!            start <= begin of the bin,  end of the bin <= start + FCT (or its abort)
//! O1         sum over bins with two backlogged classes of the bytes of flows' classes below the best backlogged one
//!            / capacity of the link in these bins
//! O2         sum over bins with a backlogged class of (capacity of the link - bytes of all classes)
//!            / capacity of the link in these bins
//! ```
//!
//! Bytes are counted on the wire, in the bin in which a packet's transmission starts. The class of a flow is that of
//! its first packet. If packets of a flow take several paths, or classes change as flows send, there is no single port
//! or class, and no value (docs/assumptions.md#o1-o2).

use std::collections::BTreeMap;

use priolane_core::endpoint::{Control, FlowSpec};
use priolane_core::ids::{CLASSES, Class, ClassSet, FlowId, LinkId};
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{FlowRecord, Outcome, StartTime};
use priolane_sim::scenario::ScenarioSpec;

use super::metric::{Context, Metric, Missing, Scope, Unit};
use super::{PerMille, percentile};
use priolane_results::ports::port_names;
use priolane_results::summary::OrderRecord;

const OF_PORT: Metric = Metric { scope: Scope::All("all classes share the port"), ..Metric::OF_FLOWS };

/// Costs of priorities at a port, and its queue length.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "o1",
        meaning: "Part of the line that lower classes take while a higher class waits",
        unit: Unit::Part,
        eval: |c| of(c, |port| port.o1),
        ..OF_PORT
    },
    Metric {
        name: "o2",
        meaning: "Part of the line that is idle while any class waits",
        unit: Unit::Part,
        eval: |c| of(c, |port| port.o2),
        ..OF_PORT
    },
    Metric {
        name: "queue_p99",
        meaning: "99th percentile of the queue in the measured window",
        unit: Unit::Bytes,
        eval: |c| of(c, |port| Some(port.queue_p99_bytes? as f64)),
        ..OF_PORT
    },
    Metric {
        name: "queue_max",
        meaning: "Largest reading of the queue in the measured window",
        unit: Unit::Bytes,
        eval: |c| of(c, |port| Some(port.queue_max_bytes? as f64)),
        ..OF_PORT
    },
];

fn of(context: &Context, value: fn(&OrderRecord) -> Option<f64>) -> Result<f64, Missing> {
    context.of_run(|run| value(run.order.as_ref()?))
}

/// The interval in which a flow of a class has data to send.
#[derive(Clone, Copy, Debug)]
struct Open {
    class: Class,
    from: Time,
    until: Time,
}

/// Computes the costs at `port`, or by default at the switch port with the highest utilization; `None` without samples
/// or if packets are sprayed.
pub fn order(
    scenario: &ScenarioSpec,
    outcome: &Outcome,
    port: Option<LinkId>,
    window: (Time, Time),
) -> Option<OrderRecord> {
    let every = scenario.sample_every?;
    let topology = &scenario.topology;
    if topology.path_choice.sprays() || scenario.flows.is_empty() {
        return None;
    }
    let link = port.or_else(|| busiest(scenario, outcome))?;
    let begin = Time(window.0.0.div_ceil(every.0) * every.0);
    let end = window.1.min(outcome.stopped_at);
    let bins = Bins { begin, every, count: (end.since(begin).0 / every.0) as usize };
    let backlogged = bins.backlogged(&opens(scenario, outcome, link));
    let classes = backlogged.iter().fold(0, |all, classes| all | classes.0);
    let mut sent = vec![[0; CLASSES]; bins.count];
    let mut queued = vec![0; bins.count];
    for sample in outcome.samples.ports.iter().filter(|sample| sample.link == link) {
        if let Some(bin) = bins.before(sample.at).and_then(|bin| sent.get_mut(bin)) {
            bin[0] = sample.sent_bytes;
        }
        if let Some(bin) = bins.before(sample.at).and_then(|bin| queued.get_mut(bin)) {
            *bin = sample.queued_bytes;
        }
    }
    for sample in outcome.samples.classes.iter().filter(|sample| sample.link == link) {
        if let Some(bin) = bins.before(sample.at).and_then(|bin| sent.get_mut(bin)) {
            bin[usize::from(sample.class)] = sample.sent_bytes;
            bin[0] -= sample.sent_bytes;
        }
    }
    let line = topology.links[link.index()].rate.bps() as f64 / 8.0 * every.as_secs_f64();
    let (mut contended, mut wanted, mut taken, mut idle) = (0_u64, 0_u64, 0.0, 0.0);
    for (own, bytes) in backlogged.iter().zip(&sent) {
        let Some(best) = own.iter().next() else { continue };
        wanted += 1;
        idle += line - bytes.iter().sum::<u64>() as f64;
        if own.iter().count() > 1 {
            contended += 1;
            let lower = ClassSet(classes).iter().filter(|&class| class > best);
            taken += lower.map(|class| bytes[usize::from(class)]).sum::<u64>() as f64;
        }
    }
    queued.sort_unstable();
    let part = |bytes: f64, bins: u64| (bins > 0).then(|| bytes / (line * bins as f64));
    Some(OrderRecord {
        port: port_names(topology)[link.index()].clone(),
        contended,
        o1: part(taken, contended),
        wanted,
        o2: part(idle, wanted),
        queue_p99_bytes: percentile(&queued, PerMille(990)),
        queue_max_bytes: queued.last().copied(),
    })
}

/// The bins of a window.
#[derive(Clone, Copy, Debug)]
struct Bins {
    begin: Time,
    every: Span,
    count: usize,
}

impl Bins {
    /// Returns the bin that ends with a sample at `at`.
    fn before(&self, at: Time) -> Option<usize> {
        let since = at.0.checked_sub(self.begin.0)?;
        (since / self.every.0).checked_sub(1).map(|bin| bin as usize)
    }

    /// Returns for each bin the classes with a flow that is active throughout the bin.
    fn backlogged(&self, opens: &[Open]) -> Vec<ClassSet> {
        let mut changes = vec![[0_i64; CLASSES]; self.count + 1];
        for open in opens {
            let first = (open.from.since(self.begin).0.div_ceil(self.every.0) as usize).min(self.count);
            let end = ((open.until.since(self.begin).0 / self.every.0) as usize).min(self.count);
            if first < end {
                changes[first][usize::from(open.class)] += 1;
                changes[end][usize::from(open.class)] -= 1;
            }
        }
        let mut open = [0_i64; CLASSES];
        let mut classes = |change: &[i64; CLASSES]| {
            open.iter_mut().zip(change).for_each(|(open, change)| *open += change);
            let is_open = |&class: &Class| open[usize::from(class)] > 0;
            (0..CLASSES as Class).filter(is_open).fold(ClassSet::NONE, ClassSet::with)
        };
        changes[..self.count].iter().map(&mut classes).collect()
    }
}

/// Returns the switch port with the highest utilization.
fn busiest(scenario: &ScenarioSpec, outcome: &Outcome) -> Option<LinkId> {
    let topology = &scenario.topology;
    let mut bytes = vec![0_u64; topology.links.len()];
    outcome.ports.iter().for_each(|port| bytes[port.link.index()] += port.bytes);
    let of_switch = |&link: &usize| topology.links[link].from.0 >= topology.hosts && bytes[link] > 0;
    let used = |link: usize| bytes[link] as f64 / topology.links[link].rate.bps() as f64;
    let all = (0..topology.links.len()).filter(of_switch);
    // The first one on ties.
    all.reduce(|best, link| if used(link) > used(best) { link } else { best }).map(|link| LinkId(link as u32))
}

/// Returns the flows whose path includes the port, with the intervals in which they have data to send.
fn opens(scenario: &ScenarioSpec, outcome: &Outcome, port: LinkId) -> Vec<Open> {
    let mut aborts: BTreeMap<FlowId, Time> = BTreeMap::new();
    for message in scenario.controls.iter().filter(|message| message.control == Control::Abort) {
        let at = aborts.entry(message.flow).or_insert(message.at);
        *at = message.at.min(*at);
    }
    let open = |(spec, record): (FlowSpec, FlowRecord)| {
        let crosses = || scenario.topology.path(spec.src, spec.dst, spec.entropy).contains(&port);
        if matches!(record.began, StartTime::Never | StartTime::NotIssued) || !crosses() {
            return None;
        }
        let done = record.fct.map_or(Time::NEVER, |fct| spec.start + fct);
        let until = aborts.get(&spec.id).map_or(done, |&at| at.min(done));
        Some(Open { class: record.class.first, from: spec.start, until })
    };
    scenario.flows.iter().zip(&outcome.flows).filter_map(open).collect()
}

#[cfg(test)]
mod tests {
    use priolane_core::ids::HostId;
    use priolane_sim::outcome::{ClassSample, Readings, Sample};
    use priolane_sim::scenario::ScheduledControl;

    use priolane_sim::topology::{PathChoice, Spray};

    use super::*;
    use priolane_testkit::made_up::MadeUp;

    const US: u64 = 1_000_000;

    /// 10 Gbps and bins of 1 us: 1250 bytes per bin. Class 0 is active for the first 4 us, class 1 until it is aborted
    /// at 9 us. The ACKs (class 15) of a flow in the opposite direction pass through the port.
    fn run() -> (MadeUp, LinkId) {
        let mut fixture = MadeUp::with_flows(3);
        let (high, low, back) = (0, 1, 2);
        let open = [(high, 0, Some(4)), (low, 1, None), (back, 15, None)];
        for (flow, class, fct) in open {
            fixture.scenario.flows.edit(flow, |flow| flow.start = Time::ZERO);
            fixture.outcome.flows.edit(flow, |flow| flow.class.first = class);
            fixture.outcome.flows.edit(flow, |flow| flow.fct = fct.map(|us| Span(us * US)));
        }
        fixture.scenario.flows.edit(back, |flow| (flow.src, flow.dst) = (HostId(1), HostId(0)));
        let abort = ScheduledControl { at: Time(9 * US), flow: FlowId(low as u32), control: Control::Abort };
        fixture.scenario.controls = vec![abort];
        fixture.scenario.sample_every = Some(Span(US));
        fixture.outcome.stopped_at = Time(10 * US);
        let port = *fixture.scenario.topology.path(HostId(0), HostId(1), 0).last().unwrap();
        // By bin: bytes of classes 0, 1 and 15; there is no sample in the seventh.
        let bins = [
            (1, [1250, 0, 0]),
            (2, [1000, 250, 0]),
            (3, [1000, 0, 0]),
            (4, [1250, 0, 0]),
            (5, [0, 500, 0]),
            (6, [0, 1250, 0]),
            (8, [0, 1150, 100]),
            (9, [0, 1250, 0]),
            (10, [0, 0, 60]),
        ];
        let samples = &mut fixture.outcome.samples;
        *samples = Readings::default();
        for (at, [high, low, ack]) in bins {
            let (at, sent_bytes) = (Time(at * US), high + low + ack);
            let queued_bytes = 100 * high;
            samples.ports.push(Sample { at, link: port, queued_bytes, queued_packets: 0, sent_bytes });
            let of_class = |(class, sent_bytes)| ClassSample { at, link: port, class, sent_bytes };
            samples.classes.extend([(1, low), (15, ack)].into_iter().filter(|c| c.1 > 0).map(of_class));
        }
        (fixture, port)
    }

    #[test]
    fn lower_classes_take_and_lines_idle_by_hand() {
        let (fixture, port) = run();
        let of = |from: u64, until: u64| {
            let window = (Time(from * US), Time(until * US));
            order(&fixture.scenario, &fixture.outcome, Some(port), window).unwrap()
        };
        // O1: 250 of four bins. O2: 250 of the third, 750 of the fifth, all of the seventh of nine bins: 2250 of 11250.
        let whole = of(0, 10);
        assert_eq!((whole.contended, whole.o1, whole.wanted, whole.o2), (4, Some(0.05), 9, Some(0.2)));
        // Of ten samples the tenth is the 99th percentile; the maximum of class 0 is 1,250 B, times 100 in this
        // fixture.
        assert_eq!((whole.queue_p99_bytes, whole.queue_max_bytes), (Some(125_000), Some(125_000)));
        assert_eq!(of(4, 7).queue_max_bytes, Some(0));
        // Bins 3 and 4 only; then the fifth alone, in which no higher class is backlogged.
        let two = of(2, 4);
        assert_eq!((two.contended, two.o1, two.o2), (2, Some(0.0), Some(0.1)));
        let alone = of(4, 5);
        assert_eq!((alone.contended, alone.o1, alone.o2), (0, None, Some(0.6)));
        assert_eq!((of(9, 10).wanted, of(9, 10).o2), (0, None));
    }

    #[test]
    fn without_readings_or_with_packets_on_several_paths_there_is_no_value() {
        let (mut fixture, port) = run();
        fixture.scenario.sample_every = None;
        let whole = (Time::ZERO, Time(10 * US));
        assert_eq!(order(&fixture.scenario, &fixture.outcome, Some(port), whole), None);
        fixture.scenario.sample_every = Some(Span(US));
        fixture.scenario.topology.path_choice = PathChoice::Sprayed(Spray::Random);
        assert_eq!(order(&fixture.scenario, &fixture.outcome, Some(port), whole), None);
    }
}
