//! The keys of transports that go by delay (Swift, LEDBAT, and PrioPlus around either) or by telemetry (HPCC).

use priolane_core::transport::delay::{Signal, Size};
use priolane_core::transport::swift::Whole;
use priolane_core::units::Span;
use serde::{Serialize, Serializer};

use priolane_source::quantity::as_text;
use priolane_source::{Field, InputError, Reader};

/// A window in packets or in multiples of what fills the path: `"0.1pkt"`, `"1bdp"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize(pub Size);

impl Serialize for WindowSize {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Size::Packets(n) => s.serialize_str(&format!("{n}pkt")),
            Size::Bdp(n) => s.serialize_str(&format!("{n}bdp")),
        }
    }
}

impl WindowSize {
    /// Reads one, at least zero.
    fn read(field: &Field<'_>) -> Result<Self, InputError> {
        let text = field.text()?.trim();
        let sizes = [("pkt", Size::Packets as fn(f64) -> Size), ("bdp", Size::Bdp)];
        let found = sizes.iter().find_map(|(unit, of)| Some((text.strip_suffix(unit)?.trim(), of)));
        let number = found.and_then(|(digits, of)| Some((digits.parse::<f64>().ok()?, of)));
        match number {
            Some((n, of)) if n.is_finite() && n >= 0.0 => Ok(Self(of(n))),
            _ => {
                Err(field.error("this is no window", "packets such as \"0.1pkt\", or paths such as \"1bdp\""))
            }
        }
    }

    /// Reads one above zero.
    pub(super) fn above_zero(field: &Field<'_>) -> Result<Self, InputError> {
        match Self::read(field)? {
            Self(Size::Packets(0.0) | Size::Bdp(0.0)) => {
                Err(field.error("this is zero", "such as \"0.001pkt\""))
            }
            size => Ok(size),
        }
    }
}

/// A named set of Swift's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// The Swift paper's, and where it prints none those of its implementations.
    Paper,
    /// The baseline of PrioPlus's evaluation.
    PrioplusBaseline,
    /// The controller in Aequitas' simulator.
    Lite,
}

/// What a target is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetFrom {
    /// Zero.
    Total,
    /// The delay of the empty path.
    Base,
}

/// The window of a new flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstWindow {
    /// `init_window`.
    InitWindow,
    /// What fills the path.
    LineRate,
}

/// Swift's keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Swift {
    /// Where what is not stated comes from.
    pub preset: Preset,
    /// Which delay it goes by.
    pub delay: Signal,
    /// The window of a new flow.
    pub start: FirstWindow,
    /// What a round trip below the target adds.
    pub ai: WindowSize,
    /// The target of large windows, without links.
    #[serde(serialize_with = "as_text::span")]
    pub target: Span,
    /// What the target is counted from.
    pub target_from: TargetFrom,
    /// What each link adds.
    #[serde(serialize_with = "as_text::span")]
    pub hop: Span,
    /// What each class below the best takes off the target; zero for one target of all classes.
    #[serde(serialize_with = "as_text::span")]
    pub class_step: Span,
    /// The most that small windows add; zero for no scaling.
    #[serde(serialize_with = "as_text::span")]
    pub fs_range: Span,
    /// The window that adds the most.
    pub fs_min: WindowSize,
    /// The window that adds nothing.
    pub fs_max: WindowSize,
    /// Share of the excess that a decrease takes.
    pub beta: f64,
    /// The most that a decrease takes.
    pub max_mdf: f64,
    /// Floor of the window.
    pub min_cwnd: WindowSize,
    /// Ceiling of the window.
    pub max_cwnd: WindowSize,
    /// Whether windows are whole packets.
    pub whole_packets: bool,
    /// The target of the delay in hosts; zero for none.
    #[serde(serialize_with = "as_text::span")]
    pub endpoint_target: Span,
    /// Timeouts in a row that reset the window.
    pub retx_reset: u32,
}

const PRESETS: [(&str, Preset); 3] =
    [("paper", Preset::Paper), ("prioplus_baseline", Preset::PrioplusBaseline), ("lite", Preset::Lite)];
