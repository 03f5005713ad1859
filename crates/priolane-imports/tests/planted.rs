//! Faults planted in small crates: each is found and named.

use std::collections::BTreeSet;
use std::fs;

use priolane_imports::{Graph, read};

/// The graph of a crate `a` and a crate `b` with these files.
fn graph(files: &[(&str, &str)]) -> Graph {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    read(folder.path()).unwrap()
}

fn arrows(graph: &Graph) -> Vec<String> {
    graph.arrows.iter().map(|arrow| graph.show(arrow)).collect()
}

const LIB: (&str, &str) = ("a/src/lib.rs", "pub mod low;\npub mod high;\n");

#[test]
fn a_circle_is_named_with_its_lines() {
    let graph = graph(&[
        ("a/src/lib.rs", "mod one;\nmod two;\nmod three;\n"),
        ("a/src/one.rs", "use crate::two::Two;\npub struct One(Two);\n"),
        ("a/src/two.rs", "\npub struct Two;\nfn f() { crate::three::three(); }\n"),
        ("a/src/three.rs", "use super::one::One;\npub fn three() {}\n"),
    ]);
    let files = BTreeSet::from(["a/src/one.rs", "a/src/three.rs", "a/src/two.rs"]);
    assert_eq!(graph.components(), vec![files.clone()]);
    assert_eq!(
        graph.circle(&files),
        "a/src/one.rs:1 imports crate::two::Two of a/src/two.rs\n\
         a/src/two.rs:3 imports crate::three::three of a/src/three.rs\n\
         a/src/three.rs:1 imports super::one::One of a/src/one.rs"
    );
}

#[test]
fn an_import_of_a_higher_layer_is_named() {
    let graph = graph(&[
        LIB,
        ("a/src/low.rs", "pub struct Low(crate::high::High);\n"),
        ("a/src/high.rs", "pub struct High;\n"),
    ]);
    let layers: &[&[&str]] = &[&["a/src/low"], &["a/src/"]];
    let upward = graph.upward(layers).unwrap();
    assert_eq!(
        upward.iter().map(|arrow| graph.show(arrow)).collect::<Vec<_>>(),
        ["a/src/low.rs:1 imports crate::high::High of a/src/high.rs"]
    );
    assert!(graph.upward(&[&["a/src/high"], &["a/src/"]]).unwrap().is_empty());
    assert_eq!(graph.upward(&[&["a/src/high"]]), Err(vec!["a/src/lib.rs", "a/src/low.rs"]));
}

/// An import by each way of writing one.
#[test]
fn no_way_of_importing_is_overlooked() {
    for import in [
        "use crate::high::High;",
        "use crate::{high::{self, High}, low};",
        "use super::high::High as Other;",
        "use crate::high::*;",
        "fn f() { use crate::high::High; }",
        "fn f(_: &super::high::High) {}",
        "fn f() -> Vec<crate::high::High> { Vec::new() }",
        "use crate::high; fn f() { high::make(); }",
        "use super::high as h; fn f() { h::make(); }",
        "fn f() { assert!(matches!(1, _ if crate::high::make().is())); }",
        "macro_rules! m { () => { $crate::high::make() } }",
        "#[serde(with = \"crate::high::text\")] pub struct Low;",
        "impl crate::high::Tall for u8 {}",
        "use crate::High;",
        "use a::high::High;",
        "mod inner { use super::super::high::High; }",
        "use crate::high::made_by_a_macro;",
        "pub use crate::high::High; pub struct Low(High);",
    ] {
        let graph = graph(&[
            ("a/src/lib.rs", "pub mod low;\npub mod high;\npub use high::High;\n"),
            ("a/src/low.rs", import),
            ("a/src/high.rs", "pub struct High;\npub trait Tall {}\npub fn make() -> High { High }\n"),
        ]);
        let found = arrows(&graph);
        assert!(found.len() == 1 && found[0].ends_with(" of a/src/high.rs"), "{import}: {found:?}");
    }
}

#[test]
fn what_imports_no_item_is_no_import() {
    for none in [
        "#[cfg(test)] mod tests { use crate::high::High; }",
        "#[cfg(test)] use crate::high::High;",
        "#[cfg(test)] fn f() { crate::high::make(); }",
        "pub struct Low; impl Low { #[cfg(test)] fn f() { crate::high::make(); } }",
        "pub use crate::high::High;",
        "use crate::high;",
        "fn f() { quote! { crate::high::make() } parse_quote! { crate::high::make() } }",
        "pub(in crate::high) struct Low;",
        "use std::high::High;",
        "// use crate::high::High;",
        "const TEXT: &str = \"crate::high::High\";",
    ] {
        let graph = graph(&[LIB, ("a/src/low.rs", none), ("a/src/high.rs", "pub struct High;\n")]);
        assert_eq!(arrows(&graph), [""; 0], "{none}");
    }
}

#[test]
fn crates_import_each_other_by_name() {
    let graph = graph(&[
        ("my-b/src/lib.rs", "mod deep;\npub use deep::Deep;\n"),
        ("my-b/src/deep/mod.rs", "pub struct Deep;\n"),
        ("a/src/lib.rs", "use my_b::Deep;\n"),
        ("a/src/bin/tool.rs", "fn main() { a::f(); }\n"),
    ]);
    assert_eq!(
        arrows(&graph),
        [
            "a/src/lib.rs:1 imports my_b::Deep of my-b/src/deep/mod.rs",
            "a/src/bin/tool.rs:1 imports a::f of a/src/lib.rs"
        ]
    );
}
