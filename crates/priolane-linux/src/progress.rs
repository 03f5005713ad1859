//! The progress of endless flows at their receiver, by flow and time bin.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use priolane_net::Meter;

use crate::job::{Bins, FlowKind, FlowProgress, HostJob};
use crate::payload::{WORD, word_at};

/// An endless flow that arrives at this host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Incoming {
    id: u32,
    from: SocketAddr,
}

/// Counts the endless flows of a host as they arrive.
#[derive(Debug)]
pub(crate) struct Progress {
    flows: Vec<Incoming>,
    places: HashMap<(SocketAddr, u32), u32>,
    bins: Option<Bins>,
    start: OnceLock<Instant>,
    /// The number of bytes by flow and bin.
    counts: Vec<AtomicU64>,
}

impl Progress {
    /// Creates counters for the endless flows that arrive at the host of `job`.
    pub(crate) fn new(job: &HostJob) -> Self {
        let endless = job.flows.iter().filter(|flow| flow.dst == job.host && flow.kind == FlowKind::Endless);
        let flows: Vec<Incoming> =
            endless.filter_map(|flow| Some(Incoming { id: flow.id, from: job.socket(flow.src)? })).collect();
        let places = (0..).zip(&flows).map(|(place, flow)| ((flow.from, flow.id), place)).collect();
        let bins = job.bins.map_or(0, |bins| bins.count as usize);
        let counts = (0..flows.len() * bins).map(|_| AtomicU64::new(0)).collect();
        Self { flows, places, bins: job.bins, start: OnceLock::new(), counts }
    }

    /// Sets the instant at which the bins begin. Only the first call has an effect.
    pub(crate) fn start(&self, at: Instant) {
        self.start.get_or_init(|| at);
    }

    /// Returns the bytes that have arrived, by flow, or an empty list if no bins were requested.
    pub(crate) fn report(&self) -> Vec<FlowProgress> {
        let Some(Bins { count, .. }) = self.bins.filter(|bins| bins.count > 0) else { return Vec::new() };
        let of = |(flow, counts): (&Incoming, &[AtomicU64])| FlowProgress {
            id: flow.id,
            bytes: counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
        };
        self.flows.iter().zip(self.counts.chunks(count as usize)).map(of).collect()
    }
}

impl Meter for Progress {
    fn place(&self, from: SocketAddr, offset: u64, payload: &[u8]) -> Option<u32> {
        let word = payload.get(..WORD)?.try_into().ok()?;
        self.places.get(&(from, word_at(offset, word))).copied()
    }

    fn count(&self, place: u32, bytes: u64, at: Instant) {
        let (Some(start), Some(Bins { every_ns, count })) = (self.start.get(), self.bins) else { return };
        let since = u64::try_from(at.saturating_duration_since(*start).as_nanos()).unwrap_or(u64::MAX);
        let bin = since / every_ns.max(1);
        if bin >= u64::from(count) {
            return;
        }
        if let Some(cell) = self.counts.get(place as usize * count as usize + bin as usize) {
            cell.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::host_jobs::tests::{host_job, plain};
    use crate::payload::payload;

    #[expect(clippy::disallowed_methods, reason = "a start that is some instant")]
    fn started(progress: &Progress) -> Instant {
        let start = Instant::now();
        progress.start(start);
        start
    }

    #[test]
    fn endless_flows_are_known_by_any_of_their_packets_and_counted_by_bin() {
        let endless = |id, src| crate::job::Flow { kind: FlowKind::Endless, src, dst: 2, ..plain(id) };
        let whole = crate::job::Flow { src: 0, dst: 2, ..plain(3) };
        let flows = vec![endless(0x0102_0304, 0), endless(5, 1), whole];
        let job = HostJob { bins: Some(Bins { every_ns: 1_000, count: 3 }), ..host_job(2, flows.clone()) };
        let progress = Progress::new(&job);
        let from = |host: u16| job.socket(host).unwrap();
        let bytes = payload(&crate::job::Flow { bytes: 100, ..flows[0] });
        for offset in 0..8 {
            assert_eq!(progress.place(from(0), offset, &bytes[offset as usize..]), Some(0), "{offset}");
        }
        // Of another host, of a message that is received whole, and too short.
        assert_eq!(progress.place(from(1), 0, &bytes), None);
        assert_eq!(progress.place(from(0), 0, &payload(&flows[2])), None);
        assert_eq!(progress.place(from(0), 0, &bytes[..3]), None);
        assert_eq!(progress.place(from(1), 4, &payload(&flows[1])), Some(1));
        let start = started(&progress);
        for (place, bytes, ns) in
            [(0, 7, 0), (0, 5, 999), (0, 3, 1_000), (1, 2, 2_999), (1, 9, 3_000), (0, 9, 3_000)]
        {
            progress.count(place, bytes, start + Duration::from_nanos(ns));
        }
        let expected = [(0x0102_0304, [12, 3, 0]), (5, [0, 0, 2])]
            .map(|(id, bytes)| FlowProgress { id, bytes: bytes.into() });
        assert_eq!(progress.report(), expected);
    }

    #[test]
    fn without_bins_nothing_is_reported() {
        let flow = crate::job::Flow { kind: FlowKind::Endless, src: 0, dst: 1, ..plain(0) };
        let progress = Progress::new(&host_job(1, vec![flow]));
        progress.count(0, 5, started(&progress));
        assert_eq!(progress.report(), []);
    }
}
