//! Parameters of Homa.

use super::levels::{Levels, LevelsError};
use crate::assign::SizeScope;
use crate::ids::CLASSES;
use crate::keys::{ByteList, Bytes, Keys, Misfit};
use crate::packet::Frame;
use crate::part::Part;
use crate::units::Span;

/// Parameters of Homa.
#[derive(Clone, PartialEq, Debug, Keys, Part)]
#[keys(group = "homa", check = Self::check)]
#[part(
    name = "homa",
    summary = "Homa: receivers grant to the messages with least left and choose the classes of their packets",
    source = "Homa (SIGCOMM 2018) §3",
    provides = [Ranks]
)]
pub struct Config {
    /// Classes of what is sent unasked, from 0 on.
    #[key(default = 1, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub unscheduled: u8,
    /// Classes of what is granted, after those.
    #[key(default = 7, range = "[1, 15]", source = "docs/assumptions.md#homa-levels")]
    pub scheduled: u8,
    /// Lengths up to which messages are in each unscheduled class but the last, ascending; found so that as many
    /// unscheduled bytes are in each class where they are not stated.
    #[key(optional, form = ByteList, source = "Homa (SIGCOMM 2018) §3.4")]
    pub cutoffs: Option<Vec<u64>>,
    /// Whose sizes cut-offs are found from: global, local or a group.
    #[key(default = SizeScope::Global, source = "docs/thresholds.md")]
    pub from: SizeScope,
    /// Payload bytes that a message may have sent or been granted beyond what has arrived, rounded up to full packets;
    /// auto for those that fill its path. At most 65,535 packets.
    #[key(auto = "0B", form = Bytes, source = "Homa (SIGCOMM 2018) §3.3")]
    pub rtt_bytes: Option<u64>,
    /// Messages granted at once.
    #[key(default = scheduled, shown = "scheduled", range = "[1, 255]", source = "Homa (SIGCOMM 2018) §3.5")]
    pub overcommit: u8,
    /// Time after which a receiver asks again (Linux: 5 ms).
    #[key(default = Span::from_ms(5), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub resend: Span,
    /// Time after which a sender that hears nothing sends its first packet again.
    #[key(default = Span::from_ms(10), range = "(0, )", source = "docs/assumptions.md#homa-timeouts")]
    pub retry: Span,
    /// Which class packets have: as the keys say, once cut-offs are known.
    #[keys(skip = Levels::DEFAULT)]
    pub levels: Levels,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
}

impl Config {
    /// The defaults, for packets of `frame`: one class for what is unscheduled, seven for what is granted.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    /// Goes by cut-offs that were found, as many as there are.
    pub fn set_cutoffs(&mut self, found: Vec<u64>) {
        self.unscheduled = found.len() as u8 + 1;
        self.levels = Levels::new(&found, self.scheduled).unwrap_or(Levels::DEFAULT);
        self.cutoffs = Some(found);
    }

    fn check(&mut self) -> Result<(), Misfit> {
        let Self { unscheduled, scheduled, .. } = *self;
        let at = if self.cutoffs.is_some() { Some("cutoffs") } else { None };
        let misfit = |what: String, fix: String| Misfit { key: at, what, fix };
        if usize::from(unscheduled + scheduled) > CLASSES {
            let what = format!("{unscheduled} unscheduled and {scheduled} scheduled classes");
            return Err(misfit(what, format!("{CLASSES} in all at most")));
        }
        if self.cutoffs.is_none() && unscheduled == 1 {
            self.cutoffs = Some(Vec::new());
        }
        let Some(cutoffs) = &self.cutoffs else {
            return match self.rtt_bytes {
                Some(_) => Ok(()),
                None => Err(Misfit::new(
                    "cut-offs depend on what is sent unasked, and rtt_bytes is not stated",
                    "such as rtt_bytes = \"10kB\", or cutoffs = [\"2kB\", ...]",
                )),
            };
        };
        match Levels::new(cutoffs, scheduled) {
            Ok(levels) if levels.count() == unscheduled + scheduled => {
                self.levels = levels;
                Ok(())
            }
            Err(LevelsError::Order) => {
                Err(misfit("cut-offs do not ascend".to_owned(), "such as [\"2kB\", \"15kB\"]".to_owned()))
            }
            Ok(_) | Err(LevelsError::Count) => {
                let what = format!("{} cut-offs between {unscheduled} unscheduled classes", cutoffs.len());
                Err(misfit(what, format!("{} of them", unscheduled - 1)))
            }
        }
    }
}
