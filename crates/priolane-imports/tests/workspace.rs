//! The modules of the workspace import downwards and in no circle, but for what `known/` lists, which may only shrink.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use priolane_imports::{Arrow, Graph, read};

/// Files by prefix, from low to high: a layer imports itself and those before it.
const LAYERS: &[&[&str]] = &[
    &["priolane-derive/"],
    &["priolane-core/src/units.rs"],
    &["priolane-core/src/"],
    &["priolane-core/src/packet.rs"],
    &["priolane-core/src/endpoint.rs", "priolane-core/src/flows.rs", "priolane-core/src/port/discipline.rs"],
    &["priolane-core/src/keys", "priolane-core/src/part.rs", "priolane-core/src/quantity.rs"],
    &["priolane-core/src/port"],
    &["priolane-core/src/nic.rs"],
    &[
        "priolane-core/src/admit",
        "priolane-core/src/assign",
        "priolane-core/src/host",
        "priolane-core/src/price",
    ],
    &["priolane-core/src/transport"],
    &[
        "priolane-core/src/analyze",
        "priolane-core/src/lib.rs",
        "priolane-core/src/scheme",
        "priolane-core/src/wire/",
    ],
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
    &["priolane-lab/src/assumptions.rs", "priolane-lab/src/interrupt.rs", "priolane-lab/src/lib.rs"],
    &["priolane-lab/src/scheme", "priolane-lab/src/thresholds.rs"],
    &["priolane-lab/src/metrics", "priolane-lab/src/optimum", "priolane-lab/src/panels"],
    &["priolane-lab/src/experiment"],
    &["priolane-lab/src/plan"],
    &["priolane-lab/src/verdict"],
    &["priolane-lab/src/execute"],
    &["priolane-lab/src/catalogue", "priolane-lab/src/reference", "priolane-lab/src/trace"],
    &["priolane-tools/src/"],
    &["priolane-tools/src/bin/"],
    &["priolane-py/src/"],
    &["priolane-imports/src/", "priolane-rounds/src/", "priolane-testkit/src/"],
];

/// Circles that are there.
const CIRCLES: &str = include_str!("known/circles.txt");
/// Imports of a higher layer that are there: `FILE imports FILE`.
const UPWARD: &str = include_str!("known/upward.txt");

fn workspace() -> &'static Graph {
    static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap_or_else(|error| panic!("{error}"))
    });
    &GRAPH
}

/// The files of each known circle: circles stand apart by an empty line.
fn known_circles() -> Vec<BTreeSet<&'static str>> {
    let known = CIRCLES.split("\n\n").map(|files| files.lines().collect::<BTreeSet<_>>());
    known.filter(|files| !files.is_empty()).collect()
}

/// A list in `known/` names what is gone: it is written as it is now if `PRIOLANE_KNOWN` asks for that.
fn fewer(name: &str, text: &str) {
    let asked = std::env::var_os("PRIOLANE_KNOWN").is_some();
    assert!(asked, "there are fewer: run PRIOLANE_KNOWN=write cargo test -p priolane-imports");
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known").join(name), text).unwrap();
}

#[test]
fn modules_import_each_other_in_no_new_circle() {
    let graph = workspace();
    let (found, known) = (graph.components(), known_circles());
    let is_known = |files: &&BTreeSet<&str>| known.iter().any(|known| files.is_subset(known));
    let list = |files: &BTreeSet<&str>| files.iter().map(|file| format!("{file}\n")).collect::<String>();
    let new = found.iter().filter(|files| !is_known(files));
    let new: Vec<_> = new
        .map(|files| format!("{}\n\nall files of this new circle:\n{}", graph.circle(files), list(files)))
        .collect();
    assert!(new.is_empty(), "{}", new.join("\n"));
    let right: Vec<String> = found.iter().map(list).collect();
    if found != known {
        fewer("circles.txt", &right.join("\n"));
    }
}

#[test]
fn no_layer_imports_a_higher_one() {
    let graph = workspace();
    let found = graph.upward(LAYERS).unwrap_or_else(|lost| panic!("files in no layer: {lost:?}"));
    let known: BTreeSet<&str> = UPWARD.lines().collect();
    let line = |arrow: &Arrow| format!("{} imports {}", graph.files[arrow.from], graph.files[arrow.to]);
    let is_new = |arrow: &&&Arrow| !known.contains(line(arrow).as_str());
    let new: Vec<String> = found.iter().filter(is_new).map(|arrow| graph.show(arrow)).collect();
    assert!(new.is_empty(), "new imports of a higher layer:\n{}", new.join("\n"));
    let right: BTreeSet<String> = found.into_iter().map(|arrow| line(arrow) + "\n").collect();
    if right.len() != known.len() {
        fewer("upward.txt", &right.into_iter().collect::<String>());
    }
}
