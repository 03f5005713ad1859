//! The handshake of two hosts with a key: Noise, by the crate `snow`.
//!
//! ```text
//! Noise_NNpsk0_25519_AESGCM_SHA256, prologue "priolane-net 2" and the nonce of the greeting
//!   -> psk, e      the payload is an offer: run (8), transport (16), MTU (2)
//!   <- e, ee       the payload is an acceptance: run (8), nonce (8)
//! ```
//!
//! The pre-shared key is mixed in before anything else, so a host without the key can neither read nor write either
//! message. The keys of a session also depend on two ephemeral X25519 keys, so a session stays secret even if the
//! pre-shared key becomes known later.

use std::sync::Arc;

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{BoxedCryptoResolver, CryptoResolver, DefaultResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState, StatelessTransportState};

use super::secret::{Secrets, TAG};
use crate::random::{RandomFailure, RandomSource};

const PATTERN: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";

/// The size of a public X25519 key in bytes.
const PUBLIC: usize = 32;

/// The sizes of the payloads of the two messages in bytes.
pub(crate) const OFFER: usize = 26;
pub(crate) const ACCEPTANCE: usize = 16;

/// The sizes of the two messages in bytes.
pub(crate) const FIRST: usize = PUBLIC + OFFER + TAG;
pub(crate) const SECOND: usize = PUBLIC + ACCEPTANCE + TAG;

/// The primitives for `snow`: random numbers from the host's source, ciphers and hashes from `ring`.
struct Primitives(Arc<dyn RandomSource>);

/// The random source of the host, adapted to `snow`.
struct HostRandom(Arc<dyn RandomSource>);

impl Random for HostRandom {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), snow::Error> {
        self.0.fill(dest).map_err(|RandomFailure| snow::Error::Rng)
    }
}

impl CryptoResolver for Primitives {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(HostRandom(Arc::clone(&self.0))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        RingResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

/// The side of a handshake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Initiator,
    Responder,
}

fn start(
    side: Side,
    secrets: &Secrets,
    random: &Arc<dyn RandomSource>,
    nonce: u64,
) -> Result<HandshakeState, snow::Error> {
    let resolver: BoxedCryptoResolver = Box::new(Primitives(Arc::clone(random)));
    let mut prologue = *b"priolane-net 2........";
    prologue[14..].copy_from_slice(&nonce.to_le_bytes());
    let builder = Builder::with_resolver(PATTERN.parse()?, resolver);
    let builder = builder.psk(0, &secrets.handshake)?.prologue(&prologue)?;
    match side {
        Side::Initiator => builder.build_initiator(),
        Side::Responder => builder.build_responder(),
    }
}

/// The handshake at the host that greets, from the first message on.
#[derive(Debug)]
pub(crate) struct Initiator {
    state: HandshakeState,
    /// The first message, which is sent again until an answer arrives.
    pub(crate) message: [u8; FIRST],
}

impl Initiator {
    /// Begins a handshake with a new ephemeral key.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub(crate) fn begin(
        secrets: &Secrets,
        random: &Arc<dyn RandomSource>,
        nonce: u64,
        offer: &[u8; OFFER],
    ) -> Result<Self, RandomFailure> {
        let mut message = [0; FIRST];
        // The pattern, the key and all lengths are constant: only the random source can fail.
        let written = start(Side::Initiator, secrets, random, nonce)
            .and_then(|mut state| state.write_message(offer, &mut message).map(|_| state));
        Ok(Self { state: written.map_err(|_| RandomFailure)?, message })
    }

    /// Reads the second message and returns the acceptance in it. A message of another greeting or without the key changes
    /// nothing and returns `None`.
    pub(crate) fn read(&mut self, message: &[u8; SECOND]) -> Option<[u8; ACCEPTANCE]> {
        let mut acceptance = [0; ACCEPTANCE];
        let len = self.state.read_message(message, &mut acceptance).ok()?;
        (len == ACCEPTANCE).then_some(acceptance)
    }

    /// Returns the keys of the session, once the second message was read.
    pub(crate) fn finish(self) -> Option<StatelessTransportState> {
        self.state.into_stateless_transport_mode().ok()
    }
}

/// The handshake at the host that is greeted.
#[derive(Debug)]
pub(crate) struct Responder {
    state: HandshakeState,
}

impl Responder {
    /// Reads the first message, without any Diffie-Hellman operation, and returns the offer in it. Returns `None` if
    /// the message was not made with the key and the nonce.
    pub(crate) fn read(
        secrets: &Secrets,
        random: &Arc<dyn RandomSource>,
        nonce: u64,
        message: &[u8; FIRST],
    ) -> Option<(Self, [u8; OFFER])> {
        let mut state = start(Side::Responder, secrets, random, nonce).ok()?;
        let mut offer = [0; OFFER];
        let len = state.read_message(message, &mut offer).ok()?;
        (len == OFFER).then_some((Self { state }, offer))
    }

