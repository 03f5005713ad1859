//! The planned thresholds of a run.

use crate::metrics::ladder::Threshold;
use crate::plan::Run;
use priolane_core::assign::{SizeScope, Thresholds};
use priolane_core::endpoint::ThresholdSet;

/// Returns the `number`-th threshold (from 1) of the given kind in `run`.
pub(super) fn planned(run: &Run, ladder: ThresholdSet, number: usize) -> Threshold {
    let scheme = run.experiment.scheme.get(&run.scheme);
    let controller = scheme.and_then(|scheme| scheme.assign.controller());
    let demotion = scheme.and_then(|scheme| match ladder {
        ThresholdSet::Class => scheme.assign.demotion(),
        ThresholdSet::HostLevel => scheme.host.part().demotion(),
    });
    let thresholds = demotion.map(|demotion| &demotion.thresholds);
    let bytes = thresholds.and_then(Thresholds::bytes).and_then(|all| all.get(number - 1));
    let solved = thresholds.and_then(Thresholds::solved);
    Threshold {
        start: bytes.map(|&bytes| bytes as f64),
        period: controller.filter(|_| solved.is_some()).map(|controller| controller.period),
        own: solved.is_some_and(|solved| solved.from == SizeScope::Local) && controller.is_some(),
        window: run.experiment.time.window(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::units::Span;
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

    #[test]
    fn a_controller_changes_solved_thresholds_of_classes_and_hosts_find_their_own() {
        let (changed, still) = (run(0), run(1));
        let class = planned(&changed, ThresholdSet::Class, 1);
        // OPT-2 of web search.
        assert!((1.9e6..2.2e6).contains(&class.start.unwrap()), "{class:?}");
        assert_eq!((class.period, class.own), (Some(Span::from_ms(50)), false));
        assert!(planned(&changed, ThresholdSet::HostLevel, 1).own);
        // The smallest eighth of web search's flows ends at 8,333 B.
        let host = planned(&still, ThresholdSet::HostLevel, 1);
        assert_eq!((host.start, host.period, host.own), (Some(8333.0), None, false));
        assert_eq!(planned(&still, ThresholdSet::Class, 2).start, None);
    }
}
