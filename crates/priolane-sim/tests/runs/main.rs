//! Whole runs of small scenarios. One test program: each would compile both engines again.

mod support;

mod adaptation;
mod admission;
mod contracts;
mod data_priority;
mod dependencies;
mod engines;
mod failures;
mod homa;
mod hpcc;
mod lossless;
mod ndp;
mod nic_ports;
mod notices;
mod ns3_unit;
mod paccp;
mod pfabric;
mod phost;
mod properties;
mod push_out;
mod rotation;
mod spray;
mod telemetry;
mod theory;
mod threads;
mod thresholds_at_work;
mod token_group;
mod token_slots;
mod tokens;
mod trace;
mod uncontended;
mod virtual_priority;
