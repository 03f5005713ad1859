//! Small scenarios for tests, by hand and at random.
#![allow(unreachable_pub, reason = "modules of one test program")]

pub mod admission;
pub mod blaster;
pub mod in_memory;
pub mod kept;
pub mod line;
pub mod paced;

use priolane_core::endpoint::{Endpoint, FlowSpec, LocalHost};
use priolane_core::ids::{CLASSES, ClassSet, FlowId, HostId, LinkId, NodeId};
use priolane_core::keys::Keys;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{HeadroomFrom, PfcSpec, Xoff};
use priolane_core::port::{
    AifoSpec, Alpha, Buffer, DisciplineSpec, FifoSpec, LimitedSpec, Overflow, PFabricSpec, PushOutSpec,
    QueueWeights, RankedSpec, Scope, SharedBuffer, SortBy, StrictSpec, TokenGroupSpec, TokenMode,
    TrimmingSpec, WfqSpec,
};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::delay::{Signal, Size};
use priolane_core::transport::prioplus::{self, Channel, ChannelTable, Start, Variant};
use priolane_core::transport::window::{self, Handshake, LossRecovery};
use priolane_core::transport::{
    CommonRtt, Controller, Transport, d2tcp, dctcp, homa, hpcc, ledbat, ndp, new_reno, paccp, pfabric, phost,
    swift,
};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor};
use priolane_sim::outage::{FailedElement, Failure, Outages};
use priolane_sim::outcome::Outcome;
use priolane_sim::scenario::{Awaited, Engine, Nic, PortSpec, Scenario, ScenarioSpec, Stop};
use priolane_sim::topology::{Dumbbell, FatTree, LeafSpine, LinkSpec, SingleSwitch, ThreeTier, Topology};
use priolane_sim::trace::{Following, Trace};
use priolane_sim::{Drive, NodeOrder, Simulation, Threads};

pub const IDENTITY: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

pub fn link(gbps: u64, delay: Span) -> LinkSpec {
    LinkSpec::lossless(Rate::from_gbps(gbps), delay)
}

pub fn fifo(buffer: Buffer) -> PortSpec {
    PortSpec { discipline: DisciplineSpec::Fifo(FifoSpec), buffer }
}

pub fn strict(queues: u8, buffer: Buffer) -> PortSpec {
    PortSpec { discipline: DisciplineSpec::Strict(StrictSpec { queues, map: IDENTITY }), buffer }
}

pub fn push_out(queues: u8, buffer: Buffer) -> PortSpec {
    PortSpec { discipline: DisciplineSpec::PushOut(PushOutSpec { queues, map: IDENTITY }), buffer }
}

pub fn wfq(weights: &[u32], buffer: Buffer) -> PortSpec {
    let weights = QueueWeights::new(weights).expect("weights within bounds");
    PortSpec { discipline: DisciplineSpec::Wfq(WfqSpec { weights, map: IDENTITY }), buffer }
}

pub fn new_reno() -> Controller {
    Controller::NewReno(new_reno::Config { init_window: None })
}

const PACCP: paccp::Config = paccp::Config {
    reno: new_reno::Config { init_window: None },
    r_cos: 3.0,
    avoidance: paccp::Avoidance::Approximate,
    rtt: paccp::RttOf::Smoothed,
    floor: paccp::LossFloor::None,
};

pub fn paccp() -> Controller {
    Controller::Paccp(PACCP)
}

pub fn paccp_dctcp() -> Controller {
    let dctcp::Config { g, alpha_0, min_window, reduction, .. } = DCTCP;
    Controller::PaccpDctcp(dctcp::Config { reno: PACCP, g, alpha_0, min_window, reduction })
}

const DCTCP: dctcp::Config = dctcp::Config {
    reno: new_reno::Config { init_window: None },
    g: 1.0 / 16.0,
    alpha_0: 0.0,
    min_window: 2,
    reduction: dctcp::Reduction::AtOnce,
};

