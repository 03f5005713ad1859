use super::*;
use crate::rng::{Purpose, Stream};

const LOSSLESS: ClassSet = ClassSet(0b10);
/// The lossless class.
const C: Class = 1;

fn spec(size: u64, xoff: Xoff, headroom: HeadroomFrom) -> PfcSpec {
    let memory = SharedBuffer { size, alpha: Alpha::new((1, 1)).unwrap() };
    PfcSpec {
        memory,
        lossless: LOSSLESS,
        xoff,
        xon_below: 3_000,
        headroom,
        headroom_least: 0,
        headroom_round_trips: 0,
        watchdog: None,
    }
}

fn load(from: usize, class: Class, wire: u16) -> Load {
    Load { from, class, wire }
}

const FRAMES: Frames = Frames { largest: 1538, pause: 84 };

/// A link of 1 us in each direction, rates in Gbps.
fn reach(rate: u64, back: u64, reaction: Span) -> PauseLink {
    PauseLink {
        rate: Rate::from_gbps(rate),
        back: Rate::from_gbps(back),
        round_trip: Span::from_us(2),
        reaction,
    }
}

#[test]
fn headroom_is_the_formula_to_the_byte() {
    let frames = FRAMES;
    // 100 Gbps and 1 us in each direction: (1538 + 84) + 25,000 + 2 x 1538 = 29,698, and a byte for rounding.
    assert_eq!(reach(100, 100, Span::ZERO).headroom(frames), 29_699);
    // A reverse link of 10 Gbps takes ten times as long: 10 x 1622.
    assert_eq!(reach(100, 10, Span::ZERO).headroom(frames), 16_220 + 25_000 + 3_076 + 1);
    // 1 us of reaction time at a host: 12,500 B more at 100 Gbps.
    assert_eq!(reach(100, 100, Span::from_us(1)).headroom(frames), 29_699 + 12_500);
}

#[test]
fn a_class_is_paused_by_the_packet_that_does_not_fit_and_resumed_below() {
    let mut buffer = PfcBuffer::new(spec(100_000, Xoff::Bytes(10_000), HeadroomFrom::Beside), vec![5_000; 2]);
    let arrive = |buffer: &mut PfcBuffer, n: usize| {
        (0..n).map(|_| buffer.arrive(load(0, C, 1_000), 0)).collect::<Vec<_>>()
    };
    // Ten fit; the eleventh pauses and uses the headroom, as do four more; a sixteenth has no room.
    assert!(arrive(&mut buffer, 10).iter().all(|&a| a == (Acceptance::Kept, PauseSignal::Nothing)));
    assert_eq!(arrive(&mut buffer, 1), [(Acceptance::Kept, PauseSignal::Pause)]);
    assert!(arrive(&mut buffer, 4).iter().all(|&a| a == (Acceptance::Kept, PauseSignal::Nothing)));
    assert_eq!(arrive(&mut buffer, 1), [(Acceptance::Refused, PauseSignal::Nothing)]);
    assert_eq!((buffer.paused(0), buffer.paused(1), buffer.shared_used), (LOSSLESS, ClassSet::NONE, 10_000));
    // The other port and the other class continue.
    assert_eq!(buffer.arrive(load(1, C, 1_000), 0), (Acceptance::Kept, PauseSignal::Nothing));
    assert_eq!(buffer.arrive(load(0, 0, 1_000), 0), (Acceptance::Kept, PauseSignal::Nothing));
    // Five leave the headroom; 10,000, 9,000, 8,000 are above 10,000 - 3,000; at 7,000 the class is resumed.
    let left: Vec<PauseSignal> = (0..8).map(|_| buffer.leave(load(0, C, 1_000))).collect();
    assert_eq!(left, [[PauseSignal::Nothing; 7].as_slice(), &[PauseSignal::Resume]].concat());
    assert_eq!((buffer.paused(0), buffer.shared_used), (ClassSet::NONE, 9_000));
}

#[test]
fn a_threshold_follows_what_is_free() {
    let alpha = Alpha::new((1, 2)).unwrap();
    let mut buffer = PfcBuffer::new(spec(12_000, Xoff::OfFree(alpha), HeadroomFrom::Beside), vec![50_000; 2]);
    // Before each packet x + 1000 <= (12,000 - x) / 2: up to x = 3,000, then 5,000 > 4,000.
    let signals: Vec<PauseSignal> = (0..5).map(|_| buffer.arrive(load(0, C, 1_000), 0).1).collect();
    assert_eq!(
        signals,
        [
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Pause
        ]
    );
    // A lossy queue must be below the free bytes, 8,000 initially; each packet reduces them: up to 4,000.
    let lossy: Vec<Acceptance> = (0..5).map(|i| buffer.arrive(load(1, 0, 1_000), i * 1_000).0).collect();
    assert_eq!(lossy, [[Acceptance::Kept; 4].as_slice(), &[Acceptance::Refused]].concat());
    // 4,000 are free: X is 2,000, minus 3,000 gives 0. Only an empty account is resumed.
    let left: Vec<PauseSignal> = (0..5).map(|_| buffer.leave(load(0, C, 1_000))).collect();
    assert_eq!(
        left,
        [
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Nothing,
            PauseSignal::Resume
        ]
    );
}

