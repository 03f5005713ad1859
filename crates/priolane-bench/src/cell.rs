//! A grid of scenarios that measures the cost of a packet-hop under TOP by flow length, packets in flight and number of
//! flows.

use priolane_core::packet::Frame;
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window;
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::ScenarioSpec;
use priolane_sim::topology::{LeafSpine, LinkSpec};
use priolane_workload::{App, Permutation, Starts, Until};

use super::dctcp::{self, Dctcp, ScenarioBuildError};
use super::rivals::{self, TransportVariant};

/// A scenario of 32 hosts in four racks, in which all flows start at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Flows that start at each host.
    pub(super) flows_per_host: u32,
    /// Packets per flow.
    pub(super) packets: u32,
    /// Propagation delay of each link; the window must fill a round trip of eight links.
    pub(super) delay: Span,
}

const FRAME: Frame = Frame::ETHERNET;

impl Cell {
    pub(super) fn build(&self) -> Result<ScenarioSpec, ScenarioBuildError> {
        let link = |gbps| LinkSpec::lossless(Rate::from_gbps(gbps), self.delay);
        let (host_link, fabric_link) = (link(10), link(40));
        let topology =
            LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 8, host_link, fabric_link, links_per_pair: 1 };
        let topology = topology.build()?;
        let size = Some(u64::from(self.packets) * u64::from(FRAME.mss()));
        let app = App::Permutation(Permutation { size, starts: Starts::within(Span::from_us(10)) });
        let all = Until::Flows(u64::from(topology.hosts));
        let groups = (0..self.flows_per_host)
            .map(|group| dctcp::generate(&app, &topology, FRAME, (group as u16, all)));
        let flows = priolane_workload::merge(groups.collect::<Result<_, _>>()?);
        let window = window::Config::new(FRAME);
        let dctcp = Dctcp { window, alpha_0: 0.0, reduction: Reduction::AtOnce };
        Ok(rivals::on_tokens(TransportVariant::Top, dctcp::dctcp_scenario(topology, dctcp, flows)))
    }
}
