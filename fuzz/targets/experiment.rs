//! Experiment files: a plan, or one legible message.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use priolane_lab::plan::{self, Options};

fuzz_target!(|text: &str| {
    // Files that the text names are not there, but for shipped ones.
    if let Err(error) = plan::from_text("x.toml", text, Path::new("/none"), &Options::default()) {
        assert!(!error.what.is_empty() && !error.fix.is_empty());
        assert!(error.to_string().lines().all(|line| line.len() < 1_000));
    }
});
