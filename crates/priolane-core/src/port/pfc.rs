//! Priority flow control (IEEE 802.1Qbb): the buffer of a switch that drops no packet of its lossless classes.
//!
//! Each (ingress port, lossless class) has an account of the bytes that arrived there and are still queued.
//!
//! ```text
//! open     a packet that fits (account + packet <= X, packet <= free) is charged to the shared buffer;
//!          the first that does not fit pauses the class at the upstream port (XOFF) and goes to the headroom
//! paused   packets that still arrive are charged to the headroom of (port, class)
//! resume   headroom empty, and the account at most X - `xon_below`, or empty (XON)
//! X        a number of bytes, or alpha times the free bytes of the shared buffer
//!
//! headroom   C (M / C' + P / C' + 2 d + r) + 2 M
//! ```
//!
//! After the packet that triggers the pause, the following can still arrive: that packet itself (M, the largest
//! frame), data at the link rate C until the pause takes effect, and the rest of the frame in transmission (M). The
//! time until the pause takes effect is the sum of the wait for a frame on the reverse link (M / C'), the
//! transmission of the pause frame (P / C'), the propagation in both directions (2 d), and the reaction (r, at
//! hosts). This is the calculation of IEEE 802.1Q Annex N ("buffer requirements for priority-based flow control")
//! for a switch without pipeline delays. So no packet is ever refused (docs/assumptions.md#pfc).
//!
//! Headroom is either reserved permanently from the memory or, as an idealization, provided in addition to it.
//! Lossy classes also use the shared buffer, with dynamic thresholds (see [`super::SharedBuffer`]).

pub mod watchdog;

use self::watchdog::Watchdog;
use super::{Alpha, FreeBytes, SharedBuffer};
use crate::ids::{CLASSES, Class, ClassSet};
use crate::keys::{
    Bounds, Bytes, Form, InTable, KeyConflict, KeyError, KeyValue, Keys, NonEmpty, Schema, Thousandths,
    Value, Words, WrittenValue,
};
use crate::units::{Rate, Span};

/// Number of classes that a pause frame can name: those with the smallest numbers.
pub const PAUSABLE_CLASSES: u8 = 8;

/// The threshold in bytes per ingress port and class above which it is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xoff {
    /// A number of bytes.
    Bytes(u64),
    /// A multiple of the free bytes of the shared buffer.
    OfFree(Alpha),
}

/// The source of headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum HeadroomFrom {
    /// Reserved permanently from the memory.
    #[word("charged")]
    Memory,
    /// Provided in addition to the memory.
    #[word("free")]
    Beside,
}

/// Written as `"100kB"`, or as a fraction of the free bytes: `"1/8"`.
impl KeyValue for Xoff {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text(text) if text.ends_with('B') => Bytes::read(value, bounds).map(Self::Bytes),
            _ => Alpha::read(value, bounds).map(Self::OfFree),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Bytes(bytes) => WrittenValue::Text(format!("{bytes}B")),
            Self::OfFree(alpha) => alpha.write(),
        }
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// The key `pfc` of a port: the lossless classes, and when they are paused.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "pfc", check = Self::check)]
pub struct Pfc {
    /// The lossless classes, below 8; up to 15 with headroom = free, which no real switch supports.
    #[key(required = "classes = [0]", form = NonEmpty, range = "[0, 15]", source = "IEEE 802.1Q-2018 clause 36")]
    pub classes: Vec<Class>,
    /// Threshold above which a class of an ingress port is paused.
    #[key(required = "xoff = \"1/8\" of what is free, or \"100kB\"", source = "docs/assumptions.md#pfc")]
    pub xoff: Xoff,
    /// Bytes below that threshold at which it is resumed.
    #[key(default = 3_000, form = Bytes, source = "docs/assumptions.md#pfc")]
    pub xon_below: u64,
    /// Where headroom is taken from.
    #[key(default = HeadroomFrom::Memory, source = "docs/assumptions.md#pfc")]
    pub headroom: HeadroomFrom,
    /// Minimum headroom of a class at an ingress port, even if the link needs less.
    #[key(default = 0, form = Bytes, source = "docs/assumptions.md#pfc")]
    pub headroom_least: u64,
    /// The same as a multiple of 2 C d: what the link carries while a bit goes there and back.
    #[key(default = 0, form = Thousandths, range = "[0, 1000]", skip_default, source = "docs/assumptions.md#physical-headroom")]
    pub headroom_round_trips: u32,
    /// Watchdog of ports that stay paused, as in switches; without it, a cycle of pauses lasts.
    #[key(optional, form = InTable, shown = "none", source = "docs/assumptions.md#pfc")]
    pub watchdog: Option<Box<Watchdog>>,
}

