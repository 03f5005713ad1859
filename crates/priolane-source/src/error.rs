//! The error type of all readers of input: one mistake, or several of the same input.

use std::collections::BTreeSet;
use std::fmt;

use priolane_core::text::is_unprintable;

/// Maximum number of mistakes that an error lists; further ones are only counted.
pub(crate) const MOST_SHOWN: usize = 20;

/// Maximum length of a line of a message, in bytes.
const LONGEST_LINE: usize = 990;

/// A mistake in an input, with what to write instead. When displayed, each mistake is one line of fewer than 1,000
/// bytes, with user text truncated to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub struct InputError {
    /// The file, as the user named it, or `--set`.
    pub file: String,
    /// The line, from 1, if there is one.
    pub line: Option<usize>,
    /// The key in dotted form; empty if the file as a whole is wrong.
    pub key: String,
    /// The mistake, as a clause without a final period.
    pub what: String,
    /// The text to write instead: the object of "Use", or sentences of their own that begin with a capital letter.
    pub fix: String,
    /// Further mistakes.
    pub others: Others,
}

/// Mistakes besides the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Others(Option<Box<Rest>>);

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
struct Rest {
    /// Listed mistakes in the order of the file; none of them has others.
    spelled: Vec<InputError>,
    /// Number of mistakes that are not listed.
    more: usize,
    /// Whether parts of the input were left unread.
    unread: bool,
}

impl Others {
    /// Returns the listed mistakes, in the order of the file.
    pub fn mistakes(&self) -> &[InputError] {
        self.0.as_ref().map_or(&[], |rest| &rest.spelled)
    }
}

impl InputError {
    /// Creates the error with these five parts.
    pub fn new(
        file: impl Into<String>,
        line: Option<usize>,
        key: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        let (file, key, what, fix) = (file.into(), key.into(), what.into(), fix.into());
        Self { file, line, key, what, fix, others: Others::default() }
    }

    /// Returns all listed mistakes; none of them has others.
    pub fn mistakes(&self) -> impl Iterator<Item = Self> {
        let first = Self { others: Others::default(), ..self.clone() };
        std::iter::once(first).chain(self.others.mistakes().to_vec())
    }

    /// Formats the first mistake as one line, `FILE:LINE: KEY: what. Use fix.`, without further mistakes.
    fn one_line(&self) -> String {
        let mut line = shorten(&self.file, 200);
        if let Some(number) = self.line {
            line.push_str(&format!(":{number}"));
        }
        if !self.key.is_empty() {
            line.push_str(&format!(": {}", shorten(&self.key, 200)));
        }
        line.push_str(": ");
        let advice = self.advice();
        let room = LONGEST_LINE - line.len() - ". ".len() - shorten(&advice, 250).len();
        line.push_str(&shorten(&self.what, room));
        line.push_str(if line.ends_with(['.', '?']) { " " } else { ". " });
        let room = LONGEST_LINE - line.len();
        line.push_str(&shorten(&advice, room));
        line
    }

    /// Returns the fix as sentences. A fix that does not begin with a capitalized word follows "Use".
    pub fn advice(&self) -> String {
        let mut letters = self.fix.chars();
        let is_sentence =
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
        let verb = if is_sentence { "" } else { "Use " };
        let end = if self.fix.ends_with(['.', '?']) { "" } else { "." };
        format!("{verb}{}{end}", self.fix)
    }
}

/// Truncates `text` to `most` bytes and replaces unprintable characters.
fn shorten(text: &str, most: usize) -> String {
    let plain = |c: char| if is_unprintable(c) { '?' } else { c };
    if text.len() <= most {
        return text.chars().map(plain).collect();
    }
    let mut end = most - "...".len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut short: String = text[..end].chars().map(plain).collect();
    short.push_str("...");
    short
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.one_line())?;
        self.others.mistakes().iter().try_for_each(|other| write!(f, "\n{}", other.one_line()))?;
        match self.others.0.as_ref().map_or((0, false), |rest| (rest.more, rest.unread)) {
            (0, false) => Ok(()),
            (0, true) => f.write_str("\nand perhaps more"),
            (more, false) => write!(f, "\nand {more} more"),
            (more, true) => write!(f, "\nand at least {more} more"),
        }
    }
}

/// Mistakes of one input, collected while reading continues.
#[derive(Debug)]
pub struct Mistakes {
    /// The main file, whose mistakes come first.
    file: String,
    found: Vec<InputError>,
    more: usize,
    unread: bool,
}

impl Mistakes {
    /// Creates an empty collection for an input with the main file `file`.
    pub fn new(file: &str) -> Self {
        Self { file: file.to_owned(), found: Vec::new(), more: 0, unread: false }
    }

    /// Returns the value that was read; `None` after a mistake, which is collected.
    pub fn keep<T>(&mut self, read: Result<T, InputError>) -> Option<T> {
        read.map_err(|error| self.add(error)).ok()
    }

