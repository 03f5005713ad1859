use super::*;

fn request() -> Request {
    Request {
        limiter: Limiter::Port,
        ports: 32,
        rate: "40Gbps".into(),
        lanes: 4,
        queues: 8,
        classes: 6,
        unscheduled: UnscheduledPackets::None,
        token: "84B".into(),
        frame: "1538B".into(),
        entries: 256 << 10,
        assistant_ports: 48,
        assistant_price: 20.0,
        switch_price: 0.0,
        cable: "0ns".into(),
        path: None,
    }
}

fn path() -> Path {
    Path { delay: "10us".into(), queues: 2, depth: 6, clock: "0ns".into(), share: 0.05 }
}

#[test]
fn a_switch_of_32_ports_of_40g_has_21_top_ports_as_printed() {
    let answer = answer(&request()).unwrap();
    // 21 + ceil(42 / 4) = 32: no port is left. 3 + 21 VLANs; 3 + 24 with a full assistant of 48 ports.
    assert_eq!((answer.top_ports, answer.split_ports, answer.spare_ports), (21, 11, 0));
    assert_eq!((answer.assistant_ports, answer.assistants), (42, 1));
    assert_eq!((answer.vlans, answer.vlans_full, answer.level_vlans), (24, 27, 3));
    // 262,144 / 3: over 85 K.
    assert_eq!((answer.entries_per_host, answer.hosts, answer.hosts >> 10), (3, 87_381, 85));
    // 40 Gbps x 84 / 1622; the paper rounds to 5 %, 2 Gbps. 42 converters of 20 each.
    assert_eq!((answer.shapers, answer.token_rate_bps), (21, 2_071_516_646));
    assert_eq!((answer.assistant_cost, answer.cost_per_port), (840.0, 40.0));
    // Twice 84 B at 10 Gbps.
    assert_eq!(answer.detour_ps, 134_400);
    assert_eq!(answer.queues_needed, 6);
}

#[test]
fn a_group_limiter_takes_no_port_vlan_or_entry_more() {
    let answer = answer(&Request { limiter: Limiter::Group, switch_price: 6_400.0, ..request() }).unwrap();
    assert_eq!((answer.top_ports, answer.split_ports, answer.assistant_ports), (32, 0, 0));
    assert_eq!((answer.vlans, answer.entries_per_host, answer.hosts), (0, 1, 262_144));
    // Signals, data and six classes fill the usual eight queues of a switch.
    assert_eq!((answer.queues_needed, answer.shapers, answer.cost_per_port), (8, 32, 200.0));
}

#[test]
fn ports_are_shared_as_well_as_they_can_be() {
    let ports = |ports, lanes| answer(&Request { ports, lanes, ..request() }).unwrap();
    // Each TOP port takes one port and half a split port: 3 ports give 2 TOP ports; of 4, half a split port stays
    // unused.
    assert_eq!((ports(3, 4).top_ports, ports(3, 4).spare_ports), (2, 0));
    assert_eq!((ports(4, 4).top_ports, ports(4, 4).split_ports, ports(4, 4).spare_ports), (2, 1, 1));
    // A cable of two lanes serves exactly one TOP port.
    assert_eq!((ports(32, 2).top_ports, ports(32, 2).split_ports), (16, 16));
    // 84 assistant ports need two switches of 48, which use the same 24 VLANs.
    let many = ports(64, 4);
    assert_eq!((many.top_ports, many.assistant_ports, many.assistants, many.vlans), (42, 84, 2, 27));
}

#[test]
fn tokens_of_the_papers_testbed_are_good_for_26_us() {
    // 6 x 84 B at 5 % of 10 Gbps take 8.064 us; 10 + 2 x 8.064.
    let ten = Request { rate: "10Gbps".into(), path: Some(path()), ..request() };
    assert_eq!(answer(&ten).unwrap().expiry_ps, Some(26_128_000));
    // With the exact share, 6 x 1622 B at 10 Gbps take 7.7856 us; the clock offset is 100 ns.
    let exact = Path { share: 0.0, clock: "100ns".into(), ..path() };
    assert_eq!(answer(&Request { path: Some(exact), ..ten }).unwrap().expiry_ps, Some(25_671_200));
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    let key = |request: Request| answer(&request).unwrap_err().key;
    assert_eq!(key(Request { ports: 0, ..request() }), "ports");
    assert_eq!(key(Request { ports: 1, ..request() }), "ports");
    assert_eq!(key(Request { lanes: 1, ..request() }), "lanes");
    assert_eq!(key(Request { rate: "40".into(), ..request() }), "rate");
    assert_eq!(key(Request { classes: 9, ..request() }), "classes");
    assert_eq!(key(Request { limiter: Limiter::Group, classes: 7, ..request() }), "classes");
    assert_eq!(key(Request { token: "0B".into(), ..request() }), "token");
    assert_eq!(key(Request { frame: "84B".into(), lanes: 4, ..request() }), "lanes");
    assert_eq!(key(Request { assistant_ports: 1, ..request() }), "assistant_ports");
    assert_eq!(key(Request { assistant_price: f64::NAN, ..request() }), "assistant_price");
    assert_eq!(key(Request { path: Some(Path { queues: 0, ..path() }), ..request() }), "path.queues");
    assert_eq!(key(Request { path: Some(Path { share: 1.0, ..path() }), ..request() }), "path.share");
    let blind = Request { limiter: Limiter::Group, unscheduled: UnscheduledPackets::Queue, ..request() };
    assert_eq!(answer(&blind).unwrap_err().key, "classes");
    assert!(answer(&Request { classes: 5, ..blind }).is_ok());
}
