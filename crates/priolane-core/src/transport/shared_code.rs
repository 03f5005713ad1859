//! The code of all endpoints, instantiated in this crate.
//!
//! Without optimization, and at level 1, a crate links the generic code that a crate below it has instantiated and does
//! not compile it again. Four crates drive endpoints: this saves each of them 10 to 15 s of compile time. A release
//! build, which inlines across crates, does without.

use std::any::Any;
use std::sync::Arc;

use super::{EndpointUser, RegisteredController, Transport, window};
use crate::endpoint::{Endpoint, LocalHost};
use crate::host::SchedulerKind;

struct Boxed(LocalHost);

impl EndpointUser for Boxed {
    type Out = Option<Box<dyn Any>>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        // The table of its methods names all of them.
        let endpoint: Box<dyn Endpoint<Body = E::Body>> = Box::new(make(self.0));
        Some(Box::new(endpoint))
    }

    fn run_registered(
        self,
        _: &dyn RegisteredController,
        _: Arc<window::Config>,
        _: SchedulerKind,
    ) -> Self::Out {
        None
    }
}

/// Builds the endpoint of `host`; `None` for a controller of another crate. Only in builds with debug assertions, where
/// its existence is its purpose.
#[doc(hidden)]
pub fn boxed(transport: &Transport, host: LocalHost) -> Option<Box<dyn Any>> {
    transport.with_endpoints(Boxed(host))
}
