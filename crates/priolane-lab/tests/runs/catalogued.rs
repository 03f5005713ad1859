//! Lists of names and keys against the files and parts that they list.

use std::path::Path;

use priolane_core::keys::Schema;
use priolane_core::part::{Entry, Row};
use priolane_core::scheme::ENTRIES;
use priolane_lab::catalogue::{Choice, catalogue};
use priolane_lab::parts::{PartInfo, parts};
use priolane_sim::topology::TopologySpec;
use priolane_workload::App;
use priolane_workload::import::Format;

fn same(list: &[Choice], entries: &[&Entry]) {
    assert_eq!(
        list.iter().map(|c| c.name).collect::<Vec<_>>(),
        entries.iter().map(|e| e.name).collect::<Vec<_>>()
    );
    for (choice, entry) in list.iter().zip(entries) {
        assert_eq!((choice.summary, choice.source), (entry.summary, entry.source));
        let of_key = |key: &priolane_core::keys::KeyInfo| {
            if key.default.is_empty() {
                key.name.to_owned()
            } else {
                format!("{} = {}", key.name, key.default)
            }
        };
        assert_eq!(choice.parameters, entry.parameters.iter().map(of_key).collect::<Vec<_>>());
    }
}

#[test]
fn each_list_has_the_parts_of_its_row() {
    let found = catalogue();
    let of_row = |row| ENTRIES.iter().filter(|entry| entry.row == row).collect::<Vec<_>>();
    for (list, row, known) in [
        (&found.transports, Row::Transport, "homa"),
        (&found.ports, Row::Port, "strict"),
        (&found.host, Row::Host, "mlfq"),
        (&found.nic, Row::Nic, "pull"),
        (&found.assign, Row::Assign, "bytes_sent"),
        (&found.admit, Row::Admit, "aequitas"),
    ] {
        assert!(list.iter().any(|choice| choice.name == known), "{known}");
        same(list, &of_row(row));
    }
    same(&found.apps, &App::entries().iter().collect::<Vec<_>>());
    same(&found.topologies, &TopologySpec::entries().iter().collect::<Vec<_>>());
    let formats: Vec<(&str, &str)> =
        found.formats.iter().map(|format| (format.name, format.summary)).collect();
    assert_eq!(formats, Format::ALL.map(|format| (format.name(), format.about())));
    let levels = |name: &str| found.solvers.iter().find(|solver| solver.name == name).unwrap().levels;
    assert_eq!(
        (levels("opt2"), levels("closed_form"), levels("opt"), levels("equal_split")),
        (Some(2), Some(2), None, None)
    );
}

/// Returns the text that follows `key = "` in the lines below `[table]`, or before the first table.
fn stated(text: &str, table: Option<&str>, key: &str) -> Option<String> {
    let mut here = table.is_none();
    for line in text.lines() {
        if line.starts_with('[') {
            here = table.is_some_and(|table| line == format!("[{table}]"));
        }
        let inline = table.and_then(|table| line.strip_prefix(&format!("{table} = {{")));
        let found = match inline {
            Some(inner) => inner.split(',').find_map(|pair| pair.trim().strip_prefix(&format!("{key} = \""))),
            None if here => line.strip_prefix(&format!("{key} = \"")),
            None => None,
        };
        if let Some(rest) = found {
            return rest.split('"').next().map(str::to_owned);
        }
    }
    None
}

#[test]
fn a_scheme_is_listed_with_what_its_file_states() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemes");
    let found = catalogue().schemes;
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|file| Some(file.unwrap().path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    let mut listed: Vec<&str> = found.iter().map(|scheme| scheme.name).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    for scheme in &found {
        let text = std::fs::read_to_string(folder.join(format!("{}.toml", scheme.name))).unwrap();
        let or_none = |found: Option<String>| found.unwrap_or_else(|| "-".to_owned());
        assert_eq!(scheme.paper, or_none(stated(&text, None, "paper")), "{}", scheme.name);
        assert_eq!(scheme.transport, or_none(stated(&text, Some("transport"), "kind")), "{}", scheme.name);
        assert_eq!(scheme.port, or_none(stated(&text, Some("port"), "kind")), "{}", scheme.name);
    }
}

