//! The agent: what a machine does for a controller.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::message::{FromAgent, Hello, ToAgent, other_release};
use crate::clock::MachineClock;
use crate::host_process::{HostOutput, HostProcess};
use crate::job::HostJob;

/// The longest that a controller is silent: it sends a probe each second.
const SILENCE: Duration = Duration::from_secs(30);

/// Who an agent is.
#[derive(Clone, Debug)]
pub struct Agent {
    /// What starts a host, with the argument `host`.
    pub program: Vec<String>,
    /// Version of priolane and of its results: the controller has the same.
    pub release: String,
    /// By how much its clock is wrong, in nanoseconds: for tests of clocks on one machine. 0 otherwise.
    pub clock_shift_ns: i64,
}

/// Why an agent ends before its controller has what it wanted.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The controller is of another release.
    #[error("{0}")]
    Release(String),
    /// The controller said what it should not.
    #[error("{0}")]
    Message(String),
    /// The controller is silent.
    #[error("the controller of the run has said nothing for {} s", SILENCE.as_secs())]
    Silent,
    /// The channel, a socket or a process failed.
    #[error("{0}")]
    Channel(#[from] io::Error),
}

/// Where an agent and the threads that read the output of its hosts write.
type Output = Arc<Mutex<dyn Write + Send>>;

fn say(output: &Output, message: &FromAgent) -> io::Result<()> {
    let text = serde_json::to_string(message).map_err(io::Error::other)?;
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{text}")?;
    output.flush()
}

/// Serves a controller until `input` ends. The hosts that it started are then killed.
///
/// # Errors
/// [`AgentError`]; the controller receives its text as well.
pub fn serve(
    agent: &Agent,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), AgentError> {
    let clock = MachineClock::shifted(agent.clock_shift_ns);
    let output: Output = Arc::new(Mutex::new(output));
    say(&output, &FromAgent::Hello(Hello { release: agent.release.clone() }))?;
    let lines = stamped_lines(input, clock);
    let mut session = Session { agent, clock, output, hosts: BTreeMap::new() };
    let served = session.serve(&lines);
    if let Err(error) = &served {
        // Who is gone is not told.
        let _ = say(&session.output, &FromAgent::Refused(error.to_string()));
    }
    served
}

/// The lines of `input` and when they came, read by a thread.
fn stamped_lines(input: impl BufRead + Send + 'static, clock: MachineClock) -> Receiver<(String, u64)> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in input.lines().map_while(Result::ok) {
            if sender.send((line, clock.now_ns())).is_err() {
                return;
            }
        }
    });
    receiver
}

struct Session<'a> {
    agent: &'a Agent,
    clock: MachineClock,
    output: Output,
    hosts: BTreeMap<u16, HostProcess>,
}

