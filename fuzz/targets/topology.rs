//! Topology files: a network in which hosts reach each other, or an error with its line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_core::ids::HostId;
use priolane_sim::topology::TopologyError;
use priolane_sim::topology::file::parse;

fuzz_target!(|text: &str| match parse(text) {
    Ok(topology) => {
        let last = HostId((topology.hosts - 1) as u16);
        assert_eq!(topology.path(HostId(0), last, 3).is_empty(), topology.hosts == 1);
    }
    Err(error) => assert!(!matches!(error, TopologyError::Line { line: 0, .. })),
});
