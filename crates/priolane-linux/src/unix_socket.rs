//! Connections to Unix sockets whose owners may not be accepting any.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::clock::now;
use crate::command::GoOn;

/// The longest time that a listening process takes to accept a connection, in addition to those that wait already.
const LIMIT: Duration = Duration::from_secs(10);
/// The interval at which `go_on` is asked.
const LOOK: Duration = Duration::from_millis(50);

/// Connects to the socket at `path` while `go_on` says so. A thread waits in the system, as no limit can be given to it.
///
/// # Errors
/// Returns the error of the system, `TimedOut` after 10 s, or `Interrupted`.
pub(crate) fn connect(path: &Path, go_on: &mut GoOn<'_>) -> io::Result<UnixStream> {
    connect_within(path, LIMIT, go_on)
}

fn connect_within(path: &Path, limit: Duration, go_on: &mut GoOn<'_>) -> io::Result<UnixStream> {
    let (tell, connected) = mpsc::channel();
    let to = path.to_owned();
    thread::spawn(move || tell.send(UnixStream::connect(to)));
    let began = now();
    loop {
        match connected.recv_timeout(LOOK) {
            Ok(connected) => return connected,
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
            Err(RecvTimeoutError::Timeout) if !go_on() => return Err(io::ErrorKind::Interrupted.into()),
            Err(RecvTimeoutError::Timeout) if now().saturating_duration_since(began) > limit => {
                let what = format!("nobody accepts a connection within {} s", limit.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_listener_that_accepts_nobody_is_given_up_on_request() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let _listener = UnixListener::bind(&path).unwrap();
        // Connections wait until there are as many as the system keeps.
        let mut kept = Vec::new();
        let stopped = loop {
            let mut looks = 0;
            let mut go_on = || {
                looks += 1;
                looks < 3
            };
            match connect(&path, &mut go_on) {
                Ok(stream) => kept.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
        assert!(!kept.is_empty());
        assert_eq!(
            connect(&directory.path().join("absent"), &mut || true).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_listener_that_accepts_nobody_is_given_up_after_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let _listener = UnixListener::bind(&path).unwrap();
        let mut kept = Vec::new();
        let late = loop {
            // A connection that never ends is stopped after 100 looks, which is an error of another kind.
            let mut looks = 0;
            let mut go_on = || {
                looks += 1;
                looks < 100
            };
            match connect_within(&path, 3 * LOOK, &mut go_on) {
                Ok(stream) => kept.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert_eq!(late.to_string(), "nobody accepts a connection within 0.15 s");
    }
}
