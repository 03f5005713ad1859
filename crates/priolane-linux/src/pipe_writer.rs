//! Lines to other processes, written by a thread, so that a process that does not read them blocks no caller.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use crate::clock::now;

/// The largest number of lines in the queue, which exceeds the number of hosts and orders of a run together.
const QUEUE: usize = 256;
/// Time between two attempts to queue a line.
const LOOK: Duration = Duration::from_millis(10);

/// A queue of lines to a process. When it is dropped, the process receives the lines in the queue and then the end of its input.
#[derive(Debug)]
pub(crate) struct PipeWriter {
    /// The sending end of the queue; `None` once it is closed.
    lines: Option<SyncSender<String>>,
    /// Disconnects when all lines have been written.
    written: Receiver<()>,
}

impl PipeWriter {
    /// Starts the thread that writes to `output`.
    pub(crate) fn start(mut output: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = mpsc::sync_channel::<String>(QUEUE);
        let (ended, written) = mpsc::channel();
        thread::spawn(move || {
            let _ended: mpsc::Sender<()> = ended;
            for mut line in waiting {
                line.push('\n');
                if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                    return;
                }
            }
        });
        Self { lines: Some(lines), written }
    }

    /// Queues a line. A reader that has ended is not an error here: the thread that reads its output learns the reason.
    ///
    /// # Errors
    /// Returns `TimedOut` if the queue is full, because the reader does not read.
    pub(crate) fn tell(&self, line: String) -> io::Result<()> {
        self.tell_within(line, Duration::ZERO)
    }

    /// Queues a line, and waits at most `most` for room in the queue.
    ///
    /// # Errors
    /// Returns the errors of [`Self::tell`].
    pub(crate) fn tell_within(&self, mut line: String, most: Duration) -> io::Result<()> {
        let Some(lines) = &self.lines else { return Ok(()) };
        let began = now();
        loop {
            match lines.try_send(line) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return Ok(()),
                Err(TrySendError::Full(_)) if now().saturating_duration_since(began) >= most => {
                    let what = format!("{QUEUE} lines wait to be read");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, what));
                }
                Err(TrySendError::Full(back)) => line = back,
            }
            thread::sleep(LOOK);
        }
    }

    /// Closes the reader's input after the lines in the queue.
    pub(crate) fn close(&mut self) {
        self.lines = None;
    }

    /// Closes the reader's input, and waits at most `most` until all lines are written.
    pub(crate) fn finish(&mut self, most: Duration) {
        self.close();
        let ended = self.written.recv_timeout(most);
        debug_assert!(matches!(ended, Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_reader_that_reads_nothing_holds_nobody_up_and_is_noticed() {
        let (output, _unread) = UnixStream::pair().unwrap();
        let mut writer = PipeWriter::start(output);
        let line = "x".repeat(1 << 20);
        let queued = (0..=2 * QUEUE).try_for_each(|_| writer.tell(line.clone()));
        assert_eq!(queued.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let waited = writer.tell_within(line, Duration::from_millis(20));
        assert_eq!(waited.unwrap_err().kind(), io::ErrorKind::TimedOut);
        writer.finish(Duration::from_millis(20));
    }

    #[test]
    fn all_lines_are_written_before_the_end_of_input() {
        let (output, input) = UnixStream::pair().unwrap();
        let mut writer = PipeWriter::start(output);
        for line in 0..100 {
            writer.tell_within(line.to_string(), Duration::from_secs(60)).unwrap();
        }
        writer.finish(Duration::from_secs(60));
        let read = io::read_to_string(input).unwrap();
        assert_eq!(read.lines().count(), 100);
        assert!(read.ends_with("\n99\n"));
    }

    #[test]
    fn a_reader_that_has_ended_is_no_error() {
        let (output, input) = UnixStream::pair().unwrap();
        drop(input);
        let writer = PipeWriter::start(output);
        (0..10 * QUEUE)
            .try_for_each(|_| writer.tell_within("x".to_owned(), Duration::from_secs(60)))
            .unwrap();
    }
}
