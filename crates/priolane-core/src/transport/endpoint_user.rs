//! What is done with an endpoint, whatever its type.

use std::sync::Arc;

use super::{Registered, window};
use crate::endpoint::{Endpoint, LocalHost};
use crate::host::SchedulerKind;

/// Something that is done with one endpoint type, whichever a [`super::Transport`] turns out to need: a run.
pub trait EndpointUser {
    /// What it results in.
    type Out;

    /// Does it; `make` builds the endpoint of a host.
    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out;

    /// Does it with the window machine under a controller of another crate, whose engine has the endpoint's type.
    fn run_registered(
        self,
        controller: &dyn Registered,
        window: Arc<window::Config>,
        scheduler: SchedulerKind,
    ) -> Self::Out;
}
