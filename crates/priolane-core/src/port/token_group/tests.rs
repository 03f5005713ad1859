use super::*;
use crate::packet::Packet;
use crate::port::tests::Log;
use crate::rng::{Purpose, Stream};
use crate::units::Limit;

const LINE: Rate = Rate::from_gbps(10);
/// Transmission time of 1622 B at 10 Gbps.
const SLOT: u64 = 1_297_600;

fn item(kind: Kind, class: u8, wire: u16, rank: u64) -> Packet<()> {
    Packet { header: Header { kind, class, wire, rank, ..Header::default() }, body: () }
}

fn token(class: u8, rank: u64) -> Packet<()> {
    item(Kind::Credit, class, 84, rank)
}

fn data(rank: u64) -> Packet<()> {
    item(Kind::Data, 0, 1538, rank)
}

fn group(spec: TokenGroupSpec) -> TokenGroup<Packet<()>> {
    TokenGroup::new(&spec, LINE, Buffer::UNLIMITED)
}

/// Serves the port from `from` until nothing is due or `until`; returns the times and headers.
fn serve(port: &mut TokenGroup<Packet<()>>, from: u64, until: u64) -> Vec<(u64, Header)> {
    serve_and_tell(port, from, until).0
}

/// As `serve`, and also returns the ranks of the expired tokens.
fn serve_and_tell(
    port: &mut TokenGroup<Packet<()>>,
    from: u64,
    until: u64,
) -> (Vec<(u64, Header)>, Vec<u64>) {
    let mut log = Log::default();
    let mut free = from;
    let mut served = Vec::new();
    while let Some(start) = port.next_eligible_time().map(|s| s.0.max(free)).filter(|&s| s <= until) {
        if let Some(header) = port.dequeue(Time(start), &mut log).map(|p| p.header) {
            served.push((start, header));
            free = start + LINE.serialize(u64::from(header.wire)).0;
        }
    }
    (served, ranks(&log.expired))
}

fn ranks(headers: &[Header]) -> Vec<u64> {
    headers.iter().map(|header| header.rank).collect()
}

/// Discards the tokens that have expired by `now` and returns their ranks.
fn expired(port: &mut TokenGroup<Packet<()>>, now: u64) -> Vec<u64> {
    let mut log = Log::default();
    port.expire(Time(now), &mut log);
    ranks(&log.expired)
}

fn enqueue(port: &mut TokenGroup<Packet<()>>, now: u64, item: &Packet<()>) -> Admission {
    port.enqueue(Time(now), item, &mut ())
}

#[test]
fn a_lone_group_serves_a_token_a_slot_after_its_burst() {
    let mut port = group(TokenGroupSpec::TOP);
    (0..8).for_each(|i| assert_eq!(port.enqueue(Time::ZERO, &token(3, i), &mut ()), Admission::Queued));
    assert_eq!(port.enqueue(Time::ZERO, &token(3, 8), &mut ()), Admission::Dropped, "a class holds 8");
    assert_eq!(port.enqueue(Time::ZERO, &token(2, 9), &mut ()), Admission::Queued, "and another 8 more");
    let starts: Vec<(u64, u64)> =
        serve(&mut port, 0, u64::MAX / 2).iter().map(|&(t, h)| (t, h.rank)).collect();
    // Two immediately, 67.2 ns each on the link; then one per slot, the better class first.
    let expected: Vec<(u64, u64)> = [9, 0, 1, 2, 3, 4, 5, 6, 7]
        .iter()
        .enumerate()
        .map(|(n, &rank)| (if n == 1 { 67_200 } else { (n as u64).saturating_sub(1) * SLOT }, rank))
        .collect();
    assert_eq!(starts, expected);
}

#[test]
fn a_token_starts_at_its_eighth_slot_and_not_a_picosecond_later() {
    for (late, gone) in [(0, false), (1, true)] {
        let mut port = group(TokenGroupSpec::TOP);
        port.enqueue(Time::ZERO, &token(0, 7), &mut ());
        let mut log = Log::default();
        let started = port.dequeue(Time(8 * SLOT + late), &mut log).map(|p| p.header.rank);
        assert_eq!((started, ranks(&log.expired)), if gone { (None, vec![7]) } else { (Some(7), vec![]) });
        assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
    }
}

