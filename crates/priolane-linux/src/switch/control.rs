//! How others ask a switch what it counted: a Unix socket in the directory of the testbed that answers each connection with a
//! line of JSON and closes it.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::counts::SwitchReport;

/// What an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// What the switch spends on one that does not read.
const SHORT: Duration = Duration::from_millis(20);

/// The socket of a switch in the directory of its testbed.
pub fn socket_path(directory: &Path, switch: u16) -> PathBuf {
    directory.join(format!("switch-{switch}.sock"))
}

/// Listens; never blocks.
///
/// # Errors
/// Those of the system.
pub(super) fn listen(directory: &Path, switch: u16) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(socket_path(directory, switch))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers those who ask.
pub(super) fn answer(listener: &UnixListener, report: impl Fn() -> SwitchReport) {
    while let Ok((mut stream, _)) = listener.accept() {
        let text = serde_json::to_vec(&report()).unwrap_or_default();
        // Whoever asked and is gone misses it.
        let _ = stream.set_write_timeout(Some(SHORT)).and_then(|()| stream.write_all(&text));
    }
}

/// What a switch of the testbed in `directory` has counted.
///
/// # Errors
/// If it does not run or does not answer.
pub fn ask(directory: &Path, switch: u16) -> io::Result<SwitchReport> {
    let mut stream = UnixStream::connect(socket_path(directory, switch))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}
