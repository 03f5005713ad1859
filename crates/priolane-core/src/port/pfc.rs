//! Priority flow control (IEEE 802.1Qbb): the buffer of a switch that drops no packet of its lossless classes.
//!
//! Each (ingress port, lossless class) has an account of the bytes that came in by it and are still queued.
//!
//! ```text
//! open     a packet that fits (account + packet <= X, packet <= free) is charged to the shared buffer;
//!          the first that does not makes the class paused at the port upstream (XOFF) and goes to the headroom
//! paused   what still arrives is charged to the headroom of (port, class)
//! resume   headroom empty, and the account at most X - `xon_below`, or nothing left of it (XON)
//! X        so many bytes, or alpha times what is free of the shared buffer
//!
//! headroom   C (M / C' + P / C' + 2 d + r) + 2 M
//! ```
//!
//! From the packet that pauses on there arrive at most: that packet (M, the largest frame); what comes at the link's rate
//! C while the pause frame waits for a frame on the way back (M / C'), is sent there (P / C'), travels (d) and takes
//! effect (r, at hosts), and until what was sent before has travelled (d); and the frame that was begun last (M). That
//! is the reckoning of IEEE 802.1Q Annex N ("buffer requirements for priority-based flow control") for a switch
//! without pipeline delays, so no packet is ever refused (docs/assumptions.md#pfc).
//!
//! Headroom is either taken out of the memory for good or, idealised, beside it. Lossy classes use the shared buffer too,
//! with dynamic thresholds (see [`super::SharedBuffer`]).

use super::{Alpha, FreeBytes, SharedBuffer};
use crate::ids::{CLASSES, Class, ClassSet};
use crate::keys::{
    Bounds, Bytes, Filled, Form, KeyError, KeyValue, Keys, Misfit, Schema, Value, Words, Written,
};
use crate::units::{Rate, Span};

/// Classes that a pause frame can name, the smallest ones.
pub const PAUSABLE_CLASSES: u8 = 8;

/// The bytes from one port and class above which it is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xoff {
    /// So many.
    Bytes(u64),
    /// This part of what is free of the shared buffer.
    OfFree(Alpha),
}

/// Where headroom is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum HeadroomFrom {
    /// The memory, for good.
    #[word("charged")]
    Memory,
    /// Nowhere: there is as much besides.
    #[word("free")]
    Beside,
}

/// `"100kB"`, or a part of what is free: `"1/8"`.
impl KeyValue for Xoff {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text(text) if text.ends_with('B') => Bytes::read(value, bounds).map(Self::Bytes),
            _ => Alpha::read(value, bounds).map(Self::OfFree),
        }
    }

    fn write(&self) -> Written {
        match self {
            Self::Bytes(bytes) => Written::Text(format!("{bytes}B")),
            Self::OfFree(alpha) => alpha.write(),
        }
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// The key `pfc` of a port: lossless classes, and when they are paused.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "pfc", check = Self::check)]
pub struct Pfc {
    /// The classes, below 8; any where headroom is free, which no switch can do.
    #[key(required = "classes = [0]", form = Filled, range = "[0, 15]", source = "IEEE 802.1Q-2018 clause 36")]
    pub classes: Vec<Class>,
    /// Above what a class of an ingress port is paused.
    #[key(required = "xoff = \"1/8\" of what is free, or \"100kB\"", source = "docs/assumptions.md#pfc")]
    pub xoff: Xoff,
    /// How many bytes below that it is resumed.
    #[key(default = 3_000, form = Bytes, source = "docs/assumptions.md#pfc")]
    pub xon_below: u64,
    /// Where headroom is taken from.
    #[key(default = HeadroomFrom::Memory, source = "docs/assumptions.md#pfc")]
    pub headroom: HeadroomFrom,
    /// The least headroom of a class at an ingress port, whatever the link asks for.
    #[key(default = 0, form = Bytes, source = "docs/assumptions.md#pfc")]
    pub headroom_least: u64,
}

impl Pfc {
    fn check(&mut self) -> Result<(), Misfit> {
        let beyond = self.classes.iter().find(|&&class| class >= PAUSABLE_CLASSES);
        let Some(class) = beyond.filter(|_| self.headroom == HeadroomFrom::Memory) else { return Ok(()) };
        let what = format!("class {class} cannot be paused: a pause frame names {PAUSABLE_CLASSES} classes");
        Err(Misfit::of("classes", what, "classes from 0 to 7, or headroom = \"free\""))
    }

    /// What a switch with this memory does.
    pub fn spec(&self, memory: SharedBuffer) -> PfcSpec {
        PfcSpec {
            memory,
            lossless: self.classes.iter().fold(ClassSet::NONE, |set, &class| set.with(class)),
            xoff: self.xoff,
            xon_below: self.xon_below,
            headroom: self.headroom,
            headroom_least: self.headroom_least,
        }
    }
}

/// The memory of a switch with lossless classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcSpec {
    /// All memory, and the thresholds of lossy queues.
    pub memory: SharedBuffer,
    /// The lossless classes, below [`PAUSABLE_CLASSES`]; any where headroom is free, which no switch can do.
    pub lossless: ClassSet,
    /// Above what a class is paused.
    pub xoff: Xoff,
    /// How many bytes below that it is resumed.
    pub xon_below: u64,
    /// Where headroom is taken from.
    pub headroom: HeadroomFrom,
    /// The least headroom of a lossless class at an ingress port, in bytes, whatever the link asks for.
    pub headroom_least: u64,
}

