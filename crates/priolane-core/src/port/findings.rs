//! Marking thresholds, buffers and pause thresholds that do not go together.

use super::pfc::{Pfc, Xoff};
use super::{BufferSpec, Ecn, PortKeys, Scope};
use crate::finding::{Finding, LosslessFacts, MarkUse, NetworkFacts, QueueFacts, bytes};
use crate::packet::Frame;
use crate::quantity::{about_bytes, show_limit, show_rate};
use crate::units::{Limit, Rate};

impl BufferSpec {
    /// Returns the most that waits at a port on a link of `rate` if only `queues` of its queues hold packets, and no
    /// other port of the switch does.
    pub fn room(&self, rate: Rate, queues: u8) -> Limit {
        let queues = u64::from(queues.max(1));
        match (self, self.limit_at(rate)) {
            (Self::Unbounded | Self::ZeroLoss { .. }, _) => Limit::Unlimited,
            (Self::PerQueue { .. }, Limit::Bytes(n)) => Limit::Bytes(n.saturating_mul(queues)),
            (Self::PerQueue { .. }, Limit::Packets(n)) => Limit::Packets(n.saturating_mul(queues as u32)),
            // n queues at their limits hold n alpha / (1 + n alpha) of the memory (`shared_buffer`).
            (Self::Dynamic { size, alpha, .. }, _) => {
                let (over, under) = alpha.parts();
                let shares = u128::from(over) * u128::from(queues);
                Limit::Bytes((u128::from(*size) * shares / (shares + u128::from(under))) as u64)
            }
            (Self::Shared { .. } | Self::PushOut { .. } | Self::PerQueue { .. }, limit) => limit,
        }
    }
}

impl PortKeys {
    /// Returns the facts about one queue of a port on a link of `rate`.
    pub fn queue_facts(&self, rate: Rate) -> QueueFacts {
        let marks_above = self.ecn.as_ref().and_then(|ecn| ecn.threshold(rate));
        let memory = self.buffer.memory().map(|memory| memory.size);
        QueueFacts { rate, holds: self.room(rate, 1), memory, marks_above }
    }

    /// Returns which of its settings do not go together on a network, as those of switch ports.
    pub fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let mut all = self.kind.findings(network);
        let rates: Vec<Rate> = network.switch_ports.iter().map(|port| port.rate).collect();
        all.extend(self.marking(&rates, network));
        if let (Some(pfc), Some(lossless)) = (&self.pfc, network.lossless) {
            all.extend(pfc.findings(self, lossless, network));
        }
        all
    }

    /// As [`Self::findings`], of a transmit queue of hosts.
    pub fn findings_at_hosts(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.marking(network.host_rates, network).into_iter().collect()
    }

    /// A threshold at or above the room of the queues that it counts.
    fn marking(&self, rates: &[Rate], network: &NetworkFacts<'_>) -> Option<Finding> {
        let ecn = self.ecn.as_ref()?;
        let queues = if ecn.per == Scope::Port { self.kind.part().queues() } else { 1 };
        let room = |rate| self.room(rate, queues);
        unreachable_threshold(ecn, &room, rates, network, "switch ports")
    }

    fn room(&self, rate: Rate, queues: u8) -> Limit {
        match (&self.pfc, self.buffer.memory()) {
            // Lossless classes are paused, and not limited by dynamic thresholds.
            (Some(_), Some(memory)) => Limit::Bytes(memory.size),
            _ => self.buffer.room(rate, queues),
        }
    }
}

