//! Classes of flows: ranges of sizes, optionally restricted to groups, a class of service or a priority class.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::Class;
use priolane_core::keys::{
    Bounds, Bytes, Form, InTable, KeyError, KeyValue, Keys, Schema, Value, WrittenValue,
};
use priolane_core::price::Cos;
use priolane_sim::outcome::FlowRecord;

use priolane_results::flows::FlowRow;
use priolane_results::source::Source;

/// The class that always exists: every flow of finite size.
pub const ALL: &str = "all";

/// Largest payload of the default class `small`, in bytes: that of pFabric §5 and PIAS §6.
const SMALL: u64 = 100_000;

/// Exclusive lower bound of the default class `large`, in bytes.
const LARGE: u64 = 1_000_000;

/// Returns the default size classes, in the form of `[metrics] classes`.
pub fn usual_classes() -> WrittenValue {
    ByName::write(&SizeClass::usual().into())
}

/// A named range of flow sizes, in payload bytes, optionally of some flows only; serialized as in experiment files.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
pub struct SizeClass {
    /// Name in metric paths.
    #[keys(skip)]
    pub name: String,
    /// Exclusive upper bound of sizes; none by default.
    #[key(optional, form = Bytes)]
    pub below: Option<u64>,
    /// Exclusive lower bound of sizes; none by default.
    #[key(optional, form = Bytes)]
    pub above: Option<u64>,
    /// Inclusive lower bound of sizes; none by default.
    #[key(optional, form = Bytes)]
    pub from: Option<u64>,
    /// Inclusive upper bound of sizes; none by default.
    #[key(optional, form = Bytes)]
    pub to: Option<u64>,
    /// The group, or a list of groups, whose flows count; all by default.
    #[key(default = Vec::<String>::new(), skip_default, shown = "all", form = OneOrMore, names = "group")]
    pub group: Vec<String>,
    /// The class of service that a flow, or its virtual machine, pays for; any by default.
    #[key(optional, source = "PACCP §III")]
    pub cos: Option<Cos>,
    /// The class that ratios of this one are relative to.
    #[key(optional)]
    pub over: Option<String>,
    /// The class that flows request; any by default.
    #[key(optional, range = "[0, 15]")]
    pub asked: Option<Class>,
    /// The class that flows are assigned when they start; any by default.
    #[key(optional, range = "[0, 15]")]
    pub given: Option<Class>,
}

impl SizeClass {
    /// Returns the class `all`.
    pub fn all() -> Self {
        Self { name: ALL.to_owned(), ..Self::default() }
    }

    /// Returns the default size classes, used if an experiment has no `[metrics] classes`.
    pub(crate) fn usual() -> [Self; 2] {
        [
            Self { name: "small".to_owned(), to: Some(SMALL), ..Self::default() },
            Self { name: "large".to_owned(), above: Some(LARGE), ..Self::default() },
        ]
    }

    /// Checks that there is a criterion, and that the range contains a size.
    fn check(&self) -> Result<(), KeyError> {
        if *self == (Self { over: self.over.clone(), ..Self::default() }) {
            let fix = "one or two of below, above, from, to, or a group, cos, asked, given";
            return Err(KeyError::new("no bound is set", fix));
        }
        let least = self.from.unwrap_or(1).max(self.above.map_or(1, |x| x.saturating_add(1)));
        match self.has(least) {
            true => Ok(()),
            false => Err(KeyError::new("no size is within the bounds", "bounds with sizes between them")),
        }
    }

    /// Whether a size is in the range.
    pub fn has(&self, bytes: u64) -> bool {
        self.below.is_none_or(|x| bytes < x)
            && self.above.is_none_or(|x| bytes > x)
            && self.from.is_none_or(|x| bytes >= x)
            && self.to.is_none_or(|x| bytes <= x)
    }

