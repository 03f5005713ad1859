//! TCP Vegas: a window from the packets that a flow keeps in queues (Brakmo, O'Malley, Peterson, SIGCOMM 1994).
//!
//! ```text
//! once per round trip   queued = W (rtt - base) / rtt         base: the least round-trip time seen (§3.2)
//! slow start            queued > gamma:  W = W base / rtt, and slow start ends                     (§3.3)
//!                       else             W doubles every other round trip
//! afterwards            queued < alpha:  W += MSS
//!                       queued > beta:   W -= MSS
//! loss                  W *= 3/4 (§3.1), at most once per recovery
//! timeout               W = 2 MSS
//! ```
//!
//! `rtt` is the least of a round trip. Windows are in bytes, alpha, beta and gamma in packets.

use priolane_core::keys::{KeyConflict, Keys};
use priolane_core::part::Part;
use priolane_core::transport::ControllerParams;
use priolane_core::transport::window::{AckEvent, CongestionControl, LossEvent, Repeat};
use priolane_core::units::Span;

/// Parameters of Vegas.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "vegas", check = Self::check)]
#[part(
    name = "vegas",
    summary = "TCP Vegas: keeps a given number of packets in queues",
    source = "Vegas (SIGCOMM 1994)",
    provides = [Ranks]
)]
pub struct Config {
    /// Packets in queues below which the window grows.
    #[key(default = 1.0, range = "(0, )", source = "Vegas (SIGCOMM 1994) §4")]
    pub alpha: f64,
    /// Packets in queues above which the window shrinks.
    #[key(default = 3.0, range = "(0, )", source = "Vegas (SIGCOMM 1994) §4")]
    pub beta: f64,
    /// Packets in queues that end slow start.
    #[key(default = 1.0, range = "(0, )", source = "Vegas (SIGCOMM 1994) §3.3")]
    pub gamma: f64,
    /// The window of a new flow, in bytes; `None` for ten packets.
    #[keys(skip)]
    pub first_window: Option<u64>,
}

impl Config {
    fn check(&self) -> Result<(), KeyConflict> {
        if self.alpha <= self.beta {
            return Ok(());
        }
        Err(KeyConflict::of("alpha", "the window would grow and shrink at once", "an alpha of at most beta"))
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.first_window = Some(bytes);
    }
}

/// The phase of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// In slow start; the window grows in every other round trip.
    SlowStart { grows: bool },
    /// In congestion avoidance.
    Steady,
}

/// The window of one Vegas flow.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: Config,
    mss: u64,
    window: u64,
    phase: Phase,
    /// The least round-trip time of the flow.
    base: Option<Span>,
    /// The least one of this round trip, which ends with an ACK beyond `end`.
    least: Option<Span>,
    end: u64,
}

impl Vegas {
    /// The window after a round trip with this least round-trip time.
    fn after_round_trip(&mut self, rtt: Span, base: Span) {
        let queued_bytes = self.window as f64 * (rtt.0 - base.0) as f64 / rtt.0 as f64;
        let queued = queued_bytes / self.mss as f64;
        match self.phase {
            Phase::SlowStart { .. } if queued > self.config.gamma => {
                self.window -= queued_bytes as u64;
                self.phase = Phase::Steady;
            }
            Phase::SlowStart { grows } => self.phase = Phase::SlowStart { grows: !grows },
            Phase::Steady if queued < self.config.alpha => self.window += self.mss,
            Phase::Steady if queued > self.config.beta => self.window -= self.mss,
            Phase::Steady => {}
        }
        self.window = self.window.max(2 * self.mss);
    }
}

impl CongestionControl for Vegas {
    type Config = Config;
    type Telemetry = ();
    const ECN: bool = false;

    fn new(config: &Config, mss: u64) -> Self {
        let window = config.first_window.unwrap_or(10 * mss).max(2 * mss);
        let phase = Phase::SlowStart { grows: true };
        Self { config: *config, mss, window, phase, base: None, least: None, end: 0 }
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        if self.phase == (Phase::SlowStart { grows: true }) {
            self.window += ack.acked.min(self.mss);
        }
        if ack.una < self.end {
            return;
        }
        self.end = ack.next;
        if let (Some(least), Some(base)) = (self.least.take(), self.base) {
            self.after_round_trip(least, base);
        }
    }

    fn on_loss(&mut self, _: &LossEvent) {
        self.phase = Phase::Steady;
        self.window = (self.window * 3 / 4).max(2 * self.mss);
    }

    fn on_timeout(&mut self, _: &LossEvent, repeat: Repeat) {
        if repeat == Repeat::First {
            self.phase = Phase::SlowStart { grows: true };
        }
        self.window = 2 * self.mss;
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(base) = self.base {
            see("base_rtt_us", base.0 as f64 / 1e6);
        }
    }
}