/// Returns a finding if packets are never marked at some of `rates`, because `room` is used up below the threshold.
pub(crate) fn unreachable_threshold(
    ecn: &Ecn,
    room: &dyn Fn(Rate) -> Limit,
    rates: &[Rate],
    network: &NetworkFacts<'_>,
    place: &str,
) -> Option<Finding> {
    if network.marks == MarkUse::Ignored {
        return None;
    }
    let never = |&&rate: &&Rate| ecn.threshold(rate).is_some_and(|k| !marks(k, room(rate), &network.frame));
    let unmarked: Vec<Rate> = rates.iter().filter(never).copied().collect();
    let at = |&rate: &Rate| {
        let (k, room) = (ecn.threshold(rate).unwrap_or(Limit::Unlimited), room(rate));
        format!("at {} they mark above {} and hold {}", show_rate(rate), show_limit(k), show_limit(room))
    };
    let first = unmarked.first()?;
    let shown: Vec<String> = unmarked.iter().map(at).collect();
    let what = format!(
        "{place} never mark, because their buffer is full before the threshold is reached: {}",
        shown.join(", ")
    );
    let k = ecn.threshold(*first).and_then(|k| bytes(k, &network.frame)).unwrap_or_default();
    let fix = format!(
        "a threshold (ecn) below the buffer, or a buffer well above {} at {}; [switch] and [host] set both for all schemes",
        about_bytes(k),
        show_rate(*first)
    );
    Some(Finding::warning("ecn", what, fix))
}

/// Returns whether full packets in a queue with this room can exceed the threshold.
fn marks(threshold: Limit, room: Limit, frame: &Frame) -> bool {
    let full = u64::from(frame.max_wire());
    let packets = match room {
        Limit::Packets(n) => n,
        Limit::Bytes(n) => u32::try_from(n / full).unwrap_or(u32::MAX),
        Limit::Unlimited => return threshold != Limit::Unlimited,
    };
    threshold.is_exceeded(packets, u64::from(packets) * full)
}

impl Pfc {
    fn findings(&self, port: &PortKeys, lossless: LosslessFacts, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let pause = self.pause_threshold(lossless);
        let all = [
            no_memory(lossless, &network.frame),
            self.hasty(pause, &network.frame),
            pause_before_mark(pause, port, network),
        ];
        all.into_iter().flatten().collect()
    }

    /// Returns the bytes of one ingress port at which a class is paused if all other memory is free.
    fn pause_threshold(&self, lossless: LosslessFacts) -> u64 {
        match self.xoff {
            Xoff::Bytes(bytes) => bytes,
            // The account grows to a = alpha (free - a).
            Xoff::OfFree(alpha) => {
                let (over, under) = alpha.parts();
                let free = u128::from(lossless.memory.saturating_sub(lossless.reserved));
                (free * u128::from(over) / (u128::from(over) + u128::from(under))) as u64
            }
        }
    }

    /// A pause threshold below a packet, or one at which a class resumes only when nothing is left.
    fn hasty(&self, pause: u64, frame: &Frame) -> Option<Finding> {
        let packet = u64::from(frame.max_wire());
        let (what, fix) = if pause < packet {
            let what = format!(
                "a class is paused above {} of one ingress port, less than a packet of {packet}B: every packet pauses \
                 its sender",
                about_bytes(pause)
            );
            (what, "a higher xoff, or more memory")
        } else if pause <= self.xon_below {
            let what = format!(
                "a class is paused above {} and resumed {} below that: only when its account is empty",
                about_bytes(pause),
                about_bytes(self.xon_below)
            );
            (what, "a smaller xon_below, or a higher xoff")
        } else {
            return None;
        };
        Some(Finding::warning("pfc.xoff", what, fix))
    }
}

/// Headroom that leaves no memory for packets before a pause.
fn no_memory(lossless: LosslessFacts, frame: &Frame) -> Option<Finding> {
    let left = lossless.memory.saturating_sub(lossless.reserved);
    if left >= u64::from(frame.max_wire()) {
        return None;
    }
    let what = format!(
        "the headroom of lossless classes takes {} of {}, which leaves no room for one packet: every packet pauses its sender",
        about_bytes(lossless.reserved),
        about_bytes(lossless.memory)
    );
    Some(Finding::warning("buffer", what, "more memory, fewer classes, or pfc.headroom = \"free\""))
}

