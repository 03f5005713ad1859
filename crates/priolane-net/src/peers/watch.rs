//! Hosts that are waited for: greeted again, asked whether they are there, given up.

use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};

use super::message::Message;
use super::session::Session;
use super::table::{Change, PING_AFTER, Peers};

impl Peers {
    pub(super) fn watch(&mut self, host: HostId) {
        self.watched.insert(host);
    }

    /// How many flows to a host are under way, and from it.
    pub(crate) fn set_under_way(&mut self, host: HostId, (sent, received): (u32, u32), now: Time) {
        let Some(peer) = self.get_mut(host) else { return };
        if peer.sending == 0 && sent > 0 {
            // Its silence counts from now on.
            peer.asked_at = now;
            peer.quiet_since = peer.heard.max(now);
            self.next_look = self.next_look.min(now + PING_AFTER);
            self.watch(host);
        }
        if let Some(peer) = self.get_mut(host) {
            (peer.sending, peer.receiving) = (sent, received);
        }
    }

    /// When `look` wants to be called.
    pub(crate) fn next_look(&self) -> Time {
        self.next_look
    }

    /// Greets again, asks who was not heard, and gives up.
    pub(crate) fn look(&mut self, now: Time) {
        if now < self.next_look {
            return;
        }
        self.next_look = Time::NEVER;
        for host in self.watched.clone() {
            let patience = self.patience;
            let Some(peer) = self.get_mut(host) else { continue };
            if let Some(greeting) = &peer.greeting {
                let (began, next) = (greeting.began, greeting.next);
                if now.since(began) >= patience.greeting {
                    self.changes.push(Change::NoAnswer(host));
                    self.remove(host);
                } else if next <= now {
                    self.send_hello(host, now);
                } else {
                    self.next_look = self.next_look.min(next).min(began + patience.greeting);
                }
            } else if peer.sending == 0 {
                self.watched.remove(&host);
            } else {
                self.ask(host, now);
            }
        }
    }

    /// Asks a host now whether it is there, at most once in `PING_AFTER`. Its answer shows whether it was started again.
    pub(crate) fn ping(&mut self, host: HostId, now: Time) {
        let Some(peer) = self.get_mut(host) else { return };
        if peer.pinged_at.is_some_and(|at| now.since(at) < PING_AFTER) {
            return;
        }
        peer.pinged_at = Some(now);
        let address = peer.address;
        if let Some(nonces) = peer.current().map(Session::nonces) {
            self.say(address, Message::Ping(nonces));
        }
    }

    /// Asks a host that was not heard for a while whether it is there.
    pub(super) fn ask(&mut self, host: HostId, now: Time) {
        let silence = self.patience.silence;
        let Some(peer) = self.get_mut(host) else { return };
        let quiet_since = peer.heard.max(peer.quiet_since);
        if now.since(quiet_since) >= silence {
            self.changes.push(Change::Silent(host));
            return self.remove(host);
        }
        let due = peer.asked_at.max(quiet_since) + PING_AFTER;
        if due <= now {
            peer.asked_at = now;
            let address = peer.address;
            if let Some(nonces) = peer.current().map(Session::nonces) {
                self.say(address, Message::Ping(nonces));
            }
        }
        self.next_look = self.next_look.min(due.max(now + Span(1)).max(Time(now.0 + PING_AFTER.0 / 4)));
    }
}
