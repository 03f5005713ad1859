//! The capabilities of this machine that a testbed needs, tried in network namespaces without a name.

use std::path::Path;

use serde::Serialize;

use crate::child::{Surroundings, file_in_memory, may_write};
use crate::command::{GoOn, Invocation};
use crate::leftovers;
use crate::marker::Marker;
use crate::plan::{Marking, TestbedPlan};
use crate::port::{Amount, Backlog, Mark, Port};

/// A capability, and the remedy if it is missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Capability {
    /// The name of the capability.
    pub name: &'static str,
    /// The error if the capability is missing; `None` if the machine has it.
    pub missing: Option<String>,
    /// The remedy if the capability is missing.
    pub cure: &'static str,
}

/// The capabilities of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    /// All capabilities that were tried, in order.
    pub capabilities: Vec<Capability>,
}

/// The error for a capability that a testbed needs and the machine lacks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this machine cannot: {name}: {message}. {cure}")]
pub struct Lacking {
    /// The name of the capability.
    pub name: &'static str,
    /// The error of the system.
    pub message: String,
    /// The remedy.
    pub cure: &'static str,
}

/// The directory in which `ip netns` keeps names, and the directory in which it is created.
const NAMES: &str = "/run/netns";
const RUN: &str = "/run";

const NAMESPACES: &str = "network namespaces";
const PARAMETERS: &str = "kernel parameters (sysctl)";
const HTB: &str = "classes with rates (sch_htb)";
const FILTERS: &str = "filters by DSCP (cls_u32)";
const MARKS: &str = "marks by a BPF program (clsact, BTF)";
const RED: &str = "marks by queues (sch_red)";

/// Runs commands of tc in a network namespace of their own, which has no name and disappears with tc.
fn tc(lines: &[String], go_on: &mut GoOn<'_>) -> Result<(), String> {
    let input = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let tc = Invocation::new(&["tc", "-batch", "-"]).inside(Surroundings::OwnNetwork).reading(&input);
    tc.run(go_on).map(drop).map_err(|error| error.message)
}

/// Makes a namespace with a name, in a directory that only the command sees, and checks whether the real directory is
/// writable.
fn named_namespace(go_on: &mut GoOn<'_>) -> Result<(), String> {
    let add = ["ip", "netns", "add", "probe"];
    let added = Invocation::new(&add).inside(Surroundings::OwnNetworkAndRun).run(go_on);
    added.map_err(|error| error.message)?;
    let is_writable =
        [NAMES, RUN].map(Path::new).into_iter().find(|path| path.exists()).is_some_and(may_write);
    if is_writable { Ok(()) } else { Err(format!("{NAMES} cannot be written to")) }
}

/// Reads a kernel parameter, as each node of a testbed sets some.
fn kernel_parameter(go_on: &mut GoOn<'_>) -> Result<(), String> {
    let read = Invocation::new(&["sysctl", "-n", "net.ipv4.ip_forward"]);
    read.run(go_on).map(drop).map_err(|error| error.message)
}

/// Loads a marking program from memory.
fn marking_program(go_on: &mut GoOn<'_>) -> Result<(), String> {
    let mark = Mark { above: Amount::Packets(1), per: Backlog::Queue };
    let object = Marker::new(&Port::fifo(), mark, 1_500).object().ok_or("no program")?;
    let (_open, path) = file_in_memory(&object).map_err(|error| error.to_string())?;
    let load = format!("filter add dev lo egress bpf da obj {} sec tc", path.display());
    tc(&["qdisc add dev lo clsact".to_owned(), load], go_on)
}

impl Machine {
    /// Tries all capabilities. Nothing is left, even if this process is killed meanwhile, because the tried objects
    /// have no names. Removes leftovers of probes of earlier versions.
    pub fn examine() -> Self {
        Self::examine_while(&mut || true)
    }

