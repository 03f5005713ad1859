//! Commands that make a testbed, as lists of arguments.

mod ip;
mod tc;
mod words;

use std::path::Path;

use crate::network::Node;
use crate::plan::{Step, TestbedPlan};

/// Returns the steps that make a testbed, in order. Files are written below `directory`. `program` with the arguments
/// `switch`, that directory and a number must be the process of a switch in user space.
pub fn steps(plan: &TestbedPlan, directory: &Path, program: &[String]) -> Vec<Step> {
    let mut steps = ip::namespaces(plan);
    steps.extend(ip::cables(plan));
    steps.extend(ip::addresses(plan));
    steps.extend(ip::routes(plan));
    steps.extend(tc::ports(plan, directory));
    steps.extend(plan.network.user_switches().map(|switch| {
        let namespace = plan.namespace(Node::Switch(switch));
        let mut argv = ["ip", "netns", "exec", &namespace].map(str::to_owned).to_vec();
        argv.extend_from_slice(program);
        argv.extend(["switch".to_owned(), directory.display().to_string(), switch.to_string()]);
        Step::Switch(switch, argv)
    }));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{lines, star};
    use crate::port::Port;
    use crate::user_port::UserPort;

    fn program() -> [String; 1] {
        ["prl".to_owned()]
    }

    #[test]
    fn a_switch_in_user_space_is_a_process_and_no_router() {
        let all = lines(&steps(&star(2, UserPort::fifo()), Path::new("/d"), &program()));
        assert_eq!(all.last().unwrap(), "ip netns exec prl-t-s0 prl switch /d 0 &");
        let of_switch = |line: &&String| line.contains("prl-t-s0 ");
        assert!(all.iter().any(|line| line.contains("exec prl-t-s0 sysctl -eqw net.ipv4.ip_forward=0 ")));
        let neighbour = "neighbour replace 169.254.77.1 lladdr 02:70:6c:02:00:00 dev eth0 nud permanent";
        assert!(all.contains(&format!("ip -n prl-t-h0 {neighbour}")), "{all:#?}");
        for word in ["tc -n", "route add 10.", "neighbour replace 10."] {
            assert!(!all.iter().filter(of_switch).any(|line| line.contains(word)), "{word} in {all:#?}");
        }
    }

    #[test]
    fn a_star_of_two_hosts_takes_three_namespaces_and_these_commands() {
        let plan = star(2, Port::fifo());
        assert_eq!(plan.namespaces(), ["prl-t-h0", "prl-t-h1", "prl-t-s0"]);
        let all = lines(&steps(&plan, Path::new("/d"), &program()));
        assert_eq!(all[0], "ip netns add prl-t-h0");
        let link = "ip link add name eth0 address 02:70:6c:00:00:00 mtu 1500 netns prl-t-h0 type veth \
                    peer name p0 address 02:70:6c:01:00:00 mtu 1500 netns prl-t-s0";
        assert!(all.contains(&link.to_owned()), "{all:#?}");
        let route = "ip -n prl-t-s0 route add 10.77.0.2/32 dev p1";
        assert!(all.contains(&route.to_owned()), "{all:#?}");
    }
}
