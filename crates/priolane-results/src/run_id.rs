//! Ids of runs.

/// A run's id: 16 lower-case hexadecimal digits. Only directories with such names belong to priolane.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// Parses `text` as a run's id; `None` if it has another form.
    pub fn new(text: &str) -> Option<Self> {
        let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 16 && text.bytes().all(hexadecimal)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
