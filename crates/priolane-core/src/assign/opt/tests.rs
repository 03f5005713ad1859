use super::super::byte_share::tests::{data_mining, web_search};
use super::super::pias_published::pias_published;
use super::super::{byte_share, equal_split};
use super::*;
use crate::rng::{Purpose, Stream};
use crate::sizes::Point;

const LOADS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

fn least(sizes: &SizeDistribution, load: f64, levels: u8) -> f64 {
    cost(sizes, &opt(sizes, load, levels), load)
}

/// A table of up to 12 rows with gaps, atoms and empty intervals, over three to seven decades.
fn random_table(draw: &mut Stream, interpolation: Interpolation) -> SizeDistribution {
    let rows = 1 + draw.below(12);
    let decades = 3.0 + 4.0 * draw.uniform();
    let mut bytes: Vec<f64> = (0..rows).map(|_| libm::pow(10.0, decades * draw.uniform()).max(1.0)).collect();
    let mut cdfs: Vec<f64> = (0..rows).map(|_| draw.uniform()).collect();
    if draw.chance(0.3) {
        bytes[0] = bytes[rows as usize - 1];
    }
    bytes.sort_by(f64::total_cmp);
    cdfs.sort_by(f64::total_cmp);
    cdfs[rows as usize - 1] = 1.0;
    let points = bytes.into_iter().zip(cdfs).map(|(bytes, cdf)| Point { bytes, cdf }).collect();
    SizeDistribution::new(points, interpolation).unwrap()
}

#[test]
fn two_levels_cost_what_opt2_finds() {
    let step = SizeDistribution::new(web_search().points().to_vec(), Interpolation::Step).unwrap();
    for sizes in [web_search(), data_mining(), step] {
        for load in [0.05, 0.3, 0.5, 0.6, 0.7, 0.8, 0.95, 0.99] {
            let want = cost(&sizes, &[byte_share::opt2(&sizes, load)], load);
            let found = least(&sizes, load, 2);
            assert!((found - want).abs() <= 1e-9 * want, "{load}: {found} {want}");
        }
    }
}

#[test]
fn the_solver_finds_the_threshold_of_opt2_and_for_more_levels_those_of_the_search() {
    let sizes = web_search();
    for (levels, want) in [(2, vec![byte_share::opt2(&sizes, 0.6)]), (3, opt(&sizes, 0.6, 3))] {
        let question = SolverInput { sizes: &sizes, name: "some", published: None, load: 0.6, levels };
        assert_eq!(Opt.solve(&question).unwrap(), want);
    }
}

#[test]
fn two_levels_cost_what_opt2_finds_on_random_tables() {
    let mut draw = Stream::new(11, Purpose::Search, 0);
    for nth in 0..60 {
        let kind = if nth % 2 == 0 { Interpolation::Linear } else { Interpolation::Step };
        let sizes = random_table(&mut draw, kind);
        let load = 0.02 + 0.96 * draw.uniform();
        let want = cost(&sizes, &[byte_share::opt2(&sizes, load)], load);
        let found = least(&sizes, load, 2);
        assert!((found - want).abs() <= 1e-9 * want, "{nth}: {found} {want}");
    }
}

#[test]
fn three_levels_are_the_minimum_of_a_brute_force_search() {
    for sizes in [web_search(), data_mining()] {
        for load in [0.5, 0.8] {
            let found = least(&sizes, load, 3);
            let step = libm::log(sizes.max()) / 300.0;
            let grid: Vec<u64> = (0..=300).map(|i| libm::exp(step * f64::from(i)) as u64).collect();
            let mut brute = f64::INFINITY;
            for (i, &low) in grid.iter().enumerate() {
                for &high in &grid[i..] {
                    brute = brute.min(cost(&sizes, &[low, high], load));
                }
            }
            assert!(found <= brute, "{load}: {found} {brute}");
            // The grid spacing is 5 %.
            assert!(found >= brute * 0.99, "{load}: {found} {brute}");
        }
    }
}

#[test]
fn opt_costs_no_more_than_equal_split_and_the_published_tables() {
    for (name, sizes) in [("web_search", web_search()), ("data_mining", data_mining())] {
        for load in LOADS {
            let published = cost(&sizes, &pias_published(name, load).unwrap(), load);
            let mut fewer = f64::INFINITY;
            for levels in 2..=8 {
                let found = least(&sizes, load, levels);
                assert!(found <= cost(&sizes, &equal_split(&sizes, levels), load), "{name} {load} {levels}");
                assert!(found <= fewer * (1.0 + 1e-12), "{name} {load} {levels}: more levels cost more");
                assert!(found <= published, "{name} {load} {levels}: {found} {published}");
                fewer = found;
            }
        }
    }
}

