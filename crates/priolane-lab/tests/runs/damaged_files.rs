//! Files that chance has damaged: an error or a plan, never a panic, never a hang.

use std::path::{Path, PathBuf};

use priolane_core::rng::{Purpose, Stream};
use priolane_lab::experiment;
use priolane_lab::plan::{self, Options};
use priolane_lab::scheme::{self, SHIPPED};
use priolane_source::{InputError, Origin, Sources, parse};
use priolane_workload::flow_list;
use priolane_workload::import;

const EXPERIMENTS: [&str; 5] = [
    include_str!("../../../../study/papers/nos2/fig6/figure.toml"),
    include_str!("../../../../study/papers/nos2/fig1/figure.toml"),
    include_str!("../../../../experiments/recipes/first.toml"),
    include_str!("../fixture/all_apps.toml"),
    SMALLEST,
];

/// The folder that paths in experiments are relative to: that of the shipped ones with files of their own.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../study/papers/nos2/fig1")
}

/// Flow lists of other tools, and a topology.
const IMPORTS: [&str; 17] = [
    include_str!("../../../priolane-workload/tests/import_samples/hpcc_flow.txt"),
    HPCC_TOPOLOGY,
    include_str!("../../../priolane-workload/tests/import_samples/htsim.cm"),
    include_str!("../../../priolane-workload/tests/import_samples/yaps_nine.txt"),
    include_str!("../../../priolane-workload/tests/import_samples/yaps_eight.txt"),
    include_str!("../../../priolane-workload/tests/import_samples/aequitas.csv"),
    include_str!("../../../priolane-workload/tests/import_samples/coflow.txt"),
    include_str!("../../../priolane-workload/tests/import_samples/nfdump_old.csv"),
    include_str!("../../../priolane-workload/tests/import_samples/nfdump_new.csv"),
    include_str!("../../../priolane-workload/tests/import_samples/zeek_conn.log"),
    include_str!("../../../priolane-workload/tests/import_samples/vpc_default.txt"),
    include_str!("../../../priolane-workload/tests/import_samples/vpc_header.txt"),
    include_str!("../../../priolane-workload/tests/import_samples/sflow.csv"),
    include_str!("../../../priolane-workload/tests/import_samples/tshark.csv"),
    include_str!("../../../priolane-workload/tests/import_samples/zeek.json"),
    include_str!("../../../priolane-workload/tests/import_samples/goflow2.json"),
    include_str!("../../../priolane-workload/tests/import_samples/vpc.json"),
];

const HPCC_TOPOLOGY: &str = include_str!("../../../priolane-workload/tests/import_samples/hpcc_topology.txt");

/// All that an experiment must state: damage hits values oftener than in longer ones.
const SMALLEST: &str = r#"title = "Smallest"
schemes = ["newreno"]
time = { flows = 1 }
topology = { kind = "single_switch", hosts = 2, host_link = { rate = "1Gbps", delay = "1us" } }
group = [{ name = "a", hosts = 1, app = "flows", list = [{ src = 0, dst = 1, size = "1B", start = "0ns" }] }]
"#;

/// Pieces that stand in such files, to be put where they do not belong.
const PIECES: [&str; 21] = [
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
    "nan",
    "true",
    "1979-05-27",
    "\u{0}",
    "é",
    "[[group]]\n",
    "[sweep]\n",
    "\"unbounded\"",
];

/// Numbers at the ends of what types hold, and beyond.
const EXTREMES: [&str; 18] = [
    "0",
    "-1",
    "-0.0",
    "0.1",
    "1e-320",
    "1e308",
    "1e400",
    "inf",
    "16",
    "255",
    "256",
    "65536",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "0x7fffffffffffffff",
];

