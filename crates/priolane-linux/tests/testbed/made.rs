//! Testbeds that tests make.

use std::ops::Deref;
use std::path::Path;

use priolane_linux::command::run;
use priolane_linux::journal::DIRECTORY;
use priolane_linux::network::{Line, Network, SwitchPort};
use priolane_linux::plan::{Marking, Name, Plan};
use priolane_linux::probe::Machine;
use priolane_linux::testbed::Testbed;

/// 100 Mbit/s and no delay.
pub(crate) fn line(port: impl Into<SwitchPort>) -> Line {
    Line { rate_bps: 100_000_000, delay_ns: 0, port: port.into() }
}

/// What starts hosts, switches and guards.
pub(crate) fn program() -> Vec<String> {
    vec![env!("CARGO_BIN_EXE_priolane-linux").to_owned()]
}

/// A plan with a name of this process and `tag`.
pub(crate) fn plan(tag: &str, network: Network) -> Plan {
    let name = Name::try_from(format!("{tag}{}", std::process::id())).unwrap();
    Plan { name, network, mtu: 1_500, marking: Marking::Bpf }
}

/// A testbed that is taken down when this is dropped, also by a test that fails.
pub(crate) struct Up(Option<Testbed>);

impl Up {
    /// Takes it down.
    pub(crate) fn down(mut self) {
        self.0.take().unwrap().down().unwrap();
    }

    /// Lets go of it: it stays up.
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

/// Makes it; `None`, with the reason on standard error, where this machine cannot.
pub(crate) fn up(plan: Plan) -> Option<Up> {
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

/// The network namespaces of this machine whose names contain `tag`, in order.
pub(crate) fn namespaces(tag: &str) -> Vec<String> {
    let list = run(&["ip", "netns", "list"]).unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<String> = names.filter(|name| name.contains(tag)).map(str::to_owned).collect();
    names.sort();
    names
}
