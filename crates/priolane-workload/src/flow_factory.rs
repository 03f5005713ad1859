//! Parts that all apps use to generate the flows of a group: random streams, entropy and limits.

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{FlowId, HostId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::{Span, Time};

use super::context::{LATEST_START, WorkloadContext};
use super::error::AppError;

/// Rejects a size of zero bytes, or above the maximum flow size.
pub(crate) fn size_ok(size: Option<u64>) -> Result<(), AppError> {
    match size {
        Some(bytes) if bytes == 0 || bytes > MAX_BYTES as u64 => Err(AppError::Size(bytes)),
        _ => Ok(()),
    }
}

/// Returns the stream of a host of the group (docs/assumptions.md#streams-by-group).
pub(crate) fn host_stream(site: &WorkloadContext<'_>, purpose: Purpose, host: HostId) -> Stream {
    Stream::new(site.seed, purpose, u64::from(site.group) << 32 | u64::from(host.0))
}

/// Returns the stream of a pair of hosts; its key differs from those of all hosts and groups.
pub(crate) fn pair_stream(site: &WorkloadContext<'_>, purpose: Purpose, pair: Pair) -> Stream {
    let key = u64::from(pair.dst.0) << 48 | u64::from(site.group) << 32 | 1 << 30 | u64::from(pair.src.0);
    Stream::new(site.seed, purpose, key)
}

/// Returns the stream of the whole group.
pub(crate) fn group_stream(site: &WorkloadContext<'_>, purpose: Purpose) -> Stream {
    Stream::new(site.seed, purpose, u64::from(site.group) << 32 | 1 << 31)
}

/// Returns `start` plus a uniform random time of at most `jitter`.
pub(crate) fn jittered(start: Time, jitter: Span, stream: &mut Stream) -> Result<Time, AppError> {
    let late = if jitter == Span::ZERO { 0 } else { stream.below(jitter.0.saturating_add(1)) };
    not_too_late(start.0.saturating_add(late))
}

pub(crate) fn not_too_late(ps: u64) -> Result<Time, AppError> {
    if ps > LATEST_START.0 { Err(AppError::TooLate) } else { Ok(Time(ps)) }
}

/// Source and destination of a flow.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) src: HostId,
    pub(crate) dst: HostId,
}

/// Creates the flows of a group: ids are indices in their sequence; entropy depends on the index in the sequence of
/// a source.
pub(crate) struct FlowFactory<'a> {
    pub(crate) site: &'a WorkloadContext<'a>,
    made: u32,
    sequence: Vec<u32>,
}

impl<'a> FlowFactory<'a> {
    pub(crate) fn new(site: &'a WorkloadContext<'a>) -> Self {
        Self { site, made: 0, sequence: vec![0; site.rack.len()] }
    }

    pub(crate) fn flow(&mut self, pair: Pair, size: Option<u64>, start: Time) -> FlowSpec {
        let Pair { src, dst } = pair;
        let entropy = self.next_entropy(src);
        let group = self.site.group;
        let id = FlowId(self.made);
        self.made += 1;
        FlowSpec {
            id,
            src,
            dst,
            size,
            start,
            class: 0,
            deadline: None,
            group,
            entropy,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        }
    }

    pub(crate) fn next_entropy(&mut self, src: HostId) -> u16 {
        let sequence = &mut self.sequence[src.index()];
        let key = u64::from(self.site.group) << 48 | u64::from(src.0) << 32 | u64::from(*sequence);
        *sequence += 1;
        (mixed(mixed(self.site.seed ^ mixed(Purpose::Paths as u64)) ^ key) >> 48) as u16
    }
}

/// A bijection of 64 bits in which every output bit depends on every input bit (the finalizer of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
