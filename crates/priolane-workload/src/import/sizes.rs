//! A size table generated from a list, with steps: each size with the fraction of flows up to it.
//!
//! With more than [`MAX_SIZE_ROWS`] different sizes, neighboring sizes share a row. A row is complete once it holds
//! 1/249 of the flows or of the bytes, and a size that holds as much alone has its own row. So neither small flows
//! nor the few flows that carry most bytes are lost. There are at most 2 * (2 * 249) + 1 = 997 rows. The size of a
//! row is the mean of its sizes, rounded to a byte; the mean of the list is preserved within 1 byte
//! (docs/assumptions.md#import-sizes).

use std::fmt::Write as _;

use super::report::SizesReport;
use crate::flow_list::Row;

/// Maximum number of rows of a generated size table.
pub const MAX_SIZE_ROWS: usize = 1000;

/// Rows are complete at this fraction of flows or bytes.
const SHARES: u128 = 249;

/// A size table, ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// `bytes,cdf` with its rows.
    pub text: String,
    /// Its statistics.
    pub report: SizesReport,
}

/// Flows of one size, or of neighboring sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bucket {
    flows: u64,
    bytes: u128,
}

impl SizeTable {
    /// Generates the table for the flows of a list, without those that never end.
    pub fn of(rows: &[Row], source: &str) -> Self {
        let mut sizes: Vec<u64> =
            rows.iter().filter(|row| !row.is_step()).filter_map(|row| row.flow.size).collect();
        sizes.sort_unstable();
        let each: Vec<Bucket> = sizes.chunk_by(|a, b| a == b).map(Bucket::of).collect();
        let distinct = each.len();
        let whole = each.iter().fold(Bucket::default(), Bucket::and);
        let buckets = if distinct > MAX_SIZE_ROWS { thinned(&each, whole) } else { each };
        let source: String = source.chars().filter(|c| !c.is_control()).collect();
        let mut text = format!("# source: {} flows imported from {source}; step\nbytes,cdf\n", whole.flows);
        let (mut below, mut mean) = (0u64, 0.0);
        for bucket in &buckets {
            below += bucket.flows;
            mean += bucket.size() as f64 * (bucket.flows as f64 / whole.flows as f64);
            let _ = writeln!(text, "{},{}", bucket.size(), below as f64 / whole.flows as f64);
        }
        let mean_of_list = whole.bytes as f64 / whole.flows.max(1) as f64;
        let report = SizesReport { rows: buckets.len(), distinct, mean_of_list, mean_of_table: mean };
        Self { text, report }
    }
}

impl Bucket {
    fn of(sizes: &[u64]) -> Self {
        let flows = sizes.len() as u64;
        Self { flows, bytes: u128::from(flows) * u128::from(sizes[0]) }
    }

    fn and(self, other: &Self) -> Self {
        Self { flows: self.flows + other.flows, bytes: self.bytes + other.bytes }
    }

    /// Returns the mean size, rounded to a byte.
    fn size(self) -> u128 {
        let flows = u128::from(self.flows.max(1));
        (self.bytes + flows / 2) / flows
    }
}

fn thinned(each: &[Bucket], whole: Bucket) -> Vec<Bucket> {
    let mut buckets = Vec::with_capacity(MAX_SIZE_ROWS);
    let mut open = Bucket::default();
    let enough = |bucket: Bucket| {
        u128::from(bucket.flows) * SHARES >= u128::from(whole.flows) || bucket.bytes * SHARES >= whole.bytes
    };
    for one in each {
        if enough(*one) && open.flows > 0 {
            buckets.push(std::mem::take(&mut open));
        }
        open = open.and(one);
        if enough(open) {
            buckets.push(std::mem::take(&mut open));
        }
    }
    if open.flows > 0 {
        buckets.push(open);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use priolane_core::rng::{Purpose, Stream};

    use super::{Bucket, SHARES, thinned};

    #[test]
    fn mean_sizes_are_rounded_to_the_nearest_byte() {
        let size = |flows, bytes| Bucket { flows, bytes }.size();
        assert_eq!([size(3, 4), size(2, 3), size(3, 5), size(4, 4)], [1, 2, 2, 1]);
    }

    #[test]
    fn thinned_sizes_have_all_flows_and_bytes_and_the_last_one_too() {
        let each: Vec<Bucket> = (1..=5 * SHARES as u64).map(|size| Bucket::of(&[size])).collect();
        let sum = |buckets: &[Bucket]| {
            buckets.iter().fold((0, 0), |(flows, bytes), one| (flows + one.flows, bytes + one.bytes))
        };
        let (flows, bytes) = sum(&each);
        let found = thinned(&each, Bucket { flows, bytes });
        assert_eq!(sum(&found), (flows, bytes));
        assert!(found.len() < each.len());
        // Two large ones, and one small one that is left.
        let each = [Bucket { flows: 1 << 40, bytes: 1 << 50 }, Bucket { flows: 1, bytes: 1 }];
        let whole = Bucket { flows: (1 << 40) + 1, bytes: (1 << 50) + 1 };
        assert_eq!(thinned(&each, whole).len(), 2);
    }

    #[test]
    fn a_size_with_its_share_of_flows_or_bytes_keeps_a_row_of_its_own() {
        // SHARES rows of flows: a size with a SHARES-th of the flows or of the bytes is averaged with no other.
        let mut random = Stream::new(1, Purpose::Endpoint, 0);
        for _ in 0..priolane_rounds::rounds(50, 2_000) {
            let each: Vec<Bucket> = (1..=100)
                .map(|size| {
                    let flows = if random.below(10) == 0 { 1_000 } else { 1 };
                    let bytes = if random.below(10) == 0 { 1_000_000 } else { size };
                    Bucket { flows, bytes: u128::from(flows * bytes) }
                })
                .collect();
            let flows: u64 = each.iter().map(|one| one.flows).sum();
            let bytes: u128 = each.iter().map(|one| one.bytes).sum();
            let found = thinned(&each, Bucket { flows, bytes });
            let is_large = |one: &&Bucket| {
                u128::from(one.flows) * SHARES >= u128::from(flows) || one.bytes * SHARES >= bytes
            };
            for large in each.iter().filter(is_large) {
                assert!(found.contains(large), "{large:?} is averaged with others");
            }
        }
    }
}