    /// Adds all mistakes of `error`.
    pub fn add(&mut self, mut error: InputError) {
        let others = std::mem::take(&mut error.others);
        self.found.push(error);
        if let Some(rest) = others.0 {
            self.found.extend(rest.spelled);
            self.more += rest.more;
            self.unread |= rest.unread;
        }
    }

    /// Reads each item, in order, and returns the values without mistakes. Stops reading once there are [`MOST_SHOWN`]
    /// mistakes.
    pub fn each<I, T>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut read: impl FnMut(I) -> Result<T, InputError>,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for item in items {
            if self.found.len() >= MOST_SHOWN {
                self.unread = true;
                break;
            }
            all.extend(self.keep(read(item)));
        }
        all
    }

    /// Counts mistakes that are not listed.
    pub fn count(&mut self, more: usize) {
        self.more += more;
    }

    /// Returns the number of mistakes that are not only counted.
    pub(crate) fn listed(&self) -> usize {
        self.found.len()
    }

    /// Returns whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns all mistakes as one error: those of the main file first, in order of lines, each key of a line once.
    ///
    /// # Errors
    /// If there is any mistake.
    pub fn finish(mut self) -> Result<(), InputError> {
        let main = std::mem::take(&mut self.file);
        // A stable sort: mistakes of other files stay in the order in which they were found.
        self.found.sort_by_key(|error| match error.file == main {
            true => (0, error.line),
            false => (1, None),
        });
        let mut places = BTreeSet::new();
        self.found.retain(|error| places.insert((error.file.clone(), error.line, error.key.clone())));
        let more = self.more + self.found.len().saturating_sub(MOST_SHOWN);
        let mut found = self.found.into_iter();
        let Some(first) = found.next() else { return Ok(()) };
        let spelled: Vec<InputError> = found.take(MOST_SHOWN - 1).collect();
        let unread = self.unread;
        if spelled.is_empty() && more == 0 && !unread {
            return Err(first);
        }
        Err(InputError { others: Others(Some(Box::new(Rest { spelled, more, unread }))), ..first })
    }

    /// Returns `read` if there are no mistakes.
    pub fn done<T>(self, read: Option<T>) -> Result<T, InputError> {
        self.finish()?;
        Ok(read.expect("invariant: what was not read has left its mistake"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(file: &str, line: usize, key: &str) -> InputError {
        InputError::new(file, Some(line), key, "the value is wrong", "a right one")
    }

    #[test]
    fn mistakes_are_told_in_the_order_of_the_file_each_once() {
        let mut mistakes = Mistakes::new("a.toml");
        for error in [mistake("b.csv", 1, "x"), mistake("a.toml", 9, "z"), mistake("a.toml", 3, "y")] {
            mistakes.add(error);
        }
        mistakes.add(mistake("a.toml", 9, "z"));
        let error = mistakes.finish().unwrap_err();
        let lines: Vec<String> = error.to_string().lines().map(|line| line[..8].to_owned()).collect();
        assert_eq!(lines, ["a.toml:3", "a.toml:9", "b.csv:1:"]);
    }

    #[test]
    fn twenty_are_spelled_out_and_the_others_counted() {
        let mut mistakes = Mistakes::new("a");
        (1..=50).for_each(|line| mistakes.add(mistake("a", line, "")));
        mistakes.count(3);
        let text = mistakes.finish().unwrap_err().to_string();
        assert_eq!((text.lines().count(), text.lines().last()), (21, Some("and 33 more")));
        let mut mistakes = Mistakes::new("a");
        let read =
            mistakes.each(1..=30, |line| if line > 5 { Err(mistake("a", line, "")) } else { Ok(line) });
        assert_eq!(read, [1, 2, 3, 4, 5]);
        let text = mistakes.finish().unwrap_err().to_string();
        assert_eq!((text.lines().count(), text.lines().last()), (21, Some("and perhaps more")));
    }

    #[test]
    fn a_fix_follows_use_unless_it_is_a_sentence() {
        let advice = |fix| InputError::new("f", None, "k", "unknown key", fix).to_string();
        assert_eq!(advice("`a` or `b`"), "f: k: unknown key. Use `a` or `b`.");
        assert_eq!(advice("TOML text"), "f: k: unknown key. Use TOML text.");
        assert_eq!(advice("Remove the key"), "f: k: unknown key. Remove the key.");
        assert_eq!(advice("Did you mean `a`?"), "f: k: unknown key. Did you mean `a`?");
    }

    #[test]
    fn a_line_is_short_whatever_a_user_wrote() {
        let long = "\u{1f980}\n".repeat(3_000);
        for error in [
            InputError::new(&long, Some(usize::MAX), &long, &long, &long),
            InputError::new("f", None, "", &long, "fix"),
            InputError::new("f", None, "", "what", &long),
        ] {
            let shown = error.to_string();
            assert!(shown.len() < 1_000 && !shown.contains('\n') && shown.contains(". Use "), "{shown}");
        }
        // Text that fits is not truncated.
        let what = "x".repeat(700);
        assert!(InputError::new("f", None, "k", &what, "fix").to_string().contains(&what));
    }
}
