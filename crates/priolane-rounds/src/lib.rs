//! Sets the number of iterations of loops over random input.

use std::num::NonZeroU64;

/// Environment variable set by `make soak`: a factor on the iterations of every loop.
const SOAK: &str = "PRIOLANE_SOAK";

/// Returns the number of iterations of a test's loop: `in_test` in `make test`, `in_soak` in `make soak`, and n times
/// `in_soak` in `make soak SOAK=n`.
///
/// # Panics
/// Panics if `PRIOLANE_SOAK` is set but is not a positive integer.
pub fn rounds(in_test: u64, in_soak: u64) -> u64 {
    match std::env::var(SOAK) {
        Ok(text) => in_soak * factor(&text),
        Err(_) => in_test,
    }
}

/// Returns of how many cases a test takes one: `in_test` in `make test`, 1 in `make soak`.
pub fn stride(in_test: usize) -> usize {
    if std::env::var_os(SOAK).is_some() { 1 } else { in_test }
}

fn factor(text: &str) -> u64 {
    text.parse::<NonZeroU64>()
        .unwrap_or_else(|_| panic!("{SOAK} is {text:?}, not a whole number from 1"))
        .get()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_factor_is_a_whole_number_from_1() {
        assert_eq!(super::factor("12"), 12);
        for wrong in ["", "0", "-1", "1.5", "yes"] {
            assert!(std::panic::catch_unwind(|| super::factor(wrong)).is_err(), "{wrong}");
        }
    }
}
