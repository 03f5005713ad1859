//! A port for tokens (credits) and the data that they request: one limiter for all token classes, and token expiry
//! (TOP).
//!
//! ```text
//! signals     all packets but data and tokens ............................. served first
//! tokens      K queues in strict priority, room for `depth` each, one limiter for all of them
//! data        one queue with the port's buffer and marks; or several in strict priority by the packets' rank, which
//!             TOP rejects
//! unscheduled data sent without a token, if it has a class of its own: a switch has room for one packet,
//!             served last
//!
//! rate of tokens    C s / (s + F)    C: link rate, s: mean token size, F: size of a data frame, both on the wire
//! rate of data      C F / (s + F)
//! slot              (s + F) / C
//! expiry            a token queued for more than `expiry` slots is discarded at the next arrival or service
//! ```
//!
//! In *any* closed window of length w the tokens that start have at most `rate x w + (burst - 1) s` bytes plus a
//! last token. So the data that one token requests fits in the rest of its slot. All arithmetic is exact, in
//! integers.
//!
//! TOP's Fig. 3 shows two orders, both with data limited to the rest of the link rate, and rejects others:
//! [`TokenMode`] (docs/assumptions.md#token-group).
//!
//! TOP's workaround for switches without such limiters (§4.2) sends tokens through another switch between limiter
//! and link: [`TokenGroupSpec::detour`].
//!
//! With [`TokenOrder::Rank`] the tokens of all classes are sorted by their rank (docs/assumptions.md#ideal-tokens).

use self::released_tokens::ReleasedTokens;
use super::backlog::{Backlog, Bounds};
use super::bucket::{Bucket, PerByte};
use super::kind_rules::{no_average, ordinary};
use super::ranked_tokens::{Offer, RankedTokens};
use super::{
    Admission, Buffer, BufferSpec, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup,
    PortSink, Scope,
};
use crate::chunked_queue::ChunkedQueue;
use crate::ids::{CLASSES, Class, ClassSet};
use crate::keys::{Bytes, KeyConflict, Keys, Words};
use crate::packet::{Header, Kind, QueueItem};
use crate::part::Part;
use crate::units::{Rate, Span, Time};

/// Service order and rate limits: the modes of TOP's Fig. 3, and those that it rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TokenMode {
    /// Data first, both limited (Fig. 3 a).
    A,
    /// Tokens first, both limited (Fig. 3 b).
    B,
    /// Data first and not limited: tokens starve.
    UnlimitedDataHigh,
    /// Tokens first, data not limited: data uses the rate that tokens leave, so the data requested by tokens finds
    /// the link busy.
    UnlimitedDataLow,
    /// As b, with a limiter for each class: the unused share of a class is lost while other classes have tokens
    /// queued.
    PerClassSplit,
    /// As b, limited when tokens arrive, regardless of their class.
    IngressBlind,
}

impl TokenMode {
    /// Returns true if tokens are served before data.
    fn is_tokens_first(self) -> bool {
        !matches!(self, Self::A | Self::UnlimitedDataHigh)
    }

    /// Returns true if data is limited to the rate that tokens leave.
    fn limits_data(self) -> bool {
        !matches!(self, Self::UnlimitedDataHigh | Self::UnlimitedDataLow)
    }
}

/// The order in which tokens are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TokenOrder {
    /// By class, in strict priority; FIFO within a class.
    Class,
    /// By rank, the smallest first, in one buffer for the tokens of all classes; the worst token is evicted.
    Rank,
}

/// Data sent without tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnscheduledData {
    /// The class that it carries.
    pub class: Class,
    /// Maximum number of queued packets; `None` for no limit. A switch has room for one (TOP §4.4).
    pub room: Option<u32>,
}

