//! The steps from a configuration to a running thread.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use priolane_core::endpoint::{Endpoint, LocalHost, RealHost};
use priolane_core::host::SchedulerKind;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::transport::window::{self, Reliability};
use priolane_core::transport::{EndpointUser, RegisteredController, Transport};
use priolane_core::units::{Span, Time};
use priolane_core::wire::{IpVersion, codec_of};
use ring::rand::SystemRandom;
use rustc_hash::FxHashMap;

use super::driver::{Driver, Setup};
use super::held::Held;
use crate::assembly::{Assembly, ReceiveLimits};
use crate::clock::{Clock, span_of};
use crate::config::{Config, Limits, ReceiveOffload, Segmentation};
use crate::error::BindError;
use crate::nic::{self, Nic};
use crate::peers::{self, Peers, SELF};
use crate::random::{RandomFailure, RandomSource, draw};
use crate::scheduling::Scheduling;
use crate::scheme::{BuildError, SchemeSetup, Sealed};
use crate::shared::SharedState;
use crate::socket::{Grouping, RecvBatch, SendBatch, UdpSocket, Wakeup};
use crate::stats::Stats;

/// The thread of a host that was started.
pub(crate) struct HostThread {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) address: SocketAddr,
    pub(crate) scheduling: Scheduling,
    pub(crate) thread: JoinHandle<()>,
}

impl From<BuildError> for BindError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Foreign(name) => Self::ForeignTransport(name),
            BuildError::Mtu(error) => Self::Mtu(error),
            BuildError::Keys(error) => Self::Scheme(error),
        }
    }
}

impl From<RandomFailure> for BindError {
    fn from(RandomFailure: RandomFailure) -> Self {
        Self::Random
    }
}

/// Starts the thread of a host.
pub(crate) fn start(config: Config) -> Result<HostThread, BindError> {
    let (start, transport) = prepare(config)?;
    transport.with_endpoints(start)
}

/// Prepares everything but the endpoint, and the transport that makes the endpoint.
pub(super) fn prepare(config: Config) -> Result<(Start, Transport), BindError> {
    config.check()?;
    let sealed = if config.key.is_some() { Sealed::Yes } else { Sealed::No };
    let ip = if config.address.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 };
    let built = config.scheme.build(config.mtu, ip, sealed)?;
    let no_address = |source| BindError::Address { address: config.address, source };
    let socket = UdpSocket::bind(config.address, config.limits.socket).map_err(no_address)?;
    let address = socket.local_address().map_err(no_address)?;
    let shared = Arc::new(SharedState::new(Wakeup::new().map_err(BindError::System)?));
    let transport = built.transport.clone();
    let random = Arc::new(SystemRandom::new());
    Ok((Start { config, built, ip, sealed, socket, address, shared, random }, transport))
}

/// The components of a thread that is to be started, without its endpoint.
pub(super) struct Start {
    config: Config,
    built: SchemeSetup,
    ip: IpVersion,
    sealed: Sealed,
    socket: UdpSocket,
    address: SocketAddr,
    shared: Arc<SharedState>,
    random: Arc<dyn RandomSource>,
}

