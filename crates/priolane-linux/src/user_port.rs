//! The port of a switch in user space as pure data, from which the simulator builds its port.

use priolane_core::ids::{CLASSES, Class, LinkId};
use priolane_core::packet::Frame;
use priolane_core::port::{
    Alpha, Buffer, DisciplineSpec, PortContext, PortFactory, PortKeys, PortSetup, Returns, Scope,
    SharedBuffer, SortBy, TokenGroupSpec, UnscheduledData,
};
use priolane_core::units::{Limit, Rate};
use priolane_net::read_keys;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::port::{Amount, Backlog, Mark};
use crate::row::keys;

/// A port of a switch in user space.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserPort {
    /// The `port` part of a scheme: `kind` and its keys.
    pub row: Map<String, Value>,
    /// The queue, or the rank, of each class.
    pub map: [u8; CLASSES],
    /// The class of data without tokens, if such data has a queue of its own.
    pub unscheduled: Option<Class>,
    /// The capacity of the port; `None` for no limit. It replaces the capacity in `row`, which depends on rates that
    /// differ from those of the testbed.
    pub room: Option<PortLimit>,
    /// The marking of congestion; `None` for a port that marks nothing.
    pub mark: Option<Mark>,
    /// The buffer that all ports of the switch share, in addition to their own capacities.
    pub memory: Option<Memory>,
    /// The sizes of packets in the simulator, on which limiters of tokens and trimmed packets depend.
    pub frame: Frame,
    /// The number of the port's link in the simulator.
    pub link: u32,
    /// The seed of the run.
    pub seed: u64,
}

/// A limit on the number of waiting packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortLimit {
    /// The largest amount that may wait.
    pub most: Amount,
    /// The queues that the limit counts.
    pub per: Backlog,
}

/// A buffer that ports share with dynamic thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The size of the buffer in bytes.
    pub bytes: u64,
    /// The limit of a queue as a multiple of the free bytes, as a fraction.
    pub alpha: (u32, u32),
}

impl From<SharedBuffer> for Memory {
    fn from(buffer: SharedBuffer) -> Self {
        Self { bytes: buffer.size, alpha: buffer.alpha.parts() }
    }
}

/// The size of a rank in a packet, in bytes.
const RANK: u16 = 8;

/// Returns the size on the wire for which tokens are limited. Real packets that carry a rank are larger than those of
/// the simulator, and as many of them pass.
pub fn token_wire(tokens: &TokenGroupSpec) -> u16 {
    let rank = if tokens.reads_ranks() { RANK } else { 0 };
    tokens.token_wire.saturating_add(rank)
}

fn limit(amount: Option<Amount>) -> Limit {
    match amount {
        None => Limit::Unlimited,
        Some(Amount::Packets(packets)) => Limit::Packets(packets),
        Some(Amount::Bytes(bytes)) => Limit::Bytes(bytes),
    }
}

fn scope(per: Backlog) -> Scope {
    match per {
        Backlog::Port => Scope::Port,
        Backlog::Queue => Scope::Queue,
    }
}

impl PortLimit {
    /// Returns the capacity of a port of the simulator.
    pub fn of(buffer: &Buffer) -> Option<Self> {
        Amount::of(buffer.limit).map(|most| Self { most, per: buffer.limit_scope.into() })
    }
}

impl UserPort {
    /// Returns a port with one queue without a limit.
    pub fn fifo() -> Self {
        let text = |text: &str| Value::String(text.to_owned());
        let row = [("kind", text("fifo")), ("buffer", text("unbounded"))];
        Self {
            row: row.map(|(key, value)| (key.to_owned(), value)).into_iter().collect(),
            map: [0; CLASSES],
            unscheduled: None,
            room: None,
            mark: None,
            memory: None,
            frame: Frame::ETHERNET,
            link: 0,
            seed: 1,
        }
    }

    /// Returns the discipline that the simulator builds from the same row.
    ///
    /// # Errors
    /// Returns a text that says what is wrong with the row, or why there is no such port.
    pub fn discipline(&self) -> Result<DisciplineSpec, String> {
        let Some(Value::String(kind)) = self.row.get("kind") else {
            return Err("port.kind is missing: write the name of a kind of port".to_owned());
        };
        let keys = keys(&self.row).map_err(|what| format!("port.{what}"))?;
        let port: PortKeys = read_keys(kind, &keys).map_err(|error| format!("port.{error}"))?;
        let setup = PortSetup { buffer: &port.buffer, map: self.map, frame: &self.frame };
        let discipline = match port.kind.discipline(&setup) {
            DisciplineSpec::Tokens(spec) => {
                let unscheduled = self.unscheduled.map(|class| UnscheduledData { class, room: Some(1) });
                TokenGroupSpec { unscheduled, ..spec }.into()
            }
            other => other,
        };
        if self.memory.is_some() && self.shared_buffer().is_none() {
            return Err("memory.alpha has a zero: write a fraction above 0".to_owned());
        }
        if port.pfc.is_some() {
            return Err("port.pfc: no switch here pauses others".to_owned());
        }
        Ok(port.averaging(discipline))
    }

