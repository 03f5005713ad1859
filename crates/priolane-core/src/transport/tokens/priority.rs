//! TOP's rules at the receiver (§3.2): the class, or the key, of a flow's next token.
//!
//! ```text
//! by size      class = number of thresholds t <= x; x is the flow's size in packets
//! logarithmic  class = floor(K log_p(a x + b)), so t_i = (p^(i/K) - b) / a for i = 1 .. K - 1
//! exponential  the same for light-tailed sizes, with density e^(-(x - 1) / m) from 1 to p:
//!              t_i = 1 - m ln(1 - i / K (1 - e^(-(p - 1) / m)))
//! attained     as by size; x is the number of packets that arrived so far, plus one
//! deadline     as logarithmic; x is the time from the SYNC's arrival to the deadline
//! exact        one class, and a key that ports sort by (ideal)
//! ```
//!
//! The packets that a flow had sent before the run count in its size and in what it has attained; its sender announces
//! their number.

use super::body::MAX_CLASSES;
use crate::endpoint::FlowRequest;
use crate::ids::Class;
use crate::units::{Span, Time};

/// The key of an exact order of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Number of packets that have not arrived.
    Remaining,
    /// Number of packets of the flow.
    Size,
    /// The deadline.
    Deadline,
    /// The position of the flow's coflow in order of payload bytes; a flow without a coflow forms its own.
    Coflow,
}

/// The way in which a receiver ranks its flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Priority {
    /// All flows are equal (ExpressPass).
    Single,
    /// By the class that flows request.
    Asked,
    /// By size: ascending thresholds in packets.
    Size(Vec<u64>),
    /// By packets received so far: ascending thresholds in packets. Sizes are not announced.
    Attained(Vec<u64>),
    /// By the time to the deadline at the flow's start: ascending thresholds. Flows without a deadline are in the
    /// last class.
    Deadline(Vec<Span>),
    /// By an exact key.
    Exact(Key),
}

/// A flow's properties that a receiver uses to rank it.
#[derive(Clone, Copy, Debug)]
pub struct RankInputs {
    /// Number of packets of the flow; `u64::MAX` if unknown.
    pub packets: u64,
    /// Number of packets that arrived.
    pub arrived: u64,
    /// The time at which the SYNC of the flow arrived.
    pub opened: Time,
    /// Its deadline; `Time::NEVER` without one.
    pub deadline: Time,
    /// The class that it requests.
    pub asked: Class,
    /// The value in its SYNC: [`Priority::announced_key`].
    pub announced_key: u64,
}

impl Priority {
    /// Returns true if senders announce the size of flows.
    pub(crate) fn tells_size(&self) -> bool {
        !matches!(self, Self::Attained(_))
    }

    /// Returns the value that a sender adds to its SYNC besides size, deadline and class: the position of the coflow,
    /// if that is the key, or the packets of `mss` bytes that the flow had sent before, if packets are counted.
    pub fn announced_key(&self, flow: &FlowRequest, mss: u16) -> u64 {
        match self {
            Self::Exact(Key::Coflow) => u64::from(flow.coflow_place),
            Self::Size(_) | Self::Attained(_) | Self::Exact(Key::Size) => {
                flow.attained / u64::from(mss.max(1))
            }
            Self::Single | Self::Asked | Self::Deadline(_) | Self::Exact(Key::Remaining | Key::Deadline) => 0,
        }
    }

    /// Returns the number of classes; 0 if flows request classes, which are not known here.
    pub fn classes(&self) -> usize {
        match self {
            Self::Single | Self::Exact(_) => 1,
            Self::Asked => 0,
            Self::Size(at) | Self::Attained(at) => at.len() + 1,
            Self::Deadline(at) => at.len() + 1,
        }
    }

