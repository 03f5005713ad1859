//! `assumptions = ["min-rto", ...]`: the assumptions of an experiment or a scheme where its paper is silent, as anchors
//! of docs/assumptions.md, which is compiled in.

use std::sync::OnceLock;

use serde::Serialize;

use priolane_source::{Field, InputError, nearest};

/// An entry of docs/assumptions.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    /// Its anchor.
    pub anchor: &'static str,
    /// Its text, without markup.
    pub text: String,
}

const DOCUMENT: &str = include_str!("../data/assumptions.md");

/// Returns all entries with an anchor, in the order of the document.
pub fn all() -> &'static [Assumption] {
    static ALL: OnceLock<Vec<Assumption>> = OnceLock::new();
    ALL.get_or_init(|| DOCUMENT.split("\n- ").skip(1).filter_map(entry).collect())
}

/// Parses the entry at the start of `item`; text after an empty line does not belong to it.
fn entry(item: &'static str) -> Option<Assumption> {
    let (anchor, rest) = item.strip_prefix("<a id=\"")?.split_once("\"></a>")?;
    let own = rest.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = own.split_whitespace().collect();
    Some(Assumption { anchor, text: words.join(" ").replace(['*', '`'], "") })
}

/// Reads the anchors listed in `field`, without duplicates.
pub(crate) fn read(field: &Field<'_>) -> Result<Vec<&'static str>, InputError> {
    let known: Vec<&'static str> = all().iter().map(|entry| entry.anchor).collect();
    let mut anchors = Vec::new();
    for item in field.list()? {
        let text = item.text()?;
        let Some(&anchor) = known.iter().find(|anchor| **anchor == text) else {
            let mut error = item.no_such(text, &known);
            if nearest(text, known.iter().copied()).is_none() {
                error.fix = "an anchor of docs/assumptions.md, such as \"min-rto\"".to_owned();
            }
            return Err(error);
        };
        if anchors.contains(&anchor) {
            return Err(
                item.error(format!("the assumption {anchor:?} is listed twice"), "each assumption once")
            );
        }
        anchors.push(anchor);
    }
    Ok(anchors)
}

/// Returns the entries of these anchors, without duplicates, in the order of the document.
pub(crate) fn named(anchors: &[&'static str]) -> Vec<Assumption> {
    all().iter().filter(|entry| anchors.contains(&entry.anchor)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_document_has_an_anchor_of_its_own_and_says_something() {
        let bullets = DOCUMENT.lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(all().len(), bullets);
        for (i, entry) in all().iter().enumerate() {
            assert!(
                entry.text.len() > 30 && !entry.text.contains(['*', '\n', '#']) && !entry.text.contains("<a"),
                "{entry:?}"
            );
            assert!(all()[..i].iter().all(|other| other.anchor != entry.anchor), "{}", entry.anchor);
        }
        let rto = all().iter().find(|entry| entry.anchor == "min-rto").unwrap();
        let begins = "Timeouts. Minimum and initial RTO 10 ms unless a scheme says otherwise; RFC 6298's 1 s is for the \
                      Internet. Also possible: 200 ms";
        assert!(rto.text.starts_with(begins), "{}", rto.text);
    }
}
