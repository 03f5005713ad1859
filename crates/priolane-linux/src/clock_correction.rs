//! The conversion of times by drifting clocks to a single clock.

use crate::clock::Drift;
use crate::job::HostReport;

/// Removes the drift of each host's clock from the times of the host. A host without a drift has the reference clock.
/// Then all times are shifted alike, so that none is before 0. Times that a sender measured by its own clock, up to the
/// acknowledgement, keep their length.
pub(crate) fn correct(reports: &mut [HostReport], drift: impl Fn(u16) -> Option<Drift>) {
    let right = |host: u16, at_ns: u64| match drift(host) {
        Some(drift) => drift.corrected(at_ns),
        None => i64::try_from(at_ns).unwrap_or(i64::MAX),
    };
    let times = reports.iter().flat_map(|report| {
        let all =
            report.sent.iter().map(|sent| sent.at_ns).chain(report.arrived.iter().map(|came| came.at_ns));
        all.map(|at_ns| right(report.host, at_ns))
    });
    let first = times.min().unwrap_or(0).min(0);
    let moved = |host, at_ns| u64::try_from(right(host, at_ns).saturating_sub(first)).unwrap_or(0);
    for HostReport { host, sent, arrived, .. } in reports {
        for message in sent {
            let at_ns = moved(*host, message.at_ns);
            message.acked_ns = message.acked_ns.map(|acked| at_ns + acked.saturating_sub(message.at_ns));
            message.at_ns = at_ns;
        }
        for message in arrived {
            message.at_ns = moved(*host, message.at_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockOffset;
    use crate::job::{ArrivedMessage, SentMessage};

    #[test]
    fn times_of_a_drifting_receiver_are_put_right_and_stay_in_order() {
        let sent = |id, at_ns| SentMessage {
            id,
            at_ns,
            admitted: None,
            acked_ns: Some(at_ns + 900),
            retransmits: 0,
            timeouts: 0,
            changes: 0,
            failed: None,
        };
        let came = |id, at_ns| ArrivedMessage { id, at_ns, missing: 0 };
        let mut sender = HostReport::empty(0);
        sender.sent = vec![sent(0, 0), sent(1, 8_000_000_000)];
        let mut receiver = HostReport::empty(1);
        receiver.arrived = vec![came(0, 700_000), came(1, 8_001_500_000)];
        let offset = |offset_ns| ClockOffset { offset_ns, uncertainty_ns: 1 };
        // The receiver's clock gains 1 ms in 10 s, and 0.2 ms before the start.
        let drift = Drift {
            offsets: [offset(0), offset(1_000_000)],
            measured_ns: [0, 10_000_000_000],
            start_ns: 2_000_000_000,
        };
        let mut reports = [sender, receiver];
        correct(&mut reports, |host| (host == 1).then_some(drift));
        let [sender, receiver] = &reports;
        let fct = |place: usize| receiver.arrived[place].at_ns - sender.sent[place].at_ns;
        // 0.7 ms less 0.2 ms and the drift in 0.7 ms; 1.5 ms less 1 ms and the drift in 1.5 ms.
        assert_eq!((fct(0), fct(1)), (499_930, 499_850));
        assert_eq!(sender.sent[1].acked_ns, Some(sender.sent[1].at_ns + 900));
        assert_eq!(sender.sent[0].at_ns, 0);
        // A message that a slow clock saw before the start moves all.
        let mut slow = [1, 0].map(HostReport::empty);
        slow[0].sent = vec![sent(0, 0)];
        slow[1].arrived = vec![came(0, 1_000_000)];
        correct(&mut slow, |host| (host == 1).then_some(drift));
        assert_eq!((slow[0].sent[0].at_ns, slow[1].arrived[0].at_ns), (0, 1_200_000));
        // Messages that all come later stay where they are.
        let mut late = [HostReport::empty(0)];
        late[0].sent = vec![sent(0, 5)];
        correct(&mut late, |_| None);
        assert_eq!(late[0].sent[0].at_ns, 5);
    }
}