impl Start {
    pub(super) fn driver<E: Endpoint + 'static>(
        self,
        make: impl Fn(LocalHost) -> E,
    ) -> Result<Driver<E>, BindError> {
        let Self { config, built, ip, sealed, socket, shared, random, .. } = self;
        let foreign = || BindError::ForeignTransport(config.scheme.transport.name());
        let codec = codec_of::<E::Body>(built.inner, ip, config.scheme.ranks).ok_or_else(foreign)??;
        let Config { limits, patience, .. } = config;
        let (longest_rto, unreliable) = match &built.transport {
            Transport::Window { window, .. } => {
                (window.max_rto, window.reliability == Reliability::Unreliable)
            }
            _ => (Span::ZERO, false),
        };
        let Limits { message, sender, ahead, receiving, peers, .. } = limits;
        let room = ReceiveLimits { message, sender, ahead, receiving, senders: peers };
        let defaults = RealHost::new(draw(&*random)?);
        let real = RealHost {
            // A sender fails messages to a host that is silent; until then it retransmits, also after a stop of that length.
            time_wait: defaults.time_wait + span_of(patience.silence) + longest_rto,
            flows_per_peer: limits.flows,
            first_rtt: config.path.data.map_or(defaults.first_rtt, |known| known.round_trip),
            idle: span_of(patience.idle),
            longest: limits.message,
            flow_memory: room.flows(),
            peers: limits.peers,
            // Tokens that are later find no room in the queue of the line.
            catch_up: if built.tokens.is_some() { nic::CATCH_UP } else { defaults.catch_up },
            ..defaults
        };
        let setup = Setup {
            limits: Limits { flows: limits.flows.min(built.at_once), ..limits },
            patience,
            dscp: config.dscp,
            sealed,
            spin: config.spin,
            unreliable,
            // So no late packet of a host that was started again is taken for one of a new message.
            first_flow: draw(&*random)? as u32,
            path: config.path,
            speaks: built.speaks,
        };
        let known = peers::Patience {
            greeting: span_of(patience.greeting),
            silence: span_of(patience.silence),
            idle: real.time_wait,
            most: limits.peers,
        };
        let grouping = match config.segmentation {
            Segmentation::Host => Grouping::Single,
            Segmentation::Kernel => Grouping::Segments,
        };
        let (arriving, receive_offload_refused) = arriving(&socket, config.mtu, config.receive_offload);
        let mut clock = Clock::start();
        let now = clock.now();
        Ok(Driver {
            setup,
            endpoint: make(LocalHost { id: SELF, line: config.line, real: Some(real) }),
            codec,
            nic: Nic::new(config.line, built.tokens),
            socket,
            peers: Peers::new(built.speaks, config.key.as_ref(), known, Arc::clone(&random))?,
            assembly: Assembly::new(room),
            meter: config.meter,
            flows: FxHashMap::default(),
            lanes: HashMap::new(),
            to_fill: Vec::new(),
            shared,
            clock,
            given: now,
            rng: Stream::new(draw(&*random)?, Purpose::Endpoint, 0),
            arriving,
            held: Held::new(&config.delays, limits.held),
            leaving: SendBatch::new(usize::from(config.mtu), grouping),
            blocked: false,
            line_at: Time::NEVER,
            active: now,
            orders: Vec::new(),
            scratch: vec![0; usize::from(config.mtu)],
            stats: Stats { receive_offload_refused, ..Stats::default() },
        })
    }
}

/// Returns the batch for incoming datagrams, and 1 if groups were requested but the system provides none, otherwise 0.
fn arriving(socket: &UdpSocket, mtu: u16, offload: ReceiveOffload) -> (RecvBatch, u64) {
    let mtu = usize::from(mtu);
    match offload {
        ReceiveOffload::Off => (RecvBatch::new(mtu), 0),
        ReceiveOffload::Kernel => match socket.receive_groups() {
            Ok(()) => (RecvBatch::of_groups(mtu), 0),
            Err(_) => (RecvBatch::new(mtu), 1),
        },
    }
}

impl EndpointUser for Start {
    type Out = Result<HostThread, BindError>;

    fn run<E: Endpoint + 'static>(self, make: impl Fn(LocalHost) -> E) -> Self::Out {
        let (priority, address, shared) = (self.config.real_time, self.address, Arc::clone(&self.shared));
        let mut driver = self.driver(make)?;
        let (sender, receiver) = mpsc::channel();
        let thread = thread::Builder::new().name("priolane-host".to_owned()).spawn(move || {
            // The other end waits for it.
            let _ = sender.send(Scheduling::of_this_thread(priority));
            driver.run();
        });
        let thread = thread.map_err(BindError::System)?;
        let scheduling = receiver.recv().unwrap_or(Scheduling::Ordinary);
        Ok(HostThread { shared, address, scheduling, thread })
    }

    fn run_registered(
        self,
        _: &dyn RegisteredController,
        _: Arc<window::Config>,
        _: SchedulerKind,
    ) -> Self::Out {
        Err(BindError::ForeignTransport(self.config.scheme.transport.name()))
    }
}

#[cfg(test)]
mod tests;
