//! Effective throughput over time: the throughput of flows that meet their deadlines, through a declared bottleneck:
//! the links to the hosts of a group (Firapam §V-D).
//!
//! ```text
//! throughput   a flow that meets its deadline contributes its payload, spread evenly from its start to the arrival of
//!              its last byte
//! settled      the first bin from which the moving mean over the last twentieth of the window stays within a tenth of
//!              the mean of the window's second half
//! ```
//!
//! Bins are counted from the start of the measured window (docs/assumptions.md#effective).

use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;

use super::metric::{Bins, Context, Metric, Missing, Need, SHARE, Scope, Unit, gbps};
use super::{Payer, SizeClass};
use priolane_results::flows::met_deadline;
use priolane_results::source::Source;
use priolane_results::summary::{ClassThroughput, EffectiveRecord};

const OF_BOTTLENECK: Metric =
    Metric { scope: Scope::Classes, needs: &[Need::Bottleneck], ..Metric::OF_FLOWS };

/// Effective throughput over the second half of the measured window.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "effective_rate",
        meaning: "Payload of flows that meet their deadlines through the bottleneck, in the second half of the window",
        unit: Unit::Gbps,
        eval: |c| of(c, |_, own| gbps(own.end)),
        over_time: Some(over_time),
        ..OF_BOTTLENECK
    },
    Metric {
        name: "effective_share",
        meaning: "The same over what the bottleneck can carry",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |all, own| Some(own.end? / all.capacity_bps)),
        ..OF_BOTTLENECK
    },
    Metric {
        name: "effective_settling",
        meaning: "Round trips until the effective throughput has settled",
        eval: |c| of(c, |all, own| Some(own.settled? as f64 * all.every_s / all.rtt_s)),
        ..OF_BOTTLENECK
    },
    Metric {
        name: "effective_settled",
        meaning: "Part of the runs whose effective throughput has settled within the window",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |_, own| own.end.map(|_| f64::from(u8::from(own.settled.is_some())))),
        ..OF_BOTTLENECK
    },
];

type Value = fn(&EffectiveRecord, &ClassThroughput) -> Option<f64>;

fn of(context: &Context, value: Value) -> Result<f64, Missing> {
    let all = context.record.effective.as_ref().ok_or(Missing::Seed("no bottleneck is declared"))?;
    let own = all.classes.get(context.class).and_then(|own| value(all, own));
    own.ok_or(Missing::Seed("no value, or it has not converged"))
}

fn over_time(context: &Context) -> Result<Bins, Missing> {
    let bins = |all: &EffectiveRecord| {
        let own = all.classes.get(context.class)?.bins.iter();
        Some(Bins { every: all.every_s, values: own.map(|&bps| gbps(Some(bps))).collect() })
    };
    context.record.effective.as_ref().and_then(bins).ok_or(Missing::OverTime)
}

/// The declared bottleneck of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// The hosts whose downlinks form the bottleneck.
    pub hosts: Vec<HostId>,
    /// Length of a bin, above zero.
    pub every: Span,
}

/// Relative tolerance of settled bins around the mean of the second half.
const BAND: f64 = 0.1;

/// The moving mean covers this fraction of the window: 1 / 20.
const MEANS: usize = 20;

/// Computes the effective throughput of a run inside `window`; `rtt` is the base RTT.
pub fn effective(
    (source, outcome): (&Source, &Outcome),
    bottleneck: &Bottleneck,
    classes: &[SizeClass],
    (window, rtt): ((Time, Time), Span),
) -> EffectiveRecord {
    let end = window.1.min(outcome.stopped_at);
    let bins = (end.since(window.0).0 / bottleneck.every.0) as usize;
    let of_class = |class: &SizeClass| {
        let mut bits = vec![0.0; bins];
        for (spec, record) in source.scenario.flows.iter().zip(&outcome.flows) {
            let asked = class.asked.is_none_or(|asked| asked == record.class.asked);
            let given = class.given.is_none_or(|given| given == record.class.given);
            let own = asked && given && class.contains(spec.size, Payer::of(&spec, source));
            let timely = met_deadline(&spec, &record, outcome.stopped_at) == Some(true);
            if let (true, Some(bytes), Some(fct)) =
                (own && timely && bottleneck.hosts.contains(&spec.dst), spec.size, record.fct)
            {
                let lasts = (spec.start.0 as f64 - window.0.0 as f64, fct.0 as f64);
                spread(&mut bits, lasts, (bytes as f64 * 8.0, bottleneck.every.0 as f64));
            }
        }
        let every = bottleneck.every.as_secs_f64();
        bits.iter_mut().for_each(|bits| *bits /= every);
        (class.name.clone(), throughput(bits))
    };
    let topology = &source.scenario.topology;
    let all = SizeClass::all();
    EffectiveRecord {
        every_s: bottleneck.every.as_secs_f64(),
        capacity_bps: topology.hosts_capacity(bottleneck.hosts.iter().copied()),
        rtt_s: rtt.as_secs_f64(),
        classes: std::iter::once(&all).chain(classes).map(of_class).collect(),
    }
}

