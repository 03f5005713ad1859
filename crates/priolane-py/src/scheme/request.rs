//! Flows and reports as rules and admission policies get them. Times are in seconds, and beside them in picoseconds.

use priolane_core::endpoint::{FlowReport, FlowSpec};
use priolane_core::units::{PS_PER_S, Time};
use pyo3::prelude::*;

fn seconds(ps: u64) -> f64 {
    ps as f64 / PS_PER_S as f64
}

/// A flow that its application requests.
#[pyclass(frozen, module = "priolane.scheme")]
pub(crate) struct Request(pub(super) FlowSpec);

#[pymethods]
impl Request {
    #[getter]
    fn id(&self) -> u32 {
        self.0.id.0
    }

    #[getter]
    fn src(&self) -> u32 {
        u32::from(self.0.src.0)
    }

    #[getter]
    fn dst(&self) -> u32 {
        u32::from(self.0.dst.0)
    }

    #[getter]
    fn size(&self) -> Option<u64> {
        self.0.whole_size()
    }

    #[getter]
    fn start(&self) -> f64 {
        seconds(self.0.start.0)
    }

    #[getter]
    fn start_ps(&self) -> u64 {
        self.0.start.0
    }

    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.deadline_ps().map(seconds)
    }

    #[getter]
    fn deadline_ps(&self) -> Option<u64> {
        self.0.deadline.map(|deadline| deadline.0)
    }

    #[getter]
    fn priority(&self) -> u8 {
        self.0.class
    }

    #[getter]
    fn group(&self) -> u16 {
        self.0.group
    }

    #[getter]
    fn weight(&self) -> f64 {
        self.0.weights.w()
    }

    #[getter]
    fn min_rate(&self) -> u64 {
        self.0.weights.theta_bps()
    }
}

/// The report of a flow at the end of a monitor interval, or when it is delivered.
#[pyclass(frozen, module = "priolane.scheme")]
pub(crate) struct Report {
    pub(super) report: FlowReport,
    pub(super) now: Time,
}

#[pymethods]
impl Report {
    #[getter]
    fn id(&self) -> u32 {
        self.report.flow.0
    }

    #[getter]
    fn now(&self) -> f64 {
        seconds(self.now.0)
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.0
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.report.bytes
    }

    #[getter]
    fn remaining(&self) -> Option<u64> {
        Some(self.report.remaining).filter(|&bytes| bytes != u64::MAX)
    }

    #[getter]
    fn rate(&self) -> u64 {
        self.report.rate_bps
    }

    #[getter]
    fn retransmitted(&self) -> u64 {
        self.report.retransmitted
    }

    #[getter]
    fn timeouts(&self) -> u32 {
        self.report.timeouts
    }

    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.report.rtt.0)
    }

    #[getter]
    fn srtt_ps(&self) -> u64 {
        self.report.rtt.0
    }

    #[getter]
    fn elapsed(&self) -> f64 {
        seconds(self.report.elapsed.0)
    }

    #[getter]
    fn elapsed_ps(&self) -> u64 {
        self.report.elapsed.0
    }
}

/// The host of an admission policy.
#[pyclass(frozen, get_all, module = "priolane.scheme")]
pub(crate) struct Host {
    /// The rate of its link in bit/s.
    pub(super) rate: u64,
    /// Payload bytes per MTU.
    pub(super) mtu: u32,
    /// The number of classes.
    pub(super) levels: u8,
}
