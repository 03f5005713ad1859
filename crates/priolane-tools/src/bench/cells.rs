//! What a packet-hop of TOP costs by how long flows are, how many packets are under way and how many flows there are: a
//! grid in which nothing but its own work should count.

use priolane_core::packet::Frame;
use priolane_core::transport::dctcp::Reduction;
use priolane_core::transport::window;
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::Scenario;
use priolane_sim::topology::{LeafSpine, LinkSpec};
use priolane_workload::{App, Permutation, Until};

use super::rivals::{self, Rival};
use super::scenarios::{self, Broken, Dctcp, Named};

/// Thirty-two hosts in four racks, each sending at once to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Flows that leave each host at the start.
    flows_per_host: u32,
    /// Packets of each.
    packets: u32,
    /// Delay of each link: a round trip over eight of them is what a window has to fill.
    delay: Span,
}

const FRAME: Frame = Frame::ETHERNET;

macro_rules! cells {
    ($($flows:literal x $packets:literal),* $(,)?) => {
        /// All cells: numbers of flows, packets of a flow and microseconds of a link, each by each.
        pub(super) const CELLS: &[Named] = &[$(
            cells!(@one $flows, $packets, 1),
            cells!(@one $flows, $packets, 4),
            cells!(@one $flows, $packets, 16),
        )*];
    };
    (@one $flows:literal, $packets:literal, $delay:literal) => {
        Named::cell(
            concat!("top_", $flows, "x", $packets, "_", $delay, "us"),
            Cell { flows_per_host: $flows, packets: $packets, delay: Span::from_us($delay) },
        )
    };
}

cells!(1 x 10, 1 x 50, 1 x 250, 8 x 10, 8 x 50, 8 x 250, 32 x 10, 32 x 50, 32 x 250);

impl Cell {
    pub(super) fn build(&self) -> Result<Scenario, Broken> {
        let link = |gbps| LinkSpec::lossless(Rate::from_gbps(gbps), self.delay);
        let (host_link, fabric_link) = (link(10), link(40));
        let topology =
            LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 8, host_link, fabric_link, links_per_pair: 1 };
        let topology = topology.build()?;
        let size = Some(u64::from(self.packets) * u64::from(FRAME.mss()));
        let app = App::Permutation(Permutation { size, starts: scenarios::within(Span::from_us(10)) });
        let all = Until::Flows(u64::from(topology.hosts));
        let groups = (0..self.flows_per_host)
            .map(|group| scenarios::generated(&app, &topology, FRAME, (group as u16, all)));
        let flows = priolane_workload::merge(groups.collect::<Result<_, _>>()?);
        let window = window::Config::new(FRAME);
        let dctcp = Dctcp { window, alpha_0: 0.0, reduction: Reduction::AtOnce };
        Ok(rivals::on_tokens(Rival::Top, scenarios::dctcp_scenario(topology, dctcp, flows)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::build;
    use super::*;

    #[test]
    fn each_cell_is_what_its_name_says() {
        assert_eq!(CELLS.len(), 27);
        for named in CELLS {
            let scenario = build(named, None).unwrap();
            let Some(flow) = scenario.flows.get(0) else { panic!("{} has no flow", named.name) };
            let packets = flow.size.unwrap() / u64::from(FRAME.mss());
            let delay = scenario.topology.links[0].delay.0 / 1_000_000;
            let name = format!("top_{}x{packets}_{delay}us", scenario.flows.len() / 32);
            assert_eq!(named.name, name);
            assert!(Named::find(&name).is_some());
        }
    }
}
