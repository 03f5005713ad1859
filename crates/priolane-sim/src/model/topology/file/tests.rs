use std::fmt::Write as _;

use priolane_core::ids::{HostId, LinkId, NodeId};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Rate, Span};
use proptest::prelude::*;

use super::*;

const SMALL: &str = "\
# two racks
node,a,host
node,b,host
node,spine,switch
node,t1,switch
node,t2,switch   # the second rack
link,a,t1,10Gbps,1us

link , b , t2 , 2.5Gbps , 1.5us , 0.001
link,t1,spine,100Gbps,500ns
link,t2,spine,100Gbps,500ns
";

fn line_and_message(text: &str) -> (usize, String) {
    match parse(text).unwrap_err() {
        TopologyError::Line { line, problem } => (line, problem.to_string()),
        TopologyError::Network(problem) => (0, problem.to_string()),
    }
}

#[test]
fn a_file_is_read_exactly() {
    let topology = parse(SMALL).unwrap();
    assert_eq!((topology.hosts, topology.switches, topology.racks), (2, 3, 2));
    // Switches with hosts come first.
    assert_eq!(topology.names, ["a", "b", "t1", "t2", "spine"]);
    let link = topology.links[topology.uplink(HostId(1)).index()];
    assert_eq!((link.from, link.to), (NodeId(1), NodeId(3)));
    assert_eq!((link.rate.bps(), link.delay, link.loss), (2_500_000_000, Span(1_500_000), 0.001));
    assert_eq!(topology.path(HostId(0), HostId(1), 0).len(), 4);
}

#[test]
fn line_ends_marks_and_order_of_lines_do_not_count() {
    let expected = parse(SMALL).unwrap();
    let mut reversed: Vec<&str> = SMALL.lines().collect();
    reversed.sort_by_key(|line| !line.starts_with("link"));
    for text in [SMALL.replace('\n', "\r\n"), format!("\u{feff}{SMALL}"), reversed.join("\n")] {
        let found = parse(&text).unwrap();
        assert_eq!((&found.names, &found.links), (&expected.names, &expected.links));
        assert_eq!((&found.next_hops, &found.choices), (&expected.next_hops, &expected.choices));
    }
}

#[test]
fn each_wrong_line_is_named_with_what_would_be_right() {
    let base = "node,a,host\nnode,b,host\nnode,s,switch\nlink,a,s,1Gbps,1us\n";
    let cases = [
        ("link,b,s,1Gbps", "the line has 4 fields: write `link,A,B,RATE,DELAY[,LOSS]`"),
        ("link,b,s,1Gbps,1us,0,0", "the line has 7 fields: write `link,A,B,RATE,DELAY[,LOSS]`"),
        ("node,c", "the line has 2 fields: write `node,NAME,host|switch`"),
        ("node", "the line has 1 fields: write `node,NAME,host|switch`"),
        ("nodes,c,host", "unknown record 'nodes'"),
        ("node,c,router", "unknown kind of node 'router': write `host` or `switch`"),
        ("node,,host", "'' is not a name: use 1 to 64 letters"),
        ("node,c d,host", "'c d' is not a name"),
        ("node,..,switch", "'..' is not a name"),
        ("node,.c,switch", "'.c' is not a name"),
        (
            "node,-c,switch",
            "'-c' is not a name: use 1 to 64 letters (a to z, A to Z), digits, `_`, `-` or `.`",
        ),
        ("node,ä,switch", "'ä' is not a name"),
        ("node,a,switch", "a node named 'a' exists already"),
        ("link,b,x,1Gbps,1us", "unknown node 'x': declare it"),
        ("link,s,s,1Gbps,1us", "the link connects 's' to itself"),
        ("link,a,b,1Gbps,1us", "the link connects the hosts 'a' and 'b'"),
        ("link,a,s,1Gbps,1us", "host 'a' has a second link"),
        ("link,b,s,0Gbps,1us", "the rate is zero"),
        ("link,b,s,1GBps,1us", "the rate '1GBps' has no known unit: add one of bps, kbps, Mbps, Gbps, Tbps"),
        ("link,b,s,99999999Tbps,1us", "the rate '99999999Tbps' is too large"),
        ("link,b,s,1Gbps,0us", "the delay is zero"),
        ("link,b,s,1Gbps,0.1ps", "the delay '0.1ps' is not a whole number of picoseconds"),
        ("link,b,s,1Gbps,251ms", "the delay is 251000000000 ps: use at most 250 ms"),
        ("link,b,s,1Gbps,-1us", "the delay '-1us' does not start with a number"),
        ("link,b,s,1Gbps,1us,1", "the loss is '1': use a probability from 0 (no loss) to below 1"),
        ("link,b,s,1Gbps,1us,", "the loss is ''"),
    ];
    for (line, message) in cases {
        let (at, found) = line_and_message(&format!("{base}{line}\n"));
        assert_eq!(at, 5, "{line}: {found}");
        assert!(found.starts_with(message), "{line}: {found}");
    }
}

