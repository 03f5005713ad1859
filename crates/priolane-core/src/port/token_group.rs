//! A port for tokens (credits) and the data they call for: one limiter for all token classes, and tokens expire (TOP).
//!
//! ```text
//! signals     all but payload and tokens ................................. served first
//! tokens      K queues, strict among each other, room for `depth` each, one limiter for all of them
//! data        one queue, the port's buffer and marks; or several, strict among each other by the packets' rank, which
//!             TOP rejects
//! unscheduled payload that no token called for, where it has a class of its own: a switch has room for one packet,
//!             served last
//!
//! rate of tokens    C s / (s + F)    C: the line, s: mean token, F: the frame a token calls for, all on the wire
//! rate of data      C F / (s + F)
//! slot              (s + F) / C
//! expiry            a token that waited longer than so many slots is discarded, found at the next arrival or service
//! ```
//!
//! In *any* closed window of length w the tokens that start have at most `rate x w + (burst - 1) s` bytes and a last
//! token: what one token brings back fits in what its slot leaves. Everything is exact in whole numbers.
//!
//! TOP's Fig. 3 shows two orders, both with data limited to the rest, and rejects others: [`TokenMode`]
//! (docs/assumptions.md#token-group).
//!
//! The remedy for switches without such limiters (§4.2) has tokens go through another switch between limiter and line:
//! [`TokenGroupSpec::detour`].
//!
//! With [`TokenOrder::Rank`] the tokens of all classes are sorted by their rank instead (docs/assumptions.md#ideal-tokens).

use self::released_tokens::ReleasedTokens;
use super::backlog::{Backlog, Bounds};
use super::bucket::{Bucket, PerByte};
use super::kind_rules::ordinary;
use super::ranked_tokens::{Offer, RankedTokens};
use super::{
    Admission, Buffer, BufferSpec, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup,
    PortSink,
};
use crate::chunked_queue::ChunkedQueue;
use crate::ids::{CLASSES, Class, ClassSet};
use crate::keys::{Bytes, Keys, Misfit, Words};
use crate::packet::{Header, Kind, QueueItem};
use crate::part::Part;
use crate::units::{Rate, Span, Time};

/// Who goes first and what is limited: the modes of TOP's Fig. 3, and those that it rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TokenMode {
    /// Data first, both limited (Fig. 3 a).
    A,
    /// Tokens first, both limited (Fig. 3 b).
    B,
    /// Data first and not limited: tokens starve.
    UnlimitedDataHigh,
    /// Tokens first, data not limited: it takes what tokens leave, so that their own finds the line taken.
    UnlimitedDataLow,
    /// As b, with a limiter for each class: a class's share is left unused while others wait.
    PerClassSplit,
    /// As b, limited where tokens arrive, without regard to their class.
    IngressBlind,
}

impl TokenMode {
    /// Whether tokens go before data.
    fn is_tokens_first(self) -> bool {
        !matches!(self, Self::A | Self::UnlimitedDataHigh)
    }

    /// Whether data keeps to what the token rate leaves.
    fn limits_data(self) -> bool {
        !matches!(self, Self::UnlimitedDataHigh | Self::UnlimitedDataLow)
    }
}

/// What orders tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TokenOrder {
    /// Their classes, strictly; first come first served within a class.
    Class,
    /// Their ranks, the smallest first, in room for all classes' tokens together; the worst makes way.
    Rank,
}

/// Payload that no token called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unscheduled {
    /// The class that it carries.
    pub class: Class,
    /// Packets of it that may wait, `None` for any number; a switch has room for one (TOP §4.4).
    pub room: Option<u32>,
}