impl Pfc {
    fn check(&mut self) -> Result<(), KeyConflict> {
        let beyond = self.classes.iter().find(|&&class| class >= PAUSABLE_CLASSES);
        let Some(class) = beyond.filter(|_| self.headroom == HeadroomFrom::Memory) else { return Ok(()) };
        let what = format!("class {class} cannot be paused: a pause frame has {PAUSABLE_CLASSES} classes");
        Err(KeyConflict::of("classes", what, "classes from 0 to 7, or headroom = \"free\""))
    }

    /// Returns the PFC parameters of a switch with this memory.
    pub fn spec(&self, memory: SharedBuffer) -> PfcSpec {
        PfcSpec {
            memory,
            lossless: self.classes.iter().fold(ClassSet::NONE, |set, &class| set.with(class)),
            xoff: self.xoff,
            xon_below: self.xon_below,
            headroom: self.headroom,
            headroom_least: self.headroom_least,
            headroom_round_trips: self.headroom_round_trips,
            watchdog: self.watchdog.as_deref().copied(),
        }
    }
}

/// The memory of a switch with lossless classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcSpec {
    /// Total memory, and the dynamic thresholds of lossy queues.
    pub memory: SharedBuffer,
    /// The lossless classes, below [`PAUSABLE_CLASSES`]; any class if headroom is free, which no real switch
    /// supports.
    pub lossless: ClassSet,
    /// Threshold above which a class is paused.
    pub xoff: Xoff,
    /// Bytes below that threshold at which it is resumed.
    pub xon_below: u64,
    /// The source of headroom.
    pub headroom: HeadroomFrom,
    /// Minimum headroom of a lossless class at an ingress port, in bytes, even if the link needs less.
    pub headroom_least: u64,
    /// The same in thousandths of 2 C d of the link.
    pub headroom_round_trips: u32,
    /// The watchdog of all ports.
    pub watchdog: Option<Watchdog>,
}

impl PfcSpec {
    /// Returns the headroom of each lossless class at the ingress port of `link`.
    pub fn headroom_at(&self, link: &PauseLink, frames: Frames) -> u64 {
        let stated = self.headroom_least.max(link.round_trips(self.headroom_round_trips));
        link.headroom(frames).max(stated)
    }
}

/// An ingress link of a switch, and the reverse link of its pause frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseLink {
    /// C, the rate of the link.
    pub rate: Rate,
    /// C', the rate of the reverse link.
    pub back: Rate,
    /// 2 d, the propagation delay in both directions.
    pub round_trip: Span,
    /// r, the time from the arrival of a pause frame to its effect.
    pub reaction: Span,
}

/// Sizes of the largest frame and the pause frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// M, bytes on the wire.
    pub largest: u16,
    /// P, bytes on the wire.
    pub pause: u16,
}

impl PauseLink {
    /// Returns the bytes that can still arrive after a class is to be paused.
    pub fn headroom(&self, Frames { largest, pause }: Frames) -> u64 {
        let until = self.back.serialize(u64::from(largest)) + self.back.serialize(u64::from(pause));
        self.rate.bytes_in(until + self.round_trip + self.reaction) + 1 + 2 * u64::from(largest)
    }

    /// Returns 2 C d, in bytes, times `thousandths` / 1,000, rounded up.
    pub fn round_trips(&self, thousandths: u32) -> u64 {
        (self.rate.bytes_in(self.round_trip) * u64::from(thousandths)).div_ceil(1_000)
    }
}