#[test]
fn wrong_networks_are_refused() {
    assert_eq!(line_and_message("").1, "the topology has no hosts: it needs at least one");
    assert_eq!(line_and_message("node,s,switch\nnode,t,switch\nlink,s,t,1Gbps,1us").0, 0);
    let lonely = line_and_message("node,s,switch\nnode,a,host\nnode,b,host\nlink,a,s,1Gbps,1us");
    assert_eq!(lonely, (3, "host 'b' has no link: link it to one switch".to_owned()));
    let split =
        "node,s,switch\nnode,a,host\nnode,t,switch\nnode,b,host\nlink,a,s,1Gbps,1us\nlink,t,b,1Gbps,1us";
    let message = "'t' cannot be reached from 'a': link the parts of the network, or remove 't'";
    assert_eq!(line_and_message(split), (3, message.to_owned()));
}

#[test]
fn messages_quote_no_more_than_a_few_characters() {
    let (line, message) = line_and_message(&format!("node,{},host", "é\u{7}".repeat(1_000_000)));
    assert_eq!(line, 1);
    assert!(message.len() < 400 && !message.contains('\u{7}'), "{message}");
}

#[test]
fn too_many_nodes_or_links_are_refused_at_their_line() {
    let mut text = String::new();
    for i in 0..=65_536 {
        writeln!(text, "node,h{i},host").unwrap();
    }
    assert_eq!(line_and_message(&text), (65_537, "there are 65537 hosts: use at most 65536".to_owned()));
    let text = text.replace("host", "switch");
    assert_eq!(line_and_message(&text), (65_537, "there are 65537 switches: use at most 65536".to_owned()));
    let text = "link,a,b,1Gbps,1us\n".repeat((1 << 20) + 1);
    assert_eq!(
        line_and_message(&text),
        (1_048_577, "there are 1048577 links: use at most 1048576".to_owned())
    );
}

/// Returns the shortest distances in links between all nodes (Floyd-Warshall); paths do not pass through hosts.
fn distances(topology: &Topology) -> Vec<Vec<usize>> {
    let n = topology.nodes();
    let mut d = vec![vec![usize::MAX / 4; n]; n];
    for link in &topology.links {
        d[link.from.index()][link.to.index()] = 1;
    }
    for via in 0..n {
        d[via][via] = 0;
        for a in 0..n {
            for b in 0..n {
                d[a][b] = d[a][b].min(d[a][via] + d[via][b]);
            }
        }
    }
    d
}

/// Asserts that every next hop is on a shortest path, every shortest next hop is present, and paths arrive.
fn assert_routed(topology: &Topology) {
    let d = distances(topology);
    for dst in (0..topology.hosts).map(|h| HostId(h as u16)) {
        for switch in (topology.hosts..topology.nodes() as u32).map(NodeId) {
            let left = |node: NodeId| d[node.index()][dst.index()];
            let nearer = |id: &LinkId| {
                let link = topology.links[id.index()];
                link.from == switch && left(link.to) + 1 == left(switch)
            };
            let expected: Vec<_> = (0..topology.links.len() as u32).map(LinkId).filter(nearer).collect();
            assert!(!expected.is_empty());
            assert_eq!(topology.next_links(switch, dst), expected);
            for entropy in [0, 1, 77, u16::MAX] {
                assert!(expected.contains(&topology.next_link(switch, dst, entropy).unwrap()));
            }
        }
        for src in (0..topology.hosts).map(|h| HostId(h as u16)) {
            assert_eq!(topology.path(src, dst, 7).len(), d[src.index()][dst.index()]);
        }
    }
}

