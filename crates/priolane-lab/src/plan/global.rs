//! Determines the sizes and load used by threshold solvers: those of one group, or of all groups together.
//!
//! Recorded flows are measured ([`recorded`](super::recorded)) where no group states sizes and load.
//!
//! Groups with different traffic form a mixture, weighted by the rate at which they start flows:
//!
//! ```text
//! F(x) = sum_g r_g F_g(x) / sum_g r_g,   r_g = (hosts of g) * (host rate) * load_g / E[bytes of a flow of g]
//! load = sum_g (hosts of g) * (host rate) * load_g / (rate of all their hosts together)
//! ```

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use priolane_core::sizes::SizeDistribution;
use priolane_sim::topology::Topology;
use priolane_workload::{Counts, Load, LoadOf, OpenLoop, mean_bytes};

use super::recorded::{self, MeasuredTraffic};
use super::traffic;
use crate::experiment::{Experiment, Group};
use crate::scheme::Fault;

/// The traffic for which a solver computes thresholds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EstimatedTraffic<'a> {
    /// Size distribution.
    pub law: Cow<'a, SizeDistribution>,
    /// Its name in messages.
    pub name: Cow<'a, str>,
    /// Name of the shipped table that it equals, if any.
    pub published: Option<&'a str>,
    /// The load.
    pub load: f64,
}

/// Estimates the traffic of an experiment's groups; recorded flows are measured once, when they are first asked for.
#[derive(Debug)]
pub(super) struct TrafficEstimates<'a> {
    experiment: &'a Experiment,
    topology: &'a Topology,
    /// In order of groups.
    measured: Vec<OnceCell<Result<MeasuredTraffic, String>>>,
}

impl<'a> TrafficEstimates<'a> {
    pub(super) fn new(experiment: &'a Experiment, topology: &'a Topology) -> Self {
        let measured = experiment.groups.iter().map(|_| OnceCell::new()).collect();
        Self { experiment, topology, measured }
    }

    /// Returns the sizes and load of the group `name`.
    pub(super) fn of_group(&self, key: &'static str, name: &str) -> Result<EstimatedTraffic<'_>, Fault> {
        let groups = &self.experiment.groups;
        let Some(place) = groups.iter().position(|group| group.name == name) else {
            let names: Vec<&str> = groups.iter().map(|g| g.name.as_str()).collect();
            let fix = format!("one of the groups {}", names.join(", "));
            return Err(Fault { key: key.into(), what: format!("unknown group {name:?}"), fix });
        };
        let own = match GroupTraffic::stated(&groups[place]) {
            Some(own) => Ok(Some(own)),
            None => self.recorded(place),
        };
        let own = own.map_err(|what| Fault { key: key.into(), what, fix: IN_BYTES.to_owned() })?;
        own.map(GroupTraffic::estimated).ok_or_else(|| Fault {
            key: key.into(),
            what: format!("group {name:?} has no sizes and load"),
            fix: "a group with the app poisson, on_off or flows".to_owned(),
        })
    }

    /// Returns the sizes and load of every host, which must be the same.
    pub(super) fn of_each(&self, key: &'static str) -> Result<EstimatedTraffic<'_>, Fault> {
        let fix = "from = \"global\" or the name of one group, or a controller, with which hosts compute \
                   their own thresholds";
        one(self.all(key)?).map_err(|_| Fault {
            key: key.into(),
            what: "the groups differ in sizes or load, and hosts know their own only with a controller"
                .to_owned(),
            fix: fix.to_owned(),
        })
    }

    /// Returns the sizes and load of all groups together.
    pub(super) fn of_all(&self, key: &'static str) -> Result<EstimatedTraffic<'_>, Fault> {
        one(self.all(key)?).or_else(|all| {
            mix(&all, self.experiment, self.topology).map_err(|what| Fault {
                key: key.into(),
                what,
                fix: "from = \"NAME\", the name of one group".to_owned(),
            })
        })
    }

    /// Returns the groups that state sizes and load, or, if none does, those whose flows are recorded.
    fn all(&self, key: &'static str) -> Result<Vec<GroupTraffic<'_>>, Fault> {
        let fault = |what| Fault { key: key.into(), what, fix: IN_BYTES.to_owned() };
        let groups = &self.experiment.groups;
        let mut all: Vec<_> = groups.iter().filter_map(GroupTraffic::stated).collect();
        if all.is_empty() {
            for place in 0..groups.len() {
                all.extend(self.recorded(place).map_err(fault)?);
            }
        }
        if all.is_empty() { Err(fault("no group has sizes and load".to_owned())) } else { Ok(all) }
    }

    /// Returns what is measured of the flows of the group at `place`, if they are recorded.
    fn recorded(&self, place: usize) -> Result<Option<GroupTraffic<'_>>, String> {
        let group = &self.experiment.groups[place];
        if !group.app.part().is_replay() {
            return Ok(None);
        }
        let measured =
            self.measured[place].get_or_init(|| recorded::measure(self.experiment, self.topology, group));
        let measured = measured
            .as_ref()
            .map_err(|why| format!("group {:?} has no sizes and load before the run: {why}", group.name))?;
        let name = Cow::Owned(format!("the flows of group {:?}", group.name));
        let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: measured.load };
        Ok(Some(GroupTraffic { group, law: &measured.law, name, published: None, load }))
    }
}

const IN_BYTES: &str = "thresholds in bytes, such as [\"100kB\"]";

/// A group with its sizes and load, as stated or as measured of recorded flows.
#[derive(Clone, Debug)]
struct GroupTraffic<'a> {
    group: &'a Group,
    law: &'a SizeDistribution,
    name: Cow<'a, str>,
    published: Option<&'a str>,
    load: Load,
}

impl<'a> GroupTraffic<'a> {
    /// Returns what `group` states, if it states both.
    fn stated(group: &'a Group) -> Option<Self> {
        let OpenLoop { sizes, load, .. } = group.app.part().open_loop()?;
        let name = Cow::Borrowed(sizes.csv.as_str());
        Some(Self { group, law: &sizes.law, name, published: sizes.published(), load: *load })
    }

