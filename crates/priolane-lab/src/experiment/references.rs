//! Checks that names in a table exist: each key declares what its texts are names of (`names = "group"`).

use priolane_core::keys::{KeyInfo, Keys, Schema};
use priolane_source::{Field, InputError, Mistakes};

/// The names that an experiment has.
pub(super) trait KnownNames {
    /// Checks that `name`, the text in `field`, is the name of a `noun`. What is checked elsewhere is accepted.
    ///
    /// # Errors
    /// There is no such name.
    fn known(&self, field: &Field<'_>, name: &str, noun: &str) -> Result<(), InputError>;
}

/// Adds to `found` the names in the table `field` that do not exist. Values that are no texts are left to the reader of
/// the keys `K`.
pub(super) fn check<K: Keys>(field: &Field<'_>, names: &impl KnownNames, found: &mut Mistakes) {
    let mut keys = Vec::new();
    K::describe(&mut keys);
    table(field, &keys, names, found);
}

fn table(field: &Field<'_>, keys: &[KeyInfo], names: &impl KnownNames, found: &mut Mistakes) {
    for key in keys {
        if let Some(inner) = field.inner(key.name) {
            value(&inner, &key.schema, names, found);
        }
    }
}

fn value(field: &Field<'_>, schema: &Schema, names: &impl KnownNames, found: &mut Mistakes) {
    match schema {
        Schema::Name(noun) => {
            if let Ok(name) = field.text() {
                found.keep(names.known(field, name, noun));
            }
        }
        Schema::OneOrMore(item) | Schema::List(item) => match field.list() {
            Ok(items) => items.iter().for_each(|one| value(one, item, names, found)),
            Err(_) if matches!(schema, Schema::OneOrMore(_)) => value(field, item, names, found),
            Err(_) => {}
        },
        Schema::Table(keys) | Schema::OneOf(_, keys) => table(field, keys, names, found),
        Schema::Map(_, inner) => {
            for (_, entry) in field.entries().unwrap_or_default() {
                value(&entry, inner, names, found);
            }
        }
        Schema::AnyOf(all) => all.iter().for_each(|one| value(field, one, names, found)),
        Schema::Bool
        | Schema::Integer
        | Schema::Number
        | Schema::Quantity(_)
        | Schema::Words(_)
        | Schema::Text
        | Schema::Any => {}
    }
}
