//! The scheduling of the thread of a host by the system.

use crate::socket::{be_real_time, wake_on_time};

/// The scheduling class of a host's thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// The thread is scheduled as any other. Timers may be milliseconds late on a busy machine.
    Ordinary,
    /// The thread runs before all ordinary threads.
    RealTime,
    /// The thread is scheduled as any other, because the system refused the real-time priority. The text gives the
    /// error of the system and the remedy.
    Refused(String),
}

impl Scheduling {
    /// Sets the scheduling of the calling thread: the real-time priority from 1 to 99, if one is given. Threads that
    /// the calling thread starts inherit the priority. Whatever the priority, waits of the thread end without the slack
    /// of 50 us that the system otherwise adds.
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
