use super::*;
use crate::units::Time;

const MSS: u64 = 1_000;

fn config(alpha_0: f64) -> Config {
    let reno = super::super::new_reno::Config { init_window: Some(64 * MSS) };
    Config { reno, g: 1.0 / 16.0, alpha_0, min_window: 2, reduction: Reduction::AtOnce }
}

/// A bulk sender that always fills its window; receives one ACK per segment.
struct Bulk {
    dctcp: Dctcp,
    una: u64,
    next: u64,
}

impl Bulk {
    fn new(alpha_0: f64) -> Self {
        Self::with(&config(alpha_0))
    }

    fn with(config: &Config) -> Self {
        let dctcp = Dctcp::new(config, MSS);
        let next = dctcp.window();
        Self { dctcp, una: 0, next }
    }

    fn ack(&mut self, echo: Echo) {
        self.una += MSS;
        let next = self.next.max(self.una);
        self.dctcp.on_ack(&AckEvent { una: self.una, next, marked: echo == Echo::Marked, ..marked() });
        self.next = self.next.max(self.una + self.dctcp.window());
    }

    /// Acknowledges all data in flight.
    fn window(&mut self, echo: impl Fn(u64) -> Echo) {
        let end = self.next;
        while self.una < end {
            self.ack(echo(self.una / MSS));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    Marked,
    Unmarked,
}

#[test]
fn alpha_is_the_filtered_fraction_of_marked_bytes() {
    let mut bulk = Bulk::new(0.0);
    // The first ACK ends the empty window [0, 0): unmarked, alpha 0. The next window ends with the first ACK
    // beyond the data in flight then: 64 segments, of which every fourth is marked: 16/64 g = 1/64.
    bulk.ack(Echo::Unmarked);
    assert_eq!((bulk.dctcp.alpha(), bulk.next), (0.0, 66_000));
    // 64 segments are in flight at that ACK, so the window ends beyond 64: ACKs 2 to 65, 64 of them.
    for n in 2..=65 {
        bulk.ack(if n % 4 == 0 { Echo::Marked } else { Echo::Unmarked });
    }
    assert_eq!(bulk.dctcp.alpha(), 16.0 / 64.0 / 16.0);
}

#[test]
fn marks_of_one_window_do_not_count_in_the_next() {
    let mut dctcp = Dctcp::<super::super::new_reno::NewReno>::new(&config(0.0), MSS);
    let mut una = 0;
    let mut ack = |marked| {
        una += MSS;
        dctcp.on_ack(&AckEvent { una, next: una + 10 * MSS, marked, ..self::marked() });
        dctcp.alpha()
    };
    // With ten segments in flight after each ACK, a window ends with the eleventh ACK after the one that
    // began it.
    ack(false);
    let alphas = [true, false, false, true].map(|marked| (0..11).map(|_| ack(marked)).last().unwrap());
    // RFC 8257 §3.3: alpha = (1 - g) alpha + g F, with g = 1/16 and F = 1, 0, 0, 1. All are exact in binary.
    let (kept, g) = (15.0 / 16.0, 1.0 / 16.0);
    assert_eq!(alphas, [g, kept * g, kept * kept * g, kept * kept * kept * g + g]);
}

#[test]
fn all_marked_drives_alpha_to_one_and_each_window_to_half() {
    let mut bulk = Bulk::new(0.0);
    // 1 - (15/16)^n after n updates: 100 windows leave 0.0016.
    for _ in 0..100 {
        bulk.window(|_| Echo::Marked);
    }
    assert!((0.998..=1.0).contains(&bulk.dctcp.alpha()), "{}", bulk.dctcp.alpha());
    assert_eq!(bulk.dctcp.window(), 2 * MSS);
    // With alpha 1 from the start, windows of 64: 32, 16, 8, 4, 2, and no lower.
    let mut halving = Bulk::new(1.0);
    let windows: Vec<u64> = (0..7)
        .map(|_| {
            halving.ack(Echo::Marked);
            let cut = halving.dctcp.window() / MSS;
            // Deliver the rest of the data in flight at the reduction, also marked: no further reduction.
            halving.window(|_| Echo::Marked);
            assert_eq!(halving.dctcp.window() / MSS, cut);
            cut
        })
        .collect();
    assert_eq!(windows, [32, 16, 8, 4, 2, 2, 2]);
}

#[test]
fn a_marked_ack_ends_slow_start_and_grows_nothing() {
    let mut bulk = Bulk::new(0.5);
    bulk.ack(Echo::Marked);
    // alpha = 15/16 * 0.5 + 1/16 = 0.53125; 64,000 * (1 - 0.265625) = 47,000.
    assert_eq!((bulk.dctcp.alpha(), bulk.dctcp.window()), (0.53125, 47_000));
    bulk.ack(Echo::Marked);
    assert_eq!(bulk.dctcp.window(), 47_000);
    // 47 unmarked segments add one in congestion avoidance.
    (0..46).for_each(|_| bulk.ack(Echo::Unmarked));
    assert_eq!(bulk.dctcp.window(), 47_000);
    bulk.ack(Echo::Unmarked);
    assert_eq!(bulk.dctcp.window(), 48_000);
}

#[test]
fn a_loss_reduction_covers_marks_of_the_same_window() {
    let mut bulk = Bulk::new(1.0);
    bulk.ack(Echo::Unmarked);
    let out = bulk.next;
    bulk.dctcp.on_loss(&LossEvent { now: Time::ZERO, in_flight: 60 * MSS, next: out });
    while bulk.una < out {
        bulk.ack(Echo::Marked);
    }
    assert_eq!(bulk.dctcp.window(), 30 * MSS);
    bulk.ack(Echo::Marked);
    assert!(bulk.dctcp.window() < 20 * MSS);
}

#[test]
fn the_floor_never_raises_a_window() {
    let mut bulk = Bulk::new(1.0);
    let end = bulk.next;
    bulk.dctcp.on_timeout(&LossEvent { now: Time::ZERO, in_flight: 8_000, next: 0 }, Repeat::First);
    assert_eq!(bulk.dctcp.window(), MSS);
    bulk.ack(Echo::Marked);
    assert_eq!((bulk.dctcp.window(), bulk.next), (MSS, end));
}

#[test]
fn a_proportional_reduction_sends_half_of_what_is_acknowledged_and_ends_at_its_target() {
    let config = Config { reduction: Reduction::Proportional, ..config(1.0) };
    let mut bulk = Bulk::with(&config);
    let (end, mut before) = (bulk.next, bulk.next);
    bulk.ack(Echo::Marked);
    // 64 segments in flight, one acknowledged: 63 are left and the target is 32. The first ACK may send a
    // segment.
    assert_eq!(bulk.next, end + MSS);
    while bulk.una < end {
        // Each ACK sends at most what it acknowledges, so there is no burst; the marks begin no second
        // reduction.
        assert!(bulk.next - before <= MSS, "{} after {}", bulk.next, before);
        before = bulk.next;
        bulk.ack(Echo::Marked);
    }
    assert_eq!(bulk.next - end, 32 * MSS);
    bulk.ack(Echo::Unmarked);
    assert_eq!(bulk.dctcp.window() / MSS, 32);
}

#[test]
fn ns_3_counts_the_first_ack_of_a_reduction_twice() {
    let sent = |reduction| {
        let mut bulk = Bulk::with(&Config { reduction, ..config(1.0) });
        let end = bulk.next;
        (0..20).for_each(|_| bulk.ack(Echo::Marked));
        bulk.next - end
    };
    // ceil(delivered target / flight) with 20 and 21 segments delivered, target 32 and flight 63 segments.
    assert_eq!(sent(Reduction::Proportional), (20 * 32 * MSS).div_ceil(63));
    assert_eq!(sent(Reduction::Ns3), (21 * 32 * MSS).div_ceil(63));
}

#[test]
fn a_loss_ends_a_reduction() {
    let mut bulk = Bulk::with(&Config { reduction: Reduction::Proportional, ..config(1.0) });
    bulk.ack(Echo::Marked);
    bulk.dctcp.on_loss(&LossEvent { now: Time::ZERO, in_flight: 20 * MSS, next: bulk.next });
    assert_eq!(bulk.dctcp.window(), 10 * MSS);
}

/// Over PACCP, a mark reduces by alpha (W / 2 - (w - 1)) in congestion avoidance, by alpha 3^(1-w) / 2 W in
/// slow start.
#[test]
fn over_paccp_a_cut_is_alpha_times_that_of_a_loss() {
    use super::super::paccp::{self, Avoidance, LossFloor, Paccp, RttOf};
    let reno = super::super::new_reno::Config { init_window: Some(64 * MSS) };
    let paccp = paccp::Config {
        reno,
        r_cos: 3.0,
        avoidance: Avoidance::Approximate,
        rtt: RttOf::Smoothed,
        floor: LossFloor::None,
    };
    let (g, reduction) = (1.0 / 16.0, Reduction::AtOnce);
    let kept = |alpha_0, w_milli, marks: u64| {
        let config = Config { reno: paccp, g, alpha_0, min_window: 2, reduction };
        let mut over = Dctcp::<Paccp>::new(&config, MSS);
        over.set_weights(None, w_milli);
        // The first ACK ends the empty window: alpha is (1 - g) alpha_0 + g.
        for mark in 1..=marks {
            let una = mark * 100 * MSS;
            over.on_ack(&AckEvent { acked: MSS, una, next: una + 64 * MSS, ..marked() });
        }
        over.window()
    };
    // alpha 1: in slow start 64 (1 - 3^0 / 2) = 32 at w = 1, 64 (1 - 3^-1 / 2) = 53.33 at w = 2, then in congestion
    // avoidance 32 / 2 = 16, and 53.33 - (53.33 / 2 - 1) = 27.67.
    assert_eq!((kept(1.0, 1_000, 1), kept(1.0, 2_000, 1)), (32_000, 53_333));
    assert_eq!((kept(1.0, 1_000, 2), kept(1.0, 2_000, 2)), (16_000, 27_666));
    // alpha = 15/16 x 1/15 + 1/16 = 1/8: 64 (1 - 1/8 x 1/2) = 60, 64 (1 - 1/8 x 1/6) = 62.667.
    assert_eq!((kept(1.0 / 15.0, 1_000, 1), kept(1.0 / 15.0, 2_000, 1)), (60_000, 62_666));
}

fn marked() -> AckEvent {
    AckEvent {
        now: Time::ZERO,
        acked: MSS,
        delivered: MSS,
        in_flight: 0,
        una: 0,
        next: 0,
        marked: true,
        growth: Growth::Allowed,
        rtt: None,
        srtt: crate::units::Span::ZERO,
        one_way_ps: 0,
        host_delay: crate::units::Span::ZERO,
    }
}
