//! The controller's end of the connection to an agent.

use std::io::{self, BufReader, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use priolane_core::text::printable;
use serde::{Deserialize, Serialize};

use super::message::{FromAgent, ToAgent};
use crate::child::{Surroundings, end_with_parent, kill_group};
use crate::clock::{MachineClock, now};
use crate::command::GoOn;
use crate::last_words::LastWords;
use crate::lines::Lines;
use crate::pipe_writer::PipeWriter;
use crate::unix_socket;

/// Time that a process has to end after its input has ended. A process that takes longer is killed.
const ENDS: Duration = Duration::from_secs(2);
/// The interval at which the process is polled.
const LOOK: Duration = Duration::from_millis(10);
/// Characters that an error shows of a line that is not a message of an agent.
const SHOWN: usize = 200;

/// The way in which the agent of a machine is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAddress {
    /// Through the system's ssh. The remote shell starts the agent with the given command.
    Ssh {
        /// The destination for ssh: `HOST` or `USER@HOST`.
        host: String,
        /// The command that starts priolane on the machine.
        priolane: String,
    },
    /// Through a command whose standard input and output are those of an agent.
    Command(Vec<String>),
    /// Through the Unix socket of an agent on this machine.
    Socket(PathBuf),
}

impl AgentAddress {
    /// Returns the command that starts the agent, or `None` for a socket.
    fn command(&self) -> Option<Vec<String>> {
        match self {
            Self::Ssh { host, priolane } => {
                // It asks for no password, and notices within 15 s that the other side is gone.
                let options =
                    ["BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=3"];
                let options = options.into_iter().flat_map(|option| ["-o", option]);
                let words = ["ssh", "-T"].into_iter().chain(options).chain(["--", host.as_str()]);
                let agent = format!("{priolane} linux agent");
                Some(words.map(str::to_owned).chain([agent]).collect())
            }
            Self::Command(argv) => Some(argv.clone()),
            Self::Socket(_) => None,
        }
    }
}

/// An event on the connection to an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AgentEvent {
    /// A message, and its time of arrival by the controller's clock.
    Message(FromAgent, u64),
    /// The connection has ended, for this reason.
    Gone(String),
}

/// The other end of the connection.
enum Peer {
    Process(Child),
    Socket(UnixStream),
}

/// The connection to an agent. When it is dropped, the agent ends.
pub(crate) struct Channel {
    output: PipeWriter,
    peer: Peer,
    closed: Option<Instant>,
}

/// The parameters for reading the messages of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearing {
    /// The clock that stamps messages when they arrive.
    pub(crate) clock: MachineClock,
    /// The length of the longest line that is accepted, in bytes.
    pub(crate) longest: usize,
}

impl Channel {
    /// Opens the connection, unless `go_on` returns false first. Events go to `on_event` until it returns false.
    pub(crate) fn open(
        address: &AgentAddress,
        hearing: Hearing,
        on_event: impl Fn(AgentEvent) -> bool + Send + 'static,
        go_on: &mut GoOn<'_>,
    ) -> io::Result<Self> {
        if let AgentAddress::Socket(path) = address {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let stream = unix_socket::connect(path, go_on).map_err(named)?;
            let (input, output) = (stream.try_clone()?, stream.try_clone()?);
            thread::spawn(move || listen(input, || "its agent ended".to_owned(), hearing, on_event));
            return Ok(Self { output: PipeWriter::start(output), peer: Peer::Socket(stream), closed: None });
        }
        let argv = address.command().unwrap_or_default();
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        end_with_parent(&mut command, Surroundings::Shared);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{program}: {error}"));
        let mut child = command.spawn().map_err(named)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(output), Some(input), Some(errors)) = pipes else {
            return Err(io::Error::other("the process of an agent has no pipes"));
        };
        thread::spawn(move || {
            let words = LastWords::of(errors);
            listen(input, || words.or("its agent ended"), hearing, on_event);
        });
        Ok(Self { output: PipeWriter::start(output), peer: Peer::Process(child), closed: None })
    }

    /// Queues a message for the agent. An agent that has ended is not an error here: [`AgentEvent::Gone`] reports it.
    ///
    /// # Errors
    /// Returns an error if the agent does not read the messages in the queue.
    pub(crate) fn tell(&self, message: &ToAgent) -> io::Result<()> {
        let text = serde_json::to_string(message).map_err(io::Error::other)?;
        let queued = self.output.tell(text);
        queued.map_err(|error| io::Error::new(error.kind(), format!("its agent does not read: {error}")))
    }

    /// Closes the agent's input, which makes the agent end.
    pub(crate) fn close(&mut self) {
        if self.closed.is_none() {
            self.closed = Some(now());
        }
        self.output.close();
        if let Peer::Socket(stream) = &self.peer {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.close();
        let Peer::Process(child) = &mut self.peer else { return };
        let closed = self.closed.unwrap_or_else(now);
        while matches!(child.try_wait(), Ok(None)) {
            if now().saturating_duration_since(closed) > ENDS {
                return kill_group(child);
            }
            thread::sleep(LOOK);
        }
    }
}

