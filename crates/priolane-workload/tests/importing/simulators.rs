//! Flow lists of other simulators and of papers' code.

use priolane_core::units::Time;
use priolane_sim::topology::file;
use priolane_workload::flow_list;
use priolane_workload::import::{self, Bond, Format, Options, Source, Start};

use crate::support::{TOPOLOGY, dropped, flows, good, network, read, written};

#[test]
fn hpcc_flows_start_at_zero_or_where_they_did() {
    let (imported, format) = good(sample!("hpcc_flow.txt"), &Options::default());
    assert_eq!(format, Format::Hpcc);
    assert_eq!(flows(&imported), [(0, 2, 1, 200_000_000), (1_000_000, 1, 2, 1000)]);
    assert_eq!(
        dropped(&imported),
        [
            ("no bytes", 1, 0),
            ("source and destination are the same host", 1, 5000),
            ("the flow is beyond the number in the first line", 1, 7)
        ]
    );
    // Rows 5 = 2 listed + 3 dropped; node 4 is the largest named.
    assert_eq!((imported.read, imported.hosts, imported.first_start_ps), (5, 5, 2_000_000_000_000));
    let keep = Options { start: Start::Keep, ..Options::default() };
    assert_eq!(flows(&good(sample!("hpcc_flow.txt"), &keep).0)[1].0, 2_000_001_000_000);
    let later = Options { start: Start::First(Time(7)), ..Options::default() };
    assert_eq!(flows(&good(sample!("hpcc_flow.txt"), &later).0)[1].0, 1_000_007);
}

#[test]
fn hpcc_topologies_give_hosts_their_places() {
    let network = network();
    assert_eq!(network.hosts, [1, 2, 3, 4]);
    let topology = file::parse(&network.text).unwrap();
    assert_eq!((topology.hosts, network.text.lines().count()), (4, 1 + 5 + 4));
    assert!(network.text.contains("link,s0,h3,25Gbps,0.001ms,0.000001\n"), "{}", network.text);
    let source = Source { file: "x", format: None, network: Some(&network) };
    let (imported, _) =
        import::read(sample!("hpcc_flow.txt").as_bytes(), source, &Options::default()).unwrap();
    assert_eq!(flows(&imported), [(0, 1, 0, 200_000_000), (1_000_000, 0, 1, 1000)]);
    // A switch sends no flow.
    let error = import::read("1\n0 1 3 100 5 2\n".as_bytes(), source, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "x:2: unknown host 0. Use hosts of the network.");
}

#[test]
fn defects_of_a_topology_are_told_at_its_own_line() {
    let refused = |from: &str, to: &str| {
        let text = TOPOLOGY.replacen(from, to, 1);
        import::read_topology(&mut text.as_bytes(), "t", None).unwrap_err().to_string()
    };
    assert!(refused("25Gbps", "25Gbit").starts_with("t:5: "), "{}", refused("25Gbps", "25Gbit"));
    assert!(refused("1us", "0us").starts_with("t:4: "));
    assert!(refused("4 0 100", "9 0 100").starts_with("t:6: "));
    assert!(refused("5 1 4", "5 1 5").contains("states 5 links, but there are 4"));
    assert!(refused("5 1 4", "99999999999 1 4").starts_with("t:1: "));
    assert!(refused("5 1 4\n0\n", "5 2 4\n0 0\n").starts_with("t:2: "));
    assert!(
        refused("100Gbps 0.001ms 0\n0 2", "100Gbps 0.001ms\n0 2").starts_with("t:3: the link has 4 parts")
    );
}