pub fn dctcp() -> Controller {
    Controller::Dctcp(DCTCP)
}

pub fn d2tcp() -> Controller {
    Controller::D2tcp(d2tcp::Config { dctcp: DCTCP, late: 0.5 })
}

/// Swift as the baseline of PrioPlus's paper: 25 us above the empty path, more for small windows.
pub const SWIFT: swift::Config = swift::Config {
    signal: Signal::Rtt,
    init_window: Size::Bdp(1.0),
    ai: Size::Bdp(0.0012),
    target: Span::from_us(25),
    target_from: swift::TargetFrom::Base,
    hop: Span::ZERO,
    class_step: Span::ZERO,
    fs_range: Some(Span::from_us(100)),
    fs_min: Size::Bdp(0.1),
    fs_max: Size::Bdp(1.0),
    beta: 0.8,
    max_mdf: 0.5,
    min_window: Size::Packets(0.01),
    max_window: Size::Bdp(1e3),
    whole: swift::Whole::Fractions,
    endpoint_target: None,
    retx_reset: 5,
    ..swift::Config::of(swift::Preset::Paper)
};

/// HPCC with its paper's values.
pub const HPCC: hpcc::Config = hpcc::Config {
    eta: 0.95,
    eta_step: 0.0,
    max_stage: 5,
    step: Size::Bdp(0.0005),
    rtt: CommonRtt::Longest,
    min_window: Size::Bdp(0.001),
};

/// pFabric with a window that its paths fill.
pub const PFABRIC: pfabric::Config =
    pfabric::Config { init_window: Size::Bdp(1.0), max_window: Size::Bdp(1.0), probe_after: 5 };

pub const LEDBAT: ledbat::Config = ledbat::Config {
    signal: Signal::OneWay,
    target: Span::from_us(25),
    class_step: Span::ZERO,
    gain: 1.0,
    decrease_gain: 1.0,
    allowed_increase: 1.0,
    init_window: None,
    min_window: 2.0,
    base: ledbat::Base::Measured(Span::from_ms(1)),
};

/// PrioPlus with the paper's channels for `n` classes, 4 us apart, and its starts: the best class never yields.
pub fn prioplus<C: Keys>(inner: C, variant: Variant, n: u64) -> prioplus::Config<C> {
    let lane = |class: u64| {
        let above = Span::from_us(4 * (n - class));
        let start = match class {
            0 => Start::LineRate,
            _ if class < n.div_ceil(4) => Start::Linear,
            _ => Start::Probe,
        };
        Channel {
            target: above,
            limit: (class > 0).then_some(above + Span::from_ns(2_400)),
            start,
            linear_start: match class * 8 {
                part if part < 2 * n => 1.0,
                part if part < 5 * n => 0.25,
                _ => 0.125,
            },
        }
    };
    let channels: Vec<Channel> = (0..n).map(lane).collect();
    prioplus::Config {
        inner,
        variant,
        channel_table: Some(ChannelTable::new(&channels).expect("the paper's channels do not overlap")),
        ..prioplus::Config::default()
    }
}

pub fn window(controller: Controller, config: window::Config) -> Transport {
    Transport::Window {
        window: config,
        controller,
        scheduler: priolane_core::host::SchedulerKind::RoundRobin,
    }
}

/// A transport whose receivers say who may send, quick to ask again.
pub fn receiver_driven(seed: u64) -> Transport {
    let frame = Frame::ETHERNET;
    let retry = Span::from_us(300);
    if seed % 3 == 1 {
        let pull = if seed.is_multiple_of(2) { ndp::PullOrder::Fair } else { ndp::PullOrder::ByClass };
        return Transport::Ndp(ndp::Config { pull, rto: retry, ..ndp::Config::new(frame) });
    }
    if seed % 3 == 2 {
        let levels = homa::Levels::new(&[1_000, 20_000], 5).expect("cut-offs ascend");
        return Transport::Homa(homa::Config { levels, resend: retry, retry, ..homa::Config::new(frame) });
    }
    let free = if seed.is_multiple_of(2) { phost::Free::Every } else { phost::Free::ShortOnly };
    Transport::PHost(phost::Config { retry, free, ..phost::Config::new(frame) })
}

