//! Packs of small runs: equal to directories, whole after any cut, and never a run that nobody wrote.

use std::fs;
use std::path::{Path, PathBuf};

use priolane_results::digest::hex;
use priolane_results::draft::{Draft, PublishOutcome};
use priolane_results::record::{FileRecord, RunRecord};
use priolane_results::rows::{Rows, Table};
use priolane_results::store::{RunId, Store, packed_runs};
use priolane_testkit::made_up::MadeUp;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Builder, EntryType, Header};

use crate::runs::record_of;

const IDS: [&str; 3] = ["00000000000000a1", "00000000000000a2", "00000000000000a3"];

fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

/// Begins a made-up run of `flows` flows, whose record `change` may change, and writes its tables.
fn begin(store: &Store, run: &str, flows: u32, change: impl FnOnce(&mut RunRecord)) -> (RunRecord, Draft) {
    let fixture = MadeUp::with_flows(flows);
    let mut record = RunRecord { run: run.to_owned(), ..record_of(&fixture) };
    change(&mut record);
    let mut draft = Draft::begin_for(store, &id(run), &record).unwrap();
    for table in Table::ALL {
        draft.write(table, &Rows::new(fixture.source(), &fixture.outcome)).unwrap();
    }
    (record, draft)
}

/// Publishes a made-up run of `flows` flows.
fn publish(store: &Store, run: &str, flows: u32) -> (RunRecord, PublishOutcome) {
    let (mut record, draft) = begin(store, run, flows, |_| ());
    let outcome = draft.publish(&mut record).unwrap();
    (record, outcome)
}

/// A directory with a pack of three runs, their records, and the length of the pack after each of them.
fn three_runs(directory: &Path) -> (Vec<RunRecord>, Vec<usize>) {
    let store = Store::open(directory).unwrap().with_packs();
    let published = IDS.iter().zip(3..).map(|(run, flows)| {
        let (record, outcome) = publish(&store, run, flows);
        assert_eq!(outcome, PublishOutcome::New);
        (record, fs::metadata(pack(directory)).unwrap().len() as usize)
    });
    published.unzip()
}

fn pack(directory: &Path) -> PathBuf {
    directory.join("runs-0.tar")
}

fn files(directory: &Path) -> Vec<String> {
    let names =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_pack_has_what_directories_have() {
    let [packed, plain, unpacked] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (records, _) = three_runs(packed.path());
    assert_eq!(files(packed.path()), [".lock", "runs-0.tar"]);
    let store = Store::open(plain.path()).unwrap();
    for (run, flows) in IDS.iter().zip(3..) {
        publish(&store, run, flows);
    }
    Archive::new(fs::File::open(pack(packed.path())).unwrap()).unpack(unpacked.path()).unwrap();
    let stores = [packed.path(), plain.path(), unpacked.path()].map(Store::at);
    for store in &stores {
        assert_eq!(store.names().unwrap(), IDS.map(id));
        for (run, record) in IDS.iter().zip(&records) {
            assert_eq!(store.accept(&id(run)).as_ref(), Some(record));
            for table in Table::ALL {
                let batches = |store: &Store| -> Vec<_> {
                    store.table(&id(run), table).unwrap().map(Result::unwrap).collect()
                };
                assert_eq!(batches(store), batches(&stores[1]));
            }
        }
    }
    for run in IDS {
        assert_eq!(files(&unpacked.path().join(run)), files(&plain.path().join(run)));
    }
}

#[test]
fn a_pack_that_ends_anywhere_has_the_runs_that_end_before() {
    let dir = tempfile::tempdir().unwrap();
    let (records, ends) = three_runs(dir.path());
    let whole = fs::read(pack(dir.path())).unwrap();
    assert_eq!(whole.len(), ends[2]);
    let cuts = (0..whole.len()).step_by(97).chain(ends.iter().flat_map(|end| [end - 512, end - 1, *end]));
    for cut in cuts {
        fs::write(pack(dir.path()), &whole[..cut]).unwrap();
        let store = Store::at(dir.path());
        for ((run, record), end) in IDS.iter().zip(&records).zip(&ends) {
            // The last bytes of a run are zeros that fill a block, and no part of its record.
            let accepted = store.accept(&id(run));
            assert!(accepted.is_none() || accepted.as_ref() == Some(record), "cut {cut}");
            assert!(accepted.is_some() || cut < *end, "cut {cut}");
            assert!(accepted.is_none() || cut + 512 > *end, "cut {cut}");
        }
    }
}

#[test]
fn a_changed_byte_never_gives_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let (records, _) = three_runs(dir.path());
    let whole = fs::read(pack(dir.path())).unwrap();
    for place in (0..whole.len()).step_by(131).chain(0..512) {
        let mut changed = whole.clone();
        changed[place] ^= 0x11;
        fs::write(pack(dir.path()), changed).unwrap();
        let store = Store::at(dir.path());
        let ids = store.names().unwrap();
        assert!(
            ids.iter().all(|id| IDS.contains(&id.as_str()) || store.accept(id).is_none()),
            "byte {place}"
        );
        for (run, record) in IDS.iter().zip(&records) {
            let accepted = store.accept(&id(run));
            assert!(accepted.is_none() || accepted.as_ref() == Some(record), "byte {place}");
        }
    }
}

