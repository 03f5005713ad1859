//! A lower bound on the mean completion time of a set of flows, for any scheme.
//!
//! A *machine* is a set of links of which no packet crosses more than one: the link of a sender, that of a receiver,
//! all links that leave a rack, or all that enter one. Let J be flows that all cross it. For flow j of J,
//!
//! ```text
//! r_j   start time
//! h_j   minimum delay from its start until its first bit can be at the machine       (`LinkBounds::head`)
//! p_j   minimum service time of the machine: on one link, that of its payload in full packets and a last one; on
//!       several links, its bytes on the wire divided by the sum of their rates
//! q_j   minimum delay from the end of its last transmission there to its arrival     (`LinkBounds::tail`)
//! a_j   minimum completion time in an idle network, over all shortest paths          (`LeastTimes::alone`)
//!
//! SRPT(J)    sum of completion times of jobs of length p_j, released at r_j + h_j, on one machine that preemptively
//!            serves the job with the shortest remaining processing time
//! B(J)       = max( SRPT(J) + sum of (q_j - r_j),  sum of a_j )
//! ```
//!
//! **Theorem.** The sum of the completion times of J is at least B(J) in every run in which all of J complete.
//!
//! *Proof.* Every byte of payload of j crosses the machine, in packets of at most an MSS each with its headers. So j
//! occupies the machine for `p_j` (one link), or carries bytes that take `p_j` at the sum of the link rates (several
//! links). None of this happens before `r_j + h_j`. Hence the service of J is a preemptive schedule of one machine with
//! these jobs and release times; with several links, jobs may also share the machine. Of all such schedules, SRPT has
//! the smallest sum of completion times (Schrage 1968): it has completed the most jobs at every instant, also compared
//! with schedules that share the machine. If `C_j` is the end of the last transmission of j in the run, the sum of
//! `C_j` is at least SRPT(J). The last packet of j to leave arrives at least `q_j` later, so j takes at least
//! `C_j + q_j - r_j`. The second term holds since no flow is faster than in an idle network. ∎
//!
//! The bounds of machines with disjoint sets of flows add up. Each flow has one sender and one receiver, and leaves and
//! enters at most one rack; if the machines are racks, flows within a rack count with `a_j`. So the sum over all flows
//! is bounded by four sums: over senders, receivers, racks left and racks entered. The bound is the largest of them
//! divided by the number of flows. The proof makes no assumption about flows outside J: the bound of a size class
//! treats its flows as if they were alone, which is below what any scheme achieves beside the others. SRPT is exact in
//! picoseconds; the time on several links is rounded down to a picosecond.
//!
//! The flows are those in the mean completion time: measured and completed. Unfinished flows are in neither, so schemes
//! that leave flows unfinished have different bounds. So do runs with dependent flows, whose actual start times are
//! used. A flow that gave up payload counts as 0. If links fail, packets may take longer paths: `h_j`, `q_j` and `a_j`
//! are then those of the hosts' own links. See docs/assumptions.md#fct-bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::units::{PS_PER_S, Rate};
use priolane_sim::outcome::Outcome;
use priolane_sim::topology::{AllowedPaths, LeastTimes, LinkBounds, Topology};

use super::SizeClass;
use priolane_results::source::Source;

/// Number of classes processed at once, as bits of one integer.
const AT_ONCE: usize = 64;

/// Returns by class the lower bound on the mean completion time of its measured, completed flows, in seconds; `None` if
/// there are none.
pub(crate) fn mean_fct(source: &Source, outcome: &Outcome, classes: &[SizeClass]) -> Vec<Option<f64>> {
    classes.chunks(AT_ONCE).flat_map(|classes| LowerBound::of(source, outcome, classes).means()).collect()
}

/// The kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machines {
    Senders,
    Receivers,
    RacksLeft,
    RacksEntered,
}

impl Machines {
    const ALL: [Self; 4] = [Self::Senders, Self::Receivers, Self::RacksLeft, Self::RacksEntered];

    /// Returns the index of the machine that `flow` crosses, if any.
    fn of(self, flow: &FlowSpec, topology: &Topology) -> Option<u32> {
        let racks = [flow.src, flow.dst].map(|host| topology.rack[host.index()]);
        match self {
            Self::Senders => Some(flow.src.0.into()),
            Self::Receivers => Some(flow.dst.0.into()),
            Self::RacksLeft => (racks[0] != racks[1]).then_some(racks[0]),
            Self::RacksEntered => (racks[0] != racks[1]).then_some(racks[1]),
        }
    }
}

