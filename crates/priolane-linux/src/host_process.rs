//! A host process, started and read by the process that controls it.

use std::io::{self, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::child::{Surroundings, end_with_parent, kill_group};
use crate::job::HostJob;
use crate::last_words::LastWords;
use crate::limits::longest_report;
use crate::lines::Lines;
use crate::pipe_writer::PipeWriter;

/// The output of a host process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum HostOutput {
    /// A line of the standard output.
    Line(String),
    /// The process has ended with these last words on standard error, or has written a line that is not valid.
    End(String),
}

/// A host process, which is killed on drop and when the thread that started it ends.
#[derive(Debug)]
pub(crate) struct HostProcess {
    child: Child,
    input: PipeWriter,
}

impl HostProcess {
    /// Starts `argv`, passes the job to the process, and passes the output of the process to `on_output` until that
    /// returns false.
    pub(crate) fn start(
        argv: &[String],
        job: &HostJob,
        on_output: impl Fn(HostOutput) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        end_with_parent(&mut command, Surroundings::Shared);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("a host process has no pipes"));
        };
        let process = Self { child, input: PipeWriter::start(input) };
        let longest = longest_report(job);
        thread::spawn(move || {
            let words = LastWords::of(errors);
            for line in Lines::new(BufReader::new(output), longest) {
                let output = match line {
                    Ok(line) => HostOutput::Line(line),
                    Err(error) => HostOutput::End(format!("it wrote {error}")),
                };
                if !on_output(output) {
                    return;
                }
            }
            on_output(HostOutput::End(words.or("its process ended")));
        });
        process.tell(serde_json::to_string(job).map_err(io::Error::other)?)?;
        Ok(process)
    }

    /// Writes a line to the process. A process that has ended gives the reason in its output.
    pub(crate) fn tell(&self, line: String) -> io::Result<()> {
        self.input.tell(line)
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        kill_group(&mut self.child);
    }
}
