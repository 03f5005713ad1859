//! Parses quantities as people write them (`"10Gbps"`, `"5us"`, `"1.5MB"`) to exact integers, and formats them.
//!
//! A number is decimal digits with at most one point; its unit follows directly or after blanks. Time, rate and byte
//! values never pass through a float: a value that is not a whole number of picoseconds, bits per second or bytes is
//! rejected.

use crate::units::{Limit, Rate, Span, Time};

/// The reason why a text is not a valid quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// The mistake.
    pub what: String,
    /// The text to write instead.
    pub fix: String,
}

/// A dimension with its units. The first unit is the smallest; the integer counts multiples of it.
struct Dimension {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u128)],
    /// Returns other spellings of one of the units.
    spellings: fn(&str) -> Vec<String>,
    /// The largest value, in the smallest unit and as text.
    most: (u64, &'static str),
}

const TIME: Dimension = Dimension {
    name: "a time",
    example: "\"5us\"",
    units: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)],
    spellings: spellings_of_time,
    most: (Time::LATEST.0, "2246400s, 26 days"),
};

const RATE: Dimension = Dimension {
    name: "a rate",
    example: "\"10Gbps\"",
    units: &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
    spellings: spellings_of_rate,
    most: (u64::MAX, "18446744Tbps"),
};

const BYTES: Dimension = Dimension {
    name: "a number of bytes",
    example: "\"64KiB\" or \"1.5MB\"",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
        ("TB", 1_000_000_000_000),
        ("TiB", 1 << 40),
    ],
    spellings: spellings_of_bytes,
    most: (1 << 47, "128TiB"),
};

const PACKETS: Dimension = Dimension {
    name: "a number of packets",
    example: "\"20pkt\"",
    units: &[("pkt", 1)],
    spellings: |_| Vec::new(),
    most: (u64::MAX, "2^64pkt"),
};

/// Thousandths of a packet time.
const PACKET_TIMES: Dimension = Dimension {
    name: "a number of packet times",
    example: "\"0.5pkt\"",
    units: &[("pkt", 1_000)],
    spellings: |_| Vec::new(),
    most: (u64::MAX, "18446744073709551pkt"),
};

/// Returns other spellings of a unit of time.
fn spellings_of_time(unit: &str) -> Vec<String> {
    let spellings: &[&str] = match unit {
        "s" => &["sec", "secs", "second", "seconds"],
        "ms" => &["msec", "msecs", "millisecond", "milliseconds"],
        "us" => &["usec", "usecs", "\u{b5}s", "\u{3bc}s", "microsecond", "microseconds"],
        "ns" => &["nsec", "nsecs", "nanosecond", "nanoseconds"],
        _ => &[],
    };
    spellings.iter().map(|&spelling| spelling.to_owned()).collect()
}

/// Returns other spellings of a unit of rate: `G`, `Gb`, `Gbit/s` and the like.
fn spellings_of_rate(unit: &str) -> Vec<String> {
    let prefix = unit.trim_end_matches("bps");
    let prefixes = if prefix == "k" { vec!["k", "K"] } else { vec![prefix] };
    let ends = ["", "b", "bE", "bit", "bits", "b/s", "bit/s", "bits/s", "bit/sec", "bits/sec", "bitps"];
    let of = |prefix: &str| ends.map(|end| format!("{prefix}{end}"));
    prefixes.into_iter().flat_map(of).filter(|spelling| !spelling.is_empty()).collect()
}

/// Returns other spellings of a unit of bytes.
fn spellings_of_bytes(unit: &str) -> Vec<String> {
    match unit {
        "B" => ["byte", "bytes", "Byte", "Bytes"].map(str::to_owned).to_vec(),
        _ => Vec::new(),
    }
}

/// Parses packet times such as `"0.5pkt"`, in thousandths.
pub(crate) fn packet_times(text: &str) -> Result<u64, QuantityError> {
    whole(text, &PACKET_TIMES).map_err(|mut error| {
        error.what =
            error.what.replace("a whole number of pkt", "a whole number of thousandths of a packet time");
        error
    })
}

