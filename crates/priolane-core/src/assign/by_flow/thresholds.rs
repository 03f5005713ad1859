//! Forms of thresholds between classes, and of shares of classes.

use crate::ids::CLASSES;
use crate::keys::{Bounds, ByteList, Form, KeyError, KeyValue, Schema, Value, WrittenValue};
use crate::units::{Rate, Span};

/// Increasing thresholds, at most `MOST`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ascending<const MOST: usize>;

/// Returns `all` if it has 1 to `most` items and each pair of neighbours is in `order`; else the error `otherwise`.
fn in_order<T>(
    all: Vec<T>,
    most: usize,
    order: impl Fn(&T, &T) -> bool,
    otherwise: KeyError,
) -> Result<Vec<T>, KeyError> {
    if all.is_empty() {
        return Err(KeyError::new("the list is empty", "at least one item"));
    }
    if all.len() <= most && all.windows(2).all(|pair| order(&pair[0], &pair[1])) {
        Ok(all)
    } else {
        Err(otherwise)
    }
}

fn ascending<T: PartialOrd>(all: Vec<T>, most: usize, example: &str) -> Result<Vec<T>, KeyError> {
    let fix = format!("1 to {most} thresholds in increasing order, such as {example}");
    in_order(
        all,
        most,
        |below, above| below <= above,
        KeyError::new("the list is too long or not in increasing order", fix),
    )
}

/// Sizes in bytes.
impl<const MOST: usize> Form<Vec<u64>> for Ascending<MOST> {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<u64>, KeyError> {
        let all = ByteList::read(value, bounds)?;
        ascending(all, MOST, "[\"100kB\", \"1MB\"]")
    }

    fn write(value: &Vec<u64>) -> WrittenValue {
        ByteList::write(value)
    }

    fn schema() -> Schema {
        ByteList::schema()
    }
}

/// Increasing sizes in bytes, at most `MOST`, possibly none.
#[derive(Clone, Copy, Debug)]
pub(super) struct AscendingOrNone<const MOST: usize>;

impl<const MOST: usize> Form<Vec<u64>> for AscendingOrNone<MOST> {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<u64>, KeyError> {
        match value {
            Value::List(items) if items.is_empty() => Ok(Vec::new()),
            _ => Ascending::<MOST>::read(value, bounds),
        }
    }

    fn write(value: &Vec<u64>) -> WrittenValue {
        ByteList::write(value)
    }

    fn schema() -> Schema {
        ByteList::schema()
    }
}

/// Times, above zero.
impl<const MOST: usize> Form<Vec<Span>> for Ascending<MOST> {
    const UNIT: &'static str = "time";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Vec<Span>, KeyError> {
        let all = Vec::<Span>::read(value, &Bounds::above(0.0, "(0, )"))?;
        ascending(all, MOST, "[\"2ms\", \"8ms\"]")
    }

    fn write(value: &Vec<Span>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<Span>::schema()
    }
}

/// Decreasing thresholds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descending;

impl Form<Vec<Rate>> for Descending {
    const UNIT: &'static str = "bit/s";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<Rate>, KeyError> {
        let fix = "1 to 15 thresholds in decreasing order, such as [\"5Gbps\", \"1Gbps\"]: a larger demand \
                   is a higher class";
        let otherwise = KeyError::new("the list is too long or not in decreasing order", fix);
        in_order(Vec::<Rate>::read(value, bounds)?, CLASSES - 1, |above, below| above >= below, otherwise)
    }

    fn write(value: &Vec<Rate>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<Rate>::schema()
    }
}

/// Weights that flows pay for.
impl Form<Vec<f64>> for Descending {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<f64>, KeyError> {
        let fix = "1 to 15 thresholds in decreasing order, such as [4, 2]: a larger weight is a higher class";
        let otherwise = KeyError::new("the list is too long or not in decreasing order", fix);
        in_order(Vec::<f64>::read(value, bounds)?, CLASSES - 1, |above, below| above > below, otherwise)
    }

    fn write(value: &Vec<f64>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<f64>::schema()
    }
}

/// The shares of 2 to 16 classes, which sum to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares;

impl Form<Vec<f64>> for Shares {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<f64>, KeyError> {
        let shares = Vec::<f64>::read(value, bounds)?;
        let sum: f64 = shares.iter().sum();
        if (2..=CLASSES).contains(&shares.len()) && (sum - 1.0).abs() <= 1e-9 {
            return Ok(shares);
        }
        let what = format!("there are {} fractions with the sum {sum}", shares.len());
        Err(KeyError::new(what, "2 to 16 fractions with the sum 1, class 0 first"))
    }

    fn write(value: &Vec<f64>) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Vec::<f64>::schema()
    }
}

/// Returns the number of thresholds below a size.
pub(super) fn count_exceeded(thresholds: &[u64], size: u64) -> usize {
    thresholds.iter().filter(|&&t| t < size).count()
}

/// Returns the erroneous size of a flow of `size` bytes: `size` times error^(2u - 1). The logarithm of the factor is
/// uniform between those of 1 / `error` and `error`.
pub(super) fn misjudge(size: u64, error: f64, u: f64) -> u64 {
    if error == 1.0 {
        return size;
    }
    (size as f64 * libm::pow(error, 2.0 * u - 1.0)).round() as u64
}

/// Returns the class at the fraction `u` of all flows: the number of cumulative shares up to it.
pub(super) fn above(shares: &[f64], u: f64) -> usize {
    let mut sum = 0.0;
    let all_but_last = &shares[..shares.len().saturating_sub(1)];
    all_but_last
        .iter()
        .filter(|&&share| {
            sum += share;
            sum <= u
        })
        .count()
}
