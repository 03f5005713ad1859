//! DCQCN through one switch: the fixed point of its fluid model, fair shares, and what becomes of an incast with and without
//! lossless classes.

use crate::support::{agreed, drive, fifo, flow, link, run, scenario, window as on_window};
use priolane_core::ids::ClassSet;
use priolane_core::keys::with_defaults;
use priolane_core::packet::Frame;
use priolane_core::port::pfc::{HeadroomFrom, PfcSpec, Xoff};
use priolane_core::port::{Alpha, Buffer, Ramp, SharedBuffer};
use priolane_core::transport::window::{self, Handshake, LossRecovery};
use priolane_core::transport::{Controller, dcqcn};
use priolane_core::units::{Limit, Rate, Span, Time};
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};
use priolane_sim::topology::SingleSwitch;

/// Packets of 1,000 bytes and one of header; other bytes take no time.
const FRAME: Frame = Frame { mtu: 1_001, header: 1, link: 0, minimum: 0, gap: 0, ack: 64, syn: 64 };
const LINE: f64 = 40e9;

/// The marking of a switch: Kmin and Kmax in bytes, Pmax.
#[derive(Clone, Copy)]
struct Marking {
    from: u64,
    full: u64,
    most: f64,
}

/// DCQCN (SIGCOMM 2015) §4.2.
const PAPER: Marking = Marking { from: 5_000, full: 200_000, most: 0.01 };

impl Marking {
    fn buffer(self, limit: Limit) -> Buffer {
        let ramp = Some(Ramp { full: Limit::Bytes(self.full), most: (self.most * 1e6) as u32 });
        Buffer { limit, mark_above: Limit::Bytes(self.from), ramp, ..Buffer::UNLIMITED }
    }
}

/// `senders` hosts send a flow of `bytes` each to the last host over links of 40 Gbps, 4 us there and back; flow i starts
/// at `starts(i)`.
fn to_one(senders: u16, bytes: u64, config: dcqcn::Config, buffer: Buffer) -> ScenarioSpec {
    let shape = SingleSwitch { hosts: u32::from(senders) + 1, host_link: link(40, Span::from_us(1)) };
    let flows = (0..senders).map(|i| flow(i.into(), (i, senders), bytes, Time::ZERO)).collect();
    let mut scenario = scenario(shape.build().unwrap(), fifo(buffer), flows);
    scenario.frame = FRAME;
    let timeout = Span::from_ms(10);
    let window = window::Config {
        handshake: Handshake::None,
        recovery: LossRecovery::GoBackN,
        dup_threshold: 1,
        min_rto: timeout,
        initial_rto: timeout,
        ..window::Config::new(FRAME)
    };
    scenario.transport = on_window(Controller::Dcqcn(config), window);
    scenario
}

const ENDLESS: u64 = u64::MAX >> 20;

/// Measurements of the line to the receiver from one instant to another: the part of it in use, the mean queue in bytes, and
/// the share of each sender in what they sent.
struct Measurement {
    used: f64,
    queue: f64,
    shares: Vec<f64>,
}

fn measured(scenario: &mut ScenarioSpec, senders: u16, from_ms: u64, until_ms: u64) -> Measurement {
    let [early, late] = [from_ms, until_ms].map(|ms| {
        scenario.stop = Stop::At(Time(ms * 1_000_000_000));
        run(&*scenario, drive(Engine::Window))
    });
    let seconds = (until_ms - from_ms) as f64 * 1e-3;
    let name = |host: u16| format!("h{host}");
    let delta = |(from, to): (&str, &str), field: fn(&PortClassRecord) -> u64| {
        let link = scenario.topology.link_between(from, to).unwrap();
        let of = |outcome: &Outcome| -> u64 {
            outcome.ports.iter().filter(|port| port.link == link).map(field).sum()
        };
        (of(&late) - of(&early)) as f64
    };
    let sink = name(senders);
    let line = ("s0", sink.as_str());
    let sent: Vec<f64> = (0..senders).map(|host| delta((&name(host), "s0"), |port| port.packets)).collect();
    let all: f64 = sent.iter().sum();
    Measurement {
        used: delta(line, |port| port.bytes) * 8.0 / LINE / seconds,
        // Little's law: packets wait for `waited` in all.
        queue: delta(line, |port| port.waited) * 1e-12 / seconds * 1_001.0,
        shares: sent.iter().map(|packets| packets / all).collect(),
    }
}

fn jain(shares: &[f64]) -> f64 {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let sum: f64 = shares.iter().sum();
    sum * sum / squares / shares.len() as f64
}

