//! Query and response: a client queries some servers, each replies, and after all replies the next query follows.
//!
//! ```text
//! request r:  fan_out queries, client -> randomly drawn servers
//! answer:     server -> client, `think` after the query was delivered
//! request r+1: `pause` after the last answer of r was delivered, if that is before the end
//! ```
//!
//! A closed loop, represented as a list of dependent flows. All draws are keyed by client, loop and request, so
//! that runs of different schemes are paired by request. The number of requests is not known beforehand. The list
//! has the number that would be possible without any queueing, and the requests that are never made are not part of
//! the run (docs/assumptions.md#query-bound).

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::keys::{Keys, Words};
use priolane_core::part::Part;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_sim::dependencies::{FlowDependency, Predecessor};
use priolane_source::{InputError, Reader, Sources};

use super::application::Application;
use super::context::{LATEST_START, MAX_FLOWS, Until, WorkloadContext, distinct};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, not_too_late, size_ok};
use super::payload::Payload;
use super::sizes::{NamedSizes, Sizes};
use super::traffic::Traffic;

/// The distribution of pauses between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Pauses {
    /// Exponential, with the pause as the mean.
    Exponential,
    /// Constant.
    Fixed,
}

/// Requests in a closed loop.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "query")]
#[part(
    name = "query",
    summary = "a client queries servers, and queries again when all have answered",
    source = "docs/assumptions.md#query-bound"
)]
pub struct Query {
    /// Payload bytes of a query to one server.
    #[key(required = "query = \"1kB\"", form = Payload)]
    pub query: u64,
    /// Number of servers queried at the same time, at least 1.
    #[key(default = 1, range = "[1, 65535]")]
    pub fan_out: u32,
    /// Distribution of answer sizes, as that of flow sizes in `poisson`.
    #[key(required = "sizes = \"web_search\"", form = NamedSizes)]
    pub sizes: Sizes,
    /// Time from the arrival of a query to the start of its answer.
    #[key(default = Span::ZERO)]
    pub think: Span,
    /// Time from the last answer to the next request.
    #[key(required = "pause = \"1ms\"")]
    pub pause: Span,
    /// The distribution of pauses.
    #[key(default = Pauses::Exponential)]
    pub pauses: Pauses,
    /// Number of concurrent requests of a client: loops, each with independent draws.
    #[key(default = 1, range = "[1, 65535]")]
    pub concurrency: u32,
    /// Number of requests per loop; left out, as many as fit in the run.
    #[key(optional, range = "[1, 50000000]")]
    pub requests: Option<u64>,
    /// When the first pause begins.
    #[key(default = Span::ZERO)]
    pub start: Span,
}

impl Application for Query {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        keys.take("sizes").map_or(Ok(()), |field| self.sizes.open(&field, files))
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        self.requests(site)
    }

    fn is_closed_loop(&self) -> bool {
        true
    }
}

/// The random streams of one loop of a client.
struct Draws {
    pauses: Stream,
    servers: Stream,
    sizes: Stream,
}

impl Draws {
    fn new(site: &WorkloadContext<'_>, client: HostId, round: u32) -> Self {
        let key = u64::from(round) << 48 | u64::from(site.group) << 32 | 1 << 29 | u64::from(client.0);
        let stream = |purpose| Stream::new(site.seed, purpose, key);
        Self {
            pauses: stream(Purpose::Arrivals),
            servers: stream(Purpose::Pairs),
            sizes: stream(Purpose::Sizes),
        }
    }
}

/// The list under construction.
struct List<'a> {
    maker: FlowFactory<'a>,
    traffic: Traffic,
}

impl Query {
    fn requests(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        size_ok(Some(self.query))?;
        let mut servers = distinct(site.to);
        let mut list = List { maker: FlowFactory::new(site), traffic: Traffic::default() };
        for client in distinct(site.hosts) {
            let available = (servers.len() - usize::from(servers.contains(&client))) as u32;
            if self.fan_out == 0 || self.fan_out > available {
                return Err(AppError::FanOut { asked: self.fan_out, available });
            }
            for round in 0..self.concurrency {
                self.loop_of(site, client, (&mut servers, Draws::new(site, client, round)), &mut list)?;
            }
        }
        Ok(list.traffic)
    }

