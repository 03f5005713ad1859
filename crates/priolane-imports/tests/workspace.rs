//! The modules of the workspace import lower layers only, and in no circle.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use priolane_imports::{Graph, read};

/// Files by prefix, from low to high: a layer imports itself and those before it.
const LAYERS: &[&[&str]] = &[
    &["priolane-derive/"],
    &["priolane-core/src/units.rs"],
    &["priolane-core/src/"],
    &["priolane-core/src/packet.rs"],
    &["priolane-core/src/endpoint.rs", "priolane-core/src/flows.rs", "priolane-core/src/port/discipline.rs"],
    &[
        "priolane-core/src/example.rs",
        "priolane-core/src/file_code.rs",
        "priolane-core/src/finding.rs",
        "priolane-core/src/keys",
        "priolane-core/src/part.rs",
        "priolane-core/src/quantity.rs",
        "priolane-core/src/registry.rs",
    ],
    &["priolane-core/src/send_jitter.rs"],
    &["priolane-core/src/port"],
    &[
        "priolane-core/src/admit",
        "priolane-core/src/assign",
        "priolane-core/src/host",
        "priolane-core/src/price",
    ],
    &["priolane-core/src/nic"],
    &["priolane-core/src/transport"],
    &[
        "priolane-core/src/analyze",
        "priolane-core/src/lib.rs",
        "priolane-core/src/scheme",
        "priolane-core/src/wire/",
    ],
    &["priolane-net/src/"],
    &["priolane-linux/src/"],
    &["priolane-source/src/"],
    &["priolane-sim/src/model"],
    &["priolane-sim/src/observe"],
    &["priolane-sim/src/device"],
    &["priolane-sim/src/engine"],
    &["priolane-sim/src/drive.rs", "priolane-sim/src/registered.rs"],
    &["priolane-sim/src/lib.rs", "priolane-sim/src/run.rs"],
    &["priolane-workload/src/"],
    &["priolane-workload/src/import"],
    &["priolane-workload/src/app.rs", "priolane-workload/src/coflow_trace", "priolane-workload/src/lib.rs"],
    &["priolane-results/src/"],
    &["priolane-lab/src/assumptions", "priolane-lab/src/interrupt.rs", "priolane-lab/src/lib.rs"],
    &["priolane-lab/src/scheme", "priolane-lab/src/thresholds.rs"],
    &["priolane-lab/src/metrics", "priolane-lab/src/optimum", "priolane-lab/src/panels"],
    &["priolane-lab/src/experiment"],
    &["priolane-lab/src/plan"],
    &["priolane-lab/src/verdict"],
    &["priolane-lab/src/execute"],
    &[
        "priolane-lab/src/catalogue",
        "priolane-lab/src/parts",
        "priolane-lab/src/reference",
        "priolane-lab/src/trace",
        "priolane-lab/src/unit.rs",
    ],
    &["priolane-bench/src/", "priolane-testbed/src/"],
    &["priolane-bench/src/bin/", "priolane-analysis/src/"],
    &["priolane-py/src/"],
    &["priolane-imports/src/", "priolane-rounds/src/", "priolane-testkit/src/"],
];

fn workspace() -> &'static Graph {
    static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap_or_else(|error| panic!("{error}"))
    });
    &GRAPH
}

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let graph = workspace();
    let list = |files: &BTreeSet<&str>| files.iter().map(|file| format!("{file}\n")).collect::<String>();
    let describe = |files: &BTreeSet<&str>| {
        format!("{}\n\nall files of this circle:\n{}", graph.circle(files), list(files))
    };
    let circles: Vec<String> = graph.components().iter().map(describe).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn no_layer_imports_a_higher_one() {
    let graph = workspace();
    let upward = graph.upward(LAYERS).unwrap_or_else(|lost| panic!("files in no layer: {lost:?}"));
    let upward: Vec<String> = upward.into_iter().map(|arrow| graph.show(arrow)).collect();
    assert!(upward.is_empty(), "imports of a higher layer:\n{}", upward.join("\n"));
}
