//! Reads networks of other simulators: `topology.txt` of HPCC and its relatives, and topologies of htsim.

use std::io::BufRead;

use priolane_source::InputError;
use priolane_source::csv::Lines;

use super::bonds::Bond;
use super::network::Network;
use super::options::Text;
use super::{hpcc_topology, htsim_topology};

/// Reads a network called `name` in messages; `bond` says what becomes of hosts with several links.
///
/// # Errors
/// Fails if the text is not a topology, its numbers contradict each other, or priolane does not support the network.
pub fn read(text: &mut dyn BufRead, name: &str, bond: Option<Bond>) -> Result<Network, InputError> {
    if !text.fill_buf().is_ok_and(htsim_topology::is_topology) {
        return hpcc_topology::read(text, name, bond);
    }
    let mut lines: Text<'_> = Lines::new(text, name);
    if bond.is_some() {
        let what = "hosts have one link each in a topology of htsim, so --bond has no meaning";
        return Err(lines.whole(what, "Remove --bond"));
    }
    htsim_topology::read(&mut lines)
}
