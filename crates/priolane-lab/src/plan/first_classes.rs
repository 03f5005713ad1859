//! Classes in which flows of groups begin under a ladder by bytes sent: whether groups and queues suit them, and the flows
//! that get them.

use priolane_core::assign::FirstClasses;
use priolane_core::flows::FlowList;
use priolane_core::port::QueueOf;

use crate::experiment::{Experiment, Group};
use crate::scheme::{Fabric, Fault, Scheme};

/// Returns the faults of the classes that `scheme` states for groups.
pub(super) fn faults(experiment: &Experiment, scheme: &Scheme, fabric: &Fabric) -> Vec<Fault> {
    let Some(first) = scheme.assign.first() else { return Vec::new() };
    let mut found = asked(fabric);
    found.extend(first.entries().filter_map(|(name, class)| {
        let fault = unknown(experiment, name).or_else(|| beyond_queues(scheme, name, class))?;
        Some(Fault { key: format!("assign.first.{name}").into(), ..fault })
    }));
    found
}

/// Classes come from the scheme or from flows, and not from both.
fn asked(fabric: &Fabric) -> Vec<Fault> {
    if fabric.top_class == 0 {
        return Vec::new();
    }
    let what = format!(
        "`first` states the class of each group, but flows request classes up to {}",
        fabric.top_class
    );
    vec![Fault::new("assign.first", what, "flows of class 0, or remove first")]
}

fn unknown(experiment: &Experiment, name: &str) -> Option<Fault> {
    match experiment.groups.iter().find(|group| group.name == name) {
        Some(Group { flows, .. }) if flows.transport.is_some() => {
            let what = format!(
                "flows of `{name}` have a transport of their own, and the class that the group states"
            );
            Some(Fault::new("", what, "[[group]] class, in place of this entry"))
        }
        Some(_) => None,
        None => {
            let known: Vec<&str> = experiment.groups.iter().map(|group| group.name.as_str()).collect();
            Some(Fault::new(
                "",
                format!("there is no group `{name}`"),
                format!("one of {}", known.join(", ")),
            ))
        }
    }
}

/// Flows are demoted through queues that exist. A list of queues by class is checked by itself.
fn beyond_queues(scheme: &Scheme, name: &str, class: u8) -> Option<Fault> {
    let (port, queues) = (scheme.port.kind.part(), scheme.port.kind.part().queues());
    let last = class + scheme.levels() - 1;
    if !port.is_by_class() || matches!(scheme.map.class, QueueOf::List(_)) || last < queues {
        return None;
    }
    let what =
        format!("flows of `{name}` are demoted to class {last}, but the port has queues 0 to {}", queues - 1);
    let most = queues.checked_sub(scheme.levels());
    let lower = most.map_or(String::new(), |most| format!("at most {most}, "));
    let fix = format!("{lower}port.queues = {}, or a map such as {}", last + 1, fold(last, queues));
    Some(Fault::new("", what, fix))
}

/// Returns a map of all classes up to `last` whose last queue has those beyond.
fn fold(last: u8, queues: u8) -> String {
    let list: Vec<String> = (0..=last).map(|class| class.min(queues - 1).to_string()).collect();
    format!("map = {{ class = [{}] }}", list.join(", "))
}

/// Gives flows the class of their group, except those of groups with a transport of their own.
pub(super) fn assign(experiment: &Experiment, first: &FirstClasses, flows: &mut FlowList) {
    let of_group = |group: &Group| group.flows.transport.is_none().then(|| first.of(&group.name));
    let classes: Vec<Option<u8>> = experiment.groups.iter().map(of_group).collect();
    flows.edit_all(|flow| {
        if let Some(&Some(class)) = classes.get(usize::from(flow.group)) {
            flow.class = class;
        }
    });
}
