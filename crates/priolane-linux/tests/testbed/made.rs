//! The testbeds of these tests.

use std::ops::Deref;
use std::path::Path;

use priolane_linux::command::run;
use priolane_linux::journal::DIRECTORY;
use priolane_linux::network::{Line, Network, SwitchPort};
use priolane_linux::plan::{Marking, Name, TestbedPlan};
use priolane_linux::probe::Machine;
use priolane_linux::testbed::Testbed;

/// Returns a line of 100 Mbit/s without delay.
pub(crate) fn line(port: impl Into<SwitchPort>) -> Line {
    Line { rate_bps: 100_000_000, delay_ns: 0, port: port.into() }
}

/// Returns the command that starts hosts, switches and guards.
pub(crate) fn program() -> Vec<String> {
    vec![env!("CARGO_BIN_EXE_priolane-linux").to_owned()]
}

/// Returns a plan whose name contains the number of this process and `tag`.
pub(crate) fn plan(tag: &str, network: Network) -> TestbedPlan {
    let name = Name::try_from(format!("{tag}{}", std::process::id())).unwrap();
    TestbedPlan { name, network, mtu: 1_500, marking: Marking::Bpf }
}

/// A testbed that is removed on drop, even if the test fails.
pub(crate) struct Up(Option<Testbed>);

impl Up {
    /// Removes the testbed.
    pub(crate) fn down(mut self) {
        self.0.take().unwrap().down().unwrap();
    }

    /// Releases the testbed, which stays.
    pub(crate) fn release(mut self) {
        self.0 = None;
    }
}

impl Deref for Up {
    type Target = Testbed;

    fn deref(&self) -> &Testbed {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        if let Some(testbed) = self.0.take() {
            let _ = testbed.down();
        }
    }
}

/// Makes a testbed. Returns `None`, with the reason on standard error, if this machine cannot make it.
pub(crate) fn up(plan: TestbedPlan) -> Option<Up> {
    match Machine::examine().fit(plan) {
        Ok(plan) => {
            Some(Up(Some(Testbed::up(plan, Path::new(DIRECTORY), &program(), &mut || true).unwrap())))
        }
        Err(lacking) => {
            eprintln!("skipped: {lacking}");
            None
        }
    }
}

/// Returns the network namespaces of this machine whose names contain `tag`, in order.
pub(crate) fn namespaces(tag: &str) -> Vec<String> {
    let list = run(&["ip", "netns", "list"]).unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<String> = names.filter(|name| name.contains(tag)).map(str::to_owned).collect();
    names.sort();
    names
}
