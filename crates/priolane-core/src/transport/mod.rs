//! Transports: congestion control and reliable delivery.
//!
//! [`window`] implements reliable delivery for all window-based transports; each congestion controller that
//! sets its window has a file of its own.

mod coexist;
mod common;
mod common_rtt;
mod controllers;
pub mod cubic;
pub mod d2tcp;
pub mod dcqcn;
pub mod dctcp;
pub mod delay;
mod endpoint_user;
pub mod homa;
pub mod hpcc;
pub mod ledbat;
mod machine;
mod machines;
pub mod ndp;
pub mod new_reno;
pub mod nscc;
mod on_window;
pub mod paccp;
pub mod pfabric;
pub mod phost;
pub mod prioplus;
pub mod receiver_driven;
mod registered;
mod spec;
pub mod swift;
pub mod timely;
pub mod tokens;
pub mod window;

pub use coexist::{CoexistenceError, Coexists, TransportsByGroup};
pub use common::Stamp;
pub use common_rtt::CommonRtt;
pub use controllers::Controller;
pub use endpoint_user::EndpointUser;
pub use machine::{Cost, Machine, Reports, Setup, TransportKeys};
pub use machines::{Spec, Transport};
pub use on_window::{ControllerParams, QueueLimit};
pub use registered::RegisteredController;
pub use spec::register;