/// The bytes of one class from one ingress port.
#[derive(Clone, Copy, Debug, Default)]
struct IngressUsage {
    shared: u64,
    headroom: u64,
    paused: bool,
}

/// Whether a packet was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// There was room.
    Kept,
    /// There was no room.
    Refused,
}

/// The signal to send to the upstream port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseSignal {
    /// No change.
    Nothing,
    /// Pause the class.
    Pause,
    /// Resume the class.
    Resume,
}

/// The properties of a packet that the buffer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The ingress port at which it arrived.
    pub from: usize,
    /// Its class.
    pub class: Class,
    /// Its bytes on the wire.
    pub wire: u16,
}

/// The PFC buffer of a switch.
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
    /// Creates an empty buffer; `headroom` is that of each ingress port, for each class.
    pub fn new(spec: PfcSpec, headroom: Vec<u64>) -> Self {
        let classes = spec.lossless.iter().count() as u64;
        let reserved = match spec.headroom {
            HeadroomFrom::Memory => classes.saturating_mul(headroom.iter().sum()),
            HeadroomFrom::Beside => 0,
        };
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

    /// Returns the current X.
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

    /// Returns true if a packet of a class that is not paused, which arrives at an empty queue and leaves
    /// immediately, is accepted without any change of state or signal. Then [`Self::arrive`] and [`Self::leave`]
    /// need not be called.
    pub fn leaves_state_unchanged(&self, load: Load) -> bool {
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

    /// Handles the arrival of a packet; the queue that it would join holds `queue` bytes.
    pub fn arrive(&mut self, load: Load, queue: u64) -> (Acceptance, PauseSignal) {
        let Load { from, class, wire } = load;
        let (free, wire) = (self.free(), u64::from(wire));
        if !self.spec.lossless.has(class) {
            let fits = wire <= free && self.spec.memory.alpha.is_below(queue, FreeBytes(free));
            self.shared_used += if fits { wire } else { 0 };
            return (if fits { Acceptance::Kept } else { Acceptance::Refused }, PauseSignal::Nothing);
        }
        let most = self.headroom[from];
        let fits = wire <= free && self.is_within_xoff(self.accounts[from][usize::from(class)].shared + wire);
        let account = &mut self.accounts[from][usize::from(class)];
        let mut tell = PauseSignal::Nothing;
        if !account.paused {
            if fits {
                account.shared += wire;
                self.shared_used += wire;
                return (Acceptance::Kept, PauseSignal::Nothing);
            }
            account.paused = true;
            tell = PauseSignal::Pause;
        }
        if account.headroom + wire > most {
            return (Acceptance::Refused, tell);
        }
        account.headroom += wire;
        (Acceptance::Kept, tell)
    }

    /// Handles the departure of an accepted packet from its queue.
    pub fn leave(&mut self, load: Load) -> PauseSignal {
        let Load { from, class, wire } = load;
        let wire = u64::from(wire);
        if !self.spec.lossless.has(class) {
            self.shared_used -= wire;
            return PauseSignal::Nothing;
        }
        let account = &mut self.accounts[from][usize::from(class)];
        let of_headroom = wire.min(account.headroom);
        account.headroom -= of_headroom;
        account.shared -= wire - of_headroom;
        self.shared_used -= wire - of_headroom;
        let IngressUsage { shared, headroom, paused } = *account;
        if !paused || headroom > 0 {
            return PauseSignal::Nothing;
        }
        if shared > 0 && shared > self.xoff().saturating_sub(self.spec.xon_below) {
            return PauseSignal::Nothing;
        }
        self.accounts[from][usize::from(class)].paused = false;
        PauseSignal::Resume
    }

    /// Returns the classes that are paused at ingress port `from`.
    pub fn paused(&self, from: usize) -> ClassSet {
        let add = |set: ClassSet, class: Class| {
            if self.accounts[from][usize::from(class)].paused { set.with(class) } else { set }
        };
        self.spec.lossless.iter().fold(ClassSet::NONE, add)
    }
}

#[cfg(test)]
mod tests;
