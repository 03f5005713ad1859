//! `assumptions = ["min-rto", ...]`: the assumptions of an experiment or a scheme where its paper is silent, as anchors
//! of docs/assumptions.md. The pages below docs/assumptions/, which hold their text, are compiled in.

use std::sync::OnceLock;

use serde::Serialize;

use priolane_core::keys::{Bounds, Form, KeyError, KeyValue as _, Schema, Value, WrittenValue};
use priolane_source::nearest_value;

/// An assumption: a heading of a page below docs/assumptions/, and the text under that heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    /// Its anchor.
    pub anchor: &'static str,
    /// Its title and its text, without markup.
    pub text: String,
}

/// The pages, in the order of docs/assumptions.md.
const PAGES: [&str; 8] = [
    include_str!("../data/assumptions/model.md"),
    include_str!("../data/assumptions/transports.md"),
    include_str!("../data/assumptions/measuring.md"),
    include_str!("../data/assumptions/nos2.md"),
    include_str!("../data/assumptions/paccp.md"),
    include_str!("../data/assumptions/prioplus.md"),
    include_str!("../data/assumptions/top.md"),
    include_str!("../data/assumptions/firapam.md"),
];

/// Returns all assumptions, in the order of docs/assumptions.md.
pub fn all() -> &'static [Assumption] {
    static ALL: OnceLock<Vec<Assumption>> = OnceLock::new();
    ALL.get_or_init(|| PAGES.iter().flat_map(|page| page.split("\n### ").skip(1)).filter_map(entry).collect())
}

/// Parses the section at the start of `section`, which ends at the next heading of any level.
fn entry(section: &'static str) -> Option<Assumption> {
    let (anchor, rest) = section.strip_prefix("<a id=\"")?.split_once("\"></a>")?;
    let (title, below) = rest.split_once('\n')?;
    let own = below.split("\n#").next().unwrap_or_default();
    let words: Vec<&str> = own.split_whitespace().collect();
    Some(Assumption { anchor, text: format!("{title}. {}", words.join(" ")).replace(['*', '`'], "") })
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
    let known: Vec<&'static str> = all().iter().map(|entry| entry.anchor).collect();
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
    all().iter().filter(|entry| anchors.contains(&entry.anchor)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_of_the_pages_has_an_anchor_of_its_own_and_says_something() {
        let headings =
            PAGES.iter().flat_map(|page| page.lines()).filter(|line| line.starts_with("### ")).count();
        assert_eq!(all().len(), headings);
        for (i, entry) in all().iter().enumerate() {
            assert!(
                entry.text.len() > 30 && !entry.text.contains(['*', '\n', '#']) && !entry.text.contains("<a"),
                "{entry:?}"
            );
            assert!(all()[..i].iter().all(|other| other.anchor != entry.anchor), "{}", entry.anchor);
        }
        let rto = all().iter().find(|entry| entry.anchor == "min-rto").unwrap();
        let begins = "Timeouts. Minimum and initial RTO are 10 ms unless a scheme says otherwise; RFC 6298's 1 s is for \
                      the Internet. Also possible: 200 ms";
        assert!(rto.text.starts_with(begins), "{}", rto.text);
    }
}
