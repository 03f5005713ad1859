//! Computes the optimal rates of a run's long-lived flows: PACCP's optimum on the network as routed.
//!
//! ```text
//! flows       all long-lived flows, active at once; those of a virtual machine (VBP) have even shares of its pair
//! links       the links of each flow's path, as routed in the run
//! capacity    link rate times payload of a full packet over its bytes on the wire; ACKs are not subtracted
//! promised    weighted max-min fair with minima (PACCP §IV-C)       best   max sum of w_i U(x_i) (PACCP §II)
//! ```
//!
//! Both are computed by [`priolane_core::price`]. See docs/assumptions.md#optimum-capacity, #overbooked.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::packet::Frame;
use priolane_core::price::utility::Path;
use priolane_core::price::{Demand, Shares, max_min, num, vbp};
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::Topology;

use priolane_results::ports::port_names;

/// Maximum number of flows for which an optimum is computed.
const MAX_FLOWS: usize = 20_000;

/// The optimum of a run's long-lived flows.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The flows, as indices in the flow list; all other fields are in this order.
    pub flows: Vec<usize>,
    /// The pair of each flow while all are active.
    pub pairs: Vec<Weights>,
    /// Their demands and the links they share, in bits per second of payload.
    pub shares: Shares,
    /// Round-trip time of the idle path and payload of a full packet, which determine a flow's utility.
    pub paths: Vec<Path>,
    /// Promised rates: weighted max-min fair with minima, in bits per second of payload.
    pub max_min: Vec<f64>,
    /// The rates that maximize the sum of weighted utilities.
    pub best: num::Optimum,
    /// Max-min fair rates of the same flows without payments, with equal weights and no minima, in bits per second of
    /// payload.
    pub equal: Vec<f64>,
    /// Names of the ports whose flows' minimum rates exceed their capacity.
    pub overbooked: Vec<String>,
}

/// The reason why there is no optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOptimum {
    /// There is no long-lived flow.
    #[error("no flow is endless")]
    NoFlow,
    /// Packets of a flow take several paths.
    #[error("sprayed flows have no single path")]
    Sprayed,
    /// There are too many flows for the solver.
    #[error("there are more than {MAX_FLOWS} endless flows")]
    TooMany,
    /// A link has no capacity, or a flow has no path.
    #[error("a flow has no path, or a link has no capacity")]
    Network,
}

/// Computes the optimum of the long-lived flows of `scenario`.
///
/// # Errors
/// Returns why there is none.
pub fn of(scenario: &ScenarioSpec) -> Result<Optimum, NoOptimum> {
    let endless = |(place, flow): (usize, FlowSpec)| flow.size.is_none().then_some(place);
    let flows: Vec<usize> = scenario.flows.iter().enumerate().filter_map(endless).collect();
    match flows.len() {
        0 => return Err(NoOptimum::NoFlow),
        n if n > MAX_FLOWS => return Err(NoOptimum::TooMany),
        _ if scenario.topology.path_choice.sprays() => return Err(NoOptimum::Sprayed),
        _ => {}
    }
    let pairs = pairs(scenario, &flows);
    let specs: Vec<FlowSpec> = flows.iter().map(|&place| scenario.flows.at(place)).collect();
    let (shares, links) = shares(scenario, &specs, &pairs);
    let paths: Vec<Path> = specs.iter().map(|flow| utility_path(scenario, flow)).collect();
    let promised = max_min::solve(&shares).map_err(|_| NoOptimum::Network)?;
    let best = num::solve(&shares, &paths).map_err(|_| NoOptimum::Network)?;
    let equal = max_min::solve(&unpaid(&shares)).map_err(|_| NoOptimum::Network)?;
    let names = port_names(&scenario.topology);
    let overbooked =
        shares.guaranteed_rates().overbooked.iter().map(|&link| names[links[link]].clone()).collect();
    Ok(Optimum { flows, pairs, shares, paths, max_min: promised, best, equal, overbooked })
}

impl Optimum {
    /// Returns a warning if the minimum rates exceed the capacity.
    pub fn warning(&self) -> Option<String> {
        let (first, more) = self.overbooked.split_first()?;
        let others = match more.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        Some(format!(
            "minimum rates exceed the capacity of {first}{others}: promised rates are scaled in proportion, \
             and PACCP keeps its soft guarantee as far as possible"
        ))
    }

    /// Returns the sum of weighted utilities of `rates`, in bits per second of payload, relative to the maximum.
    pub fn relative(&self, rates: &[f64]) -> f64 {
        num::value(&self.shares, &self.paths, rates) / self.best.value
    }
}

