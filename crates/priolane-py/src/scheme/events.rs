//! The events of a flow as a class gets them. Times are in seconds, and beside them in picoseconds.

use priolane_core::transport::window::{AckEvent, FlowStart, Growth, LossEvent, Repeat};
use priolane_core::units::PS_PER_S;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

fn seconds(ps: u64) -> f64 {
    ps as f64 / PS_PER_S as f64
}

/// An ACK.
#[pyclass(frozen, module = "priolane.scheme")]
pub(crate) struct Ack(pub(super) AckEvent);

#[pymethods]
impl Ack {
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.0.now.0)
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.0.now.0
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    #[getter]
    fn una(&self) -> u64 {
        self.0.una
    }

    #[getter]
    fn next(&self) -> u64 {
        self.0.next
    }

    #[getter]
    fn marked(&self) -> bool {
        self.0.marked
    }

    #[getter]
    fn may_grow(&self) -> bool {
        self.0.growth == Growth::Allowed
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(|rtt| seconds(rtt.0))
    }

    #[getter]
    fn rtt_ps(&self) -> Option<u64> {
        self.0.rtt.map(|rtt| rtt.0)
    }

    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.0.srtt.0)
    }

    #[getter]
    fn srtt_ps(&self) -> u64 {
        self.0.srtt.0
    }

    #[getter]
    fn one_way(&self) -> f64 {
        self.0.one_way_ps as f64 / PS_PER_S as f64
    }

    #[getter]
    fn one_way_ps(&self) -> i64 {
        self.0.one_way_ps
    }
}

/// A loss that was inferred from ACKs, or a timeout.
#[pyclass(frozen, module = "priolane.scheme")]
pub(crate) struct Loss {
    pub(super) event: LossEvent,
    pub(super) repeat: Repeat,
}

#[pymethods]
impl Loss {
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.event.now.0)
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.event.now.0
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.event.in_flight
    }

    #[getter]
    fn next(&self) -> u64 {
        self.event.next
    }

    #[getter]
    fn again(&self) -> bool {
        self.repeat == Repeat::Again
    }
}

/// A flow when it starts.
#[pyclass(frozen, module = "priolane.scheme")]
pub(crate) struct Flow {
    #[pyo3(get)]
    id: u32,
    #[pyo3(get)]
    dst: u32,
    #[pyo3(get)]
    size: Option<u64>,
    #[pyo3(get)]
    priority: u8,
    #[pyo3(get)]
    weight: f64,
    #[pyo3(get)]
    min_rate: u64,
    #[pyo3(get)]
    mss: u64,
    #[pyo3(get)]
    first_window: u64,
    #[pyo3(get)]
    now_ps: u64,
    #[pyo3(get)]
    deadline_ps: Option<u64>,
    #[pyo3(get)]
    base_rtt_ps: u64,
    #[pyo3(get)]
    rate: u64,
    #[pyo3(get)]
    hops: u32,
    seed: u64,
    random: PyOnceLock<Py<PyAny>>,
}

impl Flow {
    /// Describes the flow that starts, with segments of `mss` bytes.
    pub(super) fn new(start: &mut FlowStart<'_>, mss: u64, first_window: u64) -> Self {
        let (flow, path) = (start.flow, (start.path)());
        Self {
            id: flow.id.0,
            dst: u32::from(flow.dst.0),
            size: flow.size,
            priority: flow.class,
            weight: flow.weights.w(),
            min_rate: flow.weights.theta_bps(),
            mss,
            first_window,
            now_ps: start.now.0,
            deadline_ps: flow.deadline.map(|deadline| deadline.0),
            base_rtt_ps: path.data.round_trip.0,
            rate: path.rate.bps(),
            hops: path.hops,
            seed: start.rng.bits(),
            random: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Flow {
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.now_ps)
    }

    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.deadline_ps.map(seconds)
    }

    #[getter]
    fn base_rtt(&self) -> f64 {
        seconds(self.base_rtt_ps)
    }

    /// The flow's own generator, seeded by the run.
    #[getter]
    fn random<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.random.get_or_try_init(py, || {
            let generator = py.import("random")?.call_method1("Random", (self.seed,))?;
            Ok::<_, PyErr>(generator.unbind())
        })?;
        Ok(made.bind(py).clone())
    }
}
