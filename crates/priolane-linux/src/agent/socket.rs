//! An agent on a Unix socket, which serves one controller after another.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, TrySendError};
use std::thread;
use std::time::Duration;

use super::message::FromAgent;
use super::serve::{Agent, AgentError, serve};
use crate::clock::now;

/// The longest time that an agent takes from the end of one controller to the next, in which it kills the hosts.
const BETWEEN: Duration = Duration::from_secs(5);
/// The time between two attempts to hand over a controller.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a controller which is sent away has to read the reason.
const SHORT: Duration = Duration::from_secs(1);

/// Serves one controller after another on a socket at `path`, which only this user may use, until an error occurs. The
/// errors of a controller are passed to `log`. Another controller that connects meanwhile is sent away after a few
/// seconds. A socket that an agent left behind is replaced.
///
/// # Errors
/// Returns an error if there is another file at `path`, if an agent already listens there, or if no socket can be
/// created.
pub fn listen(agent: &Agent, path: &Path, log: &mut dyn FnMut(&AgentError)) -> Result<(), AgentError> {
    let controllers = accepted(bind(path)?);
    for stream in controllers {
        let stream = stream?;
        if let Err(error) = serve_stream(agent, &stream) {
            log(&error);
        }
        // A thread may still read it.
        let _ = stream.shutdown(Shutdown::Both);
    }
    Ok(())
}

/// Returns the controllers that connect to `listener`. Each is handed over when the one before has been served.
fn accepted(listener: UnixListener) -> Receiver<io::Result<UnixStream>> {
    // Without room: a controller is handed over only to an agent that waits for one.
    let (hand_over, controllers) = mpsc::sync_channel(0);
    thread::spawn(move || {
        loop {
            let mut next = listener.accept().map(|(stream, _)| stream);
            let has_failed = next.is_err();
            let came = now();
            loop {
                next = match hand_over.try_send(next) {
                    Ok(()) => break,
                    Err(TrySendError::Disconnected(_)) => return,
                    Err(TrySendError::Full(next)) => next,
                };
                if let Ok(stream) = &next
                    && now().saturating_duration_since(came) > BETWEEN
                {
                    send_away(stream);
                    break;
                }
                thread::sleep(LOOK);
            }
            if has_failed {
                return;
            }
        }
    });
    controllers
}

fn send_away(mut stream: &UnixStream) {
    let why = FromAgent::Refused("its agent serves another controller; wait until that has ended".to_owned());
    let text = serde_json::to_string(&why).unwrap_or_default();
    let _ = stream.set_write_timeout(Some(SHORT)).and_then(|()| writeln!(stream, "{text}"));
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
        Ok(there) if !there.file_type().is_socket() => {
            return taken("a file that is not a socket is in its place");
        }
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
        assert!(file.contains("not a socket"), "{file}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    }

    #[test]
    fn a_controller_is_sent_away_while_the_agent_serves_another_and_taken_while_it_waits() {
        use std::io::BufRead;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent");
        let controllers = accepted(bind(&path).unwrap());
        // Nobody waits for a controller.
        let refused = UnixStream::connect(&path).unwrap();
        refused.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut line = String::new();
        BufReader::new(&refused).read_line(&mut line).unwrap();
        assert!(line.contains("its agent serves another controller"), "{line}");
        let mut served = UnixStream::connect(&path).unwrap();
        let stream = controllers.recv().unwrap().unwrap();
        served.write_all(b"x").unwrap();
        let mut byte = [0];
        std::io::Read::read_exact(&mut &stream, &mut byte).unwrap();
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn an_agent_on_a_socket_reports_why_a_controller_failed_and_waits_for_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent");
        let agent = Agent { program: Vec::new(), release: "1".to_owned(), clock_shift_ns: 0 };
        let (report, reports) = mpsc::channel();
        let to = path.clone();
        thread::spawn(move || listen(&agent, &to, &mut |error| report.send(error.to_string()).unwrap()));
        for _ in 0..2 {
            let mut controller = loop {
                if let Ok(stream) = UnixStream::connect(&path) {
                    break stream;
                }
                thread::sleep(LOOK);
            };
            // An agent that serves nobody yet may send the first one away.
            let _ = controller.write_all(b"greet\n");
            let why = reports.recv_timeout(Duration::from_secs(60)).unwrap();
            assert!(why.starts_with("a message of the controller: "), "{why}");
        }
    }
}
