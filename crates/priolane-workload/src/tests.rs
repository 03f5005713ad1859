use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Frame;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::SizeDistribution;
use priolane_core::units::{Rate, Span, Time};

use super::context::{InitialState, distinct};
use super::*;

mod apps;
mod coflows;
mod lists;
mod mutations;
mod on_off;
mod open_loop;
mod pipelines;
mod prefixes;
mod queries;
mod rings;
mod row_graphs;
mod strata;
mod warm_start;

/// Four racks of four hosts at 1 Gbps, with 2 Gbps up from each rack.
pub(super) struct Network {
    pub(super) hosts: Vec<HostId>,
    pub(super) rack: Vec<u32>,
}

impl Network {
    pub(super) fn new() -> Self {
        Self::of(16)
    }

    pub(super) fn of(hosts: u16) -> Self {
        Self {
            hosts: (0..hosts).map(HostId).collect(),
            rack: (0..u32::from(hosts)).map(|host| host / 4).collect(),
        }
    }

    pub(super) fn site(&self) -> WorkloadContext<'_> {
        WorkloadContext {
            hosts: &self.hosts,
            to: &self.hosts,
            rack: &self.rack,
            host_rate: Rate::from_gbps(1),
            core_rate_bps: 8_000_000_000,
            frame: Frame::ETHERNET,
            seed: 1,
            group: 0,
            until: Until::Time(Time(Span::from_ms(1000).0)),
            floor: MinimumLatency { trip: Span::from_us(2), rate: Rate::from_gbps(1) },
            changes: &[],
            measured: [Time::ZERO, Time::NEVER],
            initial: InitialState::Empty,
            under_way: &[],
        }
    }
}

/// Returns the flows of an app, without ids.
fn generate(app: &App, site: &WorkloadContext) -> Result<Vec<FlowSpec>, AppError> {
    let list = super::generate(app, site)?;
    Ok(list.iter().map(|flow| FlowSpec { id: FlowId(0), ..flow }).collect())
}

/// Returns sizes with a given distribution.
pub(super) fn sizes_of(law: SizeDistribution) -> Sizes {
    Sizes::of("law", law)
}

/// Returns a flow of a hand-made list.
pub(super) fn flow(start: u64, src: u16, dst: u16, size: Option<u64>) -> FlowSpec {
    let (src, dst, start) = (HostId(src), HostId(dst), Time(start));
    FlowSpec {
        id: FlowId(0),
        src,
        dst,
        size,
        start,
        class: 0,
        deadline: None,
        group: 0,
        entropy: 0,
        coflow: None,
        coflow_place: 0,
        weights: Weights::BEST_EFFORT,
        attained: 0,
        connection: None,
    }
}