/// What a port for tokens is made of; its default is TOP's port (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "tokens", check = Self::check)]
#[part(
    name = "tokens",
    summary = "tokens of several classes behind one limiter, that expire; data in a queue of its own; signals first",
    source = "TOP §3.1; ExpressPass (SIGCOMM 2017) §3.1",
    provides = [TokenPorts]
)]
pub struct TokenGroupSpec {
    /// K, token classes, strict among each other.
    #[key(default = Self::TOP.classes, range = "[1, 16]", source = "TOP §3.1")]
    pub classes: u8,
    /// Tokens that wait in a class, one that finds as many dropped.
    #[key(default = Self::TOP.depth, range = "[1, 1000000]", source = "TOP §3.1")]
    pub depth: u32,
    /// Tokens that may go at once after a pause: with 1, a token that waited for a frame on the line is not made good.
    #[key(default = Self::TOP.burst, range = "[1, 1000000]", source = "docs/assumptions.md#token-group")]
    pub burst: u32,
    /// s, mean token on the wire: tokens get s / (s + F) of the line, F the largest packet.
    #[key(
        name = "token",
        default = Self::TOP.token_wire,
        form = Bytes,
        range = "[1, 9999]",
        source = "ExpressPass §3.1; docs/assumptions.md#token-group"
    )]
    pub token_wire: u16,
    /// F, bytes on the wire of the frame that a token calls for, above 0.
    #[keys(skip = Self::TOP.data_wire)]
    pub data_wire: u16,
    /// Slots of s + F bytes after which a waiting token is discarded.
    #[key(off = 0, default = Self::TOP.expiry, range = "[1, 1000000]", source = "TOP §3.1")]
    pub expiry: Option<u32>,
    /// Who goes first, and what is limited.
    #[key(default = Self::TOP.mode, source = "TOP Fig. 3")]
    pub mode: TokenMode,
    /// What a token takes through an assistant switch, from the limiter to the line's one queue of tokens. With it, no token
    /// expires here.
    #[key(off = "0ps", skip_default, source = "TOP §4.2; docs/assumptions.md#top-detour")]
    pub detour: Option<Span>,
    /// What orders tokens.
    #[key(default = TokenOrder::Class, skip_default, source = "docs/assumptions.md#ideal-tokens")]
    pub order: TokenOrder,
    /// Queues of data, strict by the rank that data carries: a packet of rank r waits in the r-th, those of larger ranks in
    /// the last. TOP rejects several.
    #[key(default = 1, skip_default, range = "[1, 13]", source = "TOP §3.1")]
    pub data_queues: u8,
    /// Payload that waits in a queue of its own and is served last.
    #[keys(skip)]
    pub unscheduled: Option<Unscheduled>,
}

impl TokenGroupSpec {
    /// TOP's port for ordinary frames: 6 classes of 8 tokens of 84 B, 8 slots, tokens first.
    pub const TOP: Self = Self {
        classes: 6,
        depth: 8,
        burst: 2,
        token_wire: 84,
        data_wire: 1538,
        expiry: Some(8),
        mode: TokenMode::B,
        detour: None,
        order: TokenOrder::Class,
        data_queues: 1,
        unscheduled: None,
    };

    fn check(&mut self) -> Result<(), Misfit> {
        if self.detour.is_none() || self.expiry.is_none() {
            return Ok(());
        }
        let what = "tokens do not expire at a switch that sends them through another";
        Err(Misfit::of("detour", what, "expiry = 0, and transport.expiry = \"end_host\""))
    }

    /// What the tokens of one limiter take of the line, as a fraction.
    fn token_share(&self) -> (u32, u32) {
        let whole = u32::from(self.token_wire) + u32::from(self.data_wire);
        let limiters = match self.mode {
            TokenMode::PerClassSplit => u32::from(self.classes.clamp(1, CLASSES as u8)),
            _ => 1,
        };
        (u32::from(self.token_wire).max(1), whole.max(1) * limiters)
    }

    /// How long a token may wait behind a line of `rate`.
    pub fn longest_wait(&self, rate: Rate) -> Option<Span> {
        let slot = u64::from(self.token_wire) + u64::from(self.data_wire);
        self.expiry.filter(|_| self.detour.is_none()).map(|slots| rate.serialize(u64::from(slots) * slot))
    }
}

impl OfKind for TokenGroupSpec {
    type Spec = Self;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        Self { data_wire: setup.frame.max_wire(), ..*self }
    }
}

impl KindRules for TokenGroupSpec {
    fn is_by_class(&self) -> bool {
        false
    }

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), Misfit> {
        if matches!(buffer, BufferSpec::ZeroLoss { .. }) { Ok(()) } else { ordinary(name, buffer) }
    }

    fn check_at_host(&self) -> Result<(), Misfit> {
        let what = "hosts limit tokens as their switch ports do";
        Err(Misfit::of("kind", what, "nic = \"tokens\", or another kind"))
    }
}

