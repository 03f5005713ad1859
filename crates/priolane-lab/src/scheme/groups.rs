//! Which keys two kinds of a row have in common.

use priolane_core::part::Row;
use priolane_core::scheme::find;

/// Whether two kinds of `row` have `key` in one group of keys.
pub(super) fn same_group(row: Row, [old, new]: [&str; 2], key: &str) -> bool {
    let group = |kind| {
        let parameters = &find(row, kind)?.parameters;
        parameters.iter().find(|info| info.name == key).map(|info| info.group)
    };
    group(old).is_some() && group(old) == group(new)
}