#[test]
fn arrivals_make_room_of_what_expired() {
    let mut port = group(TokenGroupSpec::TOP);
    (0..8).for_each(|i| {
        port.enqueue(Time(i), &token(0, i), &mut ());
    });
    // Five arrived by 4 ps.
    let now = Time(8 * SLOT + 5);
    let mut log = Log::default();
    assert_eq!(port.enqueue(now, &token(0, 8), &mut log), Admission::Queued);
    assert_eq!(ranks(&log.expired), [0, 1, 2, 3, 4]);
    assert_eq!((port.packets(), port.bytes()), (4, 4 * 84));
    // If tokens do not expire, there is no room.
    let mut port = group(TokenGroupSpec { expiry: None, ..TokenGroupSpec::TOP });
    (0..8).for_each(|i| {
        port.enqueue(Time(i), &token(0, i), &mut ());
    });
    assert_eq!(port.enqueue(now, &token(0, 8), &mut ()), Admission::Dropped);
    assert_eq!(expired(&mut port, u64::MAX), []);
}

#[test]
fn a_better_class_makes_a_worse_one_expire() {
    let mut port = group(TokenGroupSpec::TOP);
    port.enqueue(Time::ZERO, &token(5, 99), &mut ());
    // A token of class 0 each slot: they use the burst and every slot.
    let (mut served, mut gone) = (Vec::new(), Vec::new());
    for i in 0..12 {
        gone.extend(expired(&mut port, i * SLOT));
        port.enqueue(Time(i * SLOT), &token(0, 2 * i), &mut ());
        port.enqueue(Time(i * SLOT), &token(0, 2 * i + 1), &mut ());
        let (more, reported) = serve_and_tell(&mut port, i * SLOT, (i + 1) * SLOT - 1);
        served.extend(more);
        gone.extend(reported);
    }
    assert!(served.iter().all(|(_, header)| header.class == 0) && served.len() == 13, "{}", served.len());
    assert!(gone.contains(&99), "{gone:?}");
}

/// Feeds a link with data and tokens for 2,000 slots, one token of each of `classes` per slot; returns token and
/// data bytes served.
fn saturated(spec: TokenGroupSpec, classes: &[u8]) -> (u64, u64) {
    let mut port = TokenGroup::new(&spec, LINE, Buffer { limit: Limit::Packets(40), ..Buffer::UNLIMITED });
    let mut sums = (0, 0);
    let mut free = 0;
    for slot in 0..2_000 {
        let now = slot * SLOT;
        for &class in classes {
            enqueue(&mut port, now, &token(class, 0));
        }
        (0..2).for_each(|_| {
            enqueue(&mut port, now, &data(0));
        });
        for (start, header) in serve(&mut port, free.max(now), now + SLOT - 1) {
            free = start + LINE.serialize(u64::from(header.wire)).0;
            let sum = if header.kind == Kind::Credit { &mut sums.0 } else { &mut sums.1 };
            *sum += u64::from(header.wire);
        }
    }
    sums
}

#[test]
fn both_modes_share_a_saturated_line_in_the_ratio_of_token_and_frame() {
    for mode in [TokenMode::B, TokenMode::A] {
        let (tokens, data) = saturated(TokenGroupSpec { mode, ..TokenGroupSpec::TOP }, &[0, 3, 5]);
        // 2,000 slots: a token and a frame each. If data is first, two data frames in a row, its burst,
        // occasionally leave a token's slot unused.
        let least = if mode == TokenMode::B { 1_998 } else { 1_975 };
        assert!((least..=2_002).contains(&(tokens / 84)), "{mode:?} {tokens}");
        assert!((1_997..=2_002).contains(&(data / 1538)), "{mode:?} {data}");
    }
}

#[test]
fn what_top_rejects_fails_as_it_says() {
    let top = TokenGroupSpec::TOP;
    // Unlimited data above tokens: tokens starve.
    let high = TokenGroupSpec { mode: TokenMode::UnlimitedDataHigh, ..top };
    assert_eq!(saturated(high, &[0]).0, 0);
    // Below tokens, data uses the slots that tokens leave: without any token, the whole link.
    let low = TokenGroupSpec { mode: TokenMode::UnlimitedDataLow, ..top };
    let (none, all) = saturated(low, &[]);
    assert!(none == 0 && all / 1538 > 2_100, "{all}");
    assert!(saturated(top, &[]).1 / 1538 <= 2_002);
    // A limiter for each class: a single active class gets a sixth.
    let split = TokenGroupSpec { mode: TokenMode::PerClassSplit, ..top };
    let lone = saturated(split, &[3]).0 / 84;
    assert!((333..=336).contains(&lone), "{lone}");
}

