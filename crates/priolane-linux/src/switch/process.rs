//! The process of a switch: its sockets, its clock and its loop.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use priolane_core::units::{Span, Time};
use priolane_net::{Clock, Scheduling};

use super::control::{answer, listen};
use super::counts::{ForwardCounts, SwitchReport};
use super::forwarder::{Forwarder, Outlet};
use super::socket::{BATCH, Batch, PacketSocket, readable, wait};
use crate::network::Node;
use crate::plan::TestbedPlan;

/// The real-time priority that the process asks for. It is above that of hosts, because a switch that is late delays
/// all hosts.
const REAL_TIME: u8 = 30;
/// The last part of a wait, which is spent polling the clock.
const SPIN: Span = Span::from_us(10);
/// Time for which frames may wait to be read while packets are being sent. A wake-up for each frame would take most of a core.
const REST: Duration = Duration::from_micros(30);
/// The interval at which the process checks whether its testbed still exists.
const LOOK: Duration = Duration::from_secs(1);
/// The number of batches that are read from a device before packets are served.
const ROUNDS: usize = 4;
/// The size of an Ethernet header in bytes, plus one byte by which too long frames are noticed.
const BESIDES: usize = 15;

/// The reason why the process of a switch ends.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// The plan in the directory of the testbed cannot be read.
    #[error("{}: {source}", path.display())]
    Plan {
        /// The path of the plan.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The plan has no such switch.
    #[error("switch {switch}: {what}")]
    Switch {
        /// The number of the switch.
        switch: u16,
        /// The reason why there is no such switch.
        what: String,
    },
    /// A device cannot be read.
    #[error("{device}: {source}; packet sockets take CAP_NET_RAW in its namespace")]
    Device {
        /// The name of the device.
        device: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The control socket cannot be created.
    #[error("its control socket: {0}")]
    Control(io::Error),
}

/// Runs switch `switch` of the testbed in `directory` until the testbed is gone.
///
/// # Errors
/// Returns a [`SwitchError`] before any frame is forwarded.
pub fn serve(directory: &Path, switch: u16) -> Result<(), SwitchError> {
    let mut process = Process::start(directory, switch)?;
    while directory.join("journal").exists() {
        let end = process.clock.now() + Span::from_ns(LOOK.as_nanos() as u64);
        while process.clock.now() < end {
            process.turn();
        }
    }
    Ok(())
}

/// The sockets of a switch, and the number of frames that they refused.
struct Sockets {
    all: Vec<PacketSocket>,
    refused: u64,
}

impl Outlet for Sockets {
    fn send(&mut self, port: usize, frame: &[u8]) {
        let sent = self.all.get(port).map(|socket| socket.send(frame));
        self.refused += u64::from(!matches!(sent, Some(Ok(()))));
    }
}

struct Process {
    switch: u16,
    forwarder: Forwarder,
    sockets: Sockets,
    /// A batch for each socket.
    batches: Vec<Batch>,
    /// The frames that arrived: the time, the index of the socket, the index in the batch.
    came: Vec<(Time, usize, usize)>,
    polled: Vec<libc::pollfd>,
    listener: UnixListener,
    clock: Clock,
    lost: u64,
    not_real_time: Option<String>,
}

impl Process {
    fn start(directory: &Path, switch: u16) -> Result<Self, SwitchError> {
        let path = directory.join("plan.json");
        let text = std::fs::read(&path).map_err(|source| SwitchError::Plan { path: path.clone(), source })?;
        let plan: TestbedPlan = serde_json::from_slice(&text)
            .map_err(|error| SwitchError::Plan { path, source: io::Error::other(error) })?;
        let forwarder = Forwarder::new(&plan, switch).map_err(|what| SwitchError::Switch { switch, what })?;
        let open = |cable| {
            let device = TestbedPlan::device(Node::Switch(switch), cable);
            PacketSocket::open(&device).map_err(|source| SwitchError::Device { device, source })
        };
        let all: Vec<PacketSocket> = forwarder.cables().map(open).collect::<Result<_, _>>()?;
        let not_real_time = match Scheduling::of_this_thread(Some(REAL_TIME)) {
            Scheduling::Refused(why) => Some(why),
            Scheduling::RealTime | Scheduling::Ordinary => None,
        };
        let batch = || Batch::new(usize::from(plan.mtu) + BESIDES);
        let batches = all.iter().map(|_| batch()).collect();
        // Who can connect finds all devices open.
        let listener = listen(directory, switch).map_err(SwitchError::Control)?;
        let polled = all.iter().map(PacketSocket::fd).chain([listener.as_raw_fd()]).map(readable).collect();
        Ok(Self {
            switch,
            forwarder,
            sockets: Sockets { all, refused: 0 },
            batches,
            came: Vec::new(),
            polled,
            listener,
            clock: Clock::start(),
            lost: 0,
            not_real_time,
        })
    }

    /// Receives frames, handles all events that are due, and waits.
    fn turn(&mut self) {
        let now = self.clock.now();
        self.forwarder.wake(now);
        for _ in 0..ROUNDS {
            if !self.receive() {
                break;
            }
        }
        if self.polled.last().is_some_and(|control| control.revents != 0) {
            self.lost += self.sockets.all.iter().map(PacketSocket::take_lost).sum::<u64>();
            answer(&self.listener, || self.report());
        }
        let now = self.clock.now();
        self.forwarder.advance(now, &mut self.sockets);
        self.wait();
    }

    /// Receives a batch from each device that has frames, in the order of their times, and returns whether there may be
    /// more.
    fn receive(&mut self) -> bool {
        self.came.clear();
        let arrivals = self.clock.arrivals();
        let mut more = false;
        for (place, (batch, polled)) in self.batches.iter_mut().zip(&mut self.polled).enumerate() {
            if polled.revents == 0 {
                continue;
            }
            let count = batch.receive(&self.sockets.all[place]);
            if count < BATCH {
                polled.revents = 0;
            }
            more |= count == BATCH;
            let times = (0..count).filter_map(|at| Some((arrivals.at(batch.get(at)?.1), place, at)));
            self.came.extend(times);
        }
        self.came.sort();
        for &(at, place, of) in &self.came {
            if let Some((frame, _)) = self.batches[place].get(of) {
                self.forwarder.arrive(at, frame, &mut self.sockets);
            }
        }
        more
    }

    /// Waits for the next event, and polls the clock for the last part. While no packet is being sent, frames end the
    /// wait too. Otherwise frames that arrive are read together, as their times are known.
    fn wait(&mut self) {
        let next = self.forwarder.next();
        let left = next.since(self.clock.now());
        let sleep = Duration::from_nanos(left.0.saturating_sub(SPIN.0) / 1_000);
        if !self.forwarder.is_sending() {
            return wait(&mut self.polled, sleep.min(LOOK));
        }
        if left > SPIN {
            wait(&mut [], sleep.min(REST));
        }
        while self.clock.now() < next && next.since(self.clock.now()) <= SPIN {
            std::hint::spin_loop();
        }
        wait(&mut self.polled, Duration::ZERO);
    }

    fn report(&self) -> SwitchReport {
        SwitchReport {
            switch: self.switch,
            ports: self.forwarder.port_counts(),
            counts: ForwardCounts {
                lost_in_socket: self.lost,
                refused: self.sockets.refused,
                ..self.forwarder.counts()
            },
            not_real_time: self.not_real_time.clone(),
        }
    }
}
