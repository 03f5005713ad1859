//! A random time before each packet that leaves a host, which keeps packets in order (Floyd and Jacobson, On traffic
//! phase effects in packet-switched gateways, 1991; `overhead_` of ns-2).
//!
//! Packets of one size on links of one rate stay in phase for ever: of two flows that overflow a queue, always the same
//! one finds the slot that has just become free. A random time of up to the packet time of the line ends that.
//!
//! ```text
//! the line ends packet i at e_i        arrives, without jitter, at a_i = e_i + delay
//! arrives at                           max(a_i + U_i, previous arrival + 1 ps), U_i uniform in [0, most)
//! ```

use priolane_core::ids::{FlowId, LinkId};
use priolane_core::packet::{Body, Packet};
use priolane_core::rng::{CounterRng, Purpose};
use priolane_core::units::{Span, Time};

use crate::device::event_sink::{ControlSink, EventSink, Ingress, Service};
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::RunError;
use crate::observe::trace::TraceEvent;

/// The random times of a host's line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendJitter {
    rng: CounterRng,
    /// Random times are below this.
    most: Span,
    /// The time at which the previous packet arrives.
    last: Time,
}

impl SendJitter {
    /// Of the host's line `link` in the run with `seed`; none if `most` is zero.
    pub(crate) fn new(seed: u64, link: LinkId, most: Span) -> Self {
        Self { rng: CounterRng::new(seed, Purpose::SendJitter, u64::from(link.0)), most, last: Time::ZERO }
    }

    /// Returns when a packet arrives that would arrive at `at` without jitter.
    ///
    /// Without jitter that is `at`: on one link each packet arrives after the previous one.
    #[inline(always)]
    fn delayed(&mut self, at: Time) -> Time {
        self.last = (at + Span(self.rng.below(at.0, self.most.0))).max(self.last + Span(1));
        self.last
    }
}

/// A sink that delays the packets of a host's line.
pub(crate) struct Jittered<'a, W> {
    pub(crate) jitter: &'a mut SendJitter,
    pub(crate) sink: &'a mut W,
}

impl<B: Body, W: EventSink<B>> EventSink<B> for Jittered<'_, W> {
    const SERVICE: Service = W::SERVICE;

    // Inlined as measured: a call would save registers twice.
    #[inline(always)]
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let at = self.jitter.delayed(at);
        self.sink.emit(to, at, packet, stamp);
    }

    #[inline]
    fn observe<'s>(&mut self, seen: impl FnOnce() -> TraceEvent<'s, B>) {
        self.sink.observe(seen);
    }
}

impl<W: ControlSink> ControlSink for Jittered<'_, W> {
    fn flow_log(&mut self) -> &mut FlowLog {
        self.sink.flow_log()
    }

    fn send_report(&mut self, report: ScheduledReport) {
        self.sink.send_report(report);
    }

    fn send_signal(&mut self, signal: DependencySignal) {
        self.sink.send_signal(signal);
    }

    fn dependent_scheduled(&mut self, flow: FlowId, start: Time) {
        self.sink.dependent_scheduled(flow, start);
    }

    fn flow_done(&mut self, flow: FlowId, at: Time) {
        self.sink.flow_done(flow, at);
    }

    fn violated(&mut self, error: RunError) {
        self.sink.violated(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_times_are_uniform_below_the_most_and_keep_packets_in_order() {
        let most = Span(1_230_400);
        let mut jitter = SendJitter::new(1, LinkId(3), most);
        // Twice the packet time apart: no packet waits for another.
        let added = |at: Time| jitter.delayed(at).since(at).0;
        let times: Vec<u64> = (1..=10_000u64).map(|i| Time(i * 2 * most.0)).map(added).collect();
        assert!(times.iter().all(|&time| time < most.0));
        let mean = times.iter().sum::<u64>() as f64 / 10_000.0;
        // Half of the most, standard deviation 0.29 of it over 100.
        assert!((mean / most.0 as f64 - 0.5).abs() < 0.012, "{mean}");
        let mut last = jitter.last;
        for i in 20_001..30_000u64 {
            let at = Time(i * 2 * most.0 / 40);
            let arrives = jitter.delayed(at.max(Time(20_000 * 2 * most.0)));
            assert!(arrives > last);
            last = arrives;
        }
    }

    #[test]
    fn without_jitter_every_packet_arrives_when_it_would() {
        let mut jitter = SendJitter::new(1, LinkId(3), Span::ZERO);
        for at in [1, 2, 1_000, 1 << 60] {
            assert_eq!(jitter.delayed(Time(at)), Time(at));
        }
    }
}
