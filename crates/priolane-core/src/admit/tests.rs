//! Tests common to all policies, and flows and reports for the tests of each.

use super::*;
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::HostId;
use crate::ids::{Class, FlowId};
use crate::rng::Purpose;
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// A flow of host 0 to host `dst` that starts at time zero.
pub(super) fn flow(id: u32, (dst, class): (u16, Class), bytes: u64, allowed: Option<Span>) -> FlowSpec {
    FlowSpec {
        class,
        deadline: allowed.map(|span| Time::ZERO + span),
        ..FlowSpec::new(FlowId(id), (HostId(0), HostId(dst)), Some(bytes))
    }
}

/// The report at the end of a flow of `bytes` bytes that took `elapsed`; `again` bytes were retransmitted.
pub(super) fn done(id: u32, bytes: u64, elapsed: Span, again: u64) -> FlowReport {
    FlowReport {
        flow: FlowId(id),
        bytes,
        remaining: 0,
        rate_bps: 0,
        retransmitted: again,
        retransmits: 0,
        timeouts: 0,
        initial_timeouts: 0,
        spurious: 0,
        rtt: Span::ZERO,
        elapsed,
        class_first: 0,
        class_last: 0,
    }
}

pub(super) fn rng(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Admission, 0)
}

/// Opens a flow and ends it; returns its class.
pub(super) fn live_once(
    policy: &mut dyn Admission,
    spec: &FlowSpec,
    end: &FlowReport,
    rng: &mut Stream,
) -> Class {
    let given = policy.open(spec, spec.start, rng);
    policy.completed(end, spec.start + end.elapsed);
    given
}

#[test]
fn a_notice_is_given_iff_the_level_changed() {
    assert_eq!(Notice::about(1, 2), Some(Notice::Downgraded));
    assert_eq!(Notice::about(1, 0), Some(Notice::Upgraded));
    assert_eq!(Notice::about(1, 1), None);
}

/// A host with packets of 1000 B on a link of 10 Gbit/s.
const SOURCE: Source = Source { mtu: 1000, line: Rate::from_gbps(10) };

#[test]
fn without_a_policy_there_is_nobody_to_ask() {
    assert!(
        Policy::default().part().at_host(&SOURCE).is_none() && Policy::default().part().levels().is_none()
    );
}

#[test]
fn policies_ignore_reports_of_flows_they_do_not_know() {
    let end = done(7, 1000, Span::from_us(1), 0);
    for policy in [aequitas::tests::policy(), pase::tests::policy(), firapam::tests::analytic()] {
        let mut policy = policy.part().at_host(&SOURCE).unwrap();
        let before = policy.account();
        policy.completed(&end, Time(1));
        assert_eq!(policy.report(&end, Time(1)), None);
        policy.aborted(FlowId(7));
        policy.open(&flow(7, (1, 0), 1000, None), Time::ZERO, &mut rng(1));
        policy.aborted(FlowId(7));
        policy.completed(&end, Time(1));
        assert_eq!(policy.account(), before, "an aborted flow teaches nothing");
    }
}
