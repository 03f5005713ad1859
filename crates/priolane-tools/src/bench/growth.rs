//! How time and memory grow with hosts, flows and packets: cases of one kind, each measured in its own process.
//!
//! A case is a fat-tree in which each host sends `flows_per_host` DCTCP flows at once, each along its own permutation.
//! Time is told as a ratio to Y(N, F) (see [`super::limit`]), of which N and F are those that the run had. Memory of
//! one item is the difference of the peaks of two cases over the difference of their numbers of that item:
//!
//! ```text
//! packet in flight   (peak(long windows) - peak(short windows)) / (packets(long) - packets(short))
//! active flow        (peak(many flows) - peak(few flows)) / (flows(many) - flows(few)) - the above
//! finished flow      (peak(many short flows) - peak(few)) / (flows(many) - flows(few))
//! ```
//!
//! In the cases of memory nothing marks, and each flow has its window in flight from its start until its end.

use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec, Limit};
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::{PortSpec, Scenario};
use priolane_sim::topology::{FatTree, LinkSpec};
use priolane_workload::{App, Permutation, Until};
use serde::Serialize;

use super::measure::Raw;
use super::scenarios::{self, Broken, Dctcp, LINK_DELAY, Named};
use super::{Measured, compare};

/// A fat-tree with permutations of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Ports of a switch; the tree has k^3 / 4 hosts.
    pub k: u32,
    /// Flows that leave each host at the start.
    pub flows_per_host: u32,
    /// Payload packets of each flow.
    pub packets: u32,
    /// Delay of each link.
    pub delay: Span,
    /// Packets that each flow keeps in flight, without marks; `None` for as many as DCTCP takes.
    pub window: Option<u32>,
    /// Only so many of the flows; `None` for all.
    pub only: Option<u32>,
}

const RATE: Rate = Rate::from_gbps(100);
/// The fabric of `dctcp_fattree1024`.
pub(super) const FABRIC: Case =
    Case { k: 8, flows_per_host: 1, packets: 0, delay: LINK_DELAY, window: None, only: None };
/// Links long enough for windows that differ.
const LONG: Case = Case { delay: Span::from_us(100), packets: 6_000, ..FABRIC };

/// The rows of the table: each 20 to 100 million packet-hops.
pub const TABLE: &[Named] = &[
    Named::case("grow_128x1", "128 hosts, 1 flow each", Case { packets: 24_000, ..FABRIC }),
    Named::case("grow_128x16", "", Case { flows_per_host: 16, packets: 1_500, ..FABRIC }),
    Named::case("grow_128x64", "", Case { flows_per_host: 64, packets: 400, ..FABRIC }),
    Named::case("grow_1024x1", "", Case { k: 16, packets: 3_000, ..FABRIC }),
    Named::case("grow_1024x16", "", Case { k: 16, flows_per_host: 16, packets: 200, ..FABRIC }),
    Named::case("grow_1024x64", "", Case { k: 16, flows_per_host: 64, packets: 60, ..FABRIC }),
    Named::case("grow_8192x1", "", Case { k: 32, packets: 400, ..FABRIC }),
    Named::case("grow_8192x16", "", Case { k: 32, flows_per_host: 16, packets: 40, ..FABRIC }),
    Named::case("grow_8192x64", "", Case { k: 32, flows_per_host: 64, packets: 15, ..FABRIC }),
    Named::case(
        "few_in_1024",
        "8 flows in 1,024 hosts",
        Case { k: 16, packets: 200_000, only: Some(8), ..FABRIC },
    ),
];

/// Pairs of which the second has more of one thing: packets in flight, active flows.
pub const MEMORY: &[Named] = &[
    Named::case("memory_windows_16", "", Case { window: Some(16), ..LONG }),
    Named::case("memory_windows_1000", "", Case { window: Some(1_000), ..LONG }),
    Named::case("memory_flows_64", "", Case { flows_per_host: 64, packets: 10, window: Some(1), ..LONG }),
    Named::case(
        "memory_flows_1024",
        "",
        Case { flows_per_host: 1_024, packets: 10, window: Some(1), ..LONG },
    ),
];

