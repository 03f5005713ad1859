//! Changes a tree by dotted keys, for sweeps, `--set`, `[quick]` and `[full]`.
//!
//! A segment after a list selects the item of that `name` (`group.all.load.value`). A segment that contains a dot is
//! quoted (`scheme.dctcp.port.ecn.at."2.5Gbps"`).

use std::collections::HashSet;

use priolane_core::name::{Alphabet, is_name};
use priolane_source::{InputError, Merge, Mistakes, Node, Origin, Table, Value};

use super::{MERGE, group};

/// Returns the segments of a dotted key; `None` if one is empty or a quote is not closed.
pub fn segments(key: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut rest = key;
    loop {
        let (segment, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if segment.is_empty() || all.len() == 16 {
            return None;
        }
        all.push(segment.to_owned());
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None => return if after.is_empty() { Some(all) } else { None },
        }
    }
}

/// Sets the dotted `key` to `node`: tables are merged, other values replaced, and alternatives of the new keys removed.
pub fn set(root: &mut Table, key: &str, node: &Node) -> Result<(), InputError> {
    let path = segments(key).ok_or_else(|| {
        node.origin.error(key, "the key is not a dotted key", "a key such as group.all.load.value")
    })?;
    merge_at(root, &MERGE, Change { path: &path, key, node })
}

/// Sets each key to its value.
///
/// # Errors
/// Returns all errors of [`set`].
pub fn set_all<'n>(
    root: &mut Table,
    all: impl IntoIterator<Item = (&'n str, &'n Node)>,
) -> Result<(), InputError> {
    let all = in_order(all);
    let mut found = Mistakes::new(all.first().map_or("", |(_, node)| &node.origin.file));
    found.each(all, |(key, node)| set(root, key, node));
    found.finish()
}

/// Sorts keys that can remove others first, so that the result does not depend on the order in which they are written.
pub fn in_order<'n>(all: impl IntoIterator<Item = (&'n str, &'n Node)>) -> Vec<(&'n str, &'n Node)> {
    let (mut first, then): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, _)| decides(key));
    first.extend(then);
    first
}

/// Whether setting `key` may remove other keys.
fn decides(key: &str) -> bool {
    let path = segments(key).unwrap_or_default();
    let Some((last, parents)) = path.split_last() else { return false };
    let mut merge = &MERGE;
    let mut parents = parents.iter();
    while let Some(segment) = parents.next() {
        merge = merge.under(segment);
        if segment == "group" {
            parents.next();
        }
    }
    merge.decides(last)
}

/// A value to set in a tree, and its position.
#[derive(Clone, Copy)]
struct Change<'c> {
    /// The remaining segments.
    path: &'c [String],
    /// The complete key as written, for messages.
    key: &'c str,
    node: &'c Node,
}

fn merge_at(table: &mut Table, merge: &Merge, change: Change<'_>) -> Result<(), InputError> {
    let Change { path, key, node } = change;
    let (segment, rest) = path.split_first().expect("invariant: a key has at least one segment");
    let inner = merge.under(segment);
    match table.get_mut(segment) {
        Some(Node { value: Value::Table(here), .. }) if !rest.is_empty() => {
            merge_at(here, inner, Change { path: rest, ..change })
        }
        Some(Node { value: Value::List(items), .. }) if !rest.is_empty() => {
            let name = &rest[0];
            let item = items.iter_mut().find(|item| is_named(item, name));
            match (item, &rest[1..]) {
                (Some(item), []) => {
                    item.merge(node, inner);
                    Ok(())
                }
                (Some(Node { value: Value::Table(here), .. }), rest) => {
                    merge_at(here, inner, Change { path: rest, ..change })
                }
                _ => Err(no_item(node, key, segment, name)),
            }
        }
        Some(other) if !rest.is_empty() => {
            let what = format!("`{segment}` is {}, so it has no keys", other.value.kind());
            Err(node.origin.error(key, what, "the dotted key of a value of this file"))
        }
        _ => {
            let within = |node: Node, segment: &String| {
                let origin = node.origin.clone();
                let table = std::iter::once((segment.clone(), node)).collect();
                Node { origin, value: Value::Table(table) }
            };
            let stated = rest.iter().rev().fold(node.clone(), within);
            let alone: Table = std::iter::once((segment.clone(), stated)).collect();
            table.merge(&alone, merge);
            Ok(())
        }
    }
}

