//! Commands that make a testbed, as lists of arguments.

mod ip;
mod tc;

use std::path::Path;

use crate::plan::{Plan, Step};

/// What makes the testbed of `plan`, in order. Files go below `directory`.
pub fn steps(plan: &Plan, directory: &Path) -> Vec<Step> {
    let mut steps = ip::namespaces(plan);
    steps.extend(ip::cables(plan));
    steps.extend(ip::addresses(plan));
    steps.extend(ip::routes(plan));
    steps.extend(tc::ports(plan, directory));
    steps
}

/// A command from words with spaces between them.
fn run(words: &str) -> Step {
    Step::Run(words.split_whitespace().map(str::to_owned).collect())
}