/// Short ones, for counting instructions.
pub const SMALL: &[Named] = &[
    Named::case("small_128x1", "128 hosts, 1 flow of 150 packets each", Case { packets: 150, ..FABRIC }),
    Named::case(
        "small_128x16",
        "128 hosts, 16 flows of 10 packets each",
        Case { flows_per_host: 16, packets: 10, ..FABRIC },
    ),
];

/// Runs that tell what is kept of a finished flow.
pub const FINISHED: &[Named] =
    &[Named::short("short_flows_200k", 200_000), Named::short("short_flows_1m", 1_000_000)];
/// How many flows the second has more.
const MORE_FINISHED: f64 = 800_000.0;

impl Case {
    /// Hosts of the tree.
    pub fn hosts(&self) -> u32 {
        self.k.pow(3) / 4
    }

    /// Flows there are.
    pub fn flows(&self) -> u32 {
        self.only.unwrap_or(self.hosts() * self.flows_per_host)
    }

    pub(super) fn build(&self) -> Result<Scenario, Broken> {
        let link = LinkSpec::lossless(RATE, self.delay);
        let topology = FatTree { k: self.k, host_link: link, fabric_link: link }.build()?;
        let frame = Frame { mtu: 9000, ..Frame::ETHERNET };
        let mss = u64::from(frame.mss());
        let size = Some(u64::from(self.packets) * mss);
        let app = App::Permutation(Permutation { size, starts: scenarios::within(LINK_DELAY) });
        let groups = (0..self.flows_per_host).map(|group| {
            scenarios::generated(
                &app,
                &topology,
                frame,
                (group as u16, Until::Flows(u64::from(topology.hosts))),
            )
        });
        let mut flows = priolane_workload::merge(groups.collect::<Result<_, _>>()?);
        flows.truncate(self.flows() as usize);
        let mut window = window::Config::new(frame);
        let buffer = match self.window {
            None => Buffer { mark_above: Limit::Packets(66), ..Buffer::UNLIMITED },
            Some(packets) => {
                window.max_window = Some(u64::from(packets) * mss);
                window.handshake = Handshake::None;
                Buffer::UNLIMITED
            }
        };
        let ports =
            vec![PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer }; topology.links.len()];
        let dctcp = Dctcp { window, alpha_0: 0.0, reduction: Reduction::AtOnce };
        Ok(Scenario { ports, ..scenarios::dctcp_scenario(topology, dctcp, flows) })
    }
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Hosts of the network.
    pub hosts: u32,
    /// Flows, all open at once.
    pub flows: u32,
    /// What was measured, with the ratio to Y.
    #[serde(flatten)]
    pub measured: Measured,
    /// N, F and what they were made of.
    pub extent: super::measure::Busy,
}

/// Bytes of memory of one item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// A packet on a link or in a queue.
    pub per_packet_in_flight: Option<f64>,
    /// An open flow, both ends, with what is kept of it when it is finished.
    pub per_active_flow: Option<f64>,
    /// A finished flow: its place in the flow list and its record.
    pub per_finished_flow: Option<f64>,
}

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// Time, case by case.
    pub rows: Vec<Row>,
    /// Memory; `None` where the system does not tell.
    pub memory: Memory,
}

/// What was measured of the cases of memory.
#[derive(Clone, Copy, Debug)]
pub struct Peaks {
    /// In the order of [`MEMORY`].
    pub cases: [Raw; 4],
    /// In the order of [`FINISHED`].
    pub finished: [Raw; 2],
}

/// Puts the yardstick beside what was measured of the rows, and divides memory by what it holds.
pub fn growth(rows: &[(&'static Named, Raw)], peaks: &Peaks) -> Growth {
    let of = |((named, raw), measured): (&(&'static Named, Raw), Measured)| {
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
    // Each flow of these has one packet in flight.
    let per_active_flow = beyond(many, few)
        .zip(per_packet_in_flight)
        .map(|(bytes, packet)| bytes / (flows(3) - flows(2)) - packet);
    let per_finished_flow = beyond(peaks.finished[1], peaks.finished[0]).map(|bytes| bytes / MORE_FINISHED);
    Memory { per_packet_in_flight, per_active_flow, per_finished_flow }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Busy;
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
        // 64 B each; 800,000 finished flows of 100 B.
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
