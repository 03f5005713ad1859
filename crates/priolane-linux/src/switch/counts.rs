//! What a switch in user space counts.

use priolane_core::ids::CLASSES;
use serde::{Deserialize, Serialize};

/// What a port counted of the packets of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCount {
    /// Packets sent.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets dropped: those that found no room, and those that were pushed out.
    pub dropped: u64,
    /// Packets marked (CE).
    pub marked: u64,
    /// Packets whose payload was cut off.
    pub trimmed: u64,
    /// Packets (tokens) that expired.
    pub expired: u64,
    /// From arrival to start of service, the sum over packets, in picoseconds.
    pub waited_ps: u64,
}

/// What a port counted, by class.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortCounts {
    /// The cable, by its place in the list.
    pub cable: usize,
    /// The end of the cable that it is at.
    pub end: usize,
    /// By class.
    pub classes: [ClassCount; CLASSES],
    /// Most bytes on the wire that waited in its queues of payload at once, without the packet that was being sent.
    pub longest_queue: u64,
}

/// What a switch counted besides its ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardCounts {
    /// Packets that were none of priolane; they were forwarded in the last class.
    pub foreign: u64,
    /// Datagrams that began as a packet of priolane and were none; forwarded as the above.
    pub malformed: u64,
    /// Datagrams that were sealed with a key, and dropped: a switch cannot read them.
    pub sealed: u64,
    /// Packets that were whole IPv4 packets of no host here, or none, and dropped.
    pub unroutable: u64,
    /// Packets dropped because the process keeps no more.
    pub no_room: u64,
    /// Payload of foreign packets that was to be cut off; the packets were dropped.
    pub uncut: u64,
    /// Times that a port was late by more than is made up.
    pub late: u64,
    /// The longest that a port was late then, in nanoseconds.
    pub latest_ns: u64,
    /// Packets that the system lost before they were read.
    pub lost_in_socket: u64,
    /// Packets that the system refused to send.
    pub refused: u64,
}

/// What a switch counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchReport {
    /// The switch.
    pub switch: u16,
    /// By port.
    pub ports: Vec<PortCounts>,
    /// Besides its ports.
    pub counts: ForwardCounts,
    /// Why its process was not real-time; `None` if it was.
    pub not_real_time: Option<String>,
}

impl ForwardCounts {
    /// What is to be known of it, in words.
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
