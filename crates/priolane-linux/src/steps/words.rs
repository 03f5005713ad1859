//! Commands from words.

use crate::plan::Step;

/// A command from words with spaces between them.
pub(super) fn run(words: &str) -> Step {
    Step::Run(words.split_whitespace().map(str::to_owned).collect())
}