impl PortFactory for TokenGroupSpec {
    type Port<P: QueueItem> = TokenGroup<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> TokenGroup<P> {
        TokenGroup::new(self, context.rate, context.buffer)
    }

    fn queue_of(&self, class: Class) -> u8 {
        class.min(self.classes.saturating_sub(1))
    }

    fn is_limited(&self) -> bool {
        true
    }
}

/// A item that will have waited too long.
#[derive(Clone, Copy, Debug, Default)]
struct ExpiringItem<P> {
    /// The last instant at which it may start.
    last: Time,
    item: P,
}

/// Signals, K classes of tokens behind one limiter, and data.
#[derive(Debug)]
pub struct TokenGroup<P> {
    signals: ChunkedQueue<P>,
    tokens: Vec<ChunkedQueue<ExpiringItem<P>>>,
    /// The classes of which a token waits.
    waiting: ClassSet,
    /// None in `tokens` is late up to this instant.
    none_late_until: Time,
    /// In place of `tokens`, of which there is one that stays empty; then all are of class 0.
    ranked: Option<Box<RankedTokens<P>>>,
    data: ChunkedQueue<P>,
    /// The queues of data after the first.
    low_priority_data: Vec<ChunkedQueue<P>>,
    unscheduled: ChunkedQueue<P>,
    unscheduled_spec: Option<Unscheduled>,
    unscheduled_backlog: Backlog,
    data_backlog: Backlog,
    total: Backlog,
    /// One for all classes, or one for each.
    token_buckets: Vec<Bucket>,
    data_bucket: Option<Bucket>,
    depth: u32,
    longest_wait: Option<Span>,
    mode: TokenMode,
    detour: Option<Box<ReleasedTokens<P>>>,
    bounds: Bounds,
}

/// Where a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueKind {
    Signals,
    Tokens(usize),
    /// Tokens that come back from a detour.
    Back,
    Data,
    Unscheduled,
}

impl<P: QueueItem> TokenGroup<P> {
    /// An empty port in front of a line of `rate`; `buffer` is that of data, classes beyond the last are the last.
    pub fn new(spec: &TokenGroupSpec, rate: Rate, buffer: Buffer) -> Self {
        let classes = match spec.order {
            TokenOrder::Class => usize::from(spec.classes.clamp(1, CLASSES as u8)),
            TokenOrder::Rank => 1,
        };
        let room = spec.depth as usize * usize::from(spec.classes);
        let ahead = |bytes: u16| u64::from(spec.burst.saturating_sub(1)) * u64::from(bytes);
        let bucket = |share, bytes| {
            let per_byte = PerByte::at(rate, share);
            Bucket::new(per_byte, per_byte.span(ahead(bytes)))
        };
        let buckets = if spec.mode == TokenMode::PerClassSplit { classes } else { 1 };
        let whole = u32::from(spec.token_wire) + u32::from(spec.data_wire);
        let rest = (u32::from(spec.data_wire).max(1), whole.max(1));
        Self {
            signals: ChunkedQueue::default(),
            tokens: (0..classes).map(|_| ChunkedQueue::default()).collect(),
            waiting: ClassSet::NONE,
            none_late_until: Time::NEVER,
            ranked: (spec.order == TokenOrder::Rank).then(|| Box::new(RankedTokens::new(room))),
            data: ChunkedQueue::default(),
            low_priority_data: (1..spec.data_queues).map(|_| ChunkedQueue::default()).collect(),
            unscheduled: ChunkedQueue::default(),
            unscheduled_spec: spec.unscheduled,
            unscheduled_backlog: Backlog::default(),
            data_backlog: Backlog::default(),
            total: Backlog::default(),
            token_buckets: vec![bucket(spec.token_share(), spec.token_wire); buckets],
            data_bucket: spec.mode.limits_data().then(|| bucket(rest, spec.data_wire)),
            depth: spec.depth,
            longest_wait: spec.longest_wait(rate),
            mode: spec.mode,
            detour: spec.detour.map(|span| Box::new(ReleasedTokens::new(span))),
            bounds: buffer.into(),
        }
    }

