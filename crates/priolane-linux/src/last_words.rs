//! The last lines that a process wrote to standard error, for messages about its end.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use priolane_core::text::printable;

/// The number of characters of another process's text that a message shows.
pub(crate) const SHOWN: usize = 500;
/// The number of bytes at the end of standard error that are kept.
const KEPT: usize = 8_192;
/// The longest time that a process which has closed its output takes to write its last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Reads the standard error of a process continuously, so that the process is never blocked, and keeps the last part.
#[derive(Debug)]
pub(crate) struct LastWords {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnects when the input has ended.
    ended: Receiver<()>,
}

impl LastWords {
    /// Starts a thread that reads `errors`.
    pub(crate) fn of(mut errors: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = mpsc::channel();
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            let _end: mpsc::Sender<()> = end;
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = errors.read(&mut bytes) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&bytes[..count]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
        });
        Self { kept, ended }
    }

    /// Returns the last line that is not empty, without control characters, or `otherwise` if there is none. Waits a
    /// little for a process that is ending.
    pub(crate) fn or(&self, otherwise: &str) -> String {
        let _ = self.ended.recv_timeout(LAST_WORDS);
        let kept: Vec<u8> =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        last_line(&kept).unwrap_or_else(|| otherwise.to_owned())
    }
}

/// Returns the last line of `text` that is not empty, without control characters.
pub(crate) fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(printable(last, SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn the_last_line_is_shown_without_what_a_terminal_obeys() {
        let of = |text: &str| LastWords::of(Cursor::new(text.to_owned())).or("nothing");
        assert_eq!(of("first\n\u{1b}]0;owned\u{7}\u{1b}[31mred \n\n"), "�]0;owned��[31mred");
        assert_eq!(of(" \n"), "nothing");
        assert_eq!(of(&format!("{}\nlast", "A".repeat(1 << 20))), "last");
        assert_eq!(of(&"A".repeat(1 << 20)).chars().count(), SHOWN);
    }

    #[test]
    fn a_stream_that_stays_open_is_not_waited_for() {
        let (errors, mut held) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut held, b"words\n").unwrap();
        assert_eq!(LastWords::of(errors).or("nothing"), "words");
    }
}
