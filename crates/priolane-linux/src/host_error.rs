//! The errors of a host process.

use std::io;

use priolane_net::SendError;

/// The reason why a host process ends early.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The input is not a valid job.
    #[error("{0}")]
    Job(String),
    /// The host cannot be bound.
    #[error(transparent)]
    Bind(#[from] priolane_net::BindError),
    /// A host to which this one sends does not answer.
    #[error("no message arrives: {0}")]
    Greeting(Box<SendError>),
    /// Standard input or output failed.
    #[error("{0}")]
    Pipe(#[from] io::Error),
    /// The parent process is gone.
    #[error("the process that started this host is gone")]
    ParentGone,
}
