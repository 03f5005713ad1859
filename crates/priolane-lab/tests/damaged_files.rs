//! Files that chance has damaged: an error or a plan, never a panic, never a hang.

use std::path::Path;

use priolane_core::rng::{Purpose, Stream};
use priolane_lab::experiment::{self, Sources};
use priolane_lab::plan::{self, Options};
use priolane_lab::scheme::{self, SHIPPED};
use priolane_lab::source::{InputError, Origin, parse};

const EXPERIMENTS: [&str; 4] = [
    include_str!("../../../experiments/papers/nos2/fig6.toml"),
    include_str!("../../../experiments/papers/nos2/fig1.toml"),
    include_str!("../../../experiments/recipes/first.toml"),
    ALL_APPS,
];

/// Every app, control messages and a topology that the shipped experiments do not use.
const ALL_APPS: &str = r#"title = "All apps"
schemes = ["newreno", "own"]
tie_shuffle = 7
host_delay = "1us"
sample_every = "10us"
time = { flows = 20, limit = "1s" }
[topology]
kind = "fat_tree"
k = 4
paths = "pinned"
host_link = { rate = "10Gbps", delay = "1us", loss = 0.001 }
fabric_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "a"
hosts = "0-3,8"
to = "b"
app = "incast"
fan_in = 2
size = "64KiB"
period = "1ms"
epochs = "poisson"
[[group]]
name = "b"
hosts = 8
app = "permutation"
size = "1MB"
jitter = "5us"
[[group]]
name = "c"
hosts = "*"
app = "long_lived"
size = "endless"
pairs = { rule = "shift", by = 3 }
[[group]]
name = "d"
hosts = "*"
app = "long_lived"
size = "1MB"
class = 1
pairs = [{ src = 0, dst = 9, count = 2, path = 1 }]
[[group]]
name = "e"
hosts = "*"
app = "poisson"
reach = "other_racks"
sizes = { csv = "imc10", interpolation = "step", scale_to_mean = "100kB", max = "1MB" }
load = { of = "core", counts = "wire", value = 0.3 }
[[control]]
at = "1ms"
flow = 0
abort = true
[[control]]
at = "2ms"
flow = 1
class = 1
[scheme.newreno]
port = { kind = "strict", queues = 2 }
[scheme.own]
base = "pias"
port = { queues = 9 }
assign = { thresholds = { solver = "equal_split", from = "e" } }
host = { thresholds = { solver = "equal_split", from = "e" } }
"#;

/// Pieces that stand in such files, to be put where they do not belong.
const PIECES: [&str; 24] = [
    "\"",
    "'",
    "\"\"\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "#",
    "-1",
    "0",
    "1e400",
    "99999999999999999999",
    "nan",
    "1979-05-27",
    "\u{0}",
    "é",
    "[[group]]\n",
    "[sweep]\n",
    "\"unbounded\"",
];

/// `text` with a few random changes; the same for the same stream.
fn damaged(text: &str, stream: &mut Stream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=stream.below(3) {
        let at = stream.below(bytes.len() as u64 + 1) as usize;
        let until = (at + stream.below(12) as usize).min(bytes.len());
        match stream.below(6) {
            0 => drop(bytes.drain(at..until)),
            1 => bytes.truncate(at.max(1)),
            2 => {
                let other = stream.below(bytes.len() as u64) as usize;
                let copy = bytes[other..(other + 20).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            3 if at < bytes.len() => bytes[at] = stream.below(256) as u8,
            _ => {
                let piece = PIECES[stream.below(PIECES.len() as u64) as usize];
                drop(bytes.splice(at..until, piece.bytes()));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An error says something on one line of bounded length.
fn legible(error: &InputError, text: &str) {
    let shown = error.to_string();
    let good =
        !error.what.is_empty() && !error.fix.is_empty() && !shown.contains('\n') && shown.len() < 4_000;
    assert!(good, "{shown}\n---\n{text}");
}

/// Reads so many damaged experiments, and twice as many damaged schemes, drawn from the stream of `entity`.
fn read_damaged(experiments: usize, entity: u64) {
    let mut stream = Stream::new(1, Purpose::Pairs, entity);
    let mut count = [0usize; 2];
    let mut judge = |outcome: Result<(), InputError>, text: &str| match outcome {
        Ok(()) => count[0] += 1,
        Err(error) => {
            count[1] += 1;
            legible(&error, text);
        }
    };
    for round in 0..experiments {
        let text = damaged(EXPERIMENTS[round % EXPERIMENTS.len()], &mut stream);
        judge(read_experiment(&text), &text);
        for _ in 0..2 {
            let text = damaged(SHIPPED[round % SHIPPED.len()].1, &mut stream);
            let origin = Origin { file: "s.toml".into(), line: Some(1) };
            let read = parse("s.toml", &text).and_then(|tree| scheme::read(&tree, "", &origin));
            judge(read.map(drop), &text);
        }
    }
    // Neither is rare, or the damage would test nothing.
    let [read, refused] = count;
    assert!(read > experiments / 10 && refused > experiments, "{read} read, {refused} refused");
}

fn read_experiment(text: &str) -> Result<(), InputError> {
    let mut tree = parse("x.toml", text)?;
    ["sweep", "quick", "full"].into_iter().for_each(|key| drop(tree.remove(key)));
    experiment::read("x.toml", &tree, Sources::new("x.toml", Path::new("/none"))).map(drop)
}

#[test]
fn damaged_experiments_and_schemes_are_read_or_refused() {
    read_damaged(40_000, 1);
}

#[test]
#[ignore = "a million files take minutes: cargo test --test damaged_files -- --ignored"]
fn a_million_damaged_files_are_read_or_refused() {
    read_damaged(335_000, 4);
}

#[test]
fn undamaged_experiments_are_planned() {
    for text in EXPERIMENTS {
        if let Err(error) = plan::from_text("x.toml", text, Path::new("."), &Options::default()) {
            panic!("{error}");
        }
    }
}

#[test]
fn damaged_experiments_are_planned_or_refused() {
    let mut stream = Stream::new(1, Purpose::Pairs, 2);
    let mut planned = 0;
    for round in 0..2_000 {
        let text = damaged(EXPERIMENTS[round % EXPERIMENTS.len()], &mut stream);
        match plan::from_text("x.toml", &text, Path::new("/none"), &Options::default()) {
            Ok(_) => planned += 1,
            Err(error) => legible(&error, &text),
        }
    }
    assert!(planned > 100, "{planned}");
}

#[test]
fn random_bytes_are_refused() {
    let mut stream = Stream::new(1, Purpose::Pairs, 3);
    for _ in 0..80_000 {
        let length = stream.below(120);
        let bytes: Vec<u8> = (0..length).map(|_| (stream.below(96) + 31) as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        legible(&read_experiment(&text).unwrap_err(), &text);
    }
}
