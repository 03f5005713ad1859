//! The controller's end of the way to an agent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::{FromAgent, ToAgent};
use crate::clock::MachineClock;

/// What a process that has ended takes to write its last words, and one whose input has ended to end.
const LAST_WORDS: Duration = Duration::from_millis(300);
const ENDS: Duration = Duration::from_secs(2);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(10);
/// Number of characters that an error shows of a line that is no message of an agent.
const SHOWN: usize = 200;

/// How the agent of a machine is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAddress {
    /// By the system's ssh, as this user and host of it; the remote shell starts the agent by this command.
    Ssh {
        /// What ssh calls it: `HOST` or `USER@HOST`.
        host: String,
        /// What starts priolane there.
        priolane: String,
    },
    /// By a command whose standard input and output are those of an agent.
    Command(Vec<String>),
    /// By the Unix socket of an agent on this machine.
    Socket(PathBuf),
}

impl AgentAddress {
    /// The command that starts the agent; none for a socket.
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

/// What is heard of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AgentEvent {
    /// A message, and when it came by the controller's clock.
    Message(FromAgent, u64),
    /// Nothing more, for this reason.
    Gone(String),
}

/// What is at the other end of the way.
enum Peer {
    Process(Child),
    Socket(UnixStream),
}

/// The way to an agent. When this is dropped, the agent ends.
pub(crate) struct Channel {
    /// `None` once it is closed.
    output: Option<Box<dyn Write + Send>>,
    peer: Peer,
}

impl Channel {
    /// Opens it; what is heard goes to `on_event`, until that returns false.
    pub(crate) fn open(
        address: &AgentAddress,
        clock: MachineClock,
        on_event: impl Fn(AgentEvent) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        if let AgentAddress::Socket(path) = address {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let stream = UnixStream::connect(path).map_err(named)?;
            let (input, output) = (stream.try_clone()?, stream.try_clone()?);
            thread::spawn(move || listen(input, || "its agent ended".to_owned(), clock, on_event));
            return Ok(Self { output: Some(Box::new(output)), peer: Peer::Socket(stream) });
        }
        let argv = address.command().unwrap_or_default();
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        // In a process group of its own, so that no Ctrl-C reaches it: the controller ends it.
        command.args(arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{program}: {error}"));
        let mut child = command.spawn().map_err(named)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(output), Some(input), Some(errors)) = pipes else {
            return Err(io::Error::other("the process of an agent has no pipes"));
        };
        let words = lines(errors);
        thread::spawn(move || listen(input, || last_words(&words), clock, on_event));
        Ok(Self { output: Some(Box::new(output)), peer: Peer::Process(child) })
    }

    /// Writes a message. That the agent is gone is no error here: an event says so.
    pub(crate) fn tell(&mut self, message: &ToAgent) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let mut text = serde_json::to_string(message).map_err(io::Error::other)?;
        text.push('\n');
        match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Ends the agent's input, and so the agent.
    pub(crate) fn close(&mut self) {
        drop(self.output.take());
        if let Peer::Socket(stream) = &self.peer {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.close();
        let Peer::Process(child) = &mut self.peer else { return };
        let mut left = ENDS;
        while let Ok(None) = child.try_wait() {
            if left.is_zero() {
                let _ = child.kill();
            }
            thread::sleep(LOOK);
            left = left.saturating_sub(LOOK);
        }
    }
}

/// Passes on what an agent says, and at the end why there is nothing more.
fn listen(
    input: impl Read,
    why: impl FnOnce() -> String,
    clock: MachineClock,
    on_event: impl Fn(AgentEvent) -> bool,
) {
    for line in BufReader::new(input).lines().map_while(Result::ok) {
        let came_ns = clock.now_ns();
        let Ok(message) = serde_json::from_str(&line) else {
            let shown: String = line.chars().take(SHOWN).collect();
            on_event(AgentEvent::Gone(format!("its agent said {shown:?}, which no agent says")));
            return;
        };
        if !on_event(AgentEvent::Message(message, came_ns)) {
            return;
        }
    }
    on_event(AgentEvent::Gone(why()));
}

/// The lines of standard error, read as they come.
fn lines(errors: ChildStderr) -> Receiver<String> {
    let (tell, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The last line that is not empty.
fn last_words(lines: &Receiver<String>) -> String {
    let mut last = "its agent ended".to_owned();
    while let Ok(line) = lines.recv_timeout(LAST_WORDS) {
        if !line.trim().is_empty() {
            last = line.trim().to_owned();
        }
    }
    last
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
            let (tell, events) = mpsc::channel();
            let address = AgentAddress::Command(["sh", "-c", script].map(str::to_owned).to_vec());
            let channel =
                Channel::open(&address, MachineClock::shifted(0), move |event| tell.send(event).is_ok())
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
    }
}
