//! Shipped schemes on recorded flows in leaf-spines of all rates: what they state for one rate or workload is derived for
//! others, and said so.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use priolane_lab::plan::{self, Options, Plan};
use priolane_lab::scheme::SHIPPED;
use priolane_source::InputError;
use serde_json::{Value as Json, json};

use crate::merged::assert_runs_read_back;

/// Rates of host and fabric links, in Gbit/s. A leaf of 16 hosts and two uplinks carries 0.6, 1.2, 4, 8 and 14.4 Tbit/s.
const RATES: [(u32, u32); 5] = [(25, 100), (50, 200), (200, 400), (400, 800), (800, 800)];

/// A folder with a list of recorded flows: 80 in 1.6 ms, of 600 B to 3 MB, with deadlines.
struct Recorded(PathBuf);

impl Recorded {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("priolane-rates-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut list = String::from("start_ns,src,dst,bytes,deadline_ns\n");
        for nth in 0_u64..80 {
            let (start, src, dst) = (nth * 20_000, nth % 32, (nth + 17) % 32);
            let bytes = [600, 3_000, 30_000, 200_000, 3_000_000][nth as usize % 5] + nth;
            writeln!(list, "{start},{src},{dst},{bytes},{}", start + 1_000_000_000).unwrap();
        }
        fs::write(folder.join("flows.csv"), list).unwrap();
        Self(folder)
    }

    fn plan(&self, rates: (u32, u32), schemes: &[&str], tables: &str) -> Plan {
        self.try_plan(rates, schemes, tables).unwrap_or_else(|error| panic!("{rates:?}: {error}"))
    }

    fn try_plan(
        &self,
        (host, fabric): (u32, u32),
        schemes: &[&str],
        tables: &str,
    ) -> Result<Plan, InputError> {
        let text = format!(
            r#"title = "Recorded flows"
schemes = {schemes:?}
time = {{ measure = "2ms" }}
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 16
host_link = {{ rate = "{host}Gbps", delay = "1us" }}
fabric_link = {{ rate = "{fabric}Gbps", delay = "1us" }}
[[group]]
name = "recorded"
hosts = "*"
app = "flows"
list = "flows.csv"
{tables}"#
        );
        plan::from_text("f.toml", &text, &self.0, &Options::default())
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn merged(plan: &Plan, pointer: &str) -> Json {
    let scheme = pointer.split('/').next().unwrap();
    plan.experiment.merged(scheme).pointer(&format!("/scheme/{pointer}")).cloned().unwrap_or_default()
}

fn says(plan: &Plan, part: &str) -> bool {
    plan.warnings.iter().any(|warning| warning.contains(part))
}

#[test]
fn every_shipped_scheme_passes_at_every_rate() {
    let flows = Recorded::new("all");
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    for rates in RATES {
        let plan = flows.plan(rates, &names, "");
        assert_eq!(plan.runs.len(), names.len(), "{rates:?}");
        assert_runs_read_back(&plan, &flows.0);
    }
}

#[test]
fn pias_has_published_thresholds_for_their_workloads_and_solves_them_for_recorded_flows() {
    let flows = Recorded::new("pias");
    let plan = flows.plan((25, 100), &["pias"], "");
    for row in ["assign", "host"] {
        let solved = merged(&plan, &format!("pias/{row}/thresholds"));
        assert_eq!(
            (&solved["solver"], &solved["otherwise"]),
            (&json!("basin_hopping"), &Json::Null),
            "{row}"
        );
    }
    let scheme = &plan.experiment.scheme["pias"];
    let found = scheme.assign.demotion().and_then(|demotion| demotion.thresholds.bytes()).unwrap();
    // At a load of a third, two levels have the least cost: the largest flows, of 3 MB and a few bytes, reach the second.
    assert!(found[0] >= 200_000 && found[0] < 3_000_000 && found[1..] == [3_000_079; 6], "{found:?}");
    let reason = "no thresholds are published for sizes \"the flows of group \\\"recorded\\\"\"";
    assert!(
        says(&plan, reason) && says(&plan, "basin_hopping computes them, and uses 2 of 8 levels"),
        "{:?}",
        plan.warnings
    );
    let own = "[scheme.pias]\nassign.thresholds.solver = \"pias_published\"\n";
    let error = flows.try_plan((25, 100), &["pias"], own).unwrap_err();
    assert!(error.to_string().contains("no thresholds are published"), "{error}");
}

#[test]
fn memory_and_headroom_follow_the_rates() {
    let flows = Recorded::new("memory");
    let names = ["physical_swift", "prioplus_swift", "swift"];
    let plan = flows.plan((25, 100), &names, "");
    // 16 x 25 + 2 x 100 Gbit/s are the 600 that the size is for.
    for name in names {
        let buffer = json!({ "dynamic": "2640kB", "alpha": "1/4" });
        assert_eq!(merged(&plan, &format!("{name}/port/buffer")), buffer, "{name}");
    }
    assert!(!says(&plan, "memory"), "{:?}", plan.warnings);
    // Links of two rates: 37.5 kB at 100 Gbit/s and a quarter of it at 25.
    assert_eq!(merged(&plan, "physical_swift/port/pfc/headroom_round_trips"), 1.5);
    let plan = flows.plan((800, 800), &names, "");
    // 18 x 800 Gbit/s: 24 times the memory, and 8 times the headroom at each port.
    assert_eq!(merged(&plan, "physical_swift/port/buffer/dynamic"), "63360kB");
    assert_eq!(merged(&plan, "physical_swift/port/pfc/headroom_least"), "300kB");
    let warning =
        "physical_swift: switches have 63360kB of memory for 14400Gbps, in proportion to the 2640kB";
    assert!(says(&plan, warning), "{:?}", plan.warnings);
    let own = "[switch]\nbuffer = { dynamic = \"64MB\", alpha = 1 }\n";
    let plan = flows.plan((800, 800), &names, own);
    assert_eq!(merged(&plan, "swift/port/buffer"), json!({ "dynamic": "64MB", "alpha": "1/1" }));
    assert!(!says(&plan, "of memory for"), "{:?}", plan.warnings);
}
