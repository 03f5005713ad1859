//! Training with pipeline parallelism: stages of a model on different hosts, through which micro-batches pass.
//!
//! ```text
//! p, m          stages, micro-batches of an iteration
//! f, b          time of a stage to compute forward, and backward, for one micro-batch
//! F k, B k      begin when the rank's computation before has ended, and the message of micro-batch k has arrived: its
//!               activations from the stage before, its gradients from the stage behind
//! gpipe         F 0 ... F m-1, then B m-1 ... B 0
//! 1f1b          with w = min(p - 1 - s, m) at stage s, from 0: F 0 ... F w-1; then F k, B k-w in turn; B m-w ... B m-1
//! in flight     micro-batches whose activations a stage keeps: m with gpipe, min(p - s, m) with 1f1b
//! bubble        part of the time in which a rank does not compute: (p - 1) / (m + p - 1) if messages take no time
//! ```
//!
//! GPipe: Huang et al. (NeurIPS 2019), Fig. 2. 1F1B with a flush: Narayanan et al. (SC 2021), Fig. 4. A stage has one rank or
//! several, its replicas, which send to the rank of their place in the next stage. Each iteration is a coflow.

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{CoflowId, ConnectionId, FlowId};
use priolane_core::keys::{Keys, Words};
use priolane_core::part::Part;
use priolane_core::units::{Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};

use super::application::Application;
use super::collective::MessageConnections;
use super::context::{MAX_FLOWS, Until, WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, not_too_late, size_ok};
use super::payload::Payload;
use super::traffic::Traffic;

/// The order of a stage's computations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Schedule {
    /// All micro-batches forward, then all backward.
    Gpipe,
    /// One forward and one backward in turn once the pipeline is full (1F1B).
    #[word("1f1b")]
    OneForwardOneBackward,
}

/// A job that trains a model in stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "pipeline")]
#[part(
    name = "pipeline",
    summary = "training by pipeline parallelism: micro-batches pass through stages",
    source = "docs/experiments.md"
)]
pub struct Pipeline {
    /// Number of stages. The first hosts of the group are the first stage, the next ones the second, and so on.
    #[key(optional, shown = "one for each host", range = "[2, 65536]")]
    pub stages: Option<u32>,
    /// Number of micro-batches of an iteration.
    #[key(required = "micro_batches = 8", range = "[1, 1000000]")]
    pub micro_batches: u32,
    /// The order of a stage's computations.
    #[key(default = Schedule::OneForwardOneBackward, source = "Narayanan et al. (SC 2021)")]
    pub schedule: Schedule,
    /// Bytes of the activations of a micro-batch, which a rank sends to the next stage.
    #[key(required = "activations = \"16MB\"", form = Payload)]
    pub activations: u64,
    /// Bytes of the gradients of a micro-batch, which a rank sends to the stage before.
    #[key(optional, shown = "as many as activations", form = Payload)]
    pub gradients: Option<u64>,
    /// Time that a rank computes forward for a micro-batch.
    #[key(required = "forward = \"10ms\"")]
    pub forward: Span,
    /// Time that a rank computes backward for a micro-batch.
    #[key(optional, shown = "twice forward", source = "Narayanan et al. (SC 2021)")]
    pub backward: Option<Span>,
    /// Number of iterations.
    #[key(default = 1, range = "[1, 1000000]")]
    pub iterations: u32,
    /// Start of the first computation.
    #[key(default = Span::ZERO)]
    pub start: Span,
    /// The connections that carry the messages.
    #[key(default = MessageConnections::PerMessage, skip_default)]
    pub connections: MessageConnections,
}