#[test]
fn triggers_become_flows_that_wait() {
    let (imported, format) = good(sample!("htsim.cm"), &Options::default());
    assert_eq!(format, Format::Htsim);
    let written = written(&imported);
    // id 1, 2 (oneshot), 4 (barrier of 1 and 3), 5 (multishot) at 0; id 3 after 1 us, id 8 after 2 us.
    assert_eq!(
        written,
        "start_ns,src,dst,bytes,after,delay_ns\n0,0,13,2000000,,\n0,13,4,1000,0,\n0,2,3,500,0+4,\n\
         0,4,5,10,2,\n1000,1,2,4000,,\n2000,7,8,40,,\n"
    );
    assert_eq!(
        dropped(&imported),
        [
            ("its trigger fires before the last of several flows", 1, 50),
            ("its trigger never fires", 1, 20),
            ("source and destination are the same host", 1, 30),
        ]
    );
    assert_eq!((imported.read, imported.hosts), (9, 16));
    assert!(imported.notes.iter().any(|note| note == "1 failures were not imported"));
    // The list is one that runs: dependencies between flows, and no delay but the app's.
    let rows = flow_list::read_rows(written.as_bytes(), "f", 16).unwrap();
    let waits: Vec<(u32, usize)> =
        rows.iter().filter(|row| !row.after.is_empty()).map(|row| (row.flow.id.0, row.after.len())).collect();
    assert_eq!(waits, [(1, 1), (2, 2), (3, 1)]);
    assert!(rows.iter().all(|row| row.delay.is_none()));
}

#[test]
fn flows_that_wait_for_what_never_starts_are_dropped() {
    let circle = "Nodes 4\nConnections 4\nTriggers 3\n0->1 id 1 trigger 1 size 5 recv_done_trigger 2\n\
                  1->2 id 2 trigger 2 size 6 recv_done_trigger 1\n2->3 id 3 start 0 size 7\n\
                  3->0 id 4 trigger 3 size 8\ntrigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\n";
    let (imported, _) = good(circle, &Options::default());
    assert_eq!(flows(&imported), [(0, 2, 3, 7)]);
    assert_eq!(
        dropped(&imported),
        [
            ("its trigger never fires", 1, 8),
            ("the flow depends on one that never starts or never ends", 2, 11)
        ]
    );
    // Its starter never ends, so nothing starts it.
    let endless = "Nodes 4\nConnections 3\nTriggers 1\n0->1 id 1 start 1 size 0 send_done_trigger 1\n\
                 1->2 id 2 trigger 1 size 6\n2->3 id 3 start 0 size 7\ntrigger id 1 oneshot\n";
    let (imported, _) = good(endless, &Options::default());
    assert_eq!(dropped(&imported), [("the flow depends on one that never starts or never ends", 1, 6)]);
    let sizes: Vec<Option<u64>> = imported.rows.iter().map(|row| row.flow.size).collect();
    assert_eq!(sizes, [Some(7), None]);
}

#[test]
fn connection_matrices_are_held_to_their_counts_and_unit() {
    let (imported, format) = good(sample!("htsim_us.cm"), &Options::default());
    assert_eq!((format, imported.first_start_ps), (Format::HtsimUs, 500_000));
    let refused = |from: &str, to: &str| {
        read(&sample!("htsim.cm").replacen(from, to, 1), &Options::default()).unwrap_err().to_string()
    };
    assert!(
        refused("Connections 9", "Connections 8")
            .contains("the file declares 8 Connections, but there are 9")
    );
    assert!(refused("Triggers 5\n", "").contains("the file declares 0 Triggers, but there are 5"));
    assert!(refused("Failures 1", "Failures 2").contains("Failures"));
    assert!(refused("Nodes 16", "Nodes 13").starts_with("x:6: unknown host 13"));
    assert!(refused("Nodes 16", "Nodes 99999999999").starts_with("x:2: "));
    assert!(refused("trigger 8 size", "trigger 80 size").starts_with("x:11: unknown trigger 80"));
    assert!(refused("start 0", "trigger 5 start 0").contains("both start and trigger"));
    assert!(refused("id 2 ", "id 1 ").contains("connection 1 appears twice"));
    assert!(refused("id 2 ", "id 0 ").contains("0 is not an id"));
    assert!(refused("size 1000", "size").contains("incomplete"));
    let source = Source { file: "x", format: Some(Format::Htsim), network: None };
    let error = import::read(sample!("htsim_us.cm").as_bytes(), source, &Options::default()).unwrap_err();
    assert!(error.fix.contains("htsim-us"), "{error}");
    let fold = Options { hosts: Some(8), ..Options::default() };
    assert!(read(sample!("htsim.cm"), &fold).unwrap_err().what.contains("cannot be folded"));
}