/// `text` with a few random changes, or, one time in 16, random bytes; the same for the same stream.
fn damaged(text: &str, stream: &mut Stream) -> String {
    if stream.below(16) == 0 {
        let bytes: Vec<u8> = (0..stream.below(120)).map(|_| stream.below(256) as u8).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=stream.below(3) {
        damage(&mut bytes, stream);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn damage(bytes: &mut Vec<u8>, stream: &mut Stream) {
    let at = stream.below(bytes.len() as u64 + 1) as usize;
    let until = (at + stream.below(12) as usize).min(bytes.len());
    match stream.below(8) {
        0 => drop(bytes.drain(at..until)),
        1 => bytes.truncate(at.max(1)),
        2 => {
            let other = stream.below(bytes.len() as u64 + 1) as usize;
            let copy = bytes[other..(other + 20).min(bytes.len())].to_vec();
            drop(bytes.splice(at..at, copy));
        }
        3 if at < bytes.len() => bytes[at] = stream.below(256) as u8,
        4..6 => {
            // The next number, its sign and unit left standing.
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            let start = bytes[at..].iter().position(is_digit).map_or(bytes.len(), |i| at + i);
            let length = bytes[start..].iter().take_while(|byte| is_digit(byte)).count();
            let extreme = EXTREMES[stream.below(EXTREMES.len() as u64) as usize];
            drop(bytes.splice(start..start + length, extreme.bytes()));
        }
        _ => {
            let piece = PIECES[stream.below(PIECES.len() as u64) as usize];
            drop(bytes.splice(at..until, piece.bytes()));
        }
    }
}

/// An error says something on one line of bounded length.
fn legible(error: &InputError, text: &str) {
    let shown = error.to_string();
    let good =
        !error.what.is_empty() && !error.fix.is_empty() && shown.lines().all(|line| line.len() < 1_000);
    assert!(good, "{shown}\n---\n{text}");
}

/// Streams of damage; each is worked through by a thread of its own.
const STREAMS: u64 = 4;

/// Damaged versions of a file.
fn rounds() -> usize {
    priolane_rounds::rounds(6_000, 1_000_000) as usize
}

/// Has `read` read many damaged versions of `texts`.
fn read_damaged(texts: &[&str], read: fn(&str) -> Result<(), InputError>) {
    let each = rounds() / STREAMS as usize;
    let accepted = |entity| {
        let mut stream = Stream::new(1, Purpose::Pairs, entity);
        let accepts = |round: usize| {
            let text = damaged(texts[round % texts.len()], &mut stream);
            read(&text).map_err(|error| legible(&error, &text)).is_ok()
        };
        (0..each).map(accepts).filter(|&accepted| accepted).count()
    };
    let accepted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..STREAMS).map(|entity| scope.spawn(move || accepted(entity))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // Neither is rare, or the damage would test nothing.
    assert!((rounds() / 50..rounds() / 2).contains(&accepted), "{accepted} of {} read", rounds());
}

fn read_experiment(text: &str) -> Result<(), InputError> {
    let mut tree = parse("x.toml", text)?;
    ["sweep", "quick", "full"].into_iter().for_each(|key| drop(tree.remove(key)));
    experiment::read("x.toml", &tree, Sources::new("x.toml", &folder())).map(drop)
}

fn read_scheme(text: &str) -> Result<(), InputError> {
    let origin = Origin { file: "s.toml".into(), line: Some(1) };
    scheme::read(&parse("s.toml", text)?, "", &origin).map(drop)
}

#[test]
fn damaged_experiments_are_read_or_refused() {
    read_damaged(&EXPERIMENTS, read_experiment);
}

#[test]
fn damaged_schemes_are_read_or_refused() {
    let schemes: Vec<&str> = SHIPPED.iter().map(|(_, text)| *text).collect();
    read_damaged(&schemes, read_scheme);
}

/// Imports a text; what is left of it is a list that can be read.
fn read_import(text: &str) -> Result<(), InputError> {
    if text.starts_with("5 1 4") {
        let bonds = [None, Some(import::Bond::Sum), Some(import::Bond::First)];
        let read = bonds.map(|bond| import::read_topology(&mut text.as_bytes(), "t.txt", bond).map(drop));
        return read.into_iter().collect();
    }
    let source = import::Source { file: "x.txt", format: None, network: None };
    let (imported, _) = import::read(text.as_bytes(), source, &import::Options::default())?;
    let extras = [
        flow_list::OptionalColumn::Class,
        flow_list::OptionalColumn::Coflow,
        flow_list::OptionalColumn::After,
    ];
    let mut list = Vec::new();
    let mut writer = flow_list::Writer::new(&mut list, &extras).unwrap();
    imported.rows.iter().for_each(|row| writer.row(row).unwrap());
    assert_eq!(flow_list::read_rows(list.as_slice(), "f.csv", imported.hosts).as_ref(), Ok(&imported.rows));
    Ok(())
}

#[test]
fn damaged_lists_of_others_are_imported_or_refused() {
    read_damaged(&IMPORTS, read_import);
}

#[test]
fn undamaged_experiments_are_planned() {
    for text in EXPERIMENTS {
        if let Err(error) = plan::from_text("x.toml", text, &folder(), &Options::default()) {
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
        match plan::from_text("x.toml", &text, &folder(), &Options::default()) {
            Ok(_) => planned += 1,
            Err(error) => legible(&error, &text),
        }
    }
    assert!(planned > 100, "{planned}");
}
