//! Decimal numbers as integers of a smaller unit: `2.000001` seconds are 2,000,001,000,000 ps, without floating
//! point.
//!
//! With the digits `d` (without the point), `f` of them after the point, the value of `...e<x>` is `d * 10^(x -
//! f)`. In units of `10^-p` it is `d * 10^(x - f + p)`, rounded half up if that is not an integer.

/// A number in the requested unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScaledNumber {
    /// The nearest integer number of units, rounded half up.
    pub(super) value: u128,
    /// Whether `value` is exact.
    pub(super) exact: bool,
}

/// Number of digits kept: 10^36 is far below 2^128.
const KEPT: u32 = 36;

/// Parses `text` in units of `10^-power`: digits, optionally with a point and a power of ten (`12`, `0.5`,
/// `1.5e-06`). Returns `None` for anything else (a sign, a name, infinity) or above 2^127 units.
pub(super) fn scaled(text: &str, power: i32) -> Option<ScaledNumber> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent_of(exponent)?),
        None => (text, 0),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let (mut digits, mut kept, mut shift, mut cut) = (0u128, 0, exponent + power, false);
    for (place, byte) in whole.bytes().chain(part.bytes()).enumerate() {
        if !byte.is_ascii_digit() {
            return None;
        }
        let after_point = place >= whole.len();
        if kept == KEPT {
            cut |= byte != b'0';
            shift = shift.checked_add(i32::from(!after_point))?;
            continue;
        }
        digits = digits * 10 + u128::from(byte - b'0');
        kept += u32::from(digits > 0);
        shift -= i32::from(after_point);
    }
    let value = shifted(digits, shift)?;
    Some(ScaledNumber { exact: value.exact && !cut, ..value })
}

fn exponent_of(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn shifted(digits: u128, shift: i32) -> Option<ScaledNumber> {
    if digits == 0 {
        return Some(ScaledNumber { value: 0, exact: true });
    }
    let Some(unit) = 10u128.checked_pow(shift.unsigned_abs()) else {
        return if shift < 0 { Some(ScaledNumber { value: 0, exact: false }) } else { None };
    };
    if shift >= 0 {
        let value = digits.checked_mul(unit).filter(|&value| value >> 127 == 0)?;
        return Some(ScaledNumber { value, exact: true });
    }
    let rest = digits % unit;
    let up = u128::from(rest >= unit - rest && rest > 0);
    Some(ScaledNumber { value: digits / unit + up, exact: rest == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picoseconds(text: &str) -> Option<(u128, bool)> {
        scaled(text, 12).map(|scaled| (scaled.value, scaled.exact))
    }

    #[test]
    fn seconds_are_exact_picoseconds() {
        assert_eq!(picoseconds("2.000000000"), Some((2_000_000_000_000, true)));
        assert_eq!(picoseconds("0.000000000001"), Some((1, true)));
        assert_eq!(picoseconds("1.5e-06"), Some((1_500_000, true)));
        assert_eq!(picoseconds("1621820000.123456"), Some((1_621_820_000_123_456_000_000, true)));
        assert_eq!(picoseconds(".5"), Some((500_000_000_000, true)));
        assert_eq!(picoseconds("3."), Some((3_000_000_000_000, true)));
        assert_eq!(scaled("1e3", 0), Some(ScaledNumber { value: 1000, exact: true }));
    }

    #[test]
    fn what_is_finer_is_rounded_half_up_and_says_so() {
        // The 20 digits of a float: rounded down to the picosecond.
        assert_eq!(picoseconds("1.0000010000000000287"), Some((1_000_001_000_000, false)));
        assert_eq!(picoseconds("0.0000000000005"), Some((1, false)));
        assert_eq!(picoseconds("0.00000000000049999999999999999999999999999999999999"), Some((0, false)));
        assert_eq!(picoseconds("1e-320"), Some((0, false)));
        let many = format!("1.{}1", "0".repeat(60_000));
        assert_eq!(picoseconds(&many), Some((1_000_000_000_000, false)));
    }

    #[test]
    fn two_to_the_127_is_the_first_number_that_is_too_large() {
        // 2^127 = 170,141,183,460,469,231,731,687,303,715,884,105,728, of which 36 digits are kept.
        let kept = "170141183460469231731687303715884105";
        let below = scaled(&format!("{kept}727"), 0);
        assert_eq!(below, Some(ScaledNumber { value: (1 << 127) - 728, exact: false }));
        assert_eq!(scaled(&format!("{}000", kept.replace("105", "106")), 0), None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in
            ["", ".", "-1", "+1", "1.2.3", "nan", "inf", "1e", "1e99999", "e5", "1 2", "0x1", "1e400", "٣"]
        {
            assert_eq!(picoseconds(text), None, "{text}");
        }
        assert_eq!(picoseconds(&"9".repeat(60_000)), None);
        assert_eq!(picoseconds(&"0".repeat(60_000)), Some((0, true)));
    }
}
