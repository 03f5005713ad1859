//! A host.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use priolane_net::core::endpoint::Weights;
use priolane_net::core::units::Rate;
use priolane_net::{Host, Message, MessageId, Request, Scheduling, SendError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::errors::{bind_error, closed, send_error};
use super::receipt::NetReceipt;
use super::settings::{self, Settings};
use super::tasks::NetTask;
use super::waiting::wait;
use crate::request::request;

/// A host: one UDP socket with a thread of its own.
#[pyclass(frozen, module = "priolane._core")]
pub(crate) struct NetHost {
    /// `None` once it is closed.
    host: RwLock<Option<Arc<Host>>>,
    address: SocketAddr,
}

/// A message as Python has it: address and port of its sender, bytes, missing bytes, and seconds since it arrived.
type Received<'py> = (String, u16, Bound<'py, PyBytes>, u64, f64);

/// The parameters of a message: IP address and port, class, seconds until its deadline, minimum rate in bit/s, and
/// weight in thousandths.
type Sending = (String, u16, u8, Option<f64>, Option<u64>, u32);

fn sending((ip, port, class, deadline_s, min_rate_bps, weight_milli): Sending) -> PyResult<Request> {
    let to = SocketAddr::new(settings::ip(&ip)?, port);
    let deadline = deadline_s.map(|within| settings::seconds("deadline", within)).transpose()?;
    Ok(Request { to, class, deadline, weights: weights(min_rate_bps, weight_milli) })
}

fn weights(min_rate_bps: Option<u64>, weight_milli: u32) -> Weights {
    Weights { theta: min_rate_bps.and_then(Rate::from_bps), w_milli: weight_milli }
}

fn received(py: Python<'_>, message: Message) -> Received<'_> {
    let Message { from, bytes, missing, arrived } = message;
    (from.ip().to_string(), from.port(), PyBytes::new(py, &bytes), missing, arrived.elapsed().as_secs_f64())
}

impl NetHost {
    fn host(&self) -> PyResult<Arc<Host>> {
        let host = self.host.read().unwrap_or_else(PoisonError::into_inner).clone();
        let host = host.ok_or_else(|| closed(priolane_net::RecvError::Dropped))?;
        host.check_process().map_err(closed)?;
        Ok(host)
    }
}

#[pymethods]
impl NetHost {
    /// Binds a host as the JSON in `settings` says.
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        let config = request::<Settings>(settings)?.config()?;
        let host = py.detach(|| Host::bind(config)).map_err(bind_error)?;
        let address = host.address();
        Ok(Self { host: RwLock::new(Some(Arc::new(host))), address })
    }

    /// IP address and port that it is bound to.
    #[getter]
    fn address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// Whether its thread is real-time, and why it is not although that was asked for.
    fn scheduling(&self) -> PyResult<(bool, Option<String>)> {
        Ok(match self.host()?.scheduling() {
            Scheduling::Ordinary => (false, None),
            Scheduling::RealTime => (true, None),
            Scheduling::Refused(why) => (false, Some(why.clone())),
        })
    }

    /// Counts by name, in order.
    fn stats(&self) -> PyResult<Vec<(&'static str, u64)>> {
        Ok(self.host()?.stats().counts().to_vec())
    }

    /// Sends a message, after waiting for room for at most `timeout` seconds. Raises `QueueFull` if there is none by
    /// then.
    fn send(&self, py: Python<'_>, to: Sending, data: &[u8], timeout: Option<f64>) -> PyResult<NetReceipt> {
        let (host, request) = (self.host()?, sending(to)?);
        let bytes = bytes::Bytes::copy_from_slice(data);
        let taken = wait(py, timeout, |most| match host.send_timeout(request, bytes.clone(), most) {
            Err(SendError::Full { .. }) => None,
            other => Some(other),
        })?;
        let taken = taken.unwrap_or_else(|| host.try_send(request, bytes));
        taken.map(NetReceipt::from).map_err(send_error)
    }

    /// As `send`; calls `done(receipt, error)`.
    fn send_async(&self, to: Sending, data: &[u8], done: Py<PyAny>) -> PyResult<NetTask> {
        let (host, request) = (self.host()?, sending(to)?);
        let bytes = bytes::Bytes::copy_from_slice(data);
        NetTask::spawn(done, async move {
            let taken = host.send_async(request, bytes).await;
            move |py: Python<'_>| {
                let receipt = taken.map(NetReceipt::from).map_err(send_error)?;
                Ok(Py::new(py, receipt)?.into_any())
            }
        })
    }

    /// Returns the message that arrived first, after waiting for at most `timeout` seconds; `None` if none has arrived
    /// by then.
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Option<Received<'py>>> {
        let host = self.host()?;
        let arrived = wait(py, timeout, |most| host.recv_timeout(most).transpose())?;
        Ok(arrived.transpose().map_err(closed)?.map(|message| received(py, message)))
    }

    /// As `recv` without a timeout; calls `done(message, error)`.
    fn recv_async(&self, done: Py<PyAny>) -> PyResult<NetTask> {
        let host = self.host()?;
        NetTask::spawn(done, async move {
            let arrived = host.recv_async().await;
            move |py: Python<'_>| {
                let message = received(py, arrived.map_err(closed)?);
                Ok(message.into_pyobject(py)?.into_any().unbind())
            }
        })
    }

    /// Gives up a message of this host.
    fn abort(&self, message: u64) -> PyResult<()> {
        self.host()?.abort(MessageId(message));
        Ok(())
    }

    /// Changes the minimum rate in bit/s, and the weight in thousandths, of a message of this host.
    fn set_weights(&self, message: u64, min_rate_bps: Option<u64>, weight_milli: u32) -> PyResult<()> {
        self.host()?.set_weights(MessageId(message), weights(min_rate_bps, weight_milli)).map_err(send_error)
    }

    /// Changes the class of a message of this host.
    fn set_class(&self, message: u64, priority: u8) -> PyResult<()> {
        self.host()?.set_class(MessageId(message), priority).map_err(send_error)
    }

    /// Waits until every message that was sent is delivered or has failed, for at most `timeout` seconds; returns
    /// whether it is so.
    fn flush(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let host = self.host()?;
        Ok(wait(py, timeout, |most| host.flush(most).then_some(()))?.is_some())
    }

    /// Ends the host. Messages that are not delivered are lost; calls that wait raise `HostClosed`. Does nothing in a
    /// forked process, where the host is none.
    fn close(&self, py: Python<'_>) {
        let host = self.host.write().unwrap_or_else(PoisonError::into_inner).take();
        // The last owner waits for the host's thread.
        py.detach(|| {
            if let Some(host) = host {
                host.close();
                drop(host);
            }
        });
    }
}
