//! A host in a process of its own, which can be frozen and killed. The process runs this test program again.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use priolane_net::{Config, Host, Limits, ReceiveOffload, Request, Segmentation};

use crate::digest::message;
use crate::transports::config;
use crate::wait::PATIENCE;

const TRANSPORT: &str = "PRIOLANE_NET_CHILD";
const ADDRESS: &str = "PRIOLANE_NET_ADDRESS";
const TO: &str = "PRIOLANE_NET_TO";
const SOCKET: &str = "PRIOLANE_NET_SOCKET";
const SEGMENTS: &str = "PRIOLANE_NET_SEGMENTS";

/// The mark before each line of the other process among the output of the test program.
const MARK: &str = "host says ";

/// The number of messages that a host in a process of its own sends, if it is given a receiver.
pub(crate) const COUNT: u64 = 20;

/// Returns the length of message `number` among these.
pub(crate) fn length(number: u64) -> usize {
    20 + number as usize * 10_000
}

/// Runs the other process, and is not a test itself: reports each message that arrives, and sends some messages.
#[test]
fn child() {
    let Ok(name) = std::env::var(TRANSPORT) else { return };
    let address = std::env::var(ADDRESS).unwrap().parse().unwrap();
    let mut limits = Limits::default();
    if let Ok(bytes) = std::env::var(SOCKET) {
        limits.socket = bytes.parse().unwrap();
    }
    let (segmentation, receive_offload) = match std::env::var_os(SEGMENTS) {
        Some(_) => (Segmentation::Kernel, ReceiveOffload::Kernel),
        None => (Segmentation::Host, ReceiveOffload::Off),
    };
    let config = Config { limits, segmentation, receive_offload, ..config(&name).at(address) };
    let host = Host::bind(config).unwrap();
    say(&format!("address {}", host.address()));
    if let Ok(to) = std::env::var(TO) {
        for number in 0..COUNT {
            host.send(Request::to(to.parse().unwrap()), message(number, length(number))).unwrap();
        }
        let flushed = host.flush(PATIENCE) && host.stats().failed == 0;
        let (said, stats) = (if flushed { "flushed" } else { "failed" }, host.stats());
        say(&format!("{said} {} {}", stats.blocked, stats.segments));
    }
    loop {
        let came = host.recv().unwrap();
        let number = u64::from_le_bytes(came.bytes[..8].try_into().unwrap());
        let whole = message(number, came.bytes.len()) == came.bytes;
        say(&format!("{} {number} {}", if whole { "whole" } else { "damaged" }, came.bytes.len()));
    }
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{what}").and_then(|()| out.flush()).unwrap();
}

/// A host in a process of its own, which is killed on drop.
pub(crate) struct HostProcess {
    transport: String,
    child: Child,
    lines: Receiver<String>,
    pub(crate) address: SocketAddr,
}

impl HostProcess {
    /// Starts a host that speaks `transport` at `address` and sends messages to `to`, if that is given.
    pub(crate) fn start(transport: &str, address: &str, to: Option<SocketAddr>) -> Self {
        Self::start_by(Command::new(std::env::current_exe().unwrap()), transport, (address, to))
    }

    /// As [`Self::start`], in a network namespace and with little memory for datagrams that wait to be sent.
    pub(crate) fn start_in(
        namespace: &str,
        (transport, segmentation): (&str, Segmentation),
        (address, to): (&str, Option<SocketAddr>),
    ) -> Self {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(std::env::current_exe().unwrap());
        command.env(SOCKET, "65536");
        if segmentation == Segmentation::Kernel {
            command.env(SEGMENTS, "1");
        }
        Self::start_by(command, transport, (address, to))
    }

    fn start_by(mut command: Command, transport: &str, (address, to): (&str, Option<SocketAddr>)) -> Self {
        command.args(["--exact", "process::child", "--nocapture", "--test-threads=1"]);
        command.env(TRANSPORT, transport).env(ADDRESS, address).stdout(Stdio::piped());
        if let Some(to) = to {
            command.env(TO, to.to_string());
        }
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if let Some(line) = line.strip_prefix(MARK)
                    && tell.send(line.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        let mut host = Self { transport: transport.to_owned(), child, lines, address: ([0; 4], 0).into() };
        let line = host.next().expect("the address");
        host.address = line.strip_prefix("address ").unwrap().parse().unwrap();
        host
    }

    /// Returns the next line of the process, or `None` if that takes too long.
    pub(crate) fn next(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }

    /// Returns the number and the length of the next message that arrives, which must be whole.
    pub(crate) fn arrived(&self) -> (u64, usize) {
        let line = self.next().unwrap_or_else(|| panic!("{}: no other message", self.transport));
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("whole"), "{line}");
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        (number(), number() as usize)
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Freezes the process for `span`.
    pub(crate) fn freeze(&self, span: Duration) {
        self.signal("-STOP");
        std::thread::sleep(span);
        self.signal("-CONT");
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
