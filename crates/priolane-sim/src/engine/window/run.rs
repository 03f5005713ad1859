//! The window engine: conservative parallel simulation without a global event queue.
//!
//! No effect crosses nodes faster than the lookahead L = min(propagation + smallest serialization). Each node
//! therefore runs alone through a window of length L (or less): its arrivals are sorted, merged with its own events,
//! and processed; the packets it sends arrive in a later window. Messages are stored by value in a ring of windows,
//! and in a heap beyond the ring. Windows without work are skipped.

use std::ops::ControlFlow;

use priolane_core::packet::{Body, Frame};
use priolane_core::units::{Span as Length, Time};

use super::calendar::{MAX_ENTRIES, MAX_LENGTH};
use super::part::{NodeOrder, Part, REPORT_EVERY, WindowOutcome};
use super::part_times::PartTimes;
use super::threads::{self, Fallback};
use crate::device::fabric::Fabric;
use crate::engine::collect::collect;
use crate::engine::network::Network;
use crate::engine::stop::OnProgress;
use crate::model::scenario::Scenario;
use crate::model::topology::{Link, Topology};
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::{Outcome, RunError};
use crate::observe::phase::Phase;

/// If links are long, a window is at most this fraction of the lookahead. During a window its packets are in memory
/// twice, as they arrived and as they are queued or forwarded.
const PART: u64 = 24;

/// Length, in picoseconds, up to which a window is not shortened.
const SHORT: u64 = 4_000_000;

/// Returns the length of the engine's windows: the lookahead, or less if links are long or more packets could arrive
/// than a window can store.
pub fn window_length(scenario: &Scenario) -> Length {
    length_within(&scenario.topology, &scenario.frame, scenario.lookahead())
}

fn length_within(topology: &Topology, frame: &Frame, lookahead: Length) -> Length {
    let part = (lookahead.0 / PART).max(SHORT);
    let mut length = lookahead.0.min(part).clamp(1, MAX_LENGTH);
    while length > 1 && most_arrivals(topology, frame, Length(length)) > MAX_ENTRIES {
        length /= 2;
    }
    Length(length)
}

/// Returns the maximum number of packets that arrive within `window` on all links.
fn most_arrivals(topology: &Topology, frame: &Frame, window: Length) -> u64 {
    let of = |link: &Link| link.rate.bytes_in(window) / u64::from(frame.least_wire()) + 1;
    topology.links.iter().map(of).fold(0, u64::saturating_add)
}

/// Creates the parts of `fabric`, each with the nodes of one of `networks`.
fn parts<B: Body>(networks: Vec<Network<B>>, fabric: &Fabric, order: NodeOrder) -> Vec<Part<B>> {
    let length = window_length(fabric.scenario).0;
    let logs = FlowLog::by_part(fabric.scenario, networks.len());
    let part = |(network, log)| Part::new(network, fabric, length, log, order);
    networks.into_iter().zip(logs).map(part).collect()
}

/// Runs the scenario of `fabric` to its end, with a thread for each part.
pub(crate) fn run<B: Body>(
    networks: Vec<Network<B>>,
    fabric: &Fabric,
    (order, fallback): (NodeOrder, Fallback),
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let mut parts = parts(networks, fabric, order);
    match &mut parts[..] {
        [only] => alone(only, fabric, progress)?,
        _ => parts = threads::run(parts, fabric, fallback, progress)?,
    }
    outcome_of(parts, fabric, progress)
}

/// Runs the scenario of `fabric` to its end, all parts in turn on this thread, and measures them.
pub(crate) fn run_in_turn<B: Body>(
    networks: Vec<Network<B>>,
    fabric: &Fabric,
    progress: OnProgress,
) -> Result<(Outcome, PartTimes), RunError> {
    let parts = parts(networks, fabric, NodeOrder::default());
    let (parts, times) = threads::run_in_turn(parts, fabric, progress)?;
    Ok((outcome_of(parts, fabric, progress)?, times))
}

/// Returns the outcome of `parts` at the end of the run.
fn outcome_of<B: Body>(
    mut parts: Vec<Part<B>>,
    fabric: &Fabric,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    fabric.enter(Phase::Results);
    let stop = parts[0].sink.stop.stop_at();
    let _ = progress(parts[0].sink.stop.progress(stop));
    let (mut networks, mut wires): (Vec<_>, Vec<_>) =
        parts.iter_mut().map(|part| (&mut part.network, &mut part.sink)).unzip();
    let logs = wires.iter_mut().map(|wire| std::mem::take(&mut wire.log)).collect();
    collect(&mut networks, fabric, stop, logs, &mut |out| {
        for (place, wire) in wires.iter_mut().enumerate() {
            wire.on_links().for_each(|packet| out.resident(&packet.header));
            out.outcome().samples.append(&mut wire.samples);
            out.outcome().work.events += wire.handled;
            if place == 0 {
                // Each part has its own controller, with identical updates.
                out.outcome().thresholds = wire.control_plane.history(stop);
            }
        }
    })
}

/// Runs the only part to the end of the run.
fn alone<B: Body>(part: &mut Part<B>, fabric: &Fabric, progress: OnProgress) -> Result<(), RunError> {
    let mut next = 0;
    let mut windows = 0u64;
    while let Some(window) = part.sink.next_window(next) {
        let start = Time(window * part.sink.length());
        let stop = part.sink.stop.stop_at();
        if start >= stop {
            break;
        }
        let lived = part.live(fabric, window, stop);
        let reports = std::mem::take(&mut part.sink.reports);
        reports.into_iter().for_each(|report| part.sink.control_plane.post(report));
        let mut signals = std::mem::take(&mut part.sink.signals);
        signals.drain(..).for_each(|signal| part.signal(fabric, &signal));
        part.sink.signals = signals;
        if let Some(error) = part.sink.error.take() {
            return Err(error);
        }
        if lived == WindowOutcome::UpToTheEnd {
            break;
        }
        windows += 1;
        if windows.is_multiple_of(REPORT_EVERY)
            && progress(part.sink.stop.progress(start)) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
        next = window + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use priolane_core::units::Rate;

    use super::*;
    use crate::model::topology::{LinkSpec, SingleSwitch};

    #[test]
    fn a_window_is_shorter_where_links_are_long_or_more_packets_could_arrive_than_it_holds() {
        let of = |hosts, rate, delay| {
            let host_link = LinkSpec::lossless(rate, delay);
            let topology = SingleSwitch { hosts, host_link }.build().unwrap();
            let lookahead = topology.lookahead(&Frame::ETHERNET);
            let length = length_within(&topology, &Frame::ETHERNET, lookahead);
            assert!(most_arrivals(&topology, &Frame::ETHERNET, length) <= MAX_ENTRIES);
            (length.0, lookahead.0)
        };
        let with_100 = |delay| of(100, Rate::from_gbps(100), delay);
        // 64 bytes take 5.12 ns, before the link.
        assert_eq!(with_100(Length::from_us(1)), (1_005_120, 1_005_120));
        assert_eq!(with_100(Length::from_us(20)), (SHORT, 20_005_120));
        assert_eq!(with_100(Length::from_us(240)), (10_000_213, 240_005_120));
        assert_eq!(with_100(Length::from_us(1_000)).0, MAX_LENGTH);
        // 2,000 links of 1 Tbps deliver 65 million packets of 64 bytes in 16.8 us.
        assert_eq!(of(1_000, Rate::from_gbps(1_000), Length::from_us(1_000)).0, MAX_LENGTH / 8);
    }
}
