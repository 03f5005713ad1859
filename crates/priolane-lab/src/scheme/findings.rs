//! Collects what the parts of a scheme declare about settings that do not go together on a network.

use std::fmt;

use priolane_core::finding::{
    Finding, LosslessFacts, MarkUse, NetworkFacts, PathFacts, QueueFacts, Severity,
};
use priolane_core::part::{Capability, Row};
use priolane_core::scheme::find;

use super::fabric::{Fabric, Fault};
use super::{EmptyPath, Scheme};

/// Settings of a scheme that do not go together: their severity, the key at fault, what is wrong and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemeFinding {
    /// The certainty that the settings are wrong.
    pub(crate) severity: Severity,
    /// The key within the scheme, what is wrong and what to write instead.
    pub(crate) fault: Fault,
}

impl fmt::Display for SchemeFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { key, what, fix } = &self.fault;
        write!(f, "{key}: {what}; better: {fix}")
    }
}

/// Returns which settings of `scheme` do not go together on `fabric`, row by row.
pub(crate) fn findings(scheme: &Scheme, fabric: &Fabric) -> Vec<SchemeFinding> {
    let ports: Vec<QueueFacts> =
        fabric.switch_rates.iter().map(|&rate| scheme.port.queue_facts(rate)).collect();
    let paths: Vec<PathFacts> = fabric.paths.iter().map(|path| path_facts(path, scheme)).collect();
    let network = NetworkFacts {
        frame: fabric.frame,
        paths: &paths,
        switch_ports: &ports,
        host_rates: &fabric.host_rates,
        classes: scheme.classes_carried(fabric.top_class),
        noise: fabric.noise,
        round_trip: fabric.round_trip,
        marks: mark_use(scheme),
        lossless: lossless(scheme, fabric),
    };
    let rows = [
        (Row::Transport, scheme.transport.findings(&network)),
        (Row::Admit, scheme.admit.findings(&network)),
        (Row::Host, scheme.host.findings(&network)),
        (Row::Nic, scheme.nic.findings(&network)),
        (Row::Port, scheme.port.findings(&network)),
    ];
    rows.into_iter().flat_map(|(row, found)| found.into_iter().map(move |found| in_row(row, found))).collect()
}

fn in_row(own: Row, Finding { severity, row, conflict }: Finding) -> SchemeFinding {
    let row = row.unwrap_or(own);
    let key = conflict.key.map_or(row.key().to_owned(), |key| format!("{}.{key}", row.key()));
    SchemeFinding { severity, fault: Fault::new(key, conflict.what, conflict.fix) }
}

fn path_facts(path: &EmptyPath, scheme: &Scheme) -> PathFacts {
    let &EmptyPath { between, path, line, bottleneck } = path;
    PathFacts { between, path, line, bottleneck: bottleneck.map(|rate| scheme.port.queue_facts(rate)) }
}

fn mark_use(scheme: &Scheme) -> MarkUse {
    let transport = find(Row::Transport, scheme.transport.name());
    match transport.is_some_and(|entry| entry.requires.contains(&Capability::CongestionMarks)) {
        true => MarkUse::Required,
        false => MarkUse::Ignored,
    }
}

fn lossless(scheme: &Scheme, fabric: &Fabric) -> Option<LosslessFacts> {
    let (pfc, memory) = (scheme.port.pfc.as_ref()?, scheme.port.buffer.memory()?);
    let spec = pfc.spec(memory);
    let reserved = match pfc.headroom {
        priolane_core::port::pfc::HeadroomFrom::Memory => {
            fabric.headroom(&spec).saturating_mul(spec.lossless.iter().count() as u64)
        }
        priolane_core::port::pfc::HeadroomFrom::Beside => 0,
    };
    Some(LosslessFacts { memory: memory.size, reserved })
}