    /// Tries all capabilities while `go_on` returns true. A capability that was not tried counts as missing.
    pub fn examine_while(go_on: &mut GoOn<'_>) -> Self {
        leftovers::remove();
        let made = named_namespace(go_on);
        let parameters = kernel_parameter(go_on);
        let mut inside = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            made.clone().and_then(|()| tc(&lines, go_on))
        };
        let root = "qdisc add dev lo root handle 1: htb default 10";
        let htb = inside(&[root]);
        let filter = "filter add dev lo parent 1: protocol ip prio 1 u32 match ip tos 0xf0 0xfc flowid 1:10";
        let filters = htb.clone().and_then(|()| inside(&[root, filter]));
        let red = inside(&[
            "qdisc replace dev lo root handle 2: red limit 400000 min 15000 max 15001 avpkt 1500 burst 10 probability 1 bandwidth 100mbit ecn nodrop",
        ]);
        let marks = made.clone().and_then(|()| marking_program(go_on));
        let capability =
            |name, tried: Result<(), String>, cure| Capability { name, missing: tried.err(), cure };
        Self {
            capabilities: vec![
                capability(
                    NAMESPACES,
                    made,
                    "Install iproute2 and run as root, or in a user namespace: docs/real-hosts.md",
                ),
                capability(PARAMETERS, parameters, "Install procps, and name its directory in PATH"),
                capability(HTB, htb, "Load the module: modprobe sch_htb"),
                capability(FILTERS, filters, "Load the module: modprobe cls_u32"),
                capability(
                    MARKS,
                    marks,
                    "It takes root, a kernel with CONFIG_NET_CLS_BPF and CONFIG_DEBUG_INFO_BTF, and tc with libbpf",
                ),
                capability(RED, red, "Load the module: modprobe sch_red"),
            ],
        }
    }

    fn need(&self, name: &str) -> Result<(), Lacking> {
        match self.capabilities.iter().find(|capability| capability.name == name) {
            Some(Capability { name, missing: Some(message), cure }) => {
                Err(Lacking { name, message: message.clone(), cure })
            }
            _ => Ok(()),
        }
    }

    fn need_all(&self, names: &[&str]) -> Result<(), Lacking> {
        names.iter().try_for_each(|name| self.need(name))
    }

    /// Returns `plan` with the marking that this machine supports.
    ///
    /// # Errors
    /// Returns the first capability that the testbed needs and the machine lacks.
    pub fn fit(&self, plan: TestbedPlan) -> Result<TestbedPlan, Lacking> {
        if plan.ports().next().is_none() {
            // Switches in user space mark by themselves.
            return self.need_all(&[NAMESPACES, PARAMETERS]).map(|()| plan);
        }
        let marking = self.marking(Marks::of(plan.ports().map(|(.., port)| port)))?;
        Ok(TestbedPlan { marking, ..plan })
    }

    /// Returns the mechanism by which ports mark on this machine. Without marks, the mechanism has no effect.
    ///
    /// # Errors
    /// Returns the first capability that the testbed needs and the machine lacks.
    pub fn marking(&self, marks: Marks) -> Result<Marking, Lacking> {
        self.need_all(&[NAMESPACES, PARAMETERS, HTB, FILTERS])?;
        match marks {
            Marks::None => Ok(Marking::Bpf),
            Marks::PerPort => self.need(MARKS).map(|()| Marking::Bpf),
            Marks::PerQueue => match (self.need(MARKS), self.need(RED)) {
                (Ok(()), _) => Ok(Marking::Bpf),
                (Err(_), Ok(())) => Ok(Marking::Red),
                (Err(lacking), Err(_)) => Err(lacking),
            },
        }
    }
}

/// The kinds of marking that the ports of a testbed ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// No port marks.
    None,
    /// Ports mark by the length of one queue, which RED supports as well.
    PerQueue,
    /// Ports mark by the sum of several queues.
    PerPort,
}

impl Marks {
    /// Returns the kind of marking that these ports ask for.
    pub fn of<'a>(ports: impl Iterator<Item = &'a Port>) -> Self {
        let mut all = Self::None;
        for port in ports {
            match (port.mark, port.queues) {
                (None, _) => {}
                (Some(Mark { per: Backlog::Port, .. }), 2..) => return Self::PerPort,
                (Some(_), _) => all = Self::PerQueue,
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(missing: &[&str]) -> Machine {
        let capabilities = [NAMESPACES, PARAMETERS, HTB, FILTERS, MARKS, RED].map(|name| Capability {
            name,
            missing: missing.contains(&name).then(|| "no".to_owned()),
            cure: "Get one",
        });
        Machine { capabilities: capabilities.to_vec() }
    }

    #[test]
    fn red_stands_in_for_the_program_where_marks_are_by_queue() {
        assert_eq!(machine(&[]).marking(Marks::PerQueue), Ok(Marking::Bpf));
        assert_eq!(machine(&[MARKS]).marking(Marks::PerQueue), Ok(Marking::Red));
        assert!(machine(&[MARKS]).marking(Marks::PerPort).is_err());
        assert!(machine(&[MARKS, RED]).marking(Marks::PerQueue).is_err());
        assert_eq!(machine(&[MARKS, RED]).marking(Marks::None), Ok(Marking::Bpf));
        let message = machine(&[HTB]).marking(Marks::None).unwrap_err().to_string();
        assert_eq!(message, "this machine cannot: classes with rates (sch_htb): no. Get one");
    }

    #[test]
    fn marks_by_a_port_with_one_queue_are_marks_by_that_queue() {
        let mark = Some(Mark { above: Amount::Packets(1), per: Backlog::Port });
        let of = |queues| Marks::of([Port::fifo(), Port { queues, mark, ..Port::fifo() }].iter());
        assert_eq!((of(1), of(2)), (Marks::PerQueue, Marks::PerPort));
        assert_eq!(Marks::of([Port::fifo()].iter()), Marks::None);
    }

    #[test]
    fn switches_in_user_space_take_namespaces_with_their_parameters_and_nothing_else() {
        use crate::plan::tests::star;
        use crate::user_port::UserPort;
        let user = || star(2, UserPort::fifo());
        assert!(machine(&[HTB, FILTERS, MARKS, RED]).fit(user()).is_ok());
        for name in [NAMESPACES, PARAMETERS] {
            assert_eq!(machine(&[name]).fit(user()).unwrap_err().name, name);
        }
        let mark = Some(Mark { above: Amount::Packets(1), per: Backlog::Queue });
        let kernel = star(2, Port { mark, ..Port::fifo() });
        assert_eq!(machine(&[MARKS]).fit(kernel.clone()).unwrap().marking, Marking::Red);
        assert_eq!(machine(&[]).fit(kernel).unwrap().marking, Marking::Bpf);
    }
}