    /// Returns class and key of the flow's next token.
    pub fn of(&self, flow: &RankInputs) -> (Class, u64) {
        let class = match self {
            Self::Single => 0,
            Self::Asked => flow.asked.min(MAX_CLASSES - 1),
            Self::Size(at) => passed(at, &flow.packets.saturating_add(flow.announced_key)),
            Self::Attained(at) => passed(at, &(flow.announced_key.saturating_add(flow.arrived + 1))),
            Self::Deadline(at) if flow.deadline == Time::NEVER => at.len() as Class,
            Self::Deadline(at) => passed(at, &flow.deadline.since(flow.opened)),
            Self::Exact(key) => {
                let key = match key {
                    Key::Remaining => flow.packets.saturating_sub(flow.arrived),
                    Key::Size => flow.packets.saturating_add(flow.announced_key),
                    Key::Deadline => flow.deadline.0,
                    Key::Coflow => flow.announced_key,
                };
                return (0, key);
            }
        };
        (class, 0)
    }
}

fn passed<T: PartialOrd>(thresholds: &[T], x: &T) -> Class {
    thresholds.iter().take_while(|t| *t <= x).count() as Class
}

/// The rule floor(K log_p(a x + b)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logarithm {
    /// K, 1 to 13.
    pub classes: u8,
    /// p, the largest a x + b, above 1.
    pub p: f64,
    /// a, above 0.
    pub a: f64,
    /// b.
    pub b: f64,
}

impl Logarithm {
    /// Returns the smallest integer x of each class but the first. All classes are used below p; above p the last
    /// class continues.
    pub fn thresholds(&self) -> Vec<u64> {
        let bound = |i: u8| {
            let power = libm::pow(self.p, f64::from(i) / f64::from(self.classes));
            // Tolerates rounding errors for an x that should be an integer.
            libm::ceil((power - self.b) / self.a - 1e-9).max(0.0) as u64
        };
        (1..self.classes).map(bound).collect()
    }
}

/// The rule for light-tailed sizes: the thresholds divide an exponential density, truncated at p, into equal parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// K, 1 to 13.
    pub classes: u8,
    /// p, the size of the largest flow in packets, above 1.
    pub p: f64,
    /// m, the decay length of the density in packets, above 0: the mean flow size minus one packet.
    pub mean: f64,
}

impl Exponential {
    /// Returns the smallest integer x of each class but the first.
    pub fn thresholds(&self) -> Vec<u64> {
        let all = -libm::expm1(-(self.p - 1.0) / self.mean);
        let bound = |i: u8| {
            let part = f64::from(i) / f64::from(self.classes) * all;
            libm::ceil(1.0 - self.mean * libm::log1p(-part) - 1e-9) as u64
        };
        (1..self.classes).map(bound).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, HostId};

    fn flow(packets: u64) -> RankInputs {
        RankInputs {
            packets,
            arrived: 0,
            opened: Time(1_000),
            deadline: Time::NEVER,
            asked: 3,
            announced_key: 0,
        }
    }

    #[test]
    fn thresholds_are_those_of_the_published_workloads() {
        let thresholds = |p| Logarithm { classes: 6, p, a: 1.0, b: 0.0 }.thresholds();
        // p^(i/6): 3.58, 12.8, 45.9, 164.3, 588.5 (IMC10); 9.35, 87.4, 816.5, 7631.6, 71327.9 (data mining).
        assert_eq!(thresholds(2107.0), [4, 13, 46, 165, 589]);
        assert_eq!(thresholds(666_667.0), [10, 88, 817, 7632, 71_328]);
        // 64 = 2^6: the powers themselves begin their classes.
        assert_eq!(thresholds(64.0), [2, 4, 8, 16, 32]);
    }

    #[test]
    fn classes_agree_with_the_formula() {
        let rule = Logarithm { classes: 6, p: 2107.0, a: 2.0, b: 5.0 };
        let priority = Priority::Size(rule.thresholds());
        for x in 1..1_051u64 {
            let formula = libm::floor(6.0 * libm::log(2.0 * x as f64 + 5.0) / libm::log(2107.0));
            assert_eq!(f64::from(priority.of(&flow(x)).0), formula.min(5.0), "{x}");
        }
        assert_eq!(priority.of(&flow(u64::MAX)).0, 5);
    }

