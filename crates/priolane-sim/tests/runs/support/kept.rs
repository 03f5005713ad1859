//! Kept digests: an outcome in sixteen digits, and the files that hold those of many runs.

use std::fmt::{self, Debug, Write as _};
use std::fs;
use std::path::Path;

use priolane_sim::outcome::Outcome;

use super::physics;

/// The variable that makes a test rewrite its file.
const WRITE: &str = "PRIOLANE_KEPT";

/// The 64-bit FNV-1a hash of a text that is written in parts.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

/// Lists that outcomes got after digests were kept, as `Debug` writes empty ones: they do not change a digest.
const LATER: [&str; 1] = [", storms: []"];

/// The digest of all fields of `value`, as `Debug` writes them.
pub fn digest_of(value: &impl Debug) -> String {
    let text = LATER.iter().fold(format!("{value:?}"), |text, later| text.replace(later, ""));
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write_str(&text).expect("a hash takes any text");
    format!("{:016x}", hash.0)
}

/// The digest of what a run leaves, on either engine: every field of every record.
pub fn digest(outcome: Outcome) -> String {
    let outcome = physics(outcome);
    let flows: Vec<_> = outcome.flows.iter().collect();
    digest_of(&(flows, Outcome { flows: Default::default(), ..outcome }))
}

/// Compares `lines` with the file `name` of `tests/kept`, or writes it.
pub fn assert_kept(name: &str, lines: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept").join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var(WRITE).is_ok_and(|value| value == "write") {
        return fs::write(&path, text).expect("the folder exists");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differ: Vec<&str> = text.lines().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    assert!(
        differ.is_empty() && kept.lines().count() == lines.len(),
        "{} of {} lines differ from {}: {:?}. If results are meant to change, see the top of \
         crates/priolane-lab/tests/runs/fingerprints.rs, and write this file with {WRITE}=write",
        differ.len(),
        lines.len(),
        path.display(),
        &differ[..differ.len().min(9)],
    );
}
