//! Scheme files: a scheme that can be written and read again, or one legible message.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_lab::scheme::{self, Scheme};
use priolane_source::{InputError, Origin, Table, from_json, parse};

fn read(tree: &Table) -> Result<Scheme, InputError> {
    scheme::read(tree, "", &Origin { file: "s.toml".into(), line: Some(1) })
}

fuzz_target!(|text: &str| {
    match parse("s.toml", text).and_then(|tree| read(&tree)) {
        Ok(scheme) => {
            let json = serde_json::to_value(&scheme).expect("a scheme has a JSON form");
            let again = from_json("s.json", &json).and_then(|tree| read(&tree));
            assert_eq!(again.as_ref(), Ok(&scheme), "{json}");
        }
        Err(error) => {
            assert!(!error.what.is_empty() && !error.fix.is_empty());
            assert!(error.to_string().lines().all(|line| line.len() < 1_000));
        }
    }
});