impl Axis {
    /// Whether its values set several keys each and have labels.
    pub(crate) fn is_labelled(&self) -> bool {
        self.values.iter().any(|value| label(value).is_some())
    }

    /// Keeps only the value with the label `wanted`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub(crate) fn keep_label(&mut self, wanted: &Node) -> Result<(), InputError> {
        let wanted_json = wanted.value.to_json();
        let labels: Vec<String> =
            self.values.iter().filter_map(label).map(|node| node.value.to_json().to_string()).collect();
        let is_wanted = |value: &&Node| label(value).is_some_and(|node| node.value.to_json() == wanted_json);
        let kept: Vec<Node> = self.values.iter().filter(is_wanted).cloned().collect();
        if kept.is_empty() {
            let what = format!("the sweep has no point with the label {wanted_json}");
            return Err(wanted.origin.error(&self.key, what, format!("one of {}", labels.join(", "))));
        }
        self.values = kept;
        Ok(())
    }
}

/// Returns the `label` of a swept table that sets several keys together.
pub(crate) fn label(node: &Node) -> Option<&Node> {
    match &node.value {
        Value::Table(table) => table.get(LABEL),
        _ => None,
    }
}

/// The key of a [`label`].
const LABEL: &str = "label";

/// Sets a value of the swept `key`; a value with a label sets each of its other keys, which are dotted.
pub(crate) fn set_point(root: &mut Table, key: &str, node: &Node) -> Result<(), InputError> {
    match &node.value {
        Value::Table(together) if label(node).is_some() => {
            set_all(root, together.entries().filter(|&(key, _)| key != LABEL))
        }
        _ => set(root, key, node),
    }
}

fn no_item(node: &Node, key: &str, list: &str, name: &str) -> InputError {
    let what = format!("unknown {list} {name:?}");
    node.origin.error(key, what, format!("{list}.NAME.key with the name of a {list} of the file"))
}

fn is_named(item: &Node, name: &str) -> bool {
    let Value::Table(table) = &item.value else { return false };
    matches!(table.get("name").map(|n| &n.value), Some(Value::Text(text)) if text == name)
}

/// Replaces each `KEY = { like = "NAME", ... }` of a group by the KEY of the group NAME with the other keys merged over
/// it. Multiplies the `value` of each load by its `part`, its fraction of the load of all such groups.
pub fn follow(root: &mut Table) -> Result<(), InputError> {
    let Some(Node { value: Value::List(groups), .. }) = root.get_mut("group") else { return Ok(()) };
    let before = groups.clone();
    for group in groups {
        let Value::Table(group) = &mut group.value else { continue };
        let keys: Vec<String> = group.entries().map(|(key, _)| key.to_owned()).collect();
        for key in keys {
            let node = group.get_mut(&key).expect("invariant: one of its keys");
            copy_from_group(&key, node, &before)?;
            part(&key, node)?;
        }
    }
    Ok(())
}

