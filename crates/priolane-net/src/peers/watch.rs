//! Checks of peers: greetings that are repeated, PINGs to silent peers, and the removal of peers that do not answer.
//!
//! Each of these peers has an instant at which it is checked next. A call checks a bounded number of peers.

use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};

use super::message::SessionMessage;
use super::places::Standing;
use super::table::{Change, PING_AFTER, Peers};

/// The largest number of peers that one call of `look` checks. The rest follow in the next turn of the host's loop.
pub(super) const LOOKS: usize = 64;

impl Peers {
    /// Schedules the next check of a host at `at`, unless one is due before.
    pub(super) fn look_at(&mut self, host: HostId, at: Time) {
        let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::as_mut) else { return };
        if at < peer.look_at {
            self.due.remove(&(peer.look_at, host));
            self.due.insert((at, host));
            peer.look_at = at;
        }
    }

    /// Sets the numbers of flows that are under way to a host and from it.
    pub(crate) fn set_under_way(&mut self, host: HostId, (sent, received): (u32, u32), now: Time) {
        let Some(peer) = self.get_mut(host) else { return };
        let begins = peer.sending == 0 && sent > 0;
        (peer.sending, peer.receiving) = (sent, received);
        if begins {
            // Its silence counts from now on.
            peer.asked_at = now;
            peer.quiet_since = peer.heard.max(now);
            self.look_at(host, now + PING_AFTER);
        }
        self.set_standing(host, now);
    }

    /// Records that a whole message was sent to a host or received from it.
    pub(crate) fn note_exchanged(&mut self, host: HostId, now: Time) {
        if let Some(peer) = self.get_mut(host) {
            peer.exchanged = true;
            self.set_standing(host, now);
        }
    }

    fn set_standing(&mut self, host: HostId, now: Time) {
        let Some(peer) = self.get(host) else { return };
        let standing = match (peer.sending + peer.receiving, peer.exchanged) {
            (0, false) => Standing::Stranger,
            (0, true) => Standing::Served,
            _ => Standing::Busy,
        };
        let ip = peer.address.ip();
        self.places.set(host, ip, standing, now);
    }

    /// Returns the time at which `look` is to be called next.
    pub(crate) fn next_look(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Checks all peers that are due: repeats greetings, sends PINGs to silent peers, and removes peers that do not
    /// answer.
    pub(crate) fn look(&mut self, now: Time) {
        for _ in 0..LOOKS {
            match self.due.first() {
                Some(&(at, host)) if at <= now => {
                    self.due.pop_first();
                    if let Some(peer) = self.get_mut(host) {
                        peer.look_at = Time::NEVER;
                    }
                    self.look_after(host, now);
                }
                _ => return,
            }
        }
    }

    fn look_after(&mut self, host: HostId, now: Time) {
        let patience = self.patience.greeting;
        let Some(peer) = self.get(host) else { return };
        match &peer.greeting {
            Some(greeting) => {
                let (next, end) = (greeting.next, greeting.began + patience);
                if end <= now {
                    self.changes.push(Change::NoAnswer(host));
                    self.remove(host);
                } else if next <= now {
                    self.send_hello(host, now);
                } else {
                    self.look_at(host, next.min(end));
                }
            }
            None if peer.sending > 0 => self.ask(host, now),
            None => {}
        }
    }

    /// Sends a PING to a host now, at most once in [`PING_AFTER`]. The answer shows whether the host was restarted.
    pub(crate) fn ping(&mut self, host: HostId, now: Time) {
        let Some(peer) = self.get_mut(host) else { return };
        if peer.pinged_at.is_some_and(|at| now.since(at) < PING_AFTER) {
            return;
        }
        peer.pinged_at = Some(now);
        let number = peer.ask();
        self.say_in_session(host, SessionMessage::Ping(number));
    }

    /// Sends a PING to a host that has been silent for a while, and removes a host that has been silent for too long.
    fn ask(&mut self, host: HostId, now: Time) {
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
            let number = peer.ask();
            self.say_in_session(host, SessionMessage::Ping(number));
        }
        self.look_at(host, due.max(now + Span(1)).max(Time(now.0 + PING_AFTER.0 / 4)));
    }
}
