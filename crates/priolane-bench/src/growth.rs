//! Measures how time and memory scale with hosts, flows and packets, with each case in its own process.
//!
//! A case is a fat-tree in which each host sends `flows_per_host` DCTCP flows at once, each along its own permutation.
//! Time is reported as a ratio to Y(N, F) (see [`super::limit`]) for the N and F measured in the run. The memory per
//! item is the difference of the peaks of two cases divided by the difference of their item counts:
//!
//! ```text
//! packet in flight   (peak(long windows) - peak(short windows)) / (packets(long) - packets(short))
//! active flow        (peak(many flows) - peak(few flows)) / (flows(many) - flows(few)) - the above
//! finished flow      (peak(many short flows) - peak(few)) / (flows(many) - flows(few))
//! ```
//!
//! The memory cases have no ECN marking, so each flow keeps a full window in flight from start to end.

use serde::Serialize;

use super::case::Case;
use super::compare::{Measurement, compare};
use super::measure::{Busy, Raw};
use super::named::NamedScenario;
use super::scenarios::MEMORY;

/// Additional flows in the second case of completed flows.
const MORE_FINISHED: f64 = 800_000.0;

/// A row of the growth table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Hosts of the network.
    pub hosts: u32,
    /// Flows, all active at once.
    pub flows: u32,
    /// The measurement, with its ratio to Y.
    #[serde(flatten)]
    pub measured: Measurement,
    /// The quantities from which N and F are computed.
    pub extent: Busy,
}

/// Memory per item, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// A packet on a link or in a queue.
    pub per_packet_in_flight: Option<f64>,
    /// An active flow: state at both ends, and its flow list entry and record.
    pub per_active_flow: Option<f64>,
    /// A completed flow: its flow list entry and record.
    pub per_finished_flow: Option<f64>,
}

/// The complete growth table.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// Time of each case.
    pub rows: Vec<Row>,
    /// Memory per item; fields are `None` if the system does not report peak memory.
    pub memory: Memory,
}

/// Measurements of the memory cases.
#[derive(Clone, Copy, Debug)]
pub struct Peaks {
    /// In the order of [`MEMORY`].
    pub cases: [Raw; 4],
    /// In the order of [`FINISHED`].
    pub finished: [Raw; 2],
}

/// Relates the rows to the yardstick and computes the memory per item.
pub fn growth(rows: &[(&'static NamedScenario, Raw)], peaks: &Peaks) -> Growth {
    let of = |((named, raw), measured): (&(&'static NamedScenario, Raw), Measurement)| {
        let case = named.growth();
        let (hosts, flows) = case.map_or((0, 0), |case| (case.hosts(), case.flows()));
        Row { hosts, flows, measured, extent: raw.busy }
    };
    let measured = compare(rows).scenarios;
    Growth { rows: rows.iter().zip(measured).map(of).collect(), memory: memory(peaks) }
}

fn memory(peaks: &Peaks) -> Memory {
    let [short, long, few, many] = peaks.cases;
    let beyond = |more: Raw, less: Raw| Some(more.peak_bytes? as f64 - less.peak_bytes? as f64);
    let of =
        |at: usize, count: fn(&Case) -> u32| MEMORY[at].growth().map_or(0.0, |case| f64::from(count(&case)));
    let in_flight = |at| of(at, |case| case.flows() * case.window.unwrap_or(0));
    let flows = |at| of(at, Case::flows);
    let per_packet_in_flight = beyond(long, short).map(|bytes| bytes / (in_flight(1) - in_flight(0)));
    // Each flow of these cases has one packet in flight.
    let per_active_flow = beyond(many, few)
        .zip(per_packet_in_flight)
        .map(|(bytes, packet)| bytes / (flows(3) - flows(2)) - packet);
    let per_finished_flow = beyond(peaks.finished[1], peaks.finished[0]).map(|bytes| bytes / MORE_FINISHED);
    Memory { per_packet_in_flight, per_active_flow, per_finished_flow }
}

#[cfg(test)]
mod tests {
    use super::super::case::FABRIC;
    use super::super::scenarios::TABLE;
    use super::*;

    fn raw(peak: u64) -> Raw {
        Raw {
            packet_hops: 1,
            delivered: 1,
            events: 1,
            cpu_s: 1.0,
            peak_bytes: Some(peak),
            busy: Busy::default(),
        }
    }

    #[test]
    fn memory_of_an_item_is_what_more_of_it_takes() {
        // 128 x (1,000 - 16) = 125,952 packets of 64 B; 128 x (1,024 - 64) = 122,880 flows of 512 B, with a packet of
        // 64 B each; 800,000 completed flows of 100 B.
        let cases = [0, 125_952 * 64, 1_000_000, 1_000_000 + 122_880 * (512 + 64)].map(raw);
        let found = memory(&Peaks { cases, finished: [raw(0), raw(80_000_000)] });
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-6;
        assert!(near(found.per_packet_in_flight, 64.0) && near(found.per_active_flow, 512.0), "{found:?}");
        assert!(near(found.per_finished_flow, 100.0), "{found:?}");
    }

    #[test]
    fn cases_have_the_hosts_and_flows_they_name() {
        for (named, hosts, flows) in [(0, 128, 128), (4, 1_024, 16_384), (8, 8_192, 524_288), (9, 1_024, 8)] {
            let case = TABLE[named].growth().unwrap();
            assert_eq!((case.hosts(), case.flows()), (hosts, flows), "{}", TABLE[named].name);
        }
        let scenario = Case { flows_per_host: 3, packets: 2, ..FABRIC }.build().unwrap();
        assert_eq!(scenario.flows.len(), 384);
        let from_5 = scenario.flows.iter().filter(|flow| flow.src.0 == 5);
        assert_eq!(from_5.map(|flow| flow.size.unwrap()).sum::<u64>(), 6 * u64::from(scenario.frame.mss()));
    }
}