    fn lane(&self, header: &Header) -> QueueKind {
        match header.kind {
            Kind::Data if self.unscheduled_spec.is_some_and(|own| own.class == header.class) => {
                QueueKind::Unscheduled
            }
            Kind::Data => QueueKind::Data,
            Kind::Credit => QueueKind::Tokens(usize::from(header.class).min(self.tokens.len() - 1)),
            _ => QueueKind::Signals,
        }
    }

    #[inline]
    fn bucket_of(&self, class: usize) -> usize {
        class.min(self.token_buckets.len() - 1)
    }

    /// When data may start, if there is any.
    fn data_eligible(&self) -> Time {
        self.data_bucket.as_ref().map_or(Time::ZERO, Bucket::eligible)
    }

    /// When a token of `class` that waits may start.
    #[inline]
    fn eligible(&self, class: usize) -> Time {
        match self.mode {
            TokenMode::IngressBlind => Time::ZERO,
            _ => self.token_buckets[self.bucket_of(class)].eligible(),
        }
    }

    /// The token class that may start at `t`.
    fn token_ready(&self, t: Time) -> Option<usize> {
        self.waiting.iter().map(usize::from).find(|&class| self.eligible(class) <= t)
    }

    /// When the first token may start, if one waits.
    #[inline]
    fn tokens_eligible(&self) -> Option<Time> {
        match self.mode {
            TokenMode::PerClassSplit => {
                self.waiting.iter().map(|class| self.eligible(usize::from(class))).min()
            }
            _ => (self.waiting != ClassSet::NONE).then(|| self.eligible(0)),
        }
    }

    /// Sends on its detour what the limiter lets go until `now`.
    #[inline]
    fn let_go(&mut self, now: Time) {
        if self.detour.is_some() {
            self.let_go_round(now);
        }
    }

    fn let_go_round(&mut self, now: Time) {
        while let Some(eligible) = self.tokens_eligible() {
            let released = self.detour.as_ref().map_or(eligible, |detour| detour.released(eligible));
            let Some(class) = self.token_ready(released).filter(|_| released <= now) else { break };
            let Some(item) = self.take(class) else { break };
            self.charge(QueueKind::Tokens(class), released, item.header().wire);
            self.detour.iter_mut().for_each(|detour| detour.send(released, &item));
        }
        self.detour.iter_mut().for_each(|detour| detour.see(now));
    }

    /// Takes out the first token of a class.
    fn take(&mut self, class: usize) -> Option<P> {
        self.take_out(class);
        match &mut self.ranked {
            None => self.tokens[class].pop().map(|token| token.item),
            Some(ranked) => ranked.pop().copied(),
        }
    }

    /// How many tokens of a class wait.
    fn tokens_of(&self, class: usize) -> u32 {
        match &self.ranked {
            None => self.tokens[class].len(),
            Some(ranked) => ranked.len(),
        }
    }

    /// A token of `class` will be taken out.
    fn take_out(&mut self, class: usize) {
        if self.tokens_of(class) == 1 {
            self.waiting = self.waiting.without(class as Class);
        }
    }

    /// Takes out the tokens that should have started before `now`, class by class.
    // Apart by measurement: nearly always there is none, and it is asked several times a packet.
    #[inline(never)]
    fn expire_late(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let mut next = Time::NEVER;
        for class in self.waiting.iter().map(usize::from) {
            // Each class is in order of time.
            while let Some(&ExpiringItem { last, item }) = self.tokens[class].first() {
                if last >= now {
                    next = next.min(last);
                    break;
                }
                self.take_out(class);
                self.tokens[class].pop();
                self.total.remove(item.header().wire);
                out.expired(&item);
            }
        }
        self.none_late_until = next;
    }

    #[inline(never)]
    fn expire_ranked(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let Some(ranked) = &mut self.ranked else { return };
        while let Some(item) = ranked.pop_expired(now) {
            self.total.remove(item.header().wire);
            out.expired(&item);
        }
        if ranked.is_empty() {
            self.waiting = ClassSet::NONE;
        }
    }

