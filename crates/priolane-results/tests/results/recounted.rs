//! Totals in `run.json` and rows of ports against sums over a run in which every number differs from all others.

use priolane_core::ids::LinkId;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Span;
use priolane_results::column::Row;
use priolane_results::compare::{NOT_RESULTS, differing_member};
use priolane_results::ports::PortRow;
use priolane_results::record::{Count, Counters, LedgerRow, ledger, priorities};
use priolane_results::rows::{Rows, Table};
use priolane_results::tokens::{ReceivedRecord, TokenRecord};
use priolane_sim::outcome::{Ledger, PacketCount, PortClassRecord, PortQueue};
use priolane_testkit::made_up::MadeUp;

use crate::runs::record_of;

/// Token classes are the first 13.
const TOKENS: usize = 13;

/// A run with drawn numbers in everything that totals are of. Links 0 and 2 leave hosts, 1 and 3 the switch.
fn drawn(seed: u64) -> MadeUp {
    let mut stream = Stream::new(seed, Purpose::Ties, 0);
    let mut fixture = MadeUp::with_flows(6);
    fixture.outcome.flows.edit_all(|flow| {
        (flow.retransmits, flow.timeouts) = (stream.below(9) as u32, stream.below(9) as u32);
        flow.fct = flow.fct.filter(|_| stream.below(2) == 0);
        flow.class.asked = stream.below(3) as u8;
    });
    fixture.scenario.flows.edit_all(|flow| flow.size = flow.size.filter(|_| stream.below(3) > 0));
    let mut count = || PacketCount { packets: stream.below(1_000), bytes: 1_000 + stream.below(1_000_000) };
    let mut of_classes =
        || std::array::from_fn(|class| if class % 3 == 1 { count() } else { PacketCount::default() });
    fixture.outcome.ledger = Ledger {
        made: of_classes(),
        delivered: of_classes(),
        dropped: of_classes(),
        unrouted: of_classes(),
        lost: of_classes(),
        trimmed: of_classes(),
        expired: of_classes(),
        resident: of_classes(),
    };
    let mut ports = Vec::new();
    for (link, class, queue) in
        [(0, 1, 0), (2, 1, 0), (2, 12, 1), (3, 13, 1), (3, 13, 2), (1, 0, 0), (3, 2, 3)]
    {
        let mut number = || stream.below(10_000);
        ports.push(PortClassRecord {
            link: LinkId(link),
            class,
            queue,
            packets: number() % 4,
            bytes: number(),
            dropped: number(),
            marked: number(),
            lost: number(),
            trimmed: number(),
            expired: number(),
            paused: Span(number()),
            inversions: number(),
            waited: number(),
        });
    }
    fixture.outcome.ports = ports;
    fixture.outcome.queues = (0..4)
        .map(|link| PortQueue {
            link: LinkId(link),
            peak_bytes: stream.below(99),
            waited: stream.below(1_000_000),
        })
        .collect();
    fixture.outcome.received.packets = 1 + stream.below(50);
    fixture.outcome.received.early_bytes = stream.below(1_000);
    fixture.outcome.received.stats.packets = stream.below(50);
    fixture.outcome.received.stats.reordered = stream.below(50);
    fixture.outcome.work.packet_hops = stream.below(1_000);
    fixture
}

fn near(found: Option<f64>, expected: Option<f64>) {
    let same = match (found, expected) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs(),
        _ => found == expected,
    };
    assert!(same, "{found:?} is not {expected:?}");
}