/// A class that is paused before its packets are marked.
fn pause_before_mark(pause: u64, port: &PortKeys, network: &NetworkFacts<'_>) -> Option<Finding> {
    if network.marks == MarkUse::Ignored {
        return None;
    }
    let ecn = port.ecn.as_ref()?;
    let threshold = |rate: Rate| ecn.threshold(rate).and_then(|k| bytes(k, &network.frame));
    let late = |queue: &&QueueFacts| threshold(queue.rate).is_some_and(|k| k >= pause);
    let queue = network.switch_ports.iter().find(late)?;
    let what = format!(
        "packets of one sender are marked above {} at {}, but their class is paused above {}: pauses and not marks \
         slow a sender down",
        about_bytes(threshold(queue.rate)?),
        show_rate(queue.rate),
        about_bytes(pause)
    );
    Some(Finding::warning("pfc.xoff", what, "an xoff above the marking threshold"))
}

#[cfg(test)]
mod tests {
    use super::super::Alpha;
    use super::super::pfc::HeadroomFrom;
    use super::*;

    #[test]
    fn a_threshold_is_reached_where_the_room_holds_one_packet_more() {
        let reached = |threshold, room| marks(threshold, room, &Frame::ETHERNET);
        let ten = Limit::Packets(10);
        assert_eq!([10, 11].map(|room| reached(ten, Limit::Packets(room))), [false, true]);
        // 11 packets of 1,538 B are 16,918 B.
        assert_eq!([16_917, 16_918].map(|room| reached(ten, Limit::Bytes(room))), [false, true]);
        assert_eq!([16_918, 16_917].map(|at| reached(Limit::Bytes(at), Limit::Packets(11))), [false, true]);
        assert!(reached(ten, Limit::Unlimited) && reached(Limit::Bytes(1), Limit::Unlimited));
        assert!(!reached(Limit::Unlimited, Limit::Unlimited) && !reached(Limit::Unlimited, ten));
    }

    fn pfc(xoff: Xoff, xon_below: u64) -> Pfc {
        let (headroom_least, headroom_round_trips) = (0, 0);
        let headroom = HeadroomFrom::Memory;
        Pfc {
            classes: vec![0],
            xoff,
            xon_below,
            headroom,
            headroom_least,
            headroom_round_trips,
            watchdog: None,
        }
    }

    #[test]
    fn a_class_is_paused_by_more_than_a_packet_and_resumed_before_nothing_is_left() {
        let message = |pause, xon_below| {
            let finding = pfc(Xoff::Bytes(pause), xon_below).hasty(pause, &Frame::ETHERNET);
            finding.map(|finding| finding.conflict.what)
        };
        let of_each = message(1_537, 0).unwrap();
        assert!(of_each.contains("every packet pauses its sender"), "{of_each}");
        assert_eq!(message(1_538, 1_537), None);
        let late = message(1_538, 1_538).unwrap();
        assert!(late.contains("only when its account is empty"), "{late}");
        assert_eq!([3_000, 3_001].map(|pause| message(pause, 3_000).is_none()), [false, true]);
    }

    #[test]
    fn headroom_leaves_memory_for_a_packet() {
        let left = |left: u64| {
            no_memory(LosslessFacts { memory: 10_000 + left, reserved: 10_000 }, &Frame::ETHERNET)
        };
        assert_eq!([0, 1_537, 1_538].map(|bytes| left(bytes).is_some()), [true, true, false]);
        let more = LosslessFacts { memory: 10_000, reserved: 10_001 };
        assert!(no_memory(more, &Frame::ETHERNET).is_some());
    }

    #[test]
    fn a_share_of_what_is_free_is_what_an_account_grows_to() {
        // a = alpha (free - a): of 90,000 free bytes, an alpha of 1/8 leaves 10,000, of 1/2 30,000, and of 2 60,000.
        let facts = LosslessFacts { memory: 100_000, reserved: 10_000 };
        for (over, under, bytes) in [(1, 8, 10_000), (1, 2, 30_000), (2, 1, 60_000)] {
            let alpha = Alpha::new((over, under)).unwrap();
            assert_eq!(pfc(Xoff::OfFree(alpha), 0).pause_threshold(facts), bytes);
        }
        assert_eq!(pfc(Xoff::Bytes(777), 0).pause_threshold(facts), 777);
    }
}
