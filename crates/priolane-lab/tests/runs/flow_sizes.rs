//! The metrics `size` and `flow_share`: of the flows that a file states, whatever becomes of them.

use std::path::Path;

use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options};
use priolane_lab::verdict;
use priolane_testkit::one_switch;

use crate::executed;

const FLOWS: &str = one_switch!(
    r#"title = "Sizes"
schemes = ["dctcp"]
time = { measure = "1ms", drain = false }
"#,
    4,
    r#"[[group]]
name = "small"
hosts = "0-1"
app = "flows"
list = [
  { src = 0, dst = 2, size = "1kB", start = "0ns" },
  { src = 0, dst = 2, size = "2kB", start = "0ns" },
  { src = 0, dst = 3, size = "6kB", start = "0ns" },
]
[[group]]
name = "large"
hosts = "2-3"
app = "flows"
list = [{ src = 2, dst = 0, size = "1GB", start = "0ns" }]
[metrics.classes]
small = { group = "small" }
least = { group = "small", below = "2kB", over = "small" }
large = { group = "large" }
none = { above = "2GB" }
[[panel]]
title = "Means and shares"
kind = "bar"
metrics = ["size.all", "size.small", "size.none", "flow_share.least", "flow_share.large", "flow_share.none"]
[[panel]]
title = "Distribution"
kind = "cdf"
metrics = ["size.small"]
"#
);

#[test]
fn sizes_are_means_and_distributions_of_payload_and_shares_are_of_the_class_that_they_are_over() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan::from_text("x.toml", FLOWS, Path::new("."), &Options::default()).unwrap();
    executed::records_of(&plan, folder.path(), &Settings::default());
    let mut panels = verdict::verdicts(&plan, folder.path()).panels;
    let drawn = panels.remove(1).series.remove(0).points;
    let bars: Vec<Option<f64>> =
        panels.remove(0).series.iter().flat_map(|s| &s.points).map(|mark| mark.y.mean).collect();
    // The flow of 1 GB is under way when the run ends, and counts.
    let mean = f64::from(1_000_009) * 1e3 / 4.0;
    assert_eq!(bars, [Some(mean), Some(3_000.0), None, Some(1.0 / 3.0), Some(0.25), Some(0.0)]);
    let steps: Vec<(f64, f64)> =
        drawn.iter().map(|mark| (mark.x.as_f64().unwrap(), mark.y.mean.unwrap())).collect();
    assert_eq!(steps, [(1_000.0, 1.0 / 3.0), (2_000.0, 2.0 / 3.0), (6_000.0, 1.0)]);
}