#[test]
fn eight_levels_of_web_search_collapse_to_three() {
    // The kinks F = 0.8 and F = 0.97, and five thresholds that no flow passes.
    let sizes = web_search();
    let found = opt(&sizes, 0.8, 8);
    assert_eq!(found, [1333, 6667, 20_000, 20_000, 20_000, 20_000, 20_000].map(|packets| packets * 1460));
    let least = cost(&sizes, &found, 0.8);
    assert!((least - 2.1613).abs() < 1e-4, "{least}");
    assert!(least < cost(&sizes, &[1331 * 1460, 6669 * 1460], 0.8));
}

#[test]
fn no_random_ladder_is_cheaper() {
    let mut draw = Stream::new(7, Purpose::Search, 0);
    for nth in 0..40 {
        let kind = if nth % 2 == 0 { Interpolation::Linear } else { Interpolation::Step };
        let sizes = random_table(&mut draw, kind);
        let levels = 2 + draw.below(15) as u8;
        let load = 0.02 + 0.96 * draw.uniform();
        let found = opt(&sizes, load, levels);
        assert_eq!(found.len(), usize::from(levels) - 1);
        assert!(found.is_sorted() && found[0] >= 1);
        let best = cost(&sizes, &found, load);
        for _ in 0..200 {
            let mut ladder: Vec<u64> = found
                .iter()
                .map(|&w| match draw.below(3) {
                    0 => sizes.quantile(draw.uniform()).round() as u64,
                    1 => libm::pow(sizes.max(), draw.uniform()) as u64,
                    _ => (w as f64 * (0.9 + 0.2 * draw.uniform())) as u64,
                })
                .collect();
            ladder.sort_unstable();
            let other = cost(&sizes, &ladder, load);
            assert!(best <= other * (1.0 + 1e-9), "{nth}: {found:?} {best}, {ladder:?} {other}");
        }
    }
}

#[test]
fn the_unit_of_size_does_not_matter() {
    for sizes in [web_search(), data_mining()] {
        for factor in [4.0, 1000.0] {
            let scaled = sizes.scaled(factor).unwrap();
            for levels in [2, 3, 8] {
                let (a, b) = (least(&sizes, 0.7, levels), least(&scaled, 0.7, levels));
                // Rounding to whole bytes is finer in the larger unit.
                assert!((a - b).abs() < 1e-6 * a, "{levels}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_million_recorded_flows_are_solved_row_by_row() {
    let mut draw = Stream::new(3, Purpose::Sizes, 0);
    let law = web_search();
    let sizes =
        SizeDistribution::from_samples((0..1_000_000).map(|_| law.sample(&mut draw)).collect()).unwrap();
    assert!(sizes.points().len() > 300_000);
    assert!((sizes.mean() / law.mean() - 1.0).abs() < 0.01);
    for levels in [2, 8] {
        let found = opt(&sizes, 0.8, levels);
        let (here, there) = (cost(&sizes, &found, 0.8), least(&law, 0.8, levels));
        // A sample of a million differs from its distribution: its optimal cost may differ by the sampling error.
        assert!((here / there - 1.0).abs() < 0.01, "{levels}: {here} {there}");
        assert!(found.iter().all(|&w| sizes.points().iter().any(|p| p.bytes as u64 == w)), "{found:?}");
    }
    let opt2 = byte_share::opt2(&sizes, 0.8);
    assert!((cost(&sizes, &[opt2], 0.8) / least(&sizes, 0.8, 2) - 1.0).abs() < 1e-12);
    let es8 = equal_split(&law, 8);
    for (a, b) in equal_split(&sizes, 8).iter().zip(es8) {
        assert!((*a as f64 / b as f64 - 1.0).abs() < 0.02, "{a} {b}");
    }
}

#[test]
fn small_cases() {
    assert_eq!(opt(&web_search(), 0.5, 1), Vec::<u64>::new());
    // All flows have equal size: levels bring no gain, and the thresholds are where they do no harm.
    let fixed = SizeDistribution::fixed(1000.0).unwrap();
    assert_eq!(opt(&fixed, 0.8, 3), [1000, 1000]);
}

#[test]
fn the_hull_is_the_minimum_of_its_lines() {
    let mut draw = Stream::new(5, Purpose::Search, 0);
    for _ in 0..200 {
        let (mut hull, mut lines, mut x, mut slope) = (Hull::default(), Vec::new(), 0.0, 1.0);
        for of in 0..30 {
            if draw.chance(0.8) {
                slope -= 0.03 * draw.uniform();
            }
            let line = Line { slope, start: draw.uniform(), of };
            lines.push(line);
            hull.add(line);
            x += draw.uniform();
            let want = lines.iter().map(|l| l.at(x)).fold(f64::INFINITY, f64::min);
            assert!((hull.lowest(x).at(x) - want).abs() < 1e-12);
        }
    }
}
