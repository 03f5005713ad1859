//! `schemes` and `[scheme.NAME]`: which schemes are compared, and what the experiment changes of them.

use std::path::Path;

use super::Sources;
use crate::scheme::{self, RENAMED, SHIPPED, Scheme};
use crate::source::{Field, InputError, Node, Origin, Reader, SIZE_LIMIT, Table, Value, parse};

/// A scheme of the experiment with the tree it was read from, for messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// The scheme.
    pub scheme: Scheme,
    /// What it was read from.
    pub tree: Table,
    /// Where that stands.
    pub origin: Origin,
}

/// Reads the schemes that `schemes` lists, each with its overrides.
pub(super) fn read(keys: &mut Reader<'_>, sources: &mut Sources) -> Result<Vec<Named>, InputError> {
    let list = keys.need("schemes", "schemes = [\"dctcp\", \"pias\"]")?;
    let inline = match keys.take("scheme") {
        None => Vec::new(),
        Some(field) => field.entries()?,
    };
    let mut all: Vec<Named> = Vec::new();
    for item in list.filled_list()? {
        let text = item.text()?;
        let name = name_of(text);
        if all.iter().any(|other| other.name == name) {
            return Err(item.error(format!("the scheme {name:?} is listed twice"), "each scheme once"));
        }
        let own = inline.iter().find(|(key, _)| *key == name).map(|(_, field)| field);
        all.push(one(&item, text, own, sources)?);
    }
    match inline.iter().find(|(key, _)| !all.iter().any(|s| s.name == *key)) {
        None => Ok(all),
        Some((key, field)) => {
            let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
            Err(field.no_such(key, &names))
        }
    }
}

/// The name of a scheme: that of a path is the file's without its ending.
pub fn name_of(text: &str) -> &str {
    if is_path(text) { Path::new(text).file_stem().and_then(|s| s.to_str()).unwrap_or(text) } else { text }
}

fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

fn one(
    item: &Field<'_>,
    text: &str,
    own: Option<&Field<'_>>,
    sources: &mut Sources,
) -> Result<Named, InputError> {
    let name = name_of(text).to_owned();
    if name.is_empty() || name.contains(['.', '"']) || name.len() > 60 {
        return Err(
            item.error("this is no name for a scheme", "a shipped scheme, or the path of a scheme file")
        );
    }
    let own_table = own.map(table).transpose()?;
    let base_name = own_table.and_then(|t| t.get("base"));
    let (mut tree, mut origin) = if is_path(text) {
        let content = sources.read(item, text, SIZE_LIMIT)?;
        (parse(text, &content)?, Origin { file: text.into(), line: Some(1) })
    } else {
        match (base_name, scheme::shipped_tree(text), own) {
            (Some(node), ..) => base(node, &name)?,
            (None, Some(tree), _) => (tree?.clone(), shipped_origin(text)),
            (None, None, Some(field)) => (Table::default(), field.origin().clone()),
            (None, None, None) => return Err(unknown(item, text)),
        }
    };
    let path = if is_path(text) { String::new() } else { format!("scheme.{name}") };
    if let Some(own_table) = own_table {
        let mut overrides = own_table.clone();
        overrides.remove("base");
        tree.merge(&overrides);
        origin = own.map_or(origin, |field| field.origin().clone());
    }
    let scheme = scheme::read(&tree, &path, &origin)?;
    Ok(Named { name, scheme, tree, origin })
}

fn table<'a>(field: &Field<'a>) -> Result<&'a Table, InputError> {
    match field.value() {
        Value::Table(table) => Ok(table),
        other => Err(field.error(format!("this is {}", other.kind()), "a table of changes to the scheme")),
    }
}

fn base(node: &Node, name: &str) -> Result<(Table, Origin), InputError> {
    let field = Field::new(format!("scheme.{name}.base"), node);
    let text = field.text()?;
    match scheme::shipped_tree(text) {
        Some(tree) => Ok((tree?.clone(), shipped_origin(text))),
        None => Err(unknown(&field, text)),
    }
}

fn shipped_origin(name: &str) -> Origin {
    Origin { file: format!("schemes/{name}.toml").into(), line: Some(1) }
}

fn unknown(field: &Field<'_>, text: &str) -> InputError {
    if let Some((_, now)) = RENAMED.iter().find(|(former, _)| *former == text) {
        return field.error(format!("the scheme {text:?} is now called {now:?}"), format!("{now:?}"));
    }
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let mut error = field.no_such(text, &names);
    error.what = format!("there is no scheme {:?}", text.chars().take(60).collect::<String>());
    error.fix.push_str(", or the path of a scheme file");
    error
}
