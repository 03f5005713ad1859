//! What the queues of a testbed's ports counted.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::{CommandError, run};
use crate::plan::Plan;
use crate::port::{FRAMING, minor};

/// What a queue of a port counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCount {
    /// The cable, by its place in the list.
    pub cable: usize,
    /// The end of the cable that it is at.
    pub end: usize,
    /// The queue, from 0.
    pub queue: u8,
    /// Packets sent.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
}

/// The counts of all ports.
///
/// # Errors
/// What tc said.
pub fn counters(plan: &Plan) -> Result<Vec<QueueCount>, CommandError> {
    let mut all = Vec::new();
    for (node, cable, end, port) in plan.ports() {
        let (namespace, device) = (plan.namespace(node), Plan::device(node, cable));
        let text = run(&["tc", "-n", &namespace, "-s", "-j", "qdisc", "show", "dev", &device])?;
        all.extend((0..port.queues).filter_map(|queue| count(&text, (cable, end), queue)));
    }
    Ok(all)
}

fn count(text: &str, (cable, end): (usize, usize), queue: u8) -> Option<QueueCount> {
    let qdiscs: Vec<Value> = serde_json::from_str(text).ok()?;
    let handle = format!("{}:", minor(queue));
    let qdisc = qdiscs.iter().find(|qdisc| qdisc["handle"] == handle.as_str())?;
    let number = |key: &str| qdisc[key].as_u64();
    let packets = number("packets")?;
    // Linux counts no checksum, preamble and gap.
    let bytes = number("bytes")? + u64::from(FRAMING) * packets;
    Some(QueueCount { cable, end, queue, packets, bytes, dropped: number("drops")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_queue_below_the_class() {
        let text = r#"[{"kind":"htb","handle":"1:","root":true,"bytes":9,"packets":9,"drops":9},
            {"kind":"pfifo","handle":"11:","parent":"1:11","bytes":1514,"packets":1,"drops":4}]"#;
        let expected = QueueCount { cable: 3, end: 1, queue: 1, packets: 1, bytes: 1_538, dropped: 4 };
        assert_eq!(count(text, (3, 1), 1), Some(expected));
        assert_eq!(count(text, (3, 1), 0), None);
    }
}