    /// A token of `class` arrives.
    fn take_token(&mut self, class: usize, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let last = self.longest_wait.map_or(Time::NEVER, |wait| now + wait);
        if self.mode == TokenMode::IngressBlind {
            let full = self.tokens_of(class) >= self.depth;
            if full || self.token_buckets[0].eligible() > now {
                return Admission::Dropped;
            }
            self.token_buckets[0].charge(now, item.header().wire);
        }
        if let Some(ranked) = &mut self.ranked {
            match ranked.offer(item, last) {
                Offer::Refused => return Admission::Dropped,
                Offer::Kept => self.waiting = self.waiting.with(0),
                Offer::Evicted(worst) => {
                    self.total.remove(worst.header().wire);
                    out.evicted(&worst);
                }
            }
            return Admission::Queued;
        }
        if self.tokens[class].len() >= self.depth {
            return Admission::Dropped;
        }
        self.none_late_until = self.none_late_until.min(last);
        self.tokens[class].push(&ExpiringItem { last, item: *item });
        self.waiting = self.waiting.with(class as Class);
        Admission::Queued
    }

    /// Whether there is no room for another packet that no token called for.
    fn unscheduled_is_full(&self) -> bool {
        let room = self.unscheduled_spec.and_then(|own| own.room);
        room.is_some_and(|room| self.unscheduled.len() >= room)
    }

    /// Where data of this rank waits.
    #[inline]
    fn data_queue(&mut self, rank: u64) -> &mut ChunkedQueue<P> {
        let last = self.low_priority_data.len() as u64;
        match rank.min(last) {
            0 => &mut self.data,
            place => &mut self.low_priority_data[place as usize - 1],
        }
    }

    /// The best queue in which data waits, the last if none does.
    #[inline]
    fn first_data(&mut self) -> &mut ChunkedQueue<P> {
        match self.low_priority_data.iter().position(|queue| !queue.is_empty()) {
            Some(place) if self.data.is_empty() => &mut self.low_priority_data[place],
            _ => &mut self.data,
        }
    }

    /// What starts at `t`.
    fn next_lane(&self, t: Time) -> Option<QueueKind> {
        if !self.signals.is_empty() {
            return Some(QueueKind::Signals);
        }
        let tokens = match &self.detour {
            None => self.token_ready(t).map(QueueKind::Tokens),
            Some(detour) => detour.first(t).map(|_| QueueKind::Back),
        };
        let data = (self.data_backlog.packets > 0 && self.data_eligible() <= t).then_some(QueueKind::Data);
        let first = match self.mode.is_tokens_first() {
            true => tokens.or(data),
            false => data.or(tokens),
        };
        first.or((!self.unscheduled.is_empty()).then_some(QueueKind::Unscheduled))
    }

    /// The limiter of `lane` is charged for a service at `t`.
    fn charge(&mut self, lane: QueueKind, t: Time, wire: u16) {
        match lane {
            QueueKind::Signals | QueueKind::Unscheduled | QueueKind::Back => {}
            QueueKind::Tokens(_) if self.mode == TokenMode::IngressBlind => {}
            QueueKind::Tokens(class) => {
                let bucket = self.bucket_of(class);
                self.token_buckets[bucket].charge(t, wire);
            }
            QueueKind::Data => self.data_bucket.iter_mut().for_each(|bucket| bucket.charge(t, wire)),
        }
    }

    /// Whether `lane` may start at `t`, limiters considered and nothing else.
    fn may_start(&self, lane: QueueKind, t: Time) -> bool {
        match lane {
            QueueKind::Signals | QueueKind::Unscheduled => true,
            // What is to be charged as it comes, or goes a detour, does not pass.
            QueueKind::Tokens(_) | QueueKind::Back
                if self.detour.is_some() || self.mode == TokenMode::IngressBlind =>
            {
                false
            }
            QueueKind::Tokens(class) => self.eligible(class) <= t,
            QueueKind::Back => true,
            QueueKind::Data => self.data_eligible() <= t,
        }
    }
}

