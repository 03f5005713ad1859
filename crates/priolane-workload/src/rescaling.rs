//! Recorded flows with other bytes, at other times, or at a load.
//!
//! ```text
//! bytes'  = max(1, round(bytes * bytes_scale))
//! start'  = first + (start - first) * s,   s = time_scale, or (load over the list's span) / (load asked for)
//! ```
//!
//! The load over the list's own span is that of all its bytes from its first start to its last one. A deadline stays as long
//! after its flow's start as it was, and so do delays of news between hosts. The first start stays where a load is asked for,
//! and is multiplied like all others by a `time_scale`.

use priolane_core::endpoint::FlowSpec;
use priolane_core::keys::{Bounds, Form, KeyError, KeyValue, Schema, Value, WrittenValue};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::{PS_PER_S, Time};

use super::context::{LATEST_START, WorkloadContext, distinct};
use super::error::AppError;
use super::flow_list::Row;
use super::load::{Load, LoadOf};
use super::offered::Volume;

/// The factor for bytes or times, above 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor;

impl Form<f64> for Factor {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<f64, KeyError> {
        let factor = f64::read(value, &Bounds::ANY)?;
        if factor > 0.0 && factor <= 1e6 {
            return Ok(factor);
        }
        let fix = "a number above 0 and at most a million, such as 0.001";
        Err(KeyError::new(format!("the factor {factor} is out of range"), fix))
    }

    fn write(value: &f64) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// The request of a list for rescaled flows: the keys of `flows`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Factor of starts.
    pub time: f64,
    /// Factor of sizes.
    pub bytes: f64,
    /// Load over the list's own span, in place of a factor of starts.
    pub load: Option<Load>,
}

/// The factors that are applied to recorded flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rescaling {
    bytes: f64,
    /// The factor for times after `first`.
    times: f64,
    /// The instant that stays.
    first: Time,
}

impl Rescaling {
    /// Returns the factors that `scales` ask for, given `rows` at `site`.
    ///
    /// # Errors
    /// A load of a list whose flows all start at once, or of links that nothing of it crosses.
    pub(crate) fn of(scales: &Scales, rows: &[Row], site: &WorkloadContext<'_>) -> Result<Self, AppError> {
        let plain = Self { bytes: scales.bytes, times: scales.time, first: Time::ZERO };
        let Some(load) = scales.load else { return Ok(plain) };
        load.check()?;
        let first = rows.iter().map(|row| row.flow.start).min().unwrap_or_default();
        let last = rows.iter().map(|row| row.flow.start).max().unwrap_or_default();
        if first == last {
            return Err(AppError::NoSpan);
        }
        let over_span = offered(rows, &plain, load, site)? / (last.since(first).0 as f64 / PS_PER_S as f64);
        Ok(Self { times: over_span / load.value, first, ..plain })
    }

    /// The rows with their bytes and times changed.
    ///
    /// # Errors
    /// A flow that would start too late.
    pub(crate) fn applied(&self, mut rows: Vec<Row>) -> Result<Vec<Row>, AppError> {
        if (self.bytes, self.times) == (1.0, 1.0) {
            return Ok(rows);
        }
        for Row { flow, .. } in &mut rows {
            let start = self.instant(flow.start)?;
            let deadline = flow.deadline.map(|deadline| start + deadline.since(flow.start));
            // A step has no bytes, and still has none.
            let size = flow.size.map(|size| if size == 0 { 0 } else { self.bytes_of(size) });
            *flow = FlowSpec { size, start, deadline, ..*flow };
        }
        Ok(rows)
    }

    fn bytes_of(&self, size: u64) -> u64 {
        (size as f64 * self.bytes).round().clamp(1.0, MAX_BYTES) as u64
    }

    fn instant(&self, at: Time) -> Result<Time, AppError> {
        let ps = self.first.0 as f64 + at.since(self.first).0 as f64 * self.times;
        if ps > LATEST_START.0 as f64 { Err(AppError::TooLate) } else { Ok(Time(ps.round() as u64)) }
    }
}

/// Seconds that the links which `load` is of take for the bytes of the rows.
fn offered(
    rows: &[Row],
    scaled: &Rescaling,
    load: Load,
    site: &WorkloadContext<'_>,
) -> Result<f64, AppError> {
    let rack = |row: &Row| [row.flow.src, row.flow.dst].map(|host| site.rack.get(host.index()));
    let crosses = |row: &&Row| load.of == LoadOf::Host || rack(row)[0] != rack(row)[1];
    let flows = rows.iter().filter(|row| !row.is_step());
    let sizes = flows.filter(crosses).filter_map(|row| row.flow.size);
    let bytes: u128 =
        sizes.map(|size| Volume::of_flow(scaled.bytes_of(size), &site.frame).of(load.counts)).sum();
    let capacity = match load.of {
        LoadOf::Host => site.host_rate.bps() as f64 * distinct(site.hosts).len() as f64,
        LoadOf::Core => site.core_rate_bps as f64,
    };
    if bytes == 0 || capacity == 0.0 {
        return Err(AppError::NoCore);
    }
    Ok(8.0 * bytes as f64 / capacity)
}

