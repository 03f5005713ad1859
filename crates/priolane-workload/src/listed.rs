//! Flows that are listed individually.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::Span;
use priolane_sim::dependencies::FlowDependency;

use super::context::{WorkloadContext, known};
use super::error::AppError;
use super::flow_factory::{FlowFactory, not_too_late, size_ok};
use super::flow_list::Row;
use super::traffic::{StatedPath, Traffic};

/// Listed flows. Source, destination, size, start, class, deadline and stated paths come from the list; group and
/// other entropy come from the run. Hosts need not be in the group, and `until` is ignored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListedFlows {
    list: FlowList,
    /// The dependencies of flows, by their indices in the list.
    waits: Vec<FlowDependency>,
    /// The paths that the list states, by index; empty if it states none.
    paths: Vec<Option<u16>>,
}

impl ListedFlows {
    /// Creates a list of independent flows on random paths.
    pub(crate) fn plain(list: FlowList) -> Self {
        Self { list, waits: Vec::new(), paths: Vec::new() }
    }

    /// Creates the flows of rows; `delay` is the default notification delay.
    pub(crate) fn of(rows: &[Row], delay: Span) -> Self {
        let waits = |row: &Row| {
            let after = row.after.clone();
            let delay = row.delay.unwrap_or(delay);
            (!after.is_empty()).then_some(FlowDependency { flow: row.flow.id, after, delay, until: None })
        };
        let stated = rows.iter().any(|row| row.path.is_some());
        Self {
            waits: rows.iter().filter_map(waits).collect(),
            list: rows.iter().map(|row| row.flow).collect(),
            paths: if stated { rows.iter().map(|row| row.path).collect() } else { Vec::new() },
        }
    }

    pub(crate) fn traffic(self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        if self.list.is_empty() {
            return Err(AppError::Empty);
        }
        let mut maker = FlowFactory::new(site);
        let mut paths = Vec::new();
        let flow = |(place, flow): (usize, FlowSpec)| {
            if known(site, flow.src)? == known(site, flow.dst)? {
                return Err(AppError::ToItself(flow.src));
            }
            size_ok(flow.size)?;
            not_too_late(flow.start.0)?;
            let drawn = maker.next_entropy(flow.src);
            let stated = self.paths.get(place).copied().flatten();
            paths.extend(stated.map(|path| StatedPath { src: flow.src, dst: flow.dst, path, place }));
            Ok(FlowSpec { id: FlowId(0), group: site.group, entropy: stated.unwrap_or(drawn), ..flow })
        };
        let flows = self.list.iter().enumerate().map(flow).collect::<Result<_, _>>()?;
        Ok(Traffic { flows, waits: self.waits, paths })
    }
}
