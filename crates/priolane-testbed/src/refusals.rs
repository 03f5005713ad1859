//! The parts of an experiment that a testbed cannot carry out.

use priolane_core::admit::Interval;
use priolane_core::deployment::Need;
use priolane_core::part::Row;
use priolane_core::scheme::find;
use priolane_core::transport::Transport;
use priolane_lab::plan::Run;
use priolane_linux::limits::{MOST_FLOWS, MOST_MESSAGE};
use priolane_sim::scenario::{Nic, ScenarioSpec};
use priolane_sim::topology::PathChoice;
use priolane_source::{InputError, Mistakes};

/// The slowest line in bit/s: a packet takes 12 ms.
const SLOWEST_BPS: u64 = 1_000_000;
/// The fastest line in bit/s that a switch was seen to keep up with.
const FASTEST_BPS: u64 = 1_000_000_000;

/// A mistake at a key of the experiment.
pub(super) fn error(run: &Run, key: &str, what: impl Into<String>, fix: &str) -> InputError {
    InputError::new(run.experiment.sources.experiment(), None, key, what, fix)
}

/// Refuses what hosts and switches of a testbed cannot do.
///
/// # Errors
/// All reasons.
pub(super) fn refuse(run: &Run, scenario: &ScenarioSpec, scale: u64) -> Result<(), InputError> {
    let mut found = Mistakes::new(run.experiment.sources.experiment());
    let mut refuse = |is: bool, key: &str, what: &str, fix: &str| {
        if is {
            found.add(error(run, key, what, fix));
        }
    };
    refuse_amounts(scenario, scale, &mut refuse);
    refuse_mechanisms(run, scenario, &mut refuse);
    found.finish()
}

/// Refuses rates, numbers and sizes that a testbed does not reach. `refuse` adds a reason, with the key at fault and the
/// value to use, if its first argument holds.
fn refuse_amounts(scenario: &ScenarioSpec, scale: u64, refuse: &mut impl FnMut(bool, &str, &str, &str)) {
    let rates = || scenario.topology.links.iter().map(move |link| link.rate.bps() / scale.max(1));
    let (slow, fast) = (rates().min().unwrap_or(0), rates().max().unwrap_or(0));
    let range = format!("a --scale at which lines have {SLOWEST_BPS} to {FASTEST_BPS} bit/s");
    refuse(
        slow < SLOWEST_BPS || fast > FASTEST_BPS,
        "topology",
        &format!("at scale {scale} lines have {slow} to {fast} bit/s"),
        &range,
    );
    refuse(scenario.flows.is_empty(), "group", "no flow starts", "a longer `time`, or more load");
    let flows = scenario.flows.len();
    refuse(
        flows > MOST_FLOWS,
        "group",
        &format!("{flows} flows start; real hosts are given at most {MOST_FLOWS}"),
        "a shorter `time`, or less load",
    );
    let largest = scenario.flows.iter().filter_map(|flow| flow.size).max().unwrap_or(0);
    refuse(
        largest > MOST_MESSAGE,
        "group",
        &format!(
            "a flow has {largest} bytes; real hosts keep messages in memory, of {MOST_MESSAGE} bytes at most"
        ),
        "smaller flows",
    );
}

/// Refuses the mechanisms of `scenario` that a testbed does not have, as [`refuse_amounts`] does.
fn refuse_mechanisms(run: &Run, scenario: &ScenarioSpec, refuse: &mut impl FnMut(bool, &str, &str, &str)) {
    let scheme = format!("scheme.{}", run.scheme);
    let simulate = "`priolane run`, which simulates it";
    refuse(
        !scenario.waits.is_empty() || !scenario.steps.is_empty(),
        "group",
        "flows that wait for other flows are not sent here",
        simulate,
    );
    refuse(
        scenario.flows.iter().any(|flow| flow.attained > 0),
        "time.start",
        "no flow is under way when the hosts begin",
        "start = \"empty\", or `priolane run`, which simulates it",
    );
    refuse(
        scenario.flows.iter().any(|flow| flow.connection.is_some()),
        "group",
        "hosts here send each flow by itself, and no connections that flows share",
        simulate,
    );
    refuse(!scenario.outages.is_empty(), "failure", "lines do not fail here", simulate);
    let lossy = scenario.topology.links.iter().any(|link| link.loss > 0.0);
    refuse(lossy, "topology", "lines lose nothing here", simulate);
    refuse(
        matches!(scenario.transport, Transport::ByGroup(_)),
        "group",
        "all hosts here run the transport of the scheme, and a group has its own",
        simulate,
    );
    refuse(
        scenario.machines.iter().any(Option::is_some),
        "group",
        "virtual machines that pay do not split here",
        simulate,
    );
    refuse(
        scenario.admission.part().interval() != Interval::Rpc,
        &format!("{scheme}.admit.mi"),
        "hosts here report a flow when it ends, and not at each monitor interval",
        "mi = \"rpc\", or `priolane run`, which simulates it",
    );
    refuse(
        scenario.adaptation.is_some(),
        &format!("{scheme}.assign"),
        "no controller changes thresholds here",
        simulate,
    );
    refuse(
        scenario.switch.lossless.is_some(),
        &format!("{scheme}.port.pfc"),
        "switches here pause nobody (PFC)",
        simulate,
    );
    let entry =
        run.experiment.scheme.get(&run.scheme).and_then(|own| find(Row::Transport, own.transport.name()));
    let reads_telemetry = entry.is_some_and(|entry| entry.deployment.needs.contains(&Need::Int));
    refuse(
        reads_telemetry,
        &format!("{scheme}.transport"),
        "switches here write no telemetry into packets",
        simulate,
    );
}

/// Returns the differences of paths, in words.
pub(super) fn path_notes(scenario: &ScenarioSpec) -> Option<String> {
    let topology = &scenario.topology;
    let what = match topology.path_choice {
        _ if topology.choices.is_empty() => return None,
        PathChoice::Sprayed(_) => "packets are sprayed in the simulator; here all to one host take one path",
        _ => "the simulator chooses one for each flow; here all packets to one host take one path",
    };
    Some(format!("paths: {what}"))
}

/// Returns the differences, in words.
pub(super) fn notes(scenario: &ScenarioSpec) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |is: bool, what: &str| {
        if is {
            notes.push(what.to_owned());
        }
    };
    note(
        !matches!(scenario.nic, Nic::Pull),
        "the queue of a host's NIC: here the line asks the transport for each packet",
    );
    let noisy = scenario.measuring.noise.is_some() || scenario.host_delay.0 > 0;
    note(noisy, "delays of hosts and their noise are those of this machine, not those of the file");
    note(scenario.sample_every.is_some(), "queues over time are not sampled here");
    note(
        scenario.flows.iter().any(|flow| flow.size.is_none()),
        "endless flows: here messages with more bytes than their lines carry until the end; their rates are those at which they arrive, not \
         those at which they are acknowledged",
    );
    notes
}
