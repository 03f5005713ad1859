//! Ports of switches: HTB classes by DSCP, a limited queue below each, marks.
//!
//! ```text
//! 1:            htb, default the first queue: control messages, of which there are few
//! 1:1           rate = ceil = rate of the cable
//! 1:10 + q      queue q     strict: 8 kbit/s, ceil the rate, prio q     weighted: its share of the rate, prio 0
//! 10 + q:       pfifo or bfifo with the room of the queue, or red
//! ```
//!
//! HTB serves a class below its own rate before one that borrows, and one that borrows from 1:2 before one that borrows from 1:1.
//! Where tokens are limited (`token_port.rs`), s / (s + F) is their part of the line, F / (s + F) the rest:
//!
//! ```text
//! 1:2           below 1:1: rate = ceil = the tokens' part
//! signals       below 1:1: rate = ceil = the line
//! class k       of tokens, below 1:2: 8 bit/s, ceil the tokens' part, prio k
//! data          below 1:1: 8 kbit/s, ceil the rest or the line
//! without       a token, below 1:1: 8 kbit/s, ceil as data, the last prio
//! ```
//!
//! The option `overhead 24 mpu 84` makes HTB count the bytes that a packet takes on an Ethernet wire.

use std::path::Path;

use priolane_core::ids::{CLASSES, Class};
use priolane_net::Dscp;

use crate::marker::Marker;
use crate::plan::{Marking, Step, TestbedPlan};
use crate::port::{Amount, ETHERNET_HEADER, FRAMING, Mark, Port, Service, minor};
use crate::token_port::{DataLimit, TokenQueue};

use super::words::run;

/// The guaranteed rate of a strict queue in bit/s, because HTB requires a rate for each class.
const GUARANTEE_BPS: u64 = 8_000;
/// The longest burst of HTB at the rate of the class, in nanoseconds. A burst is never less than a packet.
const BURST_NS: u64 = 20_000;
/// The size of the smallest frame with preamble and gap, in bytes.
const LEAST_WIRE: u16 = 84;
/// The number of packets of a queue without a limit.
const ENDLESS: u32 = 1_000_000;
/// The number of bytes of a RED queue without a limit.
const ENDLESS_BYTES: u64 = 1_000_000_000;

/// The guaranteed rate of a class of tokens in bit/s: the least that HTB accepts.
const TOKEN_GUARANTEE_BPS: u64 = 8;

/// An HTB class with a queue below it.
struct HtbClass {
    /// The minor number of the parent class.
    parent: u8,
    own_bps: u64,
    most_bps: u64,
    priority: u8,
    /// The number of bytes that the class may send at once.
    burst: u64,
    /// The number of bytes that the class may send in its turn.
    quantum: u64,
}

/// A port on its device.
struct Device<'a> {
    namespace: String,
    device: String,
    rate_bps: u64,
    mtu: u16,
    port: &'a Port,
}

/// Returns the steps that make the ports of all switches.
pub(crate) fn ports(plan: &TestbedPlan, directory: &Path) -> Vec<Step> {
    let mut steps = Vec::new();
    for (node, cable, _, port) in plan.ports() {
        let device = Device {
            namespace: plan.namespace(node),
            device: TestbedPlan::device(node, cable),
            rate_bps: plan.network.cables[cable].rate_bps,
            mtu: plan.mtu,
            port,
        };
        steps.extend(device.classes());
        steps.extend((0..port.queues).map(|queue| device.queue(queue, plan.marking)));
        steps.extend((0..CLASSES).map(|class| device.filter(class as Class)));
        if plan.marking == Marking::Bpf
            && let Some(mark) = port.mark
        {
            steps.extend(device.marker(mark, directory));
        }
    }
    steps
}

