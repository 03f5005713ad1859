use super::*;
use crate::price::{Demand, max_min};
use crate::units::Span;

const PATH: Path = Path { rtt: Span::from_us(120), packet: 1_500 };

fn demand(links: &[usize], theta: f64, w: f64) -> Demand {
    Demand { links: links.to_vec(), theta, w }
}

fn solved(shares: &Shares) -> Optimum {
    solve(shares, &vec![PATH; shares.demands.len()]).unwrap()
}

fn near(got: f64, expected: f64, within: f64) {
    assert!((got / expected - 1.0).abs() <= within, "{got} is not {expected}");
}

#[test]
fn large_windows_on_one_link_share_as_the_paper_says() {
    // Fig. 2's 40G link at 120 us: windows of hundreds of packets, so log(1 + 2 / W) is 2 / W within 1 %.
    let demands =
        [vec![demand(&[0], 0.0, 1.0); 4], vec![demand(&[0], 0.0, 2.0); 2], vec![demand(&[0], 7e9, 2.0); 2]];
    let shares = Shares { capacity: vec![4e10], demands: demands.concat() };
    let found = solved(&shares);
    for (got, expected) in found.rate.iter().zip(max_min::solve(&shares).unwrap()) {
        near(*got, expected, 0.01);
    }
    near(found.rate.iter().sum(), 4e10, 1e-9);
}

#[test]
fn two_equal_flows_of_unequal_weight_meet_equation_5() {
    // w1 log(1 + m / x1) = w2 log(1 + m / x2) exactly, also where windows are small: 200 Mbps is W = 2.
    let shares =
        Shares { capacity: vec![2e8], demands: vec![demand(&[0], 0.0, 1.0), demand(&[0], 0.0, 3.0)] };
    let found = solved(&shares);
    near(3.0 * PATH.marginal(found.rate[1]), PATH.marginal(found.rate[0]), 1e-9);
    // Hence not 1 : 3.
    assert!(found.rate[1] / found.rate[0] > 3.1);
}

#[test]
fn parking_lot_charges_the_long_flow_for_both_links() {
    // Large windows: U' = m / x, so the long flow pays p1 + p2: 1 / x0 = 1 / x1 + 1 / x2, x0 + x1 = x0 + x2 = C, w = 1:
    // x0 = C / 3. Max-min would give C / 2.
    let demands = vec![demand(&[0, 1], 0.0, 1.0), demand(&[0], 0.0, 1.0), demand(&[1], 0.0, 1.0)];
    let shares = Shares { capacity: vec![1e11, 1e11], demands };
    let found = solved(&shares);
    near(found.rate[0], 1e11 / 3.0, 1e-3);
    near(found.rate[1], 2e11 / 3.0, 1e-3);
}

/// Random networks: rates are feasible, minima are kept, and the duality gap is nearly zero.
#[test]
fn random_networks_are_solved_to_the_gap() {
    use crate::rng::{Purpose, Stream};
    for case in 0..60 {
        let mut draw = Stream::new(case, Purpose::Search, 4);
        let links = 2 + draw.below(6) as usize;
        let capacity: Vec<f64> = (0..links).map(|_| 1e9 * (1 + draw.below(40)) as f64).collect();
        let demands = (0..1 + draw.below(15)).map(|_| {
            let way: Vec<usize> = (0..links).filter(|_| draw.chance(0.4)).collect();
            let way = if way.is_empty() { vec![draw.below(links as u64) as usize] } else { way };
            let theta = if draw.chance(0.3) { 3e8 * draw.uniform() } else { 0.0 };
            demand(&way, theta, 0.2 + 4.0 * draw.uniform())
        });
        let shares = Shares { capacity, demands: demands.collect() };
        let found = solved(&shares);
        for (link, capacity) in shares.capacity.iter().enumerate() {
            let uses = |flow: &usize| shares.demands[*flow].links.contains(&link);
            let load: f64 = (0..found.rate.len()).filter(uses).map(|flow| found.rate[flow]).sum();
            assert!(load <= capacity * (1.0 + 1e-11), "case {case}: {load} of {capacity}");
        }
        let theta = shares.guaranteed_rates().theta;
        assert!(found.rate.iter().zip(&theta).all(|(x, theta)| *x >= theta * (1.0 - 1e-9)));
        assert!(found.gap <= 1e-6 * found.value.abs(), "case {case}: {} of {}", found.gap, found.value);
        // Another feasible point is worth less.
        let other = max_min::solve(&shares).unwrap();
        let worth = value(&shares, &vec![PATH; other.len()], &other);
        assert!(worth <= found.value * (1.0 + 1e-9), "case {case}: {worth} above {}", found.value);
    }
}

#[test]
fn minima_that_fill_a_link_are_the_rates() {
    let shares =
        Shares { capacity: vec![1e10], demands: vec![demand(&[0], 6e9, 1.0), demand(&[0], 4e9, 1.0)] };
    let found = solved(&shares);
    near(found.rate[0], 6e9, 1e-9);
    near(found.rate[1], 4e9, 1e-9);
}

/// The bound at prices that are not the optimum's: the largest of each flow's `w U(x) - q x` is searched for among all rates in
/// place of the formula for x.
#[test]
fn at_any_prices_the_bound_is_the_largest_lagrangian() {
    use crate::rng::{Purpose, Stream};
    let demands = vec![demand(&[0], 0.0, 1.0), demand(&[0, 1], 0.0, 2.0), demand(&[1], 0.0, 0.5)];
    let shares = Shares { capacity: vec![1e10, 4e10], demands };
    let paths = [PATH; 3];
    for case in 0..30 {
        let mut draw = Stream::new(case, Purpose::Search, 5);
        let mut dual = Dual::new(&shares, &paths);
        for price in &mut dual.price {
            // The slope of the utility at a rate between 10 Mbit/s and 10 Gbit/s.
            let rate = 1e7 * libm::pow(1_000.0, draw.uniform());
            *price = (PATH.avoidance(1.001 * rate) - PATH.avoidance(rate)) / (0.001 * rate);
        }
        let best = |demand: &Demand| {
            let paid: f64 = demand.links.iter().map(|&link| dual.price[link]).sum();
            let of = |log: f64| demand.w * PATH.avoidance(libm::exp(log)) - paid * libm::exp(log);
            let (mut low, mut high) = (0.0, 40.0);
            for _ in 0..200 {
                let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if of(left) < of(right) { low = left } else { high = right }
            }
            of(low)
        };
        let paid: f64 =
            dual.price.iter().zip(&shares.capacity).map(|(price, capacity)| price * capacity).sum();
        near(dual.bound(), shares.demands.iter().map(best).sum::<f64>() + paid, 1e-6);
        // Weak duality: no feasible rates have a larger sum of utilities.
        assert!(dual.bound() > value(&shares, &paths, &[5e9, 5e9, 3.5e10]));
    }
}