    fn estimated(self) -> EstimatedTraffic<'a> {
        let Self { law, name, published, load, .. } = self;
        EstimatedTraffic { law: Cow::Borrowed(law), name, published, load: load.value }
    }

    /// Returns true if sizes and load are those of `other`.
    fn is_like(&self, other: &Self) -> bool {
        self.law == other.law && self.published == other.published && self.load == other.load
    }
}

/// Returns the sizes and load of all groups if they are equal, and the groups if they are not.
fn one(mut all: Vec<GroupTraffic<'_>>) -> Result<EstimatedTraffic<'_>, Vec<GroupTraffic<'_>>> {
    match all.split_first() {
        Some((first, rest)) if rest.iter().all(|own| own.is_like(first)) => {
            Ok(all.swap_remove(0).estimated())
        }
        _ => Err(all),
    }
}

fn mix<'a>(
    all: &[GroupTraffic<'a>],
    experiment: &Experiment,
    topology: &Topology,
) -> Result<EstimatedTraffic<'a>, String> {
    let differ = "the groups differ in sizes or load, and";
    let counts = all[0].load.counts;
    let (mut parts, mut hosts, mut demand) = (Vec::new(), BTreeSet::new(), 0.0);
    for GroupTraffic { group, law, load, .. } in all {
        if group.flows.active.is_some() {
            return Err(format!("{differ} group {:?} is active only in a part of the run", group.name));
        }
        if load.of != LoadOf::Host || load.counts != counts {
            return Err(format!("{differ} only loads of hosts that count the same bytes can be added"));
        }
        let own = traffic::hosts(experiment, topology, group).map_err(|error| error.what)?;
        let own: BTreeSet<_> = own.into_iter().collect();
        let bits = topology.hosts_capacity(own.iter().copied()) * load.value;
        parts.push((bits / mean_bytes(law, counts, &experiment.frame), *law));
        demand += bits;
        hosts.extend(own);
    }
    let capacity = topology.hosts_capacity(hosts.iter().copied());
    let law = SizeDistribution::mixture(&parts)
        .map_err(|error| format!("{differ} their sizes cannot be mixed: {error}"))?;
    let names: BTreeSet<&str> = all.iter().map(|own| &*own.name).collect();
    let name = names.into_iter().collect::<Vec<_>>().join(" + ");
    Ok(EstimatedTraffic {
        law: Cow::Owned(law),
        name: Cow::Owned(name),
        published: None,
        load: demand / capacity,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::plan::{Options, Plan, from_text};
    use priolane_source::InputError;

    /// Two groups with 1 and 3 of the 4 hosts, at loads of 0.8 and 0.4 of the same links.
    fn planned(scheme: &str, second: &str) -> Result<Plan, InputError> {
        let text = format!(
            r#"title = "Unlike servers"
schemes = ["own"]
time = {{ measure = "1ms" }}
[topology]
kind = "single_switch"
hosts = 4
host_link = {{ rate = "1Gbps", delay = "1us" }}
[[group]]
name = "few"
hosts = "0"
app = "poisson"
sizes = {{ csv = "imc10", interpolation = "step", max = "1460B" }}
load = {{ of = "host", counts = "payload", value = 0.8 }}
[[group]]
name = "many"
hosts = "1-3"
app = "poisson"
sizes = {{ csv = "imc10", interpolation = "step", scale_to_mean = "14600B", max = "14600B" }}
load = {{ of = "host", counts = "payload", value = 0.4 }}
{second}
[scheme.own]
base = "nos2"
{scheme}
"#
        );
        from_text("x.toml", &text, Path::new("."), &Options::default())
    }

    fn bytes(plan: &Plan, row: &str) -> Vec<u64> {
        let scheme = &plan.experiment.scheme["own"];
        let demotion = if row == "assign" { scheme.assign.demotion() } else { scheme.host.part().demotion() };
        demotion.and_then(|demotion| demotion.thresholds.bytes()).unwrap_or_default().to_vec()
    }

    #[test]
    fn unlike_groups_count_by_the_flows_they_start() {
        // Flows of 1460 B from one host at load 0.8 and of 14600 B from three hosts at 0.4: 0.8 / 1460 to 1.2 / 14600,
        // that is 20 to 3. The larger ones are 3/23 = 13.04 % of all flows: the eighth of eight levels begins with
        // them, not before.
        let plan = planned("host.thresholds = { solver = \"equal_split\", from = \"global\" }", "").unwrap();
        assert_eq!(bytes(&plan, "host"), [1460, 1460, 1460, 1460, 1460, 1460, 14_600]);
    }

    #[test]
    fn hosts_know_their_own_sizes_only_with_a_controller() {
        let alone = planned("", "").unwrap_err();
        assert_eq!(alone.key, "scheme.own.host.thresholds");
        assert!(alone.what.contains("controller") && alone.fix.contains("global"), "{alone}");
        let followed = planned("assign.controller = { period = \"50ms\", delay = \"1ms\" }", "").unwrap();
        assert_eq!(bytes(&followed, "host").len(), 7);
    }

    #[test]
    fn groups_that_come_and_go_do_not_mix() {
        let global = "host.thresholds = { solver = \"equal_split\", from = \"global\" }";
        let error = planned(global, "active = { from = \"1us\" }").unwrap_err();
        assert!(
            error.what.contains("\"many\" is active only in a part") && error.fix.contains("NAME"),
            "{error}"
        );
    }

    #[test]
    fn a_cut_tail_moves_the_optimum_and_not_the_flows() {
        let tail = |tail: &str| {
            let global = "host.thresholds = { solver = \"equal_split\", from = \"many\" }";
            let own = format!("{global}\nassign.thresholds = {{ solver = \"opt2\", from = \"many\"{tail} }}");
            planned(&own, "").unwrap()
        };
        let (right, cut) = (tail(""), tail(", tail = { max = \"2kB\" }"));
        assert!(bytes(&cut, "assign")[0] <= 2_000);
        assert_eq!(right.experiment.groups, cut.experiment.groups);
        assert_ne!(right.runs[0].id, cut.runs[0].id);
    }
}
