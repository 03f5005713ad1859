//! Scenarios with transports other than DCTCP on the same leaf-spine, each with its own port disciplines.

use priolane_core::host::SchedulerKind;
use priolane_core::ids::ClassSet;
use priolane_core::port::pfc::{HeadroomFrom, PfcSpec, Xoff};
use priolane_core::port::{
    Alpha, Buffer, DisciplineSpec, FifoSpec, Overflow, PFabricSpec, Scope, SharedBuffer, SortBy, StrictSpec,
    TokenGroupSpec, TrimmingSpec,
};
use priolane_core::transport::delay::Size;
use priolane_core::transport::tokens::priority::{Logarithm, Priority};
use priolane_core::transport::window::{self, Handshake};
use priolane_core::transport::{CommonRtt, Controller, Transport, homa, hpcc, ndp, pfabric, phost, tokens};
use priolane_core::units::{Limit, Span};
use priolane_sim::scenario::{Nic, PortSpec, ScenarioSpec, SwitchSpec};
use priolane_sim::topology::{PathChoice, Spray};

use super::dctcp::{CLASS_IS_QUEUE, ScenarioBuildError, leafspine144};

/// The transport of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportVariant {
    /// pFabric, with a window of one path's BDP.
    PFabric,
    /// pHost.
    PHost,
    /// NDP.
    Ndp,
    /// Homa.
    Homa,
    /// HPCC, over lossless switches that write telemetry.
    Hpcc,
    /// ExpressPass.
    ExpressPass,
    /// TOP, six classes by size.
    Top,
}

/// Capacity of a port with several queues, in bytes: 250 full packets.
const ROOM: u64 = 384_500;

/// Returns the leaf-spine with the same flows as DCTCP. Links pull from hosts and packets are sprayed, except under
/// HPCC (ECMP) and under token transports (tokens at hosts, symmetric paths).
pub(super) fn scenario(rival: TransportVariant) -> Result<ScenarioSpec, ScenarioBuildError> {
    let mut scenario = leafspine144()?;
    let frame = scenario.frame;
    let strict =
        |queues| (DisciplineSpec::Strict(StrictSpec { queues, map: CLASS_IS_QUEUE }), Limit::Bytes(ROOM));
    let (transport, (queues, limit)) = match rival {
        TransportVariant::PFabric => {
            (pfabric(window::Config::new(frame)), (DisciplineSpec::PFabric(PFabricSpec), Limit::Packets(24)))
        }
        TransportVariant::PHost => (Transport::PHost(phost::Config::new(frame)), strict(phost::LEVELS)),
        TransportVariant::Ndp => {
            let headers = Limit::Packets(1_125);
            let port = (
                DisciplineSpec::Trimming(TrimmingSpec { headers, overflow: Overflow::Return }),
                Limit::Packets(8),
            );
            (Transport::Ndp(ndp::Config::new(frame)), port)
        }
        TransportVariant::Homa => (Transport::Homa(homa::Config::new(frame)), strict(8)),
        TransportVariant::Hpcc => {
            scenario.switch = lossless();
            (hpcc(window::Config::new(frame)), (DisciplineSpec::Fifo(FifoSpec), Limit::Unlimited))
        }
        TransportVariant::ExpressPass | TransportVariant::Top => return Ok(on_tokens(rival, scenario)),
    };
    let buffer = Buffer { limit, limit_scope: Scope::Port, ..Buffer::UNLIMITED };
    scenario.ports.iter_mut().for_each(|port| *port = PortSpec { discipline: queues.clone(), buffer });
    if rival != TransportVariant::Hpcc {
        scenario.topology.path_choice = PathChoice::Sprayed(Spray::Random);
    }
    Ok(ScenarioSpec { transport, nic: Nic::Pull, ..scenario })
}

/// TOP's thresholds for web search in packets of 1460 B; the largest flow has 20,000 packets.
const WEB_SEARCH: Logarithm = Logarithm { classes: 6, p: 20_000.0, a: 1.0, b: 0.0 };

/// Configures token transports: ports and hosts that limit the token rate, and symmetric paths.
pub(super) fn on_tokens(rival: TransportVariant, mut scenario: ScenarioSpec) -> ScenarioSpec {
    let frame = scenario.frame;
    let data_wire = frame.max_wire();
    let top = TokenGroupSpec { data_wire, ..TokenGroupSpec::TOP };
    let (config, spec) = if rival == TransportVariant::Top {
        (tokens::Config::top(frame, Priority::Size(WEB_SEARCH.thresholds())), top)
    } else {
        let spec = TokenGroupSpec { classes: 1, token_wire: 88, expiry: None, ..top };
        (tokens::Config::expresspass(frame), spec)
    };
    let queues = DisciplineSpec::Tokens(spec);
    let buffer = Buffer { limit: Limit::Bytes(ROOM), limit_scope: Scope::Port, ..Buffer::UNLIMITED };
    scenario.ports.iter_mut().for_each(|port| *port = PortSpec { discipline: queues.clone(), buffer });
    scenario.topology.path_choice = PathChoice::Symmetric;
    let port = PortSpec { discipline: queues, buffer: Buffer::UNLIMITED };
    let nic = Nic::Queue { port, sort_by: SortBy::Class };
    ScenarioSpec { transport: Transport::Tokens(config), nic, ..scenario }
}

fn pfabric(window: window::Config) -> Transport {
    let rto = Span::from_us(90);
    let window = window::Config {
        handshake: Handshake::None,
        dup_threshold: 1_000_000_000,
        min_rto: rto,
        initial_rto: rto,
        max_rto: rto,
        ..window
    };
    let bdp = Size::Bdp(1.0);
    let config = pfabric::Config { init_window: bdp, max_window: bdp, probe_after: 5 };
    Transport::Window { window, controller: Controller::PFabric(config), scheduler: SchedulerKind::Srpt }
}

fn hpcc(window: window::Config) -> Transport {
    let config = hpcc::Config {
        eta: 0.95,
        eta_step: 0.0,
        max_stage: 5,
        step: Size::Bdp(0.0005),
        rtt: CommonRtt::Longest,
        min_window: Size::Bdp(0.001),
    };
    let window = window::Config { handshake: Handshake::None, ..window };
    Transport::Window { window, controller: Controller::Hpcc(config), scheduler: SchedulerKind::RoundRobin }
}

/// Returns a switch with a shared buffer of 4 MB, in which classes 0 to 2 are lossless.
pub(super) fn lossless() -> SwitchSpec {
    let lossless = Alpha::new((1, 8)).map(|alpha| PfcSpec {
        memory: SharedBuffer { size: 4_000_000, alpha },
        lossless: ClassSet(0b111),
        xoff: Xoff::OfFree(alpha),
        xon_below: 3_000,
        headroom: HeadroomFrom::Memory,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    });
    SwitchSpec { memory: None, lossless }
}
