//! What two hosts drew for each other: nonces, and with a key what seals their datagrams.

use super::message::Nonces;
use crate::key::{Mark, Refusal, SECOND, Seal};

/// How the datagrams of a session are protected.
#[derive(Debug)]
enum Protection {
    /// Not at all: there is no key.
    Open,
    Sealed {
        seal: Box<Seal>,
        /// The second message of the handshake, for a HELLO that comes again before the session is confirmed.
        second: Option<Box<[u8; SECOND]>>,
    },
}

/// One agreement of two hosts.
#[derive(Debug)]
pub(super) struct Session {
    /// The run of the other host: which start of it.
    pub(super) run: u64,
    pub(super) own: u64,
    pub(super) theirs: u64,
    /// Whether the other is known to have agreed: it used the nonce that it got.
    confirmed: bool,
    protection: Protection,
}

/// The upper half of the first byte of a sealed datagram; the lower half names the session of its receiver.
pub(crate) const SEALED: u8 = 0xf0;

impl Session {
    /// A session without a key, with a host in its run `run`.
    pub(super) fn open(run: u64, (own, theirs): (u64, u64)) -> Self {
        Self { run, own, theirs, confirmed: false, protection: Protection::Open }
    }

    /// A session with a key. A host that was greeted passes the second message of the handshake.
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

    /// The second message of its handshake, if this host was greeted with `nonce` and the session is not confirmed.
    pub(super) fn second(&self, nonce: u64) -> Option<[u8; SECOND]> {
        match &self.protection {
            Protection::Sealed { second: Some(second), .. } if self.theirs == nonce => Some(**second),
            _ => None,
        }
    }

    /// The nonces of a message to the other.
    pub(super) fn nonces(&self) -> Nonces {
        Nonces { from: self.own, to: self.theirs }
    }

    /// Whether a message with these nonces belongs to this session.
    pub(super) fn is_of(&self, nonces: Nonces) -> bool {
        nonces == Nonces { from: self.theirs, to: self.own }
    }

    fn seal_mut(&mut self) -> Option<&mut Seal> {
        match &mut self.protection {
            Protection::Open => None,
            Protection::Sealed { seal, .. } => Some(seal),
        }
    }

    /// Seals `text` into `out`; the length of the datagram, or `None` if it cannot be sealed.
    pub(super) fn seal(&mut self, text: &[u8], out: &mut [u8]) -> Option<usize> {
        let first = SEALED | (self.theirs as u8 & !SEALED);
        self.seal_mut()?.seal(first, text, out)
    }

    /// Opens a datagram into `text`; the length of the text.
    ///
    /// # Errors
    /// If the datagram does not belong to this session, or was opened before.
    pub(super) fn open_datagram(&mut self, datagram: &[u8], text: &mut [u8]) -> Result<usize, Refusal> {
        let first = SEALED | (self.own as u8 & !SEALED);
        match self.seal_mut() {
            Some(seal) if datagram.first() == Some(&first) => seal.open(datagram, text),
            _ => Err(Refusal::Foreign),
        }
    }

    /// Whether the hosts should greet again, for new keys.
    pub(super) fn needs_renewal(&self) -> bool {
        matches!(&self.protection, Protection::Sealed { seal, .. } if seal.needs_renewal())
    }

    /// Whether `mark` is that of a datagram which was sealed lately; so once for each datagram.
    pub(super) fn recognize(&mut self, mark: Mark) -> bool {
        self.seal_mut().is_some_and(|seal| seal.recognize(mark))
    }
}
