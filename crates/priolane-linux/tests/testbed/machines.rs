//! Tests of runs on several machines, which are agents on this one: packets cross the loopback interface.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use priolane_linux::clock::MachineReport;
use priolane_linux::job::Flow;
use priolane_linux::machines::{AgentAddress, MachineJob, MachinesJob, run};
use priolane_linux::network::{Network, SwitchPort};
use priolane_linux::port::Port;
use priolane_linux::run::{Ends, RunError, TestbedReport};

use crate::made::{line, program};
use crate::runs::{arrived, dctcp, fct_ms, flow};

const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// The time in which processes end that have nothing left to do.
const ENDS: Duration = Duration::from_secs(60);

/// Returns the command of an agent, started by `env` so that the agent and its hosts carry `mark` in their
/// environments.
pub(crate) fn agent(mark: &str, options: &[&str]) -> Vec<String> {
    let mut argv = vec!["env".to_owned(), format!("PRIOLANE_TEST={mark}")];
    argv.extend(program());
    argv.push("agent".to_owned());
    argv.extend(options.iter().map(|&option| option.to_owned()));
    argv
}

/// Returns the job of four hosts of 100 Mbit/s: 0 and 2 on `left`, 1 and 3 on `right`, at loopback addresses that end
/// in `net`.
pub(crate) fn job(net: u8, [left, right]: [AgentAddress; 2], flows: Vec<Flow>) -> MachinesJob {
    let mut network = Network::star(4, &line(SwitchPort::from(Port::fifo())));
    network.cables.iter_mut().for_each(|cable| cable.ports = [None, None]);
    let machine = |name: &str, agent, third, hosts: [u16; 2]| MachineJob {
        name: name.to_owned(),
        agent,
        address: [127, 0, third, net].into(),
        port: 7_077,
        hosts: hosts.to_vec(),
    };
    MachinesJob {
        machines: vec![machine("left", left, 1, [0, 2]), machine("right", right, 2, [1, 3])],
        network,
        mtu: 1_500,
        scheme: dctcp(),
        knows_paths: false,
        flows,
        changes: Vec::new(),
        bins: None,
        limit_ns: 60_000_000_000,
        ends: Ends::WhenDone,
        real_time: Some(20),
    }
}

/// Returns a flow from each host to each other host.
fn all_pairs(bytes: u64) -> Vec<Flow> {
    let pairs = (0..4).flat_map(|src| (0..4).filter(move |&dst| dst != src).map(move |dst| (src, dst)));
    pairs.enumerate().map(|(id, pair)| flow(id as u32, pair, bytes, 10 * id as u64)).collect()
}

