//! Former names of keys: files may use them for one minor version, with a warning that states the new name.

use priolane_source::{InputError, Node, Origin, Table, Value};

/// A key of one kind of a row that was renamed.
struct RenamedKey {
    row: &'static str,
    kind: &'static str,
    former: &'static str,
    name: &'static str,
}

const fn renamed([row, kind]: [&'static str; 2], former: &'static str, name: &'static str) -> RenamedKey {
    RenamedKey { row, kind, former, name }
}

const RENAMED_KEYS: [RenamedKey; 3] = [
    renamed(["transport", "homa"], "unscheduled", "unscheduled_classes"),
    renamed(["transport", "homa"], "scheduled", "scheduled_classes"),
    renamed(["transport", "top"], "unscheduled", "unscheduled_packets"),
];

/// Gives the keys of `scheme` their present names. A row without a kind has that of `base`. Returns a warning per
/// renamed key.
///
/// # Errors
/// A key is set under both names.
pub(crate) fn rename(scheme: &mut Table, base: &Table) -> Result<Vec<String>, InputError> {
    let mut warnings = Vec::new();
    for key in RENAMED_KEYS {
        let kind = kind(scheme, key.row).or_else(|| kind(base, key.row));
        if kind != Some(key.kind) {
            continue;
        }
        let Some(row) = scheme.get_mut(key.row).and_then(as_table_mut) else { continue };
        let Some(node) = row.remove(key.former) else { continue };
        let path = format!("{}.{}", key.row, key.former);
        if row.get(key.name).is_some() {
            let what = format!("the key is now named `{0}`, and `{0}` is also set", key.name);
            return Err(node.origin.error(&path, what, format!("only `{}`", key.name)));
        }
        warnings.push(warning(&node.origin, &path, key.name));
        row.set(key.name, node);
    }
    Ok(warnings)
}

fn kind<'t>(scheme: &'t Table, row: &str) -> Option<&'t str> {
    let Value::Table(row) = &scheme.get(row)?.value else { return None };
    match &row.get("kind")?.value {
        Value::Text(kind) => Some(kind),
        _ => None,
    }
}

fn as_table_mut(node: &mut Node) -> Option<&mut Table> {
    match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn warning(at: &Origin, path: &str, name: &str) -> String {
    let line = at.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!(
        "{}{line}: {path} is now named `{name}`; the former name will be removed in the next minor version",
        at.file
    )
}

#[cfg(test)]
mod tests {
    use priolane_source::parse;

    use super::*;

    const BASE: &str = "transport = { kind = \"homa\", unscheduled_classes = 1 }";

    fn read(text: &str) -> Table {
        parse("own.toml", text).unwrap()
    }

    fn keys(scheme: &Table) -> Vec<String> {
        let Value::Table(row) = &scheme.get("transport").unwrap().value else { panic!("a table") };
        row.entries().map(|(key, _)| key.to_owned()).collect()
    }

    #[test]
    fn a_former_name_is_replaced_with_a_warning() {
        let mut own = read("\ntransport.unscheduled = 2\ntransport.scheduled = 6");
        let warnings = rename(&mut own, &read(BASE)).unwrap();
        assert_eq!(keys(&own), ["unscheduled_classes", "scheduled_classes"]);
        assert_eq!(
            warnings[0],
            "own.toml:2: transport.unscheduled is now named `unscheduled_classes`; the former name will be removed \
             in the next minor version"
        );
        assert_eq!(warnings.len(), 2);
    }

    #[test]
    fn a_key_belongs_to_the_kind_that_the_scheme_states_last() {
        let mut own = read("transport = { kind = \"top\", unscheduled = 4 }");
        assert_eq!(rename(&mut own, &read(BASE)).unwrap().len(), 1);
        assert_eq!(keys(&own), ["kind", "unscheduled_packets"]);
        let mut other = read("transport = { kind = \"phost\", unscheduled = 4 }");
        assert_eq!(rename(&mut other, &read(BASE)).unwrap(), Vec::<String>::new());
        assert_eq!(keys(&other), ["kind", "unscheduled"]);
    }

    #[test]
    fn both_names_are_an_error() {
        let mut own = read("[transport]\nunscheduled_classes = 2\nunscheduled = 2");
        let error = rename(&mut own, &read(BASE)).unwrap_err();
        assert_eq!((error.line, error.key.as_str()), (Some(3), "transport.unscheduled"));
        assert!(error.what.contains("`unscheduled_classes` is also set"), "{}", error.what);
    }
}