#[test]
fn a_size_table_is_listed_with_the_mean_and_the_ends_of_its_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    let found = catalogue().workloads;
    assert!(found.len() >= 5);
    for table in &found {
        let text = std::fs::read_to_string(folder.join(format!("{}.csv", table.name))).unwrap();
        let row = |line: &str| {
            let (bytes, cdf) = line.split_once(',')?;
            Some((bytes.parse::<f64>().ok()?, cdf.parse::<f64>().ok()?))
        };
        let rows: Vec<(f64, f64)> = text.lines().filter_map(row).collect();
        // Trapezoids between the rows, and what is in the first row at once.
        let between: f64 =
            rows.windows(2).map(|two| (two[1].1 - two[0].1) * (two[0].0 + two[1].0) / 2.0).sum();
        let mean = rows[0].0 * rows[0].1 + between;
        assert!((table.mean_bytes / mean - 1.0).abs() < 1e-9, "{}: {mean}", table.name);
        let below = |bytes: f64| {
            let after = rows.iter().position(|row| row.0 > bytes).unwrap_or(rows.len());
            match (after.checked_sub(1).map(|at| rows[at]), rows.get(after)) {
                (None, _) => 0.0,
                (Some(_), None) => 1.0,
                (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (bytes - a.0) / (b.0 - a.0),
            }
        };
        assert!((table.below_100kb - below(1e5)).abs() < 1e-9, "{}", table.name);
        assert!((table.above_10mb - (1.0 - below(1e7))).abs() < 1e-9, "{}", table.name);
    }
}

fn part<'p>(all: &'p [PartInfo], row: &str, name: &str) -> &'p PartInfo {
    all.iter().find(|part| (part.row, part.name.as_str()) == (row, name)).unwrap()
}

#[test]
fn every_part_is_described_with_all_its_keys_each_once() {
    let all = parts();
    let of_experiments = TopologySpec::entries().into_iter().chain(App::entries());
    let entries: Vec<Entry> = ENTRIES.iter().cloned().chain(of_experiments).collect();
    assert_eq!(all.iter().filter(|part| part.row != "experiment").count(), entries.len());
    for entry in &entries {
        let found = part(&all, entry.row.key(), entry.name);
        assert_eq!((found.summary, found.source), (entry.summary, entry.source), "{}", entry.name);
        assert_ne!(found.summary, "");
        assert_eq!(
            (found.requires.len(), found.provides.len()),
            (entry.requires.len(), entry.provides.len())
        );
        for key in &entry.parameters {
            let own: Vec<_> = found.keys.iter().filter(|listed| listed.name == key.name).collect();
            let [listed] = own[..] else {
                panic!("{} of {} is listed {} times", key.name, entry.name, own.len())
            };
            assert_eq!(
                (listed.meaning, listed.source, listed.required),
                (key.meaning, key.source, key.required)
            );
            assert_eq!((listed.default.as_str(), listed.value.unit), (key.default.as_str(), key.unit));
            // Keys that three or more parts of a row have in common name their group.
            let parts_of_row: Vec<&Entry> = entries.iter().filter(|other| other.row == entry.row).collect();
            let of_group = |other: &&&Entry| other.parameters.iter().any(|own| own.group == key.group);
            let many = parts_of_row.iter().filter(of_group).count() >= 3;
            assert!(listed.group.is_empty() || (many && listed.group == key.group), "{}", key.name);
            let plain = match &key.schema {
                Schema::Bool => "true or false",
                Schema::Integer => "whole number",
                Schema::Number => "number",
                Schema::Text => "text",
                Schema::Quantity(sample) => {
                    assert_eq!(listed.value.sample, *sample);
                    "quantity"
                }
                Schema::Words(words) => {
                    let stated: Vec<&str> = listed.value.words.iter().map(String::as_str).collect();
                    assert!(words.iter().all(|(word, _)| stated.contains(word)), "{}", key.name);
                    "one of"
                }
                _ => continue,
            };
            assert_eq!(listed.value.kind, plain, "{} of {}", key.name, entry.name);
        }
    }
}

#[test]
fn keys_of_tables_follow_with_a_dot_and_names_of_the_user_in_capitals() {
    let all = parts();
    let kinds = |row: &str, name: &str, keys: &[&str]| -> Vec<String> {
        let found = part(&all, row, name);
        let of = |wanted: &&str| {
            let key = found.keys.iter().find(|key| key.name == **wanted);
            let key = key.unwrap_or_else(|| panic!("{wanted} of {name}"));
            let words = key.value.words.join(" ");
            format!("{} {words}", key.value.kind).trim().to_owned()
        };
        keys.iter().map(of).collect()
    };
    assert_eq!(
        kinds("app", "poisson", &["load", "load.of", "load.counts", "load.value"]),
        ["table", "one of host core", "one of payload wire", "number"]
    );
    let metrics = kinds("experiment", "[metrics]", &["classes", "classes.NAME.to", "classes.NAME.group"]);
    assert_eq!(metrics, ["table by name of table", "quantity", "name of a group or list of name of a group"]);
    assert_eq!(
        kinds("experiment", "[[panel]]", &["metrics", "rays"]),
        ["list of name of a metric", "list of number"]
    );
    let required = |row: &str, name: &str, key: &str| {
        part(&all, row, name).keys.iter().find(|own| own.name == key).unwrap().required
    };
    assert!(required("app", "poisson", "load.of") && !required("app", "poisson", "reach"));
}
