//! From a scheme's controller to the adaptation that the simulator runs.

use priolane_core::assign::control::{Plan, Solve, Target};
use priolane_core::endpoint::LadderOf;
use priolane_sim::scenario::Adaptation;

use crate::scheme::{Assign, Controller, Host, Scheme, Solver, Thresholds};
use priolane_core::assign::SizesOf;

/// How the thresholds of `scheme` follow the workload, if they do.
pub(super) fn adaptation(scheme: &Scheme) -> Option<Adaptation> {
    let Assign::BytesSent { levels, thresholds, controller: Some(controller), .. } = &scheme.assign else {
        return None;
    };
    let mut adaptation = Adaptation {
        plan: plan(controller),
        global: Vec::new(),
        local: Vec::new(),
        report_loss: controller.report_loss,
        report_jitter: controller.report_jitter,
    };
    let load = controller.load.unwrap_or_default();
    add(&mut adaptation, LadderOf::Class, thresholds, Asked { levels: *levels, load });
    if let Host::Mlfq { levels, thresholds } = &scheme.host {
        add(&mut adaptation, LadderOf::HostLevel, thresholds, Asked { levels: *levels, load });
    }
    Some(adaptation)
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    levels: u8,
    load: f64,
}

fn add(adaptation: &mut Adaptation, of: LadderOf, thresholds: &Thresholds, asked: Asked) {
    let Thresholds::Solved { solver, from, .. } = thresholds else { return };
    let Some(solve) = solve(*solver, asked) else { return };
    match from {
        SizesOf::Local => adaptation.local.push(Target { of, solve }),
        SizesOf::Global | SizesOf::Group(_) => adaptation.global.push(Target { of, solve }),
    }
}

/// What follows a workload; published thresholds do not, and were refused when the experiment was planned.
fn solve(solver: Solver, Asked { levels, load }: Asked) -> Option<Solve> {
    match solver {
        Solver::EqualSplit => Some(Solve::EqualSplit { levels }),
        Solver::Opt2 => Some(Solve::Opt { levels: 2, load }),
        Solver::Opt => Some(Solve::Opt { levels, load }),
        Solver::BasinHopping => Some(Solve::BasinHopping { levels, load }),
        Solver::ClosedForm => Some(Solve::ClosedForm { load }),
        Solver::PiasPublished => None,
    }
}

fn plan(controller: &Controller) -> Plan {
    Plan {
        period: controller.period,
        delay: controller.delay,
        window: controller.window,
        min_samples: controller.min_samples,
        max_age: controller.max_age,
        min: controller.bounds.0,
        max: controller.bounds.1,
    }
}
