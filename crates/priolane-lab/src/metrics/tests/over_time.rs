//! Rates, effective throughput and the costs of priorities of random runs against sums over every picosecond or bin.

use priolane_core::endpoint::Control;
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;
use priolane_sim::outcome::{ClassSample, FlowSample, Readings, Sample, StartTime};
use priolane_sim::scenario::ScheduledControl;

use super::effective::{Bottleneck, effective};
use super::order::order;
use super::rates::rates;
use super::*;

const NS: u64 = 1_000;

fn near(a: Option<f64>, b: Option<f64>, of: &str) {
    let same = match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1e-9),
        _ => a == b,
    };
    assert!(same, "{of}: {a:?} is not {b:?}");
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Endless flows of two hosts and two groups report at times that are not multiples of the bin.
#[test]
fn rates_are_bytes_between_reports_over_their_time_in_whole_bins_of_the_window() {
    let every = 100_u64;
    let mut stream = Stream::new(41, Purpose::Ties, 0);
    for round in 0..rounds(60, 2_000) {
        let count = 1 + stream.below(5) as usize;
        let mut fixture = MadeUp::with_flows(count as u32);
        fixture.groups = vec!["one".into(), "other".into()];
        fixture.scenario.rates_every = Some(Span(every));
        fixture.outcome.stopped_at = Time(600 + stream.below(500));
        let mut reports: Vec<Vec<(u64, u64)>> = Vec::new();
        for flow in 0..count {
            let (endless, src) = (stream.below(4) > 0, stream.below(2) as u16);
            let (start, group) = (stream.below(300), stream.below(2) as u16);
            fixture.scenario.flows.edit(flow, |spec| {
                (spec.src, spec.dst, spec.start) = (HostId(src), HostId(1 - src), Time(start));
                (spec.group, spec.size) = (group, (!endless).then_some(5));
            });
            let (mut at, mut bytes, mut own) = (start, 0, vec![(start, 0)]);
            while at < 1_000 && endless {
                at += 60 + stream.below(80);
                bytes += stream.below(50);
                own.push((at, bytes));
                let sample = FlowSample { at: Time(at), flow: FlowId(flow as u32), acked_bytes: bytes };
                fixture.outcome.flow_samples.push(sample);
            }
            reports.push(own);
        }
        fixture.outcome.flow_samples.sort_by_key(|sample| sample.at);
        let window = (Time(stream.below(450)), Time(450 + stream.below(500)));
        let other = SizeClass { name: "other".into(), group: vec!["other".into()], ..SizeClass::all() };
        let found = rates((&fixture.source(), &fixture.outcome), &[other], None, window);
        let specs: Vec<_> = fixture.scenario.flows.iter().collect();
        let endless: Vec<usize> = (0..count).filter(|&flow| specs[flow].size.is_none()).collect();
        let Some(found) = found else {
            assert!(endless.is_empty());
            continue;
        };
        // A bin counts if it lies inside the window; the last one may be left by a report up to a bin later.
        let inside = |bin: &usize| {
            let (from, to) = (*bin as u64 * every, (*bin as u64 + 2) * every);
            window.0.0 <= from && to <= window.1.0 && from + every <= fixture.outcome.stopped_at.0
        };
        let bins = (fixture.outcome.stopped_at.0 / every) as usize;
        let measured: Vec<usize> = (0..bins).filter(inside).collect();
        assert_eq!(found.end - found.first, measured.len(), "round {round}");
        // A later report of a bin takes the place of an earlier one.
        let rate = |flow: usize, bin: usize| -> Option<f64> {
            let mut pairs = reports[flow].windows(2).filter(|pair| (pair[0].0 / every) as usize == bin);
            pairs
                .next_back()
                .map(|pair| (pair[1].1 - pair[0].1) as f64 * 8e12 / (pair[1].0 - pair[0].0) as f64)
        };
        for (name, group) in [(ALL, None), ("other", Some(1))] {
            let of_class = |flow: &&usize| group.is_none_or(|group| specs[**flow].group == group);
            let own: Vec<usize> = endless.iter().filter(of_class).copied().collect();
            let of_flow = |&flow: &usize| {
                let rates: Vec<f64> = measured.iter().filter_map(|&bin| rate(flow, bin)).collect();
                Some((specs[flow].src.0, mean(&rates)?))
            };
            let means: Vec<(u16, f64)> = own.iter().filter_map(of_flow).collect();
            let values: Vec<f64> = means.iter().map(|own| own.1).collect();
            let of_host = |host: u16| -> Option<f64> {
                let own: Vec<f64> = means.iter().filter(|own| own.0 == host).map(|own| own.1).collect();
                (!own.is_empty()).then(|| own.iter().sum())
            };
            let hosts: Vec<f64> = [0, 1].into_iter().filter_map(of_host).collect();
            let class = &found.classes[name];
            assert_eq!((class.flows, class.hosts), (own.len() as u64, hosts.len() as u64));
            near(class.mean, mean(&values), "mean");
            near(class.host_mean, mean(&hosts), "mean of hosts");
            let (sum, squares) = values.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
            near(class.jain, (squares > 0.0).then(|| sum * sum / squares / values.len() as f64), "jain");
            assert_eq!(class.rates.len(), bins);
            for (bin, &found) in class.rates.iter().enumerate() {
                let rates: Vec<f64> = own.iter().filter_map(|&flow| rate(flow, bin)).collect();
                near(found, mean(&rates), "bin");
            }
        }
    }
}

