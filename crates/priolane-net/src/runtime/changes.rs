//! What becomes of other hosts, and of messages with them.

use priolane_core::endpoint::{Command, Endpoint};
use priolane_core::ids::{FlowId, HostId};

use super::driver::Driver;
use crate::error::SendError;
use crate::message::Request;
use crate::peers::{Change, Reason, Speaks};

/// Which messages to a host fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failing {
    /// Those that were under way.
    Open,
    /// All.
    All,
}

impl<E: Endpoint> Driver<E> {
    /// Applies what has become of other hosts.
    pub(super) fn apply_changes(&mut self) {
        for change in self.peers.changes() {
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
                Change::Evicted(host) => self.forget(host),
                Change::Aborted(src, flow) => {
                    let (flow, now) = (FlowId(flow), self.given);
                    self.call(now, |endpoint, cx| endpoint.control(cx, Command::EndReceived { src, flow }));
                    self.drop_partial(src, flow);
                }
            }
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

    /// Messages to a host fail.
    fn fail(&mut self, host: HostId, which: Failing, error: impl Fn(&Request) -> SendError) {
        let fails =
            self.flows.iter().filter(|(_, flow)| flow.host == host && (flow.open || which == Failing::All));
        let failed: Vec<(FlowId, SendError)> =
            fails.map(|(&flow, message)| (flow, error(&message.request))).collect();
        for (flow, error) in failed {
            self.finish(flow, Err(error));
        }
    }

    /// The endpoint forgets a host, and what is here of its messages is dropped.
    fn forget(&mut self, host: HostId) {
        self.stats.dropped += u64::from(self.assembly.messages_of(host));
        self.assembly.forget(host);
        let now = self.given;
        self.call(now, |endpoint, cx| endpoint.control(cx, Command::ForgetHost(host)));
    }

    /// The endpoint forgets a message of another host, and what is here of it is dropped.
    pub(super) fn forget_received(&mut self, src: HostId, flow: FlowId) {
        let now = self.given;
        if self.endpoint.is_receiving(src, flow) {
            self.call(now, |endpoint, cx| endpoint.control(cx, Command::ForgetReceived { src, flow }));
        }
        self.drop_partial(src, flow);
    }
}