/// The parameters of a port for tokens; the default is TOP's port (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "tokens", check = Self::check)]
#[part(
    name = "tokens",
    summary = "tokens of several classes that expire, behind one rate limiter; data in a separate queue; \
               signals first",
    source = "TOP §3.1; ExpressPass (SIGCOMM 2017) §3.1",
    provides = [TokenPorts],
    deploy = [TokenLimiter],
    serves = "limit the tokens of all classes together and discard old ones",
    lacks = "ports that limit tokens: one limit over all token classes of a port, and expiry",
    example = r#"buffer = { shared = "250pkt" }"#
)]
pub struct TokenGroupSpec {
    /// K, the number of token classes, served in strict priority.
    #[key(default = Self::TOP.classes, range = "[1, 16]", source = "TOP §3.1")]
    pub classes: u8,
    /// Capacity per class in tokens; a token that finds the queue full is dropped.
    #[key(default = Self::TOP.depth, range = "[1, 1000000]", source = "TOP §3.1")]
    pub depth: u32,
    /// Burst in tokens after a pause; with 1, the delay of a token behind a frame in transmission is not made up.
    #[key(default = Self::TOP.burst, range = "[1, 1000000]", source = "docs/assumptions.md#token-group")]
    pub burst: u32,
    /// s, the mean token size on the wire: tokens get s / (s + F) of the link rate, F the largest packet.
    #[key(
        name = "token",
        default = Self::TOP.token_wire,
        form = Bytes,
        range = "[1, 9999]",
        source = "ExpressPass §3.1; docs/assumptions.md#token-group"
    )]
    pub token_wire: u16,
    /// F, the size on the wire of the frame that a token requests, above 0.
    #[keys(skip = Self::TOP.data_wire)]
    pub data_wire: u16,
    /// Slots of s + F bytes after which a queued token is discarded.
    #[key(off = 0, default = Self::TOP.expiry, range = "[1, 1000000]", source = "TOP §3.1")]
    pub expiry: Option<u32>,
    /// Service order and rate limits.
    #[key(default = Self::TOP.mode, source = "TOP Fig. 3")]
    pub mode: TokenMode,
    /// Delay of a token through an auxiliary switch, from the limiter to the single token queue of the link; tokens
    /// then do not expire here.
    #[key(off = "0ps", skip_default, source = "TOP §4.2; docs/assumptions.md#top-detour")]
    pub detour: Option<Span>,
    /// The order in which tokens are served.
    #[key(default = TokenOrder::Class, skip_default, source = "docs/assumptions.md#ideal-tokens")]
    pub order: TokenOrder,
    /// Number of data queues, in strict priority by rank: rank r uses the r-th queue, larger ranks the last. TOP
    /// rejects more than one.
    #[key(default = 1, skip_default, range = "[1, 13]", source = "TOP §3.1")]
    pub data_queues: u8,
    /// Data with a queue of its own that is served last.
    #[keys(skip)]
    pub unscheduled: Option<UnscheduledData>,
}

impl TokenGroupSpec {
    /// TOP's port for Ethernet frames: 6 classes of 8 tokens of 84 B, 8 slots, tokens first.
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

    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.detour.is_none() || self.expiry.is_none() {
            return Ok(());
        }
        let what = "tokens do not expire at a switch that detours them through an auxiliary switch";
        Err(KeyConflict::of("detour", what, "expiry = 0, and transport.expiry = \"end_host\""))
    }

    /// Returns the share of the link rate that the tokens of one limiter get, as a fraction.
    fn token_share(&self) -> (u32, u32) {
        let whole = u32::from(self.token_wire) + u32::from(self.data_wire);
        let limiters = match self.mode {
            TokenMode::PerClassSplit => u32::from(self.classes.clamp(1, CLASSES as u8)),
            _ => 1,
        };
        (u32::from(self.token_wire).max(1), whole.max(1) * limiters)
    }

    /// Returns how long a token may be queued at a link of `rate`; `None` for no limit.
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

    fn check_buffer(&self, name: &str, buffer: &BufferSpec) -> Result<(), KeyConflict> {
        if matches!(buffer, BufferSpec::ZeroLoss { .. }) { Ok(()) } else { ordinary(name, buffer) }
    }

    fn check_average(&self, name: &str, _: Scope) -> Result<(), KeyConflict> {
        no_average(name)
    }

    fn check_at_host(&self) -> Result<(), KeyConflict> {
        let what = "the transmit queue of a host takes its token limits from the switch ports";
        Err(KeyConflict::of("kind", what, "nic = \"tokens\", or another kind"))
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

    fn reads_ranks(&self) -> bool {
        self.order == TokenOrder::Rank || self.data_queues > 1
    }

    fn is_limited(&self) -> bool {
        true
    }
}

/// A queued item and its expiry.
#[derive(Clone, Copy, Debug, Default)]
struct ExpiringItem<P> {
    /// The last time at which it may start.
    last: Time,
    item: P,
}

/// Signals, K classes of tokens behind one limiter, and data.
#[derive(Debug)]
pub struct TokenGroup<P> {
    signals: ChunkedQueue<P>,
    tokens: Vec<ChunkedQueue<ExpiringItem<P>>>,
    /// The classes with queued tokens.
    waiting: ClassSet,
    /// No token in `tokens` expires before or at this time.
    none_late_until: Time,
    /// Used instead of `tokens`, which then has one empty queue; all tokens are of class 0.
    ranked: Option<Box<RankedTokens<P>>>,
    data: ChunkedQueue<P>,
    /// The data queues after the first.
    low_priority_data: Vec<ChunkedQueue<P>>,
    unscheduled: ChunkedQueue<P>,
    unscheduled_spec: Option<UnscheduledData>,
    unscheduled_backlog: Backlog,
    data_backlog: Backlog,
    total: Backlog,
    /// One bucket for all classes, or one for each.
    token_buckets: Vec<Bucket>,
    data_bucket: Option<Bucket>,
    depth: u32,
    longest_wait: Option<Span>,
    mode: TokenMode,
    detour: Option<Box<ReleasedTokens<P>>>,
    bounds: Bounds,
}

