//! Limits on the job of a host, and on the length of lines that carry jobs and reports.
//!
//! A reader knows the limit of a line before it reads the line: a job has at most [`MOST_FLOWS`] flows, and a report has a bounded number
//! of bytes for each flow of its job.

use crate::admission_job::Reaction;
use crate::job::{Flow, FlowKind, HostJob};
use crate::network::MOST_HOSTS;

/// The largest number of flows in a run, and of changes of flows.
pub const MOST_FLOWS: usize = 100_000;
/// The length of the longest message in bytes. Sender and receiver hold the whole message in memory.
pub const MOST_MESSAGE: u64 = 1 << 32;
/// The length of the longest endless flow in bytes.
pub const MOST_ENDLESS: u64 = (1 << 48) - 1;
/// The largest number of bins of all endless flows of a host together. Each bin is a number in memory.
pub const MOST_BINS: u64 = 10_000_000;

/// The length of the longest line of a job in bytes. A flow takes up to 238 bytes and a change up to 140 bytes; a test
/// computes both.
pub(crate) const LONGEST_JOB: usize = MOST_FLOWS * (240 + 144) + BESIDES;
/// The bytes of a job or a report in addition to its flows: addresses, delays, the rows of a scheme, counters.
const BESIDES: usize = 256 << 10;
/// The length in bytes of the longest line of an agent or a host that is not a report.
pub(crate) const LONGEST_ANSWER: usize = 64 << 10;
/// The bytes in a report for a message that was sent, for a message that arrived, for an endless flow, for a bin, and
/// for a call of admission. Tests compute the actual sizes. An agent forwards a report as a JSON string, in which
/// quotation marks are escaped.
const SENT: u64 = 2_600;
const ARRIVED: u64 = 128;
const PROGRESS: u64 = 64;
const BIN: u64 = 24;
const CALL: u64 = 400;
/// The length of the longest report of any job, in bytes.
const LONGEST_REPORT: u64 = 1 << 30;
/// The number of characters of the longest text in a report that says why a message failed.
pub(crate) const FAILURE_SHOWN: usize = 200;

/// Returns the largest number of admission calls for a flow of this job.
pub(crate) fn most_calls(job: &HostJob) -> u64 {
    let again = |reaction: &Reaction| match reaction {
        Reaction::Defer { times, .. } => u64::from(*times),
        Reaction::Ignore | Reaction::Reclassify { .. } => 0,
    };
    // The first call, one call for each deferral, and the call that reports the end of the flow.
    job.scheme
        .admission
        .as_ref()
        .map_or(0, |admission| 2 + admission.on_downgrade.iter().map(again).max().unwrap_or(0))
}

/// Returns the length in bytes of the longest report of a host with this job.
pub(crate) fn longest_report(job: &HostJob) -> usize {
    let bins = job.bins.map_or(0, |bins| u64::from(bins.count));
    let of = |flow: &Flow| {
        let sent =
            if flow.src == job.host { SENT.saturating_add(CALL.saturating_mul(most_calls(job))) } else { 0 };
        let came = match (flow.dst == job.host, flow.kind) {
            (false, _) => 0,
            (true, FlowKind::Message) => ARRIVED,
            (true, FlowKind::Endless) => PROGRESS.saturating_add(BIN.saturating_mul(bins)),
        };
        sent.saturating_add(came)
    };
    let all = job.flows.iter().map(of).fold(BESIDES as u64, u64::saturating_add);
    usize::try_from(all.min(LONGEST_REPORT)).unwrap_or(usize::MAX)
}

