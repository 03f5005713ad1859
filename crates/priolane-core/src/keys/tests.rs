//! A struct of keys with each kind of attribute, read from a table in memory.

use super::*;
use crate::units::Span;

/// The words of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
enum Mode {
    /// Slowly.
    Slow,
    /// As fast as it goes.
    #[word("line-rate")]
    LineRate,
}

/// Keys that stand in the same table.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(group = "inner")]
struct Inner {
    /// How fast.
    #[key(default = Mode::Slow)]
    mode: Mode,
    /// How long
    /// it takes.
    #[key(default = Span::from_us(5), range = "(0, )", source = "RFC 1 §2")]
    time: Span,
}

#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(group = "outer", check = Self::check)]
struct Outer {
    /// Weight.
    #[key(default = 0.5, range = "(0, 1]")]
    g: f64,
    /// The same of decreases.
    #[key(default = g, shown = "g")]
    other: f64,
    /// Packets.
    #[key(auto = 0, range = "[0, 65535]")]
    packets: Option<u16>,
    /// T.
    #[key(off = "0ps")]
    rtt: Option<Span>,
    /// Not always there.
    #[key(optional)]
    note: Option<u8>,
    /// Counts.
    #[key(default = 3, skip_default, range = "[1, 9]")]
    count: u8,
    #[keys(flatten, defaults(mode = "line-rate"))]
    inner: Inner,
    #[keys(skip = 7)]
    seven: u8,
}

impl Outer {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.count == 9 { Err(Misfit::of("count", "nine", "less")) } else { Ok(()) }
    }
}

