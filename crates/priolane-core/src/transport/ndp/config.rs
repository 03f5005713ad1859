//! Parameters of NDP.

use crate::keys::{Keys, Millionths, Words};
use crate::packet::Frame;
use crate::part::Part;
use crate::units::{Rate, Span};

/// Parameters of NDP.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "ndp")]
#[part(
    name = "ndp",
    summary = "NDP: a first window blind, switches trim, receivers pull the rest at the rate of their line",
    source = "NDP (SIGCOMM 2017) §3",
    requires = [Trimming],
    provides = [Ranks]
)]
pub struct Config {
    /// Packets that a flow starts with; auto for those that fill its path. (The paper: 30 of 9 kB.)
    #[key(name = "window", auto = 0, range = "[0, 65535]", source = "TOP §4; NDP (SIGCOMM 2017) §6 has 30")]
    pub init_window: Option<u16>,
    /// Whom a receiver pulls first.
    #[key(default = PullOrder::Fair, source = "NDP (SIGCOMM 2017) §3.2")]
    pub pull: PullOrder,
    /// The part of its line's rate at which a receiver pulls, kept to millionths; csg-htsim: 0.99.
    #[key(
        name = "pull_rate",
        default = PPM,
        form = Millionths,
        range = "(0, 1]",
        skip_default,
        source = "NDP (SIGCOMM 2017) §3.2; docs/assumptions.md#ndp-pulls"
    )]
    pub pull_rate_ppm: u32,
    /// Time after which a packet of which nothing is heard goes again.
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

/// The whole of a rate, in millionths.
const PPM: u32 = 1_000_000;

/// Whom a receiver pulls first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum PullOrder {
    /// Flows in turns (§3.2).
    #[default]
    Fair,
    /// Flows of the best class in turns.
    ByClass,
}

impl Config {
    /// The defaults above, for packets of `frame`.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    /// The time between two pulls of a receiver whose line has `rate`: that of a full packet at the rate at which it pulls.
    pub(super) fn pull_interval(&self, rate: Rate) -> Span {
        let full = u128::from(rate.serialize(u64::from(self.frame.max_wire())).0);
        let interval = full * u128::from(PPM) / u128::from(self.pull_rate_ppm.clamp(1, PPM));
        u64::try_from(interval).map_or(Span::LONGEST, Span).min(Span::LONGEST)
    }
}
