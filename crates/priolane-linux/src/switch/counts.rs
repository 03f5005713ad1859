//! The counters of a switch in user space.

use priolane_core::ids::CLASSES;
use serde::{Deserialize, Serialize};

/// The counters of a port for the packets of one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCount {
    /// The number of packets sent.
    pub packets: u64,
    /// The bytes of these packets on the wire.
    pub bytes: u64,
    /// The number of packets dropped, on arrival or later to make room for others.
    pub dropped: u64,
    /// The number of packets marked (CE).
    pub marked: u64,
    /// The number of packets whose payload was cut off.
    pub trimmed: u64,
    /// The number of packets (tokens) that expired.
    pub expired: u64,
    /// The waiting time from arrival to start of service, summed over packets, in picoseconds.
    pub waited_ps: u64,
}

/// The counters of a port, by class.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortCounts {
    /// The index of the cable in the list of cables.
    pub cable: usize,
    /// The end of the cable at which the port is: 0 or 1.
    pub end: usize,
    /// The counters of each class.
    pub classes: [ClassCount; CLASSES],
    /// The largest number of bytes on the wire that waited in the queues of payload at once, without the packet that
    /// was being sent.
    pub longest_queue: u64,
}

/// The counters of a switch that do not belong to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardCounts {
    /// The number of packets of other programs, which were forwarded in the last class.
    pub foreign: u64,
    /// The number of datagrams that began like a packet of priolane but were malformed, and were forwarded in the last
    /// class.
    pub malformed: u64,
    /// The number of datagrams that were sealed with a key, and were dropped because a switch cannot read them.
    pub sealed: u64,
    /// The number of packets that were dropped because they are not whole IPv4 packets, or their receiver is not a host
    /// of the network.
    pub unroutable: u64,
    /// The number of packets that were dropped because the switch stores no more frames.
    pub no_room: u64,
    /// The number of packets that were dropped because their payload was to be cut off and their header could not be
    /// read.
    pub uncut: u64,
    /// The number of times that a port was late by more than it makes up for.
    pub late: u64,
    /// The longest delay of a port that was late, in nanoseconds.
    pub latest_ns: u64,
    /// The number of packets that the system lost before they were read.
    pub lost_in_socket: u64,
    /// The number of packets that the system refused to send.
    pub refused: u64,
}

/// The counters of a switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchReport {
    /// The number of the switch.
    pub switch: u16,
    /// The counters of each port.
    pub ports: Vec<PortCounts>,
    /// The counters that do not belong to a port.
    pub counts: ForwardCounts,
    /// The reason why the process was not real-time; `None` if it was.
    pub not_real_time: Option<String>,
}

impl ForwardCounts {
    /// Returns a warning, in words, for each counter that makes a measurement doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let named = [
            (
                self.sealed,
                "datagrams that are sealed with a key were dropped: use switches of the kernel, or no key",
            ),
            (self.lost_in_socket, "packets were lost in its sockets before they were read"),
            (self.refused, "packets were refused by the system"),
            (self.no_room, "packets found no memory"),
            (self.malformed, "packets of priolane were malformed"),
            (self.foreign, "packets were not of priolane"),
        ];
        let counted = named.into_iter().filter(|(count, _)| *count > 0);
        let mut all: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
        if self.late > 0 {
            let worst = self.latest_ns as f64 / 1e6;
            all.push(format!(
                "{} times a port was late by more than is made up, at worst by {worst:.1} ms, and its line lost rate",
                self.late
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_that_spoils_a_measurement_has_its_warning() {
        assert_eq!(ForwardCounts::default().warnings(), Vec::<String>::new());
        // Packets without a host here, and headers that were not cut, spoil nothing.
        let harmless = ForwardCounts { unroutable: 1, uncut: 1, latest_ns: 1, ..ForwardCounts::default() };
        assert_eq!(harmless.warnings(), Vec::<String>::new());
        let all = ForwardCounts {
            foreign: 1,
            malformed: 2,
            sealed: 3,
            no_room: 4,
            late: 5,
            latest_ns: 1_500_000,
            lost_in_socket: 6,
            refused: 7,
            ..ForwardCounts::default()
        };
        let warnings = all.warnings();
        let counts: Vec<&str> = warnings.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(counts, ["3", "6", "7", "4", "2", "1", "5"]);
        assert!(warnings[6].contains("at worst by 1.5 ms"), "{warnings:?}");
    }
}
