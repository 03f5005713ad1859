//! Arrays of tables.

use priolane_source::{Field, InputError, Value};

/// Returns the items of the array of tables `name`.
///
/// # Errors
/// The value is not a list.
pub(super) fn array<'a>(name: &str, field: &Field<'a>) -> Result<Vec<Field<'a>>, InputError> {
    match field.value() {
        Value::Table(_) => {
            Err(field.error("the value is a table", format!("Write [[{name}]] in place of [{name}]")))
        }
        _ => field.list(),
    }
}

/// Returns the items of the array of tables `name`, which must have at least one.
///
/// # Errors
/// The value is not a list, or is empty.
pub(super) fn filled_array<'a>(name: &str, field: &Field<'a>) -> Result<Vec<Field<'a>>, InputError> {
    array(name, field)?;
    field.filled_list()
}
