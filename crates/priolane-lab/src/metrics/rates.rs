//! Rates and utility of the long-lived flows of a run over time, from reports of senders (`rates_every`).
//!
//! ```text
//! rate        payload of a flow acknowledged between two of its reports, or its start and the first one, divided by
//!             the time between them. Includes SACK blocks: cumulative ACKs alone would acknowledge much at once when
//!             a loss is repaired, and a bin would exceed the link rate
//! bin k       report intervals that begin in [k, k + 1) rates_every, so that each flow has one rate in each bin
//! utility     sum of w_i U(x_i) of a bin in which all flows have a rate, relative to that of the optimum
//! means       over bins inside the measured window
//! gap closed  1 - sum |mean - best| / sum |equal - best| over the flows of a class: 0 if shared equally, 1 if optimal
//! ```

use std::collections::BTreeMap;

use priolane_core::flows::FlowList;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::Outcome;

use super::metric::{Bins, Context, Metric, Missing, Need, SHARE, Scope, Unit, gbps, parts};
use super::{ALL, Payer, SizeClass, jain};
use crate::optimum::{Distance, Optimum, gap_closed};
use priolane_results::source::Source;
use priolane_results::summary::{ClassRates, OptimumRecord, RateRecord};

const OF_RATES: Metric = Metric { scope: Scope::Classes, ..Metric::OF_FLOWS };

/// Rates of long-lived flows, in payload.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "rate",
        meaning: "Mean payload rate of a flow in the measured window",
        unit: Unit::Gbps,
        eval: |c| of_class(c, |own| gbps(own.mean)),
        over_time: Some(|c| bins(c, |rates, class| Some(by_bin(rates.classes.get(class)?)))),
        ..OF_RATES
    },
    Metric {
        name: "rate_ratio",
        meaning: "Mean rate of the class over that of the class that it is `over`",
        needs: &[Need::Over],
        quotient: Some(ratio),
        ..OF_RATES
    },
    Metric {
        name: "host_rate",
        meaning: "Mean sum of the rates of a host's flows",
        unit: Unit::Gbps,
        eval: |c| of_class(c, |own| gbps(own.host_mean)),
        ..OF_RATES
    },
    Metric {
        name: "jain",
        meaning: "Jain's fairness index of the rates",
        range: SHARE,
        eval: |c| of_class(c, |own| own.jain),
        ..OF_RATES
    },
    // Fraction of (flow, bin) pairs below the flow's minimum rate.
    Metric {
        name: "below_theta",
        meaning: "Part of flows and bins in which the rate is below the minimum rate",
        unit: Unit::Part,
        eval: |c| of_class(c, |own| own.below_theta),
        ..OF_RATES
    },
    Metric {
        name: "promised_rate",
        meaning: "Weighted max-min rate with minimum rates",
        unit: Unit::Gbps,
        eval: |c| of_class(c, |own| gbps(own.promised)),
        ..OF_RATES
    },
    Metric {
        name: "rate_of_promised",
        meaning: "Rate over the promised rate",
        quotient: Some(of_promised),
        ..OF_RATES
    },
    // Position between equal sharing (0) and the optimum (1); below 0, the rates are further from the optimum than
    // equal sharing.
    Metric {
        name: "gap_closed",
        meaning: "Part of the way from equal sharing (0) to the optimum (1)",
        range: (f64::NEG_INFINITY, 1.0),
        eval: |c| of_class(c, |own| own.gap_closed),
        ..OF_RATES
    },
    Metric {
        name: "utility",
        meaning: "Sum of utilities over that of the optimum",
        range: (f64::NEG_INFINITY, f64::INFINITY),
        scope: Scope::All("the optimum is computed for all flows together"),
        eval: |c| mean_utility(recorded(c)?).filter(|_| c.is_all()).ok_or(NONE),
        over_time: Some(|c| bins(c, |rates, class| (class == ALL).then(|| rates.utility.clone()))),
        ..OF_RATES
    },
];

