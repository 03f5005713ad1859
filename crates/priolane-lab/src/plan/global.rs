//! Determines the sizes and load used by threshold solvers: those of one group, or of all groups together.
//!
//! Groups with different traffic form a mixture, weighted by the rate at which they start flows:
//!
//! ```text
//! F(x) = sum_g r_g F_g(x) / sum_g r_g,   r_g = (hosts of g) * (host rate) * load_g / E[bytes of a flow of g]
//! load = sum_g (hosts of g) * (host rate) * load_g / (rate of all their hosts together)
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;

use priolane_core::sizes::SizeDistribution;
use priolane_sim::topology::Topology;
use priolane_workload::{Load, LoadOf, OpenLoop, Sizes, mean_bytes};

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

/// Returns the sizes and load of the group `name`.
pub(super) fn of_group<'a>(
    key: &'static str,
    name: &str,
    experiment: &'a Experiment,
) -> Result<EstimatedTraffic<'a>, Fault> {
    let Some(group) = experiment.group(name) else {
        let names: Vec<&str> = experiment.groups.iter().map(|g| g.name.as_str()).collect();
        let fix = format!("one of the groups {}", names.join(", "));
        return Err(Fault { key: key.into(), what: format!("unknown group {name:?}"), fix });
    };
    let own = group.app.part().open_loop().map(|OpenLoop { sizes, load, .. }| of_one(sizes, *load));
    own.ok_or_else(|| Fault {
        key: key.into(),
        what: format!("group {name:?} has no sizes and load"),
        fix: "a group with the app poisson or on_off".to_owned(),
    })
}

/// Returns the sizes and load of every host, which must be the same.
pub(super) fn of_each<'a>(
    key: &'static str,
    experiment: &'a Experiment,
) -> Result<EstimatedTraffic<'a>, Fault> {
    let all = stated(key, experiment)?;
    let fix = "from = \"global\" or the name of one group, or a controller, with which hosts compute their \
               own thresholds";
    one(&all).ok_or_else(|| Fault {
        key: key.into(),
        what: "the groups differ in sizes or load, and hosts know their own only with a controller"
            .to_owned(),
        fix: fix.to_owned(),
    })
}

/// Returns the sizes and load of all groups together.
pub(super) fn of_all<'a>(
    key: &'static str,
    experiment: &'a Experiment,
    topology: &Topology,
) -> Result<EstimatedTraffic<'a>, Fault> {
    let all = stated(key, experiment)?;
    match one(&all) {
        Some(belief) => Ok(belief),
        None => mix(&all, experiment, topology).map_err(|what| Fault {
            key: key.into(),
            what,
            fix: "from = \"NAME\", the name of one group".to_owned(),
        }),
    }
}

/// A group with its open-loop traffic.
type GroupTraffic<'a> = (&'a Group, &'a OpenLoop);

fn stated<'a>(key: &'static str, experiment: &'a Experiment) -> Result<Vec<GroupTraffic<'a>>, Fault> {
    let own = |group: &'a Group| Some((group, group.app.part().open_loop()?));
    let all: Vec<GroupTraffic<'a>> = experiment.groups.iter().filter_map(own).collect();
    if all.is_empty() {
        let fix = "thresholds in bytes, such as [\"100kB\"]".to_owned();
        return Err(Fault { key: key.into(), what: "no group has sizes and load".to_owned(), fix });
    }
    Ok(all)
}

/// Returns the sizes and load of all groups, if they are equal.
fn one<'a>(all: &[GroupTraffic<'a>]) -> Option<EstimatedTraffic<'a>> {
    let (_, first) = all.first()?;
    let same = |(_, own): &GroupTraffic<'a>| own.sizes == first.sizes && own.load == first.load;
    all.iter().all(same).then(|| of_one(&first.sizes, first.load))
}

fn of_one(sizes: &Sizes, load: Load) -> EstimatedTraffic<'_> {
    EstimatedTraffic {
        law: Cow::Borrowed(&sizes.law),
        name: Cow::Borrowed(&sizes.csv),
        published: sizes.published(),
        load: load.value,
    }
}

fn mix<'a>(
    all: &[GroupTraffic<'a>],
    experiment: &Experiment,
    topology: &Topology,
) -> Result<EstimatedTraffic<'a>, String> {
    let differ = "the groups differ in sizes or load, and";
    let counts = all[0].1.load.counts;
    let (mut parts, mut hosts, mut demand) = (Vec::new(), BTreeSet::new(), 0.0);
    for (group, OpenLoop { sizes, load, .. }) in all {
        if group.active.is_some() {
            return Err(format!("{differ} group {:?} is active only in a part of the run", group.name));
        }
        if load.of != LoadOf::Host || load.counts != counts {
            return Err(format!("{differ} only loads of hosts that count the same bytes can be added"));
        }
        let own = traffic::hosts(experiment, topology, group).map_err(|error| error.what)?;
        let own: BTreeSet<_> = own.into_iter().collect();
        let bits: f64 = own.iter().map(|&h| topology.host_capacity(h).bps() as f64).sum::<f64>() * load.value;
        parts.push((bits / mean_bytes(&sizes.law, counts, &experiment.frame), &sizes.law));
        demand += bits;
        hosts.extend(own);
    }
    let capacity: f64 = hosts.iter().map(|&h| topology.host_capacity(h).bps() as f64).sum();
    let law = SizeDistribution::mixture(&parts)
        .map_err(|error| format!("{differ} their sizes cannot be mixed: {error}"))?;
    let names: BTreeSet<&str> = all.iter().map(|(_, own)| own.sizes.csv.as_str()).collect();
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
