//! A host process, started and heard by the process that controls it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use crate::job::HostJob;

/// What a host process says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum HostOutput {
    /// A line of its standard output.
    Line(String),
    /// It has ended, with these last words on standard error.
    End(String),
}

/// A host process; it is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct HostProcess {
    child: Child,
    input: ChildStdin,
}

impl HostProcess {
    /// Starts `argv`, gives it its job, and passes what it says to `on_output`, until that returns false.
    pub(crate) fn start(
        argv: &[String],
        job: &HostJob,
        on_output: impl Fn(HostOutput) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("a host process has no pipes"));
        };
        let mut process = Self { child, input };
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if !on_output(HostOutput::Line(line)) {
                    return;
                }
            }
            on_output(HostOutput::End(last_words(errors)));
        });
        let text = serde_json::to_string(job).map_err(io::Error::other)?;
        // A process that has ended says why.
        match process.tell(&text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(process),
        }
    }

    /// Writes a line to it.
    pub(crate) fn tell(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.input, "{line}")
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last line that is not empty, of a process that has ended.
pub(crate) fn last_words(mut errors: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = errors.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("its process ended");
    last.trim().to_owned()
}
