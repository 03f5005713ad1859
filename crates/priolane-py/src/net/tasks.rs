//! Asynchronous calls: futures of hosts on one thread, which report to Python callables.

use std::future::{Future, pending};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use async_executor::{Executor, Task};
use futures_lite::future::block_on;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The executor of a process. A forked process has no thread that polls the one of its parent.
#[derive(Clone)]
struct Runner {
    process: u32,
    executor: Arc<Executor<'static>>,
}

/// The executor of the process that used it last. Python threads lock it with the interpreter held, as they do when they
/// fork: no forked process finds it locked.
static RUNNER: Mutex<Option<Runner>> = Mutex::new(None);

impl Runner {
    /// The executor of this process, with its thread.
    ///
    /// # Errors
    /// `OSError` if the system has no room for the thread.
    fn of_this_process() -> PyResult<Self> {
        let process = process::id();
        let mut last = RUNNER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runner) = last.as_ref().filter(|runner| runner.process == process) {
            return Ok(runner.clone());
        }
        let executor = Arc::new(Executor::new());
        let polled = Arc::clone(&executor);
        thread::Builder::new()
            .name("priolane-async".to_owned())
            .spawn(move || block_on(polled.run(pending::<()>())))
            .map_err(|error| PyOSError::new_err(format!("the system has no room for a thread: {error}")))?;
        let runner = Self { process, executor };
        // That of a parent may be locked for ever: it is not dropped.
        std::mem::forget(last.replace(runner.clone()));
        Ok(runner)
    }
}

/// An asynchronous call that is under way.
#[pyclass(frozen, module = "priolane._core")]
pub(crate) struct NetTask {
    process: u32,
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
        let Runner { process, executor } = Runner::of_this_process()?;
        let task = executor.spawn(async move {
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
        Ok(Self { process, task: Mutex::new(Some(task)) })
    }

    /// Cancels the call, which only its own process can do: a forked one may find the executor locked.
    fn end(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if self.process == process::id() {
            drop(task);
        } else {
            std::mem::forget(task);
        }
    }
}

impl Drop for NetTask {
    fn drop(&mut self) {
        self.end();
    }
}

#[pymethods]
impl NetTask {
    /// Ends the call. A call that is ready at this moment may still report.
    fn cancel(&self) {
        self.end();
    }
}
