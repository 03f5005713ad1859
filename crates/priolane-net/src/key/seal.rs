//! Sealed datagrams, which two hosts exchange in the session of a handshake.
//!
//! ```text
//! first byte (1)   number (4, little-endian)   ciphertext of the text   tag (16)
//! ```
//!
//! The text is sealed as a Noise transport message (AES-256-GCM) whose nonce is the number. Noise authenticates no other data
//! with such a message, and none is needed. Changing the number changes the nonce, so the tag no longer fits. The first byte is
//! not authenticated: its upper half says that the datagram is sealed, and its lower half names the session of the receiver that
//! opens it. Every session and direction has a key of its own, so the tag fits in the one session for which the datagram was
//! sealed: with any other first byte the datagram is refused, and it never has another meaning.
//!
//! A sender never uses a number twice: numbers count up from 0 and end at [`Numbers::end`]. A receiver opens each number once.

use snow::StatelessTransportState;

use super::replay::ReplayWindow;
use super::secret::TAG;

/// The size of the part before the ciphertext in bytes: the first byte, which the caller chooses, and the number.
pub(crate) const HEAD: usize = 1 + 4;

/// The limits on the number of datagrams that are sealed with one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// The number from which on the hosts should greet again, for new keys.
    pub(crate) renew: u32,
    /// The number from which on no datagram is sealed.
    pub(crate) end: u32,
}

impl Numbers {
    /// RFC 9001, section 6.6 and appendix B.1.1, allows 2^23 packets of at most 2^16 bytes with one key of AES-GCM. Its limit
    /// of 2^52 forgeries that are refused is out of reach: at 100 Gbit/s, 2^52 of the shortest datagrams take 350 days.
    pub(crate) const DEFAULT: Self = Self { renew: 1 << 22, end: 1 << 23 };
}

/// The number of tags of sealed datagrams that are kept.
const MARKS: usize = 16;

/// A part of the tag of a sealed datagram, by which the sender recognizes an answer to that datagram.
pub(crate) type Mark = u64;

/// Returns the mark of a sealed datagram, or `None` if the datagram is too short to be sealed.
pub(crate) fn mark_of(datagram: &[u8]) -> Option<Mark> {
    let text = datagram.get(HEAD..)?;
    let tag = text.get(text.len().checked_sub(TAG)?..)?;
    tag.first_chunk().copied().map(u64::from_le_bytes)
}

/// The reason why a datagram was not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// A datagram with this number was opened already, or the number is older than the replay window.
    Repeated,
    /// The datagram was not sealed for this host in this session.
    Foreign,
}

/// Seals and opens the datagrams of one session.
#[derive(Debug)]
pub(crate) struct Seal {
    transport: StatelessTransportState,
    numbers: Numbers,
    /// The number of the next datagram.
    next: u32,
    received: ReplayWindow,
    /// At place k, the mark of the last datagram whose number ends in k zeros in binary, or 0 if there is none. Of any
    /// number of datagrams under way, one of the last is among them.
    marks: [Mark; MARKS],
}

impl Seal {
    pub(crate) fn new(transport: StatelessTransportState, numbers: Numbers) -> Self {
        Self { transport, numbers, next: 0, received: ReplayWindow::EMPTY, marks: [0; MARKS] }
    }

    /// Seals `text` into `out` and returns the length of the datagram. Returns `None` if `out` is too short, or if no
    /// number is left.
    pub(crate) fn seal(&mut self, first: u8, text: &[u8], out: &mut [u8]) -> Option<usize> {
        let len = HEAD + text.len() + TAG;
        let out = out.get_mut(..len)?;
        let number = self.next;
        if number >= self.numbers.end {
            return None;
        }
        self.next += 1;
        out[0] = first;
        out[1..HEAD].copy_from_slice(&number.to_le_bytes());
        self.transport.write_message(u64::from(number), text, &mut out[HEAD..]).ok()?;
        let place = (number.trailing_zeros() as usize).min(MARKS - 1);
        self.marks[place] = mark_of(out)?;
        Some(len)
    }

    /// Opens a datagram into `text`, which must be as long as the datagram, and returns the length of the text.
    ///
    /// # Errors
    /// Returns the reason why the datagram was not opened.
    pub(crate) fn open(&mut self, datagram: &[u8], text: &mut [u8]) -> Result<usize, Refusal> {
        let (head, sealed) = datagram.split_first_chunk::<HEAD>().ok_or(Refusal::Foreign)?;
        let number = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        if number >= self.numbers.end {
            return Err(Refusal::Foreign);
        }
        if !self.received.accepts(u64::from(number)) {
            return Err(Refusal::Repeated);
        }
        let opened = self.transport.read_message(u64::from(number), sealed, text);
        let len = opened.map_err(|_| Refusal::Foreign)?;
        self.received.add(u64::from(number));
        Ok(len)
    }

    /// Returns whether the hosts should greet again to obtain new keys.
    pub(crate) fn needs_renewal(&self) -> bool {
        self.next >= self.numbers.renew
    }

