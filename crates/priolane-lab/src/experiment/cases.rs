//! `[case.NAME]`: dotted overrides under a name, so that keys that belong together are swept as one (`sweep.case`).

use super::overlay;
use crate::source::{Field, InputError, Node, Table, Value};

/// The key of cases, and of the name of the one that applies.
const KEY: &str = "case";

/// The cases of a file.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    named: Vec<(String, Table)>,
}

impl Cases {
    /// Takes `[case.NAME]` out of `root`.
    pub fn take(root: &mut Table) -> Result<Self, InputError> {
        let Some(node) = root.get(KEY).cloned() else { return Ok(Self::default()) };
        let field = Field::new(KEY.to_owned(), &node);
        let mut named = Vec::new();
        for (name, case) in field.entries()? {
            let Value::Table(overrides) = case.value() else {
                return Err(
                    case.error("this is not a table", "dotted overrides such as \"time.measure\" = \"2s\"")
                );
            };
            named.push((name.to_owned(), overrides.clone()));
        }
        root.remove(KEY);
        Ok(Self { named })
    }

    /// Lays the case that `case` names in `root` over it, if it names one.
    pub fn lay(&self, root: &mut Table) -> Result<(), InputError> {
        let Some(node) = root.remove(KEY) else { return Ok(()) };
        for (key, value) in self.find(&node)?.entries() {
            overlay::set(root, key, value)?;
        }
        Ok(())
    }

    fn find(&self, node: &Node) -> Result<&Table, InputError> {
        let field = Field::new(KEY.to_owned(), node);
        let name = field.text()?;
        let found = self.named.iter().find(|(own, _)| own == name);
        found.map(|(_, overrides)| overrides).ok_or_else(|| {
            let names: Vec<&str> = self.named.iter().map(|(own, _)| own.as_str()).collect();
            field.no_such(name, &names)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{parse, parse_value};

    const FILE: &str = "a = 1\nb = 2\n[case.one]\na = 3\n\"c.d\" = 4\n[case.two]\nb = 5\n";

    fn laid(case: &str) -> Result<serde_json::Value, InputError> {
        let mut root = parse("f", FILE).unwrap();
        let cases = Cases::take(&mut root).unwrap();
        overlay::set(&mut root, KEY, &parse_value("--set", case))?;
        cases.lay(&mut root)?;
        Ok(Value::Table(root).to_json())
    }

    #[test]
    fn a_case_is_laid_over_the_file_and_leaves_no_trace() {
        assert_eq!(laid("one").unwrap(), serde_json::json!({ "a": 3, "b": 2, "c": { "d": 4 } }));
        assert_eq!(laid("two").unwrap(), serde_json::json!({ "a": 1, "b": 5 }));
        assert!(laid("three").unwrap_err().to_string().contains("three"));
        assert!(laid("7").is_err());
    }

    #[test]
    fn cases_are_tables_of_overrides() {
        let refused = |text: &str| Cases::take(&mut parse("f", text).unwrap()).unwrap_err().line;
        assert_eq!((refused("\ncase = 1\n"), refused("[case]\none = 1\n")), (Some(2), Some(2)));
    }
}
