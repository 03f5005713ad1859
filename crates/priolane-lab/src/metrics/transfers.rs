//! The rate at which flows bring their payload, and their retransmission timeouts.

use std::collections::BTreeMap;

use priolane_results::summary::Summary;

use super::ALL;
use super::coverage::Coverage;
use super::fct::of;
use super::metric::{Metric, SHARE, Scale, Scope, Unit, gbps};

/// Senders report the timeouts of a flow when it ends.
const OF_CLASSES: Metric =
    Metric { scope: Scope::Classes, coverage: Coverage::Completed, ..Metric::OF_FLOWS };

/// Goodput and timeouts of flows by class.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "goodput",
        meaning: "Payload of the flows that finished over the sum of their completion times",
        unit: Unit::Gbps,
        eval: |c| of(c, |s| gbps(s.goodput_bps)),
        of_flow: Some(|flow| {
            let (bytes, fct) = (flow.bytes?, flow.fct_ps.filter(|&fct| fct > 0)?);
            // Bits per picosecond are thousands of Gbit/s.
            Some(8e3 * bytes.saturating_sub(flow.missing_bytes) as f64 / fct as f64)
        }),
        ..OF_CLASSES
    },
    Metric {
        name: "delivery_rate",
        meaning: "Payload of the flows over the time from the first start to the last end",
        unit: Unit::Gbps,
        eval: |c| of(c, |s| gbps(s.delivery_bps)),
        ..OF_CLASSES
    },
    Metric {
        name: "timeouts",
        meaning: "Retransmission timeouts of all flows",
        scale: Scale::Events,
        eval: |c| of(c, |s| s.timeouts.map(|n| n as f64)),
        of_flow: Some(|flow| Some(f64::from(flow.timeouts))),
        tuned: Some(|s| s.timeouts.map(|n| n as f64)),
        ..OF_CLASSES
    },
    Metric {
        name: "timed_out",
        meaning: "Part of the flows that had a retransmission timeout",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |s| s.timed_out),
        tuned: Some(|s| s.timed_out),
        ..OF_CLASSES
    },
    Metric {
        name: "tail_timed_out",
        meaning: "Part of the flows from the 99th percentile of completion times on that waited for a timeout",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |s| s.tail_timed_out),
        tuned: Some(|s| s.tail_timed_out),
        ..OF_CLASSES
    },
];

/// Least part of the timeouts, and of the flows, that spurious timeouts are said of.
const SAID: [f64; 2] = [0.1, 0.001];

/// Returns a warning about the spurious timeouts of a run; `None` if they are few.
pub(crate) fn spurious(scheme: &str, summary: &BTreeMap<String, Summary>) -> Option<String> {
    let all = summary.get(ALL)?;
    let (spurious, timeouts) = (all.spurious_timeouts?, all.timeouts?);
    let many = |of: u64, part: f64| spurious as f64 >= part * of as f64;
    if spurious == 0 || !many(timeouts, SAID[0]) || !many(all.flows, SAID[1]) {
        return None;
    }
    if spurious > timeouts {
        return Some(format!(
            "`{scheme}`: {spurious} packets arrived that their receivers already had: they were sent again for nothing"
        ));
    }
    let were = match timeouts {
        1 => "the only retransmission timeout of a run was".to_owned(),
        _ if spurious == timeouts => format!("all {timeouts} retransmission timeouts of a run were"),
        _ => {
            let part = 100.0 * spurious as f64 / timeouts as f64;
            format!("{part:.0} % of the {timeouts} retransmission timeouts of a run were")
        }
    };
    Some(format!(
        "`{scheme}`: {were} spurious: nothing was lost, ACKs were late; a longer timeout, or less room in queues, \
         avoids them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spurious_timeouts_are_said_if_they_are_many() {
        let message = |spurious, timeouts, flows| {
            let counts = Summary {
                flows,
                timeouts: Some(timeouts),
                spurious_timeouts: Some(spurious),
                ..Summary::default()
            };
            spurious_of(counts)
        };
        fn spurious_of(counts: Summary) -> Option<String> {
            spurious("x", &BTreeMap::from([(ALL.to_owned(), counts)]))
        }
        let begins = |text: Option<String>, with: &str| text.is_some_and(|text| text.starts_with(with));
        assert!(begins(
            message(10, 100, 10_000),
            "`x`: 10 % of the 100 retransmission timeouts of a run were spurious:"
        ));
        assert!(begins(message(4, 4, 10), "`x`: all 4 retransmission timeouts of a run were spurious:"));
        assert!(begins(message(1, 1, 10), "`x`: the only retransmission timeout of a run was spurious:"));
        assert_eq!(message(10, 101, 10_000), None);
        assert_eq!(message(10, 100, 10_001), None);
        assert_eq!(message(0, 0, 0), None);
        assert!(begins(message(7, 3, 10), "`x`: 7 packets arrived"));
        assert_eq!(spurious_of(Summary::default()), None, "nobody counted");
    }
}
