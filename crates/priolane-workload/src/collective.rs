//! A collective of all hosts of a group, repeated between computations: the traffic of training a model.
//!
//! ```text
//! iteration     each rank computes, then takes part in the collective
//! computation   begins when the rank has received all its messages of the iteration before
//! ring          a rank sends its message of a round when it has received that of the round before, which it passes on
//! others        a rank sends its messages of a round when it has received all messages of the rounds before
//! S             the larger of the bytes that a rank puts in and gets out, as in NCCL's tests
//! ```
//!
//! Ranks are the hosts of the group in their order, and each iteration is a coflow. [`crate::rounds`] has the messages of
//! each algorithm. The whole job is a list of flows and steps: a ring of n ranks has 2 n (n - 1) flows an iteration.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CoflowId, ConnectionId, FlowId};
use priolane_core::keys::{KeyConflict, Keys, Words};
use priolane_core::part::Part;
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};

use super::application::Application;
use super::context::{MAX_FLOWS, Until, WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, not_too_late, size_ok};
use super::payload::Payload;
use super::rounds::{self, Algorithm, Message, Round, rounds};
use super::traffic::Traffic;

/// The collective that ranks repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Operation {
    /// Each rank gets the sum of all vectors.
    AllReduce,
    /// Each rank gets a part of the sum of all vectors.
    ReduceScatter,
    /// Each rank gets the parts of all.
    AllGather,
    /// Each rank sends another part to each rank.
    AllToAll,
}

/// The connections that carry the messages of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum MessageConnections {
    /// One for each message.
    #[default]
    PerMessage,
    /// One from each rank to each other rank, which carries all messages of all iterations.
    PerPair,
}

/// A job that repeats a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "collective", check = Self::check)]
#[part(
    name = "collective",
    summary = "a collective, repeated between computations",
    source = "docs/experiments.md"
)]
pub struct Collective {
    /// The collective.
    #[key(required = "operation = \"all_reduce\"")]
    pub operation: Operation,
    /// The algorithm. A tree does all-reduces only, and an all-to-all has no other than `ring`: all messages at once.
    #[key(default = Algorithm::Ring, source = "Thakur, Rabenseifner and Gropp (IJHPCA 2005)")]
    pub algorithm: Algorithm,
    /// S, the larger of the bytes that a rank puts in and gets out.
    #[key(required = "size = \"100MB\": bytes of all gradients", form = Payload)]
    pub size: u64,
    /// Number of iterations.
    #[key(default = 1, range = "[1, 1000000]")]
    pub iterations: u32,
    /// Time that a rank computes before the collective of each iteration.
    #[key(default = Span::ZERO)]
    pub compute: Span,
    /// Start of the first computation.
    #[key(default = Span::ZERO)]
    pub start: Span,
    /// The connections that carry the messages.
    #[key(default = MessageConnections::PerMessage, skip_default)]
    pub connections: MessageConnections,
}

impl Application for Collective {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        size_ok(Some(self.size))?;
        let n = site.hosts.len();
        if n < 2 || distinct(site.hosts).len() < n {
            return Err(AppError::Ranks(n));
        }
        let rounds = self.rounds(n)?;
        let most = if let Until::Flows(_) = site.until { 1 } else { self.iterations };
        let flows = rounds.iter().map(|round| round.len() as u64).sum::<u64>();
        if flows * u64::from(self.iterations) > u64::from(MAX_FLOWS) {
            return Err(AppError::TooMany);
        }
        let mut job = Job { keys: self, maker: FlowFactory::new(site), traffic: Traffic::default() };
        let mut ready = vec![Vec::new(); n];
        let mut earliest = Time(self.start.0);
        for iteration in 0..most {
            job.compute(&mut ready, earliest);
            earliest = not_too_late(earliest.0.saturating_add(self.compute.0))?;
            let coflow = CoflowId::new(iteration);
            ready = job.communicate(&rounds, ready, (coflow, earliest));
        }
        Ok(job.traffic)
    }

    fn is_closed_loop(&self) -> bool {
        true
    }

    fn is_job(&self, hosts: usize) -> bool {
        let has_rounds = || self.rounds(hosts).is_ok_and(|rounds| rounds.len() > 1);
        let at_once = self.operation == Operation::AllToAll;
        self.iterations > 1 || self.compute > Span::ZERO || (!at_once && has_rounds())
    }

    fn shares_connections(&self) -> bool {
        self.connections == MessageConnections::PerPair
    }
}

