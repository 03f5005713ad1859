use super::*;
use crate::agent::channel::AgentAddress;
use crate::host_jobs::tests::{host_job, plain};

const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Creates host 0 on `left` and host 1 on `right`. The agents have reported their release, and the host processes write
/// nothing.
fn hosts() -> MachineHosts {
    let clock = MachineClock::shifted(0);
    let machine = |name: &str, host| {
        let address = AgentAddress::Command(["sleep", "1000"].map(str::to_owned).to_vec());
        let hearing = Hearing { clock, longest: LONGEST_ANSWER };
        Machine {
            name: name.to_owned(),
            channel: Channel::open(&address, hearing, |_| false, &mut || true).unwrap(),
            hosts: [host].into(),
            last_heard: Some(measure::now()),
            asked_ns: BTreeSet::new(),
        }
    };
    let (_, events) = mpsc::sync_channel(1);
    MachineHosts {
        machines: vec![machine("left", 0), machine("right", 1)],
        jobs: [0, 1].map(|host| (host, Arc::new(host_job(host, vec![plain(7)])))).into(),
        clock,
        events,
        probed: measure::now(),
        finished: BTreeSet::new(),
        started: None,
    }
}

fn error(hosts: &mut MachineHosts, place: usize, message: FromAgent) -> String {
    match hosts.take(place, message, 0) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    }
}

fn line(host: u16) -> FromAgent {
    FromAgent::Host { host, line: "ready".to_owned() }
}

#[test]
fn an_agent_speaks_only_for_hosts_of_its_machine() {
    let mut hosts = hosts();
    assert!(matches!(hosts.take(LEFT, line(0), 0), Ok(Some(Event::Line(0, _)))));
    let other = "machine right: its agent speaks for host 0, which is not on this machine";
    assert_eq!(error(&mut hosts, RIGHT, line(0)), other);
    let ended = |host| FromAgent::Ended { host, message: "\u{1b}[2Jwhy".to_owned() };
    assert_eq!(error(&mut hosts, RIGHT, ended(0)), other);
    assert_eq!(
        error(&mut hosts, LEFT, line(9)),
        "machine left: its agent speaks for host 9, which is not on this machine"
    );
    assert_eq!(error(&mut hosts, LEFT, ended(0)), "host 0: on machine left: �[2Jwhy");
    // A host that has reported may end, once, and says nothing more.
    hosts.finished(0);
    assert!(matches!(hosts.take(LEFT, ended(0), 0), Ok(None)));
    assert!(error(&mut hosts, LEFT, ended(0)).ends_with("which is not on this machine"));
    assert!(error(&mut hosts, LEFT, line(0)).ends_with("which is not on this machine"));
}

#[test]
fn only_an_answer_to_an_open_question_is_a_sign_of_life_and_each_only_once() {
    let mut hosts = hosts();
    let asked_ns = hosts.ask(RIGHT).unwrap();
    let answer =
        |sent_ns, held_ns| FromAgent::Probe { sent_ns, received_ns: 1_000, answered_ns: 1_000 + held_ns };
    let unasked = "its agent answers a question for its time that was not asked";
    assert_eq!(error(&mut hosts, LEFT, answer(asked_ns, 5)), format!("machine left: {unasked}"));
    assert_eq!(error(&mut hosts, RIGHT, answer(asked_ns + 1, 5)), format!("machine right: {unasked}"));
    let taken = hosts.take(RIGHT, answer(asked_ns, 5), asked_ns + 10);
    let expected =
        Exchange { sent_ns: asked_ns, received_ns: 1_000, answered_ns: 1_005, returned_ns: asked_ns + 10 };
    assert!(matches!(taken, Ok(Some(Event::Probe(RIGHT, exchange))) if exchange == expected));
    assert_eq!(error(&mut hosts, RIGHT, answer(asked_ns, 5)), format!("machine right: {unasked}"));
    let asked_ns = hosts.ask(RIGHT).unwrap();
    assert!(
        error(&mut hosts, RIGHT, answer(asked_ns, u64::MAX - 1_000))
            .starts_with("machine right: the times of its clock")
    );
}

#[test]
fn an_agent_says_its_release_first_and_once() {
    let mut hosts = hosts();
    let hello = || FromAgent::Hello(Hello { release: "1".to_owned() });
    assert_eq!(error(&mut hosts, LEFT, hello()), "machine left: its agent says its release twice");
    hosts.machines[LEFT].last_heard = None;
    assert_eq!(error(&mut hosts, LEFT, line(0)), "machine left: its agent says something before its release");
    assert!(matches!(hosts.take(LEFT, hello(), 0), Ok(Some(Event::Hello(LEFT, _)))));
    let refused = FromAgent::Refused(format!("\u{1b}]0;owned\u{7}\n{}", "A".repeat(200_000)));
    let shown = error(&mut hosts, LEFT, refused);
    assert!(shown.starts_with("machine left: �]0;owned�␊AAA") && shown.chars().count() <= 520, "{shown}");
}

