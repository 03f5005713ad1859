//! Lines of other processes, with a limit on their length.

use std::io::{self, BufRead, Read};

/// The reason why no further line is read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    /// The line is longer than the limit, which is given in bytes.
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    /// The line is not text.
    #[error("a line that is not UTF-8")]
    NotUtf8,
    /// The input failed.
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// The lines of an input, each of at most `most` bytes without its line feed. An error is the last item. A last line without a line feed
/// was cut off when its sender ended, and is left out.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    most: usize,
    has_ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `most` bytes from `input`.
    pub(crate) fn new(input: R, most: usize) -> Self {
        Self { input, most, has_ended: false }
    }

    fn line(&mut self) -> Result<Option<String>, LineError> {
        let mut line = Vec::new();
        let limit = (self.most as u64).saturating_add(1);
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut line)?;
        if line.pop_if(|last| *last == b'\n').is_some() {
            return String::from_utf8(line).map(Some).map_err(|_| LineError::NotUtf8);
        }
        if (read as u64) < limit { Ok(None) } else { Err(LineError::TooLong(self.most)) }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<String, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let line = self.line().transpose();
        self.has_ended = !matches!(line, Some(Ok(_)));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], most: usize) -> Vec<String> {
        let read = Lines::new(io::BufReader::with_capacity(3, input), most);
        read.map(|line| line.unwrap_or_else(|error| format!("! {error}"))).collect()
    }

    #[test]
    fn a_line_may_have_as_many_bytes_as_allowed_and_not_one_more() {
        assert_eq!(lines(b"1234\n\n12\n", 4), ["1234", "", "12"]);
        assert_eq!(lines(b"12\n12345\n12\n", 4), ["12", "! a line of more than 4 bytes"]);
    }

    #[test]
    fn a_line_without_end_is_refused_after_the_bytes_that_it_may_have() {
        let mut input = io::repeat(b'A').take(1 << 40);
        let mut read = Lines::new(io::BufReader::new(&mut input), 1 << 20);
        assert!(matches!(read.next(), Some(Err(LineError::TooLong(_)))));
        assert!(read.next().is_none());
        // The line, one byte, and what the buffer read ahead.
        assert!((1 << 40) - input.limit() <= (1 << 20) + 1 + 8_192);
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out_and_bytes_that_are_no_text_are_an_error() {
        assert_eq!(lines(b"one\ntw", 9), ["one"]);
        assert_eq!(lines(b"one\n\xff\xfe\ntwo\n", 9), ["one", "! a line that is not UTF-8"]);
    }
}
