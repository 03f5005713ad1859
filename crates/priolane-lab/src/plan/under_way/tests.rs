use std::path::Path;

use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;
use priolane_rounds::rounds;

use super::*;
use crate::plan::{self, Options};

#[test]
fn the_probability_of_waiting_is_that_of_erlang() {
    // One server is busy with the probability of its load.
    for load in [0.1, 0.5, 0.9] {
        assert!((erlang_wait(1, load) - load).abs() < 1e-12);
    }
    // Three servers by the sum over states of M/M/3: p(n) in proportion to a^n / n!, and a^n / (3! 3^(n - 3)) from 3 on.
    for load in [0.2_f64, 0.7] {
        let offered = 3.0 * load;
        let busy = offered * offered * offered / 6.0 / (1.0 - load);
        let expected = busy / (1.0 + offered + offered * offered / 2.0 + busy);
        assert!((erlang_wait(3, load) - expected).abs() < 1e-12, "{load}");
    }
}

/// The flows under way of the first group by host in a leaf-spine with racks of three hosts, links of 10 Gbit/s, and three
/// links of 15 Gbit/s out of a rack.
fn of_racks(racks: u32, groups: &str) -> Vec<f64> {
    let text = text_of_racks(racks, groups);
    let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let experiment = &points.points[0].experiment;
    let topology = experiment.topology.build().unwrap();
    by_group(experiment, &topology).unwrap().swap_remove(0)
}

fn text_of_racks(racks: u32, groups: &str) -> String {
    format!(
        r#"title = "Racks"
schemes = ["dctcp"]
seeds = 1
time = {{ start = "warm_path", warmup = "1ms", measure = "1ms" }}
topology = {{ kind = "leaf_spine", leaves = {racks}, spines = 3, hosts_per_leaf = 3, host_link = {{ rate = "10Gbps", delay = "1us" }}, fabric_link = {{ rate = "15Gbps", delay = "1us" }} }}
{groups}"#
    )
}

fn group(name: &str, hosts: &str, load: f64) -> String {
    format!(
        "[[group]]\nname = \"{name}\"\nhosts = \"{hosts}\"\nto = \"*\"\napp = \"poisson\"\nsizes = \"web_search\"\n\
             load = {{ of = \"host\", counts = \"wire\", value = {load} }}\n"
    )
}

/// The bytes of an ACK on the wire for each byte of a full packet.
const ACKS: f64 = 84.0 / 1538.0;

#[test]
fn flows_wait_at_both_ends_and_on_the_way_up_and_down() {
    // Each host sends and gets 0.6, and ACKs of what it gets: Sum over links of rho / (1 - rho), as one host waits.
    let load = 0.6 * (1.0 + ACKS);
    let ends = load / (1.0 - load) * (1.0 + 5.0 / 6.0);
    // Three of five others are in the other rack. Links of 15 Gbit/s serve one flow of 10 Gbit/s at a time.
    let away = 0.6;
    let core = away * load * 30.0 / 45.0;
    let fabric = away * 2.0 * core / (1.0 - core) * 10.0 / 15.0;
    let expected = 0.6 * (1.0 + ends + fabric);
    for mean in of_racks(2, &group("all", "*", 0.6)) {
        assert_near(mean, expected);
    }
}

/// The flows under way in all groups together in a network of `lines` of a topology file.
fn in_network(lines: &str, groups: &str) -> Result<f64, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.csv"), lines).unwrap();
    let text = format!(
        "title = \"Hosts\"\nschemes = [\"dctcp\"]\nseeds = 1\n\
             time = {{ start = \"warm_path\", warmup = \"1ms\", measure = \"1ms\" }}\n\
             topology = {{ kind = \"file\", path = \"net.csv\" }}\n{groups}"
    );
    let points = plan::points_of("x.toml", &text, folder.path(), &Options::default());
    let points = points.map_err(|error| error.to_string())?;
    let experiment = &points.points[0].experiment;
    let all = by_group(experiment, &experiment.topology.build().unwrap()).unwrap();
    Ok(all.iter().flatten().sum())
}