const SIGNALS: [(&str, Signal); 2] = [("rtt", Signal::Rtt), ("one_way", Signal::OneWay)];
const FROM: [(&str, TargetFrom); 2] = [("total", TargetFrom::Total), ("base", TargetFrom::Base)];
const FIRST: [(&str, FirstWindow); 2] =
    [("init_window", FirstWindow::InitWindow), ("line_rate", FirstWindow::LineRate)];

impl Swift {
    /// The values of a preset.
    pub fn preset(preset: Preset) -> Self {
        let paper = Self {
            preset,
            delay: Signal::Rtt,
            start: FirstWindow::InitWindow,
            ai: WindowSize(Size::Packets(1.0)),
            target: Span::from_us(25),
            target_from: TargetFrom::Total,
            // htsim's base / 6.55, to the nanosecond.
            hop: Span::from_ns(3_817),
            class_step: Span::ZERO,
            fs_range: Span::from_us(100),
            fs_min: WindowSize(Size::Packets(0.1)),
            fs_max: WindowSize(Size::Packets(100.0)),
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: WindowSize(Size::Packets(0.001)),
            max_cwnd: WindowSize(Size::Packets(1_000.0)),
            whole_packets: false,
            endpoint_target: Span::ZERO,
            retx_reset: 5,
        };
        match preset {
            Preset::Paper => paper,
            Preset::PrioplusBaseline => Self {
                start: FirstWindow::LineRate,
                ai: WindowSize(Size::Bdp(0.0012)),
                target_from: TargetFrom::Base,
                hop: Span::ZERO,
                fs_min: WindowSize(Size::Bdp(0.1)),
                fs_max: WindowSize(Size::Bdp(1.0)),
                min_cwnd: WindowSize(Size::Bdp(1e-4)),
                max_cwnd: WindowSize(Size::Bdp(100.0)),
                ..paper
            },
            Preset::Lite => Self {
                target: Span::from_us(10),
                hop: Span::ZERO,
                fs_range: Span::ZERO,
                min_cwnd: WindowSize(Size::Packets(1.0)),
                max_cwnd: WindowSize(Size::Packets(30.0)),
                whole_packets: true,
                ..paper
            },
        }
    }

    /// Whether packets below one are paced.
    pub fn whole(&self) -> Whole {
        if self.whole_packets { Whole::Packets } else { Whole::Fractions }
    }

    pub(super) fn read(keys: &mut Reader<'_>, default: Preset) -> Result<Self, InputError> {
        let of = Self::preset(keys.word_or("preset", &PRESETS, default)?);
        let size =
            |keys: &mut Reader<'_>, key, or| keys.take(key).map_or(Ok(or), |f| WindowSize::above_zero(&f));
        let keys_read = Self {
            preset: of.preset,
            delay: keys.word_or("delay", &SIGNALS, of.delay)?,
            start: keys.word_or("start", &FIRST, of.start)?,
            ai: keys.take("ai").map_or(Ok(of.ai), |f| WindowSize::read(&f))?,
            target: keys.take("target").map_or(Ok(of.target), |f| f.positive_span())?,
            target_from: keys.word_or("target_from", &FROM, of.target_from)?,
            hop: keys.span_or("hop", of.hop)?,
            class_step: keys.span_or("class_step", of.class_step)?,
            fs_range: keys.span_or("fs_range", of.fs_range)?,
            fs_min: size(keys, "fs_min", of.fs_min)?,
            fs_max: size(keys, "fs_max", of.fs_max)?,
            beta: share(keys.take("beta"), of.beta)?,
            max_mdf: share(keys.take("max_mdf"), of.max_mdf)?,
            min_cwnd: size(keys, "min_cwnd", of.min_cwnd)?,
            max_cwnd: size(keys, "max_cwnd", of.max_cwnd)?,
            whole_packets: keys.take("whole_packets").map_or(Ok(of.whole_packets), |f| f.truth())?,
            endpoint_target: keys.span_or("endpoint_target", of.endpoint_target)?,
            retx_reset: keys
                .take("retx_reset")
                .map_or(Ok(of.retx_reset.into()), |f| f.integer(1, 1_000_000))?
                as u32,
        };
        match (keys_read.fs_min.0, keys_read.fs_max.0) {
            _ if keys_read.fs_range == Span::ZERO => Ok(keys_read),
            (Size::Packets(min), Size::Packets(max)) | (Size::Bdp(min), Size::Bdp(max)) if min < max => {
                Ok(keys_read)
            }
            _ => Err(keys.error(
                "fs_min is not below fs_max, or they have different units",
                "such as fs_min = \"0.1pkt\" and fs_max = \"100pkt\", or fs_range = \"0ps\"",
            )),
        }
    }
}