const NONE: Missing = Missing::Seed("no value");

fn recorded<'a>(context: &Context<'a>) -> Result<&'a RateRecord, Missing> {
    let none = || Missing::Scheme("no flow is endless, or `rates_every` is not set".to_owned());
    context.record.rates.as_ref().ok_or_else(none)
}

fn of_class(context: &Context, value: fn(&ClassRates) -> Option<f64>) -> Result<f64, Missing> {
    recorded(context)?.classes.get(context.class).and_then(value).ok_or(NONE)
}

fn ratio(context: &Context) -> Result<(f64, f64), Missing> {
    let rates = recorded(context)?;
    let mean = |class: &str| rates.classes.get(class)?.mean;
    parts(mean(context.class), context.over().and_then(mean), NONE)
}

fn of_promised(context: &Context) -> Result<(f64, f64), Missing> {
    let own = recorded(context)?.classes.get(context.class).ok_or(NONE)?;
    parts(own.mean, own.promised, NONE)
}

fn by_bin(own: &ClassRates) -> Vec<Option<f64>> {
    own.rates.iter().map(|&rate| gbps(rate)).collect()
}

type ByBin = fn(&RateRecord, &str) -> Option<Vec<Option<f64>>>;

fn bins(context: &Context, values: ByBin) -> Result<Bins, Missing> {
    let rates = recorded(context)?;
    let values = values(rates, context.class).ok_or(Missing::OverTime)?;
    Ok(Bins { every: rates.every_s, values })
}

/// Computes the rates of a run, if its senders report and some flow is long-lived; `window` is the measured window.
pub fn rates(
    (source, outcome): (&Source, &Outcome),
    classes: &[SizeClass],
    optimum: Option<&Optimum>,
    window: (Time, Time),
) -> Option<RateRecord> {
    let every = source.scenario.rates_every?;
    let endless: Vec<usize> =
        (0..source.scenario.flows.len()).filter(|&f| source.scenario.flows.size(f).is_none()).collect();
    if endless.is_empty() {
        return None;
    }
    let bins = (outcome.stopped_at.0 / every.0) as usize;
    let first = window.0.0.div_ceil(every.0) as usize;
    // A flow's bin may end up to one bin length after the bin of the clock.
    let end = ((window.1.0 / every.0) as usize).saturating_sub(1).clamp(first, bins.max(first));
    let table = Table { by_flow: by_flow(outcome, every, &source.scenario.flows), first, end, bins };
    let all = SizeClass::all();
    let record = |class: &SizeClass| {
        let own = |&&flow: &&usize| {
            let spec = source.scenario.flows.at(flow);
            class.name == ALL || class.contains(None, Payer::of(&spec, source))
        };
        let flows: Vec<usize> = endless.iter().filter(own).copied().collect();
        (class.name.clone(), table.class(source, &flows, optimum))
    };
    Some(RateRecord {
        every_s: every.as_secs_f64(),
        first,
        end,
        classes: std::iter::once(&all).chain(classes).map(record).collect(),
        utility: optimum.map_or_else(Vec::new, |optimum| table.utility(optimum)),
        optimum: optimum.map(|optimum| OptimumRecord {
            value: optimum.best.value,
            gap: optimum.best.gap,
            overbooked: optimum.overbooked.len(),
        }),
    })
}

/// Returns by flow its rate in each bin that has one.
fn by_flow(outcome: &Outcome, every: Span, flows: &FlowList) -> Vec<BTreeMap<usize, f64>> {
    let mut last: Vec<(Time, u64)> = flows.iter().map(|flow| (flow.start, 0)).collect();
    let mut rates = vec![BTreeMap::new(); flows.len()];
    for report in &outcome.flow_samples {
        let flow = report.flow.index();
        let (at, bytes) = std::mem::replace(&mut last[flow], (report.at, report.acked_bytes));
        if report.at > at {
            let bits = 8.0 * report.acked_bytes.saturating_sub(bytes) as f64;
            rates[flow].insert((at.0 / every.0) as usize, bits / report.at.since(at).as_secs_f64());
        }
    }
    rates
}

