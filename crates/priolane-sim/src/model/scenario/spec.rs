//! The parameters of a run, fully resolved: no files, sweeps or unit strings.

use priolane_core::admit::{OnDowngrade, Policy};
use priolane_core::assign::control::{self, AdaptiveThresholds};
use priolane_core::endpoint::{Control, FlowSpec, Path, Weights};
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::noise::DelayNoise;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{Frames, PauseLink, PfcSpec};
use priolane_core::port::{Buffer, DisciplineSpec, PortContext, Returns, SharedBuffer, SortBy};
pub use priolane_core::send_jitter::SendJitter;
use priolane_core::transport::Transport;
use priolane_core::units::{Span, Time};

use crate::model::dependencies::{FlowDependency, Step, least_delay};
use crate::model::outage::Outages;
use crate::model::topology::{Link, Topology};

/// An egress port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Its queueing discipline.
    pub discipline: DisciplineSpec,
    /// Its buffer and marking.
    pub buffer: Buffer,
}

/// Parameters common to all ports of a switch; all switches of a run are alike.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SwitchSpec {
    /// The buffer that its ports share, besides the limits of each port; `None` if each port has only its own buffer.
    pub memory: Option<SharedBuffer>,
    /// The shared buffer with lossless classes (PFC). If set, `memory` is `None`, the limits of ports are ignored, and
    /// ports are FIFO, strict or weighted fair queues.
    pub lossless: Option<PfcSpec>,
}

/// The NIC: the queue between a host's transport and its link.
#[derive(Clone, Debug, PartialEq)]
pub enum Nic {
    /// No queue: the link polls the transport for the next packet.
    Pull,
    /// A transmit queue, filled as soon as the transport allows.
    Queue {
        /// Its discipline and buffer, as for a switch port. A trimming queue drops packets whose headers find no room,
        /// regardless of `overflow`.
        port: PortSpec,
        /// The field by which a discipline with several queues selects the queue.
        sort_by: SortBy,
    },
}

/// The condition on which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At `grace` after the last awaited flow has completed, not before `not_before` and not after `limit`. The grace
    /// period lets the last ACKs arrive; it is at least [`ScenarioSpec::lookahead`].
    WhenDone {
        /// The flows that the run waits for.
        awaits: Awaited,
        /// Simulated time after the last completion.
        grace: Span,
        /// The earliest instant.
        not_before: Time,
        /// The latest instant.
        limit: Time,
    },
    /// At this instant.
    At(Time),
}

/// The flows that a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// All flows of finite size.
    Finite,
    /// The flows of finite size that start in `[from, until)`. A run awaits these if other flows go on to start behind
    /// them. `until` is at most the `not_before` of the stop condition.
    StartedIn {
        /// The first instant.
        from: Time,
        /// The first instant after the last one.
        until: Time,
    },
}

/// A scheduled control message of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledControl {
    /// The time at which the change reaches the flow's source.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The change.
    pub control: Control,
}

/// Accuracy of the delay measurements of hosts.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MeasurementError {
    /// Error that hosts add to measured delays; `None` for none.
    pub noise: Option<DelayNoise>,
    /// Maximum clock error of hosts, uniformly distributed in both directions; it affects one-way delays.
    pub clock_error: Span,
}

/// The parameters of a run. [`ScenarioSpec::build`] checks the constraints stated at the fields.
#[derive(Clone, Debug)]
pub struct ScenarioSpec {
    /// The network.
    pub topology: Topology,
    /// Packet sizes on the wire; the transport uses the same.
    pub frame: Frame,
    /// The transport and its parameters.
    pub transport: Transport,
    /// The NIC of hosts.
    pub nic: Nic,
    /// The egress port of each link, by `LinkId`; entries of links that leave hosts are unused.
    pub ports: Vec<PortSpec>,
    /// The shared parameters of the ports of a switch.
    pub switch: SwitchSpec,
    /// Delay between a packet's arrival at a host and its processing by the transport.
    pub host_delay: Span,
    /// Accuracy of the delay measurements of hosts.
    pub measuring: MeasurementError,
    /// The flows, sorted by start; ids are indices.
    pub flows: FlowList,
    /// Flow dependencies, sorted by flow, at most one per flow, without cycles.
    pub waits: Vec<FlowDependency>,
    /// Steps of hosts, without cycles. Nothing waits for a step that waits for nothing, since its end is known.
    pub steps: Vec<Step>,
    /// The failures.
    pub outages: Outages,
    /// Control messages, sorted by time.
    pub controls: Vec<ScheduledControl>,
    /// Thresholds that adapt to the workload; `None` for fixed thresholds.
    pub adaptation: Option<Adaptation>,
    /// Admission control at each source host. A policy with monitor intervals uses those of the transport.
    pub admission: Policy,
    /// By group: reaction of its applications to a downgrade, when a flow would run at a lower class than requested.
    /// Groups beyond the list ignore downgrades.
    pub on_downgrade: Vec<OnDowngrade>,
    /// By group: the virtual machine that each of its hosts is, which pays for its flows together. Groups beyond the
    /// list, or with `None`, have no virtual machines: their flows keep their initial weights.
    pub machines: Vec<Option<VmPricing>>,
    /// Interval at which senders report the acknowledged bytes of each flow, for `series`; `None` for never. If set,
    /// it equals the transport's monitor interval.
    pub rates_every: Option<Span>,
    /// Interval at which admit probabilities are sampled for the tables, above zero; `None` for never.
    pub admission_every: Option<Span>,
    /// Seed of all random streams of the run.
    pub seed: u64,
    /// The condition on which the run ends.
    pub stop: Stop,
    /// Interval at which queues are sampled for `series`; `None` for never.
    pub sample_every: Option<Span>,
    /// The random time that each packet takes to leave a host.
    pub send_jitter: SendJitter,
}

