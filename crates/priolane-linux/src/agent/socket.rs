//! An agent on a Unix socket: one controller after another.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use super::serve::{Agent, AgentError, serve};

/// Serves one controller after another on a socket at `path`, which only this user may use, until an error. What one controller did
/// wrong is passed to `log`. A socket that an agent left behind is replaced.
///
/// # Errors
/// If there is another file at `path`, or an agent that listens, or no socket can be made.
pub fn listen(agent: &Agent, path: &Path, log: &mut dyn FnMut(&AgentError)) -> Result<(), AgentError> {
    let listener = bind(path)?;
    loop {
        let (stream, _) = listener.accept()?;
        if let Err(error) = serve_stream(agent, &stream) {
            log(&error);
        }
        // A thread may still read it.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn serve_stream(agent: &Agent, stream: &UnixStream) -> Result<(), AgentError> {
    serve(agent, BufReader::new(stream.try_clone()?), stream.try_clone()?)
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    let taken = |what: &str| {
        let what = format!("{}: {what}; use another path", path.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, what))
    };
    match fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => return taken("there is a file that is no socket"),
        Ok(_) if UnixStream::connect(path).is_ok() => return taken("an agent listens there"),
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    // Made where nobody else has access, so that there is no moment in which others may connect.
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let private = path.with_file_name(name);
    DirBuilder::new().mode(0o700).create(&private).map_err(named)?;
    let inside = private.join("s");
    let made = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&inside);
    let _ = fs::remove_dir(&private);
    made.map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_its_users_alone_and_takes_the_place_of_one_that_was_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent");
        let listener = bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let second = bind(&path).unwrap_err().to_string();
        assert!(second.ends_with("an agent listens there; use another path"), "{second}");
        drop(listener);
        // A process that another test has just started has it until that runs its program.
        while UnixStream::connect(&path).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(bind(&path).unwrap());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "text").unwrap();
        let file = bind(&path).unwrap_err().to_string();
        assert!(file.contains("no socket"), "{file}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    }
}