/// Checks that a host can carry out a job, before memory is allocated for it.
///
/// # Errors
/// Returns a message that names the first limit that the job exceeds.
pub(crate) fn check(job: &HostJob) -> Result<(), String> {
    let HostJob { host, addresses, flows, changes, bins, .. } = job;
    let hosts = usize::from(MOST_HOSTS);
    if addresses.len() > hosts {
        return Err(format!("the job has {} addresses; a run has at most {hosts} hosts", addresses.len()));
    }
    if usize::from(*host) >= addresses.len() {
        return Err(format!("host {host} has no address"));
    }
    for (what, count) in [("flows", flows.len()), ("changes", changes.len())] {
        if count > MOST_FLOWS {
            return Err(format!("the job has {count} {what}; a run has at most {MOST_FLOWS}"));
        }
    }
    for Flow { id, src, dst, bytes, kind, .. } in flows {
        let most = match kind {
            FlowKind::Message => MOST_MESSAGE,
            FlowKind::Endless => MOST_ENDLESS,
        };
        if !(1..=most).contains(bytes) {
            return Err(format!("flow {id} has {bytes} bytes; write 1 to {most}"));
        }
        if [src, dst].into_iter().any(|end| usize::from(*end) >= addresses.len()) || src == dst {
            return Err(format!(
                "flow {id} goes from host {src} to host {dst}; the job has {} hosts",
                addresses.len()
            ));
        }
    }
    let endless =
        flows.iter().filter(|flow| flow.dst == *host && flow.kind == FlowKind::Endless).count() as u64;
    let cells = endless.saturating_mul(bins.map_or(0, |bins| bins.count.into()));
    if cells > MOST_BINS {
        return Err(format!(
            "{endless} endless flows have {cells} bins together; a host counts at most {MOST_BINS}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::admission_job::{AdmissionCall, AdmissionEvent, AdmittedFlow, EndOfMessage};
    use crate::agent::message::FromAgent;
    use crate::host_jobs::tests::{host_job, plain};
    use crate::job::{ArrivedMessage, Bins, Change, FlowChange, FlowProgress, HostReport, SentMessage};

    const MOST: u64 = u64::MAX;

    fn largest_flow() -> Flow {
        Flow {
            src: u16::MAX,
            dst: u16::MAX,
            bytes: MOST,
            kind: FlowKind::Endless,
            start_ns: MOST,
            class: u8::MAX,
            deadline_ns: Some(MOST),
            group: u16::MAX,
            theta_bps: Some(MOST),
            w_milli: u32::MAX,
            ..plain(u32::MAX)
        }
    }

    fn largest_report() -> HostReport {
        let end = EndOfMessage {
            elapsed_ns: MOST,
            rtt_ns: MOST,
            retransmitted: MOST,
            retransmits: u32::MAX,
            timeouts: u32::MAX,
        };
        let call = AdmissionEvent { at_ns: MOST, flow: u32::MAX, call: AdmissionCall::Completed(end) };
        let sent = SentMessage {
            id: u32::MAX,
            at_ns: MOST,
            admitted: Some(AdmittedFlow { class: u8::MAX, held_ns: MOST }),
            acked_ns: Some(MOST),
            retransmits: u32::MAX,
            timeouts: u32::MAX,
            changes: u32::MAX,
            // As much as a character takes at most: a quotation mark becomes seven bytes, others have up to four.
            failed: Some("\"".repeat(FAILURE_SHOWN)),
        };
        let flow = FlowProgress { id: u32::MAX, bytes: vec![MOST; 100] };
        let came = ArrivedMessage { id: u32::MAX, at_ns: MOST, missing: MOST };
        let counts: BTreeMap<String, u64> = (0..64).map(|name| (format!("{name:64}"), MOST)).collect();
        HostReport {
            sent: vec![sent; 100],
            arrived: vec![came; 100],
            progress: vec![flow; 100],
            admission: vec![call; 200],
            wrong: MOST,
            not_real_time: Some("\"".repeat(500)),
            counts,
            ..HostReport::empty(u16::MAX)
        }
    }

    #[test]
    fn the_longest_job_fits_its_line_with_room() {
        let flow = serde_json::to_string(&largest_flow()).unwrap().len() + 1;
        let change = Change::Weights { theta_bps: Some(MOST), w_milli: u32::MAX };
        let change = FlowChange { at_ns: MOST, flow: u32::MAX, change };
        let change = serde_json::to_string(&change).unwrap().len() + 1;
        assert!(flow <= 240 && change <= 144, "{flow}, {change}");
        assert!(LONGEST_JOB > MOST_FLOWS * (flow + change) + (128 << 10));
        assert_eq!(LONGEST_JOB, 38_662_144);
    }

    #[test]
    fn the_longest_report_fits_its_line_as_an_agent_passes_it_on() {
        let line = serde_json::to_string(&largest_report()).unwrap();
        let passed_on = serde_json::to_string(&FromAgent::Host { host: u16::MAX, line }).unwrap().len();
        let mut job = host_job(0, Vec::new());
        let flow = |src, kind| Flow { src, dst: 1 - src, kind, ..plain(0) };
        job.flows.extend((0..100).map(|_| flow(0, FlowKind::Message)));
        job.flows.extend((0..100).map(|_| flow(1, FlowKind::Message)));
        job.flows.extend((0..100).map(|_| flow(1, FlowKind::Endless)));
        job.bins = Some(Bins { every_ns: 1, count: 100 });
        job.scheme.admission = Some(crate::admission_job::tests::aequitas());
        let most = longest_report(&job);
        assert!(passed_on < most && most < 4 * passed_on, "{passed_on} of {most} bytes");
        // An experiment of 30 flows has lines of a third of a megabyte at most.
        let small = longest_report(&host_job(0, (0..30).map(plain).collect()));
        assert_eq!(small, 262_144 + 30 * 2_600);
    }

    #[test]
    fn a_job_that_no_host_can_do_is_refused_before_memory_is_taken() {
        let error = |change: &dyn Fn(&mut HostJob)| {
            let mut job = host_job(0, vec![plain(3)]);
            change(&mut job);
            check(&job).unwrap_err()
        };
        assert_eq!(check(&host_job(0, vec![plain(3)])), Ok(()));
        let many = error(&|job| job.flows = vec![plain(3); MOST_FLOWS + 1]);
        assert_eq!(many, "the job has 100001 flows; a run has at most 100000");
        let large = error(&|job| job.flows[0].bytes = 1 << 63);
        assert_eq!(large, "flow 3 has 9223372036854775808 bytes; write 1 to 4294967296");
        assert!(error(&|job| job.flows[0].bytes = 0).starts_with("flow 3 has 0 bytes"));
        let far = error(&|job| job.flows[0].dst = 9);
        assert!(far.starts_with("flow 3 goes from host 0 to host 9; the job has "), "{far}");
        assert_eq!(error(&|job| job.host = 999), "host 999 has no address");
        let hosts = error(&|job| job.addresses = vec![job.addresses[0]; 65]);
        assert_eq!(hosts, "the job has 65 addresses; a run has at most 64 hosts");
        let bins = error(&|job| {
            job.flows[0] = Flow { src: 1, dst: 0, kind: FlowKind::Endless, ..plain(3) };
            job.bins = Some(Bins { every_ns: 1, count: u32::MAX });
        });
        assert!(bins.starts_with("1 endless flows have 4294967295 bins together"), "{bins}");
        let endless = |job: &mut HostJob| {
            job.flows[0] = Flow { kind: FlowKind::Endless, bytes: MOST_ENDLESS, ..plain(3) }
        };
        let mut job = host_job(0, vec![plain(3)]);
        endless(&mut job);
        assert_eq!(check(&job), Ok(()));
    }

    #[test]
    fn each_limit_of_a_job_is_permitted_and_nothing_beyond_it() {
        let endless = Flow { src: 1, dst: 0, kind: FlowKind::Endless, ..plain(3) };
        let change = FlowChange { at_ns: 0, flow: 3, change: Change::Abort };
        type Limit<'a> = (&'a str, &'a dyn Fn(&mut HostJob, u64));
        let limits: [Limit<'_>; 9] = [
            ("flows", &|job, more| job.flows = vec![plain(3); MOST_FLOWS + more as usize]),
            ("changes", &|job, more| job.changes = vec![change; MOST_FLOWS + more as usize]),
            ("addresses", &|job, more| job.addresses = vec![job.addresses[0]; 64 + more as usize]),
            ("host", &|job, more| job.host = 2 + more as u16),
            ("message", &|job, more| job.flows[0].bytes = MOST_MESSAGE + more),
            ("endless flow", &|job, more| job.flows[0] = Flow { bytes: MOST_ENDLESS + more, ..endless }),
            ("sender", &|job, more| job.flows[0].src = 2 + more as u16),
            ("receiver", &|job, more| job.flows[0].dst = 2 + more as u16),
            ("bins", &|job, more| {
                // Those that this host sends have their bins elsewhere.
                let away = Flow { src: 0, dst: 1, ..endless };
                job.flows = vec![endless, endless, away];
                job.bins = Some(Bins { every_ns: 1, count: (MOST_BINS / 2 + more) as u32 });
            }),
        ];
        for (what, change) in limits {
            for more in [0, 1] {
                let mut job = host_job(0, vec![plain(3)]);
                change(&mut job, more);
                assert_eq!(check(&job).is_ok(), more == 0, "{what}, {more} more");
            }
        }
        let itself = Flow { src: 1, dst: 1, ..plain(3) };
        assert!(check(&host_job(0, vec![itself])).is_err());
        assert_eq!(check(&host_job(0, vec![Flow { bytes: 1, ..plain(3) }])), Ok(()));
    }

    #[test]
    fn a_report_may_be_as_long_as_what_its_host_does_for_each_flow() {
        let of = |flow: Flow| {
            let mut job = host_job(0, vec![flow]);
            job.bins = Some(Bins { every_ns: 1, count: 10 });
            longest_report(&job) - BESIDES
        };
        let flow = |(src, dst), kind| Flow { src, dst, kind, ..plain(3) };
        assert_eq!(of(flow((0, 1), FlowKind::Message)), 2_600);
        assert_eq!(of(flow((0, 1), FlowKind::Endless)), 2_600);
        assert_eq!(of(flow((1, 0), FlowKind::Message)), 128);
        assert_eq!(of(flow((1, 0), FlowKind::Endless)), 64 + 10 * 24);
        assert_eq!(of(flow((1, 2), FlowKind::Message)), 0);
        // The flow asks for a class once, and reports its end. Each deferral asks again.
        let mut job = host_job(0, vec![plain(3)]);
        assert_eq!(most_calls(&job), 0);
        job.scheme.admission = Some(crate::admission_job::tests::aequitas());
        let asked = most_calls(&job);
        assert_eq!(longest_report(&job) - BESIDES, 2_600 + 400 * asked as usize);
        if let Some(admission) = &mut job.scheme.admission {
            admission.on_downgrade =
                vec![Reaction::Ignore, Reaction::Defer { by_ps: 1, times: 7 }, Reaction::Ignore];
        }
        assert_eq!(most_calls(&job), 9);
        // However large the job, a report has a limit.
        let mut job = host_job(0, vec![flow((1, 0), FlowKind::Endless)]);
        job.bins = Some(Bins { every_ns: 1, count: u32::MAX });
        assert_eq!(longest_report(&job) as u64, LONGEST_REPORT);
    }
}
