//! A run on several machines: an agent on each starts its hosts, and packets cross the existing network.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host_jobs::Work;
use crate::job::{Bins, Flow, FlowChange, HostJob, SchemeJob};
use crate::limits;
use crate::machine_hosts::MachineHosts;
use crate::measure::{self, Ends, OnProgress, RunError};
use crate::network::Network;
use crate::run::TestbedReport;

pub use crate::agent::channel::AgentAddress;
pub use crate::machine_job::MachineJob;

/// The description of a run on several machines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachinesJob {
    /// The machines, which together have each host once.
    pub machines: Vec<MachineJob>,
    /// The hosts and lines that the experiment asks for. The switches are those of the existing network, and the cables
    /// have no ports.
    pub network: Network,
    /// The size of the largest IP packet in bytes.
    pub mtu: u16,
    /// The scheme of all hosts.
    pub scheme: SchemeJob,
    /// Whether hosts are given the delay and the rate of the paths of `network`.
    pub knows_paths: bool,
    /// The messages of the run.
    pub flows: Vec<Flow>,
    /// The changes of messages during the run.
    #[serde(default)]
    pub changes: Vec<FlowChange>,
    /// The time bins in which endless messages are counted; `None` to count none.
    #[serde(default)]
    pub bins: Option<Bins>,
    /// The latest end of the run, in nanoseconds since its start.
    pub limit_ns: u64,
    /// Whether the run may end before its limit.
    #[serde(default)]
    pub ends: Ends,
    /// The real-time priority of hosts, if the system permits one; `None` for none.
    pub real_time: Option<u8>,
}

impl MachinesJob {
    fn work(&self) -> Work<'_> {
        let Self { network, mtu, scheme, knows_paths, flows, changes, bins, real_time, .. } = self;
        let (mtu, knows_paths, bins, real_time) = (*mtu, *knows_paths, *bins, *real_time);
        Work { network, mtu, scheme, knows_paths, flows, changes, bins, real_time }
    }

    /// Returns the address of each host.
    fn addresses(&self) -> Result<Vec<SocketAddr>, RunError> {
        let of = |host: u16| {
            let bound = |machine: &MachineJob| {
                let place = machine.hosts.iter().position(|&own| own == host)?;
                let port = machine.port.checked_add(u16::try_from(place).ok()?)?;
                Some(SocketAddr::new(machine.address, port))
            };
            let found = self.machines.iter().find_map(bound);
            found.ok_or_else(|| RunError::Host {
                host,
                message: "it is on no machine, or has no port".to_owned(),
            })
        };
        (0..self.network.hosts).map(of).collect()
    }
}

/// Runs on the machines of `job`, whose agents have this `release` of priolane and of its results.
///
/// # Errors
/// Returns a [`RunError`]. No host is left on any machine that can be reached.
pub fn run(
    job: &MachinesJob,
    release: &str,
    progress: &mut OnProgress<'_>,
) -> Result<TestbedReport, RunError> {
    let work = job.work();
    if let Some(flow) = work.wrong_flow() {
        return Err(RunError::Flow(flow));
    }
    let addresses = job.addresses()?;
    let mut watch = |how_far| if progress(how_far) { Ok(()) } else { Err(RunError::Stopped) };
    // Delays are those of the network that is there.
    let of = |host| (host, Arc::new(work.of(host, addresses.clone(), Vec::new())));
    let jobs: BTreeMap<u16, Arc<HostJob>> = (0..job.network.hosts).map(of).collect();
    for (&host, job) in &jobs {
        limits::check(job).map_err(|message| RunError::Host { host, message })?;
    }
    let mut hosts = MachineHosts::connect(&job.machines, jobs, release, &mut watch)?;
    hosts.start_hosts(&mut watch)?;
    let limit = (Duration::from_nanos(job.limit_ns), job.ends);
    let ended = measure::carry_out(&mut hosts, limit, &mut watch)?;
    let elapsed_ns = u64::try_from(ended.elapsed.as_nanos()).unwrap_or(u64::MAX);
    let mut reports = ended.reports(&mut hosts, &mut watch)?;
    let machines = hosts.by_one_clock(&job.machines, &mut reports, &mut watch)?;
    Ok(TestbedReport { hosts: reports, queues: Vec::new(), switches: Vec::new(), machines, elapsed_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Line;
    use crate::port::Port;

    #[test]
    fn hosts_of_a_machine_have_ports_one_after_another() {
        let line = Line { rate_bps: 1_000_000, delay_ns: 0, port: Port::fifo().into() };
        let machine = |last: u8, port, hosts: &[u16]| MachineJob {
            name: format!("m{last}"),
            agent: AgentAddress::Command(Vec::new()),
            address: [192, 0, 2, last].into(),
            port,
            hosts: hosts.to_vec(),
        };
        let crate::job::HostJob { scheme, .. } = crate::host_jobs::tests::host_job(0, Vec::new());
        let mut job = MachinesJob {
            machines: vec![machine(1, 7_077, &[2, 0]), machine(2, 9_000, &[1])],
            network: Network::star(3, &line),
            mtu: 1_500,
            scheme,
            knows_paths: false,
            flows: Vec::new(),
            changes: Vec::new(),
            bins: None,
            limit_ns: 1,
            ends: Ends::WhenDone,
            real_time: None,
        };
        let expected =
            ["192.0.2.1:7078", "192.0.2.2:9000", "192.0.2.1:7077"].map(|text| text.parse().unwrap());
        assert_eq!(job.addresses().unwrap(), expected);
        job.machines[0].port = u16::MAX;
        assert_eq!(job.addresses().unwrap_err().to_string(), "host 0: it is on no machine, or has no port");
        job.machines.pop();
        job.machines[0].port = 1;
        assert_eq!(job.addresses().unwrap_err().to_string(), "host 1: it is on no machine, or has no port");
    }
}
