//! A testbed as pure data, and the commands that make the testbed.
//!
//! ```text
//! TestbedPlan   network, name, MTU, how ports mark ──▶ steps: ip, sysctl and tc with their arguments
//! ```
//!
//! Each host and each switch is a network namespace; a cable is a veth pair between two. Switches route: every host has a /32,
//! and neighbours are stated, so that no ARP waits in queues. All names begin with `prl-NAME-`.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use priolane_core::text::printable;
use serde::{Deserialize, Serialize};

use crate::last_words::SHOWN;
use crate::marker::Marker;
use crate::network::{Network, NetworkError, Node, SwitchPort};
use crate::port::Port;
use crate::user_port::UserPort;

/// The prefix of all names of namespaces.
pub const PREFIX: &str = "prl-";
/// The range of the MTU of a veth that carries IPv4.
const MTUS: std::ops::RangeInclusive<u16> = 576..=65_000;

/// Returns whether a name cannot be mistaken for an option of a command, a hidden file or a parent directory: the first
/// character is neither a hyphen nor a dot.
pub fn begins_plainly(name: &str) -> bool {
    !name.starts_with(['-', '.'])
}

/// The name of a testbed: 1 to 16 lower-case letters, digits and hyphens, not beginning with a hyphen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl TryFrom<String> for Name {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, PlanError> {
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if (1..=16).contains(&text.len()) && text.chars().all(known) && begins_plainly(&text) {
            Ok(Self(text))
        } else {
            Err(PlanError::Name(printable(&text, SHOWN)))
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The mechanism by which ports mark packets whose queue is long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marking {
    /// A BPF program that reads the length of the queue.
    Bpf,
    /// RED queues, whose average gives the newest length a weight of one half. Each queue marks by its own length.
    Red,
}

/// A testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestbedPlan {
    /// The name of the testbed.
    pub name: Name,
    /// The hosts, switches and cables. Propagation delays are applied by hosts: see `HostJob`.
    pub network: Network,
    /// The size of the largest IP packet in bytes, 576 to 65,000.
    pub mtu: u16,
    /// The mechanism by which ports mark, if any port does.
    pub marking: Marking,
}

/// The reason why a plan cannot be carried out on any machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// The name is not valid.
    #[error(
        "{0:?} is not a valid name of a testbed; use 1 to 16 of a-z, 0-9 and -, and no - at the beginning"
    )]
    Name(String),
    /// The network is not valid.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The MTU is out of range.
    #[error("an MTU of {0} bytes; use 576 to 65000")]
    Mtu(u16),
    /// The numbers of the port at this cable do not fit each other.
    #[error(
        "cable {0}: a port with 1 to 16 queues (8 under strict priority), a queue of them for each class and a weight for each queue is wanted"
    )]
    Port(usize),
    /// The port in user space at this cable is not valid.
    #[error("cable {0}: {1}")]
    UserPort(usize, String),
    /// RED queues cannot mark as the port asks.
    #[error("a mark by all queues of a port together; RED marks by one queue: use bpf")]
    RedPerPort,
}

/// A step that makes a part of a testbed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Make a namespace with this command. The namespace must not exist before.
    Namespace(String, Vec<String>),
    /// Run a command.
    Run(Vec<String>),
    /// Write a marking program to this file.
    Marker(PathBuf, Marker),
    /// Start the process of a switch in user space with this command. The process keeps running.
    Switch(u16, Vec<String>),
}

/// Returns the words of a command as a shell reads them.
fn quoted(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            return word.clone();
        }
        format!("'{}'", word.replace('\'', "'\\''"))
    };
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Step {
    /// Writes the step as a line of a shell script.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace(_, argv) | Self::Run(argv) => f.write_str(&quoted(argv)),
            Self::Marker(path, marker) => {
                write!(f, "# {}: {marker}", printable(&path.display().to_string(), SHOWN))
            }
            Self::Switch(_, argv) => write!(f, "{} &", quoted(argv)),
        }
    }
}

impl TestbedPlan {
    /// Checks that the plan can be carried out.
    ///
    /// # Errors
    /// Returns the first mistake.
    pub fn check(&self) -> Result<(), PlanError> {
        self.network.check()?;
        if !MTUS.contains(&self.mtu) {
            return Err(PlanError::Mtu(self.mtu));
        }
        if let Some((_, cable, ..)) = self.ports().find(|(.., port)| !port.is_consistent()) {
            return Err(PlanError::Port(cable));
        }
        for (_, cable, _, port) in self.user_ports() {
            port.discipline().map_err(|what| PlanError::UserPort(cable, what))?;
        }
        let per_port = |port: &Port| {
            port.queues > 1 && port.mark.is_some_and(|mark| mark.per == crate::port::Backlog::Port)
        };
        if self.marking == Marking::Red && self.ports().any(|(.., port)| per_port(port)) {
            return Err(PlanError::RedPerPort);
        }
        Ok(())
    }