#[test]
fn headroom_is_charged_to_the_memory_or_beside_it() {
    // 4 ports of 5,000 B leave 10,000 of 30,000.
    let fill = |headroom| {
        let mut buffer = PfcBuffer::new(spec(30_000, Xoff::Bytes(u64::MAX), headroom), vec![5_000; 4]);
        (0..).take_while(|_| buffer.arrive(load(0, C, 1_000), 0).1 == PauseSignal::Nothing).count()
    };
    assert_eq!((fill(HeadroomFrom::Memory), fill(HeadroomFrom::Beside)), (10, 30));
}

#[test]
fn eight_lossless_classes_take_most_of_a_small_switch() {
    // PrioPlus's switch of 6 ports of 100 Gbps and 1 us: 1.5 x 100 Gbps x 2 us = 37.5 kB per class and port, while
    // the links need 29,699 B; 8 x 6 x 37.5 kB = 1.8 MB of 4.4 MB/Tbps x 0.6 Tbps = 2.64 MB.
    let left = |classes: u16, headroom_least, headroom_round_trips| {
        let spec = PfcSpec {
            lossless: ClassSet((1 << classes) - 1),
            headroom_least,
            headroom_round_trips,
            ..spec(2_640_000, Xoff::Bytes(u64::MAX), HeadroomFrom::Memory)
        };
        let of_port = spec.headroom_at(&reach(100, 100, Span::ZERO), FRAMES);
        PfcBuffer::new(spec, vec![of_port; 6]).shared_size
    };
    assert_eq!((left(8, 37_500, 0), left(1, 37_500, 0)), (840_000, 2_415_000));
    assert_eq!((left(8, 0, 1_500), left(1, 0, 1_500)), (840_000, 2_415_000));
    assert_eq!(left(8, 20_000, 800), 2_640_000 - 48 * 29_699);
}

#[test]
fn headroom_by_round_trips_follows_the_rate_of_the_link() {
    let least = |rate, thousandths| reach(rate, rate, Span::ZERO).round_trips(thousandths);
    // 2 C d is 25 kB at 100 Gbps and 6,250 B at 25; a third of the latter is rounded up.
    assert_eq!((least(100, 1_500), least(25, 1_500), least(25, 333)), (37_500, 9_375, 2_082));
    let spec = PfcSpec { headroom_round_trips: 1_500, ..spec(1, Xoff::Bytes(1), HeadroomFrom::Beside) };
    let at = |rate| spec.headroom_at(&reach(rate, rate, Span::ZERO), FRAMES);
    // At 25 Gbps the frames need more: (1538 + 84) + 6,250 + 3,076, and a byte for rounding.
    assert_eq!((at(25), at(100), at(400)), (10_949, 37_500, 150_000));
}

#[test]
fn a_class_is_not_resumed_before_its_headroom_is_empty() {
    let spec = PfcSpec { xon_below: 0, ..spec(100_000, Xoff::Bytes(3_000), HeadroomFrom::Beside) };
    let mut buffer = PfcBuffer::new(spec, vec![5_000]);
    (0..5).for_each(|_| assert_eq!(buffer.arrive(load(0, C, 1_000), 0).0, Acceptance::Kept));
    // Three are in the shared buffer, which is X; two in the headroom: resumed when the second of those has left.
    let signals: Vec<PauseSignal> = (0..2).map(|_| buffer.leave(load(0, C, 1_000))).collect();
    assert_eq!(signals, [PauseSignal::Nothing, PauseSignal::Resume]);
}

#[test]
fn what_leaves_a_buffer_unmoved_is_what_arrives_and_leaves_without_a_word() {
    let mut rng = Stream::new(3, Purpose::Endpoint, 0);
    let alphas = [(1, 8), (1, 1), (4, 1)].map(|part| Alpha::new(part).unwrap());
    let (mut unmoved, mut moved) = (0, 0);
    for round in 0..300 {
        let alpha = alphas[round % 3];
        let xoff = if round % 2 == 0 { Xoff::OfFree(alpha) } else { Xoff::Bytes(rng.below(6_000)) };
        let memory = SharedBuffer { size: 4_000 + rng.below(20_000), alpha };
        let spec = PfcSpec { memory, ..spec(0, xoff, HeadroomFrom::Beside) };
        let mut buffer = PfcBuffer::new(spec, vec![10_000; 2]);
        let mut inside: Vec<Load> = Vec::new();
        for _ in 0..60 {
            let next = load(rng.below(2) as usize, rng.below(2) as Class, 64 + rng.below(1_475) as u16);
            let mut through = buffer.clone();
            let arrival = through.arrive(next, 0);
            let departure =
                if arrival.0 == Acceptance::Kept { through.leave(next) } else { PauseSignal::Nothing };
            let silent =
                (arrival, departure) == ((Acceptance::Kept, PauseSignal::Nothing), PauseSignal::Nothing);
            let paused = buffer.paused(next.from).has(next.class);
            assert_eq!(buffer.leaves_state_unchanged(next), silent && !paused, "{buffer:?} {next:?}");
            if silent && !paused {
                assert_eq!(format!("{buffer:?}"), format!("{through:?}"));
                unmoved += 1;
            } else {
                moved += 1;
            }
            if rng.chance(0.6) {
                if buffer.arrive(next, 0).0 == Acceptance::Kept {
                    inside.push(next);
                }
            } else if !inside.is_empty() {
                buffer.leave(inside.swap_remove(rng.below(inside.len() as u64) as usize));
            }
        }
    }
    assert!(unmoved > 3_000 && moved > 3_000, "{unmoved} {moved}");
}