/// Returns whether `edges` connect the nodes `0..n`.
fn connected(n: usize, edges: &[(usize, usize)]) -> bool {
    let mut group: Vec<usize> = (0..n).collect();
    for &(a, b) in edges {
        let (from, to) = (group[a], group[b]);
        group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
    }
    group.iter().all(|&g| g == group[0])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn random_networks_are_routed_if_connected_and_refused_if_not(
        switches in 1usize..9,
        homes in prop::collection::vec(0usize..9, 1..8),
        edges in prop::collection::vec((0usize..9, 0usize..9), 0..16),
    ) {
        let mut text = String::new();
        for s in 0..switches {
            writeln!(text, "node,s{s},switch").unwrap();
        }
        for (h, home) in homes.iter().enumerate() {
            writeln!(text, "node,h{h},host\nlink,h{h},s{},10Gbps,1us", home % switches).unwrap();
        }
        let edges: Vec<_> = edges
            .into_iter()
            .map(|(a, b)| (a % switches, b % switches))
            .filter(|(a, b)| a != b)
            .collect();
        for (a, b) in &edges {
            writeln!(text, "link,s{a},s{b},40Gbps,1us").unwrap();
        }
        match parse(&text) {
            Ok(topology) => {
                prop_assert!(connected(switches, &edges));
                assert_routed(&topology);
            }
            Err(error) => {
                prop_assert!(!connected(switches, &edges));
                prop_assert!(error.to_string().contains("cannot be reached"), "{}", error);
            }
        }
    }
}

/// Replaces, deletes or inserts a byte, or repeats or deletes a line.
fn mutate(text: &mut Vec<u8>, rng: &mut Stream) {
    const BYTES: &[u8] = b"abst,,,\n\n#0123459. .-+eGMkbpsumn\xff\xc3\xa9\x00\r";
    let at = rng.below(text.len() as u64 + 1) as usize;
    let byte = BYTES[rng.below(BYTES.len() as u64) as usize];
    let line = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |end| at + end + 1);
    match rng.below(5) {
        0 if at < text.len() => text[at] = byte,
        1 if at < text.len() => drop(text.remove(at)),
        2 => drop(text.drain(at..line)),
        3 => text.extend_from_within(at..line),
        _ => text.insert(at, byte),
    }
}

#[test]
fn mutated_files_are_read_or_refused() {
    let mut rng = Stream::new(17, Purpose::Pairs, 0);
    let rounds = priolane_rounds::rounds(30_000, 1_000_000);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..rounds {
        let mut bytes = SMALL.as_bytes().to_vec();
        for _ in 0..=rng.below(3) {
            mutate(&mut bytes, &mut rng);
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(topology) => {
                read += 1;
                let last = HostId((topology.hosts - 1) as u16);
                let path = topology.path(HostId(0), last, 3);
                assert_eq!(path.is_empty(), topology.hosts == 1);
            }
            Err(error) => {
                refused += 1;
                assert!(!matches!(error, TopologyError::Line { line: 0, .. }));
            }
        }
    }
    assert!(read > rounds / 20 && refused > rounds / 20, "{read} read, {refused} refused");
}

#[test]
fn rates_differ_by_link_and_direction_does_not() {
    let topology = parse(SMALL).unwrap();
    assert_eq!(topology.host_capacity(HostId(0)), Rate::from_gbps(10));
    // Both top-of-rack switches have one uplink of 100 Gbps.
    assert_eq!(topology.core_capacity(), 200_000_000_000);
    let (up, down) =
        (topology.link_between("t1", "spine").unwrap(), topology.link_between("spine", "t1").unwrap());
    assert_eq!(topology.reverse(up), down);
}
