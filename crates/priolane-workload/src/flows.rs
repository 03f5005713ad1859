//! A list of flows as an app, usually read from a file ([`super::flow_list`]).

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_sim::dependencies::FlowDependency;

use super::{AppError, Maker, Site, known, not_too_late, size_ok};

/// Listed flows: source, destination, size, start, class, deadline and stated paths are the list's; group and other
/// entropy are the run's. Hosts need not be of the group; `until` of the site does not matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// The flows.
    pub list: FlowList,
    /// Which of them wait for others, by their places in the list.
    pub waits: Vec<FlowDependency>,
    /// The paths that the list states, by place in it; empty if it states none.
    pub paths: Vec<Option<u16>>,
}

impl Flows {
    /// Flows that wait for no other, on paths that are drawn.
    pub fn plain(list: FlowList) -> Self {
        Self { list, waits: Vec::new(), paths: Vec::new() }
    }

    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        if self.list.is_empty() {
            return Err(AppError::Empty);
        }
        let mut maker = Maker::new(site);
        let flow = |(place, flow): (usize, FlowSpec)| {
            if known(site, flow.src)? == known(site, flow.dst)? {
                return Err(AppError::ToItself(flow.src));
            }
            size_ok(flow.size)?;
            not_too_late(flow.start.0)?;
            let drawn = maker.next_entropy(flow.src);
            let entropy = self.paths.get(place).copied().flatten().unwrap_or(drawn);
            Ok(FlowSpec { id: FlowId(0), group: site.group, entropy, ..flow })
        };
        self.list.iter().enumerate().map(flow).collect()
    }
}