struct Memory(Vec<(&'static str, Written)>);

#[derive(PartialEq, Debug)]
enum Error {
    Of(&'static str, KeyError),
    Missing(&'static str),
    Misfit(Misfit),
}

impl Table for Memory {
    type Error = Error;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, Error> {
        let found = self.0.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| read(value.as_value()).map_err(|error| Error::Of(key, error))).transpose()
    }

    fn missing(&self, key: &'static str, _: &str) -> Error {
        Error::Missing(key)
    }

    fn refuse(&self, misfit: Misfit) -> Error {
        Error::Misfit(misfit)
    }
}

fn read(pairs: &[(&'static str, Written)]) -> Result<Outer, Error> {
    Outer::read(&mut Memory(pairs.to_vec()))
}

fn text(text: &str) -> Written {
    Written::Text(text.to_owned())
}

#[test]
fn an_empty_table_has_the_defaults() {
    let read = read(&[]).unwrap();
    assert_eq!(read, Outer::default());
    assert_eq!(
        (read.g, read.other, read.packets, read.rtt, read.count, read.seven),
        (0.5, 0.5, None, None, 3, 7)
    );
    // The inner default is the outer's.
    assert_eq!(read.inner, Inner { mode: Mode::LineRate, time: Span::from_us(5) });
    assert_eq!(Inner::default().mode, Mode::Slow);
}

#[test]
fn a_default_may_follow_another_key() {
    assert_eq!(read(&[("g", Written::Float(0.25))]).unwrap().other, 0.25);
}

#[test]
fn what_is_written_reads_back() {
    let stated = [
        ("g", Written::Integer(1)),
        ("packets", Written::Integer(12)),
        ("rtt", text("8us")),
        ("note", Written::Integer(2)),
        ("mode", text("slow")),
    ];
    let first = read(&stated).unwrap();
    let mut pairs = Pairs::new();
    first.write(&mut pairs);
    assert_eq!(read(&pairs).unwrap(), first);
    let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["g", "other", "packets", "rtt", "note", "mode", "time"]);
}

#[test]
fn nothing_is_written_as_the_literal_and_read_as_the_word_too() {
    for none in [text("off"), text("0ps"), text("0us")] {
        assert_eq!(read(&[("rtt", none)]).unwrap().rtt, None);
    }
    for none in [text("auto"), Written::Integer(0)] {
        assert_eq!(read(&[("packets", none)]).unwrap().packets, None);
    }
    let mut pairs = Pairs::new();
    Outer::default().write(&mut pairs);
    assert_eq!(pairs[2..4], [("packets", Written::Integer(0)), ("rtt", text("0ps"))]);
}

#[test]
fn each_mistake_says_what_would_be_right() {
    let fix = |key: &'static str, value: Written| match read(&[(key, value)]) {
        Err(Error::Of(at, KeyError::Wrong { what, fix })) => (at, what, fix),
        other => panic!("{other:?}"),
    };
    assert_eq!(fix("g", Written::Integer(0)).2, "a number above 0 and at most 1");
    assert_eq!(fix("g", Written::Float(f64::NAN)).1, "NaN is out of range");
    assert_eq!(fix("count", Written::Integer(300)).2, "a whole number from 1 to 9");
    assert_eq!(fix("count", text("3")).1, "this is a string");
    assert_eq!(fix("time", text("0us")).1, "this is zero");
    assert_eq!(fix("time", Written::Integer(5)).1, "this bare number has no unit");
    assert_eq!(fix("packets", Written::Integer(70_000)).2, "a whole number from 0 to 65535");
    let word = read(&[("mode", text("slwo"))]);
    let known = vec!["slow", "line-rate"];
    assert_eq!(word, Err(Error::Of("mode", KeyError::Word { given: "slwo".into(), known })));
    let nine = Misfit::of("count", "nine", "less");
    assert_eq!(read(&[("count", Written::Integer(9))]), Err(Error::Misfit(nine)));
}

#[test]
fn keys_are_described_from_their_declaration() {
    let mut keys = Vec::new();
    Outer::describe(&mut keys);
    let of = |name: &str| keys.iter().find(|key| key.name == name).unwrap();
    assert_eq!((of("g").meaning, of("g").bounds.text, of("g").default.as_str()), ("Weight", "(0, 1]", "0.5"));
    assert_eq!((of("other").default.as_str(), of("packets").default.as_str()), ("g", "auto"));
    assert_eq!(
        (of("time").meaning, of("time").unit, of("time").source),
        ("How long it takes", "time", "RFC 1 §2")
    );
    assert_eq!((of("time").default.as_str(), of("mode").default.as_str()), ("5us", "line-rate"));
    assert_eq!((of("g").group, of("time").group), ("outer", "inner"));
    let words: &[(&str, &str)] = &[("slow", "Slowly"), ("line-rate", "As fast as it goes")];
    assert_eq!(of("mode").schema, Schema::Words(words));
}

/// A struct with tables as values.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(group = "tables")]
struct Tables {
    /// One table.
    #[key(required = "one = { mode = \"slow\" }", form = Nested)]
    one: Inner,
    /// Some tables.
    #[key(default = Vec::new(), skip_default, form = NestedList, group = "many")]
    many: Vec<Inner>,
}

#[test]
fn a_table_is_a_value_whose_keys_are_read_like_any() {
    let inner = |pairs: &[(&'static str, Written)]| Written::Table(pairs.to_vec());
    let read = |one: Written| Tables::read(&mut Memory(vec![("one", one)]));
    let fault = |one: Written| match read(one) {
        Err(Error::Of("one", KeyError::Table(asked, fault))) => (asked, *fault),
        other => panic!("{other:?}"),
    };
    let slow = read(inner(&[("time", text("7us"))])).unwrap();
    assert_eq!((slow.one.mode, slow.one.time, slow.many.len()), (Mode::Slow, Span::from_us(7), 0));
    let (asked, wrong) = fault(inner(&[("time", text("0us"))]));
    assert!(matches!(wrong, TableFault::At("time", KeyError::Wrong { .. })), "{wrong:?}");
    assert_eq!(asked, ["mode", "time"]);
    assert_eq!(fault(inner(&[("tiem", text("1us"))])).1, TableFault::Unknown);
    assert!(matches!(read(text("slow")), Err(Error::Of("one", KeyError::Wrong { .. }))));
    let both = Tables { one: slow.one.clone(), many: vec![slow.one] };
    let mut pairs = Pairs::new();
    both.write(&mut pairs);
    assert_eq!(pairs[0].1.to_string(), "{ mode = slow, time = 7us }");
    assert_eq!(Tables::read(&mut Memory(pairs)).unwrap(), both);
    let empty = Tables::read(&mut Memory(vec![("one", inner(&[])), ("many", Written::List(Vec::new()))]));
    assert!(matches!(empty, Err(Error::Of("many", KeyError::Wrong { .. }))), "{empty:?}");
    let mut keys = Vec::new();
    Tables::describe(&mut keys);
    assert_eq!((keys[0].group, keys[1].group), ("tables", "many"));
    assert!(matches!(&keys[0].schema, Schema::Table(inner) if inner.len() == 2));
    assert!(share(&keys, &keys, "one") && !share(&keys, &[], "one"));
}