/// The bits of a flow are spread by picosecond, and each picosecond of the window belongs to one bin.
#[test]
fn effective_throughput_is_what_timely_flows_bring_in_each_picosecond() {
    let mut stream = Stream::new(42, Purpose::Ties, 0);
    for round in 0..rounds(60, 2_000) {
        let count = stream.below(12) as usize;
        let mut fixture = MadeUp::with_flows(count as u32);
        fixture.outcome.stopped_at = Time(150 + stream.below(100));
        let (from, every) = (stream.below(60), 7 + stream.below(5));
        let window = (Time(from), Time(from + 100 + stream.below(60)));
        let bins = ((window.1.0.min(fixture.outcome.stopped_at.0) - from) / every) as usize;
        let mut bits = [vec![0.0; bins], vec![0.0; bins], vec![0.0; bins]];
        for flow in 0..count {
            let (start, fct) = (stream.below(180), 1 + stream.below(90));
            let (to_one, done) = (stream.below(3) > 0, stream.below(5) > 0);
            let (asked, given) = (stream.below(2) as u8, stream.below(2) as u8);
            let bytes = 1 + stream.below(40);
            let deadline = (stream.below(6) > 0).then(|| start + fct + stream.below(3) - 1);
            fixture.scenario.flows.edit(flow, |spec| {
                (spec.src, spec.dst) = if to_one { (HostId(0), HostId(1)) } else { (HostId(1), HostId(0)) };
                (spec.start, spec.size, spec.deadline) = (Time(start), Some(bytes), deadline.map(Time));
            });
            fixture.outcome.flows.edit(flow, |record| {
                record.fct = done.then_some(Span(fct));
                (record.class.asked, record.class.given) = (asked, given);
            });
            if to_one && done && deadline.is_some_and(|deadline| start + fct <= deadline) {
                let in_classes = [true, bytes <= 20 && asked == 1, given == 0];
                for at in (start..start + fct).filter(|&at| at >= from) {
                    let bin = ((at - from) / every) as usize;
                    for (own, _) in bits.iter_mut().zip(in_classes).filter(|own| own.1) {
                        if let Some(bin) = own.get_mut(bin) {
                            *bin += bytes as f64 * 8.0 / fct as f64;
                        }
                    }
                }
            }
        }
        let bottleneck = Bottleneck { hosts: vec![HostId(1)], every: Span(every) };
        let classes = [
            SizeClass { name: "small".into(), to: Some(20), asked: Some(1), ..SizeClass::all() },
            SizeClass { name: "given".into(), given: Some(0), ..SizeClass::all() },
        ];
        let ran = (&fixture.source(), &fixture.outcome);
        let found = effective(ran, &bottleneck, &classes, (window, Span(9)));
        assert_eq!((found.every_s, found.capacity_bps, found.rtt_s), (every as f64 / 1e12, 1e10, 9e-12));
        for (name, bits) in [ALL, "small", "given"].into_iter().zip(&bits) {
            let own = &found.classes[name];
            let bps: Vec<f64> = bits.iter().map(|bits| bits * 1e12 / every as f64).collect();
            assert_eq!(own.bins.len(), bins, "round {round}");
            own.bins.iter().zip(&bps).for_each(|(&a, &b)| near(Some(a), Some(b), name));
            near(own.end, mean(&bps[bins / 2..]), "second half");
        }
    }
}

/// Draws flows, some of which cross the port to host 1, and returns the class, start and end of those.
fn drawn_backlogs(fixture: &mut MadeUp, count: usize, stream: &mut Stream) -> Vec<(u8, u64, u64)> {
    let mut open: Vec<(u8, u64, u64)> = Vec::new();
    for flow in 0..count {
        let (start, lasts) = (stream.below(900) * NS, stream.below(1_200) * NS);
        let (class, crosses, began) = (stream.below(3) as u8, stream.below(4) > 0, stream.below(6) > 0);
        let (done, aborted) = (stream.below(3) > 0, stream.below(3) == 0);
        let ends = if crosses { (HostId(0), HostId(1)) } else { (HostId(1), HostId(0)) };
        fixture.scenario.flows.edit(flow, |spec| {
            (spec.src, spec.dst, spec.start) = (ends.0, ends.1, Time(start));
        });
        fixture.outcome.flows.edit(flow, |record| {
            record.fct = done.then_some(Span(lasts));
            record.class.first = class;
            record.began = if began { record.began } else { StartTime::Never };
        });
        let end = if done { start + lasts } else { u64::MAX };
        let mut aborts = Vec::new();
        for _ in 0..if aborted { 2 } else { 0 } {
            let at = Time(start + stream.below(1_000) * NS);
            let control = ScheduledControl { at, flow: FlowId(flow as u32), control: Control::Abort };
            fixture.scenario.controls.push(control);
            aborts.push(at.0);
        }
        if crosses && began {
            open.push((class, start, aborts.into_iter().chain([end]).min().unwrap()));
        }
    }
    open
}

