//! The NIC between endpoint and socket: the link rate, and for token transports the queue that limits tokens.
//!
//! UDP over a veth or the loopback interface never pushes back, so a host must limit itself to the rate of its line. The
//! line makes up for late wake-ups up to [`CATCH_UP`], so that they do not reduce the rate.
//!
//! ```text
//! without a queue   the free line asks the endpoint
//! with one          all that the endpoint has joins the queue, which drops tokens; the free line asks the queue
//! ```

use priolane_core::endpoint::Tx;
use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Frame, Packet};
use priolane_core::port::{Buffer, Discipline, PortContext, PortFactory, Returns, SortBy, TokenGroupSpec};
use priolane_core::units::{Rate, Span, Time};

/// The number of packets in the queue above which the endpoint is not asked for more.
const ROOM: u32 = 4_096;

/// The next action of the line.
#[derive(Debug)]
pub(crate) enum Next<B> {
    /// The line sends this packet.
    Send(Packet<B>),
    /// The line is not free, or has nothing to send, before this instant.
    NotBefore(Time),
    /// The line has nothing to send.
    Idle,
}

/// The token queue of a token transport.
type Queue<B> = <TokenGroupSpec as PortFactory>::Port<Packet<B>>;

/// The line of a host.
#[derive(Debug)]
pub(crate) struct Nic<B: Body> {
    line: Rate,
    /// The time at which the line is free.
    free_at: Time,
    tokens: Option<Queue<B>>,
    dropped: u64,
}

/// The largest backlog of transmission time that the line makes up for at once after a pause in which it had something
/// to send.
pub(crate) const CATCH_UP: Span = Span::from_us(300);

impl<B: Body> Nic<B> {
    /// Creates a line of this rate, with a token queue if `port` is given. Hosts wake up late where switches do not:
    /// the queue holds, and sends at once, as many tokens as the line requests in [`CATCH_UP`], and tokens do not
    /// expire in it.
    pub(crate) fn new(line: Rate, port: Option<TokenGroupSpec>) -> Self {
        let tokens = port.map(|port| {
            let slot = u64::from(port.token_wire) + u64::from(port.data_wire);
            let late = line.bytes_in(CATCH_UP).div_ceil(slot.max(1)) as u32;
            let (depth, burst) = (port.depth.max(late), port.burst.max(late));
            let spec = TokenGroupSpec { depth, burst, expiry: None, detour: None, ..port };
            let context = PortContext {
                link: LinkId(0),
                rate: line,
                buffer: Buffer::UNLIMITED,
                sort_by: SortBy::Class,
                frame: Frame::ETHERNET,
                returns: Returns::Dropped,
                seed: 0,
            };
            spec.build(&context)
        });
        Self { line, free_at: Time::ZERO, tokens, dropped: 0 }
    }

    /// Returns the number of tokens that found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the next action of the line at `now`; `poll` asks the endpoint for a packet.
    pub(crate) fn next(&mut self, now: Time, mut poll: impl FnMut() -> Tx<B>) -> Next<B> {
        if self.tokens.is_some() {
            return self.next_queued(now, poll);
        }
        if self.free_at > now {
            return Next::NotBefore(self.free_at);
        }
        match poll() {
            Tx::Send { packet, .. } => {
                self.charge(now, &packet);
                Next::Send(packet)
            }
            Tx::NotBefore(at) => Next::NotBefore(at),
            Tx::Idle => Next::Idle,
        }
    }

    fn next_queued(&mut self, now: Time, mut poll: impl FnMut() -> Tx<B>) -> Next<B> {
        let Some(queue) = &mut self.tokens else { return Next::Idle };
        let mut next = None;
        while queue.packets() < ROOM {
            match poll() {
                Tx::Send { packet, .. } => {
                    if !queue.enqueue(now, &packet, &mut ()).is_kept() {
                        self.dropped += 1;
                    }
                }
                Tx::NotBefore(at) => {
                    next = Some(at);
                    break;
                }
                Tx::Idle => break,
            }
        }
        if self.free_at > now {
            return Next::NotBefore(self.free_at);
        }
        if let Some(&packet) = queue.dequeue(now, &mut ()) {
            self.charge(now, &packet);
            return Next::Send(packet);
        }
        let eligible = queue.next_eligible_time();
        match [eligible, next].into_iter().flatten().min() {
            Some(at) => Next::NotBefore(at),
            None => Next::Idle,
        }
    }

