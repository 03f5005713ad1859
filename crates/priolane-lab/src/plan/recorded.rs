//! Measures the sizes and the load of a group whose flows are known before the run: those of a list or a recording.
//!
//! ```text
//! F(x) = flows of at most x bytes / flows
//! load = payload / ((last start - first start) * rate of the links of the group's hosts)
//! ```

use priolane_core::sizes::SizeDistribution;
use priolane_core::units::PS_PER_S;
use priolane_sim::topology::Topology;
use priolane_workload::{Listing, Lists};

use super::traffic;
use crate::experiment::{Experiment, Group};

/// The sizes and the load of a group's flows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeasuredTraffic {
    /// Empirical distribution of their sizes.
    pub law: SizeDistribution,
    /// Their load on the links of the group's hosts, from the first start to the last.
    pub load: f64,
}

/// Measures the flows of `group`.
///
/// # Errors
/// Returns why sizes or load are not known before the run.
pub(super) fn measure(
    experiment: &Experiment,
    topology: &Topology,
    group: &Group,
) -> Result<MeasuredTraffic, String> {
    if let Some(Listing { lists: Lists::BySeed, .. }) = group.app.part().listed() {
        return Err("each seed has a list of its own".to_owned());
    }
    let traffic = traffic::whole(experiment, topology, group).map_err(|error| error.what)?;
    if !traffic.waits.is_empty() {
        return Err("flows that wait for others have no start before the run".to_owned());
    }
    let mut sizes = Vec::new();
    let (mut bytes, mut starts) = (0, None);
    for flow in &traffic.flows {
        let Some(size) = flow.size else { return Err("a flow without end has no size".to_owned()) };
        sizes.push(size);
        bytes += u128::from(size);
        let (first, last) = starts.unwrap_or((flow.start, flow.start));
        starts = Some((first.min(flow.start), last.max(flow.start)));
    }
    let span = starts.map_or(0.0, |(first, last)| last.since(first).0 as f64 / PS_PER_S as f64);
    if span <= 0.0 {
        return Err("flows that all start at once have no load".to_owned());
    }
    let hosts = traffic::hosts(experiment, topology, group).map_err(|error| error.what)?;
    let capacity = topology.hosts_capacity(hosts);
    let law = SizeDistribution::from_samples(sizes).map_err(|error| error.to_string())?;
    Ok(MeasuredTraffic { law, load: bytes as f64 * 8.0 / (span * capacity) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::plan::{Options, Plan, from_text};
    use priolane_source::InputError;

    /// Four hosts with 1 Gbit/s and the flows of `list`, for a scheme whose hosts have three levels.
    fn planned(list: &str, thresholds: &str) -> Result<Plan, InputError> {
        let text = format!(
            r#"title = "Recorded flows"
schemes = ["own"]
time = {{ measure = "1s" }}
[topology]
kind = "single_switch"
hosts = 4
host_link = {{ rate = "1Gbps", delay = "1us" }}
[[group]]
name = "recorded"
hosts = "*"
app = "flows"
{list}
[scheme.own]
base = "nos2"
host.levels = 3
host.thresholds = {thresholds}
assign.thresholds = ["100kB"]
"#
        );
        from_text("x.toml", &text, Path::new("."), &Options::default())
    }

    fn host_thresholds(plan: &Plan) -> Vec<u64> {
        let demotion = plan.experiment.scheme["own"].host.part().demotion();
        demotion.and_then(|demotion| demotion.thresholds.bytes()).unwrap_or_default().to_vec()
    }

    fn listed(flows: &[(&str, &str)]) -> String {
        let flow = |(start, size): &(&str, &str)| {
            format!("{{ src = 0, dst = 1, size = {size:?}, start = {start:?} }}")
        };
        format!("list = [{}]", flows.iter().map(flow).collect::<Vec<_>>().join(", "))
    }

    const EQUAL_SPLIT: &str = "{ solver = \"equal_split\", from = \"global\" }";

    #[test]
    fn thresholds_follow_from_the_sizes_of_a_list() {
        let sizes = ["1kB", "2kB", "3kB", "40kB", "50kB", "60kB"];
        let flows: Vec<_> = ["0s", "1ms", "2ms", "3ms", "4ms", "5ms"].into_iter().zip(sizes).collect();
        let plan = planned(&listed(&flows), EQUAL_SPLIT).unwrap();
        // A third of the flows has at most 2 kB, two thirds have at most 40 kB.
        assert_eq!(host_thresholds(&plan), [2_000, 40_000]);
        let of_group = "{ solver = \"equal_split\", from = \"recorded\" }";
        assert_eq!(host_thresholds(&planned(&listed(&flows), of_group).unwrap()), [2_000, 40_000]);
    }

    #[test]
    fn the_load_is_that_of_the_span_of_the_list() {
        // 250 kB in 1 ms on 4 links of 125 MB/s: 0.5. OPT takes the load into account.
        let loads = |last: &str| {
            let plan = planned(
                &listed(&[("0s", "1kB"), ("0s", "124kB"), (last, "125kB")]),
                "{ solver = \"opt\", from = \"global\" }",
            );
            plan.map(|plan| host_thresholds(&plan))
        };
        assert!(loads("1ms").is_ok());
        // Half the span is a load of 1, for which no queue has a mean.
        let error = loads("500us").unwrap_err();
        assert!(error.what.contains("load"), "{error}");
    }

    #[test]
    fn what_is_not_known_before_the_run_is_refused() {
        for (list, why) in [
            (listed(&[("1ms", "1kB"), ("1ms", "2kB")]), "all start at once"),
            (listed(&[("0s", "1kB"), ("1ms", "endless")]), "without end"),
        ] {
            let error = planned(&list, EQUAL_SPLIT).unwrap_err();
            assert_eq!(error.key, "scheme.own.host.thresholds");
            assert!(error.what.contains("\"recorded\"") && error.what.contains(why), "{error}");
            assert!(error.fix.contains("thresholds in bytes"), "{error}");
        }
    }
}
