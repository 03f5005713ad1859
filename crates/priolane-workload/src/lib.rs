//! Workloads: the flows of a run, with their sources, destinations, sizes and start times.
//!
//! An [`App`] and the [`WorkloadContext`] it runs in determine a flow list. Random choices come from streams keyed
//! by (seed, purpose, group and host), so the flows do not depend on the scheme under test or on other hosts or
//! groups. Arrival times are summed in whole picoseconds.
//!
//! Each app is a file with its keys and an [`Application`] that generates its flows. `app.rs` lists the apps.

mod app;
mod application;
mod clock;
mod coflow;
mod coflow_count;
mod coflow_trace;
mod collective;
mod context;
mod destinations;
mod error;
mod flow_factory;
mod flows;
mod incast;
mod listed;
mod load;
mod long_lived;
mod nothing;
mod on_off;
mod open_loop;
mod payload;
mod permutation;
mod pipeline;
mod poisson;
mod query;
mod rescaling;
mod ring;
mod rounds;
mod row_graph;
mod strata;
mod traffic;
mod warm_start;

pub mod flow_list;
pub mod import;
pub mod offered;
mod size_cells;
pub mod size_csv;
pub mod sizes;

#[cfg(test)]
mod tests;

pub use app::{App, generate, traffic};
pub use application::{Application, Deadlines, Listing, Lists};
pub use coflow::{Arrivals, Coflow, FlowBytes, Parts};
pub use coflow_count::Count;
pub use coflow_trace::CoflowTrace;
pub use collective::{Collective, MessageConnections, Operation};
pub use context::{
    InitialState, LATEST_START, LoadChange, MAX_FLOWS, MinimumLatency, NewValue, Until, WorkloadContext,
};
pub use destinations::DestinationScope;
pub use error::AppError;
pub use flows::{Flows, List, ListedFlow};
pub use incast::{Epochs, Incast};
pub use load::{Counts, Load, LoadOf, Share, mean_bytes};
pub use long_lived::{LongLived, PairFlows, Pairs, Rule, RulePairs, Shift, ToOne};
pub use nothing::Nothing;
pub use on_off::{BurstModel, Bursts, MAX_BURST, OnOff};
pub use open_loop::OpenLoop;
pub use payload::Starts;
pub use permutation::Permutation;
pub use pipeline::{Pipeline, Schedule};
pub use poisson::Poisson;
pub use query::{Pauses, Query};
pub use ring::Ring;
pub use sizes::Sizes;
pub use strata::SizeDraw;
pub use traffic::{StatedPath, Traffic, independent, merge, merge_traffic};
