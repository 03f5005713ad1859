//! Metric paths: `metric.class.scheme`, for example `gain.mice.nos2` or `fct.flow2.dctcp`.

use std::fmt;

use super::metric::Metric;

/// A metric of a class, for any scheme: `gain.mice`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The metric.
    pub metric: &'static Metric,
    /// Its scope: a size class, `all`, or `flowN`; for thresholds the number, from 1; for ports the set.
    pub class: String,
}

impl Measure {
    /// Parses `metric.class`; an error says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (metric, class) = text
            .split_once('.')
            .filter(|(_, class)| !class.is_empty())
            .ok_or_else(|| format!("metric `{text}` is not of the form quantity.class"))?;
        let metric = Metric::named(metric).ok_or_else(|| {
            let known: Vec<&str> = Metric::all().map(|metric| metric.name).collect();
            format!("metric `{text}`: unknown quantity `{metric}`; quantities are {}", known.join(", "))
        })?;
        Ok(Self { metric, class: class.to_owned() })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.metric.name, self.class)
    }
}

/// A metric of a class under one scheme: `gain.mice.nos2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricPath {
    /// The metric and its class.
    pub measure: Measure,
    /// The scheme.
    pub scheme: String,
}

impl MetricPath {
    /// Parses `metric.class.scheme`; the scheme may contain dots. An error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("metric `{text}` is not of the form quantity.class.scheme");
        let mut parts = text.splitn(3, '.');
        let (metric, class) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
        let scheme = parts.next().filter(|s| !s.is_empty()).ok_or_else(wrong)?;
        let measure = Measure::parse(&format!("{metric}.{class}"))?;
        Ok(Self { measure, scheme: scheme.to_owned() })
    }
}

impl fmt::Display for MetricPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.measure, self.scheme)
    }
}

/// Returns the flow denoted by a class `flowN`.
pub(crate) fn single_flow(class: &str) -> Option<u32> {
    let digits = class.strip_prefix("flow")?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Returns the number of the threshold denoted by a class, 1 to 15.
pub(crate) fn threshold_number(class: &str) -> Option<usize> {
    let plain = !class.starts_with('0') && class.bytes().all(|b| b.is_ascii_digit());
    class.parse().ok().filter(|number| plain && (1..=15).contains(number))
}