#[test]
fn yaps_traces_have_nine_eight_or_five_columns() {
    let (nine, format) = good(sample!("yaps_nine.txt"), &Options::default());
    // 137 x 1460 bytes; 1.5 us apart.
    assert_eq!((format, nine.hosts), (Format::Yaps, 78));
    assert_eq!(flows(&nine), [(0, 3, 77, 200_020), (1_500_000, 77, 3, 1460)]);
    let (eight, _) = good(sample!("yaps_eight.txt"), &Options { mss: Some(1000), ..Options::default() });
    // The first row's time has 19 decimals; both ends are 1 us and 1 s + 1 us.
    assert_eq!(flows(&eight), [(0, 1, 0, 3000), (1_000_000_000_000, 0, 1, 2000)]);
    assert_eq!((eight.rounded, eight.first_start_ps), (1, 1_000_000));
    let (five, _) = good(sample!("yaps_five.txt"), &Options::default());
    assert_eq!((flows(&five), five.first_start_ps), (vec![(0, 3, 77, 200_020)], 1_000_001_000_000));
    let cut = format!("{}2 1.1 0 0 1", sample!("yaps_nine.txt"));
    assert!(
        read(&cut, &Options::default()).unwrap_err().to_string().starts_with("x:3: the row has 5 columns")
    );
}

