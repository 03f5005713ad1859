//! Detects the format of a text from its first lines.

use super::collect::digits;
use super::format::Format;
use super::{decimal, hpcc_topology, htsim_topology, nfdump, sflow, tshark, vpc};

/// A format, and how it was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The format.
    pub format: Format,
    /// The evidence for it; `None` if the user stated the format.
    pub from: Option<&'static str>,
}

/// Number of bytes of a text that are examined.
pub(super) const LOOKED_AT: usize = 64 * 1024;

/// Detects the format of a text that begins with `head`; an error says what it may be instead.
pub(super) fn guess(head: &[u8]) -> Result<Guess, &'static str> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(64).collect();
    if lines.iter().any(|line| line.starts_with("#fields\t") || line.starts_with("#separator")) {
        return found(Format::Zeek, "a Zeek header (#separator, #fields)");
    }
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with('#')).collect();
    let Some(&first) = lines.first() else { return Err("it has no content") };
    if first.starts_with(['{', '[']) {
        return of_json(first, text);
    }
    if lines.iter().any(|line| line.ends_with(" Conversations")) {
        return Err(
            "it looks like a table of conversations of tshark, whose bytes include headers and are rounded: print packets",
        );
    }
    if is_of_results(&lines) {
        return Err("it looks like completion times: `priolane import fct FILE -o theirs` reads them");
    }
    if first.split(',').any(|cell| cell.trim() == "start_ns") {
        return Err("it looks like a flow list of priolane, which needs no import");
    }
    if nfdump::is_header(first) {
        return found(Format::Nfdump, "a header with source, destination and bytes of records");
    }
    if tshark::is_header(first) {
        return found(Format::Tshark, "a header with frame.time_epoch");
    }
    if sflow::is_sflow(first) {
        return found(Format::Sflow, "fields of sflowtool");
    }
    if vpc::is_header(first) {
        return found(Format::Vpc, "a header with fields of flow logs");
    }
    if vpc::is_default_record(first) {
        return found(Format::Vpc, "fourteen fields, the last of which is a log status");
    }
    if vpc::is_record(first) {
        return found(Format::Vpc, "an action and a log status");
    }
    if lines.iter().any(|line| line.starts_with("num_ranks ")) {
        return found(Format::Goal, "`num_ranks`");
    }
    if htsim_topology::is_topology(head) {
        return Err(
            "it looks like a topology of htsim: give it with --topology, beside its connection matrix (.cm)",
        );
    }
    if first.starts_with("Nodes") {
        return Ok(htsim(&lines));
    }
    of_numbers(head, &lines)
}

const TOPOLOGY: &str =
    "it looks like the topology of an ns-3 RDMA simulation: give it with --topology, beside its flows";

fn found(format: Format, from: &'static str) -> Result<Guess, &'static str> {
    Ok(Guess { format, from: Some(from) })
}

/// Returns whether a text has completion times: eight numbers a line that begin with two addresses in hexadecimal, as
/// HPCC's `fct.txt`, or a header with a column of them.
fn is_of_results(lines: &[&str]) -> bool {
    let is_address = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    let is_of_hpcc = words.len() == 8
        && words[..2].iter().all(|word| is_address(word))
        && words[2..].iter().all(|word| digits(word).is_some());
    is_of_hpcc || lines[0].split(',').any(|cell| cell.trim() == "fct_ns")
}

/// Detects the format of JSON lines by the members of the first object.
fn of_json(first: &str, head: &str) -> Result<Guess, &'static str> {
    let has = |name: &str| first.contains(&format!("\"{name}\""));
    if has("id.orig_h") {
        return found(Format::Zeek, "JSON with id.orig_h");
    }
    if has("src_addr") && (has("time_flow_start_ns") || has("time_flow_start")) {
        return found(Format::Goflow2, "JSON with src_addr and time_flow_start_ns");
    }
    if has("srcaddr") || has("log-status") || has("log_status") || has("message") {
        return found(Format::Vpc, "JSON with fields of flow logs, or a message");
    }
    if ["DEVICE_METADATA", "WRED_PROFILE", "SCHEDULER", "PORT_QOS_MAP"]
        .into_iter()
        .any(|table| head.contains(&format!("\"{table}\"")))
    {
        return Err(
            "it looks like the configuration of a switch of SONiC: `priolane import switch FILE -o switch.toml` reads it",
        );
    }
    Err(
        "it looks like JSON, of which lines of Zeek, goflow2 and flow logs of AWS are read: `jq -c '.[]'` makes lines \
         of an array",
    )
}

/// Old and new connection matrices differ only in the unit of `start`, which the file does not state.
fn htsim(lines: &[&str]) -> Guess {
    let fraction = |line: &&str| {
        let start = line.split_whitespace().skip_while(|word| *word != "start").nth(1);
        start.is_some_and(|start| start.contains('.'))
    };
    if lines.iter().any(fraction) {
        let from = "`Nodes`, and start times with fractions: microseconds, as older versions write";
        return Guess { format: Format::HtsimUs, from: Some(from) };
    }
    Guess {
        format: Format::Htsim,
        from: Some("`Nodes`; start times are read as picoseconds, not microseconds"),
    }
}

/// Detects formats that consist of numbers only, by the count of numbers per line.
fn of_numbers(head: &[u8], lines: &[&str]) -> Result<Guess, &'static str> {
    let number = |word: &str| decimal::scaled(word, 0).is_some();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let first = words(lines[0]);
    let second = lines.get(1).map(|line| words(line)).unwrap_or_default();
    let cells: Vec<&str> = lines[0].split(',').map(str::trim).collect();
    if cells.len() == 5 && (cells.iter().all(|cell| number(cell)) || cells[0] == "priority") {
        return found(Format::Aequitas, "five numbers between commas");
    }
    if lines.iter().any(|line| hpcc_topology::is_link(line)) {
        return Err(TOPOLOGY);
    }
    if !first.iter().all(|word| number(word)) {
        return Err("its first lines have no known format");
    }
    let whole = first.iter().all(|word| digits(word).is_some());
    match (first.len(), second.len()) {
        (1, 0 | 6) if whole => found(Format::Hpcc, "a number of flows, then six numbers a line"),
        (2, _) if whole && second.iter().any(|word| word.contains(':')) => {
            found(Format::Coflow, "numbers of ports and coflows, then reducers as port:MB")
        }
        (1..=3, 2 | 3) if crate::size_cells::is_foreign(head) => {
            Err("it looks like a size table: `priolane import sizes FILE -o sizes.csv` converts it")
        }
        (3, _) if whole => Err(TOPOLOGY),
        (5, _) => found(Format::Yaps, "five numbers a line, as YAPS prints with GEN_ONLY"),
        (8, _) => found(Format::Yaps, "eight numbers a line, as YAPS writes"),
        (9, _) => found(Format::Yaps, "nine numbers a line, as YAPS reads"),
        _ => Err("its first lines have no known format"),
    }
}