#[test]
fn a_limiter_where_tokens_arrive_does_not_see_their_classes() {
    // Two tokens a slot, in random order: the best class should be served always, but the first to arrive is.
    let served = |mode| {
        let mut port = group(TokenGroupSpec { mode, ..TokenGroupSpec::TOP });
        let mut stream = Stream::new(1, Purpose::Port, 0);
        let mut best = 0;
        let mut all = 0;
        for slot in 0..2_000 {
            let first = if stream.chance(0.5) { 0 } else { 5 };
            for class in [first, 5 - first] {
                enqueue(&mut port, slot * SLOT, &token(class, 0));
            }
            let tokens = serve(&mut port, slot * SLOT, (slot + 1) * SLOT - 1);
            best += tokens.iter().filter(|(_, header)| header.class == 0).count();
            all += tokens.len();
        }
        (best, all)
    };
    let (best, all) = served(TokenMode::B);
    assert!(best >= 1_999 && (2_000..=2_002).contains(&all), "{best} {all}");
    let (best, all) = served(TokenMode::IngressBlind);
    // Half of 2,000; 4 sigma are 90.
    assert!((910..=1_090).contains(&best) && (1_999..=2_002).contains(&all), "{best} {all}");
}

#[test]
fn without_expiry_a_token_waits_as_long_as_better_ones_come() {
    for load in [100, 1_000] {
        let waited = |expiry| {
            let mut port = group(TokenGroupSpec { expiry, ..TokenGroupSpec::TOP });
            enqueue(&mut port, 0, &token(5, 99));
            let mut starts = Vec::new();
            for slot in 0..load {
                // Two more at the start: the burst is available to them as well.
                (0..if slot == 0 { 3 } else { 1 }).for_each(|_| {
                    enqueue(&mut port, slot * SLOT, &token(0, 0));
                });
                starts.extend(serve(&mut port, slot * SLOT, (slot + 1) * SLOT - 1));
            }
            starts.extend(serve(&mut port, load * SLOT, (load + 10) * SLOT));
            starts.iter().find(|(_, header)| header.rank == 99).map(|(start, _)| start / SLOT)
        };
        let without = waited(None).unwrap();
        assert!((load..=load + 2).contains(&without), "{without}");
        assert_eq!(waited(Some(8)), None, "it expires");
    }
}

#[test]
fn a_detour_delays_what_the_limiter_lets_go_and_nothing_else() {
    let takes = Span::from_us(3);
    let mut stream = Stream::new(2, Purpose::Port, 0);
    let spec = TokenGroupSpec { expiry: None, depth: 3, ..TokenGroupSpec::TOP };
    let mut ports = [None, Some(takes)].map(|detour| group(TokenGroupSpec { detour, ..spec }));
    let mut starts = [Vec::new(), Vec::new()];
    let mut dropped = [0, 0];
    let mut now = 0;
    for rank in 0..3_000 {
        // More than a token per slot for a while, then fewer.
        let most = if rank / 500 % 2 == 0 { 12 } else { 30 };
        let next = now + 100_000 * (1 + stream.below(most));
        let class = stream.below(6) as u8;
        for (place, port) in ports.iter_mut().enumerate() {
            starts[place].extend(serve(port, now, next - 1).into_iter().map(|(t, header)| (t, header.rank)));
            dropped[place] += u32::from(enqueue(port, next, &token(class, rank)) == Admission::Dropped);
        }
        now = next;
    }
    for (place, port) in ports.iter_mut().enumerate() {
        starts[place].extend(serve(port, now, u64::MAX).into_iter().map(|(t, header)| (t, header.rank)));
        assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
    }
    let [direct, detoured] = starts;
    let shifted: Vec<(u64, u64)> = direct.iter().map(|&(t, rank)| (t + takes.0, rank)).collect();
    assert_eq!(shifted, detoured);
    assert!(dropped[0] == dropped[1] && dropped[0] > 100, "{dropped:?}");
}

