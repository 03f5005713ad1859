use priolane_core::rng::{Purpose, Stream};
use priolane_rounds::rounds;

use super::*;
use Verdict::{Contradicted, Incomplete, Reproduced, Undecided};

fn of_most(verdicts: &[Verdict]) -> Verdict {
    Quorum::most(verdicts.len()).verdict(verdicts.iter().copied())
}

#[test]
fn most_of_five_are_three_and_most_of_six_are_four() {
    assert_eq!(of_most(&[Reproduced, Reproduced, Reproduced, Contradicted, Contradicted]), Reproduced);
    assert_eq!(of_most(&[Reproduced, Reproduced, Undecided, Contradicted, Contradicted]), Undecided);
    assert_eq!(of_most(&[Reproduced, Reproduced, Contradicted, Contradicted, Contradicted]), Contradicted);
    let six = [Reproduced, Reproduced, Reproduced, Contradicted, Contradicted, Contradicted];
    assert_eq!(of_most(&six), Contradicted);
    assert_eq!(of_most(&[Reproduced, Undecided, Incomplete]), Incomplete);
    assert_eq!(of_most(&[]), Incomplete);
}

#[test]
fn of_all_points_the_last_verdict_in_their_order_applies() {
    let all = [Reproduced, Undecided, Incomplete, Contradicted];
    for a in all {
        for b in all {
            for c in all {
                let last = [a, b, c].into_iter().max().unwrap();
                assert_eq!(Quorum::all(3).verdict([a, b, c].into_iter()), last, "{a:?} {b:?} {c:?}");
            }
        }
    }
}

#[test]
fn directions_of_most_points_decide() {
    use Direction::{Agrees, None, Opposes};
    let of = |of: &[Direction]| Quorum::most(of.len()).direction(of.iter().copied());
    assert_eq!(of(&[Agrees, Agrees, Opposes]), Agrees);
    assert_eq!(of(&[Agrees, Opposes, Opposes]), Opposes);
    assert_eq!(of(&[Agrees, None, Opposes]), None);
}

#[test]
fn p_values_of_all_points_are_the_largest_and_bonferronis() {
    let quorum = Quorum::all(3);
    assert_eq!(quorum.if_outside(vec![0.25, 0.5, 0.125]), 0.5);
    assert_eq!(quorum.if_inside(vec![0.25, 0.5, 0.125]), 0.375);
    assert_eq!(Quorum::most(5).if_outside(vec![0.125, 0.0625, 0.25, 1.0, 1.0]), 0.75);
    assert_eq!(Quorum::most(6).if_inside(vec![0.0, 0.0625, 0.125, 1.0, 1.0, 1.0]), 0.5);
}

/// Draws figures in which exactly two of five points hold: the statement about most of them is false. A point that holds
/// has p = 0, the others' are uniform.
#[test]
fn a_false_statement_about_most_points_is_reproduced_in_no_more_than_its_level() {
    let (draws, level) = (rounds(20_000, 200_000), 0.05);
    for correlated in [false, true] {
        let mut stream = Stream::new(3, Purpose::Search, u64::from(correlated));
        let wrong = (0..draws).filter(|_| {
            let first = stream.uniform();
            let others = if correlated { [first; 2] } else { [stream.uniform(), stream.uniform()] };
            Quorum::most(5).if_outside(vec![0.0, 0.0, first, others[0], others[1]]) <= level
        });
        let part = wrong.count() as f64 / draws as f64;
        let error = (level * (1.0 - level) / draws as f64).sqrt();
        assert!(part <= level + 4.0 * error, "{part} of the draws, correlated: {correlated}");
        assert!(part > 0.2 * level, "{part}: the test could hardly fail");
    }
}
