//! The properties and checks of a kind of port.

use super::{BufferSpec, Scope};
use crate::ids::CLASSES;
use crate::keys::KeyConflict;
use crate::packet::Frame;

/// The parts of a scheme that a discipline depends on.
#[derive(Clone, Copy, Debug)]
pub struct PortSetup<'a> {
    /// The port's buffer.
    pub buffer: &'a BufferSpec,
    /// The queue, or rank, of each class.
    pub map: [u8; CLASSES],
    /// Packet sizes on the wire.
    pub frame: &'a Frame,
}

/// Builds the discipline of a kind of port; implemented by its struct of keys.
pub trait OfKind {
    /// The parameters of the discipline, or of one of two ([`Either`]).
    type Spec;

    /// Returns the discipline of a port of this kind.
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

/// The properties and checks of a kind of port; implemented by its struct of keys.
pub trait KindRules {
    /// Returns the number of queues, or ranks, between which classes are distinguished. Default: 1.
    fn queues(&self) -> u8 {
        1
    }

    /// Returns true if classes select the queue or the rank. Default: true.
    fn is_by_class(&self) -> bool {
        true
    }

    /// Checks whether a port of this kind, called `name`, supports this buffer. Default: push-out and zero loss are
    /// rejected.
    ///
    /// # Errors
    /// Fails if it does not.
    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
        ordinary(name, buffer)
    }

    /// Checks whether a port of this kind, called `name`, marks by an average of the backlog of `per`. Default: it does.
    ///
    /// # Errors
    /// Fails if it does not.
    fn check_average(&self, name: &str, per: Scope) -> Result<(), KeyConflict> {
        let _ = (name, per);
        Ok(())
    }

    /// Checks whether its keys fit the packet sizes. Default: they do.
    ///
    /// # Errors
    /// Fails if they do not.
    fn check_frame(&self, frame: &Frame) -> Result<(), KeyConflict> {
        let _ = frame;
        Ok(())
    }

    /// Checks whether a host's transmit queue can be of this kind. Default: it can.
    ///
    /// # Errors
    /// Fails if it cannot.
    fn check_at_host(&self) -> Result<(), KeyConflict> {
        Ok(())
    }
}

pub(super) const ORDINARY: &str = "buffer = { shared = \"240pkt\" }";

/// Rejects buffers that only some kinds of port support.
pub(super) fn ordinary(name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
    let (what, kind) = match buffer {
        BufferSpec::PushOut { .. } => {
            (format!("a port of kind {name} pushes no packets out: it has one queue"), "strict")
        }
        BufferSpec::ZeroLoss { .. } => (
            format!("the maximum buffer of data is known only for ports of kind tokens, not {name}"),
            "tokens",
        ),
        _ => return Ok(()),
    };
    Err(KeyConflict::of("buffer", what, format!("kind = {kind:?}, or {ORDINARY}")))
}

/// Rejects averages of the backlog at a port of which thresholds count only some queues.
pub(super) fn no_average(name: &str) -> Result<(), KeyConflict> {
    let what = format!("a port of kind {name} marks by the backlog of its data alone, and keeps no average");
    Err(KeyConflict::of("ecn.average", what, "no average, or kind = \"fifo\", \"strict\" or \"wfq\""))
}

/// Rejects buffers whose own drop rule conflicts with that of the port.
pub(super) fn one_sorted_queue(name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
    ordinary(name, buffer)?;
    if matches!(buffer, BufferSpec::Unbounded | BufferSpec::Shared { .. }) {
        return Ok(());
    }
    let what = format!("a port of kind {name} has one queue with its own drop rule");
    Err(KeyConflict::of("buffer", what, ORDINARY))
}