impl Device<'_> {
    fn tc(&self, words: &str) -> Step {
        run(&format!("tc -n {} {words}", self.namespace))
    }

    /// Returns the steps that make HTB and its classes.
    fn classes(&self) -> Vec<Step> {
        let Self { device, rate_bps: rate, .. } = self;
        let wire = u64::from(self.mtu + ETHERNET_HEADER + FRAMING);
        let burst = (rate / 8 * BURST_NS / 1_000_000_000).max(wire);
        let accounting = self.accounting(burst);
        let first = minor(0);
        let mut steps = vec![
            self.tc(&format!("qdisc add dev {device} root handle 1: htb default {first}")),
            self.tc(&format!(
                "class add dev {device} parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit {accounting} quantum {wire}"
            )),
        ];
        if let Service::Tokens(tokens) = &self.port.service {
            let (all, ahead) = (tokens.token_bps(*rate), tokens.ahead());
            let limit = self.accounting(ahead);
            steps.push(self.tc(&format!(
                "class add dev {device} parent 1:1 classid 1:2 htb rate {all}bit ceil {all}bit {limit} quantum {wire}"
            )));
        }
        for queue in 0..self.port.queues {
            let HtbClass { parent, own_bps: own, most_bps: most, priority, burst, quantum } =
                self.share(queue, (wire, burst));
            let (minor, accounting) = (minor(queue), self.accounting(burst));
            steps.push(self.tc(&format!(
                "class add dev {device} parent 1:{parent} classid 1:{minor} htb rate {own}bit ceil {most}bit prio {priority} \
                 {accounting} quantum {quantum}"
            )));
        }
        steps
    }

    /// Returns the options by which HTB counts bytes of a class that may send `burst` at once.
    fn accounting(&self, burst: u64) -> String {
        format!("burst {burst} cburst {burst} overhead {FRAMING} mpu {LEAST_WIRE}")
    }

    /// Returns the class of a queue, where a packet has at most `wire` bytes on the wire and the line sends `burst` at
    /// once.
    fn share(&self, queue: u8, (wire, burst): (u64, u64)) -> HtbClass {
        let least = GUARANTEE_BPS.min(self.rate_bps);
        let class = |own_bps, priority| HtbClass {
            parent: 1,
            own_bps,
            most_bps: self.rate_bps,
            priority,
            burst,
            quantum: wire,
        };
        match &self.port.service {
            Service::Strict if self.port.queues == 1 => class(self.rate_bps, 0),
            Service::Strict => class(least, queue),
            Service::Weighted(weights) => {
                let of = |queue: u8| u64::from(weights.get(usize::from(queue)).copied().unwrap_or(1));
                let total: u64 = (0..self.port.queues).map(of).sum();
                let fewest = (0..self.port.queues).map(of).min().unwrap_or(1).max(1);
                let own =
                    (u128::from(self.rate_bps) * u128::from(of(queue)) / u128::from(total.max(1))) as u64;
                let quantum = (wire * of(queue) / fewest).min(200_000);
                HtbClass { quantum, ..class(own.max(least), 0) }
            }
            Service::Tokens(tokens) => {
                let most_bps = match tokens.data {
                    DataLimit::Rest => tokens.rest_bps(self.rate_bps),
                    DataLimit::Line => self.rate_bps,
                };
                match tokens.queue(queue) {
                    TokenQueue::Signals => class(self.rate_bps, 0),
                    TokenQueue::Tokens(of) => HtbClass {
                        parent: 2,
                        most_bps: tokens.token_bps(self.rate_bps),
                        burst: tokens.ahead(),
                        ..class(TOKEN_GUARANTEE_BPS, of)
                    },
                    TokenQueue::Data => HtbClass { most_bps, ..class(least, 6) },
                    TokenQueue::Unscheduled => HtbClass { most_bps, ..class(least, 7) },
                }
            }
        }
    }

    /// Returns the step that makes the queue below a class.
    fn queue(&self, queue: u8, marking: Marking) -> Step {
        let minor = minor(queue);
        let place = format!("qdisc add dev {} parent 1:{minor} handle {minor}:", self.device);
        if marking == Marking::Red
            && self.port.holds_data(queue)
            && let Some(mark) = self.port.mark
        {
            return self.tc(&format!("{place} {}", self.red(mark)));
        }
        let kind = match self.port.room_of(queue) {
            None => format!("pfifo limit {ENDLESS}"),
            Some(Amount::Packets(packets)) => format!("pfifo limit {packets}"),
            Some(bytes @ Amount::Bytes(_)) => format!("bfifo limit {}", bytes.linux_bytes(self.mtu)),
        };
        self.tc(&format!("{place} {kind}"))
    }

    /// Returns a RED queue that marks all packets above the threshold and drops none below its limit. The least burst
    /// that tc accepts gives the newest length the largest weight, one half.
    fn red(&self, mark: Mark) -> String {
        let average = u64::from(self.mtu + ETHERNET_HEADER);
        let least = mark.above.linux_bytes(self.mtu).max(average);
        let limit = self.port.room.map_or(ENDLESS_BYTES, |room| room.linux_bytes(self.mtu)).max(least + 2);
        let burst = least.div_ceil(average);
        format!(
            "red limit {limit} min {least} max {} avpkt {average} burst {burst} probability 1 bandwidth {}bit ecn nodrop",
            least + 1,
            self.rate_bps
        )
    }

    /// Returns the step that maps packets of a class to its queue.
    fn filter(&self, class: Class) -> Step {
        let tos = Dscp::DEFAULT.of(class) << 2;
        let minor = minor(self.port.of_class[usize::from(class)]);
        self.tc(&format!(
            "filter add dev {} parent 1: protocol ip prio 1 u32 match ip tos {tos:#04x} 0xfc flowid 1:{minor}",
            self.device
        ))
    }

    /// Returns the steps that load the marking program before the queues.
    fn marker(&self, mark: Mark, directory: &Path) -> [Step; 3] {
        let marker = Marker::new(self.port, mark, self.mtu);
        let path = directory.join(format!("{}-{}.o", self.namespace, self.device));
        let load = format!("filter add dev {} egress bpf da obj {} sec tc", self.device, path.display());
        [
            Step::Marker(path, marker),
            self.tc(&format!("qdisc add dev {} clsact", self.device)),
            self.tc(&load),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{lines, star};
    use crate::port::Backlog;
    use priolane_core::port::{Buffer, TokenGroupSpec};
    use priolane_core::units::Limit;

    fn of(port: Port) -> Vec<String> {
        let all = lines(&ports(&star(2, port), Path::new("/d")));
        // Both ports of a star have the same commands, but for the device.
        let (first, second) = all.split_at(all.len() / 2);
        let second: Vec<String> = second.iter().map(|line| line.replace("p1", "p0")).collect();
        assert_eq!(first, second);
        first.iter().map(|line| line.strip_prefix("tc -n prl-t-s0 ").unwrap_or(line).to_owned()).collect()
    }

    #[test]
    fn a_fifo_has_the_rate_of_its_cable_and_one_queue() {
        let all = of(Port { room: Some(Amount::Packets(240)), ..Port::fifo() });
        // 20 us at 100 Mbit/s are 250 bytes: the burst is a packet of 1538.
        let accounting = "burst 1538 cburst 1538 overhead 24 mpu 84";
        let expected = [
            "qdisc add dev p0 root handle 1: htb default 10".to_owned(),
            format!(
                "class add dev p0 parent 1: classid 1:1 htb rate 100000000bit ceil 100000000bit {accounting} quantum 1538"
            ),
            format!(
                "class add dev p0 parent 1:1 classid 1:10 htb rate 100000000bit ceil 100000000bit prio 0 {accounting} quantum 1538"
            ),
            "qdisc add dev p0 parent 1:10 handle 10: pfifo limit 240".to_owned(),
            "filter add dev p0 parent 1: protocol ip prio 1 u32 match ip tos 0xf0 0xfc flowid 1:10"
                .to_owned(),
        ];
        assert_eq!(all[..5], expected);
        assert_eq!(all.len(), 4 + CLASSES);
    }

    #[test]
    fn strict_queues_have_priorities_and_their_classes() {
        let mut of_class = [7; CLASSES];
        (0..8).for_each(|class| of_class[class] = class as u8);
        let all = of(Port { queues: 8, of_class, room: Some(Amount::Bytes(153_800)), ..Port::fifo() });
        assert!(all[9].contains("classid 1:17 htb rate 8000bit ceil 100000000bit prio 7 "), "{}", all[9]);
        // 153800 bytes on the wire are 100 packets, to Linux of 1514 bytes.
        assert_eq!(all[17], "qdisc add dev p0 parent 1:17 handle 17: bfifo limit 151400");
        // Class 3 has DSCP 48, class 15 DSCP 0.
        assert!(all[21].ends_with("match ip tos 0xc0 0xfc flowid 1:13"), "{}", all[21]);
        assert!(all[33].ends_with("match ip tos 0x00 0xfc flowid 1:17"), "{}", all[33]);
    }

    #[test]
    fn turns_of_weighted_queues_are_packets_of_the_least_weight() {
        let port = Port { queues: 2, service: Service::Weighted(vec![6, 2]), ..Port::fifo() };
        let all = of(port);
        assert!(all[2].ends_with("quantum 4614") && all[3].ends_with("quantum 1538"), "{all:#?}");
    }

    #[test]
    fn data_without_a_token_is_served_after_data_that_has_one() {
        use priolane_core::port::UnscheduledData;
        let unscheduled = Some(UnscheduledData { class: 14, room: Some(3) });
        let spec = TokenGroupSpec { classes: 2, expiry: None, unscheduled, ..TokenGroupSpec::TOP };
        let all = of(Port::of(&spec.into(), &Buffer::UNLIMITED).unwrap());
        let prio =
            |minor: u8| all.iter().find(|line| line.contains(&format!(" classid 1:{minor} "))).unwrap();
        assert!(prio(13).contains(" prio 6 ") && prio(14).contains(" prio 7 "), "{all:#?}");
        assert!(all.iter().any(|line| line.ends_with("parent 1:14 handle 14: pfifo limit 3")), "{all:#?}");
    }

    #[test]
    fn weighted_queues_share_the_rate() {
        let service = Service::Weighted(vec![3, 1]);
        let all = of(Port { queues: 2, service, ..Port::fifo() });
        assert!(all[2].contains("rate 75000000bit ceil 100000000bit prio 0 "), "{}", all[2]);
        assert!(all[2].ends_with("quantum 4614") && all[3].ends_with("quantum 1538"), "{all:#?}");
        assert!(all[3].contains("rate 25000000bit ceil 100000000bit prio 0 "), "{}", all[3]);
    }

    #[test]
    fn tokens_have_a_limiter_of_their_own_and_data_the_rest() {
        let spec = TokenGroupSpec { classes: 2, expiry: None, ..TokenGroupSpec::TOP };
        let buffer = Buffer { limit: Limit::Packets(250), ..Buffer::UNLIMITED };
        let all = of(Port::of(&spec.into(), &buffer).unwrap());
        let classes: Vec<&str> =
            all.iter().filter_map(|line| line.strip_prefix("class add dev p0 parent ")).collect();
        let (line, token) = ("burst 1538 cburst 1538", "burst 84 cburst 84");
        let rest = "overhead 24 mpu 84 quantum 1538";
        let expected = [
            format!("1: classid 1:1 htb rate 100000000bit ceil 100000000bit {line} {rest}"),
            format!("1:1 classid 1:2 htb rate 5178791bit ceil 5178791bit {token} {rest}"),
            format!("1:1 classid 1:10 htb rate 100000000bit ceil 100000000bit prio 0 {line} {rest}"),
            format!("1:2 classid 1:11 htb rate 8bit ceil 5178791bit prio 0 {token} {rest}"),
            format!("1:2 classid 1:12 htb rate 8bit ceil 5178791bit prio 1 {token} {rest}"),
            format!("1:1 classid 1:13 htb rate 8000bit ceil 94821208bit prio 6 {line} {rest}"),
        ];
        assert_eq!(classes, expected);
        let rooms: Vec<&str> = all.iter().filter_map(|line| line.split("pfifo ").nth(1)).collect();
        assert_eq!(rooms, ["limit 1000000", "limit 8", "limit 8", "limit 250"]);
        // Signals (DSCP 0) are in the first queue, data (DSCP 8) in the last, tokens of class 0 and 1 between them.
        for (tos, minor) in [("0x00", "10"), ("0x20", "13"), ("0xf0", "11"), ("0xe0", "12")] {
            let filter = format!("match ip tos {tos} 0xfc flowid 1:{minor}");
            assert!(all.iter().any(|line| line.ends_with(&filter)), "{filter}");
        }
    }

    #[test]
    fn marks_are_a_program_before_the_queues_or_red_queues() {
        let mark = Some(Mark { above: Amount::Packets(10), per: Backlog::Queue });
        let port = Port { mark, room: Some(Amount::Packets(100)), ..Port::fifo() };
        let all = of(port.clone());
        let end = &all[all.len() - 3..];
        assert_eq!(end[0], "# /d/prl-t-s0-p0.o: marks above 10 packets of a queue");
        assert_eq!(
            end[1..],
            ["qdisc add dev p0 clsact", "filter add dev p0 egress bpf da obj /d/prl-t-s0-p0.o sec tc"]
        );
        let red = lines(&ports(&TestbedPlan { marking: Marking::Red, ..star(2, port) }, Path::new("/d")));
        let queue = "tc -n prl-t-s0 qdisc add dev p0 parent 1:10 handle 10: red limit 151400 min 15140 max 15141 \
                     avpkt 1514 burst 10 probability 1 bandwidth 100000000bit ecn nodrop";
        assert_eq!(red[3], queue);
        assert!(!red.iter().any(|line| line.contains("bpf")), "{red:#?}");
    }
}
