//! Priority on data in place of tokens (TOP §3.1): what waits for how long, and what is lost.

use crate::support::{flow, link};
use crate::tokens::{Audit, audited, dropped_data, queue, top, with};
use priolane_core::endpoint::FlowSpec;
use priolane_core::port::{DisciplineSpec, TokenGroupSpec, TokenMode};
use priolane_core::transport::tokens::priority::Priority;
use priolane_core::transport::tokens::{Config, RankedPackets};
use priolane_core::units::{Limit, Span, Time};
use priolane_sim::outcome::Outcome;
use priolane_sim::topology::Dumbbell;

/// Whether switches limit tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switches {
    LimitTokens,
    LetAllPass,
}

/// Four hosts send to four others through one line as fast as theirs: three flows of `better` bytes, and one of 100 kB in a
/// worse class.
fn run(ranked: RankedPackets, switches: Switches, better: u64, buffer: Limit) -> (Outcome, Vec<Audit>) {
    let host_link = link(10, Span::from_us(4));
    let topology = Dumbbell { left: 4, right: 4, host_link, bottleneck: host_link }.build().unwrap();
    let flows = (0..4u16).map(|i| {
        let (class, bytes) = if i == 0 { (1, 100_000) } else { (0, better) };
        FlowSpec { class, ..flow(u32::from(i), (i, 4 + i), bytes, Time(u64::from(i) * 1_000_003)) }
    });
    let config = Config { ranked, priority: Priority::Asked, ..top() };
    let mut scenario = with(&config, topology, flows.collect());
    let data_queues = if ranked == RankedPackets::Data { 2 } else { 1 };
    let spec = TokenGroupSpec { classes: 2, data_queues, ..TokenGroupSpec::TOP };
    // A frame of a byte: 84 of 85 parts of the line are for tokens, as good as all they want.
    let open =
        TokenGroupSpec { data_wire: 1, mode: TokenMode::UnlimitedDataLow, depth: 100, expiry: None, ..spec };
    queue(&mut scenario.nic).unwrap().discipline = DisciplineSpec::Tokens(spec);
    for port in &mut scenario.ports {
        port.discipline = DisciplineSpec::Tokens(if switches == Switches::LetAllPass { open } else { spec });
        port.buffer.limit = buffer;
    }
    audited(&scenario)
}

/// The longest time from a token to its data.
fn longest(ranked: RankedPackets, switches: Switches, better: u64) -> Span {
    let (outcome, audits) = run(ranked, switches, better, Limit::Unlimited);
    assert!(outcome.flows.iter().all(|f| f.fct.is_some()));
    audits.iter().map(|audit| audit.longest).max().unwrap()
}

#[test]
fn worse_data_waits_without_bound_where_data_is_ranked_and_tokens_are_not_limited() {
    // Three flows of 1 MB and of 4 MB at one line: 2.5 ms and 10 ms, in which better data always waits.
    let [short, long] =
        [1_000_000, 4_000_000].map(|better| longest(RankedPackets::Data, Switches::LetAllPass, better));
    assert!(short > Span::from_ms(1) && long.0 > 3 * short.0, "{short:?} {long:?}");
    // TOP: 26.6 us of links and frames, eight slots of 1.3 us at each of three ports, and what data waits behind data.
    for better in [1_000_000, 4_000_000] {
        let top = longest(RankedPackets::Tokens, Switches::LimitTokens, better);
        assert!(top < Span::from_us(70), "{top:?}");
    }
}

#[test]
fn ranked_data_is_lost_where_limited_tokens_lose_none() {
    let room = Limit::Packets(250);
    for better in [1_000_000, 4_000_000] {
        let lost = |ranked, switches| dropped_data(&run(ranked, switches, better, room).0);
        assert!(lost(RankedPackets::Data, Switches::LetAllPass) > 500);
        assert_eq!(lost(RankedPackets::Tokens, Switches::LimitTokens), 0);
        // It is the limit that keeps data from being lost, whatever is ranked behind it.
        assert_eq!(lost(RankedPackets::Data, Switches::LimitTokens), 0);
    }
}
