//! Text of files, peers and other processes, made fit for a terminal, a log or a message.

use std::ops::RangeInclusive;

/// The character that replaces one that must not be printed.
const REPLACEMENT: char = '\u{fffd}';
/// The character that replaces a line break.
const LINE_BREAK: char = '\u{240a}';

/// Characters that a terminal might obey, or hide, instead of showing them, in ranges of code points in ascending order: control
/// characters (Unicode category Cc), line and paragraph separators, marks that change the direction of text (UAX #9), characters
/// without a width, and noncharacters that XML forbids.
///
/// This is the only list of these characters: Python code takes it from here.
pub const UNPRINTABLE: [RangeInclusive<char>; 12] = [
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{fffe}'..='\u{ffff}',
    '\u{e0000}'..='\u{e007f}',
];

/// Whether a terminal might obey a character, or hide it, instead of showing it.
pub fn is_unprintable(c: char) -> bool {
    UNPRINTABLE.iter().any(|range| range.contains(&c))
}

/// Returns the first `most` characters of `text` in one line. A line break becomes `␊`, any other unprintable character `U+FFFD`. A text
/// that is longer than `most` characters ends with an ellipsis, which counts as one of them.
pub fn printable(text: &str, most: usize) -> String {
    let shown = |c| match c {
        '\n' | '\u{2028}' | '\u{2029}' => LINE_BREAK,
        '\t' => ' ',
        c if is_unprintable(c) => REPLACEMENT,
        c => c,
    };
    match text.char_indices().nth(most) {
        None => text.chars().map(shown).collect(),
        Some(_) => text.chars().take(most.saturating_sub(1)).map(shown).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_or_hides_are_replaced() {
        let hostile = "\u{1b}[31mred\u{7}\u{9b}0m \u{202e}gnp.exe \u{2066}\u{200b}\u{feff}\u{e0041}\r";
        let shown = printable(hostile, 500);
        assert_eq!(shown, "�[31mred��0m �gnp.exe �����");
        assert!(!shown.chars().any(is_unprintable));
        assert_eq!(printable("one\ntwo\tthree\u{2028}four", 500), "one␊two three␊four");
        assert_eq!(printable("Grüße, 10 µs ± 3 %, 日本語", 500), "Grüße, 10 µs ± 3 %, 日本語");
    }

    #[test]
    fn all_control_characters_are_listed_and_the_list_is_in_order() {
        assert!((char::MIN..=char::MAX).filter(|c| c.is_control()).all(is_unprintable));
        assert!(UNPRINTABLE.iter().all(|range| range.start() <= range.end()));
        assert!(UNPRINTABLE.windows(2).all(|both| both[0].end() < both[1].start()));
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        assert_eq!(printable("äöü", 3), "äöü");
        assert_eq!(printable("äöüß", 3), "äö…");
        assert_eq!(printable(&"A".repeat(200_000), 500).chars().count(), 500);
        assert_eq!(printable("ab", 0), "…");
    }
}
