//! Size tables: a law whose draws are sizes, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_core::rng::{Purpose, Stream};
use priolane_core::sizes::{Interpolation, MAX_BYTES};
use priolane_workload::size_csv;

fuzz_target!(|text: &[u8]| {
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