/// The queue of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueKind {
    Signals,
    Tokens(usize),
    /// Tokens that return from a detour.
    Released,
    Data,
    Unscheduled,
}

impl<P: QueueItem> TokenGroup<P> {
    /// Creates an empty port on a link of `rate`; `buffer` applies to data. Classes beyond the last use the last.
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

    fn queue_kind(&self, header: &Header) -> QueueKind {
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

    /// Returns when data may start, if any is queued.
    fn data_eligible(&self) -> Time {
        self.data_bucket.as_ref().map_or(Time::ZERO, Bucket::eligible)
    }

    /// Returns when a queued token of `class` may start.
    #[inline]
    fn eligible(&self, class: usize) -> Time {
        match self.mode {
            TokenMode::IngressBlind => Time::ZERO,
            _ => self.token_buckets[self.bucket_of(class)].eligible(),
        }
    }

    /// Returns the token class that may start at `t`.
    fn token_ready(&self, t: Time) -> Option<usize> {
        self.waiting.iter().map(usize::from).find(|&class| self.eligible(class) <= t)
    }

    /// Returns when the first token may start, if any is queued.
    #[inline]
    fn tokens_eligible(&self) -> Option<Time> {
        match self.mode {
            TokenMode::PerClassSplit => {
                self.waiting.iter().map(|class| self.eligible(usize::from(class))).min()
            }
            _ => (self.waiting != ClassSet::NONE).then(|| self.eligible(0)),
        }
    }

    /// Sends the tokens that the limiter releases until `now` on the detour.
    #[inline]
    fn release_due(&mut self, now: Time) {
        if self.detour.is_some() {
            self.release_all_due(now);
        }
    }

    fn release_all_due(&mut self, now: Time) {
        while let Some(eligible) = self.tokens_eligible() {
            let released = self.detour.as_ref().map_or(eligible, |detour| detour.released(eligible));
            let Some(class) = self.token_ready(released).filter(|_| released <= now) else { break };
            let Some(item) = self.take(class) else { break };
            self.charge(QueueKind::Tokens(class), released, item.header().wire);
            self.detour.iter_mut().for_each(|detour| detour.send(released, &item));
        }
        self.detour.iter_mut().for_each(|detour| detour.see(now));
    }

    /// Dequeues the first token of a class.
    fn take(&mut self, class: usize) -> Option<P> {
        self.take_out(class);
        match &mut self.ranked {
            None => self.tokens[class].pop().map(|token| token.item),
            Some(ranked) => ranked.pop().copied(),
        }
    }

    /// Returns the number of queued tokens of a class.
    fn tokens_of(&self, class: usize) -> u32 {
        match &self.ranked {
            None => self.tokens[class].len(),
            Some(ranked) => ranked.len(),
        }
    }

    /// Updates `waiting` before a token of `class` is dequeued.
    fn take_out(&mut self, class: usize) {
        if self.tokens_of(class) == 1 {
            self.waiting = self.waiting.without(class as Class);
        }
    }

    /// Discards the tokens that should have started before `now`, class by class.
    // Not inlined, by measurement: nearly always there are none, and this is called several times per packet.
    #[inline(never)]
    fn expire_late(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let mut next = Time::NEVER;
        for class in self.waiting.iter().map(usize::from) {
            // Each class is in order of expiry.
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

    /// Handles the arrival of a token of `class`.
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

    /// Returns true if there is no room for another unscheduled packet.
    fn unscheduled_is_full(&self) -> bool {
        let room = self.unscheduled_spec.and_then(|own| own.room);
        room.is_some_and(|room| self.unscheduled.len() >= room)
    }

    /// Returns the queue for data of this rank.
    #[inline]
    fn data_queue(&mut self, rank: u64) -> &mut ChunkedQueue<P> {
        let last = self.low_priority_data.len() as u64;
        match rank.min(last) {
            0 => &mut self.data,
            place => &mut self.low_priority_data[place as usize - 1],
        }
    }

    /// Returns the best non-empty data queue, the last if all are empty.
    #[inline]
    fn first_data(&mut self) -> &mut ChunkedQueue<P> {
        match self.low_priority_data.iter().position(|queue| !queue.is_empty()) {
            Some(place) if self.data.is_empty() => &mut self.low_priority_data[place],
            _ => &mut self.data,
        }
    }

    /// Returns the queue to serve at `t`.
    fn next_queue(&self, t: Time) -> Option<QueueKind> {
        if !self.signals.is_empty() {
            return Some(QueueKind::Signals);
        }
        let tokens = match &self.detour {
            None => self.token_ready(t).map(QueueKind::Tokens),
            Some(detour) => detour.first(t).map(|_| QueueKind::Released),
        };
        let data = (self.data_backlog.packets > 0 && self.data_eligible() <= t).then_some(QueueKind::Data);
        let first = match self.mode.is_tokens_first() {
            true => tokens.or(data),
            false => data.or(tokens),
        };
        first.or((!self.unscheduled.is_empty()).then_some(QueueKind::Unscheduled))
    }

    /// Charges the limiter of `queue_kind` for a transmission at `t`.
    fn charge(&mut self, queue_kind: QueueKind, t: Time, wire: u16) {
        match queue_kind {
            QueueKind::Signals | QueueKind::Unscheduled | QueueKind::Released => {}
            QueueKind::Tokens(_) if self.mode == TokenMode::IngressBlind => {}
            QueueKind::Tokens(class) => {
                let bucket = self.bucket_of(class);
                self.token_buckets[bucket].charge(t, wire);
            }
            QueueKind::Data => self.data_bucket.iter_mut().for_each(|bucket| bucket.charge(t, wire)),
        }
    }

    /// Returns true if the limiters permit `queue_kind` to start at `t`.
    fn may_start(&self, queue_kind: QueueKind, t: Time) -> bool {
        match queue_kind {
            QueueKind::Signals | QueueKind::Unscheduled => true,
            // Tokens that are charged on arrival or take a detour cannot bypass the queue.
            QueueKind::Tokens(_) | QueueKind::Released
                if self.detour.is_some() || self.mode == TokenMode::IngressBlind =>
            {
                false
            }
            QueueKind::Tokens(class) => self.eligible(class) <= t,
            QueueKind::Released => true,
            QueueKind::Data => self.data_eligible() <= t,
        }
    }
}

impl<P: QueueItem> Discipline<P> for TokenGroup<P> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        self.expire(now, out);
        self.release_due(now);
        let admission = match self.queue_kind(header) {
            QueueKind::Signals | QueueKind::Released => {
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
        // A token that finds the limiter ready is released immediately.
        self.release_due(now);
        admission
    }

    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let queue_kind = self.queue_kind(header);
        let admission = match queue_kind {
            QueueKind::Data => self.bounds.admit_alone(header),
            QueueKind::Tokens(_) if self.depth == 0 => Admission::Dropped,
            _ => Admission::Queued,
        };
        if admission == Admission::Dropped || !self.may_start(queue_kind, now) {
            return None;
        }
        self.charge(queue_kind, now, header.wire);
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
        self.release_due(t);
        let queue_kind = self.next_queue(t)?;
        let wire = match queue_kind {
            QueueKind::Signals => self.signals.first().map(|p| p.header().wire),
            QueueKind::Released => {
                self.detour.as_ref().and_then(|detour| detour.first(t)).map(|p| p.header().wire)
            }
            QueueKind::Tokens(class) => match &self.ranked {
                None => self.tokens[class].first().map(|token| token.item.header().wire),
                Some(ranked) => ranked.first().map(|item| item.header().wire),
            },
            QueueKind::Unscheduled => self.unscheduled.first().map(|p| p.header().wire),
            QueueKind::Data => self.first_data().first().map(|p| p.header().wire),
        }?;
        self.charge(queue_kind, t, wire);
        self.total.remove(wire);
        if let QueueKind::Tokens(class) = queue_kind {
            self.take_out(class);
        }
        match queue_kind {
            QueueKind::Signals => self.signals.pop(),
            QueueKind::Released => self.detour.as_mut().and_then(|detour| detour.pop()),
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
        match self.queue_kind(header) {
            QueueKind::Data => self.data_backlog.bytes,
            // Signals and tokens have buffers of their own: a shared buffer drops them only when it is full.
            QueueKind::Signals | QueueKind::Tokens(_) | QueueKind::Released | QueueKind::Unscheduled => 0,
        }
    }

    fn packets_before(&self, header: &Header) -> u32 {
        match self.queue_kind(header) {
            QueueKind::Data => self.data_backlog.packets,
            QueueKind::Signals | QueueKind::Tokens(_) | QueueKind::Released | QueueKind::Unscheduled => 0,
        }
    }
}

mod released_tokens;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod worked;