fn copy_from_group(key: &str, node: &mut Node, groups: &[Node]) -> Result<(), InputError> {
    let Value::Table(own) = &mut node.value else { return Ok(()) };
    let Some(like) = own.remove("like") else { return Ok(()) };
    let named = match &like.value {
        Value::Text(name) => groups.iter().find(|group| is_named(group, name)),
        _ => None,
    };
    let theirs = named.and_then(|group| match &group.value {
        Value::Table(table) => table.get(key),
        _ => None,
    });
    let follows = |theirs: &&Node| matches!(&theirs.value, Value::Table(t) if t.get("like").is_some());
    let Some(theirs) = theirs.filter(|theirs| !follows(theirs)) else {
        let what = format!("no group of that name has its own `{key}`");
        return Err(like.origin.error(
            &format!("group.{key}.like"),
            what,
            "the name of a group with its own key",
        ));
    };
    let mut merged = theirs.clone();
    if !own.is_empty() {
        merged.merge(node, group::MERGE.under(key));
    }
    *node = merged;
    Ok(())
}

fn part(key: &str, node: &mut Node) -> Result<(), InputError> {
    let (Value::Table(load), "load") = (&mut node.value, key) else { return Ok(()) };
    let Some(part) = load.remove("part") else { return Ok(()) };
    let number = |value: &Value| match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    let share = number(&part.value).filter(|share| *share > 0.0 && *share <= 1.0);
    let Some(share) = share else {
        let fix = "a share above 0 and at most 1, such as 0.5";
        return Err(part.origin.error("group.load.part", "the value is not a part of a load", fix));
    };
    if let Some(value) = load.get_mut("value")
        && let Some(whole) = number(&value.value)
    {
        value.value = Value::Float(whole * share);
    }
    Ok(())
}

/// Returns the origin of the value at the dotted `key`, or of the innermost table around it.
pub(crate) fn locate(root: &Table, key: &str) -> Option<Origin> {
    let path = segments(key)?;
    let mut found = None;
    let mut table = root;
    let mut path = path.iter();
    while let Some(segment) = path.next() {
        let Some(here) = table.get(segment) else { break };
        found = Some(here.origin.clone());
        let inner = match &here.value {
            Value::List(items) => path.next().and_then(|name| items.iter().find(|item| is_named(item, name))),
            _ => Some(here),
        };
        let Some(Node { value: Value::Table(inner), origin }) = inner else { break };
        found = Some(if matches!(here.value, Value::List(_)) { origin.clone() } else { here.origin.clone() });
        table = inner;
    }
    found
}

/// Removes `[quick]` and `[full]` from `root` and applies the one named `wanted`.
pub(crate) fn apply_size(root: &mut Table, wanted: Option<&str>) -> Result<(), InputError> {
    for name in ["quick", "full"] {
        let Some(node) = root.remove(name) else { continue };
        let Value::Table(overrides) = &node.value else {
            return Err(node.origin.error(
                name,
                "the value is not a table",
                "dotted overrides such as \"time.measure\" = \"2s\"",
            ));
        };
        if wanted == Some(name) {
            set_all(root, overrides.entries())?;
        }
    }
    Ok(())
}

/// Maximum length of the name of an axis whose values have labels, in bytes.
const LONGEST_AXIS: usize = 100;

/// A swept key and its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The dotted key.
    pub key: String,
    /// Its values, at least one.
    pub values: Vec<Node>,
}

/// Removes `[sweep]` from `root` and returns its axes.
pub(crate) fn take_sweep(root: &mut Table) -> Result<Vec<Axis>, InputError> {
    let Some(node) = root.remove("sweep") else { return Ok(Vec::new()) };
    let mut axes = Vec::new();
    let mut found = Mistakes::new(&node.origin.file);
    match &node.value {
        Value::Table(table) => collect(table, "", &mut axes, &mut found),
        _ => found.add(node.origin.error(
            "sweep",
            "the value is not a table",
            "dotted keys and lists of values",
        )),
    }
    found.each(&axes, |axis| {
        let origin = axis.values.first().map_or(&node.origin, |value| &value.origin);
        sweepable(&axis.key, origin)?;
        if axis.is_labelled() && !is_name(&axis.key, Alphabet::HyphenAndDot, LONGEST_AXIS) {
            let what = "the name is not a valid name of a swept axis";
            let fix = Alphabet::HyphenAndDot.rule(LONGEST_AXIS);
            return Err(origin.error(&format!("sweep.{}", axis.key), what, fix));
        }
        for value in axis.values.iter().filter(|value| label(value).is_some()) {
            let Value::Table(together) = &value.value else { continue };
            together.entries().try_for_each(|(key, node)| sweepable(key, &node.origin))?;
        }
        Ok(())
    });
    found.finish()?;
    Ok(axes)
}