/// A link into a switch, and the way of its pause frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseLink {
    /// C, its rate.
    pub rate: Rate,
    /// C', the rate of the link back.
    pub back: Rate,
    /// 2 d, propagation there and back.
    pub round_trip: Span,
    /// r, from the arrival of a pause to its effect.
    pub reaction: Span,
}

/// Largest frame and pause frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// M, bytes on the wire.
    pub largest: u16,
    /// P, bytes on the wire.
    pub pause: u16,
}

impl PauseLink {
    /// Bytes that can still arrive once a class is to be paused.
    pub fn headroom(&self, Frames { largest, pause }: Frames) -> u64 {
        let until = self.back.serialize(u64::from(largest)) + self.back.serialize(u64::from(pause));
        self.rate.bytes_in(until + self.round_trip + self.reaction) + 1 + 2 * u64::from(largest)
    }
}

/// Bytes of headroom that one lossless class takes in a switch whose ingress links ask for `links`, at least `least` each.
pub fn class_headroom(links: impl IntoIterator<Item = u64>, least: u64) -> u64 {
    links.into_iter().fold(0, |sum: u64, bytes| sum.saturating_add(bytes.max(least)))
}

/// Bytes from one ingress port of one class.
#[derive(Clone, Copy, Debug, Default)]
struct IngressUsage {
    shared: u64,
    headroom: u64,
    paused: bool,
}

/// Whether a packet was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// There was room.
    Kept,
    /// There was none.
    Refused,
}

/// What the port upstream has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Nothing new.
    Nothing,
    /// To pause the class.
    Pause,
    /// To resume it.
    Resume,
}

/// A packet, as its buffer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The ingress port it came by.
    pub from: usize,
    /// Its class.
    pub class: Class,
    /// Its bytes on the wire.
    pub wire: u16,
}

/// The buffer of one switch.
#[derive(Clone, Debug)]
pub struct PfcBuffer {
    spec: PfcSpec,
    shared_size: u64,
    shared_used: u64,
    /// By ingress port: the headroom of each lossless class.
    headroom: Vec<u64>,
    /// By ingress port and class.
    accounts: Vec<[IngressUsage; CLASSES]>,
}

impl PfcBuffer {
    /// An empty buffer; `headroom` is what the link of each ingress port asks for, for each class.
    pub fn new(spec: PfcSpec, mut headroom: Vec<u64>) -> Self {
        let classes = spec.lossless.iter().count() as u64;
        let reserved = match spec.headroom {
            HeadroomFrom::Memory => {
                classes.saturating_mul(class_headroom(headroom.iter().copied(), spec.headroom_least))
            }
            HeadroomFrom::Beside => 0,
        };
        headroom.iter_mut().for_each(|bytes| *bytes = spec.headroom_least.max(*bytes));
        Self {
            spec,
            shared_size: spec.memory.size.saturating_sub(reserved),
            shared_used: 0,
            accounts: vec![[IngressUsage::default(); CLASSES]; headroom.len()],
            headroom,
        }
    }

