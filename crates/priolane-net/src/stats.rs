//! Counters of a host.

/// The counters of a host since it was bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Messages of this host that were delivered.
    pub delivered: u64,
    /// Bytes of the delivered messages.
    pub delivered_bytes: u64,
    /// Messages of this host that failed.
    pub failed: u64,
    /// Messages that arrived at this host.
    pub arrived: u64,
    /// Bytes of the messages that arrived.
    pub arrived_bytes: u64,
    /// Messages to this host that were dropped before they had arrived completely, because their sender restarted, gave
    /// them up or fell silent.
    pub dropped: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Datagrams that are neither a packet of a transport nor a control message, including those with another key.
    pub malformed: u64,
    /// Packets of unknown hosts.
    pub strangers: u64,
    /// Packets with payload for which there was no memory.
    pub no_room: u64,
    /// Packets of messages that are longer than `limits.message`.
    pub too_long: u64,
    /// Datagrams that the system lost before they were read, because `limits.socket` was too small for a burst. A group
    /// counts once.
    pub lost_in_socket: u64,
    /// The number of times that the system's send buffer was full.
    pub blocked: u64,
    /// Datagrams that the system refused to send.
    pub refused: u64,
    /// Datagrams that the kernel cut from larger buffers (`Config::segmentation`).
    pub segments: u64,
    /// Groups of datagrams that the kernel refused to cut and that were sent singly.
    pub segmentation_refused: u64,
    /// Groups of two or more datagrams that the kernel passed as one (`Config::receive_offload`).
    pub groups_received: u64,
    /// 1 if groups were requested and the kernel does not support them, otherwise 0.
    pub receive_offload_refused: u64,
    /// Tokens for which the host's queue had no room.
    pub tokens_dropped: u64,
    /// Packets that arrived with a congestion mark.
    pub marked: u64,
    /// The number of times that the host's thread woke up.
    pub wakeups: u64,
    /// Peers that are known now.
    pub peers: u64,
    /// Messages that are being received now.
    pub receiving: u64,
    /// Memory of the messages that are being received and kept, in bytes.
    pub receiving_bytes: u64,
    /// The number of times that a sender which had been asked for two bandwidth-delay products of data sent none of it.
    pub unanswered: u64,
}

impl Stats {
    /// Returns every counter with its name, in the order of the fields.
    pub fn counts(&self) -> [(&'static str, u64); 26] {
        [
            ("delivered", self.delivered),
            ("delivered_bytes", self.delivered_bytes),
            ("failed", self.failed),
            ("arrived", self.arrived),
            ("arrived_bytes", self.arrived_bytes),
            ("dropped", self.dropped),
            ("datagrams_sent", self.datagrams_sent),
            ("datagrams_received", self.datagrams_received),
            ("malformed", self.malformed),
            ("strangers", self.strangers),
            ("no_room", self.no_room),
            ("too_long", self.too_long),
            ("lost_in_socket", self.lost_in_socket),
            ("blocked", self.blocked),
            ("refused", self.refused),
            ("segments", self.segments),
            ("segmentation_refused", self.segmentation_refused),
            ("groups_received", self.groups_received),
            ("receive_offload_refused", self.receive_offload_refused),
            ("tokens_dropped", self.tokens_dropped),
            ("marked", self.marked),
            ("wakeups", self.wakeups),
            ("peers", self.peers),
            ("receiving", self.receiving),
            ("receiving_bytes", self.receiving_bytes),
            ("unanswered", self.unanswered),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_has_the_name_and_the_value_of_its_field() {
        let stats = Stats {
            delivered: 1,
            delivered_bytes: 2,
            failed: 3,
            arrived: 4,
            arrived_bytes: 5,
            dropped: 6,
            datagrams_sent: 7,
            datagrams_received: 8,
            malformed: 9,
            strangers: 10,
            no_room: 11,
            too_long: 12,
            lost_in_socket: 13,
            blocked: 14,
            refused: 15,
            segments: 16,
            segmentation_refused: 17,
            groups_received: 18,
            receive_offload_refused: 19,
            tokens_dropped: 20,
            marked: 21,
            wakeups: 22,
            peers: 23,
            receiving: 24,
            receiving_bytes: 25,
            unanswered: 26,
        };
        let counts = stats.counts().map(|(name, count)| format!("{name}: {count}"));
        assert_eq!(format!("{stats:?}"), format!("Stats {{ {} }}", counts.join(", ")));
    }
}