#[cfg(test)]
mod tests {
    use priolane_core::units::Span;

    use super::*;
    use crate::flow_list;
    use crate::load::Counts;
    use crate::tests::Network;

    const LIST: &str = "start_ns,src,dst,bytes,class,deadline_ns\n\
                        1000,0,1,1000,0,2000\n\
                        3000,0,9,500000,0,\n\
                        11000,2,3,499000,0,12000\n";

    const SCALES: Scales = Scales { time: 1.0, bytes: 1.0, load: None };

    fn rescaled(flows: &Scales) -> Result<Vec<FlowSpec>, AppError> {
        let network = Network::new();
        let rows = flow_list::read_rows(LIST.as_bytes(), "x.csv", 16).unwrap();
        let scaling = Rescaling::of(flows, &rows, &network.site())?;
        Ok(scaling.applied(rows)?.into_iter().map(|row| row.flow).collect())
    }

    #[test]
    fn bytes_and_starts_are_multiplied_and_deadlines_stay_as_long_after() {
        let found = rescaled(&Scales { time: 0.5, bytes: 1e-3, ..SCALES }).unwrap();
        let starts: Vec<u64> = found.iter().map(|flow| flow.start.0).collect();
        assert_eq!(starts, [500_000, 1_500_000, 5_500_000]);
        assert_eq!(found.iter().map(|flow| flow.size).collect::<Vec<_>>(), [Some(1), Some(500), Some(499)]);
        let spans = found.iter().map(|flow| flow.deadline.map(|deadline| deadline.since(flow.start)));
        let us = Some(Span::from_us(1));
        assert_eq!(spans.collect::<Vec<_>>(), [us, None, us]);
    }

    #[test]
    fn as_recorded_nothing_changes() {
        let found = rescaled(&SCALES).unwrap();
        assert_eq!(
            found.iter().map(|flow| flow.start.0).collect::<Vec<_>>(),
            [1_000_000, 3_000_000, 11_000_000]
        );
    }

    #[test]
    fn a_load_is_that_over_the_span_of_the_list() {
        let network = Network::new();
        let site = network.site();
        let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.4 };
        let found = rescaled(&Scales { load: Some(load), ..SCALES }).unwrap();
        // A million bytes at 0.4 of 16 links.
        let span = 8e6 / (0.4 * 16.0 * site.host_rate.bps() as f64);
        let [first, last] = [found[0].start, found[2].start];
        assert_eq!(first, Time(1_000_000));
        let real = last.since(first).0 as f64 / PS_PER_S as f64;
        assert!((real / span - 1.0).abs() < 1e-6, "{real} is not {span}");
        // The second flow stays at a fifth of it.
        let second = found[1].start.since(first).0 as f64 / last.since(first).0 as f64;
        assert!((second - 0.2).abs() < 1e-6, "{second}");
        // Half of the bytes cross the core, near enough.
        let core = Load { of: LoadOf::Core, ..load };
        let found = rescaled(&Scales { load: Some(core), ..SCALES }).unwrap();
        let span = 8.0 * 500_000.0 / (0.4 * site.core_rate_bps as f64);
        let real = found[2].start.since(found[0].start).0 as f64 / PS_PER_S as f64;
        assert!((real / span - 1.0).abs() < 1e-6, "{real} is not {span}");
    }

    #[test]
    fn a_host_that_is_listed_twice_has_one_link() {
        let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.4 };
        let rows = flow_list::read_rows(LIST.as_bytes(), "x.csv", 16).unwrap();
        let last_start = |network: &Network| {
            let scaling =
                Rescaling::of(&Scales { load: Some(load), ..SCALES }, &rows, &network.site()).unwrap();
            scaling.applied(rows.clone()).unwrap()[2].flow.start
        };
        let once = Network::new();
        let mut twice = Network::new();
        twice.hosts.extend_from_within(..);
        assert_eq!(last_start(&twice), last_start(&once));
    }

    #[test]
    fn a_load_without_a_span_is_refused() {
        let network = Network::new();
        let rows =
            flow_list::read_rows(&b"start_ns,src,dst,bytes\n5,0,1,1000\n5,1,2,1000\n"[..], "x.csv", 16)
                .unwrap();
        let load = Load { of: LoadOf::Host, counts: Counts::Payload, value: 0.4 };
        let refused = Rescaling::of(&Scales { load: Some(load), ..SCALES }, &rows, &network.site());
        assert_eq!(refused, Err(AppError::NoSpan));
    }
}