    /// Writes the second message with a new ephemeral key, and returns it with the keys of the session.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub(crate) fn answer(
        mut self,
        acceptance: &[u8; ACCEPTANCE],
    ) -> Result<([u8; SECOND], StatelessTransportState), RandomFailure> {
        let mut message = [0; SECOND];
        // The first message was read and all lengths are constant: only the random source can fail.
        self.state.write_message(acceptance, &mut message).map_err(|_| RandomFailure)?;
        let transport = self.state.into_stateless_transport_mode().map_err(|_| RandomFailure)?;
        Ok((message, transport))
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;

    use super::*;
    use crate::key::secret::Key;
    use crate::random::FailingSource;

    fn system() -> Arc<dyn RandomSource> {
        Arc::new(SystemRandom::new())
    }

    fn secrets(byte: u8) -> Secrets {
        Key::new(&[byte; 32]).unwrap().secrets()
    }

    #[test]
    fn both_sides_read_what_the_other_wrote_and_get_the_same_keys() {
        let (random, key) = (system(), secrets(1));
        let mut initiator = Initiator::begin(&key, &random, 7, &[3; OFFER]).unwrap();
        let (responder, offer) = Responder::read(&key, &random, 7, &initiator.message).unwrap();
        assert_eq!(offer, [3; OFFER]);
        let (second, theirs) = responder.answer(&[4; ACCEPTANCE]).unwrap();
        // Messages of other greetings, changed or not, do not disturb the handshake.
        let (other, _) = Responder::read(&key, &random, 7, &initiator.message).unwrap();
        let mut changed = second;
        changed[PUBLIC] ^= 1;
        assert_eq!(initiator.read(&changed), None);
        assert_eq!(initiator.read(&[0; SECOND]), None);
        assert_eq!(initiator.read(&second), Some([4; ACCEPTANCE]));
        assert_eq!(initiator.read(&other.answer(&[5; ACCEPTANCE]).unwrap().0), None, "only one is read");
        let own = initiator.finish().unwrap();
        let (mut sealed, mut text) = ([0; 5 + TAG], [0; 5 + TAG]);
        own.write_message(0, b"hello", &mut sealed).unwrap();
        assert_eq!(theirs.read_message(0, &sealed, &mut text), Ok(5));
        assert_eq!(&text[..5], b"hello");
    }

    #[test]
    fn a_first_message_is_bound_to_its_key_its_nonce_and_each_of_its_bytes() {
        let (random, key) = (system(), secrets(1));
        let message = Initiator::begin(&key, &random, 7, &[3; OFFER]).unwrap().message;
        assert!(Responder::read(&secrets(2), &random, 7, &message).is_none());
        assert!(Responder::read(&key, &random, 8, &message).is_none());
        for place in 0..FIRST {
            let mut changed = message;
            changed[place] ^= 1;
            assert!(Responder::read(&key, &random, 7, &changed).is_none(), "byte {place}");
        }
        assert!(!message.windows(4).any(|part| part == [3; 4]), "the offer is encrypted");
    }

    #[test]
    fn each_handshake_draws_a_new_ephemeral_key() {
        let (random, key) = (system(), secrets(1));
        let [a, b] = [(); 2].map(|()| Initiator::begin(&key, &random, 7, &[3; OFFER]).unwrap());
        assert_ne!(a.message[..PUBLIC], b.message[..PUBLIC]);
        let [a, b] = [(); 2].map(|()| {
            let (responder, _) = Responder::read(&key, &random, 7, &a.message).unwrap();
            responder.answer(&[4; ACCEPTANCE]).unwrap().0
        });
        assert_ne!(a[..PUBLIC], b[..PUBLIC]);
    }

    #[test]
    fn a_failing_random_source_is_an_error_of_either_side() {
        let (key, failing): (_, Arc<dyn RandomSource>) = (secrets(1), Arc::new(FailingSource::after(0)));
        assert!(matches!(Initiator::begin(&key, &failing, 7, &[3; OFFER]), Err(RandomFailure)));
        let first = Initiator::begin(&key, &system(), 7, &[3; OFFER]).unwrap().message;
        let (responder, _) = Responder::read(&key, &failing, 7, &first).unwrap();
        assert!(matches!(responder.answer(&[4; ACCEPTANCE]), Err(RandomFailure)));
    }
}
