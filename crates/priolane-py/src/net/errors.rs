//! Exceptions of `priolane.net`.

use priolane_net::{BindError, RecvError, SendError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

use crate::errors::InputError;

create_exception!(
    priolane.net,
    DeliveryError,
    PyException,
    "A message was not delivered, or may not have been. `kind` is the reason as a word."
);
create_exception!(
    priolane.net,
    QueueFull,
    DeliveryError,
    "Too much waits to be delivered already; nothing was sent."
);
create_exception!(priolane.net, HostClosed, DeliveryError, "The host is closed.");
create_exception!(
    priolane.net,
    Forked,
    HostClosed,
    "The host belongs to the process from which this one was forked. Bind a host in this process instead."
);

/// Converts why a host cannot be bound: an `OSError` if the system refuses something, an `InputError` otherwise.
pub(super) fn bind_error(error: BindError) -> PyErr {
    match error {
        BindError::Address { .. } | BindError::Random | BindError::System(_) => {
            PyOSError::new_err(error.to_string())
        }
        error => InputError::new_err(error.to_string()),
    }
}

/// Converts why no more messages come.
pub(super) fn closed(error: RecvError) -> PyErr {
    let text = error.to_string();
    match error {
        RecvError::Forked => with_kind(Forked::new_err(text), "forked"),
        _ => with_kind(HostClosed::new_err(text), "closed"),
    }
}

/// Converts why a message was not taken or not delivered: an `InputError` if the caller asked for what cannot be.
pub(super) fn send_error(error: SendError) -> PyErr {
    let (text, kind) = (error.to_string(), error.name());
    match error {
        SendError::Closed(error) => closed(error),
        SendError::Full { .. } => with_kind(QueueFull::new_err(text), kind),
        SendError::Empty
        | SendError::TooLong { .. }
        | SendError::Class(_)
        | SendError::Weight
        | SendError::ToItself(_)
        | SendError::Family { .. } => InputError::new_err(text),
        _ => with_kind(DeliveryError::new_err(text), kind),
    }
}

fn with_kind(error: PyErr, kind: &str) -> PyErr {
    Python::attach(|py| match error.value(py).setattr("kind", kind) {
        Ok(()) => error,
        Err(other) => other,
    })
}

/// Adds the exceptions to `module`.
pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("DeliveryError", py.get_type::<DeliveryError>())?;
    module.add("Forked", py.get_type::<Forked>())?;
    module.add("HostClosed", py.get_type::<HostClosed>())?;
    module.add("QueueFull", py.get_type::<QueueFull>())
}
