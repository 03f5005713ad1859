//! The metric `reordering`: none on one path, some on sprayed packets, under a transport of each kind.

use std::path::Path;

use priolane_lab::execute::Settings;
use priolane_lab::plan::{self, Options};
use priolane_lab::verdict;

use crate::executed;

/// By scheme, the metric of a run in which four hosts send to four others over four spines.
fn reordering(paths: &str, symmetric: &str, send_jitter: &str) -> Vec<(String, f64)> {
    let text = format!(
        r#"title = "Reordering"
schemes = ["dctcp", "top", "phost", "ndp", "homa"]
time = {{ measure = "1ms", drain = true, limit = "1s" }}
[topology]
kind = "leaf_spine"
leaves = 2
spines = 4
hosts_per_leaf = 4
host_link = {{ rate = "10Gbps", delay = "1us" }}
fabric_link = {{ rate = "10Gbps", delay = "1us" }}
paths = "{paths}"
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = [
  {{ src = 0, dst = 4, size = "1MB", start = "0ns" }},
  {{ src = 1, dst = 5, size = "1MB", start = "0ns" }},
  {{ src = 2, dst = 6, size = "1MB", start = "0ns" }},
  {{ src = 3, dst = 7, size = "1MB", start = "0ns" }},
]
[host]
send_jitter = "{send_jitter}"
[scheme.top]
transport.p = 2107
transport.paths = "{symmetric}"
[[panel]]
title = "Packets that arrive out of order"
kind = "bar"
metrics = ["reordering.all"]
"#
    );
    let folder = tempfile::tempdir().unwrap();
    let plan = plan::from_text("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    executed::records_of(&plan, folder.path(), &Settings::default());
    let series = verdict::verdicts(&plan, folder.path()).panels.remove(0).series;
    series.into_iter().map(|s| (s.scheme, s.points[0].y.mean.unwrap())).collect()
}

#[test]
fn packets_of_one_path_arrive_in_order_and_sprayed_ones_do_not() {
    let hashed = reordering("hashed", "symmetric", "0ns");
    let sprayed = reordering("spray", "spray", "1pkt");
    assert_eq!((hashed.len(), sprayed.len()), (5, 5));
    // Where two hashes meet at a spine, nothing is lost but what NDP's ports trim, which is sent again. Hosts have no random
    // time, as tokens of pHost that come close together expire.
    assert!(
        hashed.iter().filter(|(scheme, _)| scheme != "ndp").all(|&(_, share)| share == 0.0),
        "{hashed:?}"
    );
    assert!(sprayed.iter().all(|&(_, share)| share > 0.01 && share < 1.0), "{sprayed:?}");
}
