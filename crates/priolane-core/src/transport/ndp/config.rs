//! Parameters of NDP.

use crate::finding::{Finding, NetworkFacts};
use crate::keys::{Keys, Millionths, Words};
use crate::packet::Frame;
use crate::part::Part;
use crate::transport::receiver_driven::{RoundTripTimer, too_few};
use crate::units::{Rate, Span};

/// Parameters of NDP.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "ndp")]
#[part(
    name = "ndp",
    summary = "NDP: sends the first window at once, switches trim packets, receivers pull the rest at their \
               link rate",
    source = "NDP (SIGCOMM 2017) §3",
    requires = [Trimming],
    provides = [Ranks],
    findings = Self::findings,
    deploy = [UserStack],
    paths = Whole,
    on_hosts = ["rto = 10ms"],
    beside = r#"host = "own", port = "trimming""#,
    variant = r#"pull = "by_class""#
)]
pub struct Config {
    /// Initial window in packets; auto for the bandwidth-delay product of the path. (The paper: 30 packets of 9
    /// kB.)
    #[key(name = "window", auto = 0, range = "[0, 65535]", source = "TOP §4; NDP (SIGCOMM 2017) §6 has 30")]
    pub init_window: Option<u16>,
    /// The order in which a receiver pulls flows.
    #[key(default = PullOrder::Fair, source = "NDP (SIGCOMM 2017) §3.2")]
    pub pull: PullOrder,
    /// Pull rate as a fraction of the link rate, rounded to millionths; csg-htsim: 0.99.
    #[key(
        name = "pull_rate",
        default = PPM,
        form = Millionths,
        range = "(0, 1]",
        skip_default,
        source = "NDP (SIGCOMM 2017) §3.2; docs/assumptions.md#ndp-pulls"
    )]
    pub pull_rate_ppm: u32,
    /// Time without a reply after which a packet is retransmitted.
    #[key(
        default = Span::from_ms(1),
        range = "(0, )",
        source = "NDP (SIGCOMM 2017) §3.2; docs/assumptions.md#ndp-timeouts"
    )]
    pub rto: Span,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
}

/// A fraction of 1, in millionths.
const PPM: u32 = 1_000_000;

/// The order in which a receiver pulls flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum PullOrder {
    /// Round robin over all flows (§3.2).
    #[default]
    Fair,
    /// Round robin over the flows of the best class.
    ByClass,
}

impl Config {
    /// Returns the defaults above, for packets of `frame`.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let rto = RoundTripTimer { key: "rto", lasts: self.rto, repeats: "senders send each packet" };
        let window = self.init_window.filter(|&packets| packets > 0);
        let window = window.map(|packets| u64::from(packets) * u64::from(network.frame.mss()));
        let window = window.and_then(|bytes| too_few("window", bytes, network));
        rto.finding(network).into_iter().chain(window).collect()
    }

    /// Returns the time between two pulls of a receiver whose link has `rate`: that of a full packet at the pull
    /// rate.
    pub(super) fn pull_interval(&self, rate: Rate) -> Span {
        let full = u128::from(rate.serialize(u64::from(self.frame.max_wire())).0);
        let interval = full * u128::from(PPM) / u128::from(self.pull_rate_ppm.clamp(1, PPM));
        u64::try_from(interval).map_or(Span::LONGEST, Span).min(Span::LONGEST)
    }
}