#[test]
fn a_damaged_run_is_written_again_into_another_pack() {
    let dir = tempfile::tempdir().unwrap();
    let (records, _) = three_runs(dir.path());
    let mut bytes = fs::read(pack(dir.path())).unwrap();
    bytes[600] ^= 1;
    fs::write(pack(dir.path()), bytes).unwrap();
    // Also by a store without packs, as the run in a pack comes before a directory.
    let store = Store::open(dir.path()).unwrap();
    assert!(store.accept(&id(IDS[0])).is_none());
    let (record, outcome) = publish(&store, IDS[0], 3);
    assert_eq!((&record, outcome), (&records[0], PublishOutcome::New));
    assert_eq!(publish(&store, IDS[0], 3).1, PublishOutcome::AlreadyThere);
    assert_eq!(files(dir.path()), [".lock", "runs-0.tar", "runs-1.tar"]);
    for store in [store, Store::at(dir.path())] {
        assert_eq!(IDS.map(|run| store.accept(&id(run)).unwrap()).as_slice(), records);
    }
}

#[test]
fn a_damaged_header_costs_one_run_and_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (records, ends) = three_runs(dir.path());
    let mut bytes = fs::read(pack(dir.path())).unwrap();
    bytes[ends[0] + 40] ^= 1;
    fs::write(pack(dir.path()), bytes).unwrap();
    let store = Store::at(dir.path());
    assert_eq!(
        IDS.map(|run| store.accept(&id(run))),
        [Some(records[0].clone()), None, Some(records[2].clone())]
    );
    let expected = format!(
        "{}: damaged: no run begins at byte {}, where one should",
        pack(dir.path()).display(),
        ends[0]
    );
    assert_eq!(packed_runs(dir.path()).1, [expected]);
}

#[test]
fn zeros_at_the_end_and_a_run_that_was_cut_are_not_damage() {
    let dir = tempfile::tempdir().unwrap();
    let (_, ends) = three_runs(dir.path());
    let mut bytes = fs::read(pack(dir.path())).unwrap();
    bytes.truncate(ends[2] - 700);
    fs::write(pack(dir.path()), &bytes).unwrap();
    assert_eq!((packed_runs(dir.path()).0.len(), packed_runs(dir.path()).1), (2, Vec::new()));
    bytes.truncate(ends[1]);
    bytes.extend([0; 10_240]);
    fs::write(pack(dir.path()), &bytes).unwrap();
    assert_eq!((packed_runs(dir.path()).0.len(), packed_runs(dir.path()).1), (2, Vec::new()));
}

#[test]
fn a_new_pack_has_a_larger_number_than_all_others() {
    let dir = tempfile::tempdir().unwrap();
    let (records, _) = three_runs(dir.path());
    let mut bytes = fs::read(pack(dir.path())).unwrap();
    bytes[600] ^= 1;
    fs::remove_file(pack(dir.path())).unwrap();
    fs::write(dir.path().join("runs-5.tar"), bytes).unwrap();
    fs::write(dir.path().join("runs-1000000000.tar"), "beyond all numbers").unwrap();
    publish(&Store::open(dir.path()).unwrap(), IDS[0], 3);
    assert_eq!(files(dir.path()), [".lock", "runs-1000000000.tar", "runs-5.tar", "runs-6.tar"]);
    assert_eq!(Store::at(dir.path()).accept(&id(IDS[0])).as_ref(), Some(&records[0]));
}

#[test]
fn what_others_append_is_seen_when_packs_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Store::open(dir.path()).unwrap().with_packs();
    let reader = Store::at(dir.path());
    assert!(reader.accept(&id(IDS[0])).is_none());
    for (nth, run) in IDS.iter().enumerate() {
        publish(&writer, run, 3);
        assert!(reader.accept(&id(run)).is_none());
        reader.read_packs_again();
        assert_eq!(reader.names().unwrap().len(), nth + 1);
        assert!(reader.accept(&id(run)).is_some());
    }
}

#[test]
fn a_run_of_many_bytes_has_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap().with_packs();
    let (mut record, mut draft) = begin(&store, IDS[0], 3, |_| ());
    let content = vec![7; 1 << 20];
    let sha256 = hex(&Sha256::digest(&content));
    draft.put(&FileRecord { name: "bills.parquet".to_owned(), bytes: 1 << 20, sha256 }, &content).unwrap();
    assert_eq!(draft.publish(&mut record).unwrap(), PublishOutcome::New);
    assert_eq!(store.accept(&id(IDS[0])), Some(record));
    assert_eq!(files(dir.path()), [".lock", IDS[0]]);
}

