//! Asynchronous calls: futures of hosts on one thread, which report to Python callables.

use std::future::{Future, pending};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use async_executor::{Executor, Task};
use futures_lite::future::block_on;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

static EXECUTOR: Executor<'static> = Executor::new();
/// The error of the system if it refused the thread.
static THREAD: LazyLock<Option<String>> = LazyLock::new(|| {
    let thread = thread::Builder::new().name("priolane-async".to_owned());
    let started = thread.spawn(|| block_on(EXECUTOR.run(pending::<()>())));
    started.err().map(|error| error.to_string())
});

/// An asynchronous call that is under way.
#[pyclass(frozen, module = "priolane._core")]
pub(crate) struct NetTask {
    task: Mutex<Option<Task<()>>>,
}

impl NetTask {
    /// Polls `future` until it is ready, and then calls `done(value, error)` from another thread, with what the closure
    /// that it returns makes of its outcome.
    ///
    /// Raises `OSError` if the system has no room for the thread.
    pub(super) fn spawn<F, C>(done: Py<PyAny>, future: F) -> PyResult<Self>
    where
        F: Future<Output = C> + Send + 'static,
        C: FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
    {
        if let Some(error) = &*THREAD {
            return Err(PyOSError::new_err(format!("the system has no room for a thread: {error}")));
        }
        let task = EXECUTOR.spawn(async move {
            let convert = future.await;
            // An interpreter that ends wants no answer.
            Python::try_attach(|py| {
                let answer = match convert(py) {
                    Ok(value) => done.call1(py, (value, py.None())),
                    Err(error) => done.call1(py, (py.None(), error.into_value(py))),
                };
                if let Err(error) = answer {
                    error.write_unraisable(py, None);
                }
            });
        });
        Ok(Self { task: Mutex::new(Some(task)) })
    }
}

#[pymethods]
impl NetTask {
    /// Ends the call. A call that is ready at this moment may still report.
    fn cancel(&self) {
        drop(self.task.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
