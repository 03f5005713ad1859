//! What a run leaves on disk: tables, `run.json`, and the directory that holds them.

pub mod admission;
pub mod bills;
pub mod cell;
pub mod checksum;
pub mod coflows;
pub mod column;
pub mod compare;
pub mod digest;
pub mod flows;
pub mod ports;
pub mod record;
pub mod rows;
pub mod series;
pub mod source;
pub mod store;
pub mod summary;
pub mod tables;
pub mod tokens;

#[cfg(test)]
#[path = "../../tests/fixture/mod.rs"]
#[allow(unreachable_pub, missing_docs, reason = "shared with integration tests")]
pub(crate) mod fixture;

#[cfg(test)]
mod tests;
