//! Every key of every part is read as it is written, and wrong values are refused as they always have been.
//!
//! Each key gets values of every type: below, at and above the usual bounds, lists of every length, words, quantities in each
//! unit, tables. What is read is written and read again; what is refused, and with what message, is kept as a digest.

use std::fmt::Debug;

use priolane_core::admit::Policy;
use priolane_core::assign::Assign;
use priolane_core::host::Order;
use priolane_core::keys::{Bounds, KeyInfo, KeyValue, Keys, Pairs, Schema, Value, WrittenValue};
use priolane_core::nic::Nic;
use priolane_core::part::Entry;
use priolane_core::port::{PortKeys, QueueOf, QueueWeights};
use priolane_core::transport::Spec;

use crate::support::in_memory::InMemory;
use crate::support::kept::{assert_kept, digest_of};

fn list(items: &[WrittenValue]) -> WrittenValue {
    WrittenValue::List(items.to_vec())
}

fn table(entries: &[(&str, WrittenValue)]) -> WrittenValue {
    WrittenValue::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Quantities in each unit, and words: first the empty one.
const WORDS: &str = " 0B 1B 64B 1kB 1500B 9999B 10kB 1GB 0pkt 1pkt 65pkt 1000000pkt 0ps 1ps 1ns 5us 100us 1ms 1s 100s \
    0bps 1bps 1Mbps 10Gbps 0bdp 0.5bdp 1bdp 1/8 0/1 9/8 off auto none path queue unbounded global \
    local stated x";

/// Numbers around every usual bound.
fn numbers() -> impl Iterator<Item = WrittenValue> {
    let whole =
        [0, 1, 2, 3, 7, 8, 12, 13, 14, 15, 16, 17, 99, 100, 255, 256, 1_000, 1_001, 9_999, 10_000, 65_535]
            .into_iter()
            .chain([65_536, 1_000_000, 1_000_001, u64::from(u32::MAX), 1 << 32, 1 << 40, 1 << 48, 1 << 53]);
    let real = [
        -0.5, 0.0, 1e-9, 0.0001, 0.001, 0.05, 0.1, 0.5, 0.9, 0.95, 0.999_999, 1.0, 1.5, 2.0, 100.0, 1e3, 1e9,
        1e12,
    ];
    let others = [WrittenValue::Negative(-1), true.into(), false.into()];
    whole.map(WrittenValue::Integer).chain(others).chain(real.map(WrittenValue::Float))
}

/// Lists of every length, in and out of order.
fn lists() -> impl Iterator<Item = WrittenValue> {
    let ones = |length: usize| list(&vec![1.into(); length]);
    let kilobytes = |sizes: &[u64]| {
        list(&sizes.iter().map(|size| format!("{size}kB").as_str().into()).collect::<Vec<_>>())
    };
    let lists = [
        ones(0),
        ones(1),
        ones(2),
        ones(15),
        ones(16),
        ones(17),
        list(&[0.into()]),
        list(&[1.into(), 2.into()]),
        list(&[2.into(), 1.into()]),
        list(&[15.into()]),
        list(&[16.into()]),
        list(&[3.into(), 5.into(), 7.into()]),
        list(&[WrittenValue::Integer(1 << 21), WrittenValue::Integer((1 << 20) + 1)]),
        list(&[WrittenValue::Float(0.5), WrittenValue::Float(0.1), WrittenValue::Float(0.4)]),
        list(&[WrittenValue::Float(0.5), WrittenValue::Float(0.6)]),
        list(&[WrittenValue::Float(0.5), WrittenValue::Float(0.5)]),
        list(&["2ms".into(), "8ms".into()]),
        list(&["8ms".into(), "2ms".into()]),
        list(&["5Gbps".into(), "1Gbps".into()]),
        list(&["1Gbps".into(), "5Gbps".into()]),
        kilobytes(&[100]),
        kilobytes(&[1, 2]),
        kilobytes(&[2, 1]),
        kilobytes(&[2, 2]),
        kilobytes(&(1..15).collect::<Vec<_>>()),
        kilobytes(&(1..16).collect::<Vec<_>>()),
        kilobytes(&(1..17).collect::<Vec<_>>()),
        kilobytes(&(1..8).collect::<Vec<_>>()),
    ];
    lists.into_iter()
}

/// Tables of buffers, marking, pauses and solvers.
fn tables() -> impl Iterator<Item = WrittenValue> {
    let at = table(&[("10Gbps", "65pkt".into()), ("40Gbps", "100pkt".into())]);
    let solved = |solver: &str| table(&[("solver", solver.into()), ("from", "global".into())]);
    let tables = [
        table(&[]),
        table(&[("shared", "1pkt".into())]),
        table(&[("shared", "9pkt".into()), ("at", at.clone())]),
        table(&[("per_queue", "64KiB".into())]),
        table(&[("push_out", "24pkt".into())]),
        table(&[("dynamic", "12MB".into()), ("alpha", 1.into())]),
        table(&[("dynamic", "12MB".into())]),
        table(&[("zero_loss", "10kB".into())]),
        table(&[("shared", "1pkt".into()), ("per_queue", "1pkt".into())]),
        table(&[("at", at.clone())]),
        table(&[("per", "queue".into()), ("at", at)]),
        table(&[("at", table(&[]))]),
        table(&[("classes", list(&[0.into()])), ("xoff", "1/8".into())]),
        table(&[
            ("classes", list(&[0.into(), 3.into()])),
            ("xoff", "100kB".into()),
            ("headroom", "beside".into()),
        ]),
        solved("equal_split"),
        solved("opt"),
        solved("basin_hopping"),
        solved("pias"),
        solved("byte_share"),
        table(&[
            ("solver", "equal_split".into()),
            ("from", "global".into()),
            ("tail", table(&[("max", "1MB".into())])),
        ]),
        table(&[
            ("solver", "opt".into()),
            ("from", "global".into()),
            ("tail", table(&[("max", "1MB".into())])),
        ]),
        table(&[("kind", "pfabric".into()), ("buffer", table(&[("shared", "30pkt".into())]))]),
        table(&[("period", "50ms".into()), ("delay", "1ms".into())]),
        table(&[("period", "0ms".into()), ("delay", "1ms".into())]),
    ];
    tables.into_iter()
}

/// Values of every type.
fn values() -> Vec<WrittenValue> {
    numbers().chain(WORDS.split(' ').map(Into::into)).chain(lists()).chain(tables()).collect()
}

/// Values that keys need, of which the first that suits a part is taken.
fn stated(row: &str, entry: &Entry) -> InMemory {
    let tag = if row == "nic" { "queue" } else { "kind" };
    let mut stated = InMemory(vec![(tag.into(), entry.name.into())]);
    for key in &entry.parameters {
        let value: WrittenValue = match key.name {
            "buffer" => table(&[("shared", "30pkt".into())]),
            "queues" | "levels" => 3.into(),
            "weights" if entry.name == "wfq" => list(&[8.into(), 4.into(), 1.into()]),
            "targets" => list(&["15us".into(), "25us".into()]),
            "fractions" => {
                list(&[WrittenValue::Float(0.5), WrittenValue::Float(0.1), WrittenValue::Float(0.4)])
            }
            "exponent" => WrittenValue::Float(-0.5),
            "classes" if entry.name == "group" => list(&[0.into(), 1.into()]),
            "min_rto" | "initial_rto" | "max_rto" if entry.name == "pfabric" => "45us".into(),
            _ => continue,
        };
        stated = stated.with(key.name, value);
    }
    stated
}

/// Returns the result of reading: the part as it is written, which reads back as the same, or the refusal.
fn read<K: Keys + Debug + PartialEq>(from: InMemory) -> Result<String, String> {
    let part = K::read(&mut from.clone())?;
    let mut pairs = Pairs::new();
    part.write(&mut pairs);
    let written = InMemory::of(pairs);
    let again = K::read(&mut written.clone());
    assert_eq!(again.as_ref(), Ok(&part), "{from:?} is written as {written:?}");
    Ok(format!("{written:?}"))
}

fn read_keys<K: Keys + Debug + PartialEq>(row: &str, entries: &[Entry], lines: &mut Vec<String>) {
    let values = values();
    let mut accepted = 0;
    for entry in entries {
        let base = stated(row, entry);
        lines.push(format!("{row} {},,{}", entry.name, digest_of(&read::<K>(base.clone()))));
        for key in &entry.parameters {
            let mut words = Vec::new();
            if let Schema::Words(known) | Schema::OneOf(known, _) = &key.schema {
                words.extend(known.iter().map(|&(word, _)| WrittenValue::from(word)));
            }
            let results: Vec<_> = values
                .iter()
                .chain(&words)
                .map(|value| read::<K>(base.clone().with(key.name, value.clone())))
                .collect();
            accepted += results.iter().filter(|result| result.is_ok()).count();
            lines.push(format!("{row} {},{},{}", entry.name, key.name, digest_of(&results)));
            assert_bounds::<K>(&base, entry, key);
        }
    }
    assert!(accepted > 0, "no value of {row} is accepted");
}

/// A whole number beyond the bounds that a key states is refused.
fn assert_bounds<K: Keys + Debug + PartialEq>(base: &InMemory, entry: &Entry, key: &KeyInfo) {
    if key.schema != Schema::Integer {
        return;
    }
    for value in [0, 1, 2, 16, 17, 1_000, 1_001, 1_000_001, 1 << 33] {
        if !key.bounds.has(value as f64) && key.none.is_none() {
            let result = read::<K>(base.clone().with(key.name, WrittenValue::Integer(value)));
            assert!(result.is_err(), "{} of {} takes {value}", key.name, entry.name);
        }
    }
}

#[test]
fn each_key_is_read_or_refused_as_it_always_has_been() {
    let mut lines = Vec::new();
    read_keys::<Spec>("transport", &Spec::entries(), &mut lines);
    read_keys::<Assign>("assign", &Assign::entries(), &mut lines);
    read_keys::<Policy>("admit", &Policy::entries(), &mut lines);
    read_keys::<Order>("host", &Order::entries(), &mut lines);
    read_keys::<Nic>("nic", &Nic::entries(), &mut lines);
    read_keys::<PortKeys>("port", &PortKeys::entries(), &mut lines);
    assert_kept("keys.csv", &lines);
}

#[test]
fn lists_by_class_have_one_to_sixteen_entries() {
    let entries = |length: usize| Value::List(vec![Value::Integer(1); length]);
    for length in [0, 1, 15, 16, 17] {
        let fits = (1..=16).contains(&length);
        assert_eq!(QueueOf::read(&entries(length), &Bounds::ANY).is_ok(), fits, "{length}");
        assert_eq!(QueueWeights::read(&entries(length), &Bounds::ANY).is_ok(), fits, "{length}");
    }
    let one = |n: i64| Value::List(vec![Value::Integer(n)]);
    assert!(QueueOf::read(&one(15), &Bounds::ANY).is_ok() && QueueOf::read(&one(16), &Bounds::ANY).is_err());
    assert!(
        QueueOf::read(&one(0), &Bounds::ANY).is_ok() && QueueWeights::read(&one(0), &Bounds::ANY).is_err()
    );
}