impl Session<'_> {
    fn serve(&mut self, lines: &Receiver<(String, u64)>) -> Result<(), AgentError> {
        let mut is_known = false;
        loop {
            let (line, came_ns) = match lines.recv_timeout(SILENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => return Err(AgentError::Silent),
            };
            let message = serde_json::from_str(&line)
                .map_err(|error| AgentError::Message(format!("a message of the controller: {error}")))?;
            match message {
                ToAgent::Hello(Hello { release }) if release == self.agent.release => is_known = true,
                ToAgent::Hello(Hello { release }) => {
                    return Err(AgentError::Release(other_release(&self.agent.release, &release)));
                }
                _ if !is_known => {
                    return Err(AgentError::Message("the controller did not say its release".to_owned()));
                }
                message => self.carry_out(message, came_ns)?,
            }
        }
    }

    fn carry_out(&mut self, message: ToAgent, came_ns: u64) -> Result<(), AgentError> {
        match message {
            ToAgent::Hello(_) => Ok(()),
            ToAgent::Probe { sent_ns } => {
                let answered_ns = self.clock.now_ns();
                Ok(say(&self.output, &FromAgent::Probe { sent_ns, received_ns: came_ns, answered_ns })?)
            }
            ToAgent::Host(job) => self.start_host(&job),
            ToAgent::Tell(line) => self.tell_all(&line),
            ToAgent::Start { at_ns } => match self.clock.on_the_wall(at_ns) {
                Some(wall_ns) => self.tell_all(&format!("start {wall_ns}")),
                None => Err(AgentError::Message(
                    "the order to start came after the start: the way is slow".to_owned(),
                )),
            },
        }
    }

    fn start_host(&mut self, job: &HostJob) -> Result<(), AgentError> {
        let argv = [&self.agent.program[..], &["host".to_owned()]].concat();
        let (host, output) = (job.host, Arc::clone(&self.output));
        let on_output = move |from_host| {
            let message = match from_host {
                HostOutput::Line(line) => FromAgent::Host { host, line },
                HostOutput::End(message) => FromAgent::Ended { host, message },
            };
            say(&output, &message).is_ok()
        };
        self.hosts.insert(host, HostProcess::start(&argv, job, on_output)?);
        Ok(())
    }

    fn tell_all(&mut self, line: &str) -> Result<(), AgentError> {
        for process in self.hosts.values_mut() {
            match process.tell(line) {
                // The reader of its output reports why it ended.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// What an agent says to these lines, and how it ends.
    fn answers(lines: &'static str) -> (Vec<FromAgent>, Result<(), AgentError>) {
        let (tell, told) = mpsc::channel();
        struct ChannelWriter(mpsc::Sender<Vec<u8>>);
        impl Write for ChannelWriter {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let agent =
            Agent { program: vec!["false".to_owned()], release: "1+results.2".to_owned(), clock_shift_ns: 0 };
        let served = serve(&agent, Cursor::new(lines), ChannelWriter(tell));
        let text: Vec<u8> = told.try_iter().flatten().collect();
        let messages = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        (messages.map(|line| serde_json::from_slice(line).unwrap()).collect(), served)
    }

    #[test]
    fn a_probe_is_answered_with_the_time_here() {
        let (messages, served) =
            answers("{\"hello\":{\"release\":\"1+results.2\"}}\n{\"probe\":{\"sent_ns\":7}}\n");
        assert!(served.is_ok(), "{served:?}");
        let [FromAgent::Hello(hello), FromAgent::Probe { sent_ns: 7, received_ns, answered_ns }] =
            &messages[..]
        else {
            panic!("{messages:?}")
        };
        assert_eq!(hello.release, "1+results.2");
        // Between 2020 and 2100.
        assert!(
            received_ns <= answered_ns
                && (1_577_836_800..4_102_444_800).contains(&(received_ns / 1_000_000_000))
        );
    }

    #[test]
    fn a_controller_of_another_release_is_refused_before_anything_is_done() {
        let (messages, served) = answers("{\"hello\":{\"release\":\"2+results.2\"}}\n{\"tell\":\"greet\"}\n");
        let error = served.unwrap_err().to_string();
        assert!(
            error.starts_with("its agent is of priolane 1+results.2, this is 2+results.2. Install"),
            "{error}"
        );
        assert_eq!(messages.last(), Some(&FromAgent::Refused(error)));
        let (_, served) = answers("{\"tell\":\"greet\"}\n");
        assert_eq!(served.unwrap_err().to_string(), "the controller did not say its release");
        assert!(
            answers("greet\n")
                .1
                .unwrap_err()
                .to_string()
                .starts_with("a message of the controller: expected")
        );
    }

    #[test]
    fn an_order_to_start_that_comes_too_late_is_refused() {
        let lines = "{\"hello\":{\"release\":\"1+results.2\"}}\n{\"start\":{\"at_ns\":1}}\n";
        assert!(
            answers(lines).1.unwrap_err().to_string().starts_with("the order to start came after the start")
        );
    }
}
