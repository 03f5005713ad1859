//! Egress queueing disciplines: which packet is kept, marked, and served next.
//!
//! A discipline knows neither links nor events. When the link is free at `t`, the node that owns the port asks
//! whether a transmission may start (`next_eligible_time`) and then dequeues the packet (`dequeue`). The packet is
//! chosen *at* `t`, never at enqueue, so strict priority, token limits and expiry are exact.

mod aifo;
mod averaged;
mod backlog;
mod bucket;
mod buffer_spec;
mod by_rate;
mod class_map;
mod discipline;
mod disciplines;
mod factory;
mod fifo;
mod findings;
mod kind;
mod kind_rules;
mod limiter;
mod multi_queue;
mod pfabric;
pub mod pfc;
mod pifo;
mod push_out;
mod queue_weights;
mod ranked;
mod ranked_tokens;
mod real_time_wfq;
mod registered;
mod shared_buffer;
mod sp_pifo;
mod strict;
mod strict_first;
mod token_group;
mod trimming;
mod virtual_clock;
mod wfq;

pub use aifo::{Aifo, AifoSpec};
pub use averaged::{Averaged, AveragedSpec};
pub use buffer_spec::{BufferSpec, Ecn};
pub(crate) use by_rate::in_proportion;
pub use by_rate::{ByRate, DerivedLimit};
pub use class_map::{CLASS_IS_QUEUE, ClassMap, QueueOf};
pub use discipline::{Admission, Buffer, Discipline, PortSink, Ramp, Scope, SortBy};
pub use disciplines::{AnyDiscipline, DisciplineKind, DisciplineSpec, KindVisitor, PortKind};
pub use factory::{PortContext, PortFactory, Returns};
pub use fifo::{Fifo, FifoSpec};
pub(crate) use findings::unreachable_threshold;
pub use kind::{PortKeys, register};
pub use kind_rules::{Either, KindRules, OfKind, PortSetup};
pub use limiter::LimitedSpec;
pub use multi_queue::Order;
pub use pfabric::{PFabric, PFabricSpec};
pub(crate) use pifo::PifoSpec;
pub use push_out::{PushOut, PushOutSpec};
pub use queue_weights::QueueWeights;
pub use ranked::{Ranked, RankedSpec};
pub(crate) use real_time_wfq::RealTimeWfqSpec;
pub use registered::{RegisteredKind, RegisteredPort, RegisteredSpec};
pub use shared_buffer::{Alpha, Fill, FreeBytes, SharedBuffer};
pub use strict::{Strict, StrictSpec};
pub use strict_first::{StrictFirst, StrictFirstSpec};
pub use token_group::{TokenGroupSpec, TokenMode, TokenOrder, UnscheduledData};
pub use trimming::{Overflow, Trimming, TrimmingSpec};
pub(crate) use wfq::WfqKeys;
pub use wfq::{Wfq, WfqClock, WfqSpec};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod differential;