#[test]
fn aequitas_priorities_are_classes_with_latency_first() {
    let (imported, format) = good(sample!("aequitas.csv"), &Options::default());
    assert_eq!(format, Format::Aequitas);
    assert_eq!(flows(&imported), [(0, 7, 3, 100), (500_000, 2, 1, 5), (1_000_000, 3, 7, 32_768)]);
    assert_eq!(imported.rows.iter().map(|row| row.flow.class).collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!((imported.read, dropped(&imported)), (4, vec![("the priority is not 0, 1 or 2", 1, 999)]));
}

#[test]
fn coflows_are_split_evenly_to_the_byte() {
    let (imported, format) = good(sample!("coflow.txt"), &Options::default());
    assert_eq!((format, imported.hosts, imported.read), (Format::Coflow, 4, 3));
    let (half, quarter, late) = (1 << 19, 1 << 18, 20_000_000_000);
    // 0.00001 of 2^20 bytes are 10, over three mappers.
    assert_eq!(
        flows(&imported),
        [
            (0, 0, 2, half),
            (0, 1, 2, half),
            (0, 0, 3, quarter),
            (0, 1, 3, quarter),
            (late, 0, 3, 4),
            (late, 1, 3, 3),
            (late, 2, 3, 3)
        ]
    );
    assert_eq!(
        imported.rows.iter().map(|row| row.flow.coflow.unwrap().number()).collect::<Vec<_>>(),
        [1, 1, 1, 1, 7, 7, 7]
    );
    assert_eq!(dropped(&imported), [("source and destination are the same host", 1, 2 << 20)]);
    let (decimal, _) =
        good(sample!("coflow.txt"), &Options { megabyte: Some(1_000_000), ..Options::default() });
    assert_eq!(decimal.rows[0].flow.size, Some(500_000));
}

#[test]
fn ports_are_folded_by_remainder_and_the_factor_is_stated() {
    let (imported, _) = good(sample!("coflow.txt"), &Options { hosts: Some(2), ..Options::default() });
    let (half, quarter, late) = (1 << 19, 1 << 18, 20_000_000_000);
    assert_eq!(flows(&imported), [(0, 1, 0, half), (0, 0, 1, quarter), (late, 0, 1, 4), (late, 0, 1, 3)]);
    let local = u128::from(half + quarter + 3);
    assert_eq!(
        dropped(&imported),
        [
            ("source and destination are the same host", 1, 2 << 20),
            ("source and destination fold onto one host", 3, local)
        ]
    );
    let fold = imported.fold.unwrap();
    assert_eq!((fold.from, fold.to, fold.factor, imported.hosts), (4, 2, 2.0, 2));
    let hosts: Vec<u16> = imported.names.iter().map(|(_, host)| host.0).collect();
    assert_eq!(hosts, [0, 1, 0, 1]);
    // A larger network is no fold.
    let (wide, _) = good(sample!("coflow.txt"), &Options { hosts: Some(100), ..Options::default() });
    assert_eq!((wide.fold, wide.hosts), (None, 100));
}

#[test]
fn text_after_the_stated_flows_and_links_is_dropped_and_counted() {
    let text = "2\n2 1 3 100 20000 2\n3 1 3 100 20000 2.001\n4 1 3 100 20000 2.002\n\nsrc dst 3 port bytes seconds\n...\n";
    let (imported, _) = good(text, &Options::default());
    assert_eq!(flows(&imported), [(0, 2, 1, 20_000), (1_000_000_000, 3, 1, 20_000)]);
    assert_eq!(dropped(&imported), [("the flow is beyond the number in the first line", 1, 20_000)]);
    let note = "2 lines of text after the stated number of flows were dropped";
    assert!(imported.notes.iter().any(|found| found == note), "{:?}", imported.notes);
    // Before the stated number of flows, text is an error.
    let early = text.replacen("2\n", "4\n", 1);
    assert!(read(&early, &Options::default()).unwrap_err().to_string().starts_with("x:6: "));
    let topology = format!("{TOPOLOGY}0 1 1Gbps 1us 0\nand so on\n");
    let network = import::read_topology(&mut topology.as_bytes(), "t", None).unwrap();
    assert_eq!((network.text, network.notes.len()), (self::network().text, 1));
    assert!(network.notes[0].starts_with("2 lines of the topology after"), "{:?}", network.notes);
}

/// Four hosts, of which three have two links, in each form of the first line.
fn two_links(head: &str, second: u32) -> String {
    let mut text = format!("{head}\n4 5\n");
    for host in 0..4 {
        text += &format!("{host} 4 25Gbps 1us 0\n");
        if host < 3 {
            text += &format!("{host} {second} 25000000000.0 1us 0\n");
        }
    }
    text + "4 5 100Gbps 1us 0\n"
}

#[test]
fn hosts_with_two_links_have_one_of_the_summed_rate_or_the_first() {
    let read = |text: &str, bond| import::read_topology(&mut text.as_bytes(), "t", bond);
    let rates = |text: &str, bond| -> Vec<u64> {
        let network = read(text, bond).unwrap();
        let links = network.text.lines().filter(|line| line.starts_with("link,h"));
        let rate = |line: &str| line.split(',').nth(3).unwrap().to_owned();
        let bps = |rate: String| priolane_sim::topology::text::rate(&rate).unwrap().bps();
        links.map(|line| bps(rate(line))).collect()
    };
    let parallel = two_links("6 2 8", 4);
    // Three hosts send twice 25 Gbit/s.
    let (one, two) = (25_000_000_000, 50_000_000_000);
    assert_eq!(rates(&parallel, Some(Bond::Sum)), [two, two, two, one]);
    assert_eq!(rates(&parallel, Some(Bond::First)), [one, one, one, one]);
    let error = read(&parallel, None).unwrap_err().to_string();
    assert_eq!(
        error,
        "t:4: host h0 has 2 links to s4, and a host has one here. Use --bond sum to join them to one link of their \
         summed rate."
    );
    let split = two_links("6 2 8", 5);
    for bond in [None, Some(Bond::Sum)] {
        let error = read(&split, bond).unwrap_err().to_string();
        assert!(
            error.contains("host h0 has links to s4, s5") && error.contains("Use --bond first"),
            "{error}"
        );
    }
    assert_eq!(rates(&split, Some(Bond::First)), [one, one, one, one]);
    assert!(
        read(&split, Some(Bond::First)).unwrap().notes[0].contains("3 links were dropped (--bond first)")
    );
    let slower = parallel.replacen("25000000000.0 1us", "25000000000.0 2us", 1);
    assert!(read(&slower, Some(Bond::Sum)).unwrap_err().what.contains("differ in delay"));
    // The sum must be a rate, too: 2^64 bit/s are 18446744073.7 Gbit/s.
    let fast = parallel.replacen("0 4 25Gbps", "0 4 18446744073Gbps", 1);
    let error = read(&fast, Some(Bond::Sum)).unwrap_err().to_string();
    assert_eq!(error, "t:4: the summed rate is too large. Use lower rates.");
    // A network without such hosts is the same with and without.
    assert_eq!(read(TOPOLOGY, Some(Bond::Sum)).unwrap(), network());
}

#[test]
fn what_relatives_have_and_priolane_has_not_is_told() {
    let ring =
        "4 1 5\n3\n0 1 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 0 1Gbps 1us 0\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n";
    let error = import::read_topology(&mut ring.as_bytes(), "t", None).unwrap_err().to_string();
    assert!(
        error.starts_with("t:5: host h0 has links to h1, h2, s3, but hosts do not pass packets on here"),
        "{error}"
    );
    // Packets, a start and an end; bytes with a point are no whole number.
    let refused = |row: &str| read(&format!("1\n{row}\n"), &Options::default()).unwrap_err().to_string();
    let error = refused("2 1 3 10000000 2.0 9.5");
    assert!(
        error.starts_with("x:2: the flows are of ns3-rdma, which state packets, a start and an end."),
        "{error}"
    );
    assert!(refused("0 1 3 100 1000.0 2.5e-3").contains("\"1000.0\" is not a number of bytes"));
}

#[test]
fn first_lines_of_relatives_have_four_or_six_numbers() {
    let read = |text: &str| import::read_topology(&mut text.as_bytes(), "t", Some(Bond::Sum)).unwrap();
    let plain = read(&two_links("6 2 8", 4));
    for head in ["6 2 1 8", "6 2 1 8 25000000000 100000000000", "6 8 1 1 8 A100"] {
        assert_eq!(read(&two_links(head, 4)), plain, "{head}");
    }
    // Without units: bits per second and seconds.
    let bare = two_links("6 2 8", 4).replace("25Gbps 1us", "25000000000 0.000001");
    assert!(read(&bare).text.contains("link,h3,s4,25000000000bps,1000000ps,0\n"), "{}", read(&bare).text);
    let error = import::read_topology(&mut "6 2\n4 5\n".as_bytes(), "t", None).unwrap_err().to_string();
    assert!(error.starts_with("t:1: the first line has 2 numbers"), "{error}");
}

#[test]
fn flows_of_size_zero_have_no_end_in_htsim() {
    let text = "Nodes 8\nConnections 3\n1->0 start 0.000000 size 0\n2->0 start 0.000000 size 0\n\
                3->0 start 5.000000 size 20000\n";
    let (imported, _) = good(text, &Options::default());
    assert_eq!(written(&imported), "start_ns,src,dst,bytes\n0,1,0,endless\n0,2,0,endless\n5000,3,0,20000\n");
    assert!(dropped(&imported).is_empty());
    assert_eq!(imported.notes, ["2 flows of size 0 have no end, as in htsim"]);
    let topology = "Nodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\n";
    let error = read(topology, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("it looks like a topology of htsim: give it with --topology"), "{error}");
    let source = Source { file: "x", format: Some(Format::Htsim), network: None };
    let error = import::read(topology.as_bytes(), source, &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("x:2: the file is a topology of htsim (.topo), and has no flows."), "{error}");
}
