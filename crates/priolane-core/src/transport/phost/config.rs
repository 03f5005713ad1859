//! Parameters of pHost.

use crate::finding::{Finding, NetworkFacts};
use crate::keys::{Keys, Thousandths, Words};
use crate::packet::Frame;
use crate::part::Part;
use crate::transport::receiver_driven::{RoundTripTimer, too_few};
use crate::units::Span;

/// Parameters of pHost.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "phost")]
#[part(
    name = "phost",
    summary = "pHost: receivers give tokens, one per packet time, to the flow with the fewest missing \
               packets; classes 0 to 2",
    source = "pHost (CoNEXT 2015) §3",
    provides = [Ranks],
    findings = Self::findings,
    deploy = [UserStack, SizesKnown],
    paths = Whole,
    on_hosts = ["expiry = 2000", "retry = 20ms"],
    beside = r#"host = "own", port = "strict""#
)]
pub struct Config {
    /// Bandwidth-delay product in packets; auto for that of each flow's path. It sets the number of free tokens,
    /// the number of tokens that may be unused, the limit of short flows, and the unit of `relax`.
    #[key(auto = 0, range = "[0, 65535]", source = "docs/assumptions.md#phost-scale")]
    pub bdp: Option<u16>,
    /// Which flows get free tokens.
    #[key(default = Free::Every, source = "pHost (CoNEXT 2015) §4.1")]
    pub free: Free,
    /// Lifetime of a token, in packet times, rounded to thousandths.
    #[key(
        name = "expiry",
        default = 1_500,
        form = Thousandths,
        range = "[0.001, 1000000]",
        source = "pHost (CoNEXT 2015) §3.1"
    )]
    pub expiry_milli: u32,
    /// How long a flow that left its tokens unused gets none, in multiples of BDP packet times, rounded to
    /// thousandths.
    #[key(
        name = "relax",
        default = 3_000,
        form = Thousandths,
        range = "[0.001, 1000000]",
        source = "pHost (CoNEXT 2015) §4.1"
    )]
    pub relax_milli: u32,
    /// Time without packets from the receiver after which a sender repeats its request.
    #[key(default = Span::from_ms(1), range = "(0, )", source = "docs/assumptions.md#phost-loss")]
    pub retry: Span,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
}

/// The flows that get free tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Free {
    /// All flows (§4.1).
    #[default]
    Every,
    /// Flows of at most BDP packets (the authors' simulator).
    ShortOnly,
}

impl Config {
    /// Returns the defaults above, for packets of `frame`.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let retry =
            RoundTripTimer { key: "retry", lasts: self.retry, repeats: "senders send their requests" };
        let window =
            self.bdp.filter(|&bdp| bdp > 0).map(|bdp| u64::from(bdp) * u64::from(network.frame.mss()));
        let window = window.and_then(|bytes| too_few("bdp", bytes, network));
        [retry.finding(network), self.short_lived()].into_iter().flatten().chain(window).collect()
    }

    /// A token that expires while its sender transmits the packet before is never used on a busy link.
    fn short_lived(&self) -> Option<Finding> {
        let packet_time = 1_000;
        if self.expiry_milli >= packet_time {
            return None;
        }
        let what = format!(
            "a token expires after {} packet times, sooner than its sender has transmitted the packet before: senders \
             use tokens only if their link is idle when they arrive",
            f64::from(self.expiry_milli) / 1e3
        );
        Some(Finding::warning("expiry", what, "expiry = 1.5"))
    }

    /// Returns the number of packets that a flow of `packets` packets sends without tokens.
    pub(super) fn free(&self, packets: u64, bdp: u16) -> u64 {
        match self.free {
            Free::ShortOnly if packets > u64::from(bdp) => 0,
            Free::Every | Free::ShortOnly => packets.min(u64::from(bdp)),
        }
    }
}
