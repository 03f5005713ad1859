//! The list of apps. The list generates the enum, its reader and its writer.

use priolane_core::flows::FlowList;
use priolane_core::keys::Table;
use priolane_core::part::parts;

use super::application::Application;
use super::context::{self, WorkloadContext};
use super::error::AppError;
use super::traffic::Traffic;

parts! {
    /// The application that starts flows.
    pub enum App: dyn Application in App by "app" {
        /// The group sends nothing.
        Nothing(super::nothing::Nothing);
        /// Each host starts flows at random times to random hosts (open loop).
        Poisson(super::poisson::Poisson);
        /// Each host, or each pair of hosts, starts flows in bursts separated by idle times (open loop).
        OnOff(super::on_off::OnOff);
        /// Many hosts send to one at the same time, repeatedly.
        Incast(super::incast::Incast);
        /// Each host sends one flow to another host and receives one.
        Permutation(super::permutation::Permutation);
        /// Flows between given pairs of hosts, usually without end.
        LongLived(super::long_lived::LongLived);
        /// Requests and their answers (closed loop).
        Query(super::query::Query);
        /// Ring all-reduce, repeatedly (closed loop).
        Ring(super::ring::Ring);
        /// A collective of all hosts, repeatedly, between computations.
        Collective(super::collective::Collective);
        /// Training by pipeline parallelism: micro-batches pass through stages.
        Pipeline(super::pipeline::Pipeline);
        /// Groups of flows that complete with their last flow, from some hosts to some others (open loop).
        Coflow(super::coflow::Coflow);
        /// The coflows of a recorded trace.
        CoflowTrace(super::coflow_trace::CoflowTrace);
        /// A list of flows.
        Flows(super::flows::Flows);
    }
}

impl App {
    /// Reads `app` and the keys of that app.
    ///
    /// # Errors
    /// Returns the errors of `table`.
    pub fn choose<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        let words: Vec<(&str, &str)> = Self::NAMES.iter().map(|&name| (name, name)).collect();
        let Some(name) = table.take("app", |value| value.word(&words))? else {
            return Err(table.missing("app", "app = \"poisson\""));
        };
        Self::read(name, table).map(|app| app.expect("invariant: the app is on the list"))
    }
}

/// Generates the flows of an app, sorted by start, then source, then the order in which the source starts them. The
/// ids are indices in this list: [`super::merge`] replaces them with those of the run.
///
/// # Errors
/// Returns an [`AppError`] if app and context do not fit, or the list would be too long.
pub fn generate(app: &App, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
    let Traffic { mut flows, .. } = traffic(app, site)?;
    flows.number();
    Ok(flows)
}

/// Generates flows as [`generate`], together with their dependencies. The ids are those within the group, which
/// [`super::merge_traffic`] replaces.
///
/// # Errors
/// Those of [`generate`].
pub fn traffic(app: &App, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
    context::check(site)?;
    let mut traffic = app.part().traffic(site)?;
    traffic.flows.number();
    traffic.flows.sort_by_key(|flow| (flow.start, flow.src));
    Ok(traffic)
}
