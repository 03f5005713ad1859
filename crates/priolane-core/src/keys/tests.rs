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

/// Keys in the same table.
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
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.count == 9 { Err(KeyConflict::of("count", "nine", "less")) } else { Ok(()) }
    }
}

struct Memory(Vec<(&'static str, WrittenValue)>);

#[derive(PartialEq, Debug)]
enum Error {
    Of(&'static str, KeyError),
    Missing(&'static str),
    KeyConflict(KeyConflict),
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

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == key)
    }

    fn missing(&self, key: &'static str, _: &str) -> Error {
        Error::Missing(key)
    }

    fn refuse(&self, misfit: KeyConflict) -> Error {
        Error::KeyConflict(misfit)
    }
}

fn read(pairs: &[(&'static str, WrittenValue)]) -> Result<Outer, Error> {
    Outer::read(&mut Memory(pairs.to_vec()))
}

fn text(text: &str) -> WrittenValue {
    WrittenValue::Text(text.to_owned())
}

#[test]
fn an_empty_table_has_the_defaults() {
    let read = read(&[]).unwrap();
    assert_eq!(read, Outer::default());
    assert_eq!(
        (read.g, read.other, read.packets, read.rtt, read.count, read.seven),
        (0.5, 0.5, None, None, 3, 7)
    );
    // The default of the inner key is the one that the outer struct sets.
    assert_eq!(read.inner, Inner { mode: Mode::LineRate, time: Span::from_us(5) });
    assert_eq!(Inner::default().mode, Mode::Slow);
}

#[test]
fn a_default_may_follow_another_key() {
    assert_eq!(read(&[("g", WrittenValue::Float(0.25))]).unwrap().other, 0.25);
}

#[test]
fn what_is_written_reads_back() {
    let stated = [
        ("g", WrittenValue::Integer(1)),
        ("packets", WrittenValue::Integer(12)),
        ("rtt", text("8us")),
        ("note", WrittenValue::Integer(2)),
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
    for none in [text("auto"), WrittenValue::Integer(0)] {
        assert_eq!(read(&[("packets", none)]).unwrap().packets, None);
    }
    let mut pairs = Pairs::new();
    Outer::default().write(&mut pairs);
    assert_eq!(pairs[2..4], [("packets", WrittenValue::Integer(0)), ("rtt", text("0ps"))]);
}

#[test]
fn each_mistake_says_what_would_be_right() {
    let fix = |key: &'static str, value: WrittenValue| match read(&[(key, value)]) {
        Err(Error::Of(at, KeyError::Wrong { what, fix })) => (at, what, fix),
        other => panic!("{other:?}"),
    };
    assert_eq!(fix("g", WrittenValue::Integer(0)).2, "a number above 0 and at most 1");
    assert_eq!(fix("g", WrittenValue::Float(f64::NAN)).1, "NaN is out of range");
    assert_eq!(fix("count", WrittenValue::Integer(300)).2, "a whole number from 1 to 9");
    assert_eq!(fix("count", text("3")).1, "the value is a string");
    assert_eq!(fix("time", text("0us")).1, "the value is zero");
    assert_eq!(fix("time", WrittenValue::Integer(5)).1, "the number has no unit");
    assert_eq!(fix("packets", WrittenValue::Integer(70_000)).2, "a whole number from 0 to 65535");
    let word = read(&[("mode", text("slwo"))]);
    let known = vec!["slow", "line-rate"];
    assert_eq!(word, Err(Error::Of("mode", KeyError::Word { given: "slwo".into(), known })));
    let nine = KeyConflict::of("count", "nine", "less");
    assert_eq!(read(&[("count", WrittenValue::Integer(9))]), Err(Error::KeyConflict(nine)));
}

#[test]
fn keys_are_described_from_their_declaration() {
    let mut keys = Vec::new();
    Outer::describe(&mut keys);
    let of = |name: &str| keys.iter().find(|key| key.name == name).unwrap();
    assert_eq!((of("g").meaning, of("g").bounds.text, of("g").default.as_str()), ("Weight", "(0, 1]", "0.5"));
    assert_eq!((of("other").default.as_str(), of("packets").default.as_str()), ("g", "auto"));
    let none = |word, literal| Some(NoValue { word: Some(word), literal });
    assert_eq!(of("packets").none, none("auto", WrittenValue::Integer(0)));
    assert_eq!((&of("rtt").none, &of("other").none), (&none("off", text("0ps")), &None));
    assert_eq!(
        (of("time").meaning, of("time").unit, of("time").source),
        ("How long it takes", "time", "RFC 1 §2")
    );
    assert_eq!((of("time").default.as_str(), of("mode").default.as_str()), ("5us", "line-rate"));
    assert_eq!((of("g").group, of("time").group), ("outer", "inner"));
    let words: &[(&str, &str)] = &[("slow", "Slowly"), ("line-rate", "As fast as it goes")];
    assert_eq!(of("mode").schema, Schema::Words(words));
}

/// Variants selected by their keys.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(one_of)]
enum Room {
    /// No limit.
    #[word("unbounded")]
    Unbounded,
    /// All together.
    Shared {
        /// Bytes of all.
        #[key(name = "shared", required = "shared = \"1kB\"", form = Bytes)]
        bytes: u64,
        /// Weight.
        #[key(off = 0, skip_default)]
        weight: Option<u8>,
    },
    /// By a factor.
    Dynamic {
        /// Bytes of a switch.
        #[key(name = "dynamic", required = "dynamic = \"1MB\"", form = Bytes)]
        size: u64,
        /// Its part.
        #[key(required = "alpha = 1")]
        alpha: f64,
    },
}

#[derive(Clone, PartialEq, Debug, Keys)]
struct WithTables {
    /// Room.
    #[key(required = "room = \"unbounded\"")]
    room: Room,
    /// Keys of its own.
    #[key(optional, form = InTable)]
    inner: Option<Inner>,
}

fn table(entries: &[(&str, WrittenValue)]) -> WrittenValue {
    WrittenValue::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn with_tables(pairs: &[(&'static str, WrittenValue)]) -> Result<WithTables, Error> {
    WithTables::read(&mut Memory(pairs.to_vec()))
}

#[test]
fn a_key_chooses_the_form_of_a_table_and_a_word_stands_for_one() {
    let room = |written: WrittenValue| with_tables(&[("room", written)]).map(|read| read.room);
    let shared = table(&[("shared", text("2kB"))]);
    assert_eq!(room(text("unbounded")), Ok(Room::Unbounded));
    assert_eq!(room(shared.clone()), Ok(Room::Shared { bytes: 2_000, weight: None }));
    let dynamic = table(&[("dynamic", text("3kB")), ("alpha", WrittenValue::Float(0.5))]);
    assert_eq!(room(dynamic.clone()), Ok(Room::Dynamic { size: 3_000, alpha: 0.5 }));
    // Keys whose default is `None` are not written.
    for written in [text("unbounded"), shared, dynamic] {
        assert_eq!(KeyValue::write(&room(written.clone()).unwrap()), written);
    }
    let weighed = table(&[("shared", text("2kB")), ("weight", WrittenValue::Integer(3))]);
    assert_eq!(KeyValue::write(&room(weighed.clone()).unwrap()), weighed);
}

#[test]
fn a_mistake_inside_a_table_is_told_with_its_key() {
    let room = |entries: &[(&str, WrittenValue)]| match with_tables(&[("room", table(entries))]) {
        Err(Error::Of("room", error)) => error,
        other => panic!("{other:?}"),
    };
    let both = room(&[("shared", text("1kB")), ("dynamic", text("1kB"))]);
    let wrong = KeyError::new("both shared and dynamic are set", "only one of them");
    assert_eq!(both, KeyError::Key("dynamic".to_owned(), Box::new(wrong)));
    let example = "shared = \"1kB\"".to_owned();
    assert_eq!(room(&[]), KeyError::Missing { key: "shared", example, read: vec![] });
    let lacks = room(&[("dynamic", text("1kB"))]);
    let example = "alpha = 1".to_owned();
    assert_eq!(lacks, KeyError::Missing { key: "alpha", example, read: vec!["dynamic", "alpha"] });
    let unknown = room(&[("shared", text("1kB")), ("alpha", WrittenValue::Integer(1))]);
    assert_eq!(unknown, KeyError::Unknown(vec!["shared", "weight"]));
    let KeyError::Key(key, _) = room(&[("shared", WrittenValue::Integer(1))]) else { panic!() };
    assert_eq!(key, "shared");
    let forms = "{ shared = \"1kB\" } | { dynamic = \"1MB\", alpha = 1 }";
    let word = with_tables(&[("room", text("boundless"))]).unwrap_err();
    let fix = format!("\"unbounded\" | {forms}");
    assert_eq!(word, Error::Of("room", KeyError::new("unknown value \"boundless\"", fix)));
}

#[test]
fn a_struct_of_keys_is_the_value_of_a_key() {
    let stated =
        [("room", text("unbounded")), ("inner", table(&[("mode", text("slow")), ("time", text("8us"))]))];
    let read = with_tables(&stated).unwrap();
    assert_eq!(read.inner, Some(Inner { mode: Mode::Slow, time: Span::from_us(8) }));
    let mut pairs = Pairs::new();
    read.write(&mut pairs);
    assert_eq!(pairs, stated);
    let mut keys = Vec::new();
    WithTables::describe(&mut keys);
    let names = |schema: &Schema| match schema {
        Schema::Table(keys) | Schema::OneOf(_, keys) => keys.iter().map(|key| key.name).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(names(&keys[0].schema), ["shared", "weight", "dynamic", "alpha"]);
    assert_eq!(names(&keys[1].schema), ["mode", "time"]);
}

/// A value that may be a table.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(shorthand = "of")]
struct Share {
    /// Of what.
    #[key(required = "of = 5", range = "[1, 9]")]
    of: u8,
    /// How much.
    #[key(default = 0.5, skip_default)]
    part: f64,
}

#[test]
fn a_value_stands_for_the_table_with_its_key_alone_and_a_table_for_itself() {
    let read = |written: &WrittenValue| <Share as KeyValue>::read(&written.as_value(), &Bounds::ANY);
    let (short, both) = (WrittenValue::Integer(7), Share { of: 7, part: 0.25 });
    let whole = table(&[("of", WrittenValue::Integer(7)), ("part", WrittenValue::Float(0.25))]);
    for written in [short.clone(), table(&[("of", short.clone())])] {
        assert_eq!(read(&written), Ok(Share { of: 7, part: 0.5 }));
    }
    assert_eq!((read(&whole), KeyValue::write(&both)), (Ok(both.clone()), whole));
    assert_eq!(KeyValue::write(&Share { part: 0.5, ..both }), short);
    // A mistake of the value has no key; one of the table has its own.
    let wrong = read(&WrittenValue::Integer(10)).unwrap_err();
    assert!(matches!(wrong, KeyError::Wrong { .. }), "{wrong:?}");
    let within = read(&table(&[("of", WrittenValue::Integer(10))])).unwrap_err();
    assert!(matches!(&within, KeyError::Key(key, _) if key == "of"), "{within:?}");
    let unknown = read(&table(&[("of", short), ("other", WrittenValue::Integer(1))]));
    assert!(matches!(unknown, Err(KeyError::Unknown(_))), "{unknown:?}");
}
