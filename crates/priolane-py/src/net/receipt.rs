//! The outcome of a message.

use priolane_net::{Delivery, Receipt, SendError};
use pyo3::prelude::*;

use super::errors::send_error;
use super::tasks::NetTask;
use super::waiting::wait;

/// A delivery as Python has it: seconds from the call until the sender knew, smoothed round-trip time in seconds,
/// retransmitted packets, and timeouts.
type Delivered = (f64, f64, u32, u32);

/// The receipt of a message.
#[pyclass(frozen, module = "priolane._core")]
pub(crate) struct NetReceipt {
    receipt: Receipt,
}

impl From<Receipt> for NetReceipt {
    fn from(receipt: Receipt) -> Self {
        Self { receipt }
    }
}

fn delivered(outcome: Result<Delivery, SendError>) -> PyResult<Delivered> {
    let Delivery { elapsed, rtt, retransmits, timeouts, .. } = outcome.map_err(send_error)?;
    Ok((elapsed.as_secs_f64(), rtt.as_secs_f64(), retransmits, timeouts))
}

#[pymethods]
impl NetReceipt {
    /// The number of the message, unique at its host.
    #[getter]
    fn id(&self) -> u64 {
        self.receipt.id().0
    }

    /// Returns the delivery, after waiting for at most `timeout` seconds; `None` if it is not known by then.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Delivered>> {
        wait(py, timeout, |most| self.receipt.wait_for(most))?.map(delivered).transpose()
    }

    /// As `wait` without a timeout; calls `done(delivery, error)`.
    fn wait_async(&self, done: Py<PyAny>) -> PyResult<NetTask> {
        let receipt = self.receipt.clone();
        NetTask::spawn(done, async move {
            let outcome = receipt.delivered().await;
            move |py: Python<'_>| Ok(delivered(outcome)?.into_pyobject(py)?.into_any().unbind())
        })
    }
}
