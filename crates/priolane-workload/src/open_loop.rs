//! Open loop: a size distribution, a load, and a clock by which load and sizes change.

use priolane_core::flows::FlowList;
use priolane_core::keys::Keys;
use priolane_core::rng::Stream;
use priolane_core::sizes::SizeDistribution;
use priolane_core::units::{PS_PER_S, Span, Time};
use priolane_source::{InputError, Reader, Sources};

use super::clock::{Clock, Segment};
use super::context::{LATEST_START, LoadChange, MAX_FLOWS, NewValue, Until, WorkloadContext};
use super::destinations::{Choice, DestinationScope};
use super::error::AppError;
use super::load::{Load, LoadOf, LoadTable, mean_bytes};
use super::sizes::{NamedSizes, Sizes};

/// The keys of an app that starts flows independently of their completion.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "open_loop")]
pub struct OpenLoop {
    /// Distribution of flow sizes: a shipped table, or { csv, interpolation, scale_to_mean, max }.
    #[key(required = "sizes = \"web_search\"", form = NamedSizes)]
    pub sizes: Sizes,
    /// The long-run offered load.
    #[key(required = "load = { of = \"host\", counts = \"payload\", value = 0.6 }", form = LoadTable)]
    pub load: Load,
    /// The destinations of a host.
    #[key(default = DestinationScope::AnyHost)]
    pub reach: DestinationScope,
}

impl OpenLoop {
    /// Reads the table of sizes.
    pub(crate) fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        keys.take("sizes").map_or(Ok(()), |field| self.sizes.open(&field, files))
    }

    /// Returns the flows per second of each of the hosts with these choices.
    pub(crate) fn rate<'c>(
        &self,
        site: &WorkloadContext<'_>,
        choices: impl Iterator<Item = &'c Choice>,
    ) -> Result<f64, AppError> {
        rate(&self.sizes.law, self.load, site, choices)
    }

    /// Returns the clock by which hosts with these choices start flows.
    pub(crate) fn clock<'s>(
        &'s self,
        site: &WorkloadContext<'s>,
        choices: &[&Choice],
    ) -> Result<Clock<'s>, AppError> {
        let first = self.rate(site, choices.iter().copied())?;
        let (mut sizes, mut load) = (&self.sizes.law, self.load);
        let mut segments = vec![Segment { drawn: 0, from: 0, time_scale: 1.0, sizes }];
        for LoadChange { at, to } in site.changes {
            match to {
                NewValue::Load(value) => load.value = *value,
                NewValue::Sizes(new) => sizes = &new.law,
            }
            load.check()?;
            let last = &segments[segments.len() - 1];
            let drawn = ((at.0 - last.from) as f64 / last.time_scale).round() as u64;
            let drawn = last.drawn.saturating_add(drawn);
            let time_scale = first / rate(sizes, load, site, choices.iter().copied())?;
            segments.push(Segment { drawn, from: at.0, time_scale, sizes });
        }
        Ok(Clock { segments })
    }
}

/// Returns the flows per second of each of the hosts with these choices, for a size distribution and a load.
fn rate<'c>(
    sizes: &SizeDistribution,
    load: Load,
    site: &WorkloadContext<'_>,
    choices: impl Iterator<Item = &'c Choice>,
) -> Result<f64, AppError> {
    let bits = 8.0 * mean_bytes(sizes, load.counts, &site.frame);
    match load.of {
        LoadOf::Host => Ok(load.value * site.host_rate.bps() as f64 / bits),
        LoadOf::Core => {
            let crossing: f64 = choices.map(Choice::crossing).sum();
            if crossing == 0.0 || site.core_rate_bps == 0 {
                return Err(AppError::NoCore);
            }
            Ok(load.value * site.core_rate_bps as f64 / (bits * crossing))
        }
    }
}

impl Until {
    pub(crate) fn is_enough(self, flows: &FlowList, next: Time) -> bool {
        match self {
            Self::Time(end) => next >= end,
            Self::Flows(count) => flows.len() as u64 >= count,
        }
    }
}

/// Returns `until` if the expected number of flows is not too large.
pub(crate) fn wanted(until: Until, flows_per_s: f64) -> Result<Until, AppError> {
    let expected = match until {
        Until::Time(end) => flows_per_s * end.as_secs_f64(),
        Until::Flows(count) => count as f64,
    };
    if expected > f64::from(MAX_FLOWS) { Err(AppError::TooMany) } else { Ok(until) }
}

/// Returns an exponential gap in whole picoseconds, bounded so that it can be added to any valid start.
pub(crate) fn gap(stream: &mut Stream, mean_s: f64) -> Span {
    let ps = (stream.exponential(mean_s) * PS_PER_S as f64).round() as u64;
    Span(ps.min(LATEST_START.0 + 1))
}