impl Application for Pipeline {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        size_ok(Some(self.activations))?;
        size_ok(self.gradients)?;
        let ranks = site.hosts.len();
        if ranks < 2 || distinct(site.hosts).len() < ranks {
            return Err(AppError::PipelineRanks(ranks));
        }
        let stages = self.stages.map_or(ranks, |stages| stages as usize);
        if !ranks.is_multiple_of(stages) {
            return Err(AppError::Stages { ranks, stages });
        }
        let most = if let Until::Flows(_) = site.until { 1 } else { self.iterations };
        let per_iteration = 2 * u64::from(self.micro_batches) * ranks as u64;
        if per_iteration * u64::from(self.iterations) > u64::from(MAX_FLOWS) {
            return Err(AppError::TooMany);
        }
        let of_batch = self.forward.0.saturating_add(self.backward().0);
        let computes = u64::from(self.micro_batches).saturating_mul(of_batch);
        not_too_late(self.start.0.saturating_add(computes.saturating_mul(u64::from(most))))?;
        let mut job = Job {
            keys: self,
            shape: Shape { stages, replicas: ranks / stages, micro_batches: self.micro_batches as usize },
            maker: FlowFactory::new(site),
            last: vec![End::At(not_too_late(self.start.0)?); ranks],
            traffic: Traffic::default(),
        };
        for iteration in 0..most {
            let earliest = self.start.0.saturating_add(computes.saturating_mul(u64::from(iteration)));
            job.iterate(CoflowId::new(iteration), not_too_late(earliest)?);
        }
        Ok(job.traffic)
    }

    fn is_closed_loop(&self) -> bool {
        true
    }

    fn is_job(&self, _: usize) -> bool {
        true
    }

    fn shares_connections(&self) -> bool {
        self.connections == MessageConnections::PerPair
    }
}

impl Pipeline {
    fn backward(&self) -> Span {
        self.backward.unwrap_or(Span(self.forward.0.saturating_mul(2)))
    }
}

/// A computation of a rank for a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Forward(usize),
    Backward(usize),
}

impl Schedule {
    /// Returns the computations of a stage of `stages`, in order.
    pub(crate) fn passes(self, (stage, stages): (usize, usize), micro_batches: usize) -> Vec<Pass> {
        let all = 0..micro_batches;
        match self {
            Self::Gpipe => all.clone().map(Pass::Forward).chain(all.rev().map(Pass::Backward)).collect(),
            Self::OneForwardOneBackward => {
                let ahead = (stages - 1 - stage).min(micro_batches);
                let pairs =
                    (ahead..micro_batches).flat_map(|k| [Pass::Forward(k), Pass::Backward(k - ahead)]);
                let rest = micro_batches - ahead..micro_batches;
                (0..ahead).map(Pass::Forward).chain(pairs).chain(rest.map(Pass::Backward)).collect()
            }
        }
    }
}

/// The numbers of stages, ranks of a stage, and micro-batches of an iteration.
#[derive(Clone, Copy, Debug)]
struct Shape {
    stages: usize,
    replicas: usize,
    micro_batches: usize,
}

/// The messages of an iteration in one direction, by the boundary between two stages that they cross, micro-batch, and
/// replica.
struct Messages {
    first: u32,
    shape: Shape,
}

impl Messages {
    fn at(&self, boundary: usize, micro_batch: usize, replica: usize) -> FlowId {
        let Shape { replicas, micro_batches, .. } = self.shape;
        FlowId(self.first + ((boundary * micro_batches + micro_batch) * replicas + replica) as u32)
    }
}

/// The end of a computation: known if it waits for no message, directly or through others.
#[derive(Clone, Copy, Debug)]
enum End {
    At(Time),
    Of(StepId),
}

/// A job under construction.
struct Job<'a> {
    keys: &'a Pipeline,
    shape: Shape,
    maker: FlowFactory<'a>,
    /// The end of each rank's last computation.
    last: Vec<End>,
    traffic: Traffic,
}