#[test]
fn a_large_run_has_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap().with_packs();
    let (mut record, draft) = begin(&store, IDS[0], 2, |record| record.counters.packet_hops = 1_000_000);
    draft.publish(&mut record).unwrap();
    assert_eq!(files(dir.path()), [".lock", IDS[0]]);
    assert_eq!(store.accept(&id(IDS[0])), Some(record));
}

#[test]
fn a_run_of_a_pack_is_verified_as_it_was_stored() {
    let dir = tempfile::tempdir().unwrap();
    three_runs(dir.path());
    let store = Store::open(dir.path()).unwrap();
    assert!(!store.is_verified(&id(IDS[1])));
    store.mark_verified(&id(IDS[1])).unwrap();
    assert!(Store::at(dir.path()).is_verified(&id(IDS[1])) && !store.is_verified(&id(IDS[0])));
}

#[test]
fn tables_are_taken_over_between_packs_and_directories() {
    let folders = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let plain = Store::open(folders[0].path()).unwrap();
    let (record, _) = publish(&plain, IDS[0], 4);
    let stores = [
        Store::open(folders[1].path()).unwrap().with_packs(),
        Store::open(folders[2].path()).unwrap().with_packs(),
        Store::open(folders[3].path()).unwrap(),
    ];
    let mut from = &plain;
    for to in &stores {
        let mut draft = Draft::begin_for(to, &id(IDS[0]), &record).unwrap();
        for file in &record.files {
            draft.copy(from, file).unwrap();
        }
        draft.publish(&mut record.clone()).unwrap();
        assert_eq!(to.accept(&id(IDS[0])).as_ref(), Some(&record));
        from = to;
    }
    assert_eq!(files(folders[3].path()), [".lock", IDS[0]]);
}

/// A tar file with an entry of each kind and name.
fn foreign(entries: &[(EntryType, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, name) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(2);
        header.set_cksum();
        builder.append(&header, &b"{}"[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn a_pack_that_somebody_else_made_has_no_runs() {
    let run = IDS[0];
    let dir = tempfile::tempdir().unwrap();
    let of_run = |name: &str| format!("{run}/{name}");
    for (kind, name) in [
        (EntryType::Symlink, of_run("run.json")),
        (EntryType::Link, of_run("run.json")),
        (EntryType::Fifo, of_run("run.json")),
        (EntryType::GNULongName, of_run("run.json")),
        (EntryType::Regular, "../run.json".to_owned()),
        (EntryType::Regular, "/etc/run.json".to_owned()),
        (EntryType::Regular, of_run("../run.json")),
        (EntryType::Regular, of_run(".hidden")),
        (EntryType::Regular, "run.json".to_owned()),
    ] {
        fs::write(pack(dir.path()), foreign(&[(kind, &name), (EntryType::Regular, &of_run("run.json"))]))
            .unwrap();
        let (runs, damage) = packed_runs(dir.path());
        let expected =
            format!("{}: damaged: no run begins at byte 0, where one should", pack(dir.path()).display());
        assert_eq!(damage, [expected], "{kind:?} {name}");
        // What follows is looked at, and is no run.
        assert_eq!(runs.len(), 1, "{kind:?} {name}");
        assert!(Store::at(dir.path()).accept(&id(run)).is_none());
    }
    // A record without tables is seen, and is no run.
    fs::write(pack(dir.path()), foreign(&[(EntryType::Regular, &of_run("run.json"))])).unwrap();
    assert_eq!(packed_runs(dir.path()).0.len(), 1);
    assert!(Store::at(dir.path()).accept(&id(run)).is_none());
    for size in ["77777777777", "18446744073709551615"] {
        let mut bytes = foreign(&[(EntryType::Regular, &of_run("run.json"))]);
        let mut header = Header::from_byte_slice(&bytes[..512]).clone();
        header.as_ustar_mut().unwrap().size[..11].copy_from_slice(&size.as_bytes()[..11]);
        header.set_cksum();
        bytes[..512].copy_from_slice(header.as_bytes());
        fs::write(pack(dir.path()), bytes).unwrap();
        assert_eq!(packed_runs(dir.path()).0, [], "a file of {size} bytes");
    }
}

#[test]
fn links_and_other_names_are_not_packs() {
    let [dir, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    three_runs(other.path());
    std::os::unix::fs::symlink(pack(other.path()), pack(dir.path())).unwrap();
    for name in ["runs-01.tar", "runs-.tar", "runs-1.tar.gz", "Runs-1.tar", "runs-99999999999999999999.tar"] {
        fs::copy(pack(other.path()), dir.path().join(name)).unwrap();
    }
    fs::create_dir(dir.path().join("runs-2.tar")).unwrap();
    assert_eq!(packed_runs(dir.path()).0, []);
    // The link is neither written nor replaced.
    let store = Store::open(dir.path()).unwrap().with_packs();
    publish(&store, IDS[0], 2);
    assert!(dir.path().join("runs-3.tar").is_file() && pack(dir.path()).is_symlink());
    assert_eq!(packed_runs(other.path()).0.len(), 3);
}
