//! Size tables: a law whose draws are sizes, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, MAX_BYTES};
use priolane_workload::import::size_tables::{self, Options, SizeUnit};
use priolane_workload::size_csv;

fuzz_target!(|text: &[u8]| {
    for unit in [None, Some(SizeUnit::Bytes), Some(SizeUnit::Packets)] {
        let options = Options { unit, ..Options::default() };
        let Ok(table) = size_tables::convert("t.txt", text, &options) else { continue };
        // What is written is a table of priolane with the same mean.
        let law = size_csv::parse("t.csv", table.text.as_bytes(), table.law.interpolation());
        let mean = law.expect("a converted table is one").mean();
        assert!((mean - table.law.mean()).abs() <= 1e-9 * mean, "{mean} and {}", table.law.mean());
    }
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let Ok(sizes) = size_csv::parse("t.csv", text, interpolation) else { continue };
        let (mean, max) = (sizes.mean(), sizes.max());
        assert!(mean >= 0.0 && mean <= max, "mean {mean}, max {max}");
        let mut stream = Stream::new(1, Purpose::Sizes, 0);
        for _ in 0..8 {
            assert!((1..=MAX_BYTES as u64).contains(&sizes.sample(&mut stream)));
        }
    }
});
