//! Admission policies for tests.

use priolane_core::admit::aequitas::{self, Per, Update};
use priolane_core::admit::firapam::{self, Constants, First, GradientMode};
use priolane_core::admit::{Interval, Monitoring, Policy, Remap, pase};
use priolane_core::transport::Transport;
use priolane_core::units::Span;
use priolane_sim::scenario::{OnDowngrade, ScenarioSpec};

use super::Draw;

/// Firapam on three classes, with the step size `a`.
pub fn firapam(a: f64) -> firapam::Config {
    firapam::Config {
        levels: 3,
        mode: GradientMode::Analytic,
        first: None,
        utility: Constants::default(),
        a,
        step: Some(0.1),
        b_low: 0.1,
        b_up: 1.9,
        monitoring: Monitoring { mi: Interval::Rpc, remap: Remap::AtIssue },
    }
}

/// Aequitas on three classes whose flows are to take less than `target` for each packet.
pub fn aequitas(target: Span) -> aequitas::Config {
    aequitas::Config {
        levels: 3,
        alpha: 0.01,
        beta: 0.01,
        floor: 0.1,
        most: 1.0,
        per: Per::Mtu,
        targets: vec![target; 2],
        percentile: None,
        window: Some(Span::from_us(50)),
        update: Update::Prose,
    }
}

/// Every policy, learning fast, and every reaction of applications; half of the flows have deadlines.
pub fn admit(scenario: &mut ScenarioSpec, draw: &mut Draw) {
    let remap = draw.pick(&[Remap::AtIssue, Remap::PerInterval]);
    scenario.admission = match draw.0.below(4) {
        0 => {
            let update = draw.pick(&[Update::Prose, Update::Simulator, Update::Literal]);
            let target = draw.pick(&[Span::from_us(2), Span::from_us(20)]);
            Policy::Aequitas(aequitas::Config { beta: 0.3, update, ..aequitas(target) })
        }
        1 => Policy::Pase(pase::Config { levels: 3, monitoring: Monitoring { mi: Interval::Rtt, remap } }),
        mode => {
            let (mode, first, a, step) = match mode {
                2 => (GradientMode::Literal, Some(First::Zero), 25.0, None),
                _ => (GradientMode::Analytic, None, 5.0, Some(0.5)),
            };
            let mi = draw.pick(&[Interval::Rpc, Interval::Rtt, Interval::Rtt]);
            let monitoring = Monitoring { mi, remap };
            Policy::Firapam(firapam::Config { mode, first, step, monitoring, ..firapam(a) })
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
