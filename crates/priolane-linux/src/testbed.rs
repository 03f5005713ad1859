//! The functions that make, remove and inspect testbeds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::kill_group;
use crate::command::{CommandError, GoOn, Invocation, run};
use crate::counters::{QueueCount, counters, user_counters};
use crate::journal::{Entry, Journal, JournalState, inode, names};
use crate::last_words::last_line;
use crate::plan::{Name, PlanError, Step, TestbedPlan};
use crate::steps::steps;
use crate::switch::{self, SwitchReport};

/// The reason why creating or removing a testbed failed.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The plan is not valid.
    #[error(transparent)]
    TestbedPlan(#[from] PlanError),
    /// There already is a testbed of this name.
    #[error("there is a testbed {0}; take it down first, or use another name")]
    AlreadyUp(Name),
    /// There is no testbed of this name.
    #[error("there is no testbed {0}")]
    Missing(Name),
    /// A process uses the testbed.
    #[error("testbed {0} is in use by a process; end that first")]
    InUse(Name),
    /// A namespace exists that was not made by a testbed of this crate.
    #[error("there is a network namespace {0} that was not made here; remove it, or use another name")]
    Foreign(String),
    /// A command failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A file cannot be written or read.
    #[error("{}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The process of a switch has ended, or does not answer.
    #[error("switch {switch}: {message}")]
    Switch {
        /// The number of the switch.
        switch: u16,
        /// The last words of the process, or the error of the system.
        message: String,
    },
    /// The caller asked to stop.
    #[error("stopped by request")]
    Stopped,
    /// The marking program differs from the one that this crate was compiled with.
    #[error("the marking program that is compiled in has no place for a threshold; a defect of priolane")]
    Marker,
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> TestbedError {
    let path = path.to_owned();
    move |source| TestbedError::File { path, source }
}

/// A testbed that exists, held by this process.
#[derive(Debug)]
pub struct Testbed {
    plan: TestbedPlan,
    journal: Journal,
    /// The processes of switches in user space.
    switches: Vec<(u16, Child)>,
}

/// The longest time that the process of a switch takes to become ready, or to end.
const READY: Duration = Duration::from_secs(60);
const ENDED: Duration = Duration::from_secs(5);
/// The interval at which the process of a switch is polled.
const LOOK: Duration = Duration::from_millis(10);

/// The state of a testbed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// The name of the testbed.
    pub name: Name,
    /// Whether a process holds the testbed.
    pub in_use: bool,
    /// The number of its namespaces that exist.
    pub there: usize,
    /// The number of namespaces in the plan.
    pub planned: usize,
    /// The warnings of its switches in user space, in words.
    pub warnings: Vec<String>,
}

impl Testbed {
    /// Makes a testbed. If a step fails, the parts that were made before are removed. `program` with the arguments
    /// `switch`, a directory and a number must be the process of a switch in user space. `go_on` is asked several times
    /// a second and ends this call by returning false; the parts that were made are then removed as well.
    ///
    /// # Errors
    /// Returns the mistake in the plan, the name of an object that is in the way, the error of a step, or
    /// [`TestbedError::Stopped`].
    pub fn up(
        plan: TestbedPlan,
        root: &Path,
        program: &[String],
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, TestbedError> {
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
        let mut testbed = Self { plan, journal, switches: Vec::new() };
        let steps = steps(&testbed.plan, testbed.journal.directory(), program);
        let mut is_stopped = false;
        let mut watch = || {
            is_stopped = is_stopped || !go_on();
            !is_stopped
        };
        let taken = steps.iter().try_for_each(|step| testbed.take(step, &mut watch));
        let made = taken.and_then(|()| testbed.wait_for_switches(&mut watch));
        if let Err(error) = made {
            testbed.down()?;
            return Err(if is_stopped { TestbedError::Stopped } else { error });
        }
        Ok(testbed)
    }

    fn take(&mut self, step: &Step, go_on: &mut GoOn<'_>) -> Result<(), TestbedError> {
        if !go_on() {
            return Err(TestbedError::Stopped);
        }
        let mut run = |argv: &[String]| {
            let words: Vec<&str> = argv.iter().map(String::as_str).collect();
            Invocation::new(&words).run(go_on)
        };
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
            Step::Switch(switch, argv) => self.start_switch(*switch, argv)?,
        }
        Ok(())
    }

    /// Starts the process of a switch, in a process group of its own so that no Ctrl-C reaches it. The process outlives
    /// this one.
    fn start_switch(&mut self, switch: u16, argv: &[String]) -> Result<(), TestbedError> {
        use std::os::unix::process::CommandExt;
        let path = log(self.journal.directory(), switch);
        let log = fs::File::create(&path).map_err(file(&path))?;
        let failed = |error: io::Error| TestbedError::Switch { switch, message: error.to_string() };
        let (program, arguments) =
            argv.split_first().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(failed)?;
        self.switches.push((switch, child));
        Ok(())
    }

