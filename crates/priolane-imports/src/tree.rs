//! The module tree of all crates: items defined, names in scope and paths mentioned per module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Item, ItemMod};

use crate::paths::{self, NamedPath, Use, only_in_tests};

/// A module, or the root of a crate.
#[derive(Debug)]
pub(crate) struct Module {
    /// Index of its file in [`Tree::files`].
    pub(crate) file: usize,
    /// Parent module; `None` for a root.
    pub(crate) parent: Option<usize>,
    /// Root module of its crate.
    pub(crate) root: usize,
    /// Child modules by name.
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of the items it defines.
    pub(crate) items: BTreeSet<String>,
    /// Names that its `use`s bring into scope.
    pub(crate) uses: Vec<Use>,
    /// Paths that it mentions.
    pub(crate) paths: Vec<NamedPath>,
}

/// All modules of all crates.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Files, relative to the folder of crates.
    pub(crate) files: Vec<String>,
    /// Modules; indices elsewhere refer to this list.
    pub(crate) modules: Vec<Module>,
    /// Root modules of libraries, by crate name as written in code.
    pub(crate) crates: BTreeMap<String, usize>,
}

impl Tree {
    /// Reads the library and the binaries of each crate in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        for package in sorted(folder)? {
            let src = package.join("src");
            let library = src.join("lib.rs");
            if library.is_file() {
                let root = tree.root(folder, &library)?;
                let name = package.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
                tree.crates.insert(name, root);
            }
            let programs = if src.join("bin").is_dir() { sorted(&src.join("bin"))? } else { Vec::new() };
            for program in programs.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
                tree.root(folder, &program)?;
            }
        }
        Ok(tree)
    }

    fn root(&mut self, folder: &Path, path: &Path) -> Result<usize, String> {
        let directory = path.parent().unwrap_or(folder).to_owned();
        self.file(folder, path, &directory, None)
    }

    /// Reads the module in the file `path`; the files of its child modules are in `directory`.
    fn file(
        &mut self,
        folder: &Path,
        path: &Path,
        directory: &Path,
        parent: Option<usize>,
    ) -> Result<usize, String> {
        let shown = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{shown}: {error}"))?;
        self.files.push(shown);
        self.module(folder, (self.files.len() - 1, directory), parent, &parsed.items)
    }

    fn module(
        &mut self,
        folder: &Path,
        (file, directory): (usize, &Path),
        parent: Option<usize>,
        items: &[Item],
    ) -> Result<usize, String> {
        let id = self.modules.len();
        let root = parent.map_or(id, |parent| self.modules[parent].root);
        let found = paths::of(items);
        let mut module = Module {
            file,
            parent,
            root,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            uses: found.uses,
            paths: found.paths,
        };
        module.items.extend(items.iter().filter_map(name_of));
        self.modules.push(module);
        for item in items {
            let Item::Mod(declared) = item else { continue };
            if only_in_tests(&declared.attrs) {
                continue;
            }
            let child = self.child(folder, (file, directory), id, declared)?;
            self.modules[id].children.insert(declared.ident.to_string(), child);
        }
        Ok(id)
    }

    fn child(
        &mut self,
        folder: &Path,
        (file, directory): (usize, &Path),
        parent: usize,
        declared: &ItemMod,
    ) -> Result<usize, String> {
        let name = declared.ident.to_string();
        let inner = directory.join(&name);
        if let Some((_, items)) = &declared.content {
            return self.module(folder, (file, &inner), Some(parent), items);
        }
        let flat = directory.join(format!("{name}.rs"));
        let path = if flat.is_file() { flat } else { inner.join("mod.rs") };
        self.file(folder, &path, &inner, Some(parent))
    }
}

/// Returns the entries of a folder, sorted by path.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

/// Returns the name that an item defines.
fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}
