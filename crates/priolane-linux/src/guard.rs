//! A process that takes a testbed down once the process that uses it is gone, however that ended.
//!
//! It reads its standard input, a pipe from the other process. At its end it removes the testbed, if that is still there.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::plan::Name;
use crate::testbed::{TestbedError, down};

/// How often it tries while a process still holds the testbed, 50 ms apart.
const TRIES: u32 = 200;

/// A guard; it ends with this.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts one: `program` with the arguments `guard` and the name, in a process group of its own so that no Ctrl-C reaches it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(program: &[String], name: &Name) -> io::Result<Self> {
        let (first, rest) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(first);
        command.args(rest).arg("guard").arg(name.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What a guard does: waits for the end of `input`, then takes the testbed down.
///
/// # Errors
/// As [`down`], but not that there is no testbed.
pub fn watch(name: &Name, root: &Path, mut input: impl Read) -> Result<(), TestbedError> {
    // What ends the input, or breaks it, is the end of the other process.
    let _ = io::copy(&mut input, &mut io::sink());
    let mut tries = 0;
    loop {
        match down(name, root) {
            Err(TestbedError::Missing(_)) | Ok(()) => return Ok(()),
            Err(TestbedError::InUse(_)) if tries < TRIES => {
                tries += 1;
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error),
        }
    }
}
