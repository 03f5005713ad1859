//! The apps, each once: the list makes the enum, its reader and its writer.

use priolane_core::flows::FlowList;
use priolane_core::part::parts;
use priolane_source::{InputError, Reader, Sources};

use super::application::Application;
use super::context::{self, WorkloadContext};
use super::error::AppError;
use super::traffic::Traffic;

parts! {
    /// What starts flows.
    pub enum App: dyn Application in App by "app" {
        /// The group sends nothing.
        Nothing(super::nothing::Nothing);
        /// Each host starts flows at random instants to random hosts (open loop).
        Poisson(super::poisson::Poisson);
        /// Each host, or each pair of hosts, starts flows in bursts with idle times between them (open loop).
        OnOff(super::on_off::OnOff);
        /// Many hosts send to one at once, over and over.
        Incast(super::incast::Incast);
        /// Each host sends one flow to another, each receives one.
        Permutation(super::permutation::Permutation);
        /// Flows between stated pairs, usually without end.
        LongLived(super::long_lived::LongLived);
        /// Requests and their answers (closed loop).
        Query(super::query::Query);
        /// Ring all-reduce, over and over (closed loop).
        Ring(super::ring::Ring);
        /// Flows of which the last one counts, from some hosts to some others (open loop).
        Coflow(super::coflow::Coflow);
        /// The coflows of a recorded trace.
        CoflowTrace(super::coflow_trace::CoflowTrace);
        /// A list of flows.
        Flows(super::flows::Flows);
    }
}

impl App {
    /// Reads `app`, the keys of that app and the files that they name.
    ///
    /// # Errors
    /// The first mistake.
    pub fn open(keys: &mut Reader<'_>, files: &mut Sources) -> Result<Self, InputError> {
        let name = keys.need("app", "app = \"poisson\"")?.one_of(Self::NAMES)?;
        let mut app = Self::read(name, keys)?.expect("invariant: the app is on the list");
        app.part_mut().open(keys, files)?;
        Ok(app)
    }
}

/// The flows of an app, sorted by start, then source, then the order in which the source starts them. Their ids are
/// places in this list: [`super::merge`] gives them those of the run.
///
/// # Errors
/// An [`AppError`] where app and site do not fit, or the list would be too long.
pub fn generate(app: &App, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
    let Traffic { mut flows, .. } = traffic(app, site)?;
    flows.number();
    Ok(flows)
}

/// As [`generate`], with what waits for what; flows have ids among those of their group, which
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
