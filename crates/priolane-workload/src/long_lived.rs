//! Long-lived traffic: flows between given pairs of hosts, without end or of one size.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::keys::{
    Bounds, Form, InTable, KeyConflict, KeyError, KeyValue, Keys, Schema, Tables, Value, WrittenValue,
};
use priolane_core::part::Part;
use priolane_core::rng::Purpose;

use super::application::Application;
use super::context::{MAX_FLOWS, WorkloadContext, known};
use super::error::AppError;
use super::flow_factory::{FlowFactory, Pair, group_stream, size_ok};
use super::payload::{PayloadOrEndless, Starts};
use super::traffic::{StatedPath, Traffic};

/// Flows from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "pair", check = Self::check)]
pub struct PairFlows {
    /// The sending host, in the group or not.
    #[key(required = "src = 0")]
    pub src: HostId,
    /// The receiving host.
    #[key(required = "dst = 1")]
    pub dst: HostId,
    /// Number of flows.
    #[key(default = 1, range = "[1, 1000000]")]
    pub count: u32,
    /// Entropy of the flows if the topology pins paths by it; `None` draws it as for any flow.
    #[key(optional, range = "[0, 65535]")]
    pub path: Option<u16>,
}

impl PairFlows {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.src == self.dst {
            return Err(KeyConflict::new("the flow goes from a host to itself", "two different hosts"));
        }
        Ok(())
    }
}

/// The rule that pairs the hosts of the group with destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(tag = "rule")]
pub enum Rule {
    /// Each host to each host it may send to, except itself.
    AllPairs,
    /// Each host to each host it may send to in another rack.
    OtherRacks,
    /// The i-th host of the group in its rack to the i-th host in the rack 1 + (i mod (racks - 1)) positions later,
    /// cyclically: each rack of n hosts sends n / (racks - 1) flows to each other rack, and each host receives one.
    OneOtherRack,
    /// The i-th host of the group, as listed, to the (i + n)-th host of the group, cyclically.
    Shift(Shift),
    /// Each host but the receiver itself to one host.
    ToOne(ToOne),
}

/// The distance of the rule `shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "shift")]
pub struct Shift {
    /// Number of positions in the list of hosts.
    #[key(required = "by = 1", range = "[1, 65535]")]
    pub by: u32,
}

/// The destination of the rule `to_one`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "to_one")]
pub struct ToOne {
    /// The destination host.
    #[key(required = "host = 0")]
    pub host: HostId,
}

/// Pairs defined by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "ruled")]
pub struct RulePairs {
    /// The rule.
    #[keys(flatten)]
    pub rule: Rule,
    /// Number of flows per pair.
    #[key(default = 1, range = "[1, 1000000]")]
    pub count: u32,
}

/// The pairs of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Listed explicitly.
    Listed(Vec<PairFlows>),
    /// Defined by a rule.
    ByRule(RulePairs),
}

impl KeyValue for Pairs {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Table(_) => InTable::read(value, bounds).map(Self::ByRule),
            _ => Tables::read(value, bounds).map(Self::Listed),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Listed(pairs) => Tables::write(pairs),
            Self::ByRule(ruled) => InTable::write(ruled),
        }
    }

    fn schema() -> Schema {
        let ruled = <InTable as Form<RulePairs>>::schema();
        Schema::AnyOf(vec![<Tables as Form<Vec<PairFlows>>>::schema(), ruled])
    }
}

/// Flows between given pairs; `until` is ignored.
#[derive(Clone, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "long_lived")]
#[part(
    name = "long_lived",
    summary = "flows between given pairs of hosts, endless or of one size",
    source = "docs/experiments.md"
)]
pub struct LongLived {
    /// The pairs of hosts.
    #[key(required = "pairs = [{ src = 0, dst = 1 }] or { rule = \"all_pairs\" }")]
    pub pairs: Pairs,
    /// Payload bytes of each flow; `"endless"` for flows without end.
    #[key(required = "size = \"1MB\" or size = \"endless\"", form = PayloadOrEndless, group = "size")]
    pub size: Option<u64>,
    /// The times at which flows start.
    #[keys(flatten)]
    pub starts: Starts,
}

