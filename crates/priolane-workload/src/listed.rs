//! Flows that are listed individually.

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::Span;
use priolane_sim::dependencies::{FlowDependency, Step};

use super::context::{WorkloadContext, known};
use super::error::AppError;
use super::flow_factory::{FlowFactory, not_too_late, size_ok};
use super::flow_list::Row;
use super::row_graph::RowGraph;
use super::traffic::{StatedPath, Traffic};

/// Listed flows. Source, destination, size, start, class, deadline and stated paths come from the list; group and
/// other entropy come from the run. Hosts need not be in the group, and `until` is ignored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListedFlows {
    list: FlowList,
    /// The dependencies of flows, by their indices in the list.
    waits: Vec<FlowDependency>,
    steps: Vec<Step>,
    /// The paths that the list states, by index; empty if it states none.
    paths: Vec<Option<u16>>,
}

impl ListedFlows {
    /// Creates a list of independent flows on random paths.
    pub(crate) fn plain(list: FlowList) -> Self {
        Self { list, waits: Vec::new(), steps: Vec::new(), paths: Vec::new() }
    }

    /// Creates the flows and steps of rows; `delay` is the default notification delay.
    pub(crate) fn of(rows: &[Row], delay: Span) -> Self {
        let stated = rows.iter().any(|row| row.path.is_some());
        let flows = || rows.iter().filter(|row| !row.is_step());
        let paths = if stated { flows().map(|row| row.path).collect() } else { Vec::new() };
        let RowGraph { list, waits, steps } = RowGraph::of(rows, delay);
        Self { list, waits, steps, paths }
    }

    pub(crate) fn traffic(self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        if self.list.is_empty() {
            return Err(AppError::Empty);
        }
        let mut maker = FlowFactory::new(site);
        let mut paths = Vec::new();
        let flow = |(index, flow): (usize, FlowSpec)| {
            if known(site, flow.src)? == known(site, flow.dst)? {
                return Err(AppError::ToItself(flow.src));
            }
            size_ok(flow.size)?;
            not_too_late(flow.start.0)?;
            let drawn = maker.next_entropy(flow.src);
            let stated = self.paths.get(index).copied().flatten();
            let place = flow.id.index();
            paths.extend(stated.map(|path| StatedPath { src: flow.src, dst: flow.dst, path, place }));
            Ok(FlowSpec { id: FlowId(0), group: site.group, entropy: stated.unwrap_or(drawn), ..flow })
        };
        let flows = self.list.iter().enumerate().map(flow).collect::<Result<_, _>>()?;
        let step = |step: Step| known(site, step.host).map(|_| Step { group: site.group, ..step });
        let steps = self.steps.into_iter().map(step).collect::<Result<_, _>>()?;
        Ok(Traffic { flows, waits: self.waits, steps, paths })
    }
}
