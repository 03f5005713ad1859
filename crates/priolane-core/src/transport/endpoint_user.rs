//! What is done with an endpoint, whatever its type.

use crate::endpoint::{Endpoint, LocalHost};

/// Something that is done with one endpoint type, whichever a [`Transport`] turns out to need: a run.
pub trait EndpointUser {
    /// What it results in.
    type Out;

    /// Does it; `make` builds the endpoint of a host.
    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out;
}
