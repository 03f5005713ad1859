//! Whether the code of classes may be called: only while a run is carried out on this thread.

use std::cell::Cell;

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while a run is carried out on this thread.
pub(super) fn is_running() -> bool {
    IS_RUNNING.get()
}

/// Calls `run`, which carries out a run on this thread.
pub(crate) fn running<T>(run: impl FnOnce() -> T) -> T {
    /// Ends the run, also by a panic.
    struct End(bool);

    impl Drop for End {
        fn drop(&mut self) {
            IS_RUNNING.set(self.0);
        }
    }

    let _end = End(IS_RUNNING.replace(true));
    run()
}
