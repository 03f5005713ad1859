//! The list of all parts of schemes: name, parameters, source, and requirements on the other rows.
//!
//! A scheme has one choice in each [`Row`]. Choices are compatible if what each `requires` is among what the others
//! `provide`; nothing here depends on pairs of entries.

use std::sync::LazyLock;

use crate::admit::Policy;
use crate::assign::Assign;
use crate::host::Order;
use crate::nic::Nic;
use crate::part::{Capability, Entry, Row};
use crate::port::PortKeys;
use crate::transport::Spec;

/// All parts of schemes, row by row.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let rows = [
        Spec::entries(),
        Assign::entries(),
        Policy::all_entries(),
        Order::entries(),
        Nic::entries(),
        PortKeys::entries(),
    ];
    rows.into_iter().flatten().collect()
});

/// Returns the entry of this name in this row.
pub fn find(row: Row, name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.row == row && entry.name == name)
}

/// Returns the names of a row, in the order of the list.
pub fn names(row: Row) -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| entry.row == row).map(|entry| entry.name).collect()
}

/// A choice in one row: the entry and its parameters that are set.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The chosen entry.
    pub entry: &'static Entry,
    /// The names of its parameters that have a value.
    pub set: Vec<&'static str>,
}

/// Returns the first requirement that no choice meets: the entry, the capability it requires, and the entries that
/// provide it.
pub fn unmet(choices: &[Choice]) -> Option<(&'static Entry, Capability, Vec<&'static Entry>)> {
    let given =
        |capability: Capability| {
            choices.iter().any(|choice| {
                choice.entry.provides.iter().any(|p| {
                    p.capability == capability && p.if_set.is_none_or(|name| choice.set.contains(&name))
                })
            })
        };
    let needs = choices.iter().flat_map(|c| c.entry.requires.iter().map(|&capability| (c.entry, capability)));
    let (entry, capability) = needs.into_iter().find(|&(_, capability)| !given(capability))?;
    let givers = ENTRIES.iter().filter(|e| e.provides.iter().any(|p| p.capability == capability)).collect();
    Some((entry, capability, givers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(row: Row, name: &str, set: &[&'static str]) -> Choice {
        Choice { entry: find(row, name).unwrap(), set: set.to_vec() }
    }

    #[test]
    fn names_are_unique_in_their_row_and_parameters_in_their_entry() {
        for (i, entry) in ENTRIES.iter().enumerate() {
            assert!(ENTRIES[..i].iter().all(|e| (e.row, e.name) != (entry.row, entry.name)), "{entry:?}");
            assert!(!entry.summary.is_empty() && !entry.source.is_empty(), "{}", entry.name);
            for (j, parameter) in entry.parameters.iter().enumerate() {
                assert!(entry.parameters[..j].iter().all(|p| p.name != parameter.name), "{}", parameter.name);
            }
            for provision in entry.provides.iter().filter_map(|p| p.if_set) {
                assert!(entry.parameters.iter().any(|p| p.name == provision), "{provision}");
            }
        }
    }

    #[test]
    fn dctcp_needs_a_port_that_marks() {
        let transport = choice(Row::Transport, "dctcp", &[]);
        let marking = choice(Row::Port, "fifo", &["ecn"]);
        let silent = choice(Row::Port, "fifo", &["buffer"]);
        assert!(unmet(&[transport.clone(), marking]).is_none());
        let (entry, capability, givers) = unmet(&[transport, silent]).unwrap();
        assert_eq!((entry.name, capability), ("dctcp", Capability::CongestionMarks));
        assert!(givers.iter().all(|e| e.row == Row::Port));
    }

    #[test]
    fn token_transports_need_ports_and_nics_for_tokens() {
        for transport in ["expresspass", "top"] {
            let choices = [
                choice(Row::Transport, transport, &[]),
                choice(Row::Port, "tokens", &[]),
                choice(Row::Nic, "tokens", &[]),
                choice(Row::Host, "fifo", &[]),
            ];
            assert!(unmet(&choices).is_none());
            let missing = |without: usize| {
                let rest: Vec<Choice> = choices
                    .iter()
                    .enumerate()
                    .filter(|&(i, _)| i != without)
                    .map(|(_, c)| c.clone())
                    .collect();
                unmet(&rest).map(|(_, capability, _)| capability)
            };
            assert_eq!(missing(1), Some(Capability::TokenPorts));
            assert_eq!(missing(2), Some(Capability::TokenQueue));
        }
    }

    #[test]
    fn a_ranked_port_needs_a_transport_that_ranks() {
        let ranked = choice(Row::Port, "ranked", &["ecn"]);
        for transport in names(Row::Transport) {
            // Token ports sort by their own rank; NDP also needs a port that trims.
            let ranks = !["expresspass", "top"].contains(&transport);
            let needs = unmet(&[choice(Row::Transport, transport, &[]), ranked.clone()]);
            let met = needs.is_none_or(|(_, needs, _)| needs == Capability::Trimming);
            assert_eq!(met, ranks, "{transport}");
        }
        let (entry, capability, givers) = unmet(&[ranked]).unwrap();
        assert_eq!((entry.name, capability), ("ranked", Capability::Ranks));
        assert!(givers.iter().all(|e| e.row == Row::Transport));
    }

    #[test]
    fn a_host_order_needs_a_nic_that_keeps_it() {
        let fits = |host, nic| unmet(&[choice(Row::Host, host, &[]), choice(Row::Nic, nic, &[])]).is_none();
        let table: Vec<(&str, [bool; 3])> = names(Row::Host)
            .into_iter()
            .map(|host| (host, ["pull", "fifo", "host"].map(|nic| fits(host, nic))))
            .collect();
        let expected = [
            ("round_robin", [true, false, false]),
            ("mlfq", [true, false, true]),
            ("srpt", [true, false, false]),
            ("las", [true, false, false]),
            ("fifo", [false, true, true]),
            ("own", [true, false, false]),
        ];
        assert_eq!(table, expected);
    }
}
