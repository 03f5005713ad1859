//! Tests of the message for each mistake: file, line, key, what is wrong and what to write. A file that is just right
//! is accepted.

use crate::bad_input::{GOOD, planned};

const CASES: &str = include_str!("../fixture/refused.txt");

/// The text of a case, in which a bar stands for the end of a line.
fn lines(text: &str) -> String {
    text.replace('|', "\n")
}

#[test]
fn each_mistake_is_said_in_these_words_and_what_is_just_right_is_planned() {
    let mut checked = 0;
    for case in CASES.split("\n\n").map(str::trim).filter(|case| !case.is_empty() && !case.starts_with('#')) {
        let (mut text, mut old, mut said) = (GOOD.to_owned(), None, Vec::new());
        for line in case.lines() {
            match line.split_at(line.len().min(2)) {
                ("- ", before) => old = Some(lines(before)),
                ("+ ", after) => {
                    let old = old.take().unwrap();
                    assert!(text.contains(&old), "{case}");
                    text = text.replacen(&old, &lines(after), 1);
                }
                ("& ", more) => text += &lines(more),
                ("! ", message) => said.push(message),
                ("!", _) => {}
                _ => panic!("a line that begins with no sign: {line}"),
            }
        }
        match planned(&text) {
            Ok(plan) => assert_eq!((said, plan.warnings), (vec![], vec![]), "{case}"),
            Err(error) => assert_eq!(error.to_string(), said.join("\n"), "{case}"),
        }
        checked += 1;
    }
    assert!(checked > 250, "{checked}");
}
