use super::*;
use crate::price::Demand;

fn one_link(capacity: f64, flows: &[(f64, f64)]) -> Shares {
    let demand = |&(theta, w): &(f64, f64)| Demand { links: vec![0], theta, w };
    Shares { capacity: vec![capacity], demands: flows.iter().map(demand).collect() }
}

fn rates(capacity: f64, flows: &[(f64, f64)]) -> Vec<f64> {
    solve(&one_link(capacity, flows)).unwrap()
}

fn assert_near(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs().max(1e-9);
    assert!(got.iter().zip(expected).all(near), "{got:?} is not {expected:?}");
}

/// Splits a virtual machine's pair evenly over `n` flows.
fn vm(n: u32, (theta, w): (f64, f64)) -> Vec<(f64, f64)> {
    (0..n).map(|_| (theta / f64::from(n), w / f64::from(n))).collect()
}

#[test]
fn vbp_of_best_effort_machines_shares_by_machine() {
    // 1, 2 and 3 flows: B/3, B/6, B/9 each.
    let flows = [vm(1, (0.0, 1.0)), vm(2, (0.0, 1.0)), vm(3, (0.0, 1.0))].concat();
    let (b, c, d) = (12.0, 6.0, 4.0);
    assert_near(&rates(36.0, &flows), &[b, c, c, d, d, d]);
}

#[test]
fn vbp_of_a_differentiated_machine_gets_its_weight() {
    // BE with 1 flow, BE with 2, DS of w = 2 with 2: B/4, B/8, B/4.
    let flows = [vm(1, (0.0, 1.0)), vm(2, (0.0, 1.0)), vm(2, (0.0, 2.0))].concat();
    assert_near(&rates(16.0, &flows), &[4.0, 2.0, 2.0, 4.0, 4.0]);
}

#[test]
fn vbp_of_a_guaranteed_machine_gets_the_larger_of_rate_and_share() {
    // B_3 = max(theta, B w2 / (1 + w1 + w2)), the rest 1 : w1. B = 10, w1 = 2, w2 = 2: share 4.
    assert_near(&rates(10.0, &[(0.0, 1.0), (0.0, 2.0), (7.0, 2.0)]), &[1.0, 2.0, 7.0]);
    assert_near(&rates(10.0, &[(0.0, 1.0), (0.0, 2.0), (3.0, 2.0)]), &[2.0, 4.0, 4.0]);
}

#[test]
fn fbp_examples_of_the_paper() {
    // Three of each, w = 2: theta = B/6: B/18, B/9, B/6; theta = B/20: B/15, 2B/15, 2B/15. B = 180.
    let flows = |theta| [[(0.0, 1.0); 3], [(0.0, 2.0); 3], [(theta, 2.0); 3]].concat();
    assert_near(&rates(180.0, &flows(30.0)), &[10.0, 10.0, 10.0, 20.0, 20.0, 20.0, 30.0, 30.0, 30.0]);
    assert_near(&rates(180.0, &flows(9.0)), &[12.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0, 24.0, 24.0]);
}

#[test]
fn optimal_rates_of_figures_2_3_and_5() {
    let be = [(0.0, 1.0); 4];
    let ds = [(0.0, 2.0); 2];
    let of = |mrg: (f64, f64)| [&be[..], &ds, &[mrg; 2]].concat();
    assert_near(&rates(40.0, &of((2.0, 1.0))), &[4.0, 4.0, 4.0, 4.0, 8.0, 8.0, 4.0, 4.0]);
    assert_near(&rates(40.0, &of((7.0, 2.0))), &[3.25, 3.25, 3.25, 3.25, 6.5, 6.5, 7.0, 7.0]);
    // Fig. 3: machines with one flow and with two, 4 BE, 2 DS, 2 MRG (7G, 2).
    let vms = [
        vm(1, (0.0, 1.0)),
        vm(1, (0.0, 1.0)),
        vm(2, (0.0, 1.0)),
        vm(2, (0.0, 1.0)),
        vm(1, (0.0, 2.0)),
        vm(2, (0.0, 2.0)),
        vm(1, (7.0, 2.0)),
        vm(2, (7.0, 2.0)),
    ];
    let expected = [3.25, 3.25, 1.625, 1.625, 1.625, 1.625, 6.5, 3.25, 3.25, 7.0, 3.5, 3.5];
    assert_near(&rates(40.0, &vms.concat()), &expected);
    // Fig. 5: 1G, (0, 1), (0, 2), (400M, 2).
    assert_near(&rates(1e9, &[(0.0, 1.0), (0.0, 2.0), (4e8, 2.0)]), &[2e8, 4e8, 4e8]);
}

