//! `schemes` and `[scheme.NAME]`: the compared schemes, and the experiment's changes to them.

use std::path::Path;

use indexmap::IndexSet;
use priolane_core::keys::{self, Keys, NonEmpty};
use priolane_core::name::{Alphabet, is_name};
use priolane_core::send_jitter::SendJitter;
use priolane_source::{Field, InputError, KeyReader, Node, Origin, SIZE_LIMIT, Sources, Table, Value, parse};

use super::equipment::{self, Equipment};
use crate::scheme::{self, SHIPPED, Scheme};

/// Maximum length of the name of a scheme, in bytes.
const LONGEST_NAME: usize = 60;

/// A scheme of the experiment with the tree from which it was read, for messages.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedScheme {
    /// Name.
    pub name: String,
    /// The scheme.
    pub scheme: Scheme,
    /// The tree from which it was read.
    pub tree: Table,
    /// Position of the tree.
    pub origin: Origin,
}

/// The schemes of an experiment that could be read.
pub(super) struct ReadSchemes {
    /// The listed names; `None` if some could not be read.
    pub(super) names: Option<Vec<String>>,
    /// The valid schemes.
    pub(super) schemes: Vec<NamedScheme>,
    /// `host.send_jitter`.
    pub(super) send_jitter: SendJitter,
}

/// The key that lists the schemes.
#[derive(Keys)]
pub(super) struct SchemeList {
    /// The compared schemes, in order: shipped ones, those that `[scheme.NAME]` declares, or paths of scheme files.
    #[key(required = "schemes = [\"dctcp\", \"pias\"]", form = NonEmpty, names = "scheme")]
    schemes: Vec<String>,
}

/// Reads the schemes listed in `schemes`, each with its overrides.
pub(super) fn read(keys: &mut KeyReader<'_>, sources: &mut Sources) -> ReadSchemes {
    let list = keys.field("schemes");
    let stated = keys.read::<SchemeList>();
    let (keys, found) = keys.split_mut();
    let inline = keys.take("scheme");
    let equipment = equipment::read(keys);
    let own = inline.as_ref().and_then(|field| found.keep(field.table().map(|_| field)));
    let items = stated.and(list).and_then(|list| list.list().ok());
    let mut equipment = found.keep(equipment).unwrap_or_default();
    let send_jitter = equipment.send_jitter;
    let Some(items) = items else { return ReadSchemes { names: None, schemes: Vec::new(), send_jitter } };
    let mut names: IndexSet<&str> = IndexSet::new();
    let mut all_known = inline.is_none() == own.is_none();
    let count = items.len();
    let schemes = found.each(&items, |item| {
        let name = item.text().and_then(|text| listed(item, text, own));
        let (name, text) = name.inspect_err(|_| all_known = false)?;
        if !names.insert(name) {
            return Err(item.error(format!("the scheme {name:?} is listed twice"), "each scheme once"));
        }
        let own = own.and_then(|field| field.inner(name));
        one(item, text, own.as_ref(), SchemeContext { equipment: &mut equipment, sources })
    });
    if schemes.len() == count {
        found.keep(equipment.finish());
    }
    if !all_known || names.len() < count {
        return ReadSchemes { names: None, schemes, send_jitter };
    }
    let inline = own.map_or(Ok(Vec::new()), Field::entries);
    let inline = found.keep(inline).unwrap_or_default();
    let not_listed = inline.iter().filter(|(key, _)| !names.contains(key));
    found.each(not_listed, |(key, field)| {
        let names: Vec<&str> = names.iter().copied().collect();
        Err::<(), _>(field.no_such(key, &names))
    });
    ReadSchemes { names: Some(names.iter().map(|&name| name.to_owned()).collect()), schemes, send_jitter }
}

/// Returns the name and text of an item of `schemes`, if the name is valid.
fn listed<'a>(
    item: &Field<'_>,
    text: &'a str,
    own: Option<&Field<'_>>,
) -> Result<(&'a str, &'a str), InputError> {
    let name = name_of(text);
    if !is_name(name, Alphabet::Hyphen, LONGEST_NAME) {
        let what = format!("{name:?} is not a valid name of a scheme");
        return Err(item.error(what, Alphabet::Hyphen.rule(LONGEST_NAME)));
    }
    let known = is_path(text)
        || scheme::shipped_tree(text).is_some()
        || own.is_some_and(|field| field.inner(name).is_some());
    if known { Ok((name, text)) } else { Err(unknown(item, text)) }
}

/// Returns the name of a scheme; for a path, the file name without its extension.
pub fn name_of(text: &str) -> &str {
    if is_path(text) { Path::new(text).file_stem().and_then(|s| s.to_str()).unwrap_or(text) } else { text }
}

fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

/// State shared by all schemes of an experiment.
struct SchemeContext<'a> {
    equipment: &'a mut Equipment,
    sources: &'a mut Sources,
}