/// Minimum total difference between equal and optimal rates, relative to the sum of optimal rates; well above rounding
/// errors of the solvers.
const LEAST_GAP: f64 = 1e-3;

/// Returns the position of the flows between equal (0) and optimal (1) rates, or `None` if the optimum shares equally
/// too. The position is `1 - sum |measured - optimum| / sum |equal - optimum|`.
pub(crate) fn gap_closed(flows: impl Iterator<Item = Distance>) -> Option<f64> {
    let (mut left, mut whole, mut sum) = (0.0, 0.0, 0.0);
    for Distance { measured, best, equal } in flows {
        left += (measured - best).abs();
        whole += (equal - best).abs();
        sum += best;
    }
    (whole > LEAST_GAP * sum).then(|| 1.0 - left / whole)
}

/// The measured, optimal and equal-share rate of a flow, in bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distance {
    pub measured: f64,
    pub best: f64,
    pub equal: f64,
}

/// Returns the same flows on the same links without payments.
fn unpaid(shares: &Shares) -> Shares {
    let best_effort = |demand: &Demand| Demand { links: demand.links.clone(), theta: 0.0, w: 1.0 };
    Shares { capacity: shares.capacity.clone(), demands: shares.demands.iter().map(best_effort).collect() }
}

/// Returns the payload rate of a link of `rate` with full packets, in bits per second.
pub(crate) fn payload_capacity(rate: Rate, frame: &Frame) -> f64 {
    rate.bps() as f64 * f64::from(frame.mss()) / f64::from(frame.data_wire(frame.mss()))
}

/// Returns the pair of each flow while all are active.
fn pairs(scenario: &ScenarioSpec, flows: &[usize]) -> Vec<Weights> {
    let mut of_machine: BTreeMap<(u16, u16), u32> = BTreeMap::new();
    let key = |place: usize| {
        let flow = scenario.flows.at(place);
        (flow.src.0, flow.group)
    };
    for &place in flows {
        *of_machine.entry(key(place)).or_default() += 1;
    }
    let mut before: BTreeMap<(u16, u16), u32> = BTreeMap::new();
    let pair = |&place: &usize| {
        let flow = scenario.flows.at(place);
        let Some(&Some(machine)) = scenario.machines.get(usize::from(flow.group)) else {
            return flow.weights;
        };
        let nth = before.entry(key(place)).or_default();
        let count = NonZeroU32::new(of_machine[&key(place)]).unwrap_or(NonZeroU32::MIN);
        *nth += 1;
        vbp::share(machine.pair, count, *nth - 1)
    };
    flows.iter().map(pair).collect()
}

/// Returns the demands on the links that are used, and the indices of these links in the topology.
fn shares(scenario: &ScenarioSpec, specs: &[FlowSpec], pairs: &[Weights]) -> (Shares, Vec<usize>) {
    let topology = &scenario.topology;
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut links: Vec<usize> = Vec::new();
    let mut demands = Vec::with_capacity(specs.len());
    for (flow, pair) in specs.iter().zip(pairs) {
        let mut place = |link: usize| {
            *places.entry(link).or_insert_with(|| {
                links.push(link);
                links.len() - 1
            })
        };
        let path = topology.path(flow.src, flow.dst, flow.entropy);
        let own = path.iter().map(|link| place(link.index())).collect();
        demands.push(Demand { links: own, theta: pair.theta_bps() as f64, w: pair.w() });
    }
    let capacity = |&link: &usize| payload_capacity(topology.links[link].rate, &scenario.frame);
    (Shares { capacity: links.iter().map(capacity).collect(), demands }, links)
}

fn utility_path(scenario: &ScenarioSpec, flow: &FlowSpec) -> Path {
    let rtt = empty_rtt(&scenario.topology, &scenario.frame, flow) + scenario.host_delay.times(2);
    Path { rtt, packet: u32::from(scenario.frame.mss()) }
}

/// Returns the round-trip time of a full packet and its ACK on the idle path.
fn empty_rtt(topology: &Topology, frame: &Frame, flow: &FlowSpec) -> Span {
    let one_way = |path: Vec<priolane_core::ids::LinkId>, wire: u64| {
        let time = |link: &priolane_core::ids::LinkId| {
            let link = &topology.links[link.index()];
            link.delay + link.rate.serialize(wire)
        };
        path.iter().map(time).fold(Span::ZERO, |sum, span| sum + span)
    };
    let there = topology.path(flow.src, flow.dst, flow.entropy);
    let back = topology.path(flow.dst, flow.src, flow.entropy);
    one_way(there, u64::from(frame.data_wire(frame.mss()))) + one_way(back, u64::from(frame.min_wire()))
}

#[cfg(test)]
mod tests;
