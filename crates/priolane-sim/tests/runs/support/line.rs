//! Measurements of a line between two instants, and of the shares that senders have in it.

use priolane_core::units::Time;
use priolane_sim::outcome::{Outcome, PortClassRecord};
use priolane_sim::scenario::{Engine, ScenarioSpec, Stop};

use super::{drive, run};

/// Measurements of a line between two instants.
pub struct LineUse {
    /// The part of its capacity in use.
    pub used: f64,
    /// The mean queue in bytes, as full packets.
    pub queue: f64,
    /// The packets that each sender sent.
    pub packets: Vec<f64>,
}

impl LineUse {
    /// Measures the line from switch `s0` to host `h<senders>`, to which all hosts before it send, between two instants in
    /// microseconds.
    pub fn of_star(scenario: &mut ScenarioSpec, senders: u16, instants: [u64; 2]) -> Self {
        let sink = format!("h{senders}");
        let from: Vec<String> = (0..senders).map(|host| format!("h{host}")).collect();
        let sending: Vec<[&str; 2]> = from.iter().map(|host| [host.as_str(), "s0"]).collect();
        Self::of(scenario, ["s0", &sink], &sending, instants)
    }

    /// Measures the line from one node to another, and the links by which senders send.
    pub fn of(
        scenario: &mut ScenarioSpec,
        line: [&str; 2],
        senders: &[[&str; 2]],
        instants: [u64; 2],
    ) -> Self {
        let [early, late] = instants.map(|us| {
            scenario.stop = Stop::At(Time(us * 1_000_000));
            run(&*scenario, drive(Engine::Window))
        });
        let seconds = (instants[1] - instants[0]) as f64 * 1e-6;
        let link_of = |[from, to]: [&str; 2]| scenario.topology.link_between(from, to).unwrap();
        let delta = |ends: [&str; 2], field: fn(&PortClassRecord) -> u64| {
            let link = link_of(ends);
            let of = |outcome: &Outcome| -> u64 {
                outcome.ports.iter().filter(|port| port.link == link).map(field).sum()
            };
            (of(&late) - of(&early)) as f64
        };
        let rate = scenario.topology.links[link_of(line).index()].rate.bps() as f64;
        Self {
            used: delta(line, |port| port.bytes) * 8.0 / rate / seconds,
            // Little's law: packets wait for `waited` in all.
            queue: delta(line, |port| port.waited) * 1e-12 / seconds * f64::from(scenario.frame.max_wire()),
            packets: senders.iter().map(|&ends| delta(ends, |port| port.packets)).collect(),
        }
    }

    /// Returns the share of each sender in all packets.
    pub fn shares(&self) -> Vec<f64> {
        let all: f64 = self.packets.iter().sum();
        self.packets.iter().map(|packets| packets / all).collect()
    }

    /// Returns Jain's index of the shares: 1 if all are equal.
    pub fn jain(&self) -> f64 {
        let squares: f64 = self.packets.iter().map(|packets| packets * packets).sum();
        let sum: f64 = self.packets.iter().sum();
        sum * sum / squares / self.packets.len() as f64
    }
}