#[test]
fn totals_are_sums_over_flows_ports_and_classes() {
    for seed in 0..20 {
        let fixture = drawn(seed);
        let (outcome, flows) = (&fixture.outcome, || fixture.outcome.flows.iter());
        let mut expected = Counters {
            packet_hops: outcome.work.packet_hops,
            drops: Some(0),
            flows: 6,
            ..Counters::default()
        };
        for class in 0..16 {
            expected.drops = expected.drops.map(|drops| drops + outcome.ledger.dropped[class].packets);
            expected.lost += outcome.ledger.lost[class].packets;
            expected.unrouted += outcome.ledger.unrouted[class].packets;
        }
        for port in &outcome.ports {
            expected.marks += port.marked;
        }
        for flow in flows() {
            expected.retransmits += u64::from(flow.retransmits);
            expected.timeouts += u64::from(flow.timeouts);
            expected.completed += u64::from(flow.fct.is_some());
        }
        for flow in fixture.scenario.flows.iter() {
            expected.endless += u64::from(flow.size.is_none());
        }
        assert_eq!(Counters::of(&fixture.scenario, outcome), expected);
        let rows = ledger(&outcome.ledger);
        assert_eq!(rows.iter().map(|row| row.class).collect::<Vec<_>>(), [1, 4, 7, 10, 13]);
        for LedgerRow { class, made, delivered, dropped, unrouted, lost, resident, trimmed, expired } in rows
        {
            let of = |counts: &[PacketCount; 16]| {
                let PacketCount { packets, bytes } = counts[usize::from(class)];
                Count { packets, bytes }
            };
            let Ledger {
                made: m,
                delivered: d,
                dropped: p,
                unrouted: u,
                lost: l,
                trimmed: t,
                expired: e,
                resident: r,
            } = &outcome.ledger;
            assert_eq!([made, delivered, dropped, unrouted], [m, d, p, u].map(of));
            assert_eq!([lost, trimmed, expired, resident], [l, t, e, r].map(of));
        }
        let served = priorities(outcome);
        let ports: Vec<(u8, u8)> = served.iter().map(|row| (row.asked, row.served)).collect();
        assert_eq!(ports, [(0, 0), (1, 0), (2, 3), (12, 1), (13, 1), (13, 2)]);
        for row in served {
            let own =
                || outcome.ports.iter().filter(|port| (port.class, port.queue) == (row.asked, row.served));
            let sum = |of: fn(&PortClassRecord) -> u64| own().map(of).sum::<u64>();
            assert_eq!(row.flows, flows().filter(|flow| flow.class.asked == row.asked).count() as u64);
            assert_eq!(
                [row.packets, row.bytes, row.inversions],
                [sum(|p| p.packets), sum(|p| p.bytes), sum(|p| p.inversions)]
            );
            let share = if row.packets > 0 { row.inversions as f64 / row.packets as f64 } else { 0.0 };
            near(Some(row.share), Some(share));
        }
    }
}

#[test]
fn a_ledger_is_conserved_only_if_each_kind_of_end_is_counted() {
    let count = |packets, bytes| Count { packets, bytes };
    let whole = LedgerRow {
        class: 0,
        made: count(63, 10_127),
        delivered: count(1, 1_000),
        dropped: count(2, 2_000),
        unrouted: count(4, 4_000),
        lost: count(8, 8),
        expired: count(16, 16),
        resident: count(32, 32),
        // Packets that were trimmed count elsewhere, the bytes cut off do not.
        trimmed: count(5, 3_071),
    };
    assert!(whole.is_conserved());
    let changes: [fn(&mut LedgerRow); 9] = [
        |row| row.made.packets += 1,
        |row| row.delivered.packets += 1,
        |row| row.dropped.packets -= 1,
        |row| row.unrouted.packets += 1,
        |row| row.lost.packets += 1,
        |row| row.expired.packets += 1,
        |row| row.resident.packets += 1,
        |row| row.trimmed.bytes += 1,
        |row| row.made.bytes -= 1,
    ];
    for change in changes {
        let mut row = whole;
        change(&mut row);
        assert!(!row.is_conserved(), "{row:?}");
    }
    let more_trimmed = LedgerRow { trimmed: count(9, 3_071), ..whole };
    assert!(more_trimmed.is_conserved());
}

