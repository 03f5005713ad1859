//! The construction of commands from text.

use crate::plan::Step;

/// Returns the step for a command whose words are separated by spaces.
pub(super) fn run(words: &str) -> Step {
    Step::Run(words.split_whitespace().map(str::to_owned).collect())
}
