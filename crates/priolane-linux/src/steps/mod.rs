//! Commands that make a testbed, as lists of arguments.

mod ip;
mod tc;
mod words;

use std::path::Path;

use crate::plan::{Plan, Step};

/// What makes a testbed, in order. Files go below `directory`.
pub fn steps(plan: &Plan, directory: &Path) -> Vec<Step> {
    let mut steps = ip::namespaces(plan);
    steps.extend(ip::cables(plan));
    steps.extend(ip::addresses(plan));
    steps.extend(ip::routes(plan));
    steps.extend(tc::ports(plan, directory));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{lines, star};
    use crate::port::Port;

    #[test]
    fn a_star_of_two_hosts_takes_three_namespaces_and_these_commands() {
        let plan = star(2, Port::fifo());
        assert_eq!(plan.namespaces(), ["prl-t-h0", "prl-t-h1", "prl-t-s0"]);
        let all = lines(&steps(&plan, Path::new("/d")));
        assert_eq!(all[0], "ip netns add prl-t-h0");
        let link = "ip link add name eth0 address 02:70:6c:00:00:00 mtu 1500 netns prl-t-h0 type veth \
                    peer name p0 address 02:70:6c:01:00:00 mtu 1500 netns prl-t-s0";
        assert!(all.contains(&link.to_owned()), "{all:#?}");
        let route = "ip -n prl-t-s0 route add 10.77.0.2/32 dev p1";
        assert!(all.contains(&route.to_owned()), "{all:#?}");
    }
}
