//! Reading samples, and what is compared of what was read.

use priolane_source::InputError;
use priolane_workload::flow_list::{self, Row};
use priolane_workload::import::{self, Format, Guess, ImportedFlows, Network, Options, Source};

pub(crate) const TOPOLOGY: &str = sample!("hpcc_topology.txt");

pub(crate) fn read(text: &str, options: &Options) -> Result<(ImportedFlows, Guess), InputError> {
    import::read(text.as_bytes(), Source { file: "x", format: None, network: None }, options)
}

pub(crate) fn good(text: &str, options: &Options) -> (ImportedFlows, Format) {
    let (imported, guess) = read(text, options).unwrap();
    assert!(guess.from.is_some());
    (imported, guess.format)
}

/// `start_ps src dst bytes` of each row, 0 bytes if it has no end.
pub(crate) fn flows(imported: &ImportedFlows) -> Vec<(u64, u16, u16, u64)> {
    let flow = |row: &Row| (row.flow.start.0, row.flow.src.0, row.flow.dst.0, row.flow.size.unwrap_or(0));
    imported.rows.iter().map(flow).collect()
}

pub(crate) fn dropped(imported: &ImportedFlows) -> Vec<(&'static str, u64, u128)> {
    imported.dropped.iter().map(|dropped| (dropped.reason, dropped.count, dropped.bytes)).collect()
}

pub(crate) fn network() -> Network {
    import::read_topology(&mut TOPOLOGY.as_bytes(), "t", None).unwrap()
}

pub(crate) fn written(imported: &ImportedFlows) -> String {
    let mut out = Vec::new();
    let extras = [
        (flow_list::OptionalColumn::Class, imported.rows.iter().any(|row| row.flow.class > 0)),
        (flow_list::OptionalColumn::Coflow, imported.rows.iter().any(|row| row.flow.coflow.is_some())),
        (flow_list::OptionalColumn::After, imported.rows.iter().any(|row| !row.after.is_empty())),
    ];
    let extras: Vec<_> = extras.into_iter().filter(|(_, used)| *used).map(|(extra, _)| extra).collect();
    let mut writer = flow_list::Writer::new(&mut out, &extras).unwrap();
    imported.rows.iter().for_each(|row| writer.row(row).unwrap());
    String::from_utf8(out).unwrap()
}