/// A scenario with one kind of port everywhere, that ends when its flows do.
pub fn scenario(topology: Topology, port: PortSpec, flows: Vec<FlowSpec>) -> ScenarioSpec {
    let ports = vec![port; topology.links.len()];
    let transport = window(new_reno(), window::Config::new(Frame::ETHERNET));
    let limit = Time(10_000_000_000_000);
    let stop =
        Stop::WhenDone { awaits: Awaited::Finite, grace: Span::from_ms(1), not_before: Time::ZERO, limit };
    ScenarioSpec::new(topology, ports, transport, flows.into(), stop)
}

/// The scenario of `spec`, whose invariants hold.
pub fn built(spec: &ScenarioSpec) -> Scenario {
    spec.clone().build().expect("the invariants hold")
}

/// The outcome of `spec`.
pub fn run(spec: &ScenarioSpec, drive: Drive) -> Outcome {
    Simulation::of(&built(spec)).run(drive).expect("no invariant is violated")
}

/// The outcome of `spec` with the transport that `make` makes.
pub fn run_with<E: Endpoint + 'static>(
    spec: &ScenarioSpec,
    drive: Drive,
    make: &dyn Fn(LocalHost) -> E,
) -> Outcome {
    Simulation::of(&built(spec)).run_with(drive, make).expect("no invariant is violated")
}

/// The outcome of `spec`, and what happened to a flow.
pub fn run_traced(spec: &ScenarioSpec, flow: u32) -> (Outcome, Trace) {
    run_following(spec, &Following::Flow(FlowId(flow)))
}

/// The outcome of `spec`, and what happened to what is followed.
pub fn run_following(spec: &ScenarioSpec, following: &Following) -> (Outcome, Trace) {
    Simulation::of(&built(spec)).trace(following).expect("no invariant is violated")
}

pub fn flow(id: u32, (src, dst): (u16, u16), bytes: u64, start: Time) -> FlowSpec {
    FlowSpec {
        start,
        entropy: (id as u16).wrapping_mul(40_503),
        ..FlowSpec::new(FlowId(id), (HostId(src), HostId(dst)), Some(bytes))
    }
}

pub fn drive(engine: Engine) -> Drive {
    Drive::on(engine)
}

pub const SHUFFLED: Drive =
    Drive { engine: Engine::Window, order: NodeOrder::Shuffled(7), threads: Threads::ONE };

/// The outcome without what may depend on the engine.
pub fn physics(mut outcome: Outcome) -> Outcome {
    outcome.work.events = 0;
    outcome
}

/// The outcome on which both engines and shuffled nodes agree.
pub fn agreed(scenario: &ScenarioSpec) -> Outcome {
    agreed_by(|drive| run(scenario, drive))
}

/// The same with the transport that `make` makes.
pub fn agreed_with<E: Endpoint + 'static>(scenario: &ScenarioSpec, make: &dyn Fn(LocalHost) -> E) -> Outcome {
    agreed_by(|drive| run_with(scenario, drive, make))
}

fn agreed_by(run: impl Fn(Drive) -> Outcome) -> Outcome {
    let drives = [drive(Engine::Window), drive(Engine::Wheel), SHUFFLED];
    let [window, wheel, shuffled] = drives.map(|drive| physics(run(drive)));
    assert_eq!(window, wheel, "the wheel differs");
    assert_eq!(window, shuffled, "shuffled nodes differ");
    window
}

