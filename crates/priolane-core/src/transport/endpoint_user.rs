//! Code that is generic over the endpoint type.

use std::sync::Arc;

use super::{RegisteredController, window};
use crate::endpoint::{Endpoint, LocalHost};
use crate::host::SchedulerKind;

/// A computation on an endpoint type that depends on the [`super::Transport`], such as a run.
pub trait EndpointUser {
    /// The result of the computation.
    type Out;

    /// Runs the computation; `make` builds the endpoint of a host.
    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out;

    /// Runs the computation with the window transport under a controller of another crate, whose engine holds
    /// the endpoint type.
    fn run_registered(
        self,
        controller: &dyn RegisteredController,
        window: Arc<window::Config>,
        scheduler: SchedulerKind,
    ) -> Self::Out;
}
