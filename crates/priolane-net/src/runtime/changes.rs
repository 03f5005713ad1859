//! Changes of peers, and their effect on messages.

use priolane_core::endpoint::{Command, Control, Endpoint, Rejection};
use priolane_core::ids::{FlowId, HostId};

use super::driver::Driver;
use crate::error::SendError;
use crate::message::Request;
use crate::peers::{Change, Reason, Speaks};

/// The messages to a host that fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failing {
    /// The messages that are under way.
    Open,
    /// All messages.
    All,
}

impl<E: Endpoint> Driver<E> {
    /// Applies all changes of peers.
    pub(super) fn apply_changes(&mut self) {
        for change in self.peers.changes() {
            self.apply(change);
        }
    }

    /// Applies a change of a peer.
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Known(host) => self.to_fill.push(host),
            Change::Restarted(host) => {
                self.fail(host, Failing::Open, |request| SendError::Restarted(request.to));
                self.forget(host);
                self.to_fill.push(host);
            }
            Change::NoAnswer(host) => {
                let after = self.setup.patience.greeting;
                self.fail(host, Failing::All, |request| SendError::NoAnswer { peer: request.to, after });
                self.forget(host);
            }
            Change::Silent(host) => {
                let after = self.setup.patience.silence;
                self.fail(host, Failing::All, |request| SendError::Silent { peer: request.to, after });
                self.forget(host);
            }
            Change::Refused(host, reason, speaks) => self.refused(host, reason, speaks),
            Change::Evicted(host) => {
                self.fail(host, Failing::All, |_| SendError::Peers);
                self.forget(host);
            }
            Change::RandomFailure(host) => {
                self.fail(host, Failing::All, |request| SendError::Random(request.to));
                self.forget(host);
            }
            Change::Aborted(src, flow) => self.end_received((src, FlowId(flow))),
            Change::Rejected(host, flow, why) => self.rejected(host, FlowId(flow), why),
        }
    }

    fn refused(&mut self, host: HostId, reason: Reason, speaks: Speaks) {
        let show = |speaks: Speaks| format!("{} with an MTU of {}", speaks.name(), speaks.mtu);
        let (theirs, ours) = (show(speaks), show(self.setup.speaks));
        self.fail(host, Failing::All, |request| match reason {
            Reason::Speech => {
                SendError::Mismatch { peer: request.to, theirs: theirs.clone(), ours: ours.clone() }
            }
            Reason::NoRoom => SendError::PeerFull(request.to),
            Reason::NeedsKey => SendError::NeedsKey(request.to),
        });
        self.forget(host);
    }

    /// Fails messages to a host.
    fn fail(&mut self, host: HostId, which: Failing, error: impl Fn(&Request) -> SendError) {
        let fails =
            self.flows.iter().filter(|(_, flow)| flow.host == host && (flow.open || which == Failing::All));
        let failed: Vec<(FlowId, SendError)> =
            fails.map(|(&flow, message)| (flow, error(&message.request))).collect();
        for (flow, error) in failed {
            self.finish(flow, Err(error));
        }
    }

    /// Makes the endpoint forget a host, and drops its partial messages.
    fn forget(&mut self, host: HostId) {
        self.stats.dropped += u64::from(self.assembly.messages_of(host));
        let now = self.now();
        self.assembly.forget(host, now);
        self.call(now, |endpoint, cx| endpoint.control(cx, Command::ForgetHost(host)));
        let done = self.now();
        self.peers.note_forgotten(done.since(now), done);
    }

    /// Fails a message of this host that the receiver does not accept.
    fn rejected(&mut self, host: HostId, flow: FlowId, why: Rejection) {
        let Some(message) = self.flows.get(&flow).filter(|message| message.host == host && message.open)
        else {
            return;
        };
        let to = message.request.to;
        let error = match why {
            Rejection::TooLong => SendError::TooLongForPeer(to),
            Rejection::GivenUp => SendError::GivenUp(to),
        };
        let now = self.given;
        self.call(now, |endpoint, cx| endpoint.control(cx, Command::Flow(flow, Control::Abort)));
        self.finish(flow, Err(error));
    }

    /// Ends the reception of a message, and drops the part that has arrived.
    fn end_received(&mut self, (src, flow): (HostId, FlowId)) {
        let now = self.given;
        self.call(now, |endpoint, cx| endpoint.control(cx, Command::EndReceived { src, flow }));
        self.drop_partial(src, flow);
    }

    /// Gives up a message of another host, and tells that host.
    pub(super) fn give_up(&mut self, (src, flow): (HostId, FlowId), why: Rejection) {
        self.end_received((src, flow));
        self.peers.tell_rejected(src, flow.0, why);
    }

    /// Handles a message that the endpoint does not receive.
    pub(super) fn reject(&mut self, (src, flow): (HostId, FlowId), why: Rejection) {
        self.stats.too_long += u64::from(why == Rejection::TooLong);
        self.drop_partial(src, flow);
        self.peers.tell_rejected(src, flow.0, why);
    }
}
