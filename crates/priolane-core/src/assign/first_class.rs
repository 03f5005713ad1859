//! Classes in which flows begin, by the name of their group: a ladder by bytes sent for each tenant.
//!
//! ```text
//! class of a packet = first[group of the flow] + level by bytes sent
//! ```

use crate::ids::{CLASSES, Class};
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// A class for each named group, in the order of names: `{ batch = 1, web = 0 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstClasses(Vec<(String, Class)>);

impl FirstClasses {
    /// Returns the class in which flows of `group` begin: 0 for a group that is not named.
    pub fn of(&self, group: &str) -> Class {
        self.0.iter().find(|(name, _)| name == group).map_or(0, |&(_, class)| class)
    }

    /// Returns the named groups with their classes, in the order of names.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Class)> {
        self.0.iter().map(|(name, class)| (name.as_str(), *class))
    }

    /// Returns the largest class.
    pub fn largest(&self) -> Class {
        self.0.iter().map(|&(_, class)| class).max().unwrap_or(0)
    }
}

impl KeyValue for FirstClasses {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { web = 0, batch = 1 }"));
        };
        if entries.is_empty() {
            return Err(KeyError::new("no group is named", "a table such as { web = 0, batch = 1 }"));
        }
        let mut by_name = Vec::new();
        let mut wrong = Vec::new();
        for (name, value) in entries {
            match Class::read(value, bounds) {
                Ok(class) => by_name.push(((*name).to_owned(), class)),
                Err(error) => wrong.push(KeyError::Key((*name).to_owned(), Box::new(error))),
            }
        }
        by_name.sort();
        match wrong.len() {
            0 => Ok(Self(by_name)),
            1 => Err(wrong.remove(0)),
            _ => Err(KeyError::Several(wrong)),
        }
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::Table(self.0.iter().map(|(name, class)| (name.clone(), class.write())).collect())
    }

    fn schema() -> Schema {
        Schema::Map("web", Box::new(Class::schema()))
    }
}

/// Returns the first of `groups` whose flows would be demoted beyond the last class by `levels` levels.
pub(super) fn beyond(first: &FirstClasses, levels: u8) -> Option<(&str, usize)> {
    let last = |class: Class| usize::from(class) + usize::from(levels) - 1;
    first.entries().map(|(name, class)| (name, last(class))).find(|&(_, last)| last >= CLASSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &Value<'_>) -> Result<FirstClasses, KeyError> {
        FirstClasses::read(value, &Bounds::ANY)
    }

    #[test]
    fn groups_that_are_not_named_begin_in_the_first_class() {
        let named = Value::Table(vec![("web", Value::Integer(0)), ("batch", Value::Integer(2))]);
        let first = read(&named).unwrap();
        assert_eq!((first.of("web"), first.of("batch"), first.of("other"), first.largest()), (0, 2, 0, 2));
        // The order of a file is none of the value: ids of runs do not depend on it.
        let turned = Value::Table(vec![("batch", Value::Integer(2)), ("web", Value::Integer(0))]);
        assert_eq!(read(&turned).unwrap(), first);
    }

    #[test]
    fn each_wrong_class_has_a_message() {
        let wrong = Value::Table(vec![("web", Value::Integer(-1)), ("batch", Value::Text("last"))]);
        let Err(KeyError::Several(both)) = read(&wrong) else { panic!("two mistakes") };
        assert!(matches!(&both[0], KeyError::Key(name, _) if name == "web"), "{both:?}");
        assert!(read(&Value::Table(vec![])).is_err() && read(&Value::Integer(1)).is_err());
    }

    #[test]
    fn the_last_level_of_every_group_has_a_class() {
        let first = FirstClasses(vec![("batch".to_owned(), 13), ("web".to_owned(), 0)]);
        // Levels 0, 1 and 2 from class 13 on are 13, 14 and 15; a fourth would be 16.
        assert_eq!(beyond(&first, 3), None);
        assert_eq!(beyond(&first, 4), Some(("batch", 16)));
    }
}