    /// Waits until all switches forward packets.
    fn wait_for_switches(&mut self, go_on: &mut GoOn<'_>) -> Result<(), TestbedError> {
        let started = now();
        for switch in self.plan.network.user_switches().collect::<Vec<_>>() {
            while let Err(error) = switch::ask(self.journal.directory(), switch) {
                self.check_switches()?;
                if !go_on() {
                    return Err(TestbedError::Stopped);
                }
                if now().saturating_duration_since(started) > READY {
                    return Err(TestbedError::Switch { switch, message: error.to_string() });
                }
                thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Checks that the processes of the switches run.
    ///
    /// # Errors
    /// Returns the first process that does not run, with its last words.
    pub fn check_switches(&mut self) -> Result<(), TestbedError> {
        for (switch, child) in &mut self.switches {
            if let Ok(Some(status)) = child.try_wait() {
                let words = read_end(&log(self.journal.directory(), *switch)).unwrap_or_default();
                let message = last_line(&words).unwrap_or_else(|| format!("its process ended: {status}"));
                return Err(TestbedError::Switch { switch: *switch, message });
            }
        }
        Ok(())
    }

    /// Returns the counters of the ports, and of the switches in user space.
    ///
    /// # Errors
    /// Returns the error of tc, or a switch that does not answer.
    pub fn counters(&mut self) -> Result<(Vec<QueueCount>, Vec<SwitchReport>), TestbedError> {
        self.check_switches()?;
        let mut all = counters(&self.plan)?;
        let reports = switch_reports(&self.plan, self.journal.directory())?;
        all.extend(reports.iter().flat_map(|report| user_counters(&self.plan, report)));
        Ok((all, reports))
    }

    /// Returns the plan of the testbed.
    pub fn plan(&self) -> &TestbedPlan {
        &self.plan
    }

    /// Removes the testbed.
    ///
    /// # Errors
    /// Returns a namespace that was not made here, or that cannot be removed. The other namespaces are removed.
    pub fn down(mut self) -> Result<(), TestbedError> {
        let removed = remove(&self.journal);
        for (_, child) in &mut self.switches {
            // They were killed with their namespaces.
            kill_group(child);
        }
        removed
    }
}

/// Returns the last bytes of a file, as many as messages show.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::{Read, Seek, SeekFrom};
    const MOST: u64 = 8_192;
    let mut file = fs::File::open(path)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(MOST)))?;
    let mut end = Vec::new();
    file.take(MOST).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the path of the file to which a switch writes why it ended.
fn log(directory: &Path, switch: u16) -> PathBuf {
    directory.join(format!("switch-{switch}.log"))
}

#[expect(clippy::disallowed_methods, reason = "real processes depend on the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Returns the reports of the switches in user space of a testbed.
fn switch_reports(plan: &TestbedPlan, directory: &Path) -> Result<Vec<SwitchReport>, TestbedError> {
    let ask = |switch| {
        switch::ask(directory, switch)
            .map_err(|error| TestbedError::Switch { switch, message: error.to_string() })
    };
    plan.network.user_switches().map(ask).collect()
}

/// Removes the testbed of this name, even if its maker was killed.
///
/// # Errors
/// Returns an error if there is no such testbed, if a process uses the testbed, or an error of [`Testbed::down`].
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
            end_switches(journal.directory(), &name);
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

/// Ends the processes of switches of the testbed in `directory` that run in this namespace, and waits until they are
/// gone. A namespace lives as long as a process in it.
fn end_switches(directory: &Path, namespace: &str) {
    let Some(inode) = inode(namespace) else { return };
    let started = now();
    loop {
        let left: Vec<i32> = processes().filter(|&pid| is_switch(pid, directory, inode)).collect();
        if left.is_empty() || now().saturating_duration_since(started) > ENDED {
            return;
        }
        left.into_iter().for_each(switch::kill);
        thread::sleep(LOOK);
    }
}

/// Returns the processes of this machine.
fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns whether a process was started as a switch of the testbed in `directory`, and is in the namespace with this
/// inode.
fn is_switch(pid: i32, directory: &Path, inode: u64) -> bool {
    use std::os::unix::fs::MetadataExt;
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = words.split(|&byte| byte == 0).collect();
    let directory = directory.as_os_str().as_encoded_bytes();
    let ours = words.windows(2).any(|pair| pair == [b"switch".as_slice(), directory]);
    ours && fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|namespace| namespace.ino() == inode)
}

fn warnings(root: &Path, name: &Name) -> Vec<String> {
    let Ok(plan) = Journal::plan(root, name) else { return Vec::new() };
    let directory = Journal::path(root, name);
    let of = |switch| match switch::ask(&directory, switch) {
        Ok(report) => report.counts.warnings(),
        Err(error) => vec![format!("it does not answer: {error}")],
    };
    let named = |switch| of(switch).into_iter().map(move |what| format!("switch {switch}: {what}"));
    plan.network.user_switches().flat_map(named).collect()
}

/// Returns the state of each testbed.
pub fn status(root: &Path) -> Vec<Status> {
    let of = |name: Name| {
        let planned = Journal::plan(root, &name).map(|plan| plan.namespaces()).unwrap_or_default();
        Status {
            in_use: Journal::look(root, &name) == JournalState::Held,
            there: planned.iter().filter(|namespace| inode(namespace).is_some()).count(),
            planned: planned.len(),
            warnings: warnings(root, &name),
            name,
        }
    };
    names(root).into_iter().map(of).collect()
}