/// Adds `amount`, spread evenly over `lasts` from `start`, to bins of length `every` that start at 0.
fn spread(bins: &mut [f64], (start, lasts): (f64, f64), (amount, every): (f64, f64)) {
    let (from, to) = (start.max(0.0), (start + lasts).min(every * bins.len() as f64));
    if to <= from || lasts <= 0.0 {
        return;
    }
    let first = (from / every) as usize;
    for (k, bin) in bins.iter_mut().enumerate().skip(first).take_while(|(k, _)| *k as f64 * every < to) {
        let inside = to.min((k + 1) as f64 * every) - from.max(k as f64 * every);
        *bin += amount * inside.max(0.0) / lasts;
    }
}

/// Returns the throughput of a class with these bins.
fn throughput(bins: Vec<f64>) -> ClassThroughput {
    let half = bins.get(bins.len() / 2..).unwrap_or(&[]);
    let end = (!half.is_empty()).then(|| half.iter().sum::<f64>() / half.len() as f64);
    let settled = end.filter(|&end| end > 0.0).and_then(|end| settled(&bins, end));
    ClassThroughput { bins, end, settled }
}

/// Returns the first bin from which all moving means stay within the band around `end`.
fn settled(bins: &[f64], end: f64) -> Option<usize> {
    let width = (bins.len() / MEANS).max(1);
    let mean = |k: usize| {
        let of = &bins[(k + 1).saturating_sub(width)..=k];
        of.iter().sum::<f64>() / of.len() as f64
    };
    let outside = (0..bins.len()).rfind(|&k| (mean(k) - end).abs() > BAND * end);
    let first = outside.map_or(0, |k| k + 1);
    (first < bins.len()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_counts_in_each_bin_for_as_long_as_it_lasts_there() {
        let mut bins = [0.0; 4];
        // 100 from 5 to 25: a quarter, a half and a quarter in bins of 10.
        spread(&mut bins, (5.0, 20.0), (100.0, 10.0));
        assert_eq!(bins, [25.0, 50.0, 25.0, 0.0]);
        // From -10 to 10 and from 35 to 55: half of each is outside.
        spread(&mut bins, (-10.0, 20.0), (8.0, 10.0));
        spread(&mut bins, (35.0, 20.0), (8.0, 10.0));
        assert_eq!(bins, [29.0, 50.0, 25.0, 2.0]);
        spread(&mut bins, (40.0, 10.0), (8.0, 10.0));
        spread(&mut bins, (-20.0, 20.0), (8.0, 10.0));
        assert_eq!(bins, [29.0, 50.0, 25.0, 2.0]);
    }

    #[test]
    fn throughput_settles_where_moving_means_leave_the_band_for_the_last_time() {
        // 40 bins, moving means of 2, the second half is 10: 9 to 11 is settled.
        let mut bins = vec![10.0; 40];
        bins[..5].fill(2.0);
        // Moving means are 2 in bin 4, 6 in bin 5 and 10 in bin 6.
        let of = |bins: &[f64]| throughput(bins.to_vec());
        assert_eq!((of(&bins).settled, of(&bins).end), (Some(6), Some(10.0)));
        bins[12] = 13.0; // means of 11.5 in bins 12 and 13
        assert_eq!(of(&bins).settled, Some(14));
        assert_eq!(of(&[10.0; 40]).settled, Some(0));
        assert_eq!((of(&[0.0; 40]).settled, of(&[]).end), (None, None));
        let never: Vec<f64> = (0..40).map(|k| if k % 8 < 4 { 5.0 } else { 15.0 }).collect();
        assert_eq!(of(&never).settled, None);
    }
}