/// Returns the processes that carry this mark.
fn marked(mark: &str) -> BTreeSet<i32> {
    let wanted = format!("PRIOLANE_TEST={mark}");
    let carries = |pid: &i32| {
        let text = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        text.split(|&byte| byte == 0).any(|word| word == wanted.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(carries).collect()
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < ENDS, "not within {ENDS:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn none_left(mark: &str) {
    wait_until(&format!("all processes of {mark} end"), || marked(mark).is_empty());
}

pub(crate) fn measured(job: &MachinesJob) -> Result<TestbedReport, RunError> {
    run(job, RELEASE, &mut |_| true)
}

#[test]
fn messages_between_machines_arrive_and_their_times_are_those_of_one_clock() {
    let mark = format!("clocks{}", std::process::id());
    // An hour ahead, and half an hour behind.
    let shifts = [3_600_000_000_000_i64, -1_800_000_000_000];
    let agents =
        shifts.map(|shift| AgentAddress::Command(agent(&mark, &["--clock-shift", &shift.to_string()])));
    // 1.25 MB in packets of 1456 of 1538 bytes at 100 Mbit/s take 105.6 ms.
    let mut flows = all_pairs(14_600);
    flows.push(flow(12, (0, 1), 1_250_000, 500));
    let measured = measured(&job(11, agents, flows)).unwrap();
    assert_eq!(arrived(&measured), (0..13).collect());
    assert_eq!(measured.hosts.iter().map(|host| host.wrong).sum::<u64>(), 0);
    assert_eq!((measured.queues.len(), measured.switches.len()), (0, 0));
    let names: Vec<&str> = measured.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!(names, ["left", "right"]);
    for (machine, shift) in measured.machines.iter().zip(shifts) {
        let MachineReport { before, after, .. } = machine;
        println!("{}: {before:?}, {after:?}", machine.name);
        for clock in [before, after] {
            // A busy machine may stop for some ms between two readings of clocks, when the agent sets its own.
            let off = clock.offset_ns.abs_diff(shift);
            assert!(off <= clock.uncertainty_ns + 10_000_000, "{off} ns off: {clock:?}");
        }
    }
    let uncertainty_ms =
        measured.machines.iter().map(|machine| machine.uncertainty_ns() as f64 / 1e6).sum::<f64>();
    let fct = fct_ms(&measured, 12);
    println!("1.25 MB between machines: {fct:.2} ± {uncertainty_ms:.3} ms of 105.6");
    // 10 ms less, for the clocks.
    assert!(fct > 95.0 - uncertainty_ms && fct < 20_000.0, "{fct} ms");
    none_left(&mark);
}

#[test]
fn an_agent_on_a_socket_serves_one_run_after_another() {
    let mark = format!("socket{}", std::process::id());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agent");
    let argv = agent(&mark, &["--socket", path.to_str().unwrap()]);
    let mut listening = Command::new(&argv[0]).args(&argv[1..]).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the agent listens", || path.exists());
    let job =
        job(12, [AgentAddress::Socket(path), AgentAddress::Command(agent(&mark, &[]))], all_pairs(5_000));
    for _ in 0..2 {
        assert_eq!(arrived(&measured(&job).unwrap()).len(), 12);
        // The hosts of the run that is over are gone, the agent is not.
        wait_until("hosts end", || marked(&mark).len() == 1);
    }
    // A controller of another release is sent away, and the next one served.
    let other = run(&job, "9.9.9", &mut |_| true).unwrap_err().to_string();
    assert!(other.contains("its agent is of priolane"), "{other}");
    assert_eq!(arrived(&measured(&job).unwrap()).len(), 12);
    // While a controller is there, others are told so.
    let AgentAddress::Socket(path) = &job.machines[0].agent else { panic!("{job:?}") };
    let mut first = UnixStream::connect(path).unwrap();
    writeln!(first, "{{\"hello\":{{\"release\":\"{RELEASE}\"}}}}").unwrap();
    BufReader::new(&first).read_line(&mut String::new()).unwrap();
    let busy = measured(&job).unwrap_err().to_string();
    let expected = "machine left: its agent serves another controller; wait until that has ended";
    assert_eq!(busy, expected);
    drop(first);
    assert_eq!(arrived(&measured(&job).unwrap()).len(), 12);
    listening.kill().unwrap();
    listening.wait().unwrap();
    none_left(&mark);
}

#[test]
fn an_agent_of_another_release_is_refused_with_what_to_install() {
    let mark = format!("release{}", std::process::id());
    let script = r#"echo '{"hello":{"release":"0.0.1+results.1"}}'; exec cat >/dev/null"#;
    let old = ["env", &format!("PRIOLANE_TEST={mark}"), "sh", "-c", script].map(str::to_owned);
    let job = job(
        13,
        [AgentAddress::Command(agent(&mark, &[])), AgentAddress::Command(old.to_vec())],
        all_pairs(1),
    );
    let error = measured(&job).unwrap_err().to_string();
    let expected = format!(
        "machine right: its agent is of priolane 0.0.1+results.1, this is {RELEASE}. Install the same on both, such as by `pip install \
         priolane=={RELEASE}`"
    );
    assert_eq!(error, expected);
    none_left(&mark);
}

#[test]
fn what_a_machine_cannot_do_is_told_with_its_name() {
    let mark = format!("cannot{}", std::process::id());
    let there = || AgentAddress::Command(agent(&mark, &[]));
    let no_agent = AgentAddress::Command(
        ["sh", "-c", "echo 'me@right: Permission denied (publickey).' >&2; exit 255"]
            .map(str::to_owned)
            .into(),
    );
    let error = measured(&job(14, [there(), no_agent], all_pairs(1))).unwrap_err().to_string();
    assert_eq!(error, "machine right: me@right: Permission denied (publickey).");
    let nowhere = AgentAddress::Socket("/nonexistent/agent".into());
    let error = measured(&job(14, [there(), nowhere], all_pairs(1))).unwrap_err().to_string();
    assert!(error.starts_with("machine right: /nonexistent/agent: No such file"), "{error}");
    let mut same_ports = job(14, [there(), there()], all_pairs(1));
    same_ports.machines[1].address = same_ports.machines[0].address;
    let error = measured(&same_ports).unwrap_err().to_string();
    assert!(error.contains("on machine") && error.contains("in use"), "{error}");
    none_left(&mark);
}

#[test]
fn an_agent_that_is_killed_ends_the_run_and_leaves_nothing_on_any_machine() {
    let mark = format!("killed{}", std::process::id());
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let script = format!("echo $$ > {}; exec \"$@\"", pid.display());
    let mut right = ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
    right.extend(agent(&mark, &[]));
    // It would take 10 s.
    let flows = vec![flow(0, (0, 1), 125_000_000, 0)];
    let job = job(15, [AgentAddress::Command(agent(&mark, &[])), AgentAddress::Command(right)], flows);
    let mut killed = false;
    let error = run(&job, RELEASE, &mut |how_far| {
        if how_far.elapsed > Duration::from_millis(300) && !killed {
            assert_eq!(marked(&mark).len(), 6, "two agents and four hosts");
            let pid = fs::read_to_string(&pid).unwrap();
            assert!(Command::new("kill").args(["-KILL", pid.trim()]).status().unwrap().success());
            killed = true;
        }
        true
    })
    .unwrap_err();
    assert_eq!(error.to_string(), "machine right: its agent ended");
    none_left(&mark);
}

/// Starts a controller in a process of its own.
fn controller(job: &MachinesJob, directory: &Path) -> Child {
    let path = directory.join("job.json");
    fs::write(&path, serde_json::to_string(job).unwrap()).unwrap();
    Command::new(&program()[0]).arg("machines").arg(&path).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn nothing_is_left_on_any_machine_of_a_controller_that_is_killed() {
    let mark = format!("gone{}", std::process::id());
    let directory = tempfile::tempdir().unwrap();
    let agents = [(); 2].map(|()| AgentAddress::Command(agent(&mark, &[])));
    let job = job(16, agents, vec![flow(0, (0, 1), 125_000_000, 0), flow(1, (3, 2), 125_000_000, 0)]);
    let mut child = controller(&job, directory.path());
    wait_until("two agents and four hosts are there", || marked(&mark).len() == 6);
    // Hosts greet, or send.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().unwrap();
    child.wait().unwrap();
    none_left(&mark);
}
