//! Every transport, with its parameters for the sizes of its datagrams.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::packet::Frame;
use priolane_core::transport::delay::Signal;
use priolane_core::transport::prioplus::{self, Channel, ChannelTable, PrioPlus, Start};
use priolane_core::transport::tokens::{self, Stop, Tokens, priority::Priority};
use priolane_core::transport::window::{self, CongestionControl, WindowEndpoint};
use priolane_core::transport::{
    Machine, cubic, d2tcp, dcqcn, dctcp, homa, hpcc, ledbat, ndp, new_reno, nscc, paccp, pfabric, phost,
    swift, timely,
};
use priolane_core::units::Span;
use priolane_core::wire::{Codec, IpVersion, WireBody};

/// Something that is tried with every transport.
pub(crate) trait Trial {
    /// Tries it; `make` builds the endpoint of a host.
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E);
}

/// The codec of all hosts.
pub(crate) fn codec<B: WireBody>() -> Codec<B> {
    Codec::new(1_500, IpVersion::V4).unwrap()
}

fn window<C>(trial: &impl Trial, name: &str, controller: C::Config)
where
    C: CongestionControl<Telemetry: priolane_core::wire::WireTelemetry> + 'static,
{
    let frame = codec::<window::Segment<C::Telemetry>>().frame();
    let config = window::Config { min_rto: Span::from_ms(2), ..window::Config::new(frame) };
    let config = Arc::new(config);
    trial.run(name, |host| {
        let config = Arc::clone(&config);
        WindowEndpoint::<C>::with_kind(host, config, controller.clone(), SchedulerKind::RoundRobin)
    });
}

fn tokens(trial: &impl Trial, name: &str, config: impl Fn(Frame) -> tokens::Config) {
    let config = Arc::new(config(codec::<tokens::TokenMessage>().frame()));
    trial.run(name, |host| Tokens::new(host, Arc::clone(&config)));
}

/// A trial that goes on with other transports after one that fails.
struct All<'a, T> {
    trial: &'a T,
    failed: RefCell<Vec<String>>,
}

impl<T: Trial> Trial for All<'_, T> {
    fn run<E: Endpoint<Body: WireBody> + Debug + 'static>(&self, name: &str, make: impl Fn(LocalHost) -> E) {
        if catch_unwind(AssertUnwindSafe(|| self.trial.run(name, make))).is_err() {
            self.failed.borrow_mut().push(name.to_owned());
        }
    }
}

/// Tries every transport.
pub(crate) fn every_transport(trial: &impl Trial) {
    let all = All { trial, failed: RefCell::default() };
    with_windows(&all);
    receivers_decide(&all);
    let failed = all.failed.into_inner();
    assert!(failed.is_empty(), "it fails with {failed:?}");
}

/// Tries those on the window machine.
fn with_windows(trial: &impl Trial) {
    // For paths of some 100 us.
    let target = Span::from_us(300);
    let swift = |signal| swift::Config { signal, target, ..swift::Config::default() };
    let ledbat = |signal| ledbat::Config { signal, ..ledbat::Config::default() };
    window::<new_reno::NewReno>(trial, "newreno", new_reno::Config::default());
    window::<dctcp::Dctcp>(trial, "dctcp", dctcp::Config::default());
    window::<d2tcp::D2tcp>(trial, "d2tcp", d2tcp::Config::default());
    window::<paccp::Paccp>(trial, "paccp", paccp::Config::default());
    window::<dctcp::Dctcp<paccp::Paccp>>(trial, "paccp over dctcp", dctcp::Config::default());
    window::<swift::Swift>(trial, "swift", swift(Signal::Rtt));
    window::<swift::Swift>(trial, "swift by one-way delay", swift(Signal::OneWay));
    window::<ledbat::Ledbat>(trial, "ledbat", ledbat(Signal::Rtt));
    window::<ledbat::Ledbat>(trial, "ledbat by one-way delay", ledbat(Signal::OneWay));
    window::<hpcc::Hpcc>(trial, "hpcc", hpcc::Config::default());
    window::<timely::Timely>(trial, "timely", timely::Config::default());
    window::<cubic::Cubic>(trial, "cubic", cubic::Config::default());
    window::<dcqcn::Dcqcn>(trial, "dcqcn", dcqcn::Config::default());
    window::<nscc::Nscc>(trial, "nscc", nscc::Config::default());
    window::<pfabric::PFabric>(trial, "pfabric", pfabric::Config::default());
    let lane = |target: u64, limit: Option<u64>, start| Channel {
        target: Span::from_us(target),
        limit: limit.map(Span::from_us),
        start,
        linear_start: 0.25,
    };
    let channel_table = [lane(1_500, None, Start::LineRate), lane(600, Some(1_000), Start::Probe)];
    let channel_table = Some(ChannelTable::new(&channel_table).unwrap());
    window::<PrioPlus<swift::Swift>>(
        trial,
        "prioplus",
        prioplus::Config {
            channel_table: channel_table.clone(),
            inner: swift(Signal::OneWay),
            ..prioplus::Config::default()
        },
    );
    window::<PrioPlus<ledbat::Ledbat>>(
        trial,
        "prioplus over ledbat",
        prioplus::Config { channel_table, inner: ledbat(Signal::Rtt), ..prioplus::Config::default() },
    );
}

/// Tries those in which receivers say who may send.
fn receivers_decide(trial: &impl Trial) {
    let top = |frame| tokens::Config::top(frame, Priority::Size(vec![10, 30]));
    tokens(trial, "expresspass", tokens::Config::expresspass);
    tokens(trial, "top", top);
    top_with_expiry(trial);
    tokens(trial, "top, capped", |frame| tokens::Config { stop: Stop::NeedCap, ..top(frame) });
    let frame = codec::<priolane_core::transport::receiver_driven::ControlMessage>().frame();
    let config = Arc::new(phost::Config::new(frame));
    trial.run("phost", |host| phost::PHost::new(host, Arc::clone(&config)));
    let config = Arc::new(ndp::Config::new(frame));
    trial.run("ndp", |host| ndp::Ndp::new(host, Arc::clone(&config)));
    let config = Arc::new(homa::Config::new(frame));
    trial.run("homa", |host| homa::Homa::new(host, Arc::clone(&config)));
}

/// Tries TOP with tokens that expire at senders.
pub(crate) fn top_with_expiry(trial: &impl Trial) {
    let expiry = Some(Span::from_us(200));
    tokens(trial, "top, tokens expire", |frame| tokens::Config {
        expiry,
        ..tokens::Config::top(frame, Priority::Size(vec![10, 30]))
    });
}