/// The flows of up to [`AT_ONCE`] classes.
struct LowerBound<'a> {
    source: &'a Source<'a>,
    times: LeastTimes<'a>,
    /// By rack, the sum of the rates of all links that leave and enter it, in bits per second.
    racks: Vec<[u64; 2]>,
    /// By flow, the set of classes to which it belongs, as a bit mask.
    member: Vec<u64>,
    /// By flow of a class, its completion time in an idle network in picoseconds; 0 if it gave up payload.
    alone: Vec<u64>,
    /// Number of flows by class.
    flows: Vec<u64>,
}

impl<'a> LowerBound<'a> {
    fn of(source: &'a Source<'a>, outcome: &Outcome, classes: &[SizeClass]) -> Self {
        let scenario = source.scenario;
        let ways = if scenario.outages.is_empty() { AllowedPaths::Shortest } else { AllowedPaths::Any };
        let mut times = LeastTimes::new(&scenario.topology, &scenario.frame, ways);
        let (mut member, mut alone, mut flows) = (Vec::new(), Vec::new(), vec![0; classes.len()]);
        for ((spec, &measured), record) in scenario.flows.iter().zip(source.measured).zip(&outcome.flows) {
            let is_of =
                |class: &SizeClass| record.fct.is_some() && class.counts(source, (&spec, measured), &record);
            let bits = classes.iter().enumerate().filter(|(_, class)| is_of(class)).map(|(bit, _)| bit);
            let mut mask = 0;
            bits.for_each(|bit| {
                mask |= 1 << bit;
                flows[bit] += 1;
            });
            let whole = spec.size.filter(|_| mask != 0 && record.missing == 0);
            member.push(mask);
            alone.push(whole.map_or(0, |bytes| times.alone((spec.src, spec.dst), bytes).0));
        }
        Self { source, times, racks: rack_rates(&scenario.topology), member, alone, flows }
    }

    fn means(mut self) -> Vec<Option<f64>> {
        let sums = Machines::ALL.map(|machines| self.sums(machines));
        let mean = |(class, &n): (usize, &u64)| {
            let largest = sums.iter().map(|sums| sums[class]).max().filter(|_| n > 0)?;
            Some(largest as f64 / n as f64 / PS_PER_S as f64)
        };
        self.flows.iter().enumerate().map(mean).collect()
    }

    /// Returns by class the sum of B over all machines.
    fn sums(&mut self, machines: Machines) -> Vec<i128> {
        let topology = &self.source.scenario.topology;
        let mut sums = vec![0; self.flows.len()];
        let mut by_machine: Vec<(u32, u32)> = Vec::new();
        for (place, spec) in self.source.scenario.flows.iter().enumerate().filter(|(i, _)| self.alone[*i] > 0)
        {
            match machines.of(&spec, topology) {
                Some(machine) => by_machine.push((machine, place as u32)),
                None => self.each_class(place, |class, alone| sums[class] += alone),
            }
        }
        by_machine.sort_unstable();
        for of_one in by_machine.chunk_by(|a, b| a.0 == b.0) {
            let flows: Vec<MachineJob> =
                of_one.iter().map(|&(_, place)| self.placed(machines, place)).collect();
            for (class, sum) in sums.iter_mut().enumerate() {
                let own = flows.iter().filter(|flow| self.member[flow.place as usize] & (1 << class) != 0);
                *sum += self.least(own.copied());
            }
        }
        sums
    }

    fn each_class(&self, place: usize, mut add: impl FnMut(usize, i128)) {
        let classes = (0..self.flows.len()).filter(|class| self.member[place] & (1 << class) != 0);
        classes.for_each(|class| add(class, self.alone[place].into()));
    }

    /// Returns a flow as a job of its machine.
    fn placed(&mut self, machines: Machines, place: u32) -> MachineJob {
        let scenario = self.source.scenario;
        let (topology, frame) = (&scenario.topology, &scenario.frame);
        let flow = scenario.flows.at(place as usize);
        let bytes = flow.size.unwrap_or(0);
        let legs = self.times.legs((flow.src, flow.dst), bytes);
        let [left, entered] = legs.racks.unwrap_or_default();
        let on_link = |rate: Rate| {
            let mss = u64::from(frame.mss());
            let full = (bytes - 1) / mss;
            let tail = frame.data_wire((bytes - full * mss) as u16);
            let full_takes = rate.serialize(frame.data_wire(frame.mss()).into()).0;
            full.saturating_mul(full_takes).saturating_add(rate.serialize(tail.into()).0)
        };
        let on_links = |bps: u64| {
            let takes = u128::from(frame.stream_wire(bytes)) * 8 * u128::from(PS_PER_S);
            u64::try_from(takes / u128::from(bps.max(1))).unwrap_or(u64::MAX)
        };
        let rack = |host: priolane_core::ids::HostId| self.racks[topology.rack[host.index()] as usize];
        let (leg, takes): (LinkBounds, u64) = match machines {
            Machines::Senders => (legs.source, on_link(topology.host_capacity(flow.src))),
            Machines::Receivers => {
                (legs.destination, on_link(topology.links[topology.downlink(flow.dst).index()].rate))
            }
            Machines::RacksLeft => (left, on_links(rack(flow.src)[0])),
            Machines::RacksEntered => (entered, on_links(rack(flow.dst)[1])),
        };
        let released = flow.start.0.saturating_add(leg.head.0);
        MachineJob {
            place,
            job: Job { released, takes },
            beyond: i128::from(leg.tail.0) - i128::from(flow.start.0),
        }
    }

