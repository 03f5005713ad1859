//! The flows under way of each sender in the steady state of `start = "warm_path"`: flows wait at every link of their path.
//!
//! ```text
//! flows of a sender   r (1 / C + W(sender's link) + (1 - 1 / n) W(receiver's link) + p W(up) + p W(down))
//! W of a link         E(m, rho) / (K (1 - rho)), seconds that a bit waits: a link of K bit/s that serves its flows in equal
//!                     shares of at most C each, m = K / C rounded down and at least 1 (M/G/m-PS)
//! E(m, rho)           Erlang's probability of waiting; E(1, rho) = rho
//! ```
//!
//! `r` is what the sender's group offers to its link on the wire, in bit/s, `C` the rate of that link, `n` the number of the
//! group's senders, `p` the probability that a flow leaves the rack, and `rho` the load of a link with all groups that are
//! active at time 0 and one ACK per packet on the way back. W of the receivers' links is a mean over receivers; flows of one
//! sender have waited for each other at its link. Up is a link out of the sender's rack. Down has the mean load of the links
//! out of racks; there is none where these lead to other racks, as in a dumbbell. Links between switches further up do not
//! count.
//!
//! A sum over links is exact where each link serves whole flows, one link after the other, and an upper bound for balanced
//! fair shares (Bonald and Proutiere, "Insensitive bandwidth sharing in data networks", 2003). Here the time that a flow takes
//! at its line rate counts once. With max-min fair shares twelve hosts that send to each other have 1.04 and 1.06 times as
//! many flows under way at loads of 0.5 and 0.8 (docs/assumptions.md#warm-start).

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_sim::topology::Topology;
use priolane_source::InputError;

use super::links::{LinkLoads, Pairs};
use super::tier::Tier;
use super::traffic;
use crate::experiment::{Experiment, Group};

/// Returns the mean number of flows under way of each sender of a group at time 0, by host; 0 for hosts that do not send.
///
/// # Errors
/// Returns an [`InputError`] for `time.start`, without its line, if a link is offered as much as it carries: there is no
/// steady state. Returns another if a group names a host that does not exist.
pub(super) fn by_host(
    experiment: &Experiment,
    topology: &Topology,
    (number, group): (usize, &Group),
) -> Result<Vec<f64>, InputError> {
    let mut means = vec![0.0; topology.hosts as usize];
    let Some((_, reach)) = group.app.part().load() else { return Ok(means) };
    let links = LinkLoads::of(experiment, topology)?;
    let loads = links.at_start(acks(&experiment.frame));
    if let Some(place) = loads.iter().position(|&load| load >= 1.0) {
        return Err(refused(experiment, &links, (place, loads[place])));
    }
    let pairs = Pairs::of(experiment, topology, group, reach)?;
    let Some(line) = pairs.senders().next().map(|host| links.each_bps(host)) else { return Ok(means) };
    let wait = |place: usize| wait(loads[place], links.each_bps(place), line);
    let (receivers, racks) = (links.places(Tier::Receiver).start, links.places(Tier::Core));
    let others = 1.0 - 1.0 / pairs.senders().count() as f64;
    let received = others * mean(pairs.receivers().map(|host| wait(receivers + host)));
    let down = if links.join_racks { 0.0 } else { mean(racks.clone().map(wait)) };
    for sender in pairs.senders() {
        let up = wait(racks.start + topology.rack[sender] as usize);
        let fabric = pairs.leaves(topology, HostId(sender as u16)) * (up + down);
        means[sender] += links.own_bps(number, sender) * (1.0 / line + wait(sender) + received + fabric);
    }
    Ok(means)
}

/// Returns the bits on the wire of the ACK of a full packet over those of the packet.
fn acks(frame: &Frame) -> f64 {
    f64::from(frame.ack_wire()) / f64::from(frame.data_wire(frame.mss()))
}

/// Returns the seconds that a bit waits at a link of this load and rate, both of one link, if flows take at most `line`
/// bit/s each.
fn wait(load: f64, rate_bps: f64, line: f64) -> f64 {
    if load == 0.0 {
        return 0.0;
    }
    let servers = (rate_bps / line).floor().max(1.0);
    erlang_wait(servers as u32, load) / (rate_bps * (1.0 - load))
}

/// Returns Erlang's probability that all of `servers` are busy at a load of `load` each (Erlang C), by the recursion of
/// Erlang's loss formula.
fn erlang_wait(servers: u32, load: f64) -> f64 {
    let offered = f64::from(servers) * load;
    let loss = (1..=servers).fold(1.0, |loss, busy| offered * loss / (f64::from(busy) + offered * loss));
    loss / (1.0 - load * (1.0 - loss))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

fn refused(experiment: &Experiment, links: &LinkLoads, (place, load): (usize, f64)) -> InputError {
    let link = links.link(place);
    let what = match link.tier {
        Tier::Senders | Tier::Receiver => format!("the link of host {}", link.number),
        Tier::Core => format!("the links out of rack {}", link.number),
    };
    let what = format!("{what} is offered {load:.3} of what it carries, with ACKs: there is no steady state");
    traffic::not_startable(experiment, what, "lower loads, or start = \"empty\"")
}

#[cfg(test)]
mod tests {
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
        by_host(experiment, &topology, (0, &experiment.groups[0])).unwrap()
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
            assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} in place of {expected}");
        }
    }

    #[test]
    fn runs_begin_with_so_many_flows() {
        let text = text_of_racks(2, &group("all", "*", 0.6));
        let points = plan::points_of("x.toml", &text, Path::new("."), &Options::default()).unwrap();
        let experiment = &points.points[0].experiment;
        let of_seed = |seed| {
            let built = plan::build_at(experiment, "dctcp", seed).unwrap();
            built.scenario.flows.iter().filter(|flow| flow.start == Time::ZERO).count() as f64
        };
        let counts: Vec<f64> = (1..=300).map(of_seed).collect();
        let mean = counts.iter().sum::<f64>() / 300.0;
        let each: f64 = of_racks(2, &group("all", "*", 0.6)).iter().sum();
        // Six hosts with geometric numbers: the standard error is below 0.3.
        assert!((mean - each).abs() < 1.2, "{mean} in place of {each}");
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
            assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} in place of {expected}");
        }
    }
}