/// Formats thousandths of a packet time.
pub(crate) fn show_packet_times(thousandths: u32) -> String {
    let (whole, part) = (thousandths / 1_000, thousandths % 1_000);
    let digits = format!("{whole}.{part:03}");
    format!("{}pkt", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Parses a time such as `"5us"`; whole picoseconds, zero allowed.
pub fn span(text: &str) -> Result<Span, QuantityError> {
    whole(text, &TIME).map(Span)
}

/// Parses a rate such as `"2.5Gbps"`; whole bits per second above zero.
pub fn rate(text: &str) -> Result<Rate, QuantityError> {
    Rate::from_bps(whole(text, &RATE)?).ok_or_else(|| QuantityError {
        what: "the rate is zero".into(),
        fix: "a rate above zero, such as \"10Gbps\"".into(),
    })
}

/// Parses a number of bytes such as `"1.5MB"` (decimal) or `"64KiB"` (binary).
pub fn bytes(text: &str) -> Result<u64, QuantityError> {
    whole(text, &BYTES)
}

/// Parses a queue limit: packets (`"20pkt"`), bytes (`"64KiB"`) or `"unbounded"`.
pub fn limit(text: &str) -> Result<Limit, QuantityError> {
    if text.trim() == "unbounded" {
        return Ok(Limit::Unlimited);
    }
    if text.trim_end().ends_with("pkt") {
        let packets = whole(text, &PACKETS)?;
        return u32::try_from(packets).map(Limit::Packets).map_err(|_| QuantityError {
            what: format!("{packets} packets exceed the largest limit of a queue"),
            fix: "at most 4294967295pkt, or \"unbounded\"".into(),
        });
    }
    whole(text, &BYTES).map(Limit::Bytes).map_err(|mut error| {
        error.fix = "packets (\"20pkt\"), bytes (\"64KiB\") or \"unbounded\"".into();
        error
    })
}

/// Parses a fraction such as `"1/16"` or a decimal such as `"0.0625"`, at least zero.
pub fn fraction(text: &str) -> Result<f64, QuantityError> {
    let bad = || QuantityError {
        what: format!("{text:?} is not a fraction"),
        fix: "a number such as 0.0625 or a fraction such as \"1/16\"".into(),
    };
    let part = |digits: &str| -> Result<f64, QuantityError> {
        let digits = digits.trim();
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if plain { digits.parse::<f64>().map_err(|_| bad()) } else { Err(bad()) }
    };
    match text.split_once('/') {
        None => part(text),
        Some((over, under)) => {
            let (over, under) = (part(over)?, part(under)?);
            if under > 0.0 { Ok(over / under) } else { Err(bad()) }
        }
    }
}

/// Formats a time in the largest unit in which it is a whole number: `"1500us"`, `"2s"`.
pub fn show_span(span: Span) -> String {
    show(span.0, &TIME, |_| true)
}

/// Formats a rate in the largest unit in which it is a whole number.
pub fn show_rate(rate: Rate) -> String {
    show(rate.bps(), &RATE, |_| true)
}

/// Formats a number of bytes in the largest decimal unit in which it is a whole number.
pub fn show_bytes(bytes: u64) -> String {
    show(bytes, &BYTES, |unit| !unit.contains('i'))
}

/// Formats a queue limit as files write it.
pub fn show_limit(limit: Limit) -> String {
    match limit {
        Limit::Packets(packets) => format!("{packets}pkt"),
        Limit::Bytes(bytes) => show_bytes(bytes),
        Limit::Unlimited => "unbounded".into(),
    }
}

/// Formats a time with three significant digits, for messages: `"14.1us"`.
pub fn about_span(span: Span) -> String {
    about(span.0, &TIME, |_| true)
}

/// The same for a time that is enough: rounded up.
pub fn about_span_up(span: Span) -> String {
    about(rounded_up(span.0, &TIME, |_| true), &TIME, |_| true)
}

/// Formats a number of bytes with three significant digits, for messages: `"17.6kB"`.
pub fn about_bytes(bytes: u64) -> String {
    about(bytes, &BYTES, |unit| !unit.contains('i'))
}

/// The same for a size that is enough: rounded up.
pub fn about_bytes_up(bytes: u64) -> String {
    let allowed = |unit: &str| !unit.contains('i');
    about(rounded_up(bytes, &BYTES, allowed), &BYTES, allowed)
}

/// Returns the least number with three significant digits in its unit that is not below `value`.
fn rounded_up(value: u64, dimension: &Dimension, allowed: impl Fn(&str) -> bool) -> u64 {
    let fits = |&&(unit, factor): &&(&str, u128)| allowed(unit) && factor <= u128::from(value);
    let factor = dimension.units.iter().rev().find(fits).map_or(1, |&(_, factor)| factor);
    let whole = u128::from(value) / factor;
    let parts = if whole < 10 {
        100
    } else if whole < 100 {
        10
    } else {
        1
    };
    let step = u64::try_from((factor / parts).max(1)).unwrap_or(u64::MAX);
    value.checked_next_multiple_of(step).unwrap_or(value)
}

/// Formats `value` in the largest unit that is not above it, rounded to three significant digits.
fn about(value: u64, dimension: &Dimension, allowed: impl Fn(&str) -> bool) -> String {
    let fits = |&&(unit, factor): &&(&str, u128)| allowed(unit) && factor <= u128::from(value);
    let (unit, factor) = dimension.units.iter().rev().find(fits).copied().unwrap_or(dimension.units[0]);
    let scaled = value as f64 / factor as f64;
    let decimals = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

fn show(value: u64, dimension: &Dimension, allowed: impl Fn(&str) -> bool) -> String {
    let exact = |&&(unit, factor): &&(&str, u128)| allowed(unit) && u128::from(value).is_multiple_of(factor);
    let best = if value == 0 { None } else { dimension.units.iter().rev().find(exact) };
    let (unit, factor) = best.copied().unwrap_or(dimension.units[0]);
    format!("{}{unit}", u128::from(value) / factor)
}

/// Parses `text` as a whole multiple of the dimension's smallest unit.
fn whole(text: &str, dimension: &Dimension) -> Result<u64, QuantityError> {
    let fail = |what: String| QuantityError {
        what,
        fix: format!("{} with its unit, such as {}", dimension.name, dimension.example),
    };
    let shown: String = text.chars().take(40).collect();
    let text = text.trim();
    if text.starts_with('-') {
        return Err(fail(format!("{shown:?} is negative")));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = (&text[..end], text[end..].trim_start());
    if digits.is_empty() {
        return Err(fail(format!("{shown:?} is not {}", dimension.name)));
    }
    if unit.is_empty() {
        return Err(fail(format!("{shown:?} has no unit")));
    }
    let Some(&(_, factor)) = dimension.units.iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit(&shown, (digits, unit), dimension));
    };
    let (mantissa, scale) =
        decimal(digits).ok_or_else(|| fail(format!("{shown:?} is not a decimal number with a unit")))?;
    let (most, written) = dimension.most;
    let product = mantissa.checked_mul(factor).filter(|p| p / scale <= u128::from(most));
    let product = product.ok_or_else(|| QuantityError {
        what: format!("{shown:?} is too large"),
        fix: format!("at most {written}"),
    })?;
    if !product.is_multiple_of(scale) {
        return Err(fail(format!("{shown:?} is not a whole number of {}", dimension.units[0].0)));
    }
    Ok((product / scale) as u64)
}

fn unknown_unit(shown: &str, (digits, unit): (&str, &str), dimension: &Dimension) -> QuantityError {
    let unit: &str = &unit.chars().take(40).collect::<String>();
    let units: Vec<&str> = dimension.units.iter().map(|(name, _)| *name).collect();
    let near = units.iter().find(|name| name.eq_ignore_ascii_case(unit));
    let one_of = format!("one of {}", units.join(", "));
    let is_meant = |name: &&&str| (dimension.spellings)(name).iter().any(|spelling| spelling == unit);
    QuantityError {
        what: format!("{shown:?} has the unit {unit:?}, which is not a unit of {}", &dimension.name[2..]),
        fix: match near {
            Some(name) => format!("Did you mean {name:?}? Use {one_of}"),
            None => match units.iter().find(is_meant) {
                Some(name) => format!("Write \"{digits}{name}\"; the units are {}", units.join(", ")),
                None => one_of,
            },
        },
    }
}

/// Parses digits with at most one point as `mantissa / scale`, with at most 18 digits after the point.
fn decimal(digits: &str) -> Option<(u128, u128)> {
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let point_is_inside = !before.is_empty() && (after.is_empty() != digits.contains('.'));
    if !point_is_inside || !all_digits(before) || !all_digits(after) || before.len() > 20 || after.len() > 18
    {
        return None;
    }
    let mut value: u128 = 0;
    let mut scale: u128 = 1;
    for digit in before.bytes().chain(after.bytes()) {
        value = value.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    for _ in 0..after.len() {
        scale *= 10;
    }
    Some((value, scale))
}

/// Serializers of quantities to the text form of files.
pub mod as_text {
    use crate::units::{Rate, Span};
    use serde::Serializer;

    /// Serializes a time as text.
    pub fn span<S: Serializer>(span: &Span, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&super::show_span(*span))
    }

    /// Serializes a rate as text.
    pub fn rate<S: Serializer>(rate: &Rate, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&super::show_rate(*rate))
    }

    /// Serializes an optional time as text.
    pub fn optional_span<S: Serializer>(span: &Option<Span>, s: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(value) => span_text(*value, s),
            None => s.serialize_none(),
        }
    }

    fn span_text<S: Serializer>(span: Span, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&super::show_span(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_exact_integers() {
        assert_eq!(span("5us").unwrap(), Span::from_us(5));
        assert_eq!(span("0.5 ns").unwrap(), Span(500));
        assert_eq!(rate("2.5Gbps").unwrap().bps(), 2_500_000_000);
        assert_eq!((bytes("1.5MB").unwrap(), bytes("64KiB").unwrap()), (1_500_000, 65_536));
        assert_eq!(limit("20pkt").unwrap(), Limit::Packets(20));
        assert_eq!(limit("240kB").unwrap(), Limit::Bytes(240_000));
        assert_eq!(limit("unbounded").unwrap(), Limit::Unlimited);
        assert_eq!(fraction("1/16").unwrap(), 0.0625);
        assert_eq!(fraction("0.25").unwrap(), 0.25);
        // 0.1 s is exactly 10^11 ps; a binary float of seconds is not exact.
        assert_eq!(span("0.1s").unwrap(), Span(100_000_000_000));
    }

    #[test]
    fn each_bad_text_says_what_would_be_right() {
        let what = |r: Result<Span, QuantityError>| r.unwrap_err().what;
        assert_eq!(what(span("5")), "\"5\" has no unit");
        assert_eq!(what(span("-5us")), "\"-5us\" is negative");
        assert_eq!(what(span("0.5ps")), "\"0.5ps\" is not a whole number of ps");
        assert_eq!(what(span("30000000s")), "\"30000000s\" is too large");
        assert!(rate("10gbps").unwrap_err().fix.starts_with("Did you mean \"Gbps\"?"));
        assert!(bytes("10KB").unwrap_err().fix.contains("kB"));
        for text in ["10G", "10Gb", "10 Gbit/s", "10Gbits/s", "10GbE"] {
            let fix = rate(text).unwrap_err().fix;
            assert_eq!(fix, "Write \"10Gbps\"; the units are bps, kbps, Mbps, Gbps, Tbps", "{text}");
        }
        assert!(rate("2.5K").unwrap_err().fix.starts_with("Write \"2.5kbps\""));
        assert!(span("10 usec").unwrap_err().fix.starts_with("Write \"10us\""));
        assert!(span("5\u{b5}s").unwrap_err().fix.starts_with("Write \"5us\""));
        assert!(bytes("1500bytes").unwrap_err().fix.starts_with("Write \"1500B\""));
        // Gigabytes are not gigabits.
        assert!(rate("10GB").unwrap_err().fix.starts_with("one of"));
        assert_eq!(rate("0Gbps").unwrap_err().what, "the rate is zero");
        for text in ["", ".", "1.", ".5us", "1.2.3us", "us", "1e3us", "١us", "9999999999999999999999us"] {
            assert!(span(text).is_err(), "{text}");
        }
        for text in ["1/0", "/", "-1/2", "inf", "nan", "1/2/3"] {
            assert!(fraction(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_largest_is_the_last_that_is_read() {
        assert_eq!(span("2246400s"), Ok(Span(Time::LATEST.0)));
        assert_eq!(span("2246400.000000000001s").unwrap_err().fix, "at most 2246400s, 26 days");
        assert_eq!(bytes("128TiB"), Ok(1 << 47));
        assert_eq!(bytes("140737488355329B").unwrap_err().fix, "at most 128TiB");
        assert_eq!(rate("18446744Tbps").map(Rate::bps), Ok(18_446_744_000_000_000_000));
    }

    #[test]
    fn what_is_enough_is_never_below_and_at_most_a_hundredth_above() {
        for value in [0, 1, 999, 1_001, 1_230_400, 9_995_001, 14_073_088, 407_800_000, 999_999_999, 7 << 40] {
            let (time, size) = (span(&about_span_up(Span(value))), bytes(&about_bytes_up(value)));
            for enough in [time.unwrap().0, size.unwrap()] {
                assert!((value..=value + value / 100 + 1).contains(&enough), "{value}: {enough}");
            }
        }
        assert_eq!(
            (about_span_up(Span(1_230_400)), about_bytes_up(11_313)),
            ("1.24us".into(), "11.4kB".into())
        );
    }

    #[test]
    fn what_is_about_has_three_digits_and_reads_back() {
        let spans =
            [(0, "0ps"), (999, "999ps"), (14_073_088, "14.1us"), (1_000_000, "1us"), (1_230_400, "1.23us")];
        for (ps, text) in spans {
            assert_eq!(about_span(Span(ps)), text);
            assert!(span(text).unwrap().0.abs_diff(ps) * 100 <= ps, "{text}");
        }
        assert_eq!((about_bytes(17_591), about_bytes(1 << 20)), ("17.6kB".into(), "1.05MB".into()));
    }

    #[test]
    fn what_is_shown_reads_back() {
        for ps in [0, 1, 999, 1_000, 1_500_000, 5_000_000, 1 << 47] {
            assert_eq!(span(&show_span(Span(ps))).unwrap(), Span(ps));
            assert_eq!(bytes(&show_bytes(ps)).unwrap(), ps);
        }
        assert_eq!(show_span(Span::from_us(1_500)), "1500us");
        assert_eq!(show_bytes(1_500_000), "1500kB");
        assert_eq!(show_rate(Rate::from_gbps(10)), "10Gbps");
    }
}
