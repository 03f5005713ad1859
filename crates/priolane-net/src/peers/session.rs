//! What two hosts drew for each other: nonces, and with a key what seals their datagrams.

use super::message::Nonces;
use crate::key::{Key, Seal};

/// One agreement of two hosts.
#[derive(Debug)]
pub(super) struct Session {
    /// The run of the other host: which start of it.
    pub(super) run: u64,
    pub(super) own: u64,
    pub(super) theirs: u64,
    /// Whether the other is known to have agreed: it used the nonce that it got.
    pub(super) confirmed: bool,
    seal: Option<Box<Seal>>,
}

/// The upper half of the first byte of a sealed datagram; the lower half tells the sessions of its receiver apart.
pub(crate) const SEALED: u8 = 0xf0;

impl Session {
    /// Of two hosts, the other in its run `run`; `None` if a key yields no seal.
    pub(super) fn new(run: u64, (own, theirs): (u64, u64), key: Option<&Key>) -> Option<Self> {
        let seal = match key {
            None => None,
            Some(key) => Some(Box::new(Seal::new(key, own, theirs)?)),
        };
        Some(Self { run, own, theirs, confirmed: false, seal })
    }

    /// The nonces of a message to the other.
    pub(super) fn nonces(&self) -> Nonces {
        Nonces { from: self.own, to: self.theirs }
    }

    /// Whether a message with these nonces belongs to this session.
    pub(super) fn is_of(&self, nonces: Nonces) -> bool {
        nonces == Nonces { from: self.theirs, to: self.own }
    }

    /// Seals a datagram; whether it could.
    pub(super) fn seal(&mut self, datagram: &mut [u8]) -> bool {
        let first = SEALED | (self.theirs as u8 & !SEALED);
        self.seal.as_mut().is_some_and(|seal| seal.seal(first, datagram))
    }

    /// Opens a datagram: how many bytes are in it, after those that `key.rs` puts before them.
    pub(super) fn open(&mut self, datagram: &mut [u8]) -> Option<usize> {
        let first = *datagram.first()?;
        if first != SEALED | (self.own as u8 & !SEALED) {
            return None;
        }
        self.seal.as_mut()?.open(datagram).map(<[u8]>::len)
    }
}
