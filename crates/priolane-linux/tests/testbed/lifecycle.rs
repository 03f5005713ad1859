//! Tests that testbeds are made, that the kernel confirms their parts, and that they are removed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use priolane_linux::command::run;
use priolane_linux::journal::{DIRECTORY, Journal};
use priolane_linux::network::{Network, Node};
use priolane_linux::plan::TestbedPlan;
use priolane_linux::port::{Amount, Backlog, Mark, Port, Service};
use priolane_linux::testbed::{self, Testbed, TestbedError};

use crate::made::{line, namespaces, plan, program, up};

/// Checks that one host reaches another, which refuses a connection to a port where nobody listens.
fn reach(plan: &TestbedPlan, from: u16, to: u16) {
    let (namespace, to) = (plan.namespace(Node::Host(from)), TestbedPlan::address(to));
    let connect = format!("timeout 2 bash -c 'echo > /dev/tcp/{to}/9' 2>&1");
    let message = run(&["ip", "netns", "exec", &namespace, "sh", "-c", &connect]).unwrap_err().message;
    assert!(message.contains("refused"), "from host {from} to {to}: {message}");
}

fn tc(plan: &TestbedPlan, node: Node, words: &str) -> String {
    let namespace = plan.namespace(node);
    let argv: Vec<&str> = ["tc", "-n", &namespace].into_iter().chain(words.split(' ')).collect();
    run(&argv).unwrap()
}

#[test]
fn a_star_with_marks_comes_up_answers_and_leaves_nothing() {
    let mark = Some(Mark { above: Amount::Packets(10), per: Backlog::Queue });
    let mut of_class = [1; 16];
    of_class[0] = 0;
    let port = Port { queues: 2, of_class, room: Some(Amount::Packets(100)), mark, ..Port::fifo() };
    let planned = plan("s", Network::star(3, &line(port)));
    let name = planned.name.clone();
    let Some(testbed) = up(planned) else { return };
    let plan = testbed.plan().clone();
    assert_eq!(namespaces(&format!("prl-{name}-")), plan.namespaces());
    reach(&plan, 0, 2);
    let classes = tc(&plan, Node::Switch(0), "class show dev p1");
    let second = "class htb 1:11 parent 1:1 leaf 11: prio 1 rate 8Kbit overhead 24 ceil 100Mbit ";
    assert!(classes.contains(second), "{classes}");
    let queues = tc(&plan, Node::Switch(0), "qdisc show dev p1");
    assert!(queues.contains("qdisc pfifo 11: parent 1:11 limit 100p"), "{queues}");
    let filter = tc(&plan, Node::Switch(0), "filter show dev p1 egress");
    assert!(filter.contains("mark.bpf") || filter.contains(".o:[tc]"), "{filter}");
    // Somebody uses it: it is not removed under him, nor made twice.
    let root = Path::new(DIRECTORY);
    assert!(matches!(testbed::down(&name, root), Err(TestbedError::InUse(_))));
    assert!(matches!(
        Testbed::up(plan.clone(), root, &program(), &mut || true),
        Err(TestbedError::AlreadyUp(_))
    ));
    assert!(testbed::status(root).iter().any(|status| status.name == name && status.in_use));
    testbed.down();
    assert!(namespaces(&format!("prl-{name}-")).is_empty());
    assert!(!Journal::path(root, &name).exists());
}

#[test]
fn hosts_of_two_leaves_reach_each_other_over_either_spine() {
    let weighted = Port { queues: 2, service: Service::Weighted(vec![3, 1]), ..Port::fifo() };
    let Some(testbed) = up(plan("l", Network::leaf_spine([2, 2, 2], &line(Port::fifo()), &line(weighted))))
    else {
        return;
    };
    let plan = testbed.plan();
    // Hosts 2 and 3 are at the other leaf; the way to each is over another spine.
    reach(plan, 0, 2);
    reach(plan, 0, 3);
    reach(plan, 0, 1);
    let classes = tc(plan, Node::Switch(0), "class show dev p4");
    assert!(classes.contains(" rate 75Mbit ") && classes.contains(" rate 25Mbit "), "{classes}");
    testbed.down();
}

#[test]
fn a_namespace_of_somebody_else_is_neither_used_nor_removed() {
    let planned = plan("f", Network::star(2, &line(Port::fifo())));
    let foreign = planned.namespace(Node::Switch(0));
    if let Err(why) = run(&["ip", "netns", "add", &foreign]) {
        return eprintln!("skipped: {why}");
    }
    let root = Path::new(DIRECTORY);
    assert!(
        matches!(Testbed::up(planned.clone(), root, &program(), &mut || true), Err(TestbedError::Foreign(name)) if name == foreign)
    );
    run(&["ip", "netns", "delete", &foreign]).unwrap();
    // One of ours is replaced by another of the same name: it stays, and the rest goes.
    let Some(testbed) = up(planned.clone()) else { return };
    testbed.release();
    run(&["ip", "netns", "delete", &foreign]).unwrap();
    run(&["ip", "netns", "add", &foreign]).unwrap();
    let refused = testbed::down(&planned.name, root);
    let left = namespaces(&format!("prl-{}-", planned.name));
    run(&["ip", "netns", "delete", &foreign]).unwrap();
    assert!(matches!(refused, Err(TestbedError::Foreign(name)) if name == foreign));
    assert_eq!(left, [foreign]);
    testbed::down(&planned.name, root).unwrap();
}

#[test]
fn a_testbed_whose_maker_was_killed_is_removed_by_its_journal() {
    let planned = plan("k", Network::star(12, &line(Port::fifo())));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan.json");
    fs::write(&path, serde_json::to_string(&planned).unwrap()).unwrap();
    let program = env!("CARGO_BIN_EXE_priolane-linux");
    let mut maker = Command::new(program).arg("up").arg(&path).stdout(Stdio::null()).spawn().unwrap();
    let tag = format!("prl-{}-", planned.name);
    let started = Instant::now();
    while namespaces(&tag).len() < 4 && started.elapsed() < Duration::from_secs(20) {
        if let Some(ended) = maker.try_wait().unwrap() {
            assert_eq!(ended.code(), Some(3), "up failed");
            return eprintln!("skipped: this machine cannot");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    maker.kill().unwrap();
    maker.wait().unwrap();
    assert!(!namespaces(&tag).is_empty());
    let ran = |words: &[&str]| Command::new(program).args(words).output().unwrap();
    let message = String::from_utf8(ran(&["status"]).stdout).unwrap();
    assert!(message.contains(&format!("{}: ", planned.name)), "{message}");
    assert!(ran(&["down", &String::from(planned.name.clone())]).status.success());
    assert!(namespaces(&tag).is_empty());
    assert_eq!(ran(&["down", &String::from(planned.name)]).status.code(), Some(1));
}

#[test]
fn the_program_prints_what_it_would_do_and_refuses_what_is_no_plan() {
    let planned = plan("d", Network::star(2, &line(Port::fifo())));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan.json");
    fs::write(&path, serde_json::to_string_pretty(&planned).unwrap()).unwrap();
    let up = |path: &Path| {
        let program = env!("CARGO_BIN_EXE_priolane-linux");
        Command::new(program).args(["up", "--dry-run"]).arg(path).output().unwrap()
    };
    let output = up(&path);
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && message.starts_with("ip netns add prl-d"), "{message}");
    assert!(namespaces(&format!("prl-{}-", planned.name)).is_empty());
    fs::write(&path, "{\n \"name\": \"No Name\" }").unwrap();
    let output = up(&path);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("plan.json:2: \"No Name\" is not a valid name of a testbed"), "{message}");
}
