//! Reads the imports of Rust crates file by file and finds circles between modules, and imports of a higher layer.
//!
//! An import is a `use` or a path such as `crate::plan::build(..)`, in code, in the arguments of a macro or in an
//! attribute. It points at the file that defines the item: a `pub use` on the way is looked through, and neither it nor
//! the import of a module is an import by itself. Code under `#[cfg(test)]` does not count.

mod graph;
mod paths;
mod resolve;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;

pub use graph::{Arrow, Graph};
use resolve::Resolver;
use tree::Tree;

/// The imports of the crates in `folder`, one sub-folder with a `src` for each. Files are named relative to `folder`.
///
/// # Errors
/// If a source cannot be read or is not Rust.
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
