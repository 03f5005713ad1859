//! `alpha`: the share of a buffer's free bytes that a queue may take.

use priolane_core::port::Alpha;
use priolane_source::{Field, InputError};

/// A fraction in thousandths of thousandths, so that thresholds are exact.
pub(super) fn read(field: &Field<'_>) -> Result<Alpha, InputError> {
    const PARTS: u32 = 1_000_000;
    let parts = field.number(0.0, 1000.0)? * f64::from(PARTS);
    let whole = parts.round();
    let (numerator, common) = (whole as u32, gcd(whole as u32, PARTS));
    match Alpha::new((numerator / common, PARTS / common)) {
        Some(alpha) if (parts - whole).abs() < 1e-6 => Ok(alpha),
        _ => Err(field.error("this is no alpha", "above 0, with six decimals at most: 1, \"1/8\", 0.11")),
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
