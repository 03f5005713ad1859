//! What a run leaves on disk: tables, `run.json`, and the directory that holds them.

pub mod admission;
pub mod bills;
pub mod checksum;
pub mod columns;
pub mod compare;
pub mod digest;
pub mod record;
pub mod rows;
pub mod store;
pub mod tables;
pub mod tokens;

#[cfg(test)]
#[path = "../../tests/fixture/mod.rs"]
#[allow(unreachable_pub, missing_docs, reason = "shared with integration tests")]
pub(crate) mod fixture;

#[cfg(test)]
mod tests;
