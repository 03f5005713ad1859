//! Collects the paths that a module mentions.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemMod, ItemUse, Macro, Meta, UseTree, Visibility};

/// A path as written in the source.
#[derive(Clone, Debug)]
pub(crate) struct NamedPath {
    /// The segments, without generic arguments.
    pub(crate) segments: Vec<String>,
    /// Line in the source, from 1.
    pub(crate) line: usize,
}

/// A name that a `use` brings into scope.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The name; `*` for all names of `path`.
    pub(crate) name: String,
    /// The path that the name refers to.
    pub(crate) path: Vec<String>,
}

/// The paths and names in a module, without those of its child modules.
#[derive(Debug, Default)]
pub(crate) struct ModulePaths {
    /// Paths in code, and the paths that private `use`s import.
    pub(crate) paths: Vec<NamedPath>,
    /// Names that `use`s bring into scope, including those inside functions.
    pub(crate) uses: Vec<Use>,
}

/// Collects the paths of `items`.
pub(crate) fn of(items: &[Item]) -> ModulePaths {
    let mut found = ModulePaths::default();
    items.iter().for_each(|item| found.visit_item(item));
    found
}

/// Whether an item is compiled for tests only.
pub(crate) fn only_in_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if attribute.path().is_ident("cfg") => {
            let words = list.tokens.to_string();
            words == "test" || words.starts_with("all (test")
        }
        _ => false,
    })
}

impl ModulePaths {
    fn path(&mut self, segments: Vec<String>, span: Span) {
        self.paths.push(NamedPath { segments, line: span.start().line });
    }

    /// Collects paths in the tokens of a macro call or attribute: identifiers joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut words: Vec<String> = Vec::new();
        let (mut colons, mut span) = (0, Span::call_site());
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.path(std::mem::take(&mut words), span);
                        span = ident.span();
                    }
                    words.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.path(std::mem::take(&mut words), span);
                    colons = 0;
                    match other {
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        // Paths in strings, such as `#[serde(with = "crate::quantity::as_text")]`.
                        TokenTree::Literal(literal) => {
                            let text = literal.to_string();
                            let text = text.trim_matches('"');
                            if text.split("::").all(|word| syn::parse_str::<syn::PathSegment>(word).is_ok()) {
                                self.path(text.split("::").map(str::to_owned).collect(), literal.span());
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        self.path(words, span);
    }

    /// Records the names of a `use` tree below `prefix`. If the visibility `by` is private, they also count as paths.
    fn names(&mut self, tree: &UseTree, prefix: &[String], by: &Visibility) {
        let with = |word: &Ident| match word == "self" && !prefix.is_empty() {
            true => prefix.to_vec(),
            false => prefix.iter().cloned().chain([word.to_string()]).collect(),
        };
        let (name, path, span) = match tree {
            UseTree::Path(path) => return self.names(&path.tree, &with(&path.ident), by),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.names(tree, prefix, by));
            }
            UseTree::Name(name) => {
                let path = with(&name.ident);
                (path.last().cloned().unwrap_or_default(), path, name.ident.span())
            }
            UseTree::Rename(name) => (name.rename.to_string(), with(&name.ident), name.ident.span()),
            UseTree::Glob(glob) => ("*".to_owned(), prefix.to_vec(), glob.star_token.spans[0]),
        };
        if matches!(by, Visibility::Inherited) {
            let all = (name == "*").then(|| name.clone());
            self.path(path.iter().cloned().chain(all).collect(), span);
        }
        self.uses.push(Use { name, path });
    }
}

impl<'a> Visit<'a> for ModulePaths {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes: &[Attribute] = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !only_in_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        if !only_in_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    /// Child modules are visited as modules of their own.
    fn visit_item_mod(&mut self, _module: &'a ItemMod) {}

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.names(&item.tree, &[], &item.vis);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if let Some(first) = path.segments.first() {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.path(segments, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.visit_path(&call.path);
        // Tokens that a procedural macro quotes are code of the calling crate.
        let quotes = |segment: &syn::PathSegment| segment.ident.to_string().contains("quote");
        if !call.path.segments.last().is_some_and(quotes) {
            self.tokens(call.tokens.clone());
        }
    }

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}