    /// Whether a flow of `bytes` payload bytes belongs to the class; a long-lived flow (`None`) does if sizes have no
    /// upper bound.
    pub fn contains(&self, bytes: Option<u64>, payer: Payer<'_>) -> bool {
        let sized = match bytes {
            Some(bytes) => self.has(bytes),
            None => self.below.is_none() && self.to.is_none(),
        };
        sized
            && (self.group.is_empty() || self.group.iter().any(|own| own == payer.group))
            && self.cos.is_none_or(|own| own == payer.cos)
    }

    /// Whether a flow with these requested and assigned classes may belong to the class.
    pub fn holds(&self, (asked, given): (Class, Class)) -> bool {
        self.asked.is_none_or(|class| class == asked) && self.given.is_none_or(|class| class == given)
    }

    /// Whether a flow of a stored table counts: it is measured, of finite size, and meets all criteria of the class.
    pub(crate) fn counts_row(&self, flow: &FlowRow<'_>) -> bool {
        let payer = Payer::named(flow.group.unwrap_or_default(), flow.cos);
        flow.measured && self.is_of(flow.bytes, payer, (flow.class_asked, flow.class_given))
    }

    /// Whether a flow counts: it is measured, of finite size, and meets all criteria of the class.
    pub(super) fn counts(
        &self,
        source: &Source,
        (spec, measured): (&FlowSpec, bool),
        record: &FlowRecord,
    ) -> bool {
        let classes = (record.class.asked, record.class.given);
        measured && self.is_of(spec.size, Payer::of(spec, source), classes)
    }

    /// Whether a flow, measured or not, is of finite size and meets all criteria of the class, with all bytes of a flow
    /// that was under way when the run began.
    pub(super) fn includes(&self, source: &Source, spec: &FlowSpec, record: &FlowRecord) -> bool {
        let classes = (record.class.asked, record.class.given);
        self.is_of(spec.whole_size(), Payer::of(spec, source), classes)
    }

    /// Whether a flow is of finite size and meets all criteria of the class.
    fn is_of(&self, bytes: Option<u64>, payer: Payer<'_>, classes: (Class, Class)) -> bool {
        bytes.is_some() && self.contains(bytes, payer) && self.holds(classes)
    }
}

/// Reads size classes from a table by name.
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

    fn write(classes: &Vec<SizeClass>) -> WrittenValue {
        let entry = |class: &SizeClass| (class.name.clone(), InTable::write(class));
        WrittenValue::Table(classes.iter().map(entry).collect())
    }

    fn schema() -> Schema {
        Schema::Map("small", Box::new(<InTable as Form<SizeClass>>::schema()))
    }
}

/// Reads one name as a string, or several as a list.
struct OneOrMore;

impl Form<Vec<String>> for OneOrMore {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<String>, KeyError> {
        match value {
            Value::List(items) if items.is_empty() => {
                Err(KeyError::new("the list of groups is empty", "a group, or a list of groups"))
            }
            Value::List(_) => Vec::read(value, bounds),
            one => String::read(one, bounds).map(|one| vec![one]),
        }
    }

    fn write(names: &Vec<String>) -> WrittenValue {
        match names.as_slice() {
            [one] => KeyValue::write(one),
            _ => KeyValue::write(names),
        }
    }

    fn schema() -> Schema {
        Schema::OneOrMore(Box::new(Schema::Text))
    }
}

/// The payer of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payer<'a> {
    /// Group of the flow; empty if it has none.
    pub group: &'a str,
    /// Class of service that the flow, or its virtual machine, pays for.
    pub cos: Cos,
}

impl<'a> Payer<'a> {
    /// Returns the payer of the flow `spec`.
    pub fn of(spec: &FlowSpec, source: &Source<'a>) -> Self {
        Self { group: source.group(spec.group).unwrap_or_default(), cos: Cos::of(spec.weights) }
    }

    /// Returns the payer given by the columns `group` and `cos` of a table.
    pub fn named(group: &'a str, cos: &str) -> Self {
        let cos = Cos::WORDS.iter().find(|(word, _)| *word == cos).map_or(Cos::BestEffort, |&(_, cos)| cos);
        Self { group, cos }
    }
}
