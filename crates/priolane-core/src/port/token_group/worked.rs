//! TOP's worked examples, Figs. 2 and 8, slot by slot.

use super::*;
use crate::packet::Packet;

const LINE: Rate = Rate::from_gbps(10);
/// Transmission time of 1622 B at 10 Gbps.
const SLOT: u64 = 1_297_600;
/// The rank of tokens that are not part of the example.
const OTHER: u64 = 99;

fn token(class: u8, rank: u64) -> Packet<()> {
    Packet { header: Header { kind: Kind::Credit, class, wire: 84, rank, ..Header::default() }, body: () }
}

fn group(spec: TokenGroupSpec) -> TokenGroup<Packet<()>> {
    TokenGroup::new(&TokenGroupSpec { burst: 1, ..spec }, LINE, Buffer::UNLIMITED)
}

/// Returns the ranks that start in slots `from` to `until`, one per slot.
fn slots(port: &mut TokenGroup<Packet<()>>, from: u64, until: u64) -> Vec<u64> {
    let start = |slot: u64| port.dequeue(Time(slot * SLOT), &mut ()).map(|p| p.header.rank);
    (from..until).filter_map(start).collect()
}

/// Tokens of receivers A and B (ranks 10 to 19 and 20 to 29) for two packets each. In windows of two slots every
/// receiver sends a token for each missing packet. Returns the slots in which A's and B's last tokens start.
fn two_receivers(spec: TokenGroupSpec, class_of_b: u8) -> (u64, u64) {
    let mut port = group(spec);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for window in 0..4 {
        for n in 0..2 {
            let now = Time(2 * window * SLOT);
            if a.len() < 2 - n {
                port.enqueue(now, &token(0, 10 + n as u64), &mut ());
            }
            if b.len() < 2 - n {
                port.enqueue(now, &token(class_of_b, 20 + n as u64), &mut ());
            }
        }
        for slot in 2 * window..2 * window + 2 {
            for rank in slots(&mut port, slot, slot + 1) {
                if rank < 20 { a.push(slot) } else { b.push(slot) }
            }
        }
    }
    (a[1], b[1])
}

#[test]
fn fig_2_priority_among_tokens_ends_one_flow_a_window_earlier_and_the_other_no_later() {
    // Room for two tokens, valid for one slot. Without priority A1 and B1 start in the first window, A2 and B2 find
    // no room; with priority A1 and A2 start, and B1 and B2 expire.
    let spec = TokenGroupSpec { depth: 2, expiry: Some(1), ..TokenGroupSpec::TOP };
    assert_eq!(two_receivers(TokenGroupSpec { classes: 1, ..spec }, 0), (2, 3));
    assert_eq!(two_receivers(TokenGroupSpec { classes: 2, ..spec }, 1), (1, 3));
}

/// Returns the slots that the last token of `classes` full queues is queued, just after another token has started.
fn longest(classes: u8) -> u64 {
    let mut port = group(TokenGroupSpec { classes, depth: 2, expiry: None, ..TokenGroupSpec::TOP });
    port.enqueue(Time::ZERO, &token(0, OTHER), &mut ());
    assert_eq!(slots(&mut port, 0, 1), [OTHER]);
    for class in (0..classes).rev() {
        for n in 0..3 {
            let kept = port.enqueue(Time::ZERO, &token(class, u64::from(class) * 10 + n), &mut ());
            assert_eq!(kept == Admission::Dropped, n == 2, "a queue holds two");
        }
    }
    let last = u64::from(classes - 1) * 10 + 1;
    (1..20).find(|&slot| slots(&mut port, slot, slot + 1) == [last]).unwrap()
}

#[test]
fn fig_8_with_two_priorities_one_switch_can_take_the_whole_delay_of_a_path() {
    // Queues of two tokens, two hops: T is 2 hops x 2 tokens = 4 slots.
    let (hops, depth) = (2, 2);
    // (a) One priority: two slots at each hop, four in total.
    assert_eq!(hops * longest(1), hops * depth);
    // (b) Two: at one hop a low token is queued behind two of the better queue and one of its own. It is still
    // valid.
    assert_eq!(longest(2), hops * depth);
}
