//! The parameters of one run, resolved: no file, no sweep, no unit string is left.

use priolane_core::admit::Policy;
use priolane_core::assign::control::{self, AdaptiveThresholds};
use priolane_core::endpoint::{Control, Weights};
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, LinkId};
use priolane_core::noise::DelayNoise;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{Frames, PauseLink, PfcSpec};
use priolane_core::port::{Buffer, DisciplineSpec, PortContext, Returns, SharedBuffer, SortBy};
use priolane_core::transport::Transport;
use priolane_core::units::{Span, Time};

use crate::model::dependencies::{FlowDependency, least_delay};
use crate::model::outage::Outages;
use crate::model::topology::{Link, Topology};

/// An egress port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortSpec {
    /// Its queueing discipline.
    pub discipline: DisciplineSpec,
    /// Its buffer and marking.
    pub buffer: Buffer,
}

/// What all ports of a switch have in common; every switch of a run is alike.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SwitchSpec {
    /// The buffer they share, besides the limits of each port; `None` where ports have buffers of their own only.
    pub memory: Option<SharedBuffer>,
    /// The buffer they share if classes are lossless (PFC): then `memory` is none, the limits of ports do not count, and
    /// ports are FIFO, strict or weighted fair queues.
    pub lossless: Option<PfcSpec>,
}

/// What stands between a host's transport and its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nic {
    /// Nothing: the line asks the transport who is next.
    Pull,
    /// A transmit queue, filled as soon as the transport allows.
    Queue {
        /// Its discipline and buffer, as of a switch port. A trimming queue drops what it has no room for as a header,
        /// whatever its `overflow` says.
        port: PortSpec,
        /// What a discipline with several queues sorts by.
        sort_by: SortBy,
    },
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `grace` after the last finite flow has completed, not before `not_before`, at `limit` at the latest.
    /// `grace` is what is still simulated so that last ACKs land, at least [`ScenarioSpec::lookahead`].
    WhenDone {
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

/// A control message that an experiment schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledControl {
    /// When it reaches the flow's source.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// What changes.
    pub control: Control,
}

/// How well hosts measure delays.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Measuring {
    /// What hosts add to the delays that they measure; `None` for nothing.
    pub noise: Option<DelayNoise>,
    /// The clock of each host is off by an amount drawn evenly from this to both sides: it is in one-way delays.
    pub clock_error: Span,
}

/// The parameters of one run. [`ScenarioSpec::build`] checks what is said of each field.
#[derive(Clone, Debug)]
pub struct ScenarioSpec {
    /// The network.
    pub topology: Topology,
    /// Packet sizes on the wire; the transport's are the same.
    pub frame: Frame,
    /// The transport and its parameters.
    pub transport: Transport,
    /// What stands between transport and line at hosts.
    pub nic: Nic,
    /// The egress port of each link, by `LinkId`; those of links that leave hosts are not used.
    pub ports: Vec<PortSpec>,
    /// What the ports of a switch share.
    pub switch: SwitchSpec,
    /// Time between a packet's arrival at a host and its transport seeing it.
    pub host_delay: Span,
    /// How well hosts measure delays.
    pub measuring: Measuring,
    /// The flows, sorted by start; ids are places.
    pub flows: FlowList,
    /// Which of them wait for others, by flow, each at most once, without a circle.
    pub waits: Vec<FlowDependency>,
    /// What fails, and when.
    pub outages: Outages,
    /// Control messages, sorted by time.
    pub controls: Vec<ScheduledControl>,
    /// Thresholds that follow the workload; `None` where they stay as they are.
    pub adaptation: Option<Adaptation>,
    /// Which class flows get for the one they ask for, at each source host. A policy that learns from monitor intervals
    /// learns from the transport's.
    pub admission: Policy,
    /// By group: what its applications do when a flow would run at a lower class than it asked for;
    /// groups beyond the list ignore it.
    pub on_downgrade: Vec<OnDowngrade>,
    /// By group: what each of its hosts is as a virtual machine that pays for its flows together; groups beyond
    /// the list, and those with `None`, are none: their flows keep the weights they start with.
    pub machines: Vec<Option<VmPricing>>,
    /// How often senders report what of each flow is acknowledged, for `series`; `None` for never. If it is some, the
    /// transport's monitor interval is the same.
    pub rates_every: Option<Span>,
    /// How often probabilities of admission are kept for the tables, above zero; `None` for not at all.
    pub admission_every: Option<Span>,
    /// Seed of all random streams of the run.
    pub seed: u64,
    /// When it ends.
    pub stop: Stop,
    /// Instants at which queues are read for `series`: every so often; `None` for never.
    pub sample_every: Option<Span>,
    /// Permutes the order of simultaneous events of different entities; `None` keeps entity order.
    pub tie_shuffle: Option<u64>,
}

