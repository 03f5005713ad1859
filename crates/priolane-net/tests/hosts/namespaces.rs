//! Tests of hosts in network namespaces of their own, joined by a veth: a real queue that pushes back. They need root,
//! `ip` and `tc`, and are skipped with the reason where these are missing.

use std::collections::BTreeSet;
use std::process::Command;

use priolane_net::Segmentation;

use crate::process::{COUNT, HostProcess, length};

/// Two joined namespaces, which are removed on drop.
struct Namespaces {
    names: [String; 2],
}

fn call(command: &str) -> Result<(), String> {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{command}: {error}")),
    }
}

impl Namespaces {
    /// Creates two namespaces that are joined by a line on which the first sends no faster than `rate`.
    fn new(rate: &str) -> Result<Self, String> {
        let id = std::process::id();
        let namespaces = Self { names: ["a", "b"].map(|end| format!("pnet-{id}-{end}")) };
        let [a, b] = &namespaces.names;
        for command in [
            format!("ip netns add {a}"),
            format!("ip netns add {b}"),
            format!("ip -n {a} link add pnet0 type veth peer name pnet0 netns {b}"),
            format!("ip -n {a} address add 10.199.7.1/24 dev pnet0"),
            format!("ip -n {b} address add 10.199.7.2/24 dev pnet0"),
            format!("ip -n {a} link set pnet0 up"),
            format!("ip -n {b} link set pnet0 up"),
            format!("ip netns exec {a} tc qdisc add dev pnet0 root handle 1: htb default 1"),
            format!(
                "ip netns exec {a} tc class add dev pnet0 parent 1: classid 1:1 htb rate {rate} burst 1600"
            ),
            format!("ip netns exec {a} tc qdisc add dev pnet0 parent 1:1 pfifo limit 10000"),
        ] {
            call(&command)?;
        }
        Ok(namespaces)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = call(&format!("ip netns delete {name}"));
        }
    }
}

#[test]
fn a_queue_that_is_full_holds_datagrams_up_and_loses_none() {
    // Only what fills the line of its own accord is pushed back: TOP sends what tokens ask for.
    let (host, kernel) = (Segmentation::Host, Segmentation::Kernel);
    for (transport, cut_by, rate, pushes) in [
        ("newreno", host, "20mbit", true),
        ("newreno", kernel, "20mbit", true),
        ("top", host, "200mbit", false),
    ] {
        let namespaces = match Namespaces::new(rate) {
            Ok(namespaces) => namespaces,
            Err(why) => return eprintln!("skipped: no network namespaces with a limited line here: {why}"),
        };
        let [a, b] = &namespaces.names;
        let receiver = HostProcess::start_in(b, (transport, cut_by), ("10.199.7.2:0", None));
        let sender = HostProcess::start_in(a, (transport, cut_by), ("10.199.7.1:0", Some(receiver.address)));
        let mut left: BTreeSet<(u64, usize)> = (0..COUNT).map(|number| (number, length(number))).collect();
        while !left.is_empty() {
            let came = receiver.arrived();
            assert!(left.remove(&came), "{transport}: {came:?} twice or never sent");
        }
        let line = sender.next().expect("what became of all");
        let counts = line.strip_prefix("flushed ").and_then(|counts| counts.split_once(' '));
        let (blocked, segments) = counts.unwrap_or_else(|| panic!("{line}"));
        let [blocked, segments] = [blocked, segments].map(|count| count.parse::<u64>().unwrap());
        assert_eq!(segments > 0, cut_by == kernel, "{transport}: {segments} segments");
        // 4 MB through a line that a busy machine fills too, with room for 128 kB before it.
        assert!(!pushes || blocked > 10, "{transport}: the line pushed back {blocked} times");
    }
}
