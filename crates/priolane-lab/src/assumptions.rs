//! `assumptions = ["min-rto", ...]`: the assumptions of an experiment or a scheme where its paper is silent, as anchors
//! of docs/assumptions.md.

mod list;

use serde::Serialize;

use priolane_core::keys::{Bounds, Form, KeyError, KeyValue as _, Schema, Value, WrittenValue};
use priolane_source::nearest_value;

use list::TITLES;

/// An assumption: a heading of a page below docs/assumptions/.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    /// Its anchor.
    pub anchor: &'static str,
    /// Its title.
    pub title: &'static str,
}

/// Returns all assumptions, in the order of docs/assumptions.md.
pub fn all() -> impl Iterator<Item = Assumption> {
    TITLES.iter().map(|&(anchor, title)| Assumption { anchor, title })
}

/// Lists of anchors, each once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchors;

impl Form<Vec<&'static str>> for Anchors {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<&'static str>, KeyError> {
        let Value::List(items) = value else { return Err(value.unfit("a list in brackets")) };
        let mut anchors = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let of_item = |error| KeyError::Item(place, Box::new(error));
            let anchor = String::read(item, bounds).and_then(|text| anchor(&text)).map_err(of_item)?;
            if anchors.contains(&anchor) {
                let what = format!("the assumption {anchor:?} is listed twice");
                return Err(of_item(KeyError::new(what, "each assumption once")));
            }
            anchors.push(anchor);
        }
        Ok(anchors)
    }

    fn write(anchors: &Vec<&'static str>) -> WrittenValue {
        WrittenValue::List(anchors.iter().map(|&anchor| anchor.into()).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(Schema::Name("assumption")))
    }
}

/// Returns the anchor that is this text.
fn anchor(text: &str) -> Result<&'static str, KeyError> {
    let known: Vec<&'static str> = all().map(|entry| entry.anchor).collect();
    match known.iter().find(|anchor| **anchor == text) {
        Some(&anchor) => Ok(anchor),
        None if nearest_value(text, known.iter().copied()).is_some() => {
            Err(KeyError::Word { given: text.to_owned(), known })
        }
        None => Err(KeyError::new(
            format!("unknown value {:?}", text.chars().take(60).collect::<String>()),
            "an anchor of docs/assumptions.md, such as \"min-rto\"",
        )),
    }
}

/// Returns the assumptions of these anchors, without duplicates, in the order of docs/assumptions.md.
pub(crate) fn named(anchors: &[&'static str]) -> Vec<Assumption> {
    all().filter(|entry| anchors.contains(&entry.anchor)).collect()
}
