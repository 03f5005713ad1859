//! `like`: the key by which a value names the group that it is copied from.

use priolane_source::Replace;

/// A value that is copied from another group replaces the one that stood there.
pub(super) const LIKE: Replace = Replace::Replaces("like");