/// What an application does when admission control would run a flow at a lower class than it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnDowngrade {
    /// Nothing: the flow runs at the class it is given.
    #[default]
    Ignore,
    /// It holds the flow back, and asks again.
    Defer {
        /// For how long, above zero.
        by: Span,
        /// How often at most, at least 1; then the flow runs at the class it is given.
        times: u32,
    },
    /// The flow runs at the class it is given, and less urgent ones to the same destination ask for no higher class.
    Reclassify {
        /// For how long, above zero.
        lasts: Span,
    },
}

/// What a virtual machine pays for (PACCP §IV-A): see [`priolane_core::price::vbp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmPricing {
    /// Minimum rate and weight of all its active flows together.
    pub pair: Weights,
    /// How long arrivals and departures are collected before shares are recomputed; `None` for at once.
    pub interval: Option<Span>,
}

/// Thresholds that follow the workload: see [`priolane_core::assign::control`].
#[derive(Clone, Debug, PartialEq)]
pub struct Adaptation {
    /// How often and from what; its delay is not below [`ScenarioSpec::lookahead`].
    pub config: control::Config,
    /// Ladders that a controller finds from the reports of all hosts.
    pub global: Vec<AdaptiveThresholds>,
    /// Ladders that each host finds from its own flows.
    pub local: Vec<AdaptiveThresholds>,
}

/// Which engine runs it. They agree to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// Window, unless the lookahead is tiny or the load very light.
    #[default]
    Auto,
    /// Each node advances alone through a window of the lookahead; with a lookahead of 1 ps, which leaves no window,
    /// the wheel.
    Window,
    /// One global timing wheel, every departure an event.
    Wheel,
}

/// Bytes on the wire of a pause frame: the smallest frame.
pub(crate) fn pause_wire(frame: &Frame) -> u16 {
    frame.min_wire()
}

/// By link: what of one lossless class can still arrive by it once the switch at its end is to pause the class; 0 for
/// links to hosts, which pause nothing.
pub fn headroom(topology: &Topology, frame: &Frame, host_delay: Span) -> Vec<u64> {
    let frames = Frames { largest: frame.max_wire(), pause: pause_wire(frame) };
    let of_link = |(id, link): (usize, &Link)| {
        if link.to.0 < topology.hosts {
            return 0;
        }
        let back = &topology.links[topology.reverse(LinkId(id as u32)).index()];
        let from_host = link.from.0 < topology.hosts;
        let reach = PauseLink {
            rate: link.rate,
            back: back.rate,
            round_trip: link.delay + back.delay,
            reaction: if from_host { host_delay } else { Span::ZERO },
        };
        reach.headroom(frames)
    };
    topology.links.iter().enumerate().map(of_link).collect()
}

impl ScenarioSpec {
    /// `flows` over `transport`, whose frame is the scenario's, with seed 1 and nothing that can be left out: lines pull
    /// from transports, hosts take no time, nothing fails, waits, is admitted, paid for or sampled.
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
            measuring: Measuring::default(),
            flows,
            waits: Vec::new(),
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
            tie_shuffle: None,
        }
    }

    /// Nothing that happens at a node is felt at another sooner than this: the shortest link with the smallest
    /// packet, or the shortest delay of news between hosts. No window of the engine is longer.
    pub fn lookahead(&self) -> Span {
        let packets = self.topology.lookahead(&self.frame);
        least_delay(&self.waits, &self.flows).map_or(packets, |news| news.min(packets))
    }

    /// What the port of `link` in a switch is built for.
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

    /// The longest time from the start of a transmission to the arrival of its packet.
    pub fn longest_hop(&self) -> Span {
        let hop = |l: &Link| l.delay + l.rate.serialize(u64::from(self.frame.max_wire())) + self.host_delay;
        self.topology.links.iter().map(hop).max().unwrap_or(Span(1))
    }
}