#[test]
fn tokens_and_received_payload_are_told_from_each_other_by_class_and_place() {
    for seed in 0..20 {
        let mut fixture = drawn(seed);
        assert_eq!(TokenRecord::of(&fixture.outcome), None);
        for tokens in [false, true] {
            if tokens {
                let account = fixture.outcome.tokens.insert(Default::default());
                (account.issued, account.used, account.wasted, account.expired) = (1_000, 200, 30, 4);
            }
            let outcome = &fixture.outcome;
            let first = if tokens { TOKENS } else { 0 };
            let bytes =
                |counts: &[PacketCount; 16]| counts[first..].iter().map(|count| count.bytes).sum::<u64>();
            let made = bytes(&outcome.ledger.made);
            let gone = bytes(&outcome.ledger.dropped) + bytes(&outcome.ledger.trimmed);
            let found = ReceivedRecord::of(&fixture.scenario, outcome);
            // Waits at switches: links 1 and 3.
            let waited = outcome.queues[1].waited + outcome.queues[3].waited;
            near(found.wait_s, Some(waited as f64 * 1e-12 / outcome.received.packets as f64));
            near(found.loss, (made > 0).then(|| gone as f64 / made as f64));
            // The last flow starts at 50 ps.
            near(found.throughput_bps, Some(outcome.received.early_bytes as f64 * 8.0 / 50e-12));
            assert_eq!(
                (found.packets, found.new_packets, found.reordered),
                (outcome.received.packets, outcome.received.stats.packets, outcome.received.stats.reordered)
            );
        }
        let outcome = &fixture.outcome;
        let found = TokenRecord::of(outcome).unwrap();
        let packets =
            |counts: &[PacketCount; 16]| counts[..TOKENS].iter().map(|count| count.packets).sum::<u64>();
        let Ledger { dropped, expired, lost, unrouted, resident, .. } = &outcome.ledger;
        let of = |class: u8| class < 13;
        let sum = |keep: fn(u8) -> bool| -> u64 {
            outcome.ports.iter().filter(|port| keep(port.class)).map(|port| port.bytes).sum()
        };
        let expected = TokenRecord {
            sent: 1_000,
            used: 200,
            wasted: 30,
            expired_at_hosts: 4,
            dropped: packets(dropped),
            expired_at_ports: packets(expired),
            lost: packets(lost) + packets(unrouted),
            resident: packets(resident),
            wire_share: found.wire_share,
        };
        assert_eq!(found, expected);
        near(found.wire_share, Some(sum(of) as f64 / sum(|_| true) as f64));
        near(found.share(250), Some(0.25));
    }
    let mut tokens = TokenRecord {
        sent: 28,
        used: 1,
        wasted: 2,
        expired_at_hosts: 3,
        dropped: 4,
        expired_at_ports: 5,
        lost: 6,
        resident: 7,
        wire_share: None,
    };
    assert!(tokens.is_conserved());
    tokens.resident += 1;
    assert!(!tokens.is_conserved() && TokenRecord::default().share(0).is_none());
}

#[test]
fn a_row_of_a_port_has_each_number_of_its_record() {
    let fixture = drawn(3);
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let batch = rows.batch(Table::Ports, 0..fixture.outcome.ports.len());
    for (row, record) in PortRow::read(&batch).unwrap().iter().zip(&fixture.outcome.ports) {
        let place = (row.link, row.class, row.queue);
        assert_eq!(place, (record.link.0, record.class, record.queue));
        assert_eq!([row.packets, row.bytes, row.dropped], [record.packets, record.bytes, record.dropped]);
        assert_eq!([row.marked, row.lost, row.inversions], [record.marked, record.lost, record.inversions]);
        assert_eq!(
            [row.trimmed, row.expired, row.paused_ps],
            [record.trimmed, record.expired, record.paused.0]
        );
        near(row.waited_mean_ps, (record.packets > 0).then(|| record.waited as f64 / record.packets as f64));
    }
}

#[test]
fn every_member_of_a_record_but_the_storage_of_tables_is_compared_with_a_stored_one() {
    let record = record_of(&MadeUp::with_flows(2));
    assert_eq!(differing_member(&record, &record), None);
    let named = |change: &dyn Fn(&mut priolane_results::record::RunRecord)| {
        let mut other = record.clone();
        change(&mut other);
        differing_member(&record, &other).map(|(name, ..)| name)
    };
    assert_eq!(named(&|other| other.digest.push('x')).as_deref(), Some("digest"));
    assert_eq!(named(&|other| other.seed += 1).as_deref(), Some("seed"));
    assert_eq!(named(&|other| other.title.push('x')).as_deref(), Some("title"));
    assert_eq!(named(&|other| other.counters.marks += 1).as_deref(), Some("counters.marks"));
    assert_eq!(
        named(&|other| other.summary.get_mut("all").unwrap().flows += 1).as_deref(),
        Some("summary.all.flows")
    );
    // The summary is named first, and a member that one side lacks is a difference.
    let both = named(&|other| {
        other.counters.marks += 1;
        other.summary.clear();
    });
    assert_eq!(both.as_deref(), Some("summary.all"));
    assert_eq!(NOT_RESULTS.len(), 8);
    let files = named(&|other| {
        let (name, sha256) = ("x".to_owned(), String::new());
        other.files.push(priolane_results::record::FileRecord { name, bytes: 1, sha256 });
    });
    assert_eq!(files, None);
}
