//! The control socket of a switch, a Unix socket in the directory of the testbed. The switch answers each connection with its counters as
//! one line of JSON, and closes the connection.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::counts::SwitchReport;
use crate::clock::now;
use crate::unix_socket;

/// Time within which an answer must be complete.
const PATIENCE: Duration = Duration::from_secs(5);
/// The length of the longest answer in bytes. The answer of a switch with a hundred ports has 300 kB.
const MOST: usize = 4 << 20;
/// Time for which the switch waits for a client that does not read.
const SHORT: Duration = Duration::from_millis(20);

/// Returns the path of the socket of a switch in the directory of its testbed.
pub fn socket_path(directory: &Path, switch: u16) -> PathBuf {
    directory.join(format!("switch-{switch}.sock"))
}

/// Binds the socket, in non-blocking mode.
///
/// # Errors
/// Returns the error of the system call that failed.
pub(super) fn listen(directory: &Path, switch: u16) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(socket_path(directory, switch))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers all connections that wait.
pub(super) fn answer(listener: &UnixListener, report: impl Fn() -> SwitchReport) {
    while let Ok((mut stream, _)) = listener.accept() {
        let text = serde_json::to_vec(&report()).unwrap_or_default();
        // A client that has closed the connection does not receive the answer.
        let _ = stream.set_write_timeout(Some(SHORT)).and_then(|()| stream.write_all(&text));
    }
}

/// Returns the counters of a switch of the testbed in `directory`.
///
/// # Errors
/// Returns an error if the switch does not run, or does not answer within 5 s.
pub fn ask(directory: &Path, switch: u16) -> io::Result<SwitchReport> {
    let mut stream = unix_socket::connect(&socket_path(directory, switch), &mut || true)?;
    let began = now();
    let mut text = Vec::new();
    let mut piece = [0; 4_096];
    loop {
        let left = PATIENCE.saturating_sub(now().saturating_duration_since(began));
        if left.is_zero() || text.len() > MOST {
            let what = format!("it did not end its answer within {} s and {MOST} bytes", PATIENCE.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => return serde_json::from_slice(&text).map_err(io::Error::other),
            count => text.extend_from_slice(&piece[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_end_is_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(socket_path(directory.path(), 3)).unwrap();
        let endless = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(&[b'A'; 4_096]).is_ok() {}
        });
        assert_eq!(ask(directory.path(), 3).unwrap_err().kind(), io::ErrorKind::TimedOut);
        endless.join().unwrap();
        assert!(ask(directory.path(), 4).is_err());
    }
}
