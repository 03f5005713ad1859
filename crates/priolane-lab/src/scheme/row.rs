//! Functions shared by the rows of a scheme: reading a row, and finding keys that two kinds share.

use priolane_core::keys::Keys;
use priolane_core::part::{Row, share};
use priolane_core::scheme::ENTRIES;
use priolane_source::{Field, InputError};

/// Reads the table of a row: `admit = { kind = "firapam", levels = 3, ... }`.
pub(super) fn read<K: Keys>(field: &Field<'_>) -> Result<K, InputError> {
    let mut keys = field.table()?;
    let read = K::read(&mut keys)?;
    keys.finish()?;
    Ok(read)
}

/// Whether two kinds of `row` have `key` in a common group of keys. An unnamed group belongs to one kind only.
pub(super) fn same_group(row: Row, kinds: [&str; 2], key: &str) -> bool {
    share(ENTRIES.iter().filter(|entry| entry.row == row), kinds, key)
}