#[test]
fn parking_lot_and_other_bottlenecks() {
    // One flow over both links of 12 and 6, and one over each: the second link freezes at nu = 3, then the first is
    // filled.
    let demand = |links: &[usize], w| Demand { links: links.to_vec(), theta: 0.0, w };
    let lot = Shares {
        capacity: vec![12.0, 6.0],
        demands: vec![demand(&[0, 1], 1.0), demand(&[0], 1.0), demand(&[1], 1.0)],
    };
    assert_near(&solve(&lot).unwrap(), &[3.0, 9.0, 3.0]);
    // With a minimum of 5 for the long flow: 1 is left on the second link, 7 on the first.
    let mut with_minimum = lot;
    with_minimum.demands[0].theta = 5.0;
    assert_near(&solve(&with_minimum).unwrap(), &[5.0, 7.0, 1.0]);
}

/// Property 21.
#[test]
fn minima_that_do_not_fit_shrink_in_proportion() {
    let shares = one_link(10.0, &[(12.0, 1.0), (8.0, 1.0), (0.0, 3.0)]);
    let promised = shares.guaranteed_rates();
    assert_eq!((promised.theta, promised.overbooked), (vec![6.0, 4.0, 0.0], vec![0]));
    assert_near(&solve(&shares).unwrap(), &[6.0, 4.0, 0.0]);
    assert!(one_link(10.0, &[(6.0, 1.0), (4.0, 1.0)]).guaranteed_rates().overbooked.is_empty());
}

/// Property 18, at random: all capacity is allocated, minima are kept, flows above their minima share by weight. More
/// capacity, weight or minimum never yields less; the parts of a split pair get as much in sum.
#[test]
fn water_filling_properties() {
    use crate::rng::{Purpose, Stream};
    for case in 0..500 {
        let mut draw = Stream::new(case, Purpose::Search, 3);
        let n = 1 + draw.below(12) as usize;
        let mut flows: Vec<(f64, f64)> = (0..n)
            .map(|_| {
                (
                    if draw.chance(0.5) { draw.uniform() * 20.0 / n as f64 } else { 0.0 },
                    0.1 + draw.uniform() * 5.0,
                )
            })
            .collect();
        let found = rates(20.0, &flows);
        assert_near(&[found.iter().sum::<f64>()], &[20.0]);
        let levels: Vec<f64> = found
            .iter()
            .zip(&flows)
            .filter(|(x, (theta, _))| **x > theta * (1.0 + 1e-9))
            .map(|(x, (_, w))| x / w)
            .collect();
        assert_near(&levels, &vec![levels.first().copied().unwrap_or(0.0); levels.len()]);
        assert!(found.iter().zip(&flows).all(|(x, (theta, _))| *x >= theta * (1.0 - 1e-12)));
        let more = rates(25.0, &flows);
        assert!(found.iter().zip(&more).all(|(a, b)| *b >= a * (1.0 - 1e-12)));
        let pick = draw.below(n as u64) as usize;
        let old = flows[pick];
        flows[pick].1 *= 1.5;
        assert!(rates(20.0, &flows)[pick] >= found[pick] * (1.0 - 1e-12));
        flows[pick] = (old.0 + 0.3, old.1);
        assert!(n == 1 || rates(20.0, &flows)[pick] >= found[pick] * (1.0 - 1e-12));
        let parts = 1 + draw.below(5) as u32;
        flows[pick] = old;
        let split = [&flows[..pick], &flows[pick + 1..], &vm(parts, old)].concat();
        assert_near(&[rates(20.0, &split)[n - 1..].iter().sum::<f64>()], &[found[pick]]);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |shares: &Shares| solve(shares).unwrap_err();
    assert_eq!(refused(&one_link(0.0, &[(0.0, 1.0)])), SharesError::Capacity(0));
    assert_eq!(refused(&one_link(1.0, &[(0.0, 0.0)])), SharesError::Weight(0));
    assert_eq!(refused(&one_link(1.0, &[(-1.0, 1.0)])), SharesError::Theta(0));
    let nowhere =
        Shares { capacity: vec![1.0], demands: vec![Demand { links: vec![1], theta: 0.0, w: 1.0 }] };
    assert_eq!(refused(&nowhere), SharesError::Links(0));
}
