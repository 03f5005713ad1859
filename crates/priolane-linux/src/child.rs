//! Child processes that end with this process, and groups of processes that are ended together.
#![expect(unsafe_code, reason = "system calls that no crate of the standard library makes")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::clock::now;

/// The longest time that the system takes to end a process that was killed.
const KILLED: Duration = Duration::from_secs(2);
/// The interval at which a killed process is polled.
const LOOK: Duration = Duration::from_millis(5);

/// The namespaces in which a command runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Surroundings {
    /// The network namespace of this process.
    Shared,
    /// A new network namespace without a name, which disappears when the command has ended.
    OwnNetwork,
    /// A new network namespace, with a `/run` of its own in memory. Names that the command creates there disappear when
    /// the command has ended.
    OwnNetworkAndRun,
}

/// Makes the system kill the process of `command` when the thread that starts the process ends, however that happens.
/// The process leads a process group of its own, so that no Ctrl-C of a terminal reaches it.
pub(crate) fn end_with_parent(command: &mut Command, surroundings: Surroundings) {
    let parent = std::process::id();
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(move || before_exec(parent, surroundings)) };
}

fn check(done: libc::c_int) -> io::Result<()> {
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn before_exec(parent: u32, surroundings: Surroundings) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // The parent may have ended before.
    // SAFETY: no memory is passed.
    if u32::try_from(unsafe { libc::getppid() }) != Ok(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    let flags = match surroundings {
        Surroundings::Shared => return Ok(()),
        Surroundings::OwnNetwork => libc::CLONE_NEWNET,
        Surroundings::OwnNetworkAndRun => libc::CLONE_NEWNET | libc::CLONE_NEWNS,
    };
    // SAFETY: no memory is passed.
    check(unsafe { libc::unshare(flags) })?;
    if surroundings == Surroundings::OwnNetwork {
        return Ok(());
    }
    let (none, private) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
    // SAFETY: the texts are constants that end with a zero.
    check(unsafe { libc::mount(none, c"/".as_ptr(), none, private, none.cast()) })?;
    // SAFETY: as above.
    check(unsafe { libc::mount(c"tmpfs".as_ptr(), c"/run".as_ptr(), c"tmpfs".as_ptr(), 0, none.cast()) })
}

/// Kills the process group that `child` leads, and waits for `child` at most [`KILLED`].
pub(crate) fn kill_group(child: &mut Child) {
    if let Ok(leader) = i32::try_from(child.id())
        && matches!(child.try_wait(), Ok(None))
    {
        // SAFETY: no memory is passed. The leader has not been waited for, so its number is still its own.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
    let _ = child.kill();
    let began = now();
    while matches!(child.try_wait(), Ok(None)) && now().saturating_duration_since(began) < KILLED {
        thread::sleep(LOOK);
    }
}

/// Creates a file in memory without a name, and returns it with the path by which processes of this user can read the
/// file while this process has it open.
pub(crate) fn file_in_memory(bytes: &[u8]) -> io::Result<(std::fs::File, std::path::PathBuf)> {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    // SAFETY: the text is a constant that ends with a zero.
    let fd = unsafe { libc::memfd_create(c"priolane".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(bytes)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, path.into()))
}

/// Returns the effective user of this process.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { libc::geteuid() }
}

/// Returns whether this process may write to `path`.
pub(crate) fn may_write(path: &std::path::Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the text lives through the call and ends with a zero.
    unsafe { libc::access(path.as_ptr(), libc::W_OK) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_memory_can_be_read_by_its_path_while_it_is_open() {
        let (_open, path) = file_in_memory(b"\x7fELF, and more").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"\x7fELF, and more");
    }
}
