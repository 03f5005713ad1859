//! Sets deadlines that depend on a rate: the time that a flow takes at that rate, or at its share of it (PACCP §V-C).
//!
//! ```text
//! deadline = start + max(at_least, size / (rate / n))
//! n   1, or with split = "active" the flows that the host sends when the flow starts, the flow itself counted
//! ```
//!
//! The number of active flows depends on the speed of other flows, so these deadlines are known only after the run. A
//! deadline reflects the state when the flow started. See docs/assumptions.md#paccp-deadline.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use priolane_core::flows::FlowList;
use priolane_core::units::Time;
use priolane_sim::records::FlowRecords;

use crate::experiment::{AtRate, Split};

/// Sets the deadlines of `flows`, sorted by start, whose groups have a rule.
pub(super) fn set(flows: &mut FlowList, records: &FlowRecords, rules: &[Option<AtRate>]) {
    let mut active: BTreeMap<u16, BinaryHeap<Reverse<Time>>> = BTreeMap::new();
    let mut records = records.iter();
    flows.edit_all(|flow| {
        let sent = active.entry(flow.src.0).or_default();
        while sent.peek().is_some_and(|&Reverse(end)| end <= flow.start) {
            sent.pop();
        }
        let took = records.next().and_then(|record| record.fct_acked.or(record.fct));
        sent.push(Reverse(took.map_or(Time::NEVER, |took| flow.start + took)));
        let Some(Some(rule)) = rules.get(usize::from(flow.group)) else { return };
        let Some(bytes) = flow.size else { return };
        let parts = match rule.split {
            Split::None => 1,
            Split::Active => sent.len() as u64,
        };
        let time = rule.rate.serialize(bytes.saturating_mul(parts)).max(rule.at_least);
        flow.deadline = Some(flow.start + time);
    });
}

#[cfg(test)]
mod tests {
    use priolane_core::endpoint::FlowSpec;
    use priolane_core::ids::{FlowId, HostId};
    use priolane_core::units::{Rate, Span};

    use priolane_sim::outcome::FlowRecord;

    use super::*;

    fn flow(id: u32, start_us: u64, bytes: u64) -> FlowSpec {
        FlowSpec {
            start: Time::ZERO + Span::from_us(start_us),
            ..FlowSpec::new(FlowId(id), (HostId(0), HostId(1)), Some(bytes))
        }
    }

    #[test]
    fn active_flows_share_the_rate_of_a_deadline() {
        // 1 MB at 8 Gbps takes 1 ms. The second flow starts while the first is active, the third when it has just
        // ended.
        let four = [flow(0, 0, 1_000_000), flow(1, 500, 1_000_000), flow(2, 700, 1_000), flow(3, 2_000, 10)];
        let mut flows = FlowList::from_iter(four);
        let took = |us| FlowRecord { fct_acked: Some(Span::from_us(us)), ..FlowRecord::default() };
        let records = FlowRecords::from_iter([took(700), took(1_300), took(100), took(1)]);
        let rule = AtRate { rate: Rate::from_gbps(8), split: Split::Active, at_least: Span::from_us(3) };
        set(&mut flows, &records, &[Some(rule)]);
        let spans: Vec<Span> = flows.iter().map(|f| f.deadline.unwrap().since(f.start)).collect();
        assert_eq!(spans, [1_000, 2_000, 3, 3].map(Span::from_us));
        set(&mut flows, &records, &[Some(AtRate { split: Split::None, ..rule })]);
        assert_eq!(flows.at(1).deadline.unwrap().since(flows.start(1)), Span::from_us(1_000));
    }
}
