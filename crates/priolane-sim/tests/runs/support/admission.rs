//! Admission policies for tests.

use priolane_core::admit::aequitas::{self, Objective, Per, Update};
use priolane_core::admit::firapam::{self, Constants, Interval, Mode};
use priolane_core::admit::{Policy, Remap, pase};
use priolane_core::transport::Transport;
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::{OnDowngrade, Scenario};

use super::Draw;

/// Firapam on three classes, with the step size `a`.
pub fn firapam(a: f64) -> firapam::Config {
    firapam::Config {
        levels: 3,
        utility: Constants::default(),
        mode: Mode::Analytic { a, step: 0.1 },
        b_low: 0.1,
        b_up: 1.9,
        interval: Interval::Rpc,
        remap: Remap::AtIssue,
    }
}

/// Aequitas on three classes whose flows are to take less than `target` for each packet.
pub fn aequitas(target: Span) -> aequitas::Config {
    let objective = Objective { target, window: Span::from_us(50) };
    aequitas::Config {
        levels: 3,
        alpha: 0.01,
        beta: 0.01,
        floor: 0.1,
        most: 1.0,
        mtu: 1460,
        per: Per::Mtu,
        objectives: vec![objective; 2],
        update: Update::Prose,
    }
}

/// Every policy, learning fast, and every reaction of applications; half of the flows have deadlines.
pub fn admit(scenario: &mut Scenario, draw: &mut Draw) {
    let remap = draw.pick(&[Remap::AtIssue, Remap::PerInterval]);
    scenario.admission = match draw.0.below(4) {
        0 => {
            let update = draw.pick(&[Update::Prose, Update::Simulator, Update::Literal]);
            let target = draw.pick(&[Span::from_us(2), Span::from_us(20)]);
            Policy::Aequitas(aequitas::Config { beta: 0.3, update, ..aequitas(target) })
        }
        1 => Policy::Pase(pase::Config { levels: 3, capacity: Rate::from_gbps(1), remap }),
        mode => {
            let mode = match mode {
                2 => Mode::Literal { a: 25.0 },
                _ => Mode::Analytic { a: 5.0, step: 0.5 },
            };
            let interval = draw.pick(&[Interval::Rpc, Interval::Monitor, Interval::Monitor]);
            Policy::Firapam(firapam::Config { mode, interval, remap, ..firapam(0.0) })
        }
    };
    let Transport::Window { window, .. } = &mut scenario.transport else {
        unreachable!("the window machine")
    };
    window.monitor = scenario.rates_every.or(Some(Span::from_us(40)));
    scenario.flows.edit_all(|flow| {
        let allowed = Span::from_us(draw.pick(&[0, 0, 60, 400, 9_000]));
        flow.deadline = (allowed > Span::ZERO).then(|| flow.start + allowed);
    });
    scenario.on_downgrade = (0..3)
        .map(|_| {
            draw.pick(&[
                OnDowngrade::Ignore,
                OnDowngrade::Defer { by: Span::from_us(30), times: 4 },
                OnDowngrade::Reclassify { lasts: Span::from_us(200) },
            ])
        })
        .collect();
}
