//! Ports that sort by the bytes a flow has left, from the file to the tables, on both engines.

use priolane_lab::execute::Settings;
use priolane_results::record::RunRecord;
use priolane_testkit::one_switch;

use crate::executed;

/// Two senders share the line of one receiver; the short flow starts when 1 MB of the long one is under way.
const EXPERIMENT: &str = one_switch!(
    r#"title = "A short flow behind a long one"
schemes = ["srpt_ranked", "fifo", "ranked_dctcp"]
time = { flows = 3 }
"#,
    4,
    r#"[[group]]
name = "all"
hosts = 4
app = "flows"
list = [
  { src = 0, dst = 3, size = "2MB", start = "0ns" },
  { src = 1, dst = 3, size = "2MB", start = "0ns" },
  { src = 2, dst = 3, size = "14600B", start = "800us" },
]
[scheme.fifo]
base = "srpt_ranked"
port = { kind = "fifo" }
[scheme.ranked_dctcp]
base = "dctcp"
port = { kind = "ranked" }
"#
);

/// Slowdown of the one flow below 100 kB under each scheme, both engines agreeing.
fn slowdowns() -> Vec<(String, f64)> {
    let text = format!("{EXPERIMENT}[metrics]\nclasses = {{ short = {{ below = \"100kB\" }} }}\n");
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    let slowdown = |record: RunRecord| {
        assert_eq!(record.summary["all"].unfinished, 0, "{}", record.scheme);
        (record.scheme.clone(), record.summary["short"].mean_slowdown.unwrap())
    };
    executed::records(folder.path(), &text, &settings).into_iter().map(slowdown).collect()
}

#[test]
fn a_ranked_port_lets_the_short_flow_pass_the_backlog() {
    let found = slowdowns();
    let [(_, ranked), (_, fifo), (_, dctcp)] = &found[..] else { panic!("{found:?}") };
    // At 800 us half of the 2 MB that have arrived still wait: 1 MB or 800 us. The short flow alone takes 10
    // packets of 1.23 us and two links: about 17 us. Sorted by bytes left, it waits for one packet at most, and its last
    // packet leaves its host at most one packet time late.
    assert!((1.0..1.15).contains(ranked), "{found:?}");
    assert!(*fifo > 20.0, "{found:?}");
    // DCTCP's handshake is one round trip more than alone, and a packet may be on each line.
    assert!((1.0..2.0).contains(dctcp), "{found:?}");
}