impl Application for LongLived {
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        let stated = |(place, pair): (usize, &PairFlows)| {
            Some(StatedPath { src: pair.src, dst: pair.dst, path: pair.path?, place })
        };
        let paths = self.listed().iter().enumerate().filter_map(stated).collect();
        Ok(Traffic { paths, ..Traffic::independent(self.flows(site)?) })
    }

    fn states_paths(&self) -> bool {
        self.listed().iter().any(|pair| pair.path.is_some())
    }

    fn path_place(&self, place: usize, _: u64) -> (&'static str, String) {
        ("pairs", format!("pair {place}"))
    }
}

impl LongLived {
    /// Returns the listed pairs.
    fn listed(&self) -> &[PairFlows] {
        match &self.pairs {
            Pairs::Listed(pairs) => pairs,
            Pairs::ByRule(_) => &[],
        }
    }

    fn flows(&self, site: &WorkloadContext<'_>) -> Result<FlowList, AppError> {
        size_ok(self.size)?;
        let ruled;
        let pairs = match &self.pairs {
            Pairs::Listed(pairs) => pairs,
            &Pairs::ByRule(RulePairs { rule, count }) => {
                ruled = by_rule(site, rule, count)?;
                &ruled
            }
        };
        let total: u64 = pairs.iter().map(|pair| u64::from(pair.count)).sum();
        match total {
            0 => return Err(AppError::Empty),
            _ if total > u64::from(MAX_FLOWS) => return Err(AppError::TooMany),
            _ => {}
        }
        let (mut maker, mut starts) = (FlowFactory::new(site), group_stream(site, Purpose::Starts));
        let mut flows = FlowList::default();
        for &PairFlows { src, dst, count, path } in pairs {
            if known(site, src)? == known(site, dst)? {
                return Err(AppError::ToItself(src));
            }
            for _ in 0..count {
                let start = self.starts.draw(&mut starts)?;
                let flow = maker.flow(Pair { src, dst }, self.size, start);
                flows.push(FlowSpec { entropy: path.unwrap_or(flow.entropy), ..flow });
            }
        }
        Ok(flows)
    }
}

fn by_rule(site: &WorkloadContext<'_>, rule: Rule, count: u32) -> Result<Vec<PairFlows>, AppError> {
    let pair = |src, dst| PairFlows { src, dst, count, path: None };
    let rack = |host: HostId| site.rack[host.index()];
    let hosts = site.hosts;
    let square = |keep: &dyn Fn(HostId, HostId) -> bool| -> Result<Vec<PairFlows>, AppError> {
        if hosts.len() * site.to.len() > MAX_FLOWS as usize {
            return Err(AppError::TooMany);
        }
        let all = hosts.iter().flat_map(|&src| site.to.iter().map(move |&dst| (src, dst)));
        Ok(all.filter(|&(src, dst)| keep(src, dst)).map(|(src, dst)| pair(src, dst)).collect())
    };
    match rule {
        Rule::AllPairs => square(&|src, dst| src != dst),
        Rule::OtherRacks => square(&|src, dst| rack(src) != rack(dst)),
        Rule::OneOtherRack => {
            one_other_rack(site).map(|all| all.into_iter().map(|(s, d)| pair(s, d)).collect())
        }
        Rule::Shift(Shift { by }) => {
            let shifted = hosts.iter().cycle().skip(by as usize % hosts.len());
            Ok(hosts.iter().zip(shifted).map(|(&src, &dst)| pair(src, dst)).collect())
        }
        Rule::ToOne(ToOne { host: dst }) => {
            Ok(hosts.iter().filter(|&&src| src != dst).map(|&src| pair(src, dst)).collect())
        }
    }
}

fn one_other_rack(site: &WorkloadContext<'_>) -> Result<Vec<(HostId, HostId)>, AppError> {
    let mut racks: BTreeMap<u32, Vec<HostId>> = BTreeMap::new();
    for &host in site.hosts {
        racks.entry(site.rack[host.index()]).or_default().push(host);
    }
    let racks: Vec<Vec<HostId>> = racks.into_values().collect();
    if racks.len() < 2 || racks.iter().any(|hosts| hosts.len() != racks[0].len()) {
        return Err(AppError::UnevenRacks);
    }
    let others = racks.len() - 1;
    let pair = |(rack, i): (usize, usize)| {
        let to = (rack + 1 + i % others) % racks.len();
        (racks[rack][i], racks[to][i])
    };
    let places = (0..racks.len()).flat_map(|rack| (0..racks[0].len()).map(move |i| (rack, i)));
    Ok(places.map(pair).collect())
}
