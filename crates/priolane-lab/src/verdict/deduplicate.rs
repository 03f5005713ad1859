//! Merges warnings of several runs that differ only in their numbers: `3 of 22 are late` and `7 of 22 are late` become
//! `3 to 7 of 22 are late`.

use std::collections::{BTreeMap, BTreeSet};

/// A text split at its numbers.
#[derive(Debug, PartialEq)]
struct SplitText<'a> {
    /// The text before, between and after the numbers: one piece more than there are numbers.
    words: Vec<&'a str>,
    numbers: Vec<&'a str>,
}

impl<'a> SplitText<'a> {
    /// Splits `text`. Digits within a name, such as those of `es8`, are not numbers.
    fn of(text: &'a str) -> Self {
        let (mut words, mut numbers, mut from) = (Vec::new(), Vec::new(), 0);
        let mut before = ' ';
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            if c.is_ascii_digit() && !before.is_alphanumeric() && before != '_' {
                let number = &text[at..at + number_length(&text[at..])];
                words.push(&text[from..at]);
                numbers.push(number);
                from = at + number.len();
                chars.by_ref().take(number.len() - 1).for_each(drop);
                before = '0';
            } else {
                before = c;
            }
        }
        words.push(&text[from..]);
        Self { words, numbers }
    }
}

/// Returns the length of the number at the start of `text`: digits, and points between digits.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let inner = |at: usize| {
        bytes[at].is_ascii_digit() || (bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
    };
    (0..bytes.len()).take_while(|&at| inner(at)).count()
}

/// Runs with the same warning, except for numbers.
#[derive(Default)]
struct WarningDeduplicator<'a> {
    runs: BTreeSet<usize>,
    /// The minimum and maximum of each number.
    ends: Vec<[&'a str; 2]>,
}

impl<'a> WarningDeduplicator<'a> {
    fn add(&mut self, run: usize, numbers: &[&'a str]) {
        self.runs.insert(run);
        self.ends.resize(numbers.len(), [""; 2]);
        for (ends, &number) in self.ends.iter_mut().zip(numbers) {
            let value = |text: &str| text.parse().unwrap_or(f64::NAN);
            let [least, largest] = ends;
            if least.is_empty() || value(number) < value(least) {
                *least = number;
            }
            if largest.is_empty() || value(number) > value(largest) {
                *largest = number;
            }
        }
    }

    fn text(&self, words: &[&str]) -> String {
        let number = |&[least, largest]: &[&str; 2]| {
            if least == largest { least.to_owned() } else { format!("{least} to {largest}") }
        };
        let numbers = self.ends.iter().map(number).chain(std::iter::once(String::new()));
        words.iter().zip(numbers).map(|(words, number)| format!("{words}{number}")).collect()
    }
}

/// Merges warnings, each given with the index of its run, and appends the number of affected runs. `schemes` are those
/// of all runs; a warning that begins with the name of a scheme counts the runs of that scheme.
pub(super) fn merged<'a>(warnings: impl Iterator<Item = (usize, &'a str)>, schemes: &[&str]) -> Vec<String> {
    let line = |(words, alike): (Vec<&str>, WarningDeduplicator)| {
        let (text, runs) = (alike.text(&words), alike.runs.len());
        match schemes.iter().find(|scheme| begins_with(&text, scheme)) {
            Some(own) => {
                let of = schemes.iter().filter(|&scheme| scheme == own).count();
                format!("{text} ({runs} of its {of} run{})", if of == 1 { "" } else { "s" })
            }
            None => format!("{text} ({runs} of {} runs)", schemes.len()),
        }
    };
    by_words(warnings).into_iter().map(line).collect()
}

/// Returns whether `text` begins with the name of a scheme, in backticks or not.
fn begins_with(text: &str, scheme: &str) -> bool {
    let after = text.strip_prefix('`').unwrap_or(text).strip_prefix(scheme);
    after.is_some_and(|after| after.starts_with(['`', ':', ',']))
}

/// Merges warnings that do not belong to runs.
pub(super) fn merge_similar(warnings: &[String]) -> Vec<String> {
    let texts = warnings.iter().map(String::as_str).enumerate();
    by_words(texts).into_iter().map(|(words, alike)| alike.text(&words)).collect()
}

fn by_words<'a>(
    warnings: impl Iterator<Item = (usize, &'a str)>,
) -> BTreeMap<Vec<&'a str>, WarningDeduplicator<'a>> {
    let mut by_words: BTreeMap<Vec<&str>, WarningDeduplicator> = BTreeMap::new();
    for (run, warning) in warnings {
        let SplitText { words, numbers } = SplitText::of(warning);
        by_words.entry(words).or_default().add(run, &numbers);
    }
    by_words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_names_and_ends_of_sentences() {
        let SplitText { words, numbers } = SplitText::of("es8: 12.5 of 30 flows, by Eq. 19. Über 3.");
        assert_eq!(numbers, ["12.5", "30", "19", "3"]);
        assert_eq!(words, ["es8: ", " of ", " flows, by Eq. ", ". Über ", "."]);
        assert_eq!(SplitText::of(""), SplitText { words: vec![""], numbers: vec![] });
    }

    #[test]
    fn texts_that_differ_in_numbers_only_are_one_with_their_ends() {
        let texts = [
            (0, "7 of 22 had fewer than 200 updates (median 50)"),
            (1, "10 of 22 had fewer than 200 updates (median 9.5)"),
            (1, "3 of 22 had fewer than 200 updates (median 20)"),
            (2, "es8: 5 waited"),
            (3, "`es16`: 5 waited"),
            (3, "es: nobody has this name"),
        ];
        assert_eq!(
            merged(texts.into_iter(), &["es8", "es8", "es8", "es16"]),
            [
                "3 to 10 of 22 had fewer than 200 updates (median 9.5 to 50) (2 of 4 runs)",
                "`es16`: 5 waited (1 of its 1 run)",
                "es8: 5 waited (1 of its 3 runs)",
                "es: nobody has this name (1 of 4 runs)",
            ]
        );
    }

    #[test]
    fn warnings_of_no_run_are_merged_without_a_count() {
        let texts =
            ["the load is 1.5 on the wire", "no core", "the load is 1.21 on the wire"].map(str::to_owned);
        assert_eq!(merge_similar(&texts), ["no core", "the load is 1.21 to 1.5 on the wire"]);
    }
}