impl Job<'_> {
    /// Adds an iteration, which each rank begins after its last computation of the one before.
    fn iterate(&mut self, coflow: Option<CoflowId>, earliest: Time) {
        let Pipeline { activations, gradients, .. } = *self.keys;
        let known = self.known();
        let starts = |boundary: usize, k: usize| match (boundary, known.get(k)) {
            (0, Some(&end)) => end,
            _ => earliest,
        };
        let forward = self.messages(activations, coflow, (|pair| pair, starts));
        let swapped = |Pair { src, dst }| Pair { src: dst, dst: src };
        let backward = self.messages(gradients.unwrap_or(activations), coflow, (swapped, |_, _| earliest));
        let mut sent = Vec::new();
        for stage in 0..self.shape.stages {
            for replica in 0..self.shape.replicas {
                for pass in self.keys.schedule.passes((stage, self.shape.stages), self.shape.micro_batches) {
                    // What the pass needs from another stage, and what another stage needs from it.
                    let (awaited, makes) = match pass {
                        Pass::Forward(k) => (
                            stage.checked_sub(1).map(|before| forward.at(before, k, replica)),
                            (stage + 1 < self.shape.stages).then(|| forward.at(stage, k, replica)),
                        ),
                        Pass::Backward(k) => (
                            (stage + 1 < self.shape.stages).then(|| backward.at(stage, k, replica)),
                            stage.checked_sub(1).map(|before| backward.at(before, k, replica)),
                        ),
                    };
                    let end = self.compute(stage * self.shape.replicas + replica, pass, awaited, earliest);
                    if let (Some(flow), End::Of(step)) = (makes, end) {
                        sent.push((flow, step));
                    }
                }
            }
        }
        sent.sort_unstable();
        self.traffic.waits.extend(sent.into_iter().map(|(flow, step)| FlowDependency {
            flow,
            after: vec![at_once(Work::Step(step))],
            until: None,
        }));
    }

    /// Returns the ends of the first computations forward of the first stage, as far as they are known.
    fn known(&self) -> Vec<Time> {
        let End::At(mut end) = self.last[0] else { return Vec::new() };
        let passes = self.keys.schedule.passes((0, self.shape.stages), self.shape.micro_batches);
        let ahead = passes.iter().take_while(|pass| matches!(pass, Pass::Forward(_)));
        let forward = |_: &Pass| {
            end += self.keys.forward;
            end
        };
        ahead.map(forward).collect()
    }

    /// Adds the messages of all micro-batches over all boundaries, in the direction that `turn` gives a pair; `earliest` is
    /// that of a boundary and micro-batch.
    fn messages(
        &mut self,
        bytes: u64,
        coflow: Option<CoflowId>,
        (turn, earliest): (impl Fn(Pair) -> Pair, impl Fn(usize, usize) -> Time),
    ) -> Messages {
        let Shape { stages, replicas, micro_batches } = self.shape;
        let hosts = self.maker.site.hosts;
        let connection = match self.keys.connections {
            MessageConnections::PerMessage => None,
            MessageConnections::PerPair => ConnectionId::new(0),
        };
        let mut first = None;
        for boundary in 0..stages - 1 {
            for micro_batch in 0..micro_batches {
                for replica in 0..replicas {
                    let src = boundary * replicas + replica;
                    let pair = turn(Pair { src: hosts[src], dst: hosts[src + replicas] });
                    let flow = self.maker.flow(pair, Some(bytes), earliest(boundary, micro_batch));
                    first.get_or_insert(flow.id.0);
                    self.traffic.flows.push(FlowSpec { coflow, connection, ..flow });
                }
            }
        }
        Messages { first: first.unwrap_or(0), shape: self.shape }
    }

    /// Adds a computation of a rank, which also waits for a message; returns its end.
    fn compute(&mut self, rank: usize, pass: Pass, awaited: Option<FlowId>, earliest: Time) -> End {
        let site = self.maker.site;
        let takes = match pass {
            Pass::Forward(_) => self.keys.forward,
            Pass::Backward(_) => self.keys.backward(),
        };
        let (start, before) = match self.last[rank] {
            End::At(end) => (end, None),
            End::Of(step) => (earliest, Some(Work::Step(step))),
        };
        let after: Vec<Predecessor> =
            before.into_iter().chain(awaited.map(Work::Flow)).map(at_once).collect();
        let end = if after.is_empty() {
            End::At(start + takes)
        } else {
            End::Of(StepId(self.traffic.steps.len() as u32))
        };
        self.traffic.steps.push(Step { group: site.group, host: site.hosts[rank], start, takes, after });
        self.last[rank] = end;
        end
    }
}

fn at_once(work: Work) -> Predecessor {
    Predecessor { work, delay: Span::ZERO }
}