#[test]
fn an_agent_that_leaves_questions_without_an_answer_is_silent_whatever_else_it_says() {
    let ago = |span| measure::now().checked_sub(span).unwrap();
    let mut hosts = hosts();
    // It is time to ask again.
    hosts.probed = ago(PROBES * 2);
    hosts.machines[RIGHT].last_heard = None;
    hosts.keep_alive().unwrap();
    let open = |hosts: &MachineHosts| [LEFT, RIGHT].map(|place| hosts.machines[place].asked_ns.len());
    // Who has not said its release is not asked.
    assert_eq!(open(&hosts), [1, 0]);
    hosts.keep_alive().unwrap();
    assert_eq!(open(&hosts), [1, 0], "not sooner than after a second");
    hosts.probed = ago(PROBES * 2);
    hosts.machines[LEFT].last_heard = Some(ago(SILENCE + PROBES));
    let silent = hosts.keep_alive().unwrap_err().to_string();
    assert_eq!(silent, "machine left: its agent has answered no question for its time for 20 s");
    // A controller that was held up has not listened.
    hosts.probed = ago(SILENCE * 2);
    assert!(hosts.keep_alive().is_ok());
}

#[test]
fn a_wait_for_the_time_of_a_machine_can_be_stopped() {
    let mut hosts = hosts();
    let (_tell, events) = mpsc::sync_channel(1);
    hosts.events = events;
    let mut looks = 0;
    let mut watch = |_| {
        looks += 1;
        if looks < 3 { Ok(()) } else { Err(RunError::Stopped) }
    };
    assert!(matches!(hosts.read_clocks(&mut watch), Err(RunError::Stopped)));
}

#[test]
fn nothing_is_due_of_hosts_while_clocks_are_read() {
    let mut hosts = hosts();
    let (tell, events) = mpsc::sync_channel(1);
    hosts.events = events;
    tell.send((RIGHT, AgentEvent::Message(line(1), 0))).unwrap();
    let error = hosts.read_clocks(&mut |_| Ok(())).unwrap_err().to_string();
    assert_eq!(error, "machine right: host 1: it said \"ready\" while nothing was due");
}

#[test]
fn a_report_may_be_wrong_by_the_largest_error_of_a_clock_and_no_more() {
    let mut hosts = hosts();
    let offset = |uncertainty_ns| ClockOffset { offset_ns: 0, uncertainty_ns };
    hosts.started = Some(Start { offsets: vec![offset(3), offset(5_000)], measured_ns: 0, start_ns: 0 });
    let reports = |at_ns: u64| {
        let came = format!("{{\"id\":7,\"at_ns\":{at_ns},\"missing\":0}}");
        let text = format!(
            "{{\"host\":1,\"sent\":[],\"arrived\":[{came}],\"wrong\":0,\"not_real_time\":null,\"counts\":{{}}}}"
        );
        hosts.bounds(1, Duration::from_secs(10)).read(&text)
    };
    // 10 s, 1 %, 100 ms, and 5 us.
    assert!(reports(10_200_005_000).is_ok());
    assert!(reports(10_200_005_001).is_err());
}

#[test]
fn a_machine_whose_clock_was_set_in_the_run_is_named() {
    let hosts = hosts();
    let offset = |offset_ns| ClockOffset { offset_ns, uncertainty_ns: 10 };
    let both = |after| hosts.both(vec![offset(5); 2], vec![offset(6), offset(after)], 1_000_000_000);
    assert_eq!(both(7).unwrap(), [[offset(5), offset(6)], [offset(5), offset(7)]]);
    let set = both(1_000_000_000).unwrap_err().to_string();
    assert!(
        set.starts_with("machine right: its clock was 5 ns ahead, and 1000000000 ns later 1000000000 ns"),
        "{set}"
    );
    // A clock that is ahead reads more at the same instant.
    assert_eq!((by_its_clock(1_000, &offset(7)), by_its_clock(1_000, &offset(-7))), (1_007, 993));
}

#[test]
fn a_connection_that_no_agent_accepts_can_be_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agent");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let machine = MachineJob {
        name: "left".to_owned(),
        agent: AgentAddress::Socket(path.clone()),
        address: [127, 0, 0, 1].into(),
        port: 7_300,
        hosts: vec![0],
    };
    // The system accepts connections for a listener until its queue is full.
    let mut waiting = Vec::new();
    while let Ok(stream) = crate::unix_socket::connect(&path, &mut || false) {
        waiting.push(stream);
    }
    let mut looks = 0;
    let mut watch = |_: Progress| {
        looks += 1;
        if looks < 4 { Ok(()) } else { Err(RunError::Stopped) }
    };
    let connected = MachineHosts::connect(&[machine], BTreeMap::new(), "1", &mut watch);
    assert!(matches!(connected, Err(RunError::Stopped)), "{:?}", connected.err());
    assert_eq!(looks, 4);
}