    /// Returns B of the flows of one machine.
    fn least(&self, flows: impl Iterator<Item = MachineJob> + Clone) -> i128 {
        let alone = flows.clone().map(|flow| i128::from(self.alone[flow.place as usize])).sum();
        let beyond: i128 = flows.clone().map(|flow| flow.beyond).sum();
        let together = srpt(flows.map(|flow| flow.job).collect()) + beyond;
        together.max(alone)
    }
}

/// A flow as a job of its machine.
#[derive(Clone, Copy, Debug)]
struct MachineJob {
    /// Index in the flow list.
    place: u32,
    job: Job,
    /// q - r.
    beyond: i128,
}

/// A job, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    /// Release time.
    released: u64,
    /// Processing time.
    takes: u64,
}

/// Returns the sum of completion times of `jobs` under preemptive shortest remaining processing time (SRPT).
fn srpt(mut jobs: Vec<Job>) -> i128 {
    jobs.sort_unstable_by_key(|job| job.released);
    let mut left: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let (mut now, mut sum) = (0u64, 0i128);
    let mut next = jobs.iter().peekable();
    loop {
        let until = next.peek().map_or(u64::MAX, |job| job.released);
        while now < until
            && let Some(Reverse(work)) = left.pop()
        {
            let served = work.min(until - now);
            now += served;
            if served < work {
                left.push(Reverse(work - served));
            } else {
                sum += i128::from(now);
            }
        }
        let Some(job) = next.next() else { return sum };
        now = now.max(job.released);
        left.push(Reverse(job.takes));
    }
}

/// Returns by rack the sum of the rates of all links from its switch to other switches, and of all links from those to
/// it.
fn rack_rates(topology: &Topology) -> Vec<[u64; 2]> {
    let mut rates = vec![[0u64; 2]; topology.racks as usize];
    for link in &topology.links {
        let rack = |node: u32| node.checked_sub(topology.hosts).filter(|&rack| rack < topology.racks);
        if link.from.0 < topology.hosts || link.to.0 < topology.hosts {
            continue;
        }
        for (end, node) in [link.from.0, link.to.0].into_iter().enumerate() {
            if let Some(rack) = rack(node) {
                let rate = &mut rates[rack as usize][end];
                *rate = rate.saturating_add(link.rate.bps());
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};

    use super::*;

    #[test]
    fn srpt_by_hand() {
        // Served: a from 0 to 2, b from 2 to 3 (preempts a), a from 3 to 5, c from 5 to 9: 5 + 3 + 9.
        let job = |released, takes| Job { released, takes };
        assert_eq!(srpt(vec![job(0, 4), job(2, 1), job(2, 4)]), 17);
        assert_eq!(srpt(vec![]), 0);
        // The machine is idle between the jobs.
        assert_eq!(srpt(vec![job(100, 5), job(0, 5)]), 110);
    }

    #[test]
    fn no_schedule_of_few_jobs_is_better_than_srpt() {
        fn best(jobs: &[Job], left: &mut [u64], now: u64) -> i128 {
            if left.iter().all(|&left| left == 0) {
                return 0;
            }
            let mut least = i128::MAX;
            for i in 0..jobs.len() {
                if left[i] > 0 && jobs[i].released <= now {
                    left[i] -= 1;
                    let done = if left[i] == 0 { i128::from(now) + 1 } else { 0 };
                    least = least.min(done + best(jobs, left, now + 1));
                    left[i] += 1;
                }
            }
            if least == i128::MAX { best(jobs, left, now + 1) } else { least }
        }
        let mut draw = Stream::new(9, Purpose::Ties, 0);
        for _ in 0..300 {
            let jobs: Vec<Job> =
                (0..4).map(|_| Job { released: draw.below(5), takes: 1 + draw.below(3) }).collect();
            let mut left: Vec<u64> = jobs.iter().map(|job| job.takes).collect();
            assert_eq!(srpt(jobs.clone()), best(&jobs, &mut left, 0), "{jobs:?}");
        }
    }
}
