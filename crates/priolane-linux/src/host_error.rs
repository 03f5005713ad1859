//! Why a host process ends early.

use std::io;

use priolane_net::SendError;

/// Why a host process ends early.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The input is not a valid job.
    #[error("{0}")]
    Job(String),
    /// Its host cannot be bound.
    #[error(transparent)]
    Bind(#[from] priolane_net::BindError),
    /// A host that it sends to does not answer.
    #[error("no message arrives: {0}")]
    Greeting(Box<SendError>),
    /// Standard input or output failed.
    #[error("{0}")]
    Pipe(#[from] io::Error),
    /// Whoever started it is gone.
    #[error("the process that started this host is gone")]
    ParentGone,
}
