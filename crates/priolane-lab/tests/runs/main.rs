//! Experiments from file to tables. One test program: each would link the whole lab again.

mod admission;
mod alternatives;
mod bad_input;
mod coflows;
mod damaged_files;
mod equipment;
mod fingerprints;
mod flow_sizes;
mod lanes;
mod least_times;
mod listed;
mod merged;
mod mistakes;
mod peers;
mod ports;
mod ranked_ports;
mod rates;
mod reacting;
mod reference;
mod reordering;
mod requirement;
mod resume;
mod rivals;
mod token_schemes;
mod units;
mod write_runs;