fn sweepable(key: &str, origin: &Origin) -> Result<(), InputError> {
    let first = segments(key).and_then(|path| path.into_iter().next()).unwrap_or_default();
    if !NOT_SWEPT.contains(&first.as_str()) {
        return Ok(());
    }
    let what = format!("`{first}` cannot be swept");
    Err(origin.error(&format!("sweep.{key}"), what, "a key of the network, traffic or a scheme"))
}

/// Keys that cannot be swept.
const NOT_SWEPT: [&str; 10] =
    ["title", "paper", "figure", "quote", "assumptions", "schemes", "seeds", "metrics", "panel", "claim"];

fn collect(table: &Table, path: &str, axes: &mut Vec<Axis>, found: &mut Mistakes) {
    for (key, node) in table.entries() {
        let full = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let wrong =
            |node: &Node, what: &str, fix| node.origin.error(&format!("sweep.{full}"), what.to_owned(), fix);
        match &node.value {
            Value::Table(inner) => collect(inner, &full, axes, found),
            Value::List(values) if values.is_empty() => {
                found.add(wrong(node, "the list is empty", "at least one value"));
            }
            Value::List(values) => {
                let mut seen = HashSet::with_capacity(values.len());
                match values.iter().find(|value| !seen.insert(value.value.to_json().to_string())) {
                    Some(twice) => found.add(wrong(twice, "a value is listed twice", "each value once")),
                    None => axes.push(Axis { key: full, values: values.clone() }),
                }
            }
            other => {
                let what = format!("the value is {}", other.kind());
                found.add(wrong(node, &what, "a list of values in brackets"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_source::{parse, parse_value};

    #[test]
    fn keys_reach_into_named_items_and_quoted_segments() {
        let text = "[[group]]\nname = \"all\"\nload = { value = 0.5 }\n[at]\n\"2.5Gbps\" = \"1pkt\"\n";
        let mut root = parse("f", text).unwrap();
        set(&mut root, "group.all.load.value", &parse_value("--set", "0.8")).unwrap();
        set(&mut root, "at.\"2.5Gbps\"", &parse_value("--set", "9pkt")).unwrap();
        let expected = "[[group]]\nname = \"all\"\nload = { value = 0.8 }\n[at]\n\"2.5Gbps\" = \"9pkt\"\n";
        let json = |t: Table| Value::Table(t).to_json();
        assert_eq!(json(root.clone()), json(parse("f", expected).unwrap()));
        assert!(set(&mut root, "group.some.load.value", &parse_value("--set", "1")).is_err());
        assert!(set(&mut root, "at..x", &parse_value("--set", "1")).is_err());
        assert_eq!(locate(&root, "group.all.fan_in").unwrap().line, Some(1));
    }

    #[test]
    fn a_class_of_flows_goes_by_the_class_asked_for_or_by_that_given() {
        let text = "[metrics.classes]\nH = { given = 0, group = \"all\" }\n";
        let laid = |value: &str| {
            let mut root = parse("f", text).unwrap();
            set(&mut root, "metrics.classes.H", &parse_value("--set", value)).unwrap();
            Value::Table(root).to_json()["metrics"]["classes"]["H"].to_string()
        };
        assert_eq!(laid("{ asked = 0 }"), r#"{"asked":0,"group":"all"}"#);
        assert_eq!(laid("{ asked = 0, given = 0 }"), r#"{"asked":0,"given":0,"group":"all"}"#);
    }
}