/// The queue in bytes at the fixed point of the fluid model for `n` equal flows (ECN or Delay, CoNEXT 2016 §3.1): cuts by
/// alpha / 2 at the rate of CNPs balance increases by timer and bytes. Found by bisection of the marking probability. Fast
/// recovery has `stages` stages: F in the paper, F - 1 here and in ns3-rdma, where the F-th increase is additive.
#[expect(clippy::disallowed_methods, reason = "a closed form of a test, which no result depends on")]
fn fixed_point(n: f64, config: &dcqcn::Config, marking: Marking, stages: f64) -> f64 {
    let bits = 8.0 * 1_000.0;
    let rate = LINE / bits / n;
    let step = config.additive.bps() as f64 / bits;
    let [tau, decay, timer] =
        [config.cnp_interval, config.alpha_timer, config.rate_timer].map(|span| span.as_secs_f64());
    let bytes = config.byte_counter.unwrap() as f64 / 1_000.0;
    let balance = |p: f64| {
        let unmarked = 1.0 - p;
        let cut = 1.0 - unmarked.powf(tau * rate);
        let alpha = 1.0 - unmarked.powf(decay * rate);
        let by_bytes = if bytes * p < 600.0 { p / (unmarked.powf(-bytes) - 1.0) } else { 0.0 };
        let by_time = p / (unmarked.powf(-timer * rate) - 1.0);
        let gap = alpha * cut / (tau * (by_bytes + by_time));
        let raised =
            unmarked.powf(stages * bytes) * by_bytes + unmarked.powf(stages * timer * rate) * by_time;
        gap * cut / tau - step * rate * raised
    };
    let (mut low, mut high) = (1e-9_f64, 0.5_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        (low, high) = if balance(middle) < 0.0 { (middle, high) } else { (low, middle) };
    }
    let range = (marking.full - marking.from) as f64;
    marking.from as f64 + (low / marking.most).min(1.0) * range
}

/// With F stages, 20.2 and 41.8 kB by another solution of the model. Stated before the run: the mean queue within 30 %,
/// Jain's index above 0.99, at least 99 % of the line.
#[test]
fn few_flows_have_the_queue_of_the_fluid_model_and_equal_shares() {
    let config = with_defaults(&[]);
    for (n, known) in [(2_u16, 20_200.0), (4, 41_800.0)] {
        let of_paper = fixed_point(n.into(), &config, PAPER, 5.0);
        assert!((of_paper / known - 1.0).abs() < 0.01, "{n}: {of_paper}");
        let expected = fixed_point(n.into(), &config, PAPER, 4.0);
        let mut scenario = to_one(n, ENDLESS, config, PAPER.buffer(Limit::Bytes(20_000_000)));
        let Measurement { used, queue, shares } = measured(&mut scenario, n, 200, 400);
        assert!((queue / expected - 1.0).abs() < 0.3, "{n}: {queue} B, not {expected}");
        assert!(used > 0.99 && jain(&shares) > 0.99, "{n}: {used}, {shares:?}");
    }
}

/// The configuration that ns3-rdma releases, a 2:1 incast at 40 Gbps (its README and mix/config.txt): both flows have half
/// of the line. Stated before the run: within 2 %, and 99 % of the line.
#[test]
fn the_released_incast_of_two_shares_the_line_equally() {
    let released = dcqcn::Config {
        rate_timer: Span::from_us(60),
        byte_counter: Some(300_000_000),
        min_rate: Rate::from_bps(100_000_000).unwrap(),
        ..with_defaults(&[])
    };
    let marking = Marking { from: 40 * 1_030, full: 1_000 * 1_030, most: 1.0 };
    let mut scenario = to_one(2, ENDLESS, released, marking.buffer(Limit::Bytes(20_000_000)));
    let Measurement { used, shares, .. } = measured(&mut scenario, 2, 60, 160);
    assert!(used > 0.99, "{used}");
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.01), "{shares:?}");
}

/// A flow that starts at the rate of the line against one that has it comes to half of the line. Stated before the run:
/// within 5 % of the half.
#[test]
fn a_late_flow_and_an_early_one_come_to_equal_shares() {
    let config = with_defaults(&[]);
    let mut scenario = to_one(2, ENDLESS, config, PAPER.buffer(Limit::Bytes(20_000_000)));
    scenario.flows.edit_all(|flow| flow.start = Time(u64::from(flow.id.0) * 10_000_000_000));
    let alone = measured(&mut scenario, 2, 1, 9);
    assert!(alone.shares[0] == 1.0 && alone.used > 0.999, "{:?}, {}", alone.shares, alone.used);
    let together = measured(&mut scenario, 2, 60, 260);
    assert!((together.shares[0] - 0.5).abs() < 0.025, "{:?}", together.shares);
}

/// Eight flows of 2 MB at once, which start at the rate of the line: 8 x 40 Gbps into 40.
fn incast(buffer: Limit, lossless: Option<PfcSpec>) -> Outcome {
    let mut scenario = to_one(8, 2_000_000, with_defaults(&[]), PAPER.buffer(buffer));
    scenario.switch.lossless = lossless;
    agreed(&scenario)
}

#[test]
fn an_incast_needs_a_lossless_class_or_goes_back_again_and_again() {
    let pfc = PfcSpec {
        memory: SharedBuffer { size: 1_000_000, alpha: Alpha::new((1, 1)).unwrap() },
        lossless: ClassSet(1),
        xoff: Xoff::OfFree(Alpha::new((11, 100)).unwrap()),
        xon_below: 3_000,
        headroom: HeadroomFrom::Memory,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    };
    let drops = |outcome: &Outcome| outcome.ports.iter().map(|port| port.dropped).sum::<u64>();
    let last = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.fct.unwrap()).max().unwrap();
    let paused = incast(Limit::Unlimited, Some(pfc));
    assert_eq!(drops(&paused), 0);
    assert!(paused.ports.iter().any(|port| port.paused > Span::ZERO));
    let lossy = incast(Limit::Bytes(200_000), None);
    assert!(drops(&lossy) > 1_000, "{}", drops(&lossy));
    // 16 MB at 40 Gbps are 3.2 ms.
    assert!(last(&paused) > Span::from_us(3_200) && last(&paused) < last(&lossy));
}
