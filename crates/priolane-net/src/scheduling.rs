//! How the system schedules the thread of a host.

use crate::socket::{be_real_time, wake_on_time};

/// How the system schedules a host's thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// As any other thread: its timers may be milliseconds late on a machine that has other things to do.
    Ordinary,
    /// Before all ordinary threads.
    RealTime,
    /// As any other thread, although it was to be before them: what the system said, and what would permit it.
    Refused(String),
}

impl Scheduling {
    /// Of this thread, which is to have this priority from 1 to 99 if there is one. Threads that it starts inherit it. Waits of
    /// the thread end without the 50 us that the system otherwise adds, whatever its priority.
    pub fn of_this_thread(priority: Option<u8>) -> Self {
        wake_on_time();
        let Some(priority) = priority else { return Self::Ordinary };
        match be_real_time(priority) {
            Ok(()) => Self::RealTime,
            Err(error) => Self::Refused(format!(
                "{error}; give the program CAP_SYS_NICE (setcap cap_sys_nice+ep) or its user a limit rtprio of {priority}"
            )),
        }
    }
}