    #[test]
    fn light_tailed_sizes_have_thresholds_between_equal_parts_of_an_exponential() {
        // m = 100 without truncation: 1 + 100 ln(6 / (6 - i)) = 19.2, 41.5, 70.3, 110.9, 180.2.
        let endless = Exponential { classes: 6, p: 1e9, mean: 100.0 };
        assert_eq!(endless.thresholds(), [20, 42, 71, 111, 181]);
        // The parts of 1 - e^-x between them are each a sixth of the total up to p, except for rounding to packets.
        let cut = Exponential { classes: 6, p: 2107.0, mean: 1000.0 };
        let below = |x: f64| 1.0 - libm::exp(-(x - 1.0) / 1000.0);
        let ends: Vec<f64> = std::iter::once(1.0)
            .chain(cut.thresholds().into_iter().map(|t| t as f64))
            .chain([2107.0])
            .collect();
        for pair in ends.windows(2) {
            let part = (below(pair[1]) - below(pair[0])) / below(2107.0);
            assert!((part - 1.0 / 6.0).abs() < 1.5e-3, "{part}");
        }
        // If p is small relative to m, the density is uniform: sixths of 60 packets.
        assert_eq!(Exponential { classes: 6, p: 61.0, mean: 1e9 }.thresholds(), [11, 21, 31, 41, 51]);
        assert_eq!(Exponential { classes: 1, p: 61.0, mean: 5.0 }.thresholds(), [0; 0]);
    }

    #[test]
    fn attained_service_moves_a_flow_down_as_it_arrives() {
        let priority = Priority::Attained(vec![3, 10]);
        let at = |arrived| priority.of(&RankInputs { arrived, ..flow(u64::MAX) }).0;
        assert_eq!([0, 1, 2, 8, 9, 1_000].map(at), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn packets_sent_before_the_run_count() {
        let (attained, size) = (Priority::Attained(vec![3, 10]), Priority::Size(vec![3, 10]));
        let request = FlowRequest {
            attained: 7 * 1_460 + 1_459,
            ..FlowRequest::new(FlowId(0), HostId(1), Some(1), Time::ZERO)
        };
        let before = attained.announced_key(&request, 1_460);
        assert_eq!((before, size.announced_key(&request, 1_460)), (7, 7));
        assert_eq!(Priority::Asked.announced_key(&request, 1_460), 0);
        let at = |arrived| attained.of(&RankInputs { arrived, announced_key: before, ..flow(u64::MAX) }).0;
        assert_eq!([0, 1, 2].map(at), [1, 1, 2]);
        let of = |packets| size.of(&RankInputs { announced_key: before, ..flow(packets) }).0;
        assert_eq!([1, 2, 3].map(of), [1, 1, 2]);
    }

    #[test]
    fn deadlines_count_from_the_flows_coming_and_no_deadline_is_last() {
        let priority = Priority::Deadline(vec![Span(10), Span(100)]);
        let by = |at| priority.of(&RankInputs { deadline: Time(at), ..flow(5) }).0;
        assert_eq!([1_009, 1_010, 1_099, 1_100, 500].map(by), [0, 1, 1, 2, 0]);
        assert_eq!(priority.of(&flow(5)).0, 2);
    }

    #[test]
    fn exact_keys_are_what_is_left_what_there_is_or_the_deadline() {
        let known = RankInputs { arrived: 4, deadline: Time(77), announced_key: 9_000, ..flow(10) };
        let key = |key| Priority::Exact(key).of(&known);
        assert_eq!(key(Key::Remaining), (0, 6));
        assert_eq!((key(Key::Size), key(Key::Deadline)), ((0, 9_010), (0, 77)));
        assert_eq!(key(Key::Coflow), (0, 9_000));
        assert_eq!((Priority::Single.of(&known), Priority::Asked.of(&known)), ((0, 0), (3, 0)));
    }
}
