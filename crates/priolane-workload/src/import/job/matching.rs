//! The receive of each message.
//!
//! Messages between two ranks with one tag are received in the order in which they are sent, both in the order of the
//! file. A receive from any rank or with any tag takes the first message left over, in the order of the file.

use std::collections::{BTreeMap, VecDeque};

use super::op::{Job, Kind, PerOp, Place};

/// Returns the message of each receive, and counts what is not matched.
pub(super) fn matched(job: &mut Job) -> PerOp<Option<Place>> {
    let mut message = PerOp::new(job, None);
    let mut sent: BTreeMap<(u32, u32, u32), VecDeque<Place>> = BTreeMap::new();
    let mut messages = 0;
    for place in job.places() {
        if let Kind::Send { to, tag, .. } = job.op(place).kind {
            sent.entry((to, place.rank, tag)).or_default().push_back(place);
            messages += 1;
        }
    }
    let (mut open, mut any, mut found, mut unequal) = (Vec::new(), 0, 0, 0);
    let mut take = |place: Place, send: Option<Place>, bytes: u64| match send {
        Some(send) => {
            *message.of(place) = Some(send);
            found += 1;
            unequal +=
                u64::from(!matches!(job.op(send).kind, Kind::Send { bytes: sent, .. } if sent == bytes));
            true
        }
        None => false,
    };
    let mut unmatched = 0;
    for place in job.places() {
        let Kind::Receive { bytes, from, tag } = job.op(place).kind else { continue };
        let (Some(from), Some(tag)) = (from, tag) else {
            open.push((place, from, tag, bytes));
            continue;
        };
        let send = sent.get_mut(&(place.rank, from, tag)).and_then(VecDeque::pop_front);
        unmatched += u64::from(!take(place, send, bytes));
    }
    for (place, from, tag, bytes) in open {
        any += 1;
        let rank = place.rank;
        let of_rank = sent.range_mut((rank, 0, 0)..=(rank, u32::MAX, u32::MAX));
        let fits = |&(_, source, number): &(u32, u32, u32)| {
            from.is_none_or(|from| from == source) && tag.is_none_or(|tag| tag == number)
        };
        let mut queues = of_rank.filter(|(key, queue)| fits(key) && !queue.is_empty());
        let send = queues.next().and_then(|(_, queue)| queue.pop_front());
        unmatched += u64::from(!take(place, send, bytes));
    }
    job.report.unmatched_receives = unmatched;
    job.report.any_source = any;
    job.report.unequal_bytes = unequal;
    job.report.unmatched_sends = messages - found;
    message
}
