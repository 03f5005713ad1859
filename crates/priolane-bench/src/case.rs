//! A case of the growth table: a fat-tree in which each host sends flows along permutations.

use priolane_core::packet::Frame;
use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec};
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window::{self, Handshake};
use priolane_core::units::{Limit, Rate, Span};
use priolane_sim::scenario::{PortSpec, ScenarioSpec};
use priolane_sim::topology::{FatTree, LinkSpec};
use priolane_workload::{App, Permutation, Starts, Until};

use super::dctcp::{self, Dctcp, LINK_DELAY, ScenarioBuildError};

/// A fat-tree whose hosts send flows along permutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Ports per switch; the tree has k^3 / 4 hosts.
    pub k: u32,
    /// Flows that start at each host at time 0.
    pub flows_per_host: u32,
    /// Data packets per flow.
    pub packets: u32,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Fixed window of each flow in packets, without ECN marking; `None` for DCTCP's own window.
    pub window: Option<u32>,
    /// Number of flows to keep; `None` for all.
    pub only: Option<u32>,
}

const RATE: Rate = Rate::from_gbps(100);

/// The fabric of `dctcp_fattree1024`.
pub(super) const FABRIC: Case =
    Case { k: 8, flows_per_host: 1, packets: 0, delay: LINK_DELAY, window: None, only: None };

impl Case {
    /// Returns the number of hosts.
    pub fn hosts(&self) -> u32 {
        self.k.pow(3) / 4
    }

    /// Returns the number of flows.
    pub fn flows(&self) -> u32 {
        self.only.unwrap_or(self.hosts() * self.flows_per_host)
    }

    pub(super) fn build(&self) -> Result<ScenarioSpec, ScenarioBuildError> {
        let link = LinkSpec::lossless(RATE, self.delay);
        let topology = FatTree { k: self.k, host_link: link, fabric_link: link }.build()?;
        let frame = Frame { mtu: 9000, ..Frame::ETHERNET };
        let mss = u64::from(frame.mss());
        let size = Some(u64::from(self.packets) * mss);
        let app = App::Permutation(Permutation { size, starts: Starts::within(LINK_DELAY) });
        let groups = (0..self.flows_per_host).map(|group| {
            dctcp::generate(&app, &topology, frame, (group as u16, Until::Flows(u64::from(topology.hosts))))
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
        Ok(ScenarioSpec { ports, ..dctcp::dctcp_scenario(topology, dctcp, flows) })
    }
}