/// A switch with hosts h0, h1, ... of these rates.
fn star(gbps: &[u32]) -> String {
    let hosts = gbps.iter().enumerate();
    let lines = hosts.map(|(host, rate)| format!("node,h{host},host\nlink,h{host},s,{rate}Gbps,1us\n"));
    format!("node,s,switch\n{}", lines.collect::<String>())
}

fn to(name: &str, hosts: &str, load: f64, receivers: &str) -> String {
    group(name, hosts, load).replace("to = \"*\"", &format!("to = \"{receivers}\""))
}

fn receivers(hosts: &str) -> String {
    format!("[[group]]\nname = \"receivers\"\nhosts = \"{hosts}\"\napp = \"none\"\n")
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} in place of {expected}");
}

#[test]
fn flows_of_one_sender_are_as_many_in_one_group_as_in_many() {
    let net = star(&[10; 5]);
    let one = in_network(&net, &(to("all", "0-3", 0.2, "receivers") + &receivers("4"))).unwrap();
    let each: String =
        (0..4).map(|host| to(&format!("g{host}"), &host.to_string(), 0.2, "receivers")).collect();
    assert_near(in_network(&net, &(each + &receivers("4"))).unwrap(), one);
    // A host that is named twice sends once.
    let twice = in_network(&net, &(to("all", "0-3,0,2", 0.2, "receivers") + &receivers("4"))).unwrap();
    assert_near(twice, one);
    // Three quarters of what the receiver gets come from others. Each host gets ACKs and sends none.
    assert_near(one, 4.0 * 0.2 * (1.0 + 0.2 / 0.8 + 0.75 * 0.8 / 0.2));
}

#[test]
fn a_receiver_that_is_slower_than_its_sender_is_the_bottleneck() {
    // M/G/1-PS at 0.8 has four flows. The line of 100 Gbit/s has room for ten of them.
    let found =
        in_network(&star(&[100, 10]), &(to("all", "0", 0.08, "receivers") + &receivers("1"))).unwrap();
    assert!((found - 4.0).abs() < 1e-6, "{found}");
}

#[test]
fn links_into_the_rack_of_the_receivers_count_with_their_load() {
    // Two racks of two hosts, which a link of 10 Gbit/s joins by a switch: 0 and 1 send 0.4 each to 2 and 3.
    let lines = "node,a,switch\nnode,b,switch\nnode,top,switch\nlink,a,top,20Gbps,1us\nlink,top,b,10Gbps,1us\n\
                     node,h0,host\nnode,h1,host\nnode,h2,host\nnode,h3,host\nlink,h0,a,10Gbps,1us\n\
                     link,h1,a,10Gbps,1us\nlink,h2,b,10Gbps,1us\nlink,h3,b,10Gbps,1us\n";
    let found = |load| in_network(lines, &(to("all", "0,1", load, "receivers") + &receivers("2,3")));
    let ends = 0.4 / 0.6 * 1.5;
    // Up two flows have a line each: Erlang's probability for two servers at 0.4 each.
    let up = 2.0 * 0.16 / (2.0 * 0.16 + 0.6 * 1.8) / (2.0 * 0.6);
    assert_near(found(0.4).unwrap(), 0.8 * (1.0 + ends + up + 0.8 / 0.2));
    let full = found(0.495).unwrap_err();
    assert!(
        full.contains("the links into rack 1 are offered 0.9900") && full.contains("group all and ACKs"),
        "{full}"
    );
    // ACKs go the other way.
    assert!(found(0.489).is_ok());
}

#[test]
fn runs_begin_with_so_many_flows() {
    let text = text_of_racks(2, &(group("some", "0,1,2", 0.2) + &group("more", "*", 0.4)));
    let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
    let experiment = &points.points[0].experiment;
    let of_seed = |seed| {
        let built = plan::build_at(experiment, "dctcp", seed).unwrap();
        built.scenario.flows.iter().filter(|flow| flow.start == Time::ZERO).count() as f64
    };
    let counts: Vec<f64> = (1..=300).map(of_seed).collect();
    let mean = counts.iter().sum::<f64>() / 300.0;
    let all = by_group(experiment, &experiment.topology.build().unwrap()).unwrap();
    let expected: f64 = all.iter().flatten().sum();
    // Nine geometric numbers: the standard error is below 0.3.
    assert!((mean - expected).abs() < 1.2 && expected > 6.0, "{mean} in place of {expected}");
}

