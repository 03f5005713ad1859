//! Reads the imports of Rust crates per file, and finds import cycles and imports of a higher layer.
//!
//! An import is a `use` declaration or a path such as `crate::plan::build(..)` in code, in macro arguments or in an
//! attribute. Its target is the file that defines the item: re-exports (`pub use`) are followed, and neither a
//! re-export nor the import of a module counts as an import. Code under `#[cfg(test)]` is ignored.

mod graph;
mod paths;
mod resolve;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;

pub use graph::{Arrow, Graph};
use resolve::Resolver;
use tree::Tree;

/// Reads the imports of all crates in `folder`, each a sub-folder with a `src`. File names are relative to `folder`.
///
/// # Errors
/// Returns a message if a source cannot be read or is not valid Rust.
pub fn read(folder: &Path) -> Result<Graph, String> {
    let tree = Tree::read(folder)?;
    let resolver = Resolver::new(&tree);
    let mut arrows: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    for module in 0..tree.modules.len() {
        let from = tree.modules[module].file;
        for found in &tree.modules[module].paths {
            let Some(to) = resolver.file_of(module, found).filter(|&to| to != from) else { continue };
            let name = found.segments.join("::");
            arrows.entry((from, to)).or_insert(Arrow { from, to, line: found.line, name });
        }
    }
    Ok(Graph { files: tree.files, arrows: arrows.into_values().collect() })
}
