//! A threshold over time during a run: its initial value and the updates of the controller.

use priolane_core::endpoint::ThresholdSet;
use priolane_core::units::Time;

use super::ladder::Threshold;
use super::metric::{Context, Metric, Missing, Scale, Scope, Unit};
use super::path::threshold_number;
use priolane_results::column::Row;
use priolane_results::rows::Table;
use priolane_results::series::SeriesRow;

/// Relative tolerance around the last value within which a threshold has settled.
const SETTLED: f64 = 0.1;

const THRESHOLD: Metric = Metric { scope: Scope::Thresholds, ..Metric::OF_FLOWS };

/// Threshold metrics; the number of the threshold, from 1, takes the place of the class in paths.
pub(super) const METRICS: &[Metric] = &[
    // The class threshold: the controller's last update up to the end of the measured window, or else the initial
    // value.
    Metric {
        name: "class_threshold",
        meaning: "Demotion threshold of switches; with a controller, the last one announced in the measured window",
        unit: Unit::Bytes,
        eval: |c| of(c, ThresholdSet::Class, Threshold::last),
        ..THRESHOLD
    },
    Metric {
        name: "host_threshold",
        meaning: "Demotion threshold inside hosts; with a controller, the last one announced in the measured window",
        unit: Unit::Bytes,
        eval: |c| of(c, ThresholdSet::HostLevel, Threshold::last),
        ..THRESHOLD
    },
    // Controller periods from the start of the measured window until the class threshold stays within 10 % of its value
    // at the window's end (docs/assumptions.md#settling).
    Metric {
        name: "class_threshold_settling",
        meaning: "Periods until the threshold stays within 10 % of its last value",
        scale: Scale::Events,
        eval: |c| of(c, ThresholdSet::Class, Threshold::settling),
        ..THRESHOLD
    },
];

/// Returns the name of the `number`-th threshold of `ladder` in `series.parquet`.
fn series(ladder: ThresholdSet, number: usize) -> String {
    match ladder {
        ThresholdSet::Class => format!("class_threshold_{number}"),
        ThresholdSet::HostLevel => format!("host_threshold_{number}"),
    }
}

/// Times and values in bytes of a controller's updates, in order of time.
type ThresholdUpdates = Vec<(Time, f64)>;

impl Threshold {
    /// Returns the controller's updates inside the window, read by `read`, and the last value, or else the initial one.
    fn course(
        &self,
        start: f64,
        read: &dyn Fn() -> Result<ThresholdUpdates, String>,
    ) -> Result<(ThresholdUpdates, f64), String> {
        let mut sent = if self.period.is_some() { read()? } else { ThresholdUpdates::new() };
        sent.retain(|&(at, _)| at <= self.window.1);
        let last = sent.last().map_or(start, |&(_, bytes)| bytes);
        Ok((sent, last))
    }

    /// Returns the initial value in bytes, or an error if there is none.
    fn begin(&self) -> Result<f64, String> {
        let start = self.start.ok_or("the scheme has no such threshold")?;
        if self.own { Err("each host computes its own threshold".to_owned()) } else { Ok(start) }
    }

    /// Returns the last value in bytes. An error says why there is none.
    fn last(&self, read: &dyn Fn() -> Result<ThresholdUpdates, String>) -> Result<f64, String> {
        Ok(self.course(self.begin()?, read)?.1)
    }

    /// Returns the periods from the start of the window until the threshold stays near its last value.
    fn settling(&self, read: &dyn Fn() -> Result<ThresholdUpdates, String>) -> Result<f64, String> {
        let start = self.begin()?;
        let period = self.period.ok_or("no controller changes the threshold")?;
        let (sent, last) = self.course(start, read)?;
        let far = |bytes: f64| (bytes / last - 1.0).abs() > SETTLED;
        // The last time at which it moved far away; it is near from the next update on.
        let near_from = match sent.iter().rposition(|&(_, bytes)| far(bytes)) {
            Some(place) => sent.get(place + 1).map(|&(at, _)| at),
            None if far(start) => sent.first().map(|&(at, _)| at),
            None => None,
        };
        let after = near_from.map_or(0, |at| at.0.saturating_sub(self.window.0.0));
        Ok(after as f64 / period.0 as f64)
    }
}