#[test]
fn signals_go_first_and_are_not_limited() {
    let mut port = group(TokenGroupSpec::TOP);
    port.enqueue(Time::ZERO, &data(0), &mut ());
    port.enqueue(Time::ZERO, &token(0, 1), &mut ());
    (2..12).for_each(|i| {
        port.enqueue(Time::ZERO, &item(Kind::Signal, 0, 84, i), &mut ());
    });
    let ranks: Vec<u64> = serve(&mut port, 0, SLOT).iter().map(|(_, h)| h.rank).collect();
    assert_eq!(ranks, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 0]);
}

/// Tokens of 84 to 92 B at random times: every window has at most the rate and the burst, exactly.
#[test]
fn token_bytes_of_every_window_are_bounded_exactly() {
    let rates = [LINE, Rate::from_gbps(15), Rate::from_bps(9_999_999_967).unwrap()];
    for (rate, burst) in rates.into_iter().flat_map(|rate| [(rate, 2), (rate, 5)]) {
        let spec = TokenGroupSpec { token_wire: 88, burst, ..TokenGroupSpec::TOP };
        let mut port = TokenGroup::<Packet<()>>::new(&spec, rate, Buffer::UNLIMITED);
        let mut rng = Stream::new(u64::from(burst), Purpose::Pairs, rate.bps());
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        let mut starts: Vec<(u64, u64)> = Vec::new();
        for _ in 0..3_000 {
            now += Span(rng.below(2_600_000));
            while let Some(start) = port.next_eligible_time().map(|s| s.max(free)).filter(|&s| s <= now) {
                expired(&mut port, start.0);
                if let Some(header) = port.dequeue(start, &mut ()).map(|p| p.header) {
                    free = start + rate.serialize(u64::from(header.wire));
                    if header.kind == Kind::Credit {
                        starts.push((start.0, u64::from(header.wire)));
                    }
                }
            }
            for _ in 0..rng.below(4) {
                let (class, wire) = (rng.below(6) as u8, 84 + rng.below(9) as u16);
                enqueue(&mut port, now.0, &item(Kind::Credit, class, wire, 0));
            }
            if rng.chance(0.3) {
                enqueue(&mut port, now.0, &data(0));
            }
        }
        assert!(starts.len() > 2_000, "{}", starts.len());
        let mut tight = 0;
        for (i, &(begin, _)) in starts.iter().enumerate() {
            let mut bytes = 0;
            for &(end, wire) in &starts[i..(i + 60).min(starts.len())] {
                bytes += wire;
                // bytes <= rate x w + (burst - 1) s + last, all times 8 x 10^12 x (s + F).
                let ahead =
                    u128::from(bytes - wire) - u128::from(bytes - wire).min(u128::from(burst - 1) * 88);
                let left = ahead * 8 * 1_000_000_000_000 * (88 + 1538);
                let right = u128::from(end - begin) * u128::from(rate.bps()) * 88;
                assert!(left <= right, "{bytes} B in {} ps", end - begin);
                tight += u32::from(ahead > 0 && left * 100 > right * 99);
            }
        }
        assert!(tight > 10, "the bound is never near: {tight}");
    }
}

/// Compares with a linear search over a list: same services, drops and expiries for random input.
#[test]
fn the_group_serves_as_a_searched_list_does() {
    for seed in 0..6 {
        let spec = TokenGroupSpec { classes: 3, depth: 4, ..TokenGroupSpec::TOP };
        let mut port = group(spec);
        let mut model: Vec<(u64, u8, u64)> = Vec::new();
        let mut rng = Stream::new(seed, Purpose::Pairs, 5);
        let (mut lost, mut expired_count) = (0, 0);
        for step in 0..4_000u64 {
            let now = step * SLOT / 3;
            model.retain(|&(at, ..)| {
                let alive = at + 8 * SLOT >= now;
                lost += u64::from(!alive);
                alive
            });
            expired_count += expired(&mut port, now).len() as u64;
            if rng.chance(0.8) {
                let class = rng.below(3) as u8;
                let fits = model.iter().filter(|t| t.1 == class).count() < 4;
                let admission = port.enqueue(Time(now), &token(class, step), &mut ());
                assert_eq!(admission == Admission::Queued, fits, "{step}");
                if fits {
                    model.push((now, class, step));
                }
            }
            if port.next_eligible_time().is_some_and(|s| s.0 <= now) {
                let served = port.dequeue(Time(now), &mut ()).map(|p| p.header.rank);
                let best = model.iter().enumerate().min_by_key(|(_, t)| (t.1, t.0)).map(|(i, _)| i);
                assert_eq!(served, best.map(|i| model.remove(i).2), "{step}");
            }
        }
        assert!(lost > 300 && expired_count == lost, "{expired_count} {lost}");
    }
}

