//! The agent, which runs hosts on a machine for a controller.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use priolane_core::text::printable;

use super::message::{FromAgent, Hello, ToAgent, other_release};
use crate::clock::MachineClock;
use crate::host_process::{HostOutput, HostProcess};
use crate::job::HostJob;
use crate::last_words::SHOWN;
use crate::limits::{self, LONGEST_JOB};
use crate::lines::{LineError, Lines};
use crate::network::MOST_HOSTS;
use crate::pipe_writer::PipeWriter;

/// Time after which a controller that sends nothing has failed, since it sends a probe each second. Also the time within which it must
/// read the messages in the queue.
const SILENCE: Duration = Duration::from_secs(30);
/// Time that a controller has to read the reason why its agent ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The largest number of lines of a controller that wait in the queue.
const QUEUE: usize = 4;

/// The configuration of an agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The command that starts a host when the argument `host` is appended.
    pub program: Vec<String>,
    /// The version of priolane and of its results, which the controller must share.
    pub release: String,
    /// An offset that is added to the agent's clock, in nanoseconds, for tests of clocks on one machine. Default: 0.
    pub clock_shift_ns: i64,
}

/// The reason why an agent ends before the run is complete.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The controller is of another release.
    #[error("{0}")]
    Release(String),
    /// The controller sent a message that is not valid, or not valid at this point.
    #[error("{0}")]
    Message(String),
    /// The controller is silent.
    #[error("the controller of the run has said nothing for {} s", SILENCE.as_secs())]
    Silent,
    /// The channel, a socket or a process failed.
    #[error("{0}")]
    Channel(#[from] io::Error),
}

/// The output of an agent, which it shares with the threads that read the output of its hosts.
type Output = Arc<Mutex<PipeWriter>>;

fn say(output: &Output, message: &FromAgent) -> io::Result<()> {
    let text = serde_json::to_string(message).map_err(io::Error::other)?;
    let queued = output.lock().unwrap_or_else(PoisonError::into_inner).tell_within(text, SILENCE);
    queued.map_err(|error| io::Error::new(error.kind(), format!("the controller does not read: {error}")))
}

fn refused(what: impl AsRef<str>) -> AgentError {
    AgentError::Message(printable(what.as_ref(), SHOWN))
}

/// Serves a controller until `input` ends. The hosts that were started are then killed.
///
/// # Errors
/// Returns an [`AgentError`], whose text is also sent to the controller.
pub fn serve(
    agent: &Agent,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), AgentError> {
    let clock = MachineClock::shifted(agent.clock_shift_ns);
    let output: Output = Arc::new(Mutex::new(PipeWriter::start(output)));
    say(&output, &FromAgent::Hello(Hello { release: agent.release.clone() }))?;
    let lines = stamped_lines(input, clock);
    let mut session = Session { agent, clock, output, hosts: BTreeMap::new() };
    let served = session.serve(&lines);
    session.hosts.clear();
    if let Err(error) = &served {
        // A controller that has gone cannot be told.
        let _ = say(&session.output, &FromAgent::Refused(error.to_string()));
    }
    session.output.lock().unwrap_or_else(PoisonError::into_inner).finish(LAST_WORDS);
    served
}

/// A line of a controller, and the time of its arrival.
type StampedLine = (Result<String, LineError>, u64);

