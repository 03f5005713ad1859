//! Warnings about the clocks of several machines.

use std::collections::HashMap;

use priolane_linux::clock::MachineReport;
use priolane_linux::job::{ArrivedMessage, SentMessage};
use priolane_linux::run::TestbedReport;
use priolane_results::record::MachineRecord;

/// The uncertainty of clocks is worth a warning above this part of the median completion time between machines.
const MOST_OF_MEDIAN: f64 = 0.1;

/// Machines as records have them.
pub(super) fn records(machines: &[MachineReport]) -> Vec<MachineRecord> {
    let record = |machine: &MachineReport| MachineRecord {
        name: machine.name.clone(),
        hosts: machine.hosts.clone(),
        clock_offset_ns: machine.before.offset_ns,
        clock_offset_after_ns: machine.after.offset_ns,
        clock_uncertainty_ns: machine.uncertainty_ns(),
    };
    machines.iter().map(record).collect()
}

fn us(ns: f64) -> String {
    format!("{:.1} us", ns / 1e3)
}

/// Returns the largest error of the time from a host of one machine to a host of another, in nanoseconds.
fn between_ns(machines: &[MachineReport]) -> u64 {
    let mut all: Vec<u64> = machines.iter().map(MachineReport::uncertainty_ns).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.iter().take(2).sum()
}

/// Completion times between hosts of different machines, in nanoseconds; negative where a message arrived before it was sent.
fn completion_times(measured: &TestbedReport) -> Vec<i64> {
    let place = |host: u16| measured.machines.iter().position(|machine| machine.hosts.contains(&host));
    let sent: HashMap<u32, (u16, &SentMessage)> = measured
        .hosts
        .iter()
        .flat_map(|report| report.sent.iter().map(|sent| (sent.id, (report.host, sent))))
        .collect();
    let took = |host: u16, came: &ArrivedMessage| {
        let (from, sent) = sent.get(&came.id)?;
        (place(*from) != place(host))
            .then(|| came.at_ns.cast_signed().saturating_sub(sent.at_ns.cast_signed()))
    };
    let arrived =
        measured.hosts.iter().flat_map(|report| report.arrived.iter().map(|came| (report.host, came)));
    arrived.filter_map(|(host, came)| took(host, came)).collect()
}