    /// Generates the requests of one loop.
    fn loop_of(
        &self,
        site: &WorkloadContext<'_>,
        client: HostId,
        (servers, mut draws): (&mut [HostId], Draws),
        list: &mut List,
    ) -> Result<(), AppError> {
        let mut last: Vec<FlowId> = Vec::new();
        let mut earliest = Time(self.start.0);
        let (most, until) = match site.until {
            Until::Time(end) => (self.requests.unwrap_or(u64::MAX), end),
            Until::Flows(_) => (1, LATEST_START),
        };
        for _ in 0..most {
            let pause = self.pause(&mut draws.pauses);
            earliest = Time(earliest.0.saturating_add(pause.0));
            if earliest >= until {
                break;
            }
            not_too_late(earliest.0)?;
            if list.traffic.flows.len() + 2 * self.fan_out as usize > MAX_FLOWS as usize {
                return Err(AppError::TooMany);
            }
            let asked = draw(servers, client, self.fan_out as usize, &mut draws.servers);
            let after = Predecessor::flows(last, pause);
            let wait = FlowDependency { flow: FlowId(0), after, until: Some(until) };
            let request = Request { client, servers: asked, earliest, wait };
            (last, earliest) = self.answers(&request, &mut draws.sizes, list);
        }
        Ok(())
    }

    /// Adds a request; returns its answers, and the earliest arrival of the last one.
    fn answers(&self, request: &Request<'_>, sizes: &mut Stream, list: &mut List) -> (Vec<FlowId>, Time) {
        let Request { client, servers, earliest, ref wait } = *request;
        let mut queries = Vec::with_capacity(servers.len());
        for &server in servers {
            let query = list.flow(Pair { src: client, dst: server }, self.query, earliest);
            if !wait.after.is_empty() {
                list.traffic.waits.push(FlowDependency { flow: query, ..wait.clone() });
            }
            queries.push(query);
        }
        let asked = Time(earliest.0.saturating_add(list.maker.site.floor.time(self.query).0));
        let answered = Time(asked.0.saturating_add(self.think.0));
        let mut bytes = 0;
        let mut answers = Vec::with_capacity(servers.len());
        for (&server, query) in servers.iter().zip(queries) {
            let size = self.sizes.law.sample(sizes);
            bytes += size;
            let answer = list.flow(Pair { src: server, dst: client }, size, answered);
            let after = Predecessor::flows([query], self.think);
            let wait = FlowDependency { flow: answer, after, until: None };
            list.traffic.waits.push(wait);
            answers.push(answer);
        }
        (answers, Time(answered.0.saturating_add(list.maker.site.floor.time(bytes).0)))
    }

    fn pause(&self, stream: &mut Stream) -> Span {
        match self.pauses {
            Pauses::Fixed => self.pause,
            Pauses::Exponential => {
                let ps = (stream.exponential(self.pause.as_secs_f64()) * PS_PER_S as f64).round() as u64;
                Span(ps.min(LATEST_START.0 + 1))
            }
        }
    }
}

/// A request of a client to some servers, which starts at `earliest` or when `wait` says.
struct Request<'a> {
    client: HostId,
    servers: &'a [HostId],
    earliest: Time,
    wait: FlowDependency,
}

impl List<'_> {
    fn flow(&mut self, pair: Pair, bytes: u64, start: Time) -> FlowId {
        let id = FlowId(self.traffic.flows.len() as u32);
        let flow = self.maker.flow(pair, Some(bytes), start);
        self.traffic.flows.push(FlowSpec { id, ..flow });
        id
    }
}

/// Draws the first `count` hosts of a partial shuffle of all hosts but `client`. The hosts are sorted first, so
/// that the result does not depend on earlier draws.
fn draw<'a>(hosts: &'a mut [HostId], client: HostId, count: usize, stream: &mut Stream) -> &'a [HostId] {
    hosts.sort_unstable();
    let mut left = hosts.len();
    if let Ok(place) = hosts.binary_search(&client) {
        left -= 1;
        hosts[place..].rotate_left(1);
    }
    for i in 0..count {
        hosts.swap(i, i + stream.below((left - i) as u64) as usize);
    }
    &hosts[..count]
}
