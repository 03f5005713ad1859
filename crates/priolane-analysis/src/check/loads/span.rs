//! The span over which flows are offered: that of recorded starts in the window, or the window itself.

use std::path::Path;

use priolane_lab::plan::{self, Options};

use super::*;

/// Returns the load that the groups of this text offer with this `time`.
fn loads(time: &str, groups: &str) -> PointLoads {
    let text = format!(
        r#"title = "One switch"
schemes = ["newreno"]
time = {time}
topology = {{ kind = "single_switch", hosts = 4, host_link = {{ rate = "10Gbps", delay = "1us" }} }}
{groups}"#
    );
    let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let point = &points.points[0];
    let built = plan::build_at(&point.experiment, "newreno", 1).unwrap();
    offered(&point.experiment, point, &built).unwrap()
}

fn group(name: &str, app: &str) -> String {
    format!("[[group]]\nname = \"{name}\"\nhosts = \"*\"\n{app}\n")
}

/// Full packets from host 0 to host 1: 100 of them have 153,800 B on the wire.
fn list(starts: &[&str]) -> String {
    let flow = |start: &&str| format!("{{ src = 0, dst = 1, size = \"146kB\", start = \"{start}\" }}");
    format!("app = \"flows\"\nlist = [{}]", starts.iter().map(flow).collect::<Vec<_>>().join(", "))
}

/// The parts of the busiest link and of all links that hosts send on.
fn sending(found: &PointLoads) -> (f64, f64) {
    let tier = found.tiers.iter().find(|tier| tier.tier == "hosts, sending").unwrap();
    (tier.busiest, tier.mean)
}

fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
}

const POISSON: &str = "app = \"poisson\"\nsizes = { csv = \"imc10\", interpolation = \"step\", max = \"1460B\" }\nload = { of = \"host\", counts = \"wire\", value = 0.2 }";

#[test]
fn recorded_flows_count_from_the_first_start_in_the_window_to_the_last() {
    let starts = ["0us", "1200us", "1400us", "1600us", "5ms"];
    let found = loads("{ warmup = \"1ms\", measure = \"1ms\" }", &group("all", &list(&starts)));
    // Three flows in 0.4 ms, in which a link carries 500 kB; the last start counts.
    near(found.seconds, 0.4e-3);
    near(sending(&found).0, 3.0 * 153_800.0 / 500e3);
    near(sending(&found).1, 3.0 * 153_800.0 / 2e6);
    // With a number of flows, all are measured.
    let counted = loads("{ flows = 5 }", &group("all", &list(&starts)));
    near(counted.seconds, 5e-3);
    near(sending(&counted).0, 5.0 * 153_800.0 / 6.25e6);
}

#[test]
fn flows_of_applications_count_over_the_window_or_up_to_the_last_start() {
    let found = loads("{ warmup = \"1ms\", measure = \"3ms\" }", &group("all", POISSON));
    near(found.seconds, 3e-3);
    assert!((sending(&found).1 / 0.2 - 1.0).abs() < 0.2, "{found:?}");
    let mixed = group("all", POISSON) + &group("recorded", &list(&["1500us", "2ms"]));
    near(loads("{ warmup = \"1ms\", measure = \"3ms\" }", &mixed).seconds, 3e-3);
    let counted = loads("{ flows = 300 }", &group("all", POISSON));
    // 4 hosts at 0.2 of 10 Gbit/s start a flow of at most 1538 B each 1.5 us.
    assert!((0.2e-3..0.8e-3).contains(&counted.seconds), "{}", counted.seconds);
    assert!((sending(&counted).1 / 0.2 - 1.0).abs() < 0.3, "{counted:?}");
    // Who only receives does not make recorded flows those of an application.
    let receiver = "[[group]]\nname = \"sink\"\nhosts = \"3\"\napp = \"none\"\n";
    let recorded = group("recorded", &list(&["1500us", "2ms"])) + receiver;
    near(loads("{ warmup = \"1ms\", measure = \"3ms\" }", &recorded).seconds, 0.5e-3);
}