#[test]
fn hosts_that_share_their_lines_fairly_have_nearly_as_many_flows_under_way() {
    for load in [0.5, 0.8] {
        let formula = load * (1.0 + load / (1.0 - load) * (2.0 - 1.0 / 12.0));
        let fair = fairly_shared(12, load, f64::from(rounds(1_000, 30_000) as u32));
        // 1.04 and 1.06 times as many in long simulations.
        assert!((0.85 * formula..1.25 * formula).contains(&fair), "{load}: {fair} in place of {formula}");
    }
}

/// The mean number of flows per host of `hosts` that send to each other at this load with max-min fair shares, in a run of
/// `length` mean transfer times: a simulation of shares, without packets. Sizes are uniform.
fn fairly_shared(hosts: usize, load: f64, length: f64) -> f64 {
    let mut stream = Stream::new(1, Purpose::Sizes, 0);
    let gap = |stream: &mut Stream| -libm::log(1.0 - stream.uniform()) / (hosts as f64 * load);
    let (mut now, mut next, mut sum) = (0.0, gap(&mut stream), 0.0);
    // Source, destination and transfer time left.
    let mut flows: Vec<(usize, usize, f64)> = Vec::new();
    while now < length {
        let rates = max_min(hosts, &flows);
        let ends = flows.iter().zip(&rates).map(|(flow, rate)| flow.2 / rate);
        let step = ends.fold(next - now, f64::min);
        sum += if now > length / 4.0 { step * flows.len() as f64 } else { 0.0 };
        flows.iter_mut().zip(&rates).for_each(|(flow, rate)| flow.2 -= rate * step);
        flows.retain(|flow| flow.2 > 1e-9);
        now += step;
        if now >= next - 1e-12 {
            let from = stream.below(hosts as u64) as usize;
            let to = (from + 1 + stream.below(hosts as u64 - 1) as usize) % hosts;
            flows.push((from, to, 0.2 + 1.6 * stream.uniform()));
            next = now + gap(&mut stream);
        }
    }
    sum / (0.75 * length) / hosts as f64
}

/// Returns the max-min fair rates of flows over the lines of their hosts, which carry 1 each way.
fn max_min(hosts: usize, flows: &[(usize, usize, f64)]) -> Vec<f64> {
    let links = |&(from, to, _): &(usize, usize, f64)| [from, hosts + to];
    let mut rates: Vec<Option<f64>> = vec![None; flows.len()];
    let mut left = vec![1.0_f64; 2 * hosts];
    while rates.iter().any(Option::is_none) {
        let mut open = vec![0_u32; 2 * hosts];
        for (flow, _) in flows.iter().zip(&rates).filter(|(_, rate)| rate.is_none()) {
            links(flow).into_iter().for_each(|link| open[link] += 1);
        }
        let share = |link: usize| left[link] / f64::from(open[link]);
        let full =
            (0..2 * hosts).filter(|&link| open[link] > 0).min_by(|&a, &b| share(a).total_cmp(&share(b)));
        let (full, share) = full.map(|link| (link, share(link))).unwrap();
        for (flow, rate) in flows.iter().zip(&mut rates).filter(|(flow, _)| links(flow).contains(&full)) {
            if rate.replace(rate.unwrap_or(share)).is_none() {
                links(flow).into_iter().for_each(|link| left[link] = (left[link] - share).max(0.0));
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(0.0).max(1e-9)).collect()
}

#[test]
fn flows_of_other_groups_are_waited_for() {
    let groups = group("some", "0,1,2", 0.2) + &group("more", "*", 0.5);
    let means = of_racks(1, &groups);
    // Hosts 0 to 2 send 0.7 and get 0.2 of each other and 0.5 of all; there is one rack.
    let load = 0.7 * (1.0 + ACKS);
    let expected = 0.2 * (1.0 + load / (1.0 - load) * (1.0 + 2.0 / 3.0));
    assert_eq!(means.len(), 3);
    for mean in means {
        assert_near(mean, expected);
    }
}