/// Starts a thread that reads the lines of `input` and stamps them with the time of their arrival.
fn stamped_lines(input: impl BufRead + Send + 'static, clock: MachineClock) -> Receiver<StampedLine> {
    let (sender, receiver) = mpsc::sync_channel(QUEUE);
    thread::spawn(move || {
        for line in Lines::new(input, LONGEST_JOB) {
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
    fn serve(&mut self, lines: &Receiver<StampedLine>) -> Result<(), AgentError> {
        let mut is_known = false;
        loop {
            let (line, came_ns) = match lines.recv_timeout(SILENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => return Err(AgentError::Silent),
            };
            let line = line.map_err(|error| refused(format!("the controller said {error}")))?;
            let message = serde_json::from_str(&line)
                .map_err(|error| refused(format!("a message of the controller: {error}")))?;
            match message {
                ToAgent::Hello(Hello { release }) if release == self.agent.release => is_known = true,
                ToAgent::Hello(Hello { release }) => {
                    return Err(AgentError::Release(other_release(&self.agent.release, &release)));
                }
                _ if !is_known => {
                    return Err(refused("the controller did not say its release"));
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
            ToAgent::Tell(order) => self.tell_all(order.line()),
            ToAgent::Start { at_ns } => match self.clock.on_the_wall(at_ns) {
                Some(wall_ns) => self.tell_all(&format!("start {wall_ns}")),
                None => Err(refused("the order to start came after the start: the way is slow")),
            },
        }
    }

    fn start_host(&mut self, job: &HostJob) -> Result<(), AgentError> {
        limits::check(job).map_err(refused)?;
        if self.hosts.contains_key(&job.host) {
            return Err(refused(format!("the controller starts host {} twice", job.host)));
        }
        if self.hosts.len() >= usize::from(MOST_HOSTS) {
            return Err(refused(format!("the controller starts more than {MOST_HOSTS} hosts")));
        }
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
        Ok(self.hosts.values().try_for_each(|process| process.tell(line.to_owned()))?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Returns the answers of an agent to these lines, and the way in which it ends.
    fn answers(lines: impl Into<String>) -> (Vec<FromAgent>, Result<(), AgentError>) {
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
        let served = serve(&agent, Cursor::new(lines.into()), ChannelWriter(tell));
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

    #[test]
    fn absurd_orders_are_refused_in_one_short_line_without_what_a_terminal_obeys() {
        use crate::host_jobs::tests::{host_job, plain};
        const HELLO: &str = "{\"hello\":{\"release\":\"1+results.2\"}}\n";
        let error = |message: &str| answers(format!("{HELLO}{message}\n")).1.unwrap_err().to_string();
        let unknown = error(&format!("{{\"\u{1b}[2J{}\":1}}", "A".repeat(10_000_000)));
        assert!(unknown.starts_with("a message of the controller: "), "{unknown}");
        assert!(unknown.chars().count() <= SHOWN && !unknown.contains('\u{1b}'), "{unknown}");
        let of = |job: &HostJob| serde_json::to_string(&ToAgent::Host(Box::new(job.clone()))).unwrap();
        let mut job = host_job(0, vec![plain(3)]);
        let host = of(&job);
        assert_eq!(error(&format!("{host}\n{host}")), "the controller starts host 0 twice");
        job.flows[0].bytes = 1 << 63;
        assert_eq!(error(&of(&job)), "flow 3 has 9223372036854775808 bytes; write 1 to 4294967296");
        assert!(error("{\"tell\":\"start 1\"}").starts_with("a message of the controller: unknown variant"));
    }

    #[test]
    fn a_line_without_end_is_refused() {
        use std::io::Read;
        let agent = Agent { program: Vec::new(), release: "1".to_owned(), clock_shift_ns: 0 };
        let served =
            serve(&agent, std::io::BufReader::new(std::io::repeat(b'A').take(1 << 40)), std::io::sink());
        assert_eq!(
            served.unwrap_err().to_string(),
            format!("the controller said a line of more than {LONGEST_JOB} bytes")
        );
    }

    #[test]
    fn a_probe_came_when_its_line_came_and_not_when_it_is_answered() {
        let (output, input) = std::os::unix::net::UnixStream::pair().unwrap();
        let agent = Agent { program: Vec::new(), release: "1".to_owned(), clock_shift_ns: 0 };
        let output = Arc::new(Mutex::new(PipeWriter::start(output)));
        let mut session =
            Session { agent: &agent, clock: MachineClock::shifted(0), output, hosts: BTreeMap::new() };
        session.carry_out(ToAgent::Probe { sent_ns: 7 }, 5).unwrap();
        drop(session);
        let answer: FromAgent = serde_json::from_str(&io::read_to_string(input).unwrap()).unwrap();
        let FromAgent::Probe { sent_ns: 7, received_ns: 5, answered_ns } = answer else {
            panic!("{answer:?}")
        };
        assert!(answered_ns > 1_577_836_800_000_000_000);
    }
}
