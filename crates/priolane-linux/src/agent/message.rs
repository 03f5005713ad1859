//! Messages between the controller of a run and the agent of a machine: one JSON object per line.
//!
//! ```text
//! controller   hello   probe ...   host ...   tell "greet"     start   tell "stop"          probe ...   (end of input)
//! agent        hello   probe ...              host "ready" ...         host "done", reports   probe ...
//! ```
//!
//! `job` describes the lines of hosts. An agent kills its hosts when its input ends, and after half a minute without a message. Probes
//! also serve as keep-alives.

use priolane_core::text::printable;
use serde::{Deserialize, Serialize};

use crate::job::HostJob;

/// The release of the sender. Both sides send it first, in a form that stays the same in all releases.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Version of priolane and of its results.
    pub(crate) release: String,
}

/// A message of a controller to an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToAgent {
    /// The first message.
    Hello(Hello),
    /// Asks for the agent's time. `sent_ns` is when the probe was sent, in nanoseconds since 1970.
    Probe {
        /// The time of the probe by the controller's clock.
        sent_ns: u64,
    },
    /// Starts a host with this job.
    Host(Box<HostJob>),
    /// Passes this order to all hosts.
    Tell(Order),
    /// Lets all hosts start at this time, in nanoseconds since 1970.
    Start {
        /// The start by the agent's clock.
        at_ns: u64,
    },
}

/// An order for all hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Lets each host greet the hosts to which it will send.
    Greet,
    /// Lets each host stop and report.
    Stop,
}

impl Order {
    /// Returns the line that is written to a host; `job` describes the line.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Greet => "greet",
            Self::Stop => "stop",
        }
    }
}

/// A message of an agent to its controller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromAgent {
    /// The first message.
    Hello(Hello),
    /// The answer to a probe.
    Probe {
        /// The time of the probe, copied from it.
        sent_ns: u64,
        /// The time at which the probe arrived, by the agent's clock.
        received_ns: u64,
        /// The time at which the answer was written, by the agent's clock.
        answered_ns: u64,
    },
    /// A line of a host.
    Host {
        /// The number of the host.
        host: u16,
        /// The line that the host wrote.
        line: String,
    },
    /// The process of a host has ended.
    Ended {
        /// The number of the host.
        host: u16,
        /// The last words of the process.
        message: String,
    },
    /// The agent ends, for this reason.
    Refused(String),
}

/// Returns the message for an agent and a controller of different releases.
pub(crate) fn other_release(theirs: &str, ours: &str) -> String {
    const SHOWN: usize = 60;
    let [theirs, ours] = [theirs, ours].map(|release| printable(release, SHOWN));
    let version = |release: &str| release.split('+').next().unwrap_or(release).to_owned();
    format!(
        "its agent is of priolane {theirs}, this is {ours}. Install the same on both, such as by `pip install priolane=={}`",
        version(&ours)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_release_is_told_with_what_to_install() {
        assert_eq!(
            other_release("0.1.0+results.3", "0.2.0+results.4"),
            "its agent is of priolane 0.1.0+results.3, this is 0.2.0+results.4. Install the same on both, such as by `pip install \
             priolane==0.2.0`"
        );
    }

    #[test]
    fn a_release_that_is_no_release_is_shown_without_what_a_terminal_obeys() {
        let shown = other_release(&format!("\u{1b}[2J{}", "9".repeat(1_000)), "1");
        assert!(shown.starts_with("its agent is of priolane �[2J999") && shown.len() < 300, "{shown}");
    }

    #[test]
    fn orders_are_the_lines_that_hosts_know_and_no_others() {
        for order in [Order::Greet, Order::Stop] {
            assert_eq!(serde_json::to_string(&order).unwrap(), format!("\"{}\"", order.line()));
        }
        assert!(serde_json::from_str::<ToAgent>(r#"{"tell":"start 1\nstop"}"#).is_err());
    }

    #[test]
    fn a_hello_of_a_later_release_is_read() {
        let read = serde_json::from_str::<FromAgent>(r#"{"hello":{"release":"9","news":[1]}}"#).unwrap();
        assert_eq!(read, FromAgent::Hello(Hello { release: "9".to_owned() }));
    }
}
