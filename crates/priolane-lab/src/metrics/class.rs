//! Classes of flows: ranges of sizes, perhaps of some groups, a class of service or a class on the wire only.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::Class;
use priolane_core::keys::{Bounds, Bytes, Form, InTable, KeyError, KeyValue, Keys, Schema, Value, Written};
use priolane_core::price::Cos;
use priolane_sim::outcome::FlowRecord;

use priolane_results::flows::FlowRow;
use priolane_results::source::Source;

/// The class that always exists: every finite flow.
pub const ALL: &str = "all";

/// A named range of flow sizes, in payload bytes, perhaps of some flows only; serialized as experiment files state it.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
pub struct SizeClass {
    /// Its name in metric paths.
    #[keys(skip)]
    pub name: String,
    /// Size that flows are below; any if not stated.
    #[key(optional, form = Bytes)]
    pub below: Option<u64>,
    /// Size that flows are above; any if not stated.
    #[key(optional, form = Bytes)]
    pub above: Option<u64>,
    /// Smallest size; any if not stated.
    #[key(optional, form = Bytes)]
    pub from: Option<u64>,
    /// Largest size; any if not stated.
    #[key(optional, form = Bytes)]
    pub to: Option<u64>,
    /// The group, or a list of groups, whose flows count; all if not stated.
    #[key(default = Vec::<String>::new(), skip_default, shown = "all", form = OneOrMore)]
    pub group: Vec<String>,
    /// The class of service that a flow, or its machine, pays for; any if not stated.
    #[key(optional, source = "PACCP §III")]
    pub cos: Option<Cos>,
    /// The class that ratios of this one are relative to.
    #[key(optional)]
    pub over: Option<String>,
    /// The class that flows ask for; any if not stated.
    #[key(optional, range = "[0, 15]")]
    pub asked: Option<Class>,
    /// The class that flows are given when they start; any if not stated.
    #[key(optional, range = "[0, 15]")]
    pub given: Option<Class>,
}

impl SizeClass {
    /// The class `all`.
    pub fn all() -> Self {
        Self { name: ALL.to_owned(), ..Self::default() }
    }

    /// It states something besides its ratios, and some size is in it.
    fn check(&self) -> Result<(), KeyError> {
        if *self == (Self { over: self.over.clone(), ..Self::default() }) {
            let fix = "one or two of below, above, from, to, or a group, cos, asked, given";
            return Err(KeyError::new("no bound is stated", fix));
        }
        let least = self.from.unwrap_or(1).max(self.above.map_or(1, |x| x.saturating_add(1)));
        match self.has(least) {
            true => Ok(()),
            false => Err(KeyError::new("no size is in it", "bounds with sizes between them")),
        }
    }

    /// Whether a size is in its range.
    pub fn has(&self, bytes: u64) -> bool {
        self.below.is_none_or(|x| bytes < x)
            && self.above.is_none_or(|x| bytes > x)
            && self.from.is_none_or(|x| bytes >= x)
            && self.to.is_none_or(|x| bytes <= x)
    }

    /// Whether a flow of `bytes` payload bytes belongs to the class; one without end (`None`) does where sizes have
    /// no upper bound.
    pub fn contains(&self, bytes: Option<u64>, payer: Payer<'_>) -> bool {
        let sized = match bytes {
            Some(bytes) => self.has(bytes),
            None => self.below.is_none() && self.to.is_none(),
        };
        sized
            && (self.group.is_empty() || self.group.iter().any(|own| own == payer.group))
            && self.cos.is_none_or(|own| own == payer.cos)
    }

    /// Whether a flow that asked for the first class and was given the second may belong to it.
    pub fn holds(&self, (asked, given): (Class, Class)) -> bool {
        self.asked.is_none_or(|class| class == asked) && self.given.is_none_or(|class| class == given)
    }

    /// Whether a flow of a stored table counts in it: measured, with an end, and of the class in all that the class states.
    pub(crate) fn counts_row(&self, flow: &FlowRow<'_>) -> bool {
        let payer = Payer::named(flow.group.unwrap_or_default(), flow.cos);
        flow.measured && self.is_of(flow.bytes, payer, (flow.class_asked, flow.class_given))
    }

    /// Whether a flow counts in it: measured, with an end, and of the class in all that the class states.
    pub(super) fn counts(
        &self,
        source: &Source,
        (spec, measured): (&FlowSpec, bool),
        record: &FlowRecord,
    ) -> bool {
        let classes = (record.class.asked, record.class.given);
        measured && self.is_of(spec.size, Payer::of(spec, source), classes)
    }

    /// Whether a flow has an end and is of the class in all that the class states.
    fn is_of(&self, bytes: Option<u64>, payer: Payer<'_>, classes: (Class, Class)) -> bool {
        bytes.is_some() && self.contains(bytes, payer) && self.holds(classes)
    }
}

/// Size classes in a table by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByName;

impl Form<Vec<SizeClass>> for ByName {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<SizeClass>, KeyError> {
        let Value::Table(entries) = value else {
            return Err(value.unfit("a table such as { key = value }"));
        };
        let (mut classes, mut mistakes) = (Vec::new(), Vec::new());
        for (name, value) in entries {
            let read = InTable::read(value, bounds);
            match read.and_then(|class: SizeClass| class.check().map(|()| class)) {
                Ok(class) => classes.push(SizeClass { name: (*name).to_owned(), ..class }),
                Err(error) => mistakes.push(KeyError::Key((*name).to_owned(), Box::new(error))),
            }
        }
        if mistakes.is_empty() { Ok(classes) } else { Err(KeyError::Several(mistakes)) }
    }

    fn write(classes: &Vec<SizeClass>) -> Written {
        let entry = |class: &SizeClass| (class.name.clone(), InTable::write(class));
        Written::Table(classes.iter().map(entry).collect())
    }

    fn schema() -> Schema {
        Schema::Map("small", Box::new(<InTable as Form<SizeClass>>::schema()))
    }
}

/// Names: one as a text, several as a list.
struct OneOrMore;

impl Form<Vec<String>> for OneOrMore {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<String>, KeyError> {
        match value {
            Value::List(items) if items.is_empty() => {
                Err(KeyError::new("no group is named", "a group, or a list of groups"))
            }
            Value::List(_) => Vec::read(value, bounds),
            one => String::read(one, bounds).map(|one| vec![one]),
        }
    }

    fn write(names: &Vec<String>) -> Written {
        match names.as_slice() {
            [one] => KeyValue::write(one),
            _ => KeyValue::write(names),
        }
    }

    fn schema() -> Schema {
        Schema::OneOrMore(Box::new(Schema::Text))
    }
}

/// Whose flow it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payer<'a> {
    /// Its group; empty if it has none.
    pub group: &'a str,
    /// What it, or its machine, pays for.
    pub cos: Cos,
}

impl<'a> Payer<'a> {
    /// Whose flow `spec` is.
    pub fn of(spec: &FlowSpec, source: &Source<'a>) -> Self {
        Self { group: source.group(spec.group).unwrap_or_default(), cos: Cos::of(spec.weights) }
    }

    /// The payer that the columns `group` and `cos` of a table name.
    pub fn named(group: &'a str, cos: &str) -> Self {
        let cos = Cos::WORDS.iter().find(|(word, _)| *word == cos).map_or(Cos::BestEffort, |&(_, cos)| cos);
        Self { group, cos }
    }
}