struct Table {
    by_flow: Vec<BTreeMap<usize, f64>>,
    first: usize,
    end: usize,
    bins: usize,
}

impl Table {
    /// Returns the rates of a flow inside the measured window.
    fn measured(&self, flow: usize) -> impl Iterator<Item = f64> + '_ {
        self.by_flow[flow].range(self.first..self.end).map(|(_, &rate)| rate)
    }

    fn class(&self, source: &Source, flows: &[usize], optimum: Option<&Optimum>) -> ClassRates {
        let specs = &source.scenario.flows;
        let means: Vec<(usize, f64)> =
            flows.iter().filter_map(|&flow| Some((flow, mean(self.measured(flow))?))).collect();
        let mut hosts: BTreeMap<u16, f64> = BTreeMap::new();
        for &(flow, rate) in &means {
            *hosts.entry(specs.at(flow).src.0).or_default() += rate;
        }
        let bin = |bin: usize| mean(flows.iter().filter_map(|&flow| self.by_flow[flow].get(&bin).copied()));
        let of_optimum = |rates: fn(&Optimum) -> &[f64]| {
            let optimum = optimum?;
            let own = optimum.flows.iter().zip(rates(optimum)).filter(|(flow, _)| flows.contains(flow));
            mean(own.map(|(_, &rate)| rate))
        };
        ClassRates {
            flows: flows.len() as u64,
            hosts: hosts.len() as u64,
            rates: (0..self.bins).map(bin).collect(),
            mean: mean(means.iter().map(|&(_, rate)| rate)),
            host_mean: mean(hosts.values().copied()),
            jain: jain(means.iter().map(|&(_, rate)| rate)),
            below_theta: self.below_theta(flows, optimum),
            promised: of_optimum(|o| &o.max_min),
            best: of_optimum(|o| &o.best.rate),
            equal: of_optimum(|o| &o.equal),
            gap_closed: optimum.and_then(|optimum| gap_closed_by(&means, optimum)),
        }
    }

    fn below_theta(&self, flows: &[usize], optimum: Option<&Optimum>) -> Option<f64> {
        let optimum = optimum?;
        let promised = optimum.flows.iter().zip(&optimum.pairs);
        let with = promised.filter(|(flow, pair)| pair.theta.is_some() && flows.contains(flow));
        mean(with.flat_map(|(&flow, pair)| {
            let theta = pair.theta_bps() as f64;
            self.measured(flow).map(move |rate| if rate < theta { 1.0 } else { 0.0 })
        }))
    }

    fn utility(&self, optimum: &Optimum) -> Vec<Option<f64>> {
        let bin = |bin: usize| {
            let rates: Option<Vec<f64>> =
                optimum.flows.iter().map(|&flow| self.by_flow[flow].get(&bin).copied()).collect();
            rates.map(|rates| optimum.relative(&rates))
        };
        (0..self.bins).map(bin).collect()
    }
}

/// Returns the gap closed by flows with these mean rates.
fn gap_closed_by(means: &[(usize, f64)], optimum: &Optimum) -> Option<f64> {
    let means: BTreeMap<usize, f64> = means.iter().copied().collect();
    let of_flow = |(place, flow): (usize, &usize)| {
        let measured = *means.get(flow)?;
        Some(Distance { measured, best: optimum.best.rate[place], equal: optimum.equal[place] })
    };
    gap_closed(optimum.flows.iter().enumerate().filter_map(of_flow))
}

/// Returns the mean utility relative to the optimum over the measured window.
pub(crate) fn mean_utility(rates: &RateRecord) -> Option<f64> {
    let end = rates.end.min(rates.utility.len());
    mean(rates.utility.get(rates.first..end)?.iter().copied().flatten())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests;
