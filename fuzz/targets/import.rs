//! Flow lists of other tools: what is imported leaves a list that can be read, and anything else is refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_workload::flow_list::{self, OptionalColumn, Writer};
use priolane_workload::import::{self, Bond, Format, Options, Source};

fuzz_target!(|text: &[u8]| {
    let guessed = import(text, None);
    // A format that was guessed is read as if it had been stated; the others must refuse or read the text as well.
    for format in Format::ALL {
        let stated = import(text, Some(format));
        if let Some((of, rows)) = guessed.as_ref().filter(|(of, _)| *of == format) {
            assert_eq!(stated.as_ref().map(|(of, rows)| (of, rows)), Some((of, rows)));
        }
    }
    for bond in [None, Some(Bond::Sum), Some(Bond::First)] {
        let _ = import::read_topology(&mut &*text, "t.txt", bond);
    }
});

/// The format and rows of what is imported, which come back from their list; `None` if it is refused.
fn import(text: &[u8], format: Option<Format>) -> Option<(Format, Vec<flow_list::Row>)> {
    let source = Source { file: "f", format, network: None };
    let (imported, guess) = import::read(text, source, &Options::default()).ok()?;
    let mut list = Vec::new();
    let extras = [OptionalColumn::Class, OptionalColumn::Coflow, OptionalColumn::After];
    let mut writer = Writer::new(&mut list, &extras).expect("a vector takes all");
    imported.rows.iter().for_each(|row| writer.row(row).expect("a vector takes all"));
    drop(writer);
    let read = flow_list::read_rows(list.as_slice(), "f.csv", imported.hosts);
    assert_eq!(read.as_ref(), Ok(&imported.rows));
    Some((guess.format, imported.rows))
}
