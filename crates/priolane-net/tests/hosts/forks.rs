//! Tests with processes that are forked from one with hosts.
#![expect(unsafe_code, reason = "the standard library does not fork")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use priolane_net::core::endpoint::Weights;
use priolane_net::{Config, Host, MessageId, RecvError, Request, SendError};

use crate::transports::config;
use crate::wait::PATIENCE;

/// A forked process, which is killed at the end of the test at the latest.
struct Fork(libc::pid_t);

impl Fork {
    /// Forks. The child calls `act`, and its exit code says whether `act` panicked. The system ends a child that hangs.
    fn new(act: impl FnOnce()) -> Self {
        // SAFETY: the child calls nothing that waits for another thread: that is what the tests are about.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: no memory is passed.
                unsafe { libc::alarm(60) };
                let code = i32::from(catch_unwind(AssertUnwindSafe(act)).is_err());
                // SAFETY: the process ends without what the test program does at its end.
                unsafe { libc::_exit(code) }
            }
            child => Self(child),
        }
    }

    /// Waits until the child ends, and returns its exit code, or minus the signal that ended it.
    fn wait(self) -> i32 {
        let mut status = 0;
        // SAFETY: `status` lives through the call.
        assert_eq!(unsafe { libc::waitpid(self.0, &raw mut status, 0) }, self.0);
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
    }

    fn kill(self) {
        // SAFETY: no memory is passed, and the child was not yet waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.wait();
    }
}

fn closed<T>(result: Result<T, SendError>) -> bool {
    matches!(result, Err(SendError::Closed(RecvError::Forked)))
}

#[test]
fn a_forked_process_is_refused_at_once_and_its_parent_goes_on() {
    let [a, b] = [(); 2].map(|()| Host::bind(config("dctcp")).unwrap());
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let under_way = a.send_with_receipt(Request::to(silent.local_addr().unwrap()), "nobody answers").unwrap();
    let to = Request::to(b.address());
    let child = Fork::new(|| {
        assert!(
            closed(a.send(to, "x")) && closed(a.send_with_receipt(to, "x")) && closed(a.try_send(to, "x"))
        );
        assert!(closed(a.send_timeout(to, "x", PATIENCE)) && closed(a.set_class(MessageId(0), 1)));
        assert!(closed(a.set_weights(MessageId(0), Weights::BEST_EFFORT)));
        assert_eq!(a.recv().unwrap_err(), RecvError::Forked);
        assert_eq!(a.recv_timeout(PATIENCE).unwrap_err(), RecvError::Forked);
        assert_eq!(a.try_recv().unwrap_err(), RecvError::Forked);
        assert!(closed(under_way.wait()) && closed(under_way.wait_for(PATIENCE).unwrap()));
        assert!(closed(under_way.outcome().unwrap()) && !a.flush(PATIENCE));
        a.abort(MessageId(0));
        a.close();
        assert_eq!(a.check_process(), Err(RecvError::Forked));
        // SAFETY: the parent's host stays: this process has a copy, which ends here.
        drop(unsafe { std::ptr::read(&raw const a) });
    });
    assert_eq!(child.wait(), 0);
    for from in [&a, &b] {
        let to = if from.address() == a.address() { &b } else { &a };
        let receipt = from.send_with_receipt(Request::to(to.address()), "hello").unwrap();
        assert_eq!(to.recv_timeout(PATIENCE).unwrap().unwrap().bytes, b"hello");
        assert!(receipt.wait_for(PATIENCE).unwrap().is_ok());
    }
    assert_eq!(a.check_process(), Ok(()));
}

#[test]
fn a_forked_process_does_not_keep_the_port() {
    let host = Host::bind(config("dctcp")).unwrap();
    let address = host.address();
    // SAFETY: no memory is passed.
    let child = Fork::new(|| while unsafe { libc::pause() } == 0 {});
    drop(host);
    // Processes that other tests fork at this time have a copy of the socket until they close it or end.
    let patient = Instant::now() + PATIENCE;
    let again = loop {
        let again = Host::bind(Config { address, ..config("dctcp") });
        if again.is_ok() || Instant::now() >= patient {
            break again;
        }
        thread::sleep(Duration::from_millis(10));
    };
    child.kill();
    assert_eq!(again.unwrap().address(), address);
}

#[test]
fn a_forked_process_binds_hosts_of_its_own() {
    let kept = Host::bind(config("dctcp")).unwrap();
    let child = Fork::new(|| {
        let [a, b] = [(); 2].map(|()| Host::bind(config("dctcp")).unwrap());
        a.send(Request::to(b.address()), "in the child").unwrap();
        assert_eq!(b.recv_timeout(Duration::from_secs(50)).unwrap().unwrap().bytes, b"in the child");
    });
    assert_eq!(child.wait(), 0);
    drop(kept);
}