impl Collective {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match (self.operation, self.algorithm) {
            (Operation::AllToAll, Algorithm::Tree | Algorithm::HalvingDoubling) => Err(KeyConflict::of(
                "algorithm",
                "an all-to-all sends all messages at once, and has no other algorithm",
                "no algorithm, or another operation",
            )),
            (Operation::ReduceScatter | Operation::AllGather, Algorithm::Tree) => Err(KeyConflict::of(
                "algorithm",
                "a tree does all-reduces only",
                "algorithm = \"ring\" or \"halving_doubling\"",
            )),
            _ => Ok(()),
        }
    }

    fn rounds(&self, n: usize) -> Result<Vec<Round>, AppError> {
        let (collective, bytes) = match self.operation {
            Operation::AllReduce => (rounds::Collective::AllReduce, self.size),
            Operation::ReduceScatter => (rounds::Collective::ReduceScatter, self.size),
            Operation::AllGather => (rounds::Collective::AllGather, self.size.div_ceil(n as u64)),
            Operation::AllToAll => (rounds::Collective::AllToAll, self.size),
        };
        rounds(collective, self.algorithm, (n, bytes)).map_err(|_| AppError::NotPowerOfTwo(n))
    }

    fn connection(&self) -> Option<ConnectionId> {
        match self.connections {
            MessageConnections::PerMessage => None,
            MessageConnections::PerPair => ConnectionId::new(0),
        }
    }
}

/// The work that each rank waits for, by its place.
type Ready = Vec<Vec<Predecessor>>;

/// A job under construction.
struct Job<'a> {
    keys: &'a Collective,
    maker: FlowFactory<'a>,
    traffic: Traffic,
}

impl Job<'_> {
    /// Lets each rank compute once it is ready; later work of the rank waits for that.
    fn compute(&mut self, ready: &mut Ready, start: Time) {
        if self.keys.compute == Span::ZERO {
            return;
        }
        let site = self.maker.site;
        for (&host, ready) in site.hosts.iter().zip(ready) {
            let after = std::mem::take(ready);
            if !after.is_empty() {
                let work = Work::Step(StepId(self.traffic.steps.len() as u32));
                *ready = vec![Predecessor { work, delay: Span::ZERO }];
            }
            self.traffic.steps.push(Step { group: site.group, host, start, takes: self.keys.compute, after });
        }
    }

    /// Adds the messages of an iteration, and returns what each rank receives.
    fn communicate(
        &mut self,
        rounds: &[Round],
        ready: Ready,
        (coflow, earliest): (Option<CoflowId>, Time),
    ) -> Ready {
        let passes_on = self.keys.algorithm == Algorithm::Ring;
        let mut open = ready;
        let mut all: Ready = vec![Vec::new(); open.len()];
        for round in rounds {
            let mut received: Ready = vec![Vec::new(); open.len()];
            for message in round {
                let id = self.send(message, (coflow, earliest), &open[message.from]);
                received[message.to].push(Predecessor { work: Work::Flow(id), delay: Span::ZERO });
            }
            for ((open, all), received) in open.iter_mut().zip(&mut all).zip(received) {
                all.extend_from_slice(&received);
                if passes_on {
                    *open = received;
                } else if !received.is_empty() {
                    open.clone_from(all);
                }
            }
        }
        all
    }

    fn send(
        &mut self,
        message: &Message,
        (coflow, earliest): (Option<CoflowId>, Time),
        after: &[Predecessor],
    ) -> FlowId {
        let hosts = self.maker.site.hosts;
        let pair = Pair { src: hosts[message.from], dst: hosts[message.to] };
        let flow = self.maker.flow(pair, Some(message.bytes), earliest);
        let connection = self.keys.connection();
        self.traffic.flows.push(FlowSpec { coflow, connection, ..flow });
        if !after.is_empty() {
            self.traffic.waits.push(FlowDependency { flow: flow.id, after: after.to_vec(), until: None });
        }
        flow.id
    }
}