    /// Returns the capacity and the marking of the port.
    pub fn buffer(&self) -> Buffer {
        Buffer {
            limit: limit(self.room.map(|room| room.most)),
            limit_scope: scope(self.room.map_or(Backlog::Port, |room| room.per)),
            mark_above: limit(self.mark.map(|mark| mark.above)),
            mark_scope: scope(self.mark.map_or(Backlog::Port, |mark| mark.per)),
            ramp: None,
        }
    }

    /// Returns the context in which the port is built, on a line of `rate`.
    pub fn context(&self, rate: Rate) -> PortContext {
        PortContext {
            link: LinkId(self.link),
            rate,
            buffer: self.buffer(),
            sort_by: SortBy::Class,
            frame: self.frame,
            returns: Returns::Forwarded,
            seed: self.seed,
        }
    }

    /// Returns the buffer that the port shares with other ports.
    pub fn shared_buffer(&self) -> Option<SharedBuffer> {
        let Memory { bytes, alpha } = self.memory?;
        Alpha::new(alpha).map(|alpha| SharedBuffer { size: bytes, alpha })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::port::{FifoSpec, PushOutSpec, TokenOrder};
    use serde_json::json;

    pub(crate) fn port(row: Value) -> UserPort {
        let Value::Object(row) = row else { panic!("{row}") };
        UserPort { row, ..UserPort::fifo() }
    }

    #[test]
    fn rows_of_scheme_files_are_the_disciplines_of_the_simulator() {
        assert_eq!(UserPort::fifo().discipline(), Ok(DisciplineSpec::Fifo(FifoSpec)));
        let row = json!({ "kind": "tokens", "buffer": { "shared": "250pkt" }, "expiry": 4 });
        let tokens = UserPort { unscheduled: Some(14), ..port(row) };
        let unscheduled = Some(UnscheduledData { class: 14, room: Some(1) });
        let expected = TokenGroupSpec { expiry: Some(4), unscheduled, ..TokenGroupSpec::TOP };
        assert_eq!(tokens.discipline(), Ok(expected.into()));
        let row = json!({ "kind": "strict", "queues": 12, "buffer": { "push_out": "240pkt" } });
        let expected = PushOutSpec { queues: 12, map: [0; CLASSES] };
        assert_eq!(port(row).discipline(), Ok(DisciplineSpec::PushOut(expected)));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |row| port(row).discipline().unwrap_err();
        assert!(error(json!({ "buffer": "unbounded" })).starts_with("port.kind is missing"));
        assert!(
            error(json!({ "kind": "fivo", "buffer": "unbounded" }))
                .starts_with("port.kind: there is no \"fivo\"")
        );
        let row = json!({ "kind": "strict", "queues": 0, "buffer": "unbounded" });
        assert!(error(row.clone()).starts_with("port.queues: "), "{}", error(row));
        let memory = Some(Memory { bytes: 1, alpha: (1, 0) });
        assert!(
            UserPort { memory, ..UserPort::fifo() }.discipline().unwrap_err().starts_with("memory.alpha")
        );
    }

    #[test]
    fn room_and_marks_are_those_of_the_simulators_buffer() {
        let buffer = Buffer {
            limit: Limit::Bytes(9_000),
            limit_scope: Scope::Queue,
            mark_above: Limit::Packets(7),
            mark_scope: Scope::Port,
            ramp: None,
        };
        let mark = Some(Mark { above: Amount::Packets(7), per: Backlog::Port });
        let port = UserPort { room: PortLimit::of(&buffer), mark, ..UserPort::fifo() };
        assert_eq!(port.buffer(), buffer);
        assert_eq!(UserPort::fifo().buffer(), Buffer::UNLIMITED);
    }

    #[test]
    fn tokens_that_carry_their_rank_are_limited_as_the_larger_packets_that_they_are() {
        let plain = TokenGroupSpec::TOP;
        let ranked = TokenGroupSpec { order: TokenOrder::Rank, ..plain };
        let of_data = TokenGroupSpec { data_queues: 2, ..plain };
        let found = [plain, ranked, of_data].map(|spec| (spec.reads_ranks(), token_wire(&spec)));
        assert_eq!(found, [(false, 84), (true, 92), (true, 92)]);
    }
}