/// A number above zero and at most 1.
fn share(field: Option<Field<'_>>, default: f64) -> Result<f64, InputError> {
    let Some(field) = field else { return Ok(default) };
    match field.number(0.0, 1.0)? {
        0.0 => Err(field.error("this is zero", "above 0 and at most 1")),
        share => Ok(share),
    }
}

/// The names of Swift's keys.
pub(super) const SWIFT_KEYS: &[&str] = &[
    "preset",
    "delay",
    "start",
    "ai",
    "target",
    "target_from",
    "hop",
    "class_step",
    "fs_range",
    "fs_min",
    "fs_max",
    "beta",
    "max_mdf",
    "min_cwnd",
    "max_cwnd",
    "whole_packets",
    "endpoint_target",
    "retx_reset",
];

/// HPCC's keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hpcc {
    /// The utilization that it aims at.
    pub eta: f64,
    /// Additive steps in a row.
    pub max_stage: u32,
    /// What each adds.
    pub step: WindowSize,
    /// T; zero for the round trip of the flow's empty path.
    #[serde(serialize_with = "as_text::span")]
    pub rtt: Span,
    /// Floor of the window.
    pub min_window: WindowSize,
}

impl Hpcc {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let eta = share(keys.take("eta"), 0.95)?;
        let step = WindowSize(Size::Bdp((1.0 - eta) / 100.0));
        let least = WindowSize(Size::Bdp(0.001));
        Ok(Self {
            eta,
            max_stage: keys.take("max_stage").map_or(Ok(5), |f| f.integer(0, 1_000))? as u32,
            step: keys.take("step").map_or(Ok(step), |f| WindowSize::read(&f))?,
            rtt: keys.span_or("rtt", Span::ZERO)?,
            min_window: keys.take("min_window").map_or(Ok(least), |f| WindowSize::above_zero(&f))?,
        })
    }
}

/// The names of LEDBAT's keys.
pub(super) const LEDBAT_KEYS: &[&str] =
    &["delay", "target", "gain", "decrease_gain", "allowed_increase", "min_window", "base_interval"];

/// LEDBAT's keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ledbat {
    /// Which delay it goes by.
    pub delay: Signal,
    /// The queueing delay that it aims at.
    #[serde(serialize_with = "as_text::span")]
    pub target: Span,
    /// Segments that a round trip without queueing adds.
    pub gain: f64,
    /// The same of decreases.
    pub decrease_gain: f64,
    /// Segments by which the window may exceed what is in flight.
    pub allowed_increase: f64,
    /// Floor of the window, in segments.
    pub min_window: f64,
    /// Length of an interval of the base history; zero for the delay of the empty path instead.
    #[serde(serialize_with = "as_text::span")]
    pub base_interval: Span,
}

impl Ledbat {
    pub(super) fn read(keys: &mut Reader<'_>) -> Result<Self, InputError> {
        let positive = |field: Option<Field<'_>>, default: f64, most: f64| {
            let Some(field) = field else { return Ok(default) };
            match field.number(0.0, most)? {
                0.0 => Err(field.error("this is zero", "above 0")),
                number => Ok(number),
            }
        };
        let gain = share(keys.take("gain"), 1.0)?;
        Ok(Self {
            delay: keys.word_or("delay", &SIGNALS, Signal::OneWay)?,
            target: keys.take("target").map_or(Ok(Span::from_us(25)), |f| f.positive_span())?,
            gain,
            decrease_gain: positive(keys.take("decrease_gain"), gain, 1e3)?,
            allowed_increase: positive(keys.take("allowed_increase"), 1.0, 1e9)?,
            min_window: positive(keys.take("min_window"), 2.0, 1e3)?,
            base_interval: keys.span_or("base_interval", Span::from_ms(1))?,
        })
    }
}