/// Two pods of two leaves with three hosts each, and four cores.
pub fn three_tiers(host_link: LinkSpec, pod_link: LinkSpec, core_link: LinkSpec) -> ThreeTier {
    let (pods, leaves_per_pod, aggs_per_pod, cores, hosts_per_leaf) = (2, 2, 2, 4, 3);
    ThreeTier { pods, leaves_per_pod, aggs_per_pod, cores, hosts_per_leaf, host_link, pod_link, core_link }
}

/// Draws small experiments: topology, ports, losses, sizes, starts.
pub struct Draw(pub Stream);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(Stream::new(seed, Purpose::Pairs, 77))
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    fn link(&mut self, losses: &[f64]) -> LinkSpec {
        let rate =
            self.pick(&[1_000_000_000, 10_000_000_000, 15_000_000_000, 40_000_000_000, 100_000_000_000]);
        let delay = self.pick(&[100, 999, 1_000, 1_003, 5_000, 120_000]);
        let loss = self.pick(losses);
        LinkSpec { rate: Rate::from_bps(rate).unwrap(), delay: Span::from_ns(delay), loss }
    }

    pub fn topology(&mut self, losses: &[f64]) -> Topology {
        let (host_link, fabric_link) = (self.link(losses), self.link(losses));
        match self.0.below(5) {
            0 => LeafSpine {
                leaves: 3,
                spines: 2,
                hosts_per_leaf: 3,
                host_link,
                fabric_link,
                links_per_pair: 1,
            }
            .build(),
            1 => FatTree { k: 4, host_link, fabric_link }.build(),
            2 => three_tiers(host_link, fabric_link, self.link(losses)).build(),
            3 => Dumbbell { left: 4, right: 3, host_link, bottleneck: fabric_link }.build(),
            _ => SingleSwitch { hosts: 6, host_link }.build(),
        }
        .expect("the specification is valid")
    }

    pub fn buffer(&mut self) -> Buffer {
        Buffer {
            limit: self.pick(&[
                Limit::Unlimited,
                Limit::Packets(4),
                Limit::Packets(40),
                Limit::Bytes(30_000),
            ]),
            limit_scope: self.pick(&[Scope::Port, Scope::Queue]),
            mark_above: self.pick(&[
                Limit::Unlimited,
                Limit::Packets(3),
                Limit::Packets(20),
                Limit::Bytes(9_000),
            ]),
            mark_scope: self.pick(&[Scope::Port, Scope::Queue]),
            ramp: None,
        }
    }

    pub fn memory(&mut self) -> Option<SharedBuffer> {
        let size = self.pick(&[0, 0, 12_000, 40_000, 200_000]);
        let alpha = Alpha::new(self.pick(&[(1, 1), (1, 4), (8, 1), (11, 100)])).expect("above zero");
        (size > 0).then_some(SharedBuffer { size, alpha })
    }

    /// A buffer with lossless classes 0 and 1.
    pub fn lossless(&mut self) -> PfcSpec {
        let mut alpha = |of| Alpha::new(self.pick(of)).expect("above zero");
        let (lossy, of_free) =
            (alpha(&[(1, 1), (1, 4), (8, 1)]), alpha(&[(1, 8), (1, 1), (11, 100), (4, 1)]));
        let size = self.pick(&[0, 60_000, 400_000, 3_000_000]);
        PfcSpec {
            memory: SharedBuffer { size, alpha: lossy },
            lossless: ClassSet(0b11),
            xoff: self.pick(&[Xoff::OfFree(of_free), Xoff::Bytes(20_000), Xoff::Bytes(0)]),
            xon_below: self.pick(&[0, 3_000]),
            headroom: self.pick(&[HeadroomFrom::Memory, HeadroomFrom::Beside]),
            headroom_least: 0,
            headroom_round_trips: 0,
            watchdog: None,
        }
    }

    /// Ports that can hold classes back.
    pub fn pausable_port(&mut self) -> PortSpec {
        let queues = match self.0.below(3) {
            0 => DisciplineSpec::Fifo(FifoSpec),
            1 => DisciplineSpec::Strict(StrictSpec { queues: 1 + self.0.below(4) as u8, map: IDENTITY }),
            _ => self.wfq(),
        };
        PortSpec { discipline: queues, buffer: self.buffer() }
    }

    pub fn port(&mut self) -> PortSpec {
        let buffer = self.buffer();
        let queues = match self.0.below(14) {
            0 | 1 => DisciplineSpec::Fifo(FifoSpec),
            2 | 3 => DisciplineSpec::Strict(StrictSpec { queues: 1 + self.0.below(8) as u8, map: IDENTITY }),
            4 | 5 => {
                DisciplineSpec::PushOut(PushOutSpec { queues: 2 + self.0.below(7) as u8, map: IDENTITY })
            }
            6 => DisciplineSpec::Ranked(RankedSpec),
            7 | 8 => self.wfq(),
            9 | 10 => return self.trimming(),
            11 | 12 => DisciplineSpec::Tokens(self.token_group()),
            _ => DisciplineSpec::Limited(LimitedSpec {
                rate: Rate::from_bps(700_000_001).unwrap(),
                burst: 9_000,
            }),
        };
        PortSpec { discipline: queues, buffer }
    }

    pub fn token_group(&mut self) -> TokenGroupSpec {
        TokenGroupSpec {
            classes: self.pick(&[1, 3, 6]),
            depth: self.pick(&[2, 8]),
            burst: self.pick(&[1, 2, 10]),
            expiry: self.pick(&[None, Some(8), Some(8), Some(1)]),
            mode: self.pick(&[
                TokenMode::A,
                TokenMode::B,
                TokenMode::UnlimitedDataHigh,
                TokenMode::UnlimitedDataLow,
                TokenMode::PerClassSplit,
                TokenMode::IngressBlind,
            ]),
            detour: self.pick(&[None, None, Some(Span::from_ns(700))]),
            ..TokenGroupSpec::TOP
        }
    }

    fn trimming(&mut self) -> PortSpec {
        let headers = self.pick(&[Limit::Unlimited, Limit::Packets(6), Limit::Bytes(8_000)]);
        let limit = self.pick(&[Limit::Packets(8), Limit::Packets(2), Limit::Bytes(12_000)]);
        let buffer = Buffer { limit, ..self.buffer() };
        // Draws of its own would change what is drawn after it.
        let overflow = if headers == Limit::Packets(6) { Overflow::Return } else { Overflow::Drop };
        PortSpec { discipline: DisciplineSpec::Trimming(TrimmingSpec { headers, overflow }), buffer }
    }

    fn wfq(&mut self) -> DisciplineSpec {
        let weights = self.pick(&[&[8, 4, 1][..], &[1, 1], &[1, 2, 3, 5, 7, 11, 13, 17]]);
        DisciplineSpec::Wfq(WfqSpec {
            weights: QueueWeights::new(weights).expect("weights within bounds"),
            map: IDENTITY,
        })
    }

    pub fn flows(&mut self, hosts: u32, count: u32) -> Vec<FlowSpec> {
        let mut starts: Vec<u64> = (0..count).map(|_| self.0.below(400) * 1_000_000).collect();
        starts.sort_unstable();
        let flow = |(id, start): (usize, u64)| {
            let src = self.0.below(u64::from(hosts)) as u16;
            let dst = ((u64::from(src) + 1 + self.0.below(u64::from(hosts) - 1)) % u64::from(hosts)) as u16;
            let bytes = 1 + self.0.below(self.pick_size());
            FlowSpec { class: self.0.below(3) as u8, ..flow(id as u32, (src, dst), bytes, Time(start)) }
        };
        starts.into_iter().enumerate().map(flow).collect()
    }

    /// Some of the flows wait for one to three earlier ones, some of those but for a while.
    pub fn waits(&mut self, flows: u32) -> Vec<FlowDependency> {
        let mut waits = Vec::new();
        for flow in 1..flows {
            if self.0.chance(0.5) {
                continue;
            }
            let mut after: Vec<FlowId> =
                (0..self.pick(&[1, 1, 2, 3])).map(|_| FlowId(self.0.below(u64::from(flow)) as u32)).collect();
            after.sort_unstable();
            after.dedup();
            let delay = self.pick(&[Span(400_003), Span::from_us(3), Span::from_us(120)]);
            let until = self.pick(&[None, None, None, Some(Time(3_000_000_000))]);
            waits.push(FlowDependency { flow: FlowId(flow), after: Predecessor::flows(after, delay), until });
        }
        waits
    }

    /// Up to four links and switches fail, all of them for a while.
    pub fn outages(&mut self, topology: &Topology) -> Outages {
        let mut failures = Vec::new();
        for _ in 0..=self.0.below(4) {
            let cut = match self.0.below(3) {
                0 => FailedElement::Switch(NodeId(
                    topology.hosts + self.0.below(u64::from(topology.switches)) as u32,
                )),
                _ => FailedElement::Link(LinkId(self.0.below(topology.links.len() as u64) as u32)),
            };
            let from = Time(self.0.below(1_000) * 777_777);
            let until = Some(from + Span(1 + self.0.below(1_500_000_000)));
            let reconvergence = self.pick(&[Span(1), Span::from_us(30), Span(123_456_789)]);
            failures.push(Failure { cut, from, until, reconvergence });
        }
        Outages::new(topology, &failures).expect("the topology is small")
    }

    fn pick_size(&self) -> u64 {
        120_000
    }

    pub fn nic(&mut self) -> Nic {
        let small = Buffer { limit: Limit::Packets(60), ..Buffer::UNLIMITED };
        let port = match self.0.below(5) {
            0 => return Nic::Pull,
            1 => fifo(Buffer::UNLIMITED),
            2 => push_out(8, Buffer { limit: Limit::Packets(9), ..Buffer::UNLIMITED }),
            3 => wfq(&[8, 4, 1], small),
            _ => strict(8, small),
        };
        Nic::Queue { port, sort_by: SortBy::HostLevel }
    }

    /// A transmit queue of a kind that [`Self::nic`] never draws, in which packets find no room.
    pub fn any_port_as_nic(&mut self) -> Nic {
        let map = std::array::from_fn(|class| class as u8);
        let queues = match self.0.below(5) {
            0 => DisciplineSpec::PFabric(PFabricSpec),
            1 => DisciplineSpec::Aifo(AifoSpec { map, ..AifoSpec::default() }),
            2 => DisciplineSpec::Trimming(TrimmingSpec {
                headers: Limit::Packets(6),
                overflow: Overflow::Return,
            }),
            3 => DisciplineSpec::Limited(LimitedSpec { rate: Rate::from_gbps(4), burst: 3_000 }),
            _ => DisciplineSpec::PushOut(PushOutSpec { queues: 16, map }),
        };
        let limit = self.pick(&[Limit::Packets(5), Limit::Bytes(20_000), Limit::Packets(60)]);
        let port = PortSpec { discipline: queues, buffer: Buffer { limit, ..Buffer::UNLIMITED } };
        Nic::Queue { port, sort_by: SortBy::Class }
    }

    pub fn window_config(&mut self) -> window::Config {
        window::Config {
            handshake: self.pick(&[Handshake::None, Handshake::OneRtt, Handshake::Reuse]),
            recovery: self.pick(&[LossRecovery::Sack, LossRecovery::NewReno, LossRecovery::GoBackN]),
            ack_every: self.pick(&[1, 1, 2]),
            queue_limit: self.pick(&[None, None, Some(2_000)]),
            min_rto: Span::from_us(300),
            initial_rto: Span::from_us(500),
            max_rto: Span::from_ms(20),
            ..window::Config::new(Frame::ETHERNET)
        }
    }
}
