//! Exact parsing of rates, times and probabilities in topology files.
//!
//! A quantity is `DIGITS[.DIGITS]UNIT`. With the unit worth `10^e` base units and `f` digits after the point (trailing
//! zeros dropped), its value is `(digits without the point) * 10^(e - f)`. It is a whole number of bits per second or
//! picoseconds if `f <= e`, and rejected otherwise. No float is involved.

use priolane_core::units::{Rate, Span};

use super::error::{Problem, QuantityError, quote};

struct Dimension {
    /// Units with their powers of ten, in base units.
    units: &'static [(&'static str, u32)],
    list: &'static str,
    base: &'static str,
}

const RATES: Dimension = Dimension {
    units: &[("bps", 0), ("kbps", 3), ("Mbps", 6), ("Gbps", 9), ("Tbps", 12)],
    list: "bps, kbps, Mbps, Gbps, Tbps",
    base: "bits per second",
};

const TIMES: Dimension = Dimension {
    units: &[("ps", 0), ("ns", 3), ("us", 6), ("ms", 9), ("s", 12)],
    list: "ps, ns, us, ms, s",
    base: "picoseconds",
};

/// Parses a rate such as `10Gbps` or `2.5Gbps`; fails if it is zero, not whole bits per second, or above 64 bits.
pub fn rate(text: &str) -> Result<Rate, Problem> {
    let bps = quantity(text, &RATES).map_err(Problem::Rate)?;
    Rate::from_bps(bps).ok_or(Problem::ZeroRate)
}

/// Parses a time such as `1us` or `1.5us`; fails if it is not whole picoseconds or above 64 bits. Zero is valid.
pub fn span(text: &str) -> Result<Span, Problem> {
    quantity(text, &TIMES).map(Span).map_err(Problem::Delay)
}

/// Parses a probability in [0, 1), such as `0`, `0.01` or `1e-5`.
pub fn probability(text: &str) -> Result<f64, Problem> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..1.0).contains(&p) => Ok(p.abs()),
        _ => Err(Problem::Loss { found: quote(text) }),
    }
}

fn quantity(text: &str, dimension: &Dimension) -> Result<u64, QuantityError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        None => (number, ""),
        Some(_) => ("", ""),
    };
    if whole.is_empty() || fraction.contains('.') {
        return Err(QuantityError::NoNumber { found: quote(text), units: dimension.list });
    }
    let unit = unit.trim_start();
    let Some(&(_, exponent)) = dimension.units.iter().find(|(name, _)| *name == unit) else {
        return Err(QuantityError::Unit { found: quote(text), units: dimension.list });
    };
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > exponent as usize {
        return Err(QuantityError::NotWhole { found: quote(text), base: dimension.base });
    }
    let zeros = exponent - fraction.len() as u32;
    digits(whole, fraction)
        .and_then(|value| value.checked_mul(10u64.pow(zeros)))
        .ok_or_else(|| QuantityError::TooLarge { found: quote(text), base: dimension.base })
}

/// Returns the number that two runs of digits form together; `None` above 64 bits.
fn digits(whole: &str, fraction: &str) -> Option<u64> {
    whole
        .bytes()
        .chain(fraction.bytes())
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(text: &str) -> Result<u64, Problem> {
        rate(text).map(Rate::bps)
    }

    #[test]
    fn rates_and_times_are_exact() {
        assert_eq!(bps("2.5Gbps"), Ok(2_500_000_000));
        assert_eq!(bps("10 Gbps"), Ok(10_000_000_000));
        assert_eq!(bps("0.000000001Gbps"), Ok(1));
        assert_eq!(bps("007bps"), Ok(7));
        assert_eq!(span("1.5us"), Ok(Span(1_500_000)));
        assert_eq!(span("0.001ms"), Ok(Span::from_us(1)));
        assert_eq!(span("0.1000000000000000000000s"), Ok(Span::from_ms(100)));
        // 0.1 + 0.2 as floats is not 0.3; here every digit is exact.
        assert_eq!(span("0.300000000001s"), Ok(Span(300_000_000_001)));
        assert_eq!(span("0s"), Ok(Span::ZERO));
    }

    #[test]
    fn the_largest_value_fits_and_the_next_does_not() {
        assert_eq!(span("18446744073709551615ps"), Ok(Span(u64::MAX)));
        assert_eq!(span("18446744.073709551615s"), Ok(Span(u64::MAX)));
        for text in ["18446744073709551616ps", "18446744.073709551616s", "99999999999999999999999s"] {
            assert!(matches!(span(text), Err(Problem::Delay(QuantityError::TooLarge { .. }))), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_by_kind() {
        for text in ["", "us", "-1us", "+1us", ".5us", "1.us", "1.2.3us", ".", "..", "µs", " 1us"] {
            assert!(matches!(span(text), Err(Problem::Delay(QuantityError::NoNumber { .. }))), "{text}");
        }
        for text in ["1", "1.5", "1Us", "1e3us", "1usx", "1u s", "1Gbps", "1_000us", "1us "] {
            assert!(matches!(span(text), Err(Problem::Delay(QuantityError::Unit { .. }))), "{text}");
        }
        for text in ["0.5ps", "1.0001ns", "0.0000000000001s"] {
            assert!(matches!(span(text), Err(Problem::Delay(QuantityError::NotWhole { .. }))), "{text}");
        }
        assert_eq!(bps("0Gbps"), Err(Problem::ZeroRate));
        assert_eq!(bps("0.0bps"), Err(Problem::ZeroRate));
    }

    #[test]
    fn probabilities_lie_from_zero_to_below_one() {
        assert_eq!(probability("0"), Ok(0.0));
        assert_eq!(probability("1e-5"), Ok(1e-5));
        assert!(probability("-0").is_ok_and(f64::is_sign_positive));
        for text in ["1", "1.0", "-0.1", "nan", "inf", "", "0,5", "1e400", "0.99999999999999999999"] {
            assert!(matches!(probability(text), Err(Problem::Loss { .. })), "{text}");
        }
    }
}
