//! Sessions: the nonces that two hosts drew for each other and, with a key, the seal of their datagrams.

use super::message::Nonces;
use crate::key::{Mark, Refusal, SECOND, Seal};

/// The protection of the datagrams of a session.
#[derive(Debug)]
enum Protection {
    /// No protection, because there is no key.
    Open,
    Sealed {
        seal: Box<Seal>,
        /// The second message of the handshake, which is sent again if HELLO is repeated before the session is
        /// confirmed.
        second: Option<Box<[u8; SECOND]>>,
    },
}

/// An agreement between two hosts.
#[derive(Debug)]
pub(super) struct Session {
    /// The run of the other host, which identifies one of its starts.
    pub(super) run: u64,
    pub(super) own: u64,
    pub(super) theirs: u64,
    /// Whether the other host is known to have agreed, because it used the nonce that it received.
    confirmed: bool,
    protection: Protection,
}

/// The upper half of the first byte of a sealed datagram; the lower half names the session of its receiver.
pub(crate) const SEALED: u8 = 0xf0;

impl Session {
    /// Creates a session without a key, with a host in its run `run`.
    pub(super) fn open(run: u64, (own, theirs): (u64, u64)) -> Self {
        Self { run, own, theirs, confirmed: false, protection: Protection::Open }
    }

    /// Creates a session with a key. A host that was greeted passes the second message of the handshake.
    pub(super) fn sealed(
        run: u64,
        (own, theirs): (u64, u64),
        seal: Seal,
        second: Option<[u8; SECOND]>,
    ) -> Self {
        let protection = Protection::Sealed { seal: Box::new(seal), second: second.map(Box::new) };
        Self { run, own, theirs, confirmed: false, protection }
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    pub(super) fn confirm(&mut self) {
        self.confirmed = true;
        if let Protection::Sealed { second, .. } = &mut self.protection {
            *second = None;
        }
    }

    /// Returns the second message of the handshake, if this host was greeted with `nonce` and the session is not
    /// confirmed.
    pub(super) fn second(&self, nonce: u64) -> Option<[u8; SECOND]> {
        match &self.protection {
            Protection::Sealed { second: Some(second), .. } if self.theirs == nonce => Some(**second),
            _ => None,
        }
    }

    /// Returns the nonces for a message to the other host.
    pub(super) fn nonces(&self) -> Nonces {
        Nonces { from: self.own, to: self.theirs }
    }

    /// Returns whether a message with these nonces belongs to this session.
    pub(super) fn is_of(&self, nonces: Nonces) -> bool {
        nonces == Nonces { from: self.theirs, to: self.own }
    }

    fn seal_mut(&mut self) -> Option<&mut Seal> {
        match &mut self.protection {
            Protection::Open => None,
            Protection::Sealed { seal, .. } => Some(seal),
        }
    }

    /// Seals `text` into `out` and returns the length of the datagram, or `None` if it cannot be sealed.
    pub(super) fn seal(&mut self, text: &[u8], out: &mut [u8]) -> Option<usize> {
        let first = SEALED | (self.theirs as u8 & !SEALED);
        self.seal_mut()?.seal(first, text, out)
    }

    /// Opens a datagram into `text` and returns the length of the text.
    ///
    /// # Errors
    /// Returns an error if the datagram does not belong to this session, or was opened before.
    pub(super) fn open_datagram(&mut self, datagram: &[u8], text: &mut [u8]) -> Result<usize, Refusal> {
        let first = SEALED | (self.own as u8 & !SEALED);
        match self.seal_mut() {
            Some(seal) if datagram.first() == Some(&first) => seal.open(datagram, text),
            _ => Err(Refusal::Foreign),
        }
    }

    /// Returns whether the hosts should greet again to obtain new keys.
    pub(super) fn needs_renewal(&self) -> bool {
        matches!(&self.protection, Protection::Sealed { seal, .. } if seal.needs_renewal())
    }

    /// Returns whether `mark` belongs to a datagram that was sealed lately. Each datagram is recognized once.
    pub(super) fn recognize(&mut self, mark: Mark) -> bool {
        self.seal_mut().is_some_and(|seal| seal.recognize(mark))
    }
}
