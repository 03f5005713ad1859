//! The part `nscc`: its keys, and what it takes in a network.

use crate::endpoint::Path;
use crate::finding::{Finding, NetworkFacts};
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;
use crate::quantity::about_span;
use crate::transport::window::{self, LossRecovery};
use crate::transport::{CommonRtt, ControllerParams};
use crate::units::Span;

/// The part of T that the target is, where trimming is on.
const TARGET: f64 = 0.75;

/// Parameters of NSCC.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "nscc")]
#[part(
    name = "nscc",
    summary = "NSCC of uet-htsim: windows from marks, delays and trimmed headers, over packet spraying",
    source = "uet-htsim 40ccb05, uec.cpp",
    requires = [CongestionMarks, Trimming],
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [Ecn, UserStack],
    paths = Whole,
    on_hosts = ["target = 2ms", "recovery = trims"],
    example = r#"recovery = "trims""#,
    beside = r#"port = "trimming""#
)]
pub struct Config {
    /// T, with which all flows compute windows: a time, "auto" or "0ps" for the longest round trip of the empty paths of the
    /// network, or "path" for that of the flow's own empty path. Hosts that do not know the network take their own path.
    #[key(default = CommonRtt::Longest, shown = "auto", unit = "time", source = "uet-htsim main_uec.cpp calculate_rtt")]
    pub rtt: CommonRtt,
    /// Q, the target of the queueing delay; without it, or with "0ps", 0.75 T.
    #[key(auto = "0ps", source = "uet-htsim initNsccParams")]
    pub target: Option<Span>,
    /// Segments that a round trip without queues adds to the window in the reference network, if Q is 12 us.
    #[key(default = 4.0, range = "[0, 1000]", source = "uet-htsim initNsccParams")]
    pub alpha: f64,
    /// Segments that a round trip of unmarked ACKs above the target adds in the reference network.
    #[key(default = 5.0, range = "[0, 1000]", source = "uet-htsim initNsccParams")]
    pub fi: f64,
    /// Segments that each round trip adds in the reference network.
    #[key(default = 0.15, range = "[0, 1000]", source = "uet-htsim initNsccParams")]
    pub eta: f64,
    /// Bytes that fast increase adds per byte that arrived in the reference network.
    #[key(default = 0.25, range = "[0, 1000]", source = "uet-htsim initNsccParams")]
    pub fi_scale: f64,
    /// Queueing delay below which a whole window begins fast increase.
    #[key(default = Span::from_us(1), source = "uet-htsim fast_increase")]
    pub fast_below: Span,
    /// Part of the excess over the target, relative to the average delay, by which a marked ACK reduces the window.
    #[key(default = 0.8, range = "[0, 1]", source = "uet-htsim initNsccParams")]
    pub gamma: f64,
    /// Least part of the window that a marked ACK leaves.
    #[key(default = 0.5, range = "(0, 1]", source = "uet-htsim multiplicative_decrease")]
    pub min_factor: f64,
    /// Weight of a sample in the average delay.
    #[key(default = 0.0125, range = "(0, 1]", source = "uet-htsim initNsccParams")]
    pub delay_alpha: f64,
    /// Delay above which the window adapts quickly, in targets.
    #[key(default = 4.0, range = "[1, 1000000]", source = "uet-htsim initNsccParams")]
    pub qa_threshold: f64,
    /// The window adapts quickly if fewer than W_max / 2^qa_gate bytes arrived in a base round trip and a target.
    #[key(default = 3, range = "[0, 30]", source = "uet-htsim initNsccParams")]
    pub qa_gate: u8,
    /// Segments that arrive between two increases, at most T apart.
    #[key(default = 8, range = "[1, 1000000]", unit = "pkt", source = "uet-htsim initNsccParams")]
    pub adjust_every: u32,
    /// W_max, the first window and its ceiling, in bandwidth-delay products of the base round trip.
    #[key(default = 1.5, range = "(0, 1000]", unit = "bdp", source = "uet-htsim initNscc")]
    pub max_bdp: f64,
}

impl Config {
    /// Returns Q in picoseconds for a flow with the empty path `path`.
    pub(super) fn target_on(&self, path: &Path) -> f64 {
        self.target.map_or_else(|| TARGET * self.rtt.of(path).0 as f64, |target| target.0 as f64)
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        [self.below_a_round_trip(network), self.trimmed_before(network)].into_iter().flatten().collect()
    }

    /// Windows that end below the bandwidth-delay product of the empty path cannot fill it. Samples lower a T above the
    /// round trip of that path.
    fn below_a_round_trip(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let base = |path: &Path| self.rtt.of(path).min(path.data.round_trip);
        let ends_at = |path: &Path| {
            let stated = self.max_bdp * path.rate.bytes_in(base(path)) as f64;
            stated.max(f64::from(network.frame.mss()))
        };
        let fills = |path: &Path| path.rate.bytes_in(path.data.round_trip) as f64;
        let (path, _) = network.worst(|path| fills(&path.path) > ends_at(&path.path))?;
        let what = format!(
            "windows end at {} times what arrives in {}, or at a segment, but on {} a round trip takes {} when nothing \
             waits: a flow alone uses {:.0} % of the rate",
            self.max_bdp,
            about_span(base(&path.path)),
            path.name(),
            about_span(path.path.data.round_trip),
            100.0 * ends_at(&path.path) / fills(&path.path)
        );
        let (key, fix) =
            if self.max_bdp < 1.0 { ("max_bdp", "max_bdp = 1.5") } else { ("rtt", "rtt = \"auto\"") };
        Some(Finding::warning(key, what, fix))
    }

    /// A target above the wait in a full queue: no packet that waits as long arrives.
    fn trimmed_before(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let target = |path: &Path| Span(self.target_on(path) as u64);
        let (path, _) = network
            .worst(|path| path.full_queue(&network.frame).is_some_and(|full| full < target(&path.path)))?;
        let what = format!(
            "the target of the queueing delay is {}, but on {} a full queue takes {}: only trimmed packets make windows smaller",
            about_span(target(&path.path)),
            path.name(),
            about_span(path.full_queue(&network.frame)?)
        );
        Some(Finding::warning("target", what, "a lower target, or a larger buffer"))
    }
}

impl ControllerParams for Config {
    fn share_longest_round_trip(&mut self, longest: Span) {
        self.rtt.know_longest(longest);
    }

    fn fits(&self, window: &window::Config) -> Result<(), KeyConflict> {
        if window.recovery == LossRecovery::Trims {
            return Ok(());
        }
        let what = "sprayed packets arrive out of order, which other ways of recovery take for losses";
        Err(KeyConflict::of("recovery", what, "recovery = \"trims\""))
    }
}