    fn charge(&mut self, now: Time, packet: &Packet<B>) {
        let earliest = Time(now.0.saturating_sub(CATCH_UP.0));
        self.free_at = self.free_at.max(earliest) + self.line.serialize(u64::from(packet.header.wire));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::ids::FlowId;
    use priolane_core::packet::{Header, Kind};

    const LINE: Rate = Rate::from_gbps(1);

    fn packet(kind: Kind, wire: u16, flow: u32) -> Packet<()> {
        Packet { header: Header { kind, wire, flow: FlowId(flow), ..Header::default() }, body: () }
    }

    /// Returns the bytes by kind that a line with a constant backlog sends in the 10 ms from `start` on, polled at
    /// intervals of `every`.
    fn sent(nic: &mut Nic<()>, start: Time, every: Span, mut give: impl FnMut() -> Packet<()>) -> [u64; 2] {
        let (mut now, mut bytes) = (start, [0; 2]);
        while now.since(start) < Span::from_ms(10) {
            let mut left = 200;
            while let Next::Send(packet) = nic.next(now, || {
                left -= 1;
                if left > 0 { Tx::Send { packet: give(), id: None } } else { Tx::Idle }
            }) {
                bytes[usize::from(packet.header.kind == Kind::Credit)] += u64::from(packet.header.wire);
            }
            now += every;
        }
        bytes
    }

    #[test]
    fn late_wake_ups_cost_no_rate_as_far_as_they_are_made_up() {
        // 1 Gbps for 10 ms: 1.25 MB.
        for (every, least, most) in
            [(1, 1_240_000, 1_290_000), (250, 1_200_000, 1_290_000), (1_000, 0, 420_000)]
        {
            let mut nic = Nic::new(LINE, None);
            let [data, _] =
                sent(&mut nic, Time(1 << 50), Span::from_us(every), || packet(Kind::Data, 1_538, 0));
            assert!((least..most).contains(&data), "{data} bytes, each {every} us");
        }
    }

    #[test]
    fn tokens_keep_to_their_share_and_what_is_too_much_is_dropped() {
        let mut nic = Nic::new(LINE, Some(TokenGroupSpec::TOP));
        let [_, tokens] = sent(&mut nic, Time(1 << 50), Span::from_us(50), || packet(Kind::Credit, 84, 0));
        // 84 of 84 + 1538 bytes: 5.18 % of 1.25 MB, and a burst of 300 us.
        assert!((64_000..68_000).contains(&tokens), "{tokens} bytes of tokens");
        assert!(nic.dropped() > 1_000, "{} dropped", nic.dropped());
    }

    #[test]
    fn signals_and_data_pass_tokens_that_wait() {
        let mut nic = Nic::new(LINE, Some(TokenGroupSpec::TOP));
        let mut packets: Vec<_> = (0..500).map(|_| packet(Kind::Credit, 84, 0)).collect();
        packets.push(packet(Kind::Signal, 84, 7));
        let mut packets = packets.into_iter();
        let first = nic
            .next(Time(1 << 50), || packets.next().map_or(Tx::Idle, |packet| Tx::Send { packet, id: None }));
        let Next::Send(first) = first else { panic!("{first:?}") };
        assert_eq!((first.header.kind, first.header.flow), (Kind::Signal, FlowId(7)));
    }

    #[test]
    fn as_many_tokens_wait_as_the_line_calls_for_in_the_time_that_is_made_up() {
        // 300 us of 1 Gbit/s are 37,500 bytes: 24 tokens with their data, 84 + 1538 bytes each, rounded up.
        let least = TokenGroupSpec { depth: 2, burst: 1, ..TokenGroupSpec::TOP };
        let most = TokenGroupSpec { depth: 40, burst: 30, ..TokenGroupSpec::TOP };
        for (port, depth, burst) in [(least, 24, 24), (most, 40, 30)] {
            let mut nic = Nic::new(LINE, Some(port));
            let mut tokens = (0..500).map(|_| packet(Kind::Credit, 84, 0));
            let mut at_once = 0;
            while let Next::Send(_) = nic.next(Time(1 << 50), || {
                tokens.next().map_or(Tx::Idle, |packet| Tx::Send { packet, id: None })
            }) {
                at_once += 1;
            }
            assert_eq!((nic.dropped(), at_once), (500 - depth, burst));
        }
    }

    #[test]
    fn a_line_with_nothing_to_send_says_when_it_has() {
        let mut nic = Nic::<()>::new(LINE, None);
        assert!(matches!(nic.next(Time(9), || Tx::Idle), Next::Idle));
        assert!(matches!(nic.next(Time(9), || Tx::NotBefore(Time(11))), Next::NotBefore(Time(11))));
    }
}
