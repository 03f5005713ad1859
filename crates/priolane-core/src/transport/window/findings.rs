//! Timeouts and windows of the window transport that do not go together with paths and queues.

use super::config::{Config, Handshake};
use crate::finding::{Finding, LosslessFacts, NetworkFacts, PathFacts};
use crate::quantity::{about_bytes, about_bytes_up, about_span, show_rate};
use crate::transport::QueueLimit;
use crate::units::Span;

impl Config {
    /// Returns which of its settings do not go together on a network.
    pub(in crate::transport) fn findings(
        &self,
        network: &NetworkFacts<'_>,
        queues: QueueLimit,
    ) -> Vec<Finding> {
        let timeouts = self.longest_timeout(network).or_else(|| self.first_timeout(network));
        let timeouts = timeouts.or_else(|| match queues {
            QueueLimit::Losses => self.timeout_and_queue(network),
            QueueLimit::Signals => None,
        });
        [timeouts, self.ceiling(network), self.burst(network)].into_iter().flatten().collect()
    }

    /// A timeout that never exceeds the round trip of the empty path expires for every packet.
    fn longest_timeout(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let longest = self.max_rto.max(self.min_rto);
        let (path, severity) = network.worst(|path| longest <= path.path.data.round_trip)?;
        let round_trip = path.path.data.round_trip;
        let what = format!(
            "the retransmission timeout is at most {}, but on {} the reply to a full packet takes {} without any \
             queue: every packet is sent again before its reply can arrive",
            about_span(longest),
            path.name(),
            about_span(round_trip)
        );
        let fix = format!(
            "a max_rto above {}, such as {:?}",
            about_span(round_trip),
            about_span(round_trip.times(4))
        );
        Some(Finding::new(severity, "max_rto", what, fix))
    }

    /// A first timeout below the round trip of the empty path expires for every flow.
    fn first_timeout(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let first = self.initial_rto.max(self.min_rto);
        let takes = |path: &PathFacts| match self.handshake {
            Handshake::OneRtt => path.path.control.round_trip,
            Handshake::None | Handshake::Reuse => path.path.data.round_trip,
        };
        let (path, _) = network.worst(|path| first <= takes(path))?;
        let what = format!(
            "the first timeout of a flow is {}, but on {} a reply takes {} without any queue: the first packet of \
             each flow is sent again although none is lost, and the window falls to one packet",
            about_span(first),
            path.name(),
            about_span(takes(path))
        );
        let fix = format!(
            "initial_rto = {:?}, twice the longest empty round trip",
            about_span(takes(path).times(2))
        );
        Some(Finding::warning("initial_rto", what, fix))
    }

    /// A first timeout below the round trip through one full queue expires for every flow that starts behind others.
    fn timeout_and_queue(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let first = self.initial_rto.max(self.min_rto);
        let waits = |path: &PathFacts| {
            let wait = match network.lossless {
                None => path.full_queue(&network.frame)?,
                Some(LosslessFacts { memory, reserved }) => {
                    path.bottleneck?.rate.serialize(memory.saturating_sub(reserved))
                }
            };
            Some(Span(path.path.data.round_trip.0.saturating_add(wait.0)))
        };
        let (path, _) = network.worst(|path| waits(path).is_some_and(|waits| first < waits))?;
        let waits = waits(path)?;
        let behind = match network.lossless {
            None => "a full queue",
            Some(_) => "the full memory of a switch, while its class is paused,",
        };
        let what = format!(
            "flows fill queues until they lose packets, and the first timeout of a flow is {}, but on {} a packet \
             behind {behind} is answered after {}: flows that start behind others send their first packet again \
             although none is lost",
            about_span(first),
            path.name(),
            about_span(waits)
        );
        let fix = format!("initial_rto = {:?}, or less room in queues", about_span(waits.times(2)));
        Some(Finding::warning("initial_rto", what, fix))
    }

    /// A ceiling of the window below the bandwidth-delay product leaves the path idle.
    fn ceiling(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let most = self.max_window?;
        let (path, _) = network.worst(|path| most < path.path.bdp())?;
        let (bdp, rate) = (path.path.bdp(), path.path.rate);
        let what = format!(
            "a window of at most {} is below the {} that fill {} at {}: a flow alone uses {:.0} % of the line",
            about_bytes(most),
            about_bytes(bdp),
            path.name(),
            show_rate(rate),
            100.0 * most as f64 / bdp as f64
        );
        Some(Finding::warning("max_window", what, format!("max_window = {:?}", about_bytes_up(bdp))))
    }

    /// A first window that arrives faster than the bottleneck sends, and does not fit in front of it.
    fn burst(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let frame = &network.frame;
        let first = frame.stream_wire(self.first_window());
        let excess = |path: &PathFacts| {
            let room = path.bottleneck?.room(frame)?;
            let kept =
                u128::from(first) * u128::from(path.line.bps() - path.path.rate.bps().min(path.line.bps()));
            let queued = u64::try_from(kept / u128::from(path.line.bps())).unwrap_or(u64::MAX);
            (queued > room).then_some((queued, room))
        };
        let (path, _) = network.worst(|path| excess(path).is_some())?;
        let (queued, room) = excess(path)?;
        let what = format!(
            "the first window of a flow leaves its host at {} and queues {} in front of a link of {}, where {} have \
             room: a flow loses packets at its start even if it is alone",
            show_rate(path.line),
            about_bytes(queued),
            show_rate(path.path.rate),
            about_bytes(room)
        );
        Some(Finding::warning("init_window", what, "a smaller init_window, or a larger buffer"))
    }
}
