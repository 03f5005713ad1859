//! A guard: a process that removes a testbed once the process that uses the testbed is gone, however that ended.
//!
//! The guard reads its standard input, a pipe from the other process. When the input ends, the guard removes the
//! testbed if it still exists, unless the other process has released the guard before.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::child::kill_group;
use crate::clock::now;
use crate::plan::Name;
use crate::testbed::{TestbedError, down};

/// The number of attempts, 50 ms apart, while a process still holds the testbed.
const TRIES: u32 = 200;

/// The longest time that a guard takes to find that its testbed is gone, or to remove it.
const ENDS: Duration = Duration::from_secs(30);
/// The interval at which the guard is polled.
const LOOK: Duration = Duration::from_millis(10);

/// A guard, which ends on drop.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts a guard: `program` with the arguments `guard` and the name, in a process group of its own so that no
    /// Ctrl-C reaches it.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(program: &[String], name: &Name) -> io::Result<Self> {
        let (first, rest) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(first);
        command.args(rest).arg("guard").arg(name.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self)
    }
}

/// The last byte of its input that releases a guard from its duty.
const RELEASED: u8 = b'k';

impl Guard {
    /// Ends the guard without removing the testbed.
    pub fn release(mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            // A guard that has ended removes nothing.
            let _ = input.write_all(&[RELEASED]);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let began = now();
        while matches!(self.0.try_wait(), Ok(None)) && now().saturating_duration_since(began) < ENDS {
            thread::sleep(LOOK);
        }
        kill_group(&mut self.0);
    }
}

/// Runs the guard: waits for the end of `input`, then removes the testbed, unless the guard was released.
///
/// # Errors
/// Returns the errors of [`down`], except that the testbed does not exist.
pub fn watch(name: &Name, root: &Path, mut input: impl Read) -> Result<(), TestbedError> {
    // What ends the input, or breaks it, is the end of the other process.
    let mut message = Vec::new();
    let _ = (&mut input).take(1).read_to_end(&mut message);
    if message == [RELEASED] {
        return Ok(());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_was_released_removes_nothing_and_another_finds_that_nothing_is_there() {
        let root = tempfile::tempdir().unwrap();
        let plan = crate::plan::tests::star(2, crate::port::Port::fifo());
        drop(crate::journal::Journal::create(root.path(), &plan).unwrap());
        watch(&plan.name, root.path(), &[RELEASED][..]).unwrap();
        assert_eq!(crate::journal::names(root.path()), std::slice::from_ref(&plan.name));
        watch(&plan.name, root.path(), io::empty()).unwrap();
        assert!(crate::journal::names(root.path()).is_empty());
        watch(&plan.name, root.path(), io::empty()).unwrap();
    }
}
