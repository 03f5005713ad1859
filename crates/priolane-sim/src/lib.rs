//! Packet-level simulation: nodes, links, topologies, and two engines that agree to the bit.
//!
//! A run needs no file. Two DCTCP flows of 1 MB share the link to a third host, which the slower one leaves after the time
//! of 2 MB:
//!
//! ```
//! use priolane_core::endpoint::FlowSpec;
//! use priolane_core::host::SchedulerKind;
//! use priolane_core::ids::{FlowId, HostId};
//! use priolane_core::packet::Frame;
//! use priolane_core::port::{Buffer, DisciplineSpec, FifoSpec};
//! use priolane_core::transport::{Controller, Transport, dctcp, window};
//! use priolane_core::units::{Limit, Rate, Span, Time};
//! use priolane_sim::scenario::{Awaited, PortSpec, ScenarioSpec, Stop};
//! use priolane_sim::topology::{LinkSpec, SingleSwitch};
//! use priolane_sim::{Drive, Simulation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host_link = LinkSpec::lossless(Rate::from_gbps(10), Span::from_us(1));
//! let topology = SingleSwitch { hosts: 3, host_link }.build()?;
//! let buffer = Buffer { mark_above: Limit::Packets(65), ..Buffer::UNLIMITED };
//! let port = PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer };
//! let ports = vec![port; topology.links.len()];
//! let transport = Transport::Window {
//!     window: window::Config::new(Frame::ETHERNET),
//!     controller: Controller::Dctcp(dctcp::Config::default()),
//!     scheduler: SchedulerKind::RoundRobin,
//! };
//! let flow = |id: u32| FlowSpec::new(FlowId(id), (HostId(id as u16), HostId(2)), Some(1_000_000));
//! let flows = vec![flow(0), flow(1)].into();
//! let limit = Time(1_000_000_000_000);
//! let stop = Stop::WhenDone { awaits: Awaited::Finite, grace: Span::from_ms(1), not_before: Time::ZERO, limit };
//! let scenario = ScenarioSpec::new(topology, ports, transport, flows, stop).build()?;
//! let outcome = Simulation::of(&scenario).run(Drive::default())?;
//! let slowest = outcome.flows.iter().filter_map(|flow| flow.fct).max();
//! assert!(slowest.is_some_and(|fct| fct > Span::from_us(1_600) && fct < Span::from_us(1_800)));
//! # Ok(())
//! # }
//! ```

mod device;
mod drive;
mod engine;
mod model;
mod observe;
mod registered;
mod run;

pub use drive::Drive;
pub use engine::stop::OnProgress;
pub use engine::window::NodeOrder;
pub use engine::window::{Fallback, PartTimes, Threads, barrier_time, window_length};
pub use model::{dependencies, outage, scenario, topology};
pub use observe::phase::{Phase, PhaseMarker};
pub use observe::{outcome, records, trace};
pub use registered::register;
pub use run::Simulation;