/// Forwards the messages of an agent, and at last the reason why the connection ended.
fn listen(
    input: impl Read,
    why: impl FnOnce() -> String,
    Hearing { clock, longest }: Hearing,
    on_event: impl Fn(AgentEvent) -> bool,
) {
    for line in Lines::new(BufReader::new(input), longest) {
        let came_ns = clock.now_ns();
        let message = match line {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|_| format!("its agent said \"{}\", which no agent says", printable(&line, SHOWN))),
            Err(error) => Err(format!("its agent said {error}")),
        };
        let event = match message {
            Ok(message) => AgentEvent::Message(message, came_ns),
            Err(why) => {
                on_event(AgentEvent::Gone(why));
                return;
            }
        };
        if !on_event(event) {
            return;
        }
    }
    on_event(AgentEvent::Gone(why()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_takes_no_option_for_a_host_and_asks_nothing() {
        let address =
            AgentAddress::Ssh { host: "me@left".to_owned(), priolane: "/opt/bin/priolane".to_owned() };
        let argv = address.command().unwrap();
        assert_eq!((argv[0].as_str(), argv[1].as_str()), ("ssh", "-T"));
        assert!(argv.windows(2).any(|pair| pair == ["-o", "BatchMode=yes"]));
        assert_eq!(argv[argv.len() - 3..], ["--", "me@left", "/opt/bin/priolane linux agent"]);
    }

    #[test]
    fn what_a_process_says_instead_of_an_agent_is_told() {
        let heard_of = |script: &str| {
            let (tell, events) = std::sync::mpsc::channel();
            let address = AgentAddress::Command(["sh", "-c", script].map(str::to_owned).to_vec());
            let hearing = Hearing { clock: MachineClock::shifted(0), longest: 1_000 };
            let channel =
                Channel::open(&address, hearing, move |event| tell.send(event).is_ok(), &mut || true)
                    .unwrap();
            let first = events.recv().unwrap();
            drop(channel);
            first
        };
        let hello = heard_of("echo hello");
        assert_eq!(hello, AgentEvent::Gone("its agent said \"hello\", which no agent says".to_owned()));
        let missing = heard_of("echo first >&2; echo 'sh: priolane: not found' >&2; exit 127");
        assert_eq!(missing, AgentEvent::Gone("sh: priolane: not found".to_owned()));
        assert_eq!(heard_of("true"), AgentEvent::Gone("its agent ended".to_owned()));
        let endless = heard_of("exec cat /dev/zero");
        assert_eq!(endless, AgentEvent::Gone("its agent said a line of more than 1000 bytes".to_owned()));
        let hostile = heard_of("printf 'a\\033[2Jb\\n'");
        assert_eq!(hostile, AgentEvent::Gone("its agent said \"a�[2Jb\", which no agent says".to_owned()));
        let hostile = heard_of("printf 'a\\033[2Jb\\n' >&2; exit 1");
        assert_eq!(hostile, AgentEvent::Gone("a�[2Jb".to_owned()));
    }
}
