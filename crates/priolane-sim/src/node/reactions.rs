//! What a host does about flows that wait: it sends the news of deliveries, and starts flows when all news is in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use rustc_hash::FxHashMap;

use crate::waits::{News, Wait};

/// The reactions of one host.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    /// Flows that end here, each with one that waits for it; in order once `prepare` was called.
    followers: Vec<(FlowId, Follower)>,
    /// Flows that start here and wait for news still.
    waiting: FxHashMap<FlowId, Waiting>,
    /// Flows that start here at an instant that is known.
    ready: BinaryHeap<Reverse<(Time, FlowId)>>,
    started: Vec<(FlowId, Time)>,
}

/// A flow that waits, somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Follower {
    flow: FlowId,
    source: HostId,
    delay: Span,
}

/// What a flow waits for still.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    news: u32,
    /// Not before this instant, as far as is known.
    release: Time,
    until: Time,
}

/// What an abort finds of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aborted {
    /// It still waited: nobody awaits its end.
    Waiting,
    /// It has started, or would have.
    Awaited,
}

impl Reactions {
    /// A flow starts here after others, not before `start`.
    pub(crate) fn plan(&mut self, wait: &Wait, start: Time) {
        let until = wait.until.unwrap_or(Time::NEVER);
        self.waiting.insert(wait.flow, Waiting { news: wait.after.len() as u32, release: start, until });
    }

    /// `wait` is for `first`, which ends here, and is of a flow of `source`.
    pub(crate) fn follow(&mut self, first: FlowId, wait: &Wait, source: HostId) {
        self.followers.push((first, Follower { flow: wait.flow, source, delay: wait.delay }));
    }

    /// Once all is planned.
    pub(crate) fn prepare(&mut self) {
        self.followers.sort_unstable();
    }

    /// The news to send when `flow` is delivered at `now`.
    pub(crate) fn news(&self, flow: FlowId, now: Time) -> impl Iterator<Item = News> {
        let from = self.followers.partition_point(|&(first, _)| first < flow);
        let of_flow = self.followers[from..].iter().take_while(move |&&(first, _)| first == flow);
        of_flow.map(move |&(_, Follower { flow, source, delay })| News { to: source, flow, at: now + delay })
    }

    /// News is on its way here; when the flow will start, if that is known now.
    pub(crate) fn hear(&mut self, news: &News) -> Option<Time> {
        let waiting = self.waiting.get_mut(&news.flow)?;
        waiting.news -= 1;
        waiting.release = waiting.release.max(news.at);
        let Waiting { news: left, release, until } = *waiting;
        if left > 0 {
            return None;
        }
        self.waiting.remove(&news.flow);
        if release >= until {
            return None;
        }
        self.ready.push(Reverse((release, news.flow)));
        Some(release)
    }

    /// The next flow that starts, and when.
    pub(crate) fn next(&self) -> Option<(Time, FlowId)> {
        self.ready.peek().map(|&Reverse(next)| next)
    }

    /// The next flow starts.
    pub(crate) fn start_next(&mut self) {
        if let Some(Reverse((at, flow))) = self.ready.pop() {
            self.started.push((flow, at));
        }
    }

    /// `flow` shall not start any more.
    pub(crate) fn abort(&mut self, flow: FlowId) -> Aborted {
        if self.waiting.remove(&flow).is_some() {
            return Aborted::Waiting;
        }
        self.ready.retain(|&Reverse((_, ready))| ready != flow);
        Aborted::Awaited
    }

    /// Flows that started here, and when.
    pub(crate) fn started(&self) -> &[(FlowId, Time)] {
        &self.started
    }
}
