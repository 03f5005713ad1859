//! Commands that make a testbed, as lists of arguments.

mod ip;
mod tc;

pub(crate) use ip::{addresses, cables, namespaces, routes};
pub(crate) use tc::ports;

use crate::plan::Step;

/// A command from words with spaces between them.
fn run(words: &str) -> Step {
    Step::Run(words.split_whitespace().map(str::to_owned).collect())
}
