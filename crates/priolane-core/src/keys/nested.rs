//! Keys of a table that is itself the value of a key.

use super::{Bounds, Form, KeyConflict, KeyError, Keys, Pairs, Schema, Table, Value, WrittenValue};

/// A struct of keys as the value of one key: `ecn = { per = "port", at = { ... } }`.
#[derive(Clone, Copy, Debug)]
pub struct InTable;

impl<K: Keys> Form<K> for InTable {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<K, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { key = value }"));
        };
        let mut table = NestedTable { entries, read: Vec::new() };
        let keys = K::read(&mut table)?;
        match entries.iter().all(|(key, _)| table.read.contains(key)) {
            true => Ok(keys),
            false => Err(KeyError::Unknown(table.read)),
        }
    }

    fn write(keys: &K) -> WrittenValue {
        let mut pairs = Pairs::new();
        keys.write(&mut pairs);
        WrittenValue::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    fn schema() -> Schema {
        let mut keys = Vec::new();
        K::describe(&mut keys);
        Schema::Table(keys)
    }
}

/// A list of tables, each with the keys of one struct; at least one.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

impl<K: Keys> Form<Vec<K>> for Tables {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<K>, KeyError> {
        let Value::List(items) = value else { return Err(value.unfit("a list in brackets")) };
        if items.is_empty() {
            return Err(KeyError::new("the list is empty", "at least one item"));
        }
        let read =
            |(i, item)| InTable::read(item, bounds).map_err(|error| KeyError::Item(i, Box::new(error)));
        items.iter().enumerate().map(read).collect()
    }

    fn write(value: &Vec<K>) -> WrittenValue {
        WrittenValue::List(value.iter().map(InTable::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(<InTable as Form<K>>::schema()))
    }
}

/// A table in memory.
struct NestedTable<'v> {
    entries: &'v [(&'v str, Value<'v>)],
    /// The keys that were read.
    read: Vec<&'static str>,
}

impl Table for NestedTable<'_> {
    type Error = KeyError;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, KeyError> {
        self.read.push(key);
        let found = self.entries.iter().find(|(name, _)| *name == key);
        let of_key = |error| KeyError::Key(key.to_owned(), Box::new(error));
        found.map(|(_, value)| read(value.clone()).map_err(of_key)).transpose()
    }

    fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| *name == key)
    }

    fn expect(&mut self, keys: &[&'static str]) {
        self.read.extend(keys);
    }

    fn missing(&self, key: &'static str, example: &str) -> KeyError {
        KeyError::Missing { key, example: example.to_owned(), read: self.read.clone() }
    }

    fn refuse(&self, misfit: KeyConflict) -> KeyError {
        let wrong = KeyError::new(misfit.what, misfit.fix);
        let within = |inner, key: &str| KeyError::Key(key.to_owned(), Box::new(inner));
        match misfit.key.filter(|key| key.split('.').next().is_some_and(|first| self.has(first))) {
            Some(key) => key.rsplit('.').fold(wrong, within),
            None => wrong,
        }
    }
}

/// Keys of which a table has exactly one, and what is said if it has none or several.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'c> {
    /// The keys.
    pub keys: &'c [&'static str],
    /// An example of the first key.
    pub example: &'c str,
    /// The text to write where two keys are set.
    pub both: &'c str,
    /// The mistake and the text to write where not exactly one key is set; `{}` stands for the number of keys.
    pub count: Option<(&'c str, &'c str)>,
    /// The same where no key is set, if it differs.
    pub none: Option<(&'c str, &'c str)>,
    /// Whether a message about an unknown key lists all of the keys.
    pub all_known: bool,
    /// Whether the table may have none of the keys.
    pub optional: bool,
}

impl Choice<'_> {
    /// Returns the index of the only key that `table` has; `None` if it has none and may have none.
    ///
    /// # Errors
    /// The table has more than one of the keys, or none although it must have one.
    pub fn find<T: Table>(&self, table: &mut T) -> Result<Option<usize>, T::Error> {
        if self.all_known {
            table.expect(self.keys);
        }
        let stated: Vec<usize> = (0..self.keys.len()).filter(|&place| table.has(self.keys[place])).collect();
        let refuse = |(what, fix): (&str, &str)| {
            Err(table.refuse(KeyConflict::new(what.replace("{}", &stated.len().to_string()), fix)))
        };
        match (stated.as_slice(), self.count) {
            (&[place], _) => Ok(Some(place)),
            ([], _) if self.optional => Ok(None),
            ([], count) => match self.none.or(count) {
                Some(message) => refuse(message),
                None => Err(table.missing(self.keys[0], self.example)),
            },
            (_, Some(message)) => refuse(message),
            (&[first, second, ..], None) => {
                let [first, second] = [first, second].map(|place| self.keys[place]);
                let what = format!("both {first} and {second} are set");
                Err(table.refuse(KeyConflict::of(second, what, self.both)))
            }
        }
    }
}

/// Returns the index of the only one of `keys` that the table has; `example` shows how to write the first.
///
/// # Errors
/// The table has none of `keys`, or more than one.
pub fn only_one_of<T: Table>(table: &mut T, keys: &[&'static str], example: &str) -> Result<usize, T::Error> {
    let choice = Choice {
        keys,
        example,
        both: "only one of them",
        count: None,
        none: None,
        all_known: false,
        optional: false,
    };
    choice.find(table).map(|place| place.expect("invariant: one of the keys is required"))
}

/// Reads a table of keys, or a value of its key `key` alone.
///
/// # Errors
/// An error of the keys.
pub fn read_shorthand<K: Keys>(value: &Value<'_>, key: &'static str) -> Result<K, KeyError> {
    if matches!(value, Value::Table(_)) {
        return InTable::read(value, &Bounds::ANY);
    }
    let entries = [(key, value.clone())];
    K::read(&mut NestedTable { entries: &entries, read: Vec::new() }).map_err(|error| match error {
        KeyError::Key(name, inner) if name == key => *inner,
        other => other,
    })
}

/// Writes a table of keys, or the value of `key` if the table has no other.
pub fn write_shorthand<K: Keys>(keys: &K, key: &str) -> WrittenValue {
    let mut pairs = Pairs::new();
    keys.write(&mut pairs);
    match pairs.as_slice() {
        [(name, value)] if *name == key => value.clone(),
        _ => InTable::write(keys),
    }
}

/// Returns the schema of a table of the keys `K`, or of a value of `key`.
pub fn schema_with_shorthand<K: Keys>(key: &str) -> Schema {
    let mut keys = Vec::new();
    K::describe(&mut keys);
    let alone = keys.iter().find(|info| info.name == key).map(|info| info.schema.clone());
    match alone {
        Some(Schema::Words(words)) => Schema::OneOf(words, keys),
        Some(alone) => Schema::AnyOf(vec![alone, Schema::Table(keys)]),
        None => Schema::Table(keys),
    }
}

/// Reads one of `words`, or an enum of structs of keys from a table; `forms` lists all notations.
///
/// # Errors
/// The value is neither, or an error of the keys.
pub fn read_one_of<K: Keys + Clone>(
    value: &Value<'_>,
    words: &[(&'static str, K)],
    forms: &str,
) -> Result<K, KeyError> {
    match value {
        Value::Table(_) => InTable::read(value, &Bounds::ANY),
        Value::Text(text) => {
            let found = words.iter().find(|(word, _)| word == text);
            found.map(|(_, meant)| meant.clone()).ok_or_else(|| {
                KeyError::new(format!("unknown value {:?}", text.chars().take(60).collect::<String>()), forms)
            })
        }
        other => Err(other.unfit(forms)),
    }
}