/// Returns the warnings about clocks, in words.
pub(super) fn warnings(measured: &TestbedReport, scale: u64) -> Vec<String> {
    let machines = &measured.machines;
    if machines.len() < 2 {
        return Vec::new();
    }
    let uncertainty = between_ns(machines);
    let clock = |machine: &MachineReport| {
        let offset = machine.before.offset_ns as f64 / 1e3;
        let drift = machine.after.offset_ns.saturating_sub(machine.before.offset_ns) as f64 / 1e3;
        let right = us(machine.uncertainty_ns() as f64);
        format!("{} {offset:+.1} us ± {right}, {drift:+.1} us in the run", machine.name)
    };
    let clocks: Vec<String> = machines.iter().map(clock).collect();
    let mut all = vec![format!(
        "clocks, ahead of the controller's: {}. Completion times between machines are put right by this, within ± {} of the machines' \
         time, {} of the experiment's; fct_acked_ps needs no clock but the sender's",
        clocks.join("; "),
        us(uncertainty as f64),
        us(uncertainty as f64 / scale.max(1) as f64)
    )];
    let mut times = completion_times(measured);
    times.sort_unstable();
    let Some(&median) = times.get(times.len() / 2) else { return all };
    if uncertainty as f64 > MOST_OF_MEDIAN * median as f64 {
        all.push(format!(
            "clocks are not known well enough: ± {} is more than {:.0} % of the median completion time between machines, {}; use \
             fct_acked_ps, a larger --scale, or a faster way to the agents",
            us(uncertainty as f64),
            100.0 * MOST_OF_MEDIAN,
            us(median as f64)
        ));
    }
    let before = times.iter().filter(|&&took| took < 0).count();
    if before > 0 {
        all.push(format!(
            "{before} messages arrived before they were sent by these clocks; their fct_ps is 0"
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_linux::clock::ClockOffset;
    use priolane_linux::job::HostReport;

    /// Host 0 on one machine sends to host 1 on another and to host 2 on its own; messages take so long, in nanoseconds.
    fn measured(uncertainty_ns: u64, took_ns: [i64; 3]) -> TestbedReport {
        let clock = |offset_ns| ClockOffset { offset_ns, uncertainty_ns };
        let machine = |name: &str, hosts: &[u16], before, after| MachineReport {
            name: name.to_owned(),
            hosts: hosts.to_vec(),
            before: clock(before),
            after: clock(after),
        };
        let mut hosts = [0, 1, 2].map(HostReport::empty);
        for (id, took) in took_ns.into_iter().enumerate() {
            let sent = SentMessage {
                id: id as u32,
                at_ns: 1_000_000,
                admitted: None,
                acked_ns: None,
                retransmits: 0,
                timeouts: 0,
                changes: 0,
                failed: None,
            };
            hosts[0].sent.push(sent);
            let to = if id == 2 { 2 } else { 1 };
            let at_ns = 1_000_000_u64.saturating_add_signed(took);
            hosts[to].arrived.push(ArrivedMessage { id: id as u32, at_ns, missing: 0 });
        }
        TestbedReport {
            hosts: hosts.into(),
            queues: Vec::new(),
            switches: Vec::new(),
            machines: vec![
                machine("left", &[0, 2], -1_500, -500),
                machine("right", &[1], 5_000_000_000, 5_000_002_000),
            ],
            elapsed_ns: 1,
        }
    }

    #[test]
    fn offsets_and_what_they_leave_open_are_stated() {
        // Two machines, 20 us each; 4 ms between them.
        let found = warnings(&measured(20_000, [4_000_000, 4_000_000, 1]), 100);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0],
            "clocks, ahead of the controller's: left -1.5 us ± 20.0 us, +1.0 us in the run; right +5000000.0 us ± 20.0 us, +2.0 us in \
             the run. Completion times between machines are put right by this, within ± 40.0 us of the machines' time, 0.4 us of the \
             experiment's; fct_acked_ps needs no clock but the sender's"
        );
    }

    #[test]
    fn clocks_that_leave_more_than_a_tenth_of_the_median_open_are_warned_of() {
        // ± 40 us of a median of 400 us is a tenth, of 399 us more; what goes from a machine to itself does not count.
        assert_eq!(warnings(&measured(20_000, [400_000, 400_000, 1]), 1).len(), 1);
        let found = warnings(&measured(20_000, [399_000, 399_000, 1]), 1);
        assert!(found[1].contains(
            "± 40.0 us is more than 10 % of the median completion time between machines, 399.0 us"
        ));
        let found = warnings(&measured(20_000, [-5_000, 900_000, -1]), 1);
        assert_eq!(found[1], "1 messages arrived before they were sent by these clocks; their fct_ps is 0");
    }

    #[test]
    fn one_machine_has_one_clock() {
        let mut measured = measured(20_000, [1, 1, 1]);
        measured.machines.truncate(1);
        assert_eq!(warnings(&measured, 1), Vec::<String>::new());
        assert_eq!(records(&measured.machines)[0].clock_offset_after_ns, -500);
    }

    #[test]
    fn the_order_of_messages_changes_no_warning() {
        // From an uncertainty that is below both completion times to one that is above both.
        let mut warned = std::collections::BTreeSet::new();
        for uncertainty in (0..100).map(|n| 500 * n) {
            let there = warnings(&measured(uncertainty, [40_000, 90_000, 7]), 1);
            assert_eq!(warnings(&measured(uncertainty, [90_000, 40_000, 7]), 1), there);
            warned.insert(there.len());
        }
        assert_eq!(warned.into_iter().collect::<Vec<_>>(), [1, 2]);
    }
}