impl<P: QueueItem> Discipline<P> for TokenGroup<P> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        self.expire(now, out);
        self.let_go(now);
        let admission = match self.lane(header) {
            QueueKind::Signals | QueueKind::Back => {
                self.signals.push(item);
                Admission::Queued
            }
            QueueKind::Tokens(class) => self.take_token(class, now, item, out),
            QueueKind::Unscheduled if self.unscheduled_is_full() => Admission::Dropped,
            QueueKind::Unscheduled => {
                self.unscheduled_backlog.add(header.wire);
                self.unscheduled.push(item);
                Admission::Queued
            }
            QueueKind::Data => {
                let admission = self.bounds.admit(self.data_backlog, self.data_backlog, header);
                if admission != Admission::Dropped {
                    self.data_backlog.add(header.wire);
                    admission.mark(self.data_queue(header.rank).push(item));
                }
                admission
            }
        };
        if admission != Admission::Dropped {
            self.total.add(header.wire);
        }
        // A token that finds the limiter ready goes at once.
        self.let_go(now);
        admission
    }

    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let lane = self.lane(header);
        let admission = match lane {
            QueueKind::Data => self.bounds.admit_alone(header),
            QueueKind::Tokens(_) if self.depth == 0 => Admission::Dropped,
            _ => Admission::Queued,
        };
        if admission == Admission::Dropped || !self.may_start(lane, now) {
            return None;
        }
        self.charge(lane, now, header.wire);
        Some(admission)
    }

    #[inline]
    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        if self.longest_wait.is_none() {
            return;
        }
        if self.ranked.is_some() {
            return self.expire_ranked(now, out);
        }
        if now > self.none_late_until {
            self.expire_late(now, out);
        }
    }

    fn next_eligible_time(&self) -> Option<Time> {
        if !self.signals.is_empty() || !self.unscheduled.is_empty() {
            return Some(Time::ZERO);
        }
        let data = (self.data_backlog.packets > 0).then(|| self.data_eligible());
        let tokens = match &self.detour {
            None => self.tokens_eligible(),
            Some(detour) => detour.next_start(self.tokens_eligible()),
        };
        match (tokens, data) {
            (Some(token), Some(data)) => Some(token.min(data)),
            (token, data) => token.or(data),
        }
    }

    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.expire(t, out);
        self.let_go(t);
        let lane = self.next_lane(t)?;
        let wire = match lane {
            QueueKind::Signals => self.signals.first().map(|p| p.header().wire),
            QueueKind::Back => {
                self.detour.as_ref().and_then(|detour| detour.first(t)).map(|p| p.header().wire)
            }
            QueueKind::Tokens(class) => match &self.ranked {
                None => self.tokens[class].first().map(|token| token.item.header().wire),
                Some(ranked) => ranked.first().map(|item| item.header().wire),
            },
            QueueKind::Unscheduled => self.unscheduled.first().map(|p| p.header().wire),
            QueueKind::Data => self.first_data().first().map(|p| p.header().wire),
        }?;
        self.charge(lane, t, wire);
        self.total.remove(wire);
        if let QueueKind::Tokens(class) = lane {
            self.take_out(class);
        }
        match lane {
            QueueKind::Signals => self.signals.pop(),
            QueueKind::Back => self.detour.as_mut().and_then(|detour| detour.pop()),
            QueueKind::Tokens(class) => match &mut self.ranked {
                None => self.tokens[class].pop().map(|token| &token.item),
                Some(ranked) => ranked.pop(),
            },
            QueueKind::Unscheduled => {
                self.unscheduled_backlog.remove(wire);
                self.unscheduled.pop()
            }
            QueueKind::Data => {
                self.data_backlog.remove(wire);
                self.first_data().pop()
            }
        }
    }

    fn packets(&self) -> u32 {
        self.total.packets
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }

    fn payload_bytes(&self) -> u64 {
        self.data_backlog.bytes + self.unscheduled_backlog.bytes
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        match self.lane(header) {
            QueueKind::Data => self.data_backlog.bytes,
            // Signals and tokens have room of their own: a shared buffer refuses them only where it is full.
            QueueKind::Signals | QueueKind::Tokens(_) | QueueKind::Back | QueueKind::Unscheduled => 0,
        }
    }
}

mod released_tokens;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod worked;