/// The port of the 10 Gbit/s link to host 1 sends at most 125 bytes in a bin of 100 ns.
#[test]
fn costs_of_priorities_are_sums_over_the_bins_that_flows_fill() {
    let every = 100 * NS;
    let mut stream = Stream::new(43, Purpose::Ties, 0);
    for round in 0..rounds(60, 2_000) {
        let count = 1 + stream.below(5) as usize;
        let mut fixture = MadeUp::with_flows(count as u32);
        let port: LinkId = *fixture.scenario.topology.path(HostId(0), HostId(1), 0).last().unwrap();
        fixture.scenario.sample_every = Some(Span(every));
        fixture.outcome.stopped_at = Time((1_500 + stream.below(600)) * NS);
        let window = (Time(stream.below(500) * NS), Time((1_200 + stream.below(900)) * NS));
        let open = drawn_backlogs(&mut fixture, count, &mut stream);
        let begin = window.0.0.div_ceil(every) * every;
        let end = window.1.0.min(fixture.outcome.stopped_at.0);
        let (mut contended, mut wanted, mut taken, mut idle) = (0_u64, 0_u64, 0.0, 0.0);
        let mut queues = Vec::new();
        let mut samples = Readings::default();
        // By class, since classes that no flow of the port has count for nobody.
        let known: Vec<u8> =
            (0..3).filter(|class| is_ever_backlogged(&open, *class, (begin, end), every)).collect();
        for at in (1..=30).map(|bin| bin * every) {
            let sent: [u64; 3] = std::array::from_fn(|_| stream.below(40));
            let queued_bytes = stream.below(900);
            let sample = |link, factor: u64| Sample {
                at: Time(at),
                link,
                queued_bytes: factor * queued_bytes,
                queued_packets: 1,
                sent_bytes: factor * sent.iter().sum::<u64>(),
            };
            // Another port has other readings.
            samples.ports.extend([sample(port, 1), sample(LinkId(u32::from(port.0 == 0)), 7)]);
            let of_class = |class: u8| ClassSample {
                at: Time(at),
                link: port,
                class,
                sent_bytes: sent[usize::from(class)],
            };
            samples.classes.extend([1, 2].map(of_class));
            let from = at - every;
            if from < begin || at > end {
                continue;
            }
            queues.push(queued_bytes);
            let is_full = |class: &u8| open.iter().any(|own| own.0 == *class && own.1 <= from && at <= own.2);
            let backlogged: Vec<u8> = (0..3).filter(is_full).collect();
            let Some(best) = backlogged.first() else { continue };
            wanted += 1;
            idle += 125.0 - sent.iter().sum::<u64>() as f64;
            if backlogged.len() > 1 {
                contended += 1;
                taken += known
                    .iter()
                    .filter(|class| *class > best)
                    .map(|c| sent[usize::from(*c)] as f64)
                    .sum::<f64>();
            }
        }
        fixture.outcome.samples = samples;
        let found = order(&fixture.scenario, &fixture.outcome, Some(port), window).unwrap();
        assert_eq!((found.contended, found.wanted), (contended, wanted), "round {round}");
        near(found.o1, (contended > 0).then(|| taken / (125.0 * contended as f64)), "o1");
        near(found.o2, (wanted > 0).then(|| idle / (125.0 * wanted as f64)), "o2");
        queues.sort_unstable();
        assert_eq!(found.queue_max_bytes, queues.last().copied());
        // Of fewer than 100 readings, the 99th percentile is the largest.
        assert_eq!(found.queue_p99_bytes, queues.last().copied());
    }
}

/// Whether a flow of `class` fills a bin of the window.
fn is_ever_backlogged(open: &[(u8, u64, u64)], class: u8, (begin, end): (u64, u64), every: u64) -> bool {
    let bins = || (begin / every..end / every).map(|bin| bin * every);
    let fills = |own: &&(u8, u64, u64)| bins().any(|from| own.1 <= from && from + every <= own.2);
    open.iter().filter(|own| own.0 == class).any(|own| fills(&own))
}
