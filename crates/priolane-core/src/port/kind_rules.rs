//! What a kind of port says of itself.

use super::BufferSpec;
use crate::ids::CLASSES;
use crate::keys::Misfit;
use crate::packet::Frame;

/// What a discipline takes from the rest of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct PortSetup<'a> {
    /// The port's buffer.
    pub buffer: &'a BufferSpec,
    /// The queue, or rank, of each class.
    pub map: [u8; CLASSES],
    /// Packet sizes on the wire.
    pub frame: &'a Frame,
}

/// What discipline a port of a kind has; its struct of keys implements it.
pub(crate) trait OfKind {
    /// The parameters of the discipline, or of one of two ([`Either`]).
    type Spec;

    /// The discipline of a port of this kind.
    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec;
}

/// One of two disciplines.
#[derive(Clone, Copy, Debug)]
pub enum Either<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

/// What a kind of port says of itself; a struct of keys implements it.
pub trait KindRules {
    /// How many queues, or ranks, classes can be told apart by. Default: 1.
    fn queues(&self) -> u8 {
        1
    }

    /// Whether classes choose the queue or the rank. Default: yes.
    fn is_by_class(&self) -> bool {
        true
    }

    /// Whether a port of this kind, called `name`, can have this buffer. Default: push-out and zero loss are refused.
    ///
    /// # Errors
    /// It cannot.
    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
        ordinary(name, buffer)
    }

    /// Whether its keys fit the packets. Default: yes.
    ///
    /// # Errors
    /// They do not.
    fn check_frame(&self, frame: &Frame) -> Result<(), Misfit> {
        let _ = frame;
        Ok(())
    }

    /// Whether a host's transmit queue can be of this kind. Default: yes.
    ///
    /// # Errors
    /// It cannot.
    fn check_at_host(&self) -> Result<(), Misfit> {
        Ok(())
    }
}

pub(super) const ORDINARY: &str = "buffer = { shared = \"240pkt\" }";

/// Refuses buffers that only some kinds of port can have.
pub(super) fn ordinary(name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
    let (what, kind) = match buffer {
        BufferSpec::PushOut { .. } => {
            (format!("nothing is pushed out of a port of kind {name}: it has one queue"), "strict")
        }
        BufferSpec::ZeroLoss { .. } => {
            (format!("what data takes at most is derived for ports of tokens, not of kind {name}"), "tokens")
        }
        _ => return Ok(()),
    };
    Err(Misfit::of("buffer", what, format!("kind = {kind:?}, or {ORDINARY}")))
}

/// Refuses buffers in which another rule than the port's own says what has room.
pub(super) fn one_sorted_queue(name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
    ordinary(name, buffer)?;
    if matches!(buffer, BufferSpec::Unbounded | BufferSpec::Shared { .. }) {
        return Ok(());
    }
    let what = format!("a port of kind {name} decides itself what has room in its one queue");
    Err(Misfit::of("buffer", what, ORDINARY))
}
