//! From a path to the file that defines what it names.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::paths::Named;
use crate::tree::Tree;

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// An item, by the file that defines it.
    Item(usize),
}

/// Looks paths up in a tree.
#[derive(Debug)]
pub(crate) struct Resolver<'t> {
    tree: &'t Tree,
    /// Names that are being looked up: those that stand for themselves are nothing.
    open: RefCell<HashSet<(usize, String)>>,
}

impl<'t> Resolver<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self { tree, open: RefCell::default() }
    }

    /// The file of the item that `named`, a path in `module`, names; `None` if it names a module, or nothing of ours.
    pub(crate) fn file_of(&self, module: usize, named: &Named) -> Option<usize> {
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
                // What a macro of the module defines is not seen.
                name => self.name(module, name).unwrap_or(Target::Item(modules[module].file)),
            };
        }
        Some(at)
    }

    /// What `name` is in `module`.
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