#[test]
fn ranked_tokens_go_by_rank_and_the_worst_makes_way() {
    let spec =
        TokenGroupSpec { order: TokenOrder::Rank, classes: 2, depth: 2, burst: 4, ..TokenGroupSpec::TOP };
    let mut port = group(spec);
    for (class, rank) in [(0, 50), (1, 20), (5, 40), (0, 20)] {
        assert_eq!(enqueue(&mut port, 0, &token(class, rank)), Admission::Queued);
    }
    // The capacity is four: a worse or equal token is dropped, a better one evicts the worst.
    let mut log = Log::default();
    assert_eq!(port.enqueue(Time(1), &token(0, 50), &mut log), Admission::Dropped);
    assert!(log.evicted.is_empty());
    assert_eq!(port.enqueue(Time(2), &token(3, 30), &mut log), Admission::Queued);
    assert_eq!((ranks(&log.evicted), port.packets()), (vec![50], 4));
    let served: Vec<(u64, u8)> =
        serve(&mut port, 2, u64::MAX / 2).iter().map(|(_, h)| (h.rank, h.class)).collect();
    assert_eq!(served, [(20, 1), (20, 0), (30, 3), (40, 5)]);
}

#[test]
fn the_oldest_ranked_token_expires_first_whatever_its_rank() {
    let mut port = group(TokenGroupSpec { order: TokenOrder::Rank, ..TokenGroupSpec::TOP });
    for (at, rank) in [(0, 5), (10, 90), (20, 1)] {
        enqueue(&mut port, at, &token(0, rank));
    }
    assert_eq!(port.dequeue(Time(20), &mut ()).map(|p| p.header.rank), Some(1));
    assert_eq!(expired(&mut port, 8 * SLOT), []);
    assert_eq!(expired(&mut port, 8 * SLOT + 10), [5]);
    assert_eq!(expired(&mut port, 8 * SLOT + 11), [90]);
    assert_eq!((port.packets(), port.bytes(), port.next_eligible_time()), (0, 0, None));
}

#[test]
fn several_queues_of_data_are_strict_by_rank_and_share_buffer_and_rate() {
    let spec = TokenGroupSpec { data_queues: 3, burst: 1, ..TokenGroupSpec::TOP };
    let buffer = Buffer { limit: Limit::Packets(4), ..Buffer::UNLIMITED };
    let mut port = TokenGroup::<Packet<()>>::new(&spec, LINE, buffer);
    for rank in [2, 7, 0, 1] {
        assert_eq!(enqueue(&mut port, 0, &data(rank)), Admission::Queued);
    }
    assert_eq!(enqueue(&mut port, 0, &data(0)), Admission::Dropped, "room is for all together");
    assert_eq!(port.payload_bytes(), 4 * 1_538);
    let served: Vec<(u64, u64)> = serve(&mut port, 0, 4 * SLOT).iter().map(|&(t, h)| (t, h.rank)).collect();
    // A frame per slot; the packet with a rank beyond the last queue arrived second in it.
    assert_eq!(served, [(0, 0), (SLOT, 1), (2 * SLOT, 2), (3 * SLOT, 7)]);
    assert_eq!((port.packets(), port.next_eligible_time()), (0, None));
}

#[test]
fn unscheduled_payload_waits_alone_and_goes_last() {
    let mut port = group(TokenGroupSpec {
        unscheduled: Some(UnscheduledData { class: 14, room: Some(1) }),
        ..TokenGroupSpec::TOP
    });
    let blind = |rank| item(Kind::Data, 14, 1538, rank);
    assert_eq!(enqueue(&mut port, 0, &blind(1)), Admission::Queued);
    assert_eq!(enqueue(&mut port, 0, &blind(2)), Admission::Dropped);
    (3..5).for_each(|rank| assert_eq!(enqueue(&mut port, 0, &data(rank)), Admission::Queued));
    enqueue(&mut port, 0, &token(0, 5));
    let served: Vec<(u64, u64)> =
        serve(&mut port, 0, u64::MAX / 2).iter().map(|&(t, h)| (t, h.rank)).collect();
    // The token, the burst of two data frames, then the unscheduled packet.
    assert_eq!(served, [(0, 5), (67_200, 3), (1_297_600, 4), (2_528_000, 1)]);
}
