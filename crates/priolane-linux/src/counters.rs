//! The counters of the ports of a testbed's switches.

use priolane_core::ids::Class;
use priolane_core::port::PortFactory;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::{CommandError, run};
use crate::plan::TestbedPlan;
use crate::port::{FRAMING, Port, minor};
use crate::switch::{ClassCount, PortCounts, SwitchReport};

/// The counters of a queue of a port, or of one class in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCount {
    /// The index of the cable in the list of cables.
    pub cable: usize,
    /// The end of the cable at which the port is: 0 or 1.
    pub end: usize,
    /// The number of the queue, from 0.
    pub queue: u8,
    /// The class, or the best class of the queue where the switch counts by queues.
    pub class: Class,
    /// The number of packets sent.
    pub packets: u64,
    /// The bytes of these packets on the wire.
    pub bytes: u64,
    /// The number of packets dropped.
    pub dropped: u64,
    /// The number of packets marked (CE); 0 where the switch does not count them.
    pub marked: u64,
    /// The number of packets whose payload was cut off.
    pub trimmed: u64,
    /// The number of packets (tokens) that expired.
    pub expired: u64,
    /// The waiting time from arrival to start of service, summed over packets, in picoseconds; 0 where the switch does
    /// not measure it.
    pub waited_ps: u64,
}

/// Returns the counters of all ports of switches of the kernel.
///
/// # Errors
/// Returns the error of tc.
pub fn counters(plan: &TestbedPlan) -> Result<Vec<QueueCount>, CommandError> {
    let mut all = Vec::new();
    for (node, cable, end, port) in plan.ports() {
        let (namespace, device) = (plan.namespace(node), TestbedPlan::device(node, cable));
        let text = run(&["tc", "-n", &namespace, "-s", "-j", "qdisc", "show", "dev", &device])?;
        all.extend((0..port.queues).filter_map(|queue| count(&text, (cable, end), port, queue)));
    }
    Ok(all)
}

/// Returns the counters of the ports of a switch in user space, for the classes of which packets were seen.
pub fn user_counters(plan: &TestbedPlan, report: &SwitchReport) -> Vec<QueueCount> {
    report.ports.iter().flat_map(|port| port_counters(plan, port)).collect()
}

fn port_counters(plan: &TestbedPlan, port: &PortCounts) -> Vec<QueueCount> {
    let PortCounts { cable, end, classes, .. } = port;
    let planned = plan.user_ports().find(|(_, of, side, _)| (of, side) == (cable, end));
    let discipline = planned.and_then(|(.., port)| port.discipline().ok());
    let seen = classes.iter().enumerate().filter(|(_, count)| **count != ClassCount::default());
    let count = |(class, count): (usize, &ClassCount)| {
        let class = class as Class;
        let ClassCount { packets, bytes, dropped, marked, trimmed, expired, waited_ps } = *count;
        let queue = discipline.as_ref().map_or(0, |discipline| discipline.queue_of(class));
        let (cable, end) = (*cable, *end);
        QueueCount { cable, end, queue, class, packets, bytes, dropped, marked, trimmed, expired, waited_ps }
    };
    seen.map(count).collect()
}

fn count(text: &str, (cable, end): (usize, usize), port: &Port, queue: u8) -> Option<QueueCount> {
    let class = port.of_class.iter().position(|&of| of == queue)? as Class;
    let qdiscs: Vec<Value> = serde_json::from_str(text).ok()?;
    let handle = format!("{}:", minor(queue));
    let qdisc = qdiscs.iter().find(|qdisc| qdisc["handle"] == handle.as_str())?;
    let number = |key: &str| qdisc[key].as_u64();
    let packets = number("packets")?;
    // Linux counts no checksum, preamble and gap.
    let bytes = number("bytes")? + u64::from(FRAMING) * packets;
    let dropped = number("drops")?;
    Some(QueueCount { cable, end, queue, class, packets, bytes, dropped, ..QueueCount::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_queue_below_the_class() {
        let text = r#"[{"kind":"htb","handle":"1:","root":true,"bytes":9,"packets":9,"drops":9},
            {"kind":"pfifo","handle":"11:","parent":"1:11","bytes":1514,"packets":1,"drops":4}]"#;
        let mut of_class = [0; 16];
        of_class[5] = 1;
        let port = Port { queues: 2, of_class, ..Port::fifo() };
        let expected = QueueCount {
            cable: 3,
            end: 1,
            queue: 1,
            class: 5,
            packets: 1,
            bytes: 1_538,
            dropped: 4,
            ..QueueCount::default()
        };
        assert_eq!(count(text, (3, 1), &port, 1), Some(expected));
        assert_eq!(count(text, (3, 1), &port, 0), None);
    }

    #[test]
    fn counts_of_a_switch_in_user_space_have_the_queue_of_their_class_and_port() {
        use crate::plan::tests::star;
        use crate::user_port::UserPort;
        let row = serde_json::json!({ "kind": "strict", "queues": 3, "buffer": "unbounded" });
        let Value::Object(row) = row else { panic!("{row}") };
        let mut map = [2; 16];
        (map[0], map[1]) = (0, 1);
        let mut plan = star(2, UserPort { row, map, ..UserPort::fifo() });
        // The other port has one queue.
        plan.network.cables[1].ports[1] = Some(UserPort::fifo().into());
        let mut classes = [ClassCount::default(); 16];
        classes[1] = ClassCount { packets: 5, waited_ps: 9, ..ClassCount::default() };
        classes[4] = ClassCount { dropped: 2, ..ClassCount::default() };
        let port = |cable| PortCounts { cable, end: 1, classes, longest_queue: 0 };
        let report = SwitchReport {
            switch: 0,
            ports: vec![port(0), port(1)],
            counts: crate::switch::ForwardCounts::default(),
            not_real_time: None,
        };
        let found = user_counters(&plan, &report);
        let queues: Vec<_> = found.iter().map(|count| (count.cable, count.class, count.queue)).collect();
        assert_eq!(queues, [(0, 1, 1), (0, 4, 2), (1, 1, 0), (1, 4, 0)]);
        assert_eq!((found[0].packets, found[0].waited_ps, found[1].dropped), (5, 9, 2));
        // The end of a host has no port.
        let other = PortCounts { end: 0, ..port(0) };
        assert!(port_counters(&plan, &other).iter().all(|count| count.queue == 0));
    }
}
