//! Flow size distributions.