fn one(
    item: &Field<'_>,
    text: &str,
    own: Option<&Field<'_>>,
    SchemeContext { equipment, sources }: SchemeContext<'_>,
) -> Result<NamedScheme, InputError> {
    let name = name_of(text).to_owned();
    let own_table = own.map(table).transpose()?;
    let base_name = own_table.and_then(|t| t.get("base"));
    let (mut tree, mut origin) = if is_path(text) {
        let content = sources.read(item, text, SIZE_LIMIT)?;
        (parse(text, &content)?, Origin { file: text.into(), line: Some(1) })
    } else {
        match (base_name, scheme::shipped_tree(text), own) {
            (Some(node), ..) => base(node, &name, sources)?,
            (None, Some(tree), _) => (tree?.clone(), shipped_origin(text)),
            (None, None, Some(field)) => (Table::default(), field.origin().clone()),
            (None, None, None) => return Err(unknown(item, text)),
        }
    };
    let path = if is_path(text) { String::new() } else { format!("scheme.{name}") };
    let mut overrides = own_table.cloned().unwrap_or_default();
    overrides.remove("base");
    equipment.apply(&mut tree, &overrides);
    tree.merge(&overrides, &scheme::MERGE);
    origin = own.map_or(origin, |field| field.origin().clone());
    let mut scheme = scheme::read(&tree, &path, &origin)?;
    open(&mut scheme, (&tree, &path), sources)?;
    Ok(NamedScheme { name, scheme, tree, origin })
}

/// Reads the code of parts that is in files. `tree` is the table of the scheme, at `path` of the file.
fn open(scheme: &mut Scheme, (tree, path): (&Table, &str), sources: &mut Sources) -> Result<(), InputError> {
    for (row, code) in scheme.file_codes() {
        let Some(node) = tree.get(row) else { continue };
        let field = Field::new(if path.is_empty() { row.to_owned() } else { format!("{path}.{row}") }, node);
        let named = field.inner("class");
        let text = sources.read(named.as_ref().unwrap_or(&field), &code.path(), SIZE_LIMIT)?;
        let table = field.table()?;
        code.open(&text).map_err(|mistake| keys::Table::refuse(&table, mistake))?;
    }
    Ok(())
}

fn table<'a>(field: &Field<'a>) -> Result<&'a Table, InputError> {
    match field.value() {
        Value::Table(table) => Ok(table),
        other => {
            Err(field.error(format!("the value is {}", other.kind()), "a table of changes to the scheme"))
        }
    }
}

/// Reads the scheme that `base` names: a shipped one, or a scheme file.
fn base(node: &Node, name: &str, sources: &mut Sources) -> Result<(Table, Origin), InputError> {
    named(&Field::new(format!("scheme.{name}.base"), node), sources)
}

/// Returns the transport in `table` with the keys of the scheme that its key `base` names, a shipped one or a scheme file;
/// `None` without that key. `key` is that of the table.
pub(super) fn based_transport(
    table: &Table,
    key: &str,
    sources: &mut Sources,
) -> Result<Option<Table>, InputError> {
    let Some(node) = table.get("base") else { return Ok(None) };
    let (scheme, _) = named(&Field::new(format!("{key}.base"), node), sources)?;
    let mut transport = match scheme.get("transport").map(|node| &node.value) {
        Some(Value::Table(transport)) => transport.clone(),
        _ => Table::default(),
    };
    let mut own = table.clone();
    own.remove("base");
    transport.merge(&own, &scheme::TRANSPORT_MERGE);
    Ok(Some(transport))
}

/// Reads the scheme that `field` names: a shipped one, or a scheme file.
fn named(field: &Field<'_>, sources: &mut Sources) -> Result<(Table, Origin), InputError> {
    let text = field.text()?;
    if is_path(text) {
        let content = sources.read(field, text, SIZE_LIMIT)?;
        return Ok((parse(text, &content)?, Origin { file: text.into(), line: Some(1) }));
    }
    match scheme::shipped_tree(text) {
        Some(tree) => Ok((tree?.clone(), shipped_origin(text))),
        None => Err(unknown(field, text)),
    }
}

fn shipped_origin(name: &str) -> Origin {
    Origin { file: format!("schemes/{name}.toml").into(), line: Some(1) }
}

fn unknown(field: &Field<'_>, text: &str) -> InputError {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let mut error = field.no_such(text, &names);
    error.what = format!("unknown scheme {:?}", text.chars().take(60).collect::<String>());
    if error.fix.ends_with('?') {
        error.fix.push_str(" Or use the path of a scheme file");
    } else {
        let list = "`priolane list schemes` shows those that are";
        error.fix = format!(
            "No scheme of that name is built in; {list}. Write one of them, or the path of a scheme file"
        );
    }
    error
}
