//! Commands that are run to their end within a time limit.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use priolane_core::text::printable;

use crate::child::{Surroundings, end_with_parent, kill_group};
use crate::clock::now;
use crate::last_words::{SHOWN, last_line};

/// The time limit of a command of a testbed (ip, sysctl, tc). Such commands take milliseconds, and seconds on a very
/// busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// The interval at which `go_on` is asked.
const LOOK: Duration = Duration::from_millis(50);
/// The number of bytes of a command's output that are read.
const MOST_OUTPUT: u64 = 16 << 20;

/// The error of a command that failed, or that could not be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{command}` failed: {message}")]
pub struct CommandError {
    /// The command with its arguments.
    pub command: String,
    /// The last line that the command wrote, or the error of the system.
    pub message: String,
}

/// Asks whether to go on. The command in progress is ended if the answer is false.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// Runs a command and returns its standard output. The command is killed if this process ends before it.
///
/// # Errors
/// Returns an error if the command cannot be started, takes more than a minute, or has an exit code other than 0.
pub fn run(argv: &[impl AsRef<str>]) -> Result<String, CommandError> {
    let words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    Invocation::new(&words).run(&mut || true)
}

/// A command, with the namespaces in which it runs and its standard input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invocation<'a> {
    words: &'a [&'a str],
    surroundings: Surroundings,
    input: &'a str,
    limit: Duration,
}

impl<'a> Invocation<'a> {
    /// Creates a command with empty standard input.
    pub(crate) fn new(words: &'a [&'a str]) -> Self {
        Self { words, surroundings: Surroundings::Shared, input: "", limit: LIMIT }
    }

    /// Sets the namespaces in which the command runs.
    pub(crate) fn inside(self, surroundings: Surroundings) -> Self {
        Self { surroundings, ..self }
    }

    /// Sets the standard input.
    pub(crate) fn reading(self, input: &'a str) -> Self {
        Self { input, ..self }
    }

    fn failed(&self, message: impl ToString) -> CommandError {
        CommandError { command: printable(&self.words.join(" "), SHOWN), message: message.to_string() }
    }

    /// Runs the command while `go_on` returns true.
    pub(crate) fn run(self, go_on: &mut GoOn<'_>) -> Result<String, CommandError> {
        let mut child = self.start()?;
        let [out, errors] = outputs(&mut child);
        let ended = self.wait(&mut child, [&out, &errors], go_on);
        if ended.is_err() {
            kill_group(&mut child);
        }
        let (success, status, out, errors) = ended?;
        if success {
            return Ok(String::from_utf8_lossy(&out).into_owned());
        }
        // The last line of `ip` and `tc` in a batch only repeats which command it was.
        let [out, errors] = [out, errors].map(|text| last_words(&text));
        Err(self.failed(errors.or(out).unwrap_or(status)))
    }

    fn start(&self) -> Result<Child, CommandError> {
        let Some((program, arguments)) = self.words.split_first() else {
            return Err(self.failed("no command"));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        end_with_parent(&mut command, self.surroundings);
        let mut child = command.spawn().map_err(|error| self.failed(error))?;
        if let Some(mut input) = child.stdin.take() {
            // Who does not read it says why.
            let _ = input.write_all(self.input.as_bytes());
        }
        Ok(child)
    }

    /// Waits for the end of both outputs and of the process.
    fn wait(
        &self,
        child: &mut Child,
        outputs: [&Receiver<Vec<u8>>; 2],
        go_on: &mut GoOn<'_>,
    ) -> Result<(bool, String, Vec<u8>, Vec<u8>), CommandError> {
        let began = now();
        let mut look = || {
            if !go_on() {
                return Err(self.failed("stopped by request"));
            }
            if now().saturating_duration_since(began) > self.limit {
                return Err(self.failed(format!("it did not end within {} s", self.limit.as_secs_f64())));
            }
            Ok(())
        };
        let mut read = outputs.map(|_| Vec::new());
        for (output, read) in outputs.into_iter().zip(&mut read) {
            *read = loop {
                match output.recv_timeout(LOOK) {
                    Ok(text) => break text,
                    Err(RecvTimeoutError::Timeout) => look()?,
                    Err(RecvTimeoutError::Disconnected) => break Vec::new(),
                }
            };
        }
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| self.failed(error))? {
                break status;
            }
            look()?;
            thread::sleep(Duration::from_millis(1));
        };
        let [out, errors] = read;
        Ok((status.success(), status.to_string(), out, errors))
    }
}

/// Starts threads that read the two outputs of a process.
fn outputs(child: &mut Child) -> [Receiver<Vec<u8>>; 2] {
    fn read(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
        let (tell, read) = mpsc::channel();
        if let Some(stream) = stream {
            thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stream.take(MOST_OUTPUT).read_to_end(&mut text);
                let _ = tell.send(text);
            });
        }
        read
    }
    [read(child.stdout.take()), read(child.stderr.take())]
}

/// Returns the last line of an output that may say why the command failed.
fn last_words(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let telling = |line: &&str| !line.starts_with("Command line") && !line.starts_with("Command failed -:");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(telling).collect();
    last_line(lines.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_its_output_or_its_last_words() {
        assert_eq!(run(&["echo", "a b"]).unwrap(), "a b\n");
        let error = run(&["sh", "-c", "echo first >&2; echo why >&2; exit 3"]).unwrap_err();
        assert_eq!(error.message, "why");
        let error = run(&["sh", "-c", "echo out; exit 3"]).unwrap_err();
        assert_eq!(error.message, "out");
        assert_eq!(run(&["false"]).unwrap_err().to_string(), "`false` failed: exit status: 1");
        assert!(run(&["/nonexistent"]).is_err());
        let words = ["cat"];
        assert_eq!(Invocation::new(&words).reading("read").run(&mut || true).unwrap(), "read");
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_its_children_at_its_limit_or_on_request() {
        let mark = format!("priolane-hang-{}", std::process::id());
        let script = format!("sleep 1000 {mark} 2>/dev/null || sh -c 'sleep 1000; : {mark}'");
        let words = ["sh", "-c", script.as_str()];
        let hanging = Invocation { limit: Duration::from_millis(200), ..Invocation::new(&words) };
        assert_eq!(hanging.run(&mut || true).unwrap_err().message, "it did not end within 0.2 s");
        let mut looks = 0;
        let mut go_on = || {
            looks += 1;
            looks < 3
        };
        assert_eq!(Invocation::new(&words).run(&mut go_on).unwrap_err().message, "stopped by request");
        let left = || {
            let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
            let words = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
            words.filter(|words| String::from_utf8_lossy(words).contains(&mark)).count()
        };
        let began = now();
        while left() > 0 && now().saturating_duration_since(began) < Duration::from_secs(60) {
            thread::sleep(LOOK);
        }
        assert_eq!(left(), 0);
    }
}