    fn free(&self) -> u64 {
        self.shared_size.saturating_sub(self.shared_used)
    }

    /// X, as of now.
    fn xoff(&self) -> u64 {
        match self.spec.xoff {
            Xoff::Bytes(bytes) => bytes,
            Xoff::OfFree(alpha) => alpha.of(FreeBytes(self.free())),
        }
    }

    #[inline]
    fn is_within_xoff(&self, bytes: u64) -> bool {
        match self.spec.xoff {
            Xoff::Bytes(most) => bytes <= most,
            Xoff::OfFree(alpha) => alpha.covers(bytes, FreeBytes(self.free())),
        }
    }

    /// Whether a packet of a class that is not paused, which finds its queue empty and leaves at once, is taken with
    /// nothing to tell and leaves everything as it was: then neither [`Self::arrive`] nor [`Self::leave`] need be called.
    pub fn is_unmoved_by(&self, load: Load) -> bool {
        let Load { from, class, wire } = load;
        let (free, wire) = (self.free(), u64::from(wire));
        if wire > free {
            return false;
        }
        if !self.spec.lossless.has(class) {
            return self.spec.memory.alpha.is_below(0, FreeBytes(free));
        }
        let account = &self.accounts[from][usize::from(class)];
        !account.paused && self.is_within_xoff(account.shared + wire)
    }

    /// A packet arrives; the queue that it would join holds `queue` bytes.
    pub fn arrive(&mut self, load: Load, queue: u64) -> (Taken, Tell) {
        let Load { from, class, wire } = load;
        let (free, wire) = (self.free(), u64::from(wire));
        if !self.spec.lossless.has(class) {
            let fits = wire <= free && self.spec.memory.alpha.is_below(queue, FreeBytes(free));
            self.shared_used += if fits { wire } else { 0 };
            return (if fits { Taken::Kept } else { Taken::Refused }, Tell::Nothing);
        }
        let most = self.headroom[from];
        let fits = wire <= free && self.is_within_xoff(self.accounts[from][usize::from(class)].shared + wire);
        let account = &mut self.accounts[from][usize::from(class)];
        let mut tell = Tell::Nothing;
        if !account.paused {
            if fits {
                account.shared += wire;
                self.shared_used += wire;
                return (Taken::Kept, Tell::Nothing);
            }
            account.paused = true;
            tell = Tell::Pause;
        }
        if account.headroom + wire > most {
            return (Taken::Refused, tell);
        }
        account.headroom += wire;
        (Taken::Kept, tell)
    }

    /// A packet that was kept leaves its queue.
    pub fn leave(&mut self, load: Load) -> Tell {
        let Load { from, class, wire } = load;
        let wire = u64::from(wire);
        if !self.spec.lossless.has(class) {
            self.shared_used -= wire;
            return Tell::Nothing;
        }
        let account = &mut self.accounts[from][usize::from(class)];
        let of_headroom = wire.min(account.headroom);
        account.headroom -= of_headroom;
        account.shared -= wire - of_headroom;
        self.shared_used -= wire - of_headroom;
        let IngressUsage { shared, headroom, paused } = *account;
        if !paused || headroom > 0 {
            return Tell::Nothing;
        }
        if shared > 0 && shared > self.xoff().saturating_sub(self.spec.xon_below) {
            return Tell::Nothing;
        }
        self.accounts[from][usize::from(class)].paused = false;
        Tell::Resume
    }

    /// The classes that ingress port `from` has paused.
    pub fn paused(&self, from: usize) -> ClassSet {
        let add = |set: ClassSet, class: Class| {
            if self.accounts[from][usize::from(class)].paused { set.with(class) } else { set }
        };
        self.spec.lossless.iter().fold(ClassSet::NONE, add)
    }
}

#[cfg(test)]
mod tests;
