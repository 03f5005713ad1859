//! Groups with transports of their own: which transports share the network of a scheme, and whether they can.
//!
//! Such a group is another stack on its hosts. The scheme's switches, NICs and packet sizes hold for all flows. The
//! scheme's transport, its demotion and its assignment of classes hold for the flows of the other groups only. Packets of
//! such a group have the class that the group states.

use priolane_core::admit::Policy;
use priolane_core::assign::{Assign, DemotionThresholds};
use priolane_core::finding::Severity;
use priolane_core::host::Order;
use priolane_core::packet::Marks;
use priolane_core::transport::{Coexists as _, Setup, Spec, Transport, TransportsByGroup};
use priolane_core::units::Span;
use priolane_source::{InputError, Mistakes, Origin, Table};

use super::ports;
use crate::experiment::{Experiment, Group, NamedScheme, overlay};
use crate::scheme::{self, Fabric, Fault, Scheme};

/// Returns the transport of a run with `scheme`: that of the scheme, or several by group.
pub(super) fn transport(experiment: &Experiment, scheme: &Scheme, monitor: Option<Span>) -> Transport {
    let setup = ports::setup(scheme, experiment.frame, monitor);
    let Stacks { specs, of_group } = Stacks::of(experiment, scheme);
    if specs.len() == 1 {
        return scheme.transport.transport(&setup);
    }
    let flat = Setup { class: DemotionThresholds::FLAT, host_level: DemotionThresholds::FLAT, ..setup };
    let setups = std::iter::once(&setup).chain(std::iter::repeat(&flat));
    let transports = specs.iter().zip(setups).map(|(spec, setup)| spec.transport(setup)).collect();
    TransportsByGroup::new(transports, &of_group)
        .map(Transport::ByGroup)
        .expect("invariant: `check` accepted it")
}

/// The transports of the hosts of an experiment under a scheme.
struct Stacks<'a> {
    /// That of the scheme, then the others.
    specs: Vec<&'a Spec>,
    /// By group, the index of its transport.
    of_group: Vec<u8>,
}

impl<'a> Stacks<'a> {
    fn of(experiment: &'a Experiment, scheme: &'a Scheme) -> Self {
        let mut specs = vec![&scheme.transport];
        // Demotion holds for the flows of the scheme only, so that the same transport without it is another one.
        let first = usize::from(matches!(scheme.assign, Assign::BytesSent(_)));
        let of_group = experiment.groups.iter().map(|group| {
            let Some(own) = &group.flows.transport else { return 0 };
            let known = specs.iter().skip(first).position(|spec| *spec == own).map(|place| place + first);
            let place = known.unwrap_or_else(|| {
                specs.push(own);
                specs.len() - 1
            });
            u8::try_from(place).unwrap_or(u8::MAX)
        });
        let of_group = of_group.collect();
        Self { specs, of_group }
    }
}

/// Checks that the transports of groups can share the network of `scheme`; returns warnings.
///
/// # Errors
/// Returns the mistakes of all groups, each at its key in `root`.
pub(super) fn check(
    experiment: &Experiment,
    (named, scheme): (&NamedScheme, &Scheme),
    fabric: &Fabric,
    root: &Table,
) -> Result<Vec<String>, InputError> {
    let own = experiment.groups.iter().filter_map(|group| Some((group, group.flows.transport.as_ref()?)));
    let mut found = Mistakes::new(experiment.sources.experiment());
    let warnings = found.each(own, |(group, spec)| {
        let wrong = |fault: Fault| error_at(group, &named.name, &fault, root);
        can_share(experiment, scheme, spec).map_err(wrong)?;
        let hosts = as_scheme(scheme, spec);
        scheme::check(&hosts, fabric).map_err(wrong)?;
        let findings = scheme::findings(&hosts, fabric);
        if let Some(finding) = findings.iter().find(|finding| finding.severity == Severity::Error) {
            return Err(wrong(finding.fault.clone()));
        }
        // Findings of the other rows are those of the scheme, which states them.
        let of_transport = findings.into_iter().filter(|finding| finding.fault.key.starts_with("transport"));
        Ok(of_transport.map(|finding| format!("group {}: {finding}", group.name)).collect::<Vec<_>>())
    });
    found.finish()?;
    Ok(warnings.into_iter().flatten().collect())
}

/// Returns `scheme` as the hosts of a group with the transport `spec` have it.
fn as_scheme(scheme: &Scheme, spec: &Spec) -> Scheme {
    Scheme { transport: spec.clone(), assign: Assign::default(), admit: Policy::default(), ..scheme.clone() }
}

/// Checks that a group may have the transport `spec` beside the transport of `scheme`.
fn can_share(experiment: &Experiment, scheme: &Scheme, spec: &Spec) -> Result<(), Fault> {
    let fault = |what: String, fix: &str| Err(Fault::new("transport", what, fix));
    let setup = ports::setup(scheme, experiment.frame, None);
    let on_window =
        "a transport with a congestion window or rate and without telemetry, such as dctcp or cubic";
    for (whose, of) in [("of the scheme", &scheme.transport), ("of the group", spec)] {
        if !of.transport(&setup).can_coexist() {
            let name = of.name();
            return fault(
                format!("`{name}`, the transport {whose}, cannot share a network with another"),
                on_window,
            );
        }
    }
    if !matches!(scheme.host, Order::RoundRobin(_) | Order::Fifo(_)) {
        let order = scheme.host.name();
        let what =
            format!("hosts of the scheme serve flows by `{order}`, which orders the flows of one transport");
        return fault(what, "a scheme with host = { kind = \"round_robin\" } or \"fifo\"");
    }
    if !matches!(scheme.admit, Policy::None(_)) {
        let what = format!("admission by `{}` decides for all flows of a host", scheme.admit.name());
        return fault(what, "a scheme with admit = { kind = \"none\" }");
    }
    let count = Stacks::of(experiment, scheme).specs.len();
    if count > Marks::TRANSPORTS {
        let what = format!("{count} transports would share the network");
        return fault(what, "at most 4 different transports, that of the scheme included");
    }
    Ok(())
}

/// Converts a fault of the hosts of a group to an error at the group's transport.
fn error_at(group: &Group, scheme: &str, fault: &Fault, root: &Table) -> InputError {
    let within = fault.key.strip_prefix("transport").unwrap_or("");
    let key = format!("group.{}.transport{within}", group.name);
    let table = format!("group.{}.transport", group.name);
    let origin = overlay::locate(root, &key).or_else(|| overlay::locate(root, &table));
    let origin = origin.unwrap_or(Origin { file: "".into(), line: None });
    origin.error(&key, format!("under the scheme {scheme}: {}", fault.what), fault.fix.clone())
}
