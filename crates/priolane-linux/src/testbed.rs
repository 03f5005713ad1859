//! Making, removing and reading testbeds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::{CommandError, run};
use crate::journal::{Entry, Journal, JournalState, inode, names};
use crate::plan::{Name, Plan, PlanError, Step};
use crate::steps::steps;

/// Why a testbed is not made, or not removed.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The plan is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is a testbed of this name.
    #[error("there is a testbed {0}; take it down first, or use another name")]
    AlreadyUp(Name),
    /// There is none.
    #[error("there is no testbed {0}")]
    Missing(Name),
    /// A process uses it.
    #[error("testbed {0} is in use by a process; end that first")]
    InUse(Name),
    /// A namespace is there that no testbed of ours made.
    #[error("there is a network namespace {0} that was not made here; remove it, or use another name")]
    Foreign(String),
    /// A command failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A file cannot be written or read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The marking program is not the one that this crate was compiled with.
    #[error("the marking program that is compiled in has no place for a threshold; a defect of priolane")]
    Marker,
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> TestbedError {
    let path = path.to_owned();
    move |source| TestbedError::File { path, source }
}

/// A testbed that is up, held by this process.
#[derive(Debug)]
pub struct Testbed {
    plan: Plan,
    journal: Journal,
}

/// What is there of a testbed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Its name.
    pub name: Name,
    /// Whether a process holds it.
    pub in_use: bool,
    /// Namespaces that are there.
    pub there: usize,
    /// Namespaces of its plan.
    pub planned: usize,
}

impl Testbed {
    /// Makes it. If a step fails, what was made until then is removed.
    ///
    /// # Errors
    /// What is wrong with the plan, what is in its place, or what a step said.
    pub fn up(plan: Plan, root: &Path) -> Result<Self, TestbedError> {
        plan.check()?;
        if let Some(foreign) = plan.namespaces().into_iter().find(|name| inode(name).is_some())
            && Journal::look(root, &plan.name) == JournalState::Nothing
        {
            return Err(TestbedError::Foreign(foreign));
        }
        let journal = Journal::create(root, &plan).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => TestbedError::AlreadyUp(plan.name.clone()),
            _ => file(&Journal::path(root, &plan.name))(error),
        })?;
        let testbed = Self { plan, journal };
        for step in steps(&testbed.plan, testbed.journal.directory()) {
            if let Err(error) = testbed.take(&step) {
                testbed.down()?;
                return Err(error);
            }
        }
        Ok(testbed)
    }

    fn take(&self, step: &Step) -> Result<(), TestbedError> {
        let noted = |done: io::Result<()>| done.map_err(file(self.journal.directory()));
        match step {
            Step::Run(argv) => drop(run(argv)?),
            Step::Namespace(name, argv) => {
                noted(self.journal.intend(name))?;
                run(argv)?;
                noted(self.journal.record_namespace(name))?;
            }
            Step::Marker(path, marker) => {
                let object = marker.object().ok_or(TestbedError::Marker)?;
                fs::write(path, object).map_err(file(path))?;
            }
        }
        Ok(())
    }

    /// Its plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Removes it.
    ///
    /// # Errors
    /// A namespace that was not made here, or that cannot be removed; the others are removed.
    pub fn down(self) -> Result<(), TestbedError> {
        remove(&self.journal)
    }
}

/// Removes the testbed of this name, also one whose maker was killed.
///
/// # Errors
/// If there is none, if a process uses it, or as [`Testbed::down`].
pub fn down(name: &Name, root: &Path) -> Result<(), TestbedError> {
    match Journal::look(root, name) {
        JournalState::Nothing => Err(TestbedError::Missing(name.clone())),
        JournalState::Held => Err(TestbedError::InUse(name.clone())),
        JournalState::Free => remove(&Journal::open(root, name).map_err(file(&Journal::path(root, name)))?),
    }
}

fn remove(journal: &Journal) -> Result<(), TestbedError> {
    let mut failed = None;
    for (name, entry) in journal.entries().map_err(file(journal.directory()))? {
        let ours = match (inode(&name), entry) {
            (None, _) => continue,
            (Some(_), Entry::Intended) => true,
            (Some(there), Entry::Made(made)) => there == made,
        };
        let removed = if ours {
            run(&["ip", "netns", "delete", &name]).map(drop).map_err(TestbedError::from)
        } else {
            Err(TestbedError::Foreign(name))
        };
        failed = failed.or(removed.err());
    }
    match failed {
        // The journal stays, so that the user can mend it and try again.
        Some(error) => Err(error),
        None => {
            journal.forget();
            Ok(())
        }
    }
}

/// What is there of each testbed.
pub fn status(root: &Path) -> Vec<Status> {
    let of = |name: Name| {
        let planned = Journal::plan(root, &name).map(|plan| plan.namespaces()).unwrap_or_default();
        Status {
            in_use: Journal::look(root, &name) == JournalState::Held,
            there: planned.iter().filter(|namespace| inode(namespace).is_some()).count(),
            planned: planned.len(),
            name,
        }
    };
    names(root).into_iter().map(of).collect()
}
