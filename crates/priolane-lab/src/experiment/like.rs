//! `like`: the key that names the group from which a value is copied.

use priolane_source::Replace;

/// A value copied from another group replaces the previous one.
pub(super) const LIKE: Replace = Replace::Replaces("like");
