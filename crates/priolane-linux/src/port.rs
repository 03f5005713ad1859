//! The port of a kernel switch as pure data, and the ports of the simulator that it can stand for.

use priolane_core::ids::{CLASSES, Class};
use priolane_core::port::{Buffer, DisciplineSpec, PortFactory, Scope, TokenGroupSpec};
use priolane_core::units::Limit;
use serde::{Deserialize, Serialize};

use crate::token_port::{self, STRICT_LEVELS, TokenQueue, TokenService};

/// The largest number of queues of a port. Each class has a minor number.
const QUEUES: u8 = CLASSES as u8;

/// The minor number of the HTB class of the first queue. The queue below a class has the same number as its handle.
pub(crate) const FIRST_MINOR: u8 = 0x10;

/// Returns the minor number of the class of `queue`, in hexadecimal, as tc reads and writes it.
pub(crate) fn minor(queue: u8) -> String {
    format!("{:x}", FIRST_MINOR + queue)
}

/// A port of a switch of the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The number of queues, 1 to 16. Under strict priority there are at most 8, and a port that limits tokens has the
    /// number of its kind.
    pub queues: u8,
    /// The queue of each class, class 0 first.
    pub of_class: [u8; CLASSES],
    /// The discipline that selects the next queue to serve.
    pub service: Service,
    /// The capacity of each queue, or of each data queue in ports that limit tokens; `None` for no limit.
    pub room: Option<Amount>,
    /// The marking of congestion; `None` for a port that marks nothing.
    pub mark: Option<Mark>,
}

/// The discipline that selects the next queue to serve.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Strict priority: the first queue that is not empty.
    Strict,
    /// Weighted sharing among all queues, with these weights.
    Weighted(Vec<u32>),
    /// Signals, tokens behind a limiter, and data.
    Tokens(TokenService),
}

/// An amount of packets or of bytes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes on the wire, including preamble and gap.
    Bytes(u64),
}

/// The marking of packets that find more than `above` in the queue, themselves included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The threshold.
    pub above: Amount,
    /// The queues that the threshold counts.
    pub per: Backlog,
}

/// The queues that a threshold counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backlog {
    /// All queues of the port together.
    Port,
    /// The packet's own queue.
    Queue,
}

impl From<Scope> for Backlog {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Port => Self::Port,
            Scope::Queue => Self::Queue,
        }
    }
}

impl Mark {
    /// Returns the marking of a port of the simulator, or `None` if that port marks nothing.
    pub fn of(buffer: &Buffer) -> Option<Self> {
        Amount::of(buffer.mark_above).map(|above| Self { above, per: buffer.mark_scope.into() })
    }
}

/// The error for a port of the simulator that the kernel switch cannot stand for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct Unfit {
    /// The reason, in words.
    pub what: String,
}

impl Amount {
    pub(crate) fn of(limit: Limit) -> Option<Self> {
        match limit {
            Limit::Packets(packets) => Some(Self::Packets(packets)),
            Limit::Bytes(bytes) => Some(Self::Bytes(bytes)),
            Limit::Unlimited => None,
        }
    }

    /// Returns the amount in bytes as Linux counts them: without preamble, checksum and gap. Packets are taken to have
    /// `mtu` bytes.
    pub fn linux_bytes(self, mtu: u16) -> u64 {
        let linux = u64::from(mtu) + u64::from(ETHERNET_HEADER);
        let wire = linux + u64::from(FRAMING);
        match self {
            Self::Packets(packets) => u64::from(packets) * linux,
            Self::Bytes(bytes) => bytes * linux / wire,
        }
    }
}

/// The bytes of a packet on the wire that Linux does not count: preamble 8, checksum 4, gap 12.
pub const FRAMING: u16 = 24;
/// The bytes of a packet that Linux counts in addition to its MTU.
pub const ETHERNET_HEADER: u16 = 14;

impl Port {
    /// Returns whether the numbers fit each other: a number of queues that the service permits, a queue for each class,
    /// a weight for each queue.
    pub(crate) fn is_consistent(&self) -> bool {
        let (most, weights) = match &self.service {
            Service::Strict => (STRICT_LEVELS, None),
            Service::Weighted(weights) => (QUEUES, Some(weights.len())),
            Service::Tokens(tokens) if !tokens.is_consistent() || tokens.queues() != self.queues => {
                return false;
            }
            Service::Tokens(tokens) => (tokens.queues(), None),
        };
        (1..=most).contains(&self.queues)
            && self.of_class.iter().all(|&queue| queue < self.queues)
            && weights.is_none_or(|count| count == usize::from(self.queues))
    }

    /// Returns the capacity of a queue, or `None` for no limit.
    pub(crate) fn room_of(&self, queue: u8) -> Option<Amount> {
        let Service::Tokens(tokens) = &self.service else { return self.room };
        match tokens.queue(queue) {
            TokenQueue::Signals => None,
            TokenQueue::Tokens(_) => Some(Amount::Packets(tokens.depth)),
            TokenQueue::Data => self.room,
            TokenQueue::Unscheduled => tokens.unscheduled.map(Amount::Packets),
        }
    }

    /// Returns whether a queue holds data, and not only signals or tokens.
    pub(crate) fn holds_data(&self, queue: u8) -> bool {
        let Service::Tokens(tokens) = &self.service else { return true };
        matches!(tokens.queue(queue), TokenQueue::Data | TokenQueue::Unscheduled)
    }

