//! Resolves a path to the file that defines the named item.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::paths::NamedPath;
use crate::tree::Tree;

/// The target that a path resolves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// An item, as the index of the file that defines it.
    Item(usize),
}

/// Resolves paths in a module tree.
#[derive(Debug)]
pub(crate) struct Resolver<'t> {
    tree: &'t Tree,
    /// Lookups in progress; a name that depends on itself resolves to nothing.
    open: RefCell<HashSet<(usize, String)>>,
}

impl<'t> Resolver<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self { tree, open: RefCell::default() }
    }

    /// Returns the file that defines the item at path `named` in `module`; `None` if it is a module or belongs to no
    /// crate here.
    pub(crate) fn file_of(&self, module: usize, named: &NamedPath) -> Option<usize> {
        match self.path(module, &named.segments)? {
            Target::Item(file) => Some(file),
            Target::Module(_) => None,
        }
    }

    fn path(&self, module: usize, segments: &[String]) -> Option<Target> {
        let (first, rest) = segments.split_first()?;
        let modules = &self.tree.modules;
        let start = match first.as_str() {
            "crate" => Target::Module(modules[module].root),
            "self" => Target::Module(module),
            "super" => Target::Module(modules[module].parent?),
            name => {
                let named = self.name(module, name);
                named.or_else(|| self.tree.crates.get(name).map(|&root| Target::Module(root)))?
            }
        };
        self.follow(start, rest)
    }

    fn follow(&self, start: Target, rest: &[String]) -> Option<Target> {
        let mut at = start;
        for word in rest {
            let Target::Module(module) = at else { return Some(at) };
            let modules = &self.tree.modules;
            at = match word.as_str() {
                "super" => Target::Module(modules[module].parent?),
                "*" => Target::Item(modules[module].file),
                // Items that a macro generates are not visible here; they are attributed to the module's file.
                name => self.name(module, name).unwrap_or(Target::Item(modules[module].file)),
            };
        }
        Some(at)
    }

    /// Resolves `name` in `module`.
    fn name(&self, module: usize, name: &str) -> Option<Target> {
        let of = &self.tree.modules[module];
        if let Some(&child) = of.children.get(name) {
            return Some(Target::Module(child));
        }
        if of.items.contains(name) {
            return Some(Target::Item(of.file));
        }
        if !self.open.borrow_mut().insert((module, name.to_owned())) {
            return None;
        }
        let exact = || of.uses.iter().filter(|u| u.name == name).find_map(|u| self.path(module, &u.path));
        let found = exact().or_else(|| {
            of.uses.iter().filter(|u| u.name == "*").find_map(|u| match self.path(module, &u.path)? {
                Target::Module(all) => self.name(all, name),
                Target::Item(_) => None,
            })
        });
        self.open.borrow_mut().remove(&(module, name.to_owned()));
        found
    }
}
