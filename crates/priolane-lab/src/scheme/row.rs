//! What the rows of a scheme have in common: how one is read, and which keys two of its kinds share.

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

/// Whether two kinds of `row` have `key` in one group of keys. A group without a name is that of one kind only.
pub(super) fn same_group(row: Row, kinds: [&str; 2], key: &str) -> bool {
    share(ENTRIES.iter().filter(|entry| entry.row == row), kinds, key)
}
