//! Imports, counted by hand: samples of every format, odd rows included.

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../import_samples/", $name))
    };
}

mod files;
mod flow_records;
mod guess;
mod htsim_topologies;
mod packets;
mod simulators;
mod support;