/// The service that a virtual machine pays for (PACCP §IV-A): see [`priolane_core::price::vbp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmPricing {
    /// Minimum rate and weight of all its active flows together.
    pub pair: Weights,
    /// The time for which arrivals and departures are batched before shares are recomputed; `None` to recompute
    /// immediately.
    pub interval: Option<Span>,
}

/// Thresholds that adapt to the workload: see [`priolane_core::assign::control`].
#[derive(Clone, Debug, PartialEq)]
pub struct Adaptation {
    /// Parameters of the adaptation; its delay is at least [`ScenarioSpec::lookahead`].
    pub config: control::Config,
    /// Thresholds that a controller computes from the reports of all hosts.
    pub global: Vec<AdaptiveThresholds>,
    /// Thresholds that each host computes from its own flows.
    pub local: Vec<AdaptiveThresholds>,
}

/// The engine of a run. Both engines agree to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// The window engine, unless the lookahead is tiny or the load very light.
    #[default]
    Auto,
    /// The window engine: each node runs alone through a window of at most the lookahead. With a lookahead of 1 ps,
    /// which allows no window, the wheel engine.
    Window,
    /// The wheel engine: one global timing wheel, with an event for every departure.
    Wheel,
}

/// Returns the bytes on the wire of a pause frame: the smallest frame.
pub(crate) fn pause_wire(frame: &Frame) -> u16 {
    frame.min_wire()
}

/// Returns the sizes of the frames on which headroom depends.
pub fn pause_frames(frame: &Frame) -> Frames {
    Frames { largest: frame.max_wire(), pause: pause_wire(frame) }
}

/// Returns, by link, what the headroom at its destination depends on; `None` for links to hosts, which do not pause.
pub fn pause_links(
    topology: &Topology,
    (frame, send_jitter): (&Frame, SendJitter),
    host_delay: Span,
) -> Vec<Option<PauseLink>> {
    let of_link = |(id, link): (usize, &Link)| {
        if link.to.0 < topology.hosts {
            return None;
        }
        let back = &topology.links[topology.reverse(LinkId(id as u32)).index()];
        // A host acts on a pause after its delay. Packets that it has sent may still be on their way for the random time.
        let from_host = link.from.0 < topology.hosts;
        let reaction = if from_host { host_delay + send_jitter.at(link.rate, frame) } else { Span::ZERO };
        Some(PauseLink { rate: link.rate, back: back.rate, round_trip: link.delay + back.delay, reaction })
    };
    topology.links.iter().enumerate().map(of_link).collect()
}

impl ScenarioSpec {
    /// Creates a scenario of `flows` over `transport`, which has the scenario's frame, with seed 1 and all optional
    /// features off: links poll transports, hosts take no time, and there are no failures, dependencies, admission,
    /// pricing or samples.
    pub fn new(
        topology: Topology,
        ports: Vec<PortSpec>,
        transport: Transport,
        flows: FlowList,
        stop: Stop,
    ) -> Self {
        Self {
            topology,
            frame: transport.frame(),
            transport,
            nic: Nic::Pull,
            ports,
            switch: SwitchSpec::default(),
            host_delay: Span::ZERO,
            measuring: MeasurementError::default(),
            flows,
            waits: Vec::new(),
            steps: Vec::new(),
            outages: Outages::default(),
            controls: Vec::new(),
            adaptation: None,
            admission: Policy::default(),
            on_downgrade: Vec::new(),
            machines: Vec::new(),
            rates_every: None,
            admission_every: None,
            seed: 1,
            stop,
            sample_every: None,
            send_jitter: SendJitter::NONE,
        }
    }

    /// Returns the lookahead: the minimum delay after which an event at a node can affect another node. It is that of
    /// the smallest packet on the shortest link, or the shortest delay of a signal between hosts. No window of the
    /// engine is longer.
    pub fn lookahead(&self) -> Span {
        let packets = self.topology.lookahead(&self.frame);
        least_delay(&self.waits, &self.steps, &self.flows).map_or(packets, |news| news.min(packets))
    }

    /// Returns the context of the switch port of `link`.
    pub(crate) fn switch_port(&self, link: LinkId) -> PortContext {
        let Self { topology, frame, seed, .. } = self;
        PortContext {
            link,
            rate: topology.links[link.index()].rate,
            buffer: self.ports[link.index()].buffer,
            sort_by: SortBy::Class,
            frame: *frame,
            returns: Returns::Forwarded,
            seed: *seed,
        }
    }

    /// Returns the empty path of a flow and its replies, with the random times of both hosts.
    pub(crate) fn empty_path(&self, flow: &FlowSpec) -> Path {
        let jitter = |host| self.send_jitter(self.topology.uplink(host));
        let path = self.topology.empty_path(&self.frame, (flow.src, flow.dst), flow.entropy, self.host_delay);
        Path { send_jitter: jitter(flow.src) + jitter(flow.dst), ..path }
    }

    /// Returns the longest random time on `link`, which leaves a host.
    pub(crate) fn send_jitter(&self, link: LinkId) -> Span {
        self.send_jitter.at(self.topology.links[link.index()].rate, &self.frame)
    }

    /// Returns the longest time from the start of a transmission to the arrival of its packet.
    pub fn longest_hop(&self) -> Span {
        let hop = |l: &Link| {
            let from_host = l.from.0 < self.topology.hosts;
            let jitter = if from_host { self.send_jitter.at(l.rate, &self.frame) } else { Span::ZERO };
            l.delay + l.rate.serialize(u64::from(self.frame.max_wire())) + jitter + self.host_delay
        };
        self.topology.links.iter().map(hop).max().unwrap_or(Span(1))
    }
}
