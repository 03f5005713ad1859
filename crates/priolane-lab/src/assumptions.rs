//! `assumptions = ["min-rto", ...]`: the assumptions of an experiment or a scheme where its paper is silent, as anchors
//! of docs/assumptions.md. The pages below docs/assumptions/, which hold their text, are compiled in.

use std::sync::OnceLock;

use serde::Serialize;

use priolane_source::{Field, InputError, nearest};

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