    /// Returns a port with one queue without a limit.
    pub fn fifo() -> Self {
        Self { queues: 1, of_class: [0; CLASSES], service: Service::Strict, room: None, mark: None }
    }

    /// Returns the port of the kernel switch that is nearest to one of the simulator.
    ///
    /// # Errors
    /// Returns [`Unfit`] if there is none.
    pub fn of(discipline: &DisciplineSpec, buffer: &Buffer) -> Result<Self, Unfit> {
        let (queues, service) = match discipline {
            DisciplineSpec::Fifo(_) => (1, Service::Strict),
            DisciplineSpec::Strict(strict) => (strict.queues, Service::Strict),
            DisciplineSpec::Wfq(wfq) => {
                let weights = wfq.weights.as_slice();
                (weights.len() as u8, Service::Weighted(weights.to_vec()))
            }
            DisciplineSpec::Tokens(tokens) => return Self::of_tokens(tokens, buffer),
            other => return Err(Unfit { what: other.without_qdisc().to_owned() }),
        };
        if service == Service::Strict && queues > STRICT_LEVELS {
            let what = format!("{queues} queues in strict priority: HTB has {STRICT_LEVELS} levels");
            return Err(Unfit { what });
        }
        let of_class = std::array::from_fn(|class| discipline.queue_of(class as Class).min(queues - 1));
        if buffer.ramp.is_some() {
            let what = "marks with a probability that grows with the queue (ecn.full): the switch marks above a threshold";
            return Err(Unfit { what: what.to_owned() });
        }
        let (room, mark) = (Amount::of(buffer.limit), Mark::of(buffer));
        Ok(Self { queues, of_class, service, room, mark })
    }

    fn of_tokens(tokens: &TokenGroupSpec, buffer: &Buffer) -> Result<Self, Unfit> {
        let service = TokenService::of(tokens).map_err(|what| Unfit { what })?;
        Ok(Self {
            queues: service.queues(),
            of_class: service.of_class(),
            service: Service::Tokens(service),
            room: Amount::of(buffer.limit),
            mark: Mark::of(buffer),
        })
    }

    /// Returns the differences between a port of the simulator and the kernel switch that stands for it, in words.
    pub fn differences(&self, buffer: &Buffer) -> Vec<String> {
        let mut found = Vec::new();
        if let Service::Tokens(_) = self.service {
            return token_port::differences();
        }
        if self.queues > 1 && self.room.is_some() && buffer.limit_scope == Scope::Port {
            found.push(format!(
                "room of a port is shared by its queues in the simulator; here each of {} queues has as much",
                self.queues
            ));
        }
        if self.queues > 1 && self.service == Service::Strict {
            found.push("each queue has a guarantee of 8 kbit/s before strict priority".to_owned());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::port::{FifoSpec, QueueWeights, StrictSpec, WfqSpec};

    const K: Buffer =
        Buffer { mark_above: Limit::Packets(10), limit: Limit::Packets(240), ..Buffer::UNLIMITED };

    #[test]
    fn a_fifo_is_one_queue_with_its_room_and_marks() {
        let port = Port::of(&DisciplineSpec::Fifo(FifoSpec), &K).unwrap();
        assert_eq!((port.queues, port.of_class), (1, [0; CLASSES]));
        assert_eq!(port.room, Some(Amount::Packets(240)));
        assert_eq!(port.mark, Some(Mark { above: Amount::Packets(10), per: Backlog::Port }));
        assert!(port.differences(&K).is_empty());
    }

    #[test]
    fn strict_and_weighted_queues_keep_their_map_and_weights() {
        let mut map = [1; CLASSES];
        map[0] = 0;
        let strict = DisciplineSpec::Strict(StrictSpec { queues: 2, map });
        let port = Port::of(&strict, &K).unwrap();
        assert_eq!((port.queues, &port.of_class[..3]), (2, &[0, 1, 1][..]));
        assert_eq!(port.differences(&K).len(), 2, "{:?}", port.differences(&K));
        let weights = QueueWeights::new(&[4, 1]).unwrap();
        let weighted = Port::of(&DisciplineSpec::Wfq(WfqSpec { weights, map }), &K).unwrap();
        assert_eq!(weighted.service, Service::Weighted(vec![4, 1]));
    }

    #[test]
    fn ports_that_the_kernel_cannot_be_are_refused_with_a_reason() {
        let strict = |queues| DisciplineSpec::Strict(StrictSpec { queues, map: [0; CLASSES] });
        assert!(Port::of(&strict(8), &K).is_ok());
        let message = Port::of(&strict(9), &K).unwrap_err().to_string();
        assert_eq!(message, "9 queues in strict priority: HTB has 8 levels");
        let message = Port::of(&DisciplineSpec::Tokens(TokenGroupSpec::TOP), &K).unwrap_err().to_string();
        assert!(message.starts_with("ports where tokens expire: no qdisc"), "{message}");
    }

    #[test]
    fn linux_counts_24_bytes_less_of_each_packet() {
        // 10 packets of 1538 bytes on the wire are 10 of 1514 to Linux.
        assert_eq!(Amount::Packets(10).linux_bytes(1_500), 15_140);
        assert_eq!(Amount::Bytes(15_380).linux_bytes(1_500), 15_140);
    }
}
