//! A threshold in the course of a run: that of its start, then what the controller told.

use std::io;

use priolane_core::units::{Span, Time};

use super::path::Of;
use crate::plan::Run;
use crate::scheme::{Assign, Controller, Thresholds};
use priolane_core::assign::SizesOf;

/// How far from its last value a threshold may be that has settled, as a fraction.
const SETTLED: f64 = 0.1;

/// Whose thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LadderName {
    /// Those between classes.
    Class,
    /// Those between levels inside hosts.
    Host,
}

impl Of {
    /// Whose thresholds it speaks of.
    pub(super) fn ladder(self) -> LadderName {
        match self {
            Self::Class | Self::Settling => LadderName::Class,
            Self::Host => LadderName::Host,
        }
    }
}

/// One threshold of a run, as planned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct History<'a> {
    /// What `series.parquet` calls it.
    name: String,
    /// Its bytes at the start; `None` where the scheme has no such threshold.
    start: Option<f64>,
    /// The controller that changes it.
    controller: Option<&'a Controller>,
    /// Whether each host finds its own.
    own: bool,
    /// The measured window.
    window: (Time, Time),
}

impl<'a> History<'a> {
    /// The `number`-th threshold (from 1) of a ladder of `run`.
    pub(super) fn of(run: &'a Run, ladder: LadderName, number: usize) -> Self {
        let scheme = run.experiment.scheme.get(&run.scheme);
        let controller = scheme.and_then(|scheme| match &scheme.assign {
            Assign::BytesSent { controller, .. } => controller.as_ref(),
            Assign::None | Assign::Known(_) => None,
        });
        let (name, thresholds) = match ladder {
            LadderName::Class => ("class", scheme.and_then(|s| s.assign_thresholds())),
            LadderName::Host => ("host", scheme.and_then(|s| s.host_thresholds())),
        };
        let bytes = thresholds.and_then(Thresholds::bytes).and_then(|all| all.get(number - 1));
        let solved = matches!(thresholds, Some(Thresholds::Solved { .. }));
        let local = matches!(thresholds, Some(Thresholds::Solved { from: SizesOf::Local, .. }));
        Self {
            name: format!("{name}_threshold_{number}"),
            start: bytes.map(|&bytes| bytes as f64),
            controller: controller.filter(|_| solved),
            own: local && controller.is_some(),
            window: run.experiment.time.window(),
        }
    }

    /// What is asked of it; `told` gives the instants and bytes of what was told under a name. An error says why
    /// there is no value.
    pub(super) fn value(
        &self,
        of: Of,
        told: impl FnOnce(&str) -> io::Result<Vec<(Time, f64)>>,
    ) -> Result<f64, String> {
        let start = self.start.ok_or("the scheme has no such threshold")?;
        if self.own {
            return Err("each host finds its own".to_owned());
        }
        let Some(controller) = self.controller else {
            return match of {
                Of::Settling => Err("no controller changes it".to_owned()),
                Of::Class | Of::Host => Ok(start),
            };
        };
        let mut told = told(&self.name).map_err(|error| error.to_string())?;
        told.retain(|&(at, _)| at <= self.window.1);
        let last = told.last().map_or(start, |&(_, bytes)| bytes);
        match of {
            Of::Class | Of::Host => Ok(last),
            Of::Settling => Ok(self.settled((start, &told), last, controller.period)),
        }
    }

    /// Periods from the start of the window until the threshold is, and stays, near `last`.
    fn settled(&self, (start, told): (f64, &[(Time, f64)]), last: f64, period: Span) -> f64 {
        let far = |bytes: f64| (bytes / last - 1.0).abs() > SETTLED;
        // The last instant at which it went far; it was near from the next message on.
        let near_from = match told.iter().rposition(|&(_, bytes)| far(bytes)) {
            Some(place) => told.get(place + 1).map(|&(at, _)| at),
            None if far(start) => told.first().map(|&(at, _)| at),
            None => None,
        };
        let after = near_from.map_or(0, |at| at.0.saturating_sub(self.window.0.0));
        after as f64 / period.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TEXT: &str = r#"
title = "x"
schemes = ["nos2", "still"]
time = { warmup = "100ms", measure = "400ms" }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "1Gbps", delay = "1us" } }
group = [{ name = "all", hosts = "*", app = "poisson", sizes = "web_search", load = { of = "host", counts = "payload", value = 0.5 } }]
[scheme.nos2.assign]
controller = { period = "50ms", delay = "1ms" }
[scheme.still]
base = "nos2"
"#;

    fn run(place: usize) -> Run {
        let plan = crate::plan::from_text("x", TEXT, Path::new("."), &crate::plan::Options::default());
        plan.unwrap().runs[place].clone()
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn value(of: Of, told: &[(Time, f64)]) -> Result<f64, String> {
        History::of(&run(0), of.ladder(), 1).value(of, |name| {
            assert!(name.ends_with("_threshold_1"));
            Ok(told.to_vec())
        })
    }

    #[test]
    fn the_last_word_inside_the_window_counts() {
        let told = [(at(52), 3e6), (at(499), 2e6), (at(501), 9e6)];
        assert_eq!(value(Of::Class, &told), Ok(2e6));
        // Web search's OPT-2 of the start, where nothing was told.
        assert!((1.9e6..2.2e6).contains(&value(Of::Class, &[]).unwrap()));
        assert!(value(Of::Host, &told).unwrap_err().contains("own"));
    }

    #[test]
    fn a_threshold_has_settled_when_it_stays_near_its_last_value() {
        // Near 2 MB is 1.8 to 2.2 MB: it goes far at 250 ms for the last time, and is near from 300 ms on, which is
        // 200 ms and four periods after the start of the window.
        let told = [(at(150), 1.9e6), (at(250), 2.5e6), (at(300), 2.1e6), (at(450), 2e6)];
        assert_eq!(value(Of::Settling, &told), Ok(4.0));
        assert_eq!(value(Of::Settling, &[(at(60), 5e6), (at(90), 2e6), (at(400), 2.1e6)]), Ok(0.0));
        assert_eq!(value(Of::Settling, &[]), Ok(0.0));
    }

    #[test]
    fn without_a_controller_thresholds_are_those_of_the_start() {
        let none = |_: &str| -> io::Result<Vec<(Time, f64)>> { Ok(Vec::new()) };
        let still = run(1);
        let class = History::of(&still, LadderName::Class, 1);
        assert_eq!(class.value(Of::Class, none), Ok(class.start.unwrap()));
        assert!(class.value(Of::Settling, none).unwrap_err().contains("no controller"));
        // The eighth of web search's flows that are smallest end at 8,333 B.
        assert_eq!(History::of(&still, LadderName::Host, 1).value(Of::Host, none), Ok(8333.0));
        assert!(History::of(&still, LadderName::Class, 2).value(Of::Class, none).is_err());
    }
}
