//! The controller of a flow: an object of the class.

use std::sync::Arc;

use priolane_core::ids::FlowId;
use priolane_core::transport::window::{
    AckEvent, CongestionControl, FlowStart, LossEvent, Rank, Repeat, SendPermission,
};
use priolane_core::units::{PS_PER_S, Time};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::class::{Class, wrong};
use super::config::Config;
use super::events::{Ack, Flow, Loss};
use super::failure::{self, Raised};

/// The window of a new flow in segments, if none is configured (RFC 6928).
const FIRST_SEGMENTS: u64 = 10;
/// A window larger than the data that any flow has in flight. A larger one has the same effect.
const MOST_WINDOW: u64 = 1 << 40;

/// The controller of a flow.
#[derive(Debug)]
pub(crate) struct Controller {
    class: Option<Arc<Class>>,
    /// The object; `None` before the flow opens, or if it could not be made.
    object: Option<Py<PyAny>>,
    flow: FlowId,
    mss: u64,
    window: u64,
    /// The pace of a class that sets a rate.
    pace: Option<Pace>,
    /// The time of the last event that has one.
    latest: Time,
}

/// The rate of a flow that is paced.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// In bits per second.
    rate: f64,
    /// The time of the last packet; `Time::NEVER` before the first.
    last: Time,
}

/// A call of an object.
#[derive(Clone, Copy, Debug)]
enum Call {
    Init,
    OnAck,
    OnLoss,
    OnTimeout,
    OnRecovered,
    Rank,
}

impl Call {
    fn name(self, py: Python<'_>) -> &Bound<'_, PyString> {
        match self {
            Self::Init => intern!(py, "__init__"),
            Self::OnAck => intern!(py, "on_ack"),
            Self::OnLoss => intern!(py, "on_loss"),
            Self::OnTimeout => intern!(py, "on_timeout"),
            Self::OnRecovered => intern!(py, "on_recovered"),
            Self::Rank => intern!(py, "rank"),
        }
    }
}

impl Controller {
    fn make(&mut self, py: Python<'_>, start: &mut FlowStart<'_>) -> PyResult<()> {
        let Some(class) = &self.class else { return Ok(()) };
        let flow = Flow::new(start, self.mss, self.window);
        let object = class.object(py)?.call1((flow,))?;
        self.pace = object.hasattr(intern!(py, "rate"))?.then_some(Pace { rate: 0.0, last: Time::NEVER });
        self.look(&object)?;
        self.object = Some(object.unbind());
        Ok(())
    }

    /// Reads the window and the rate that the object has set.
    fn look(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        self.window = window(&object.getattr(intern!(py, "cwnd"))?)?;
        if let Some(pace) = &mut self.pace {
            pace.rate = rate(&object.getattr(intern!(py, "rate"))?)?;
        }
        Ok(())
    }

    /// Calls a method with the event that happened at `at`, and reads the window.
    fn tell(
        &mut self,
        (call, at): (Call, Time),
        event: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
    ) {
        if failure::is_pending() {
            return;
        }
        self.latest = at;
        Python::attach(|py| {
            let Some(object) = self.object.as_ref().map(|object| object.bind(py).clone()) else { return };
            let answer = event(py).and_then(|event| object.call_method1(call.name(py), (event,)));
            if let Err(error) = answer.and_then(|_| self.look(&object)) {
                self.failed(py, error, (call, at));
            }
        });
    }

    fn failed(&self, py: Python<'_>, error: PyErr, (call, at): (Call, Time)) {
        let Some(class) = &self.class else { return };
        let call = format!("{}.{}", class.name.class, call.name(py));
        failure::keep(Raised { error, call, file: class.name.file(), at, flow: self.flow });
    }
}

/// Returns a window in whole bytes.
fn window(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(whole) = value.cast::<PyInt>()
        && let Ok(bytes) = whole.extract::<u64>()
    {
        return Ok(bytes.min(MOST_WINDOW));
    }
    match value.extract::<f64>() {
        // Casts truncate and saturate.
        Ok(bytes) if bytes.is_finite() && bytes >= 0.0 => Ok((bytes as u64).min(MOST_WINDOW)),
        _ => Err(wrong(format!("cwnd is {}, which is not a number of bytes from 0", value.repr()?))),
    }
}

/// Returns a rate in bits per second.
fn rate(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => {
            Err(wrong(format!("rate is {}, which is not a number of bits per second above 0", value.repr()?)))
        }
    }
}

/// Returns the rank of a packet.
fn rank(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(rank) => Ok(rank),
        Err(_) => Err(wrong(format!(
            "it returned {}, which is not a whole number from 0 to 2^64 - 1",
            value.repr()?
        ))),
    }
}

impl CongestionControl for Controller {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = true;

    const PACED: bool = true;

    const RANK: Rank = Rank::Own;

    fn new(config: &Config, mss: u64) -> Self {
        let window = config.first_window.unwrap_or(FIRST_SEGMENTS * mss).max(mss);
        Self {
            class: config.code.read.clone(),
            object: None,
            flow: FlowId(0),
            mss,
            window,
            pace: None,
            latest: Time::ZERO,
        }
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        self.flow = opening.flow.id;
        if failure::is_pending() {
            return;
        }
        let now = opening.now;
        Python::attach(|py| {
            if let Err(error) = self.make(py, opening) {
                self.failed(py, error, (Call::Init, now));
            }
        });
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window
    }

    fn is_ecn_capable(&self) -> bool {
        self.class.as_ref().is_some_and(|class| class.is_ecn_capable)
    }

    fn rank(&self, offset: u64, una: u64, left: u64) -> u64 {
        if failure::is_pending() || !self.class.as_ref().is_some_and(|class| class.has("rank")) {
            return left;
        }
        Python::attach(|py| {
            let Some(object) = self.object.as_ref().map(|object| object.bind(py)) else { return left };
            let answer = object.call_method1(Call::Rank.name(py), (offset, una));
            answer.and_then(|answer| rank(&answer)).unwrap_or_else(|error| {
                // The packet has no time of its own.
                self.failed(py, error, (Call::Rank, self.latest));
                left
            })
        })
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        match self.pace {
            Some(Pace { rate, last }) if last != Time::NEVER => {
                let gap = (self.mss * 8) as f64 / rate * PS_PER_S as f64;
                SendPermission::NotBefore(Time(last.0.saturating_add(gap as u64)))
            }
            _ => SendPermission::Open,
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Time) {
        if let Some(pace) = &mut self.pace {
            pace.last = now;
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.tell((Call::OnAck, ack.now), |py| Ok(Bound::new(py, Ack(*ack))?.into_any()));
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let event = Loss { event: *loss, repeat: Repeat::First };
        self.tell((Call::OnLoss, loss.now), |py| Ok(Bound::new(py, event)?.into_any()));
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        let event = Loss { event: *loss, repeat };
        self.tell((Call::OnTimeout, loss.now), |py| Ok(Bound::new(py, event)?.into_any()));
    }

    fn on_recovered(&mut self, in_flight: u64) {
        if self.class.as_ref().is_some_and(|class| class.has("on_recovered")) {
            // The event has no time of its own.
            self.tell((Call::OnRecovered, self.latest), |py| Ok(in_flight.into_pyobject(py)?.into_any()));
        }
    }
}