type Ask = fn(&Threshold, &dyn Fn() -> Result<ThresholdUpdates, String>) -> Result<f64, String>;

fn of(context: &Context, ladder: ThresholdSet, ask: Ask) -> Result<f64, Missing> {
    let number = threshold_number(context.class);
    let planned = number.and_then(|number| Some((number, context.stored.threshold(ladder, number)?)));
    let (number, threshold) = planned
        .ok_or_else(|| Missing::Scheme(format!("`{}` is not the number of a threshold", context.class)))?;
    let read = || sent(context, &series(ladder, number)).map_err(|error| error.to_string());
    ask(&threshold, &read).map_err(Missing::Scheme)
}

/// Returns the controller's updates of the threshold that is called `name` in `series.parquet`.
fn sent(context: &Context, name: &str) -> std::io::Result<ThresholdUpdates> {
    let mut sent = Vec::new();
    for batch in context.stored.table(context.record, Table::Series)? {
        let rows = SeriesRow::read(&batch)?;
        sent.extend(rows.iter().filter(|row| row.metric == name).map(|row| (Time(row.t_ps), row.value)));
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Initially 2 MB, measured from 100 ms to 500 ms, with a controller period of 50 ms.
    const THRESHOLD: Threshold = Threshold {
        start: Some(2e6),
        period: Some(Span::from_ms(50)),
        own: false,
        window: (Time(100_000_000_000), Time(500_000_000_000)),
    };

    fn value(ask: Ask, threshold: Threshold, sent: &[(Time, f64)]) -> Result<f64, String> {
        ask(&threshold, &|| Ok(sent.to_vec()))
    }

    #[test]
    fn the_last_word_inside_the_window_counts() {
        let sent = [(at(52), 3e6), (at(499), 1.5e6), (at(501), 9e6)];
        assert_eq!(value(Threshold::last, THRESHOLD, &sent), Ok(1.5e6));
        assert_eq!(value(Threshold::last, THRESHOLD, &[]), Ok(2e6));
        let own = Threshold { own: true, ..THRESHOLD };
        assert!(value(Threshold::last, own, &sent).unwrap_err().contains("own"));
    }

    #[test]
    fn a_threshold_has_settled_when_it_stays_near_its_last_value() {
        // Near 2 MB means 1.8 to 2.2 MB. It is far from it for the last time at 250 ms and near from 300 ms on, 200 ms
        // or four periods after the start of the window.
        let sent = [(at(150), 1.9e6), (at(250), 2.5e6), (at(300), 2.1e6), (at(450), 2e6)];
        assert_eq!(value(Threshold::settling, THRESHOLD, &sent), Ok(4.0));
        let early = [(at(60), 5e6), (at(90), 2e6), (at(400), 2.1e6)];
        assert_eq!(value(Threshold::settling, THRESHOLD, &early), Ok(0.0));
        assert_eq!(value(Threshold::settling, THRESHOLD, &[]), Ok(0.0));
    }

    #[test]
    fn without_a_controller_thresholds_are_those_of_the_start() {
        let still = Threshold { period: None, ..THRESHOLD };
        let nothing_is_read = || -> Result<ThresholdUpdates, String> { Err("read".to_owned()) };
        assert_eq!(still.last(&nothing_is_read), Ok(2e6));
        assert!(still.settling(&nothing_is_read).unwrap_err().contains("no controller"));
        let none = Threshold { start: None, ..still };
        assert!(none.last(&nothing_is_read).unwrap_err().contains("no such threshold"));
    }
}
