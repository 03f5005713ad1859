//! Parameters of Homa.

use super::levels::{Levels, LevelsError};
use crate::assign::SizeScope;
use crate::finding::{Finding, NetworkFacts};
use crate::ids::CLASSES;
use crate::keys::{ByteList, Bytes, KeyConflict, Keys};
use crate::packet::Frame;
use crate::part::Part;
use crate::transport::receiver_driven::{RoundTripTimer, too_few};
use crate::units::Span;

/// Parameters of Homa.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "homa", check = Self::check)]
#[part(
    name = "homa",
    summary = "Homa: receivers grant to the messages with the fewest remaining bytes and choose the classes \
               of their packets",
    source = "Homa (SIGCOMM 2018) §3",
    provides = [Ranks],
    findings = Self::findings,
    deploy = [KernelModule, SizesKnown],
    paths = Whole,
    beside = r#"host = "own", port = "strict""#
)]
pub struct Config {
    /// Number of classes for unscheduled packets, from class 0 on.
    #[key(default = 1, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub unscheduled_classes: u8,
    /// Number of classes for granted packets, after the unscheduled ones.
    #[key(default = 7, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub scheduled_classes: u8,
    /// Maximum message length of each unscheduled class but the last, in ascending order; by default chosen so that
    /// each class carries the same number of unscheduled bytes.
    #[key(optional, form = ByteList, source = "Homa (SIGCOMM 2018) §3.4")]
    pub cutoffs: Option<Vec<u64>>,
    /// Whose size distribution the cut-offs are computed from: global, local or a group.
    #[key(default = SizeScope::Global, source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// Payload bytes that a message may have sent or been granted beyond what has arrived, rounded up to full
    /// packets; auto for the bandwidth-delay product of its path. At most 65,535 packets.
    #[key(auto = "0B", form = Bytes, source = "Homa (SIGCOMM 2018) §3.3")]
    pub rtt_bytes: Option<u64>,
    /// Number of messages granted concurrently.
    #[key(default = scheduled_classes, shown = "scheduled_classes", range = "[1, 255]", source = "Homa (SIGCOMM 2018) §3.5")]
    pub overcommit: u8,
    /// Time after which a receiver requests missing data again (Linux: 5 ms).
    #[key(default = Span::from_ms(5), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub resend: Span,
    /// Time without packets from the receiver after which a sender retransmits its first packet.
    #[key(default = Span::from_ms(10), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub retry: Span,
    /// The class of each packet, computed from the keys once the cut-offs are known.
    #[keys(skip = Levels::DEFAULT)]
    pub levels: Levels,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
}

impl Config {
    /// Returns the defaults, for packets of `frame`: one unscheduled class, seven scheduled classes.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let timer = |key, lasts, repeats| RoundTripTimer { key, lasts, repeats }.finding(network);
        let resend = timer("resend", self.resend, "receivers ask for missing data");
        let retry = timer("retry", self.retry, "senders send their first packet");
        let window = self.rtt_bytes.and_then(|bytes| too_few("rtt_bytes", bytes, network));
        [resend, retry, window].into_iter().flatten().collect()
    }

    /// Uses computed cut-offs, which may be fewer than requested.
    pub fn set_cutoffs(&mut self, found: Vec<u64>) {
        self.unscheduled_classes = found.len() as u8 + 1;
        self.levels = Levels::new(&found, self.scheduled_classes).unwrap_or(Levels::DEFAULT);
        self.cutoffs = Some(found);
    }

    fn check(&mut self) -> Result<(), KeyConflict> {
        let Self { unscheduled_classes: unscheduled, scheduled_classes: scheduled, .. } = *self;
        let at = if self.cutoffs.is_some() { Some("cutoffs") } else { None };
        let misfit = |what: String, fix: String| KeyConflict { key: at, what, fix };
        if usize::from(unscheduled + scheduled) > CLASSES {
            let what = format!("there are {unscheduled} unscheduled and {scheduled} scheduled classes");
            return Err(misfit(what, format!("at most {CLASSES} classes in total")));
        }
        if self.cutoffs.is_none() && unscheduled == 1 {
            self.cutoffs = Some(Vec::new());
        }
        let Some(cutoffs) = &self.cutoffs else {
            return match self.rtt_bytes {
                Some(_) => Ok(()),
                None => Err(KeyConflict::new(
                    "the cutoffs depend on the unscheduled bytes, but rtt_bytes is not set",
                    "rtt_bytes, such as \"10kB\", or cutoffs = [\"2kB\", ...]",
                )),
            };
        };
        match Levels::new(cutoffs, scheduled) {
            Ok(levels) if levels.count() == unscheduled + scheduled => {
                self.levels = levels;
                Ok(())
            }
            Err(LevelsError::Order) => Err(misfit(
                "the cutoffs are not in increasing order".to_owned(),
                "a list such as [\"2kB\", \"15kB\"]".to_owned(),
            )),
            Ok(_) | Err(LevelsError::Count) => {
                let what =
                    format!("there are {} cutoffs for {unscheduled} unscheduled classes", cutoffs.len());
                Err(misfit(what, format!("{} cutoffs", unscheduled - 1)))
            }
        }
    }
}