    /// Returns the namespace of a node.
    pub fn namespace(&self, node: Node) -> String {
        match node {
            Node::Host(host) => format!("{PREFIX}{}-h{host}", self.name),
            Node::Switch(switch) => format!("{PREFIX}{}-s{switch}", self.name),
        }
    }

    /// Returns the namespaces of all nodes, hosts first.
    pub fn namespaces(&self) -> Vec<String> {
        self.network.nodes().map(|node| self.namespace(node)).collect()
    }

    /// Returns the address of a host.
    pub fn address(host: u16) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, (host / 250) as u8, (host % 250 + 1) as u8)
    }

    /// Returns the host with this address.
    pub fn host_of(address: Ipv4Addr) -> Option<u16> {
        let [10, 77, high, low] = address.octets() else { return None };
        let host = u16::from(high) * 250 + u16::from(low.checked_sub(1)?);
        (low <= 250).then_some(host)
    }

    /// Returns the hardware address of an end of a cable.
    pub fn hardware(cable: usize, end: usize) -> [u8; 6] {
        let [high, low] = (cable as u16).to_be_bytes();
        [0x02, 0x70, 0x6c, end as u8, high, low]
    }

    /// Returns the device of a node at one of its cables.
    pub fn device(node: Node, cable: usize) -> String {
        match node {
            Node::Host(_) => "eth0".to_owned(),
            Node::Switch(_) => format!("p{cable}"),
        }
    }

    fn all_ports(&self) -> impl Iterator<Item = (Node, usize, usize, &SwitchPort)> {
        self.network.cables.iter().enumerate().flat_map(|(cable, of)| {
            (0..2).filter_map(move |end| Some((of.ends[end], cable, end, of.ports[end].as_ref()?)))
        })
    }

    /// Returns the ports of switches of the kernel: the switch, the cable, the end of the cable, the port.
    pub fn ports(&self) -> impl Iterator<Item = (Node, usize, usize, &Port)> {
        self.all_ports().filter_map(|(node, cable, end, port)| match port {
            SwitchPort::Kernel(port) => Some((node, cable, end, port)),
            SwitchPort::User(_) => None,
        })
    }

    /// Returns the ports of switches in user space: the switch, the cable, the end of the cable, the port.
    pub fn user_ports(&self) -> impl Iterator<Item = (Node, usize, usize, &UserPort)> {
        self.all_ports().filter_map(|(node, cable, end, port)| match port {
            SwitchPort::User(port) => Some((node, cable, end, &**port)),
            SwitchPort::Kernel(_) => None,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::network::Line;
    use crate::port::Service;

    pub(crate) fn star(hosts: u16, port: impl Into<SwitchPort>) -> TestbedPlan {
        let line = Line { rate_bps: 100_000_000, delay_ns: 0, port: port.into() };
        TestbedPlan {
            name: Name::try_from("t".to_owned()).unwrap(),
            network: Network::star(hosts, &line),
            mtu: 1_500,
            marking: Marking::Bpf,
        }
    }

    pub(crate) fn lines(steps: &[Step]) -> Vec<String> {
        steps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_are_those_of_their_hosts() {
        for host in [0, 1, 63, 249, 250, 499, 500] {
            assert_eq!(TestbedPlan::host_of(TestbedPlan::address(host)), Some(host));
        }
        for other in [[10, 77, 0, 0], [10, 77, 0, 251], [10, 78, 0, 1], [169, 254, 77, 1]] {
            assert_eq!(TestbedPlan::host_of(other.into()), None, "{other:?}");
        }
    }

    #[test]
    fn lines_of_a_script_quote_what_a_shell_would_read() {
        let words = ["a b", "$(id)", "it's", "", "-x", "/usr/bin/ip"].map(str::to_owned).to_vec();
        assert_eq!(Step::Run(words.clone()).to_string(), "'a b' '$(id)' 'it'\\''s' '' -x /usr/bin/ip");
        assert_eq!(Step::Switch(0, words[..1].to_vec()).to_string(), "'a b' &");
        let ran = crate::command::run(&["sh", "-c", &format!("printf '%s|' {}", Step::Run(words))]).unwrap();
        assert_eq!(ran, "a b|$(id)|it's||-x|/usr/bin/ip|");
    }

    #[test]
    fn names_are_short_and_plain() {
        for (text, right) in [
            ("lab", true),
            ("a-1", true),
            ("", false),
            ("Lab", false),
            ("a/b", false),
            ("-x", false),
            ("-", false),
            (".", false),
            ("..", false),
        ] {
            assert_eq!(Name::try_from(text.to_owned()).is_ok(), right, "{text:?}");
        }
        assert!(Name::try_from("x".repeat(17)).is_err());
    }

    #[test]
    fn a_plan_is_as_good_as_its_network_its_mtu_and_its_ports() {
        assert_eq!(star(3, Port::fifo()).check(), Ok(()));
        let mut apart = star(3, Port::fifo());
        apart.network.cables.truncate(2);
        let error = apart.network.check().unwrap_err();
        assert_eq!(apart.check(), Err(PlanError::from(error)));
        for (mtu, right) in [(575, false), (576, true), (65_000, true), (65_001, false)] {
            let plan = TestbedPlan { mtu, ..star(3, Port::fifo()) };
            assert_eq!(plan.check(), if right { Ok(()) } else { Err(PlanError::Mtu(mtu)) });
        }
    }

    #[test]
    fn a_port_whose_numbers_do_not_fit_is_refused() {
        let queues = |queues| Port { queues, ..Port::fifo() };
        let weighted = |count, weights| Port { service: Service::Weighted(weights), ..queues(count) };
        for (port, right) in [
            (queues(8), true),
            (queues(9), false),
            (queues(0), false),
            (Port { of_class: [1; 16], ..Port::fifo() }, false),
            (weighted(16, vec![1; 16]), true),
            (weighted(2, vec![1]), false),
            (weighted(255, vec![1; 255]), false),
        ] {
            let found = star(2, port.clone()).check();
            assert_eq!(found == Err(PlanError::Port(0)), !right, "{port:?}: {found:?}");
        }
    }

    #[test]
    fn a_plan_survives_json() {
        let plan = star(3, Port::fifo());
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<TestbedPlan>(&text).unwrap(), plan);
        let wrong = text.replace("\"t\"", "\"T\"");
        assert!(
            serde_json::from_str::<TestbedPlan>(&wrong)
                .unwrap_err()
                .to_string()
                .contains("not a valid name of a testbed")
        );
    }

    #[test]
    fn red_cannot_mark_by_all_queues_of_a_port() {
        use crate::port::{Amount, Backlog, Mark};
        let mark = Mark { above: Amount::Packets(10), per: Backlog::Port };
        let port = Port { queues: 2, mark: Some(mark), ..Port::fifo() };
        assert_eq!(star(2, port.clone()).check(), Ok(()));
        assert_eq!(
            TestbedPlan { marking: Marking::Red, ..star(2, port) }.check(),
            Err(PlanError::RedPerPort)
        );
        for (mtu, right) in [(100, false), (575, false), (576, true), (65_000, true), (65_001, false)] {
            let found = TestbedPlan { mtu, ..star(2, Port::fifo()) }.check();
            assert_eq!(found == Err(PlanError::Mtu(mtu)), !right, "{mtu}: {found:?}");
        }
    }

    #[test]
    fn a_plan_is_refused_for_its_mtu_or_a_port_and_names_the_cable() {
        use crate::port::{Amount, Backlog, Mark};
        assert_eq!(star(2, Port::fifo()).check(), Ok(()));
        for (mtu, permitted) in
            [(*MTUS.start(), true), (*MTUS.start() - 1, false), (*MTUS.end(), true), (*MTUS.end() + 1, false)]
        {
            let plan = TestbedPlan { mtu, ..star(2, Port::fifo()) };
            assert_eq!(plan.check(), if permitted { Ok(()) } else { Err(PlanError::Mtu(mtu)) });
        }
        let wrong = Port { queues: 0, ..Port::fifo() };
        assert_eq!(star(2, wrong).check(), Err(PlanError::Port(0)));
        let row = serde_json::from_str(r#"{ "kind": "fivo", "buffer": "unbounded" }"#).unwrap();
        let unknown = star(2, UserPort { row, ..UserPort::fifo() }).check();
        assert!(
            matches!(&unknown, Err(PlanError::UserPort(0, what)) if what.starts_with("port.kind")),
            "{unknown:?}"
        );
        // RED marks by the backlog of one queue only.
        let above = Amount::Bytes(30_000);
        for (queues, per, refused) in
            [(2, Backlog::Port, true), (1, Backlog::Port, false), (2, Backlog::Queue, false)]
        {
            let port = Port { queues, mark: Some(Mark { above, per }), ..Port::fifo() };
            let plan = TestbedPlan { marking: Marking::Red, ..star(2, port.clone()) };
            assert_eq!(plan.check().is_err(), refused, "{queues} queues");
            assert_eq!(star(2, port).check(), Ok(()));
        }
    }
}
