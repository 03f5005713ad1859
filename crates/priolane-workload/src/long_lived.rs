//! Long-lived traffic: flows between stated pairs of hosts, without end or of one size.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::HostId;
use priolane_core::rng::Purpose;
use priolane_core::units::{Span, Time};

use super::{AppError, MAX_FLOWS, Maker, Pair, Site, group_stream, jittered, known, size_ok};

/// Flows from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairFlows {
    /// The sending host, of the group or not.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// How many flows.
    pub count: u32,
    /// Their entropy, where the topology pins paths by it; `None` draws it as for any flow.
    pub path: Option<u16>,
}

/// Which hosts of the group send to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each to each host it may send to but itself.
    AllPairs,
    /// Each to each host it may send to in another rack.
    OtherRacks,
    /// The i-th of the group in its rack to the i-th in the rack 1 + (i mod (racks - 1)) further on, around: each
    /// rack of n hosts sends n / (racks - 1) flows to each other one, and each host receives one.
    OneOtherRack,
    /// The i-th of the group, as listed, to the (i + n)-th of the group, around.
    Shift(u32),
    /// Each but the receiver itself to this host.
    ToOne(HostId),
}

/// Who sends to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// As listed.
    Listed(Vec<PairFlows>),
    /// By a rule, so many flows for each pair.
    ByRule {
        /// The rule.
        rule: Rule,
        /// Flows for each pair.
        count: u32,
    },
}

/// Flows between stated pairs. `until` of the site does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongLived {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// Payload bytes of each flow; `None` for flows without end.
    pub size: Option<u64>,
    /// When flows start.
    pub start: Time,
    /// How much later than `start` a flow starts at most, evenly.
    pub jitter: Span,
}

impl LongLived {
    pub(super) fn flows(&self, site: &Site) -> Result<FlowList, AppError> {
        size_ok(self.size)?;
        let ruled;
        let pairs = match &self.pairs {
            Pairs::Listed(pairs) => pairs,
            &Pairs::ByRule { rule, count } => {
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
        let (mut maker, mut starts) = (Maker::new(site), group_stream(site, Purpose::Starts));
        let mut flows = FlowList::default();
        for &PairFlows { src, dst, count, path } in pairs {
            if known(site, src)? == known(site, dst)? {
                return Err(AppError::ToItself(src));
            }
            for _ in 0..count {
                let start = jittered(self.start, self.jitter, &mut starts)?;
                let flow = maker.flow(Pair { src, dst }, self.size, start);
                flows.push(FlowSpec { entropy: path.unwrap_or(flow.entropy), ..flow });
            }
        }
        Ok(flows)
    }
}

fn by_rule(site: &Site, rule: Rule, count: u32) -> Result<Vec<PairFlows>, AppError> {
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
        Rule::Shift(by) => {
            let shifted = hosts.iter().cycle().skip(by as usize % hosts.len());
            Ok(hosts.iter().zip(shifted).map(|(&src, &dst)| pair(src, dst)).collect())
        }
        Rule::ToOne(dst) => Ok(hosts.iter().filter(|&&src| src != dst).map(|&src| pair(src, dst)).collect()),
    }
}

fn one_other_rack(site: &Site) -> Result<Vec<(HostId, HostId)>, AppError> {
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
