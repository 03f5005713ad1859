//! The commands for namespaces, veth pairs, addresses and routes.

use crate::network::{Cable, Node};
use crate::plan::{Step, TestbedPlan};

use super::words::run;

/// The next hop of every route. No node has this address, but each end of a cable maps it to the hardware address of
/// its neighbour.
const GATEWAY: &str = "169.254.77.1";

/// Returns the commands that make namespaces and set their kernel parameters: switches forward, IPv6 is off, and
/// answers may take another path.
pub(crate) fn namespaces(plan: &TestbedPlan) -> Vec<Step> {
    let mut steps = Vec::new();
    for node in plan.network.nodes() {
        let name = plan.namespace(node);
        let add = ["ip", "netns", "add", &name].map(str::to_owned).to_vec();
        steps.push(Step::Namespace(name.clone(), add));
        // A switch in user space takes packets from the devices; the kernel is to forward none.
        let forward = u8::from(matches!(node, Node::Switch(switch) if !plan.network.is_user(switch)));
        steps.push(run(&format!(
            "ip netns exec {name} sysctl -eqw net.ipv4.ip_forward={forward} net.ipv4.conf.all.rp_filter=0 \
             net.ipv4.conf.default.rp_filter=0 net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1"
        )));
        steps.push(run(&format!("ip -n {name} link set lo up")));
    }
    steps
}

/// Returns the hardware address of an end of a cable, as `ip` writes it.
fn hardware(cable: usize, end: usize) -> String {
    TestbedPlan::hardware(cable, end).map(|byte| format!("{byte:02x}")).join(":")
}

/// Returns the commands that make a veth pair for each cable.
pub(crate) fn cables(plan: &TestbedPlan) -> Vec<Step> {
    let mtu = plan.mtu;
    let mut steps = Vec::new();
    for (place, Cable { ends, .. }) in plan.network.cables.iter().enumerate() {
        let [(a, here), (b, there)] =
            ends.map(|node| (TestbedPlan::device(node, place), plan.namespace(node)));
        let [first, second] = [0, 1].map(|end| hardware(place, end));
        steps.push(run(&format!(
            "ip link add name {a} address {first} mtu {mtu} netns {here} type veth \
             peer name {b} address {second} mtu {mtu} netns {there}"
        )));
    }
    steps
}

/// Returns the commands that set the addresses of hosts and activate devices.
pub(crate) fn addresses(plan: &TestbedPlan) -> Vec<Step> {
    let mut steps = Vec::new();
    for (place, Cable { ends, .. }) in plan.network.cables.iter().enumerate() {
        for node in *ends {
            let (name, device) = (plan.namespace(node), TestbedPlan::device(node, place));
            if let Node::Host(host) = node {
                steps.push(run(&format!(
                    "ip -n {name} address add {}/32 dev {device}",
                    TestbedPlan::address(host)
                )));
            }
            steps.push(run(&format!("ip -n {name} link set {device} up")));
        }
    }
    steps
}

/// Returns the commands that add routes and neighbours.
pub(crate) fn routes(plan: &TestbedPlan) -> Vec<Step> {
    let mut steps = Vec::new();
    let routes = plan.network.routes();
    for (place, Cable { ends, .. }) in plan.network.cables.iter().enumerate() {
        for end in 0..2 {
            let (node, neighbour) = (ends[end], ends[1 - end]);
            if matches!(node, Node::Switch(switch) if plan.network.is_user(switch)) {
                continue;
            }
            let (name, device) = (plan.namespace(node), TestbedPlan::device(node, place));
            let next = match neighbour {
                Node::Host(host) => TestbedPlan::address(host).to_string(),
                Node::Switch(_) => GATEWAY.to_owned(),
            };
            // What is addressed to no device here is read by a switch in user space, and dropped at once by the kernel beside it.
            let to = match neighbour {
                Node::Switch(switch) if plan.network.is_user(switch) => 2,
                Node::Switch(_) | Node::Host(_) => 1 - end,
            };
            let hardware = hardware(place, to);
            steps.push(run(&format!(
                "ip -n {name} neighbour replace {next} lladdr {hardware} dev {device} nud permanent"
            )));
            if matches!(node, Node::Host(_)) {
                steps.push(run(&format!("ip -n {name} route add default via {next} dev {device} onlink")));
            }
        }
    }
    for (switch, to) in routes.iter().enumerate() {
        if plan.network.is_user(switch as u16) {
            continue;
        }
        let node = Node::Switch(switch as u16);
        let name = plan.namespace(node);
        for (host, &cable) in to.iter().enumerate() {
            let (address, device) = (TestbedPlan::address(host as u16), TestbedPlan::device(node, cable));
            let direct = plan.network.cables[cable].ends.contains(&Node::Host(host as u16));
            let via = if direct { String::new() } else { format!("via {GATEWAY} ") };
            let onlink = if direct { "" } else { " onlink" };
            steps.push(run(&format!("ip -n {name} route add {address}/32 {via}dev {device}{onlink}")));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Line, Network};
    use crate::plan::tests::{lines, star};
    use crate::port::Port;

    #[test]
    fn hosts_send_to_their_switch_whatever_the_address() {
        let all = lines(&routes(&star(2, Port::fifo())));
        let expected = [
            "ip -n prl-t-h0 neighbour replace 169.254.77.1 lladdr 02:70:6c:01:00:00 dev eth0 nud permanent",
            "ip -n prl-t-h0 route add default via 169.254.77.1 dev eth0 onlink",
            "ip -n prl-t-s0 neighbour replace 10.77.0.1 lladdr 02:70:6c:00:00:00 dev p0 nud permanent",
        ];
        assert_eq!(all[..3], expected);
    }

    #[test]
    fn leaves_route_to_hosts_of_other_leaves_over_spines() {
        let line = Line { rate_bps: 1_000_000, delay_ns: 0, port: Port::fifo().into() };
        let plan =
            TestbedPlan { network: Network::leaf_spine([2, 2, 1], &line, &line), ..star(2, Port::fifo()) };
        let all = lines(&routes(&plan));
        // Host 1 is at leaf 1. Cables 2 and 3 lead from leaf 0 to the spines; the number of the host chooses the second.
        for route in [
            "ip -n prl-t-s0 route add 10.77.0.1/32 dev p0",
            "ip -n prl-t-s0 route add 10.77.0.2/32 via 169.254.77.1 dev p3 onlink",
            "ip -n prl-t-s3 route add 10.77.0.2/32 via 169.254.77.1 dev p5 onlink",
            "ip -n prl-t-s1 route add 10.77.0.2/32 dev p1",
        ] {
            assert!(all.contains(&route.to_owned()), "{route} is not in {all:#?}");
        }
    }

    #[test]
    fn switches_of_the_kernel_forward_and_hosts_do_not_and_answers_may_come_another_way() {
        let all = lines(&namespaces(&star(2, Port::fifo())));
        let expected = "sysctl -eqw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
                        net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1";
        assert!(all.contains(&format!("ip netns exec prl-t-s0 {expected}")), "{all:#?}");
        let host = expected.replace("ip_forward=1", "ip_forward=0");
        assert!(all.contains(&format!("ip netns exec prl-t-h1 {host}")), "{all:#?}");
    }
}