    /// Returns whether `mark` belongs to a datagram that this host sealed lately. Each datagram is recognized once.
    pub(crate) fn recognize(&mut self, mark: Mark) -> bool {
        let place = self.marks.iter().position(|&known| known == mark && mark != 0);
        place.is_some_and(|place| std::mem::take(&mut self.marks[place]) != 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ring::rand::SystemRandom;

    use super::*;
    use crate::key::handshake::{ACCEPTANCE, Initiator, OFFER, Responder};
    use crate::key::secret::Key;
    use crate::random::RandomSource;

    /// Creates the seals of two hosts after a handshake.
    fn pair(numbers: Numbers) -> [Seal; 2] {
        let random: Arc<dyn RandomSource> = Arc::new(SystemRandom::new());
        let secrets = Key::new(&[7; 32]).unwrap().secrets();
        let mut initiator = Initiator::begin(&secrets, &random, 1, &[0; OFFER]).unwrap();
        let (responder, _) = Responder::read(&secrets, &random, 1, &initiator.message).unwrap();
        let (second, transport) = responder.answer(&[0; ACCEPTANCE]).unwrap();
        initiator.read(&second).unwrap();
        [Seal::new(initiator.finish().unwrap(), numbers), Seal::new(transport, numbers)]
    }

    fn sealed(seal: &mut Seal, text: &[u8]) -> Vec<u8> {
        let mut out = vec![0; HEAD + text.len() + TAG];
        assert_eq!(seal.seal(0xf3, text, &mut out), Some(out.len()));
        out
    }

    fn opened(seal: &mut Seal, datagram: &[u8]) -> Option<Vec<u8>> {
        let mut text = vec![0; datagram.len()];
        let len = seal.open(datagram, &mut text).ok()?;
        text.truncate(len);
        Some(text)
    }

    #[test]
    fn a_datagram_is_opened_once_by_the_host_that_it_is_for_and_by_no_other() {
        let [mut a, mut b] = pair(Numbers::DEFAULT);
        let datagram = sealed(&mut a, b"hello");
        assert!(datagram[0] == 0xf3 && !datagram.windows(5).any(|part| part == b"hello"));
        assert_eq!(opened(&mut a, &datagram), None, "its sender");
        for mut other in pair(Numbers::DEFAULT) {
            assert_eq!(opened(&mut other, &datagram), None, "another session of the same key");
        }
        for place in 1..datagram.len() {
            let mut changed = datagram.clone();
            changed[place] ^= 1;
            assert_eq!(opened(&mut b, &changed), None, "byte {place}");
        }
        for len in 0..datagram.len() {
            assert_eq!(opened(&mut b, &datagram[..len]), None, "{len} bytes");
        }
        // The first byte is not authenticated. It selects the session before a datagram comes here.
        let mut changed = datagram.clone();
        changed[0] ^= 1;
        assert_eq!(opened(&mut b, &changed).as_deref(), Some(&b"hello"[..]));
        assert_eq!(b.open(&datagram, &mut [0; 100]), Err(Refusal::Repeated), "the second time");
        let later = sealed(&mut a, b"later");
        assert_eq!(a.open(&later, &mut [0; 100]), Err(Refusal::Foreign));
    }

    #[test]
    fn each_datagram_has_a_number_and_a_ciphertext_of_its_own() {
        let [mut a, mut b] = pair(Numbers::DEFAULT);
        let datagrams: Vec<Vec<u8>> = (0..300).map(|_| sealed(&mut a, b"the same")).collect();
        for (number, datagram) in (0u32..).zip(&datagrams) {
            assert_eq!(datagram[1..HEAD], number.to_le_bytes());
        }
        let mut texts: Vec<&[u8]> = datagrams.iter().map(|datagram| &datagram[HEAD..]).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 300);
        let reversed = datagrams.iter().rev();
        assert!(reversed.clone().all(|datagram| opened(&mut b, datagram).is_some()));
        assert!(!reversed.clone().any(|datagram| opened(&mut b, datagram).is_some()));
    }

    #[test]
    fn nothing_is_sealed_or_opened_beyond_the_last_number() {
        let [mut a, mut b] = pair(Numbers { renew: 3, end: 5 });
        for number in 0..5 {
            assert_eq!(a.needs_renewal(), number >= 3, "{number}");
            let datagram = sealed(&mut a, b"text");
            assert!(opened(&mut b, &datagram).is_some());
        }
        assert_eq!(a.seal(0xf3, b"text", &mut [0; 100]), None);
        // A sender that does not stop is not followed.
        a.numbers.end = 9;
        let datagram = sealed(&mut a, b"text");
        assert_eq!(opened(&mut b, &datagram), None);
    }

    #[test]
    fn an_answer_to_a_late_datagram_is_recognized_once() {
        let [mut a, _] = pair(Numbers::DEFAULT);
        let marks: Vec<Mark> = (0..1_000).map(|_| mark_of(&sealed(&mut a, b"text")).unwrap()).collect();
        // 999 is odd, 998 is 2 times an odd number, 996 is 4 times one, 984 is 8 times one, ..., 512 is 512 times one.
        let recognized: Vec<usize> = (0..1_000).filter(|&number| a.recognize(marks[number])).collect();
        assert_eq!(recognized, [0, 512, 768, 896, 960, 976, 984, 992, 996, 998, 999]);
        assert!(!(0..1_000).any(|number| a.recognize(marks[number])), "each once");
        assert!(!a.recognize(0) && !a.recognize(1));
        assert_eq!((mark_of(&[0; HEAD + TAG - 1]), mark_of(&[0; HEAD + TAG])), (None, Some(0)));
    }
}
