//! Tests of the requests that applications can make.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use priolane_net::core::endpoint::Weights;
use priolane_net::{BindError, Config, Host, Limits, Patience, RecvError, Request, Scheduling, SendError};

use crate::digest::message;
use crate::transports::config;
use crate::wait::{PATIENCE, eventually};

fn bind(limits: Limits) -> Host {
    Host::bind(Config { limits, ..config("dctcp") }).unwrap()
}

fn nobody() -> SocketAddr {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap()
}

/// Runs a future on this thread, as any asynchronous runtime does.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn asynchronous_calls_do_what_blocking_ones_do() {
    let [a, b] = [(); 2].map(|()| bind(Limits { queued: 10_000, ..Limits::default() }));
    block_on(async {
        for number in 0..50 {
            let receipt = a.send_async(Request::to(b.address()), message(number, 9_000)).await.unwrap();
            assert_eq!(b.recv_async().await.unwrap().bytes, message(number, 9_000));
            assert_eq!(receipt.delivered().await.unwrap().id, receipt.id());
        }
    });
}

#[test]
fn a_line_that_is_to_be_longer_delays_messages_and_says_when_they_arrived() {
    let server = bind(Limits::default());
    let delay = Duration::from_millis(20);
    let delays = [(server.address(), delay)].into();
    let client = Host::bind(Config { delays, ..config("dctcp") }).unwrap();
    client.send_with_receipt(Request::to(server.address()), "greeting").unwrap().wait().unwrap();
    server.recv().unwrap();
    let sent = Instant::now();
    let receipt = client.send_with_receipt(Request::to(server.address()), "hello").unwrap();
    let message = server.recv().unwrap();
    // The client asks first, and its answer is held back once; the acknowledgement is held back as well.
    let took = message.arrived.duration_since(sent);
    assert!(took >= delay && message.arrived <= Instant::now(), "{took:?}");
    assert!(receipt.wait().unwrap().elapsed >= 2 * delay);
}

#[test]
fn a_host_that_has_too_much_queued_says_so_or_waits() {
    let host = bind(Limits { queued: 1_000, messages: 3, ..Limits::default() });
    let to = Request::to(nobody());
    let first = host.try_send(to, message(1, 900)).unwrap();
    let full =
        |result: Result<_, SendError>| matches!(result, Err(SendError::Full { bytes: 900, messages: 1 }));
    assert!(full(host.try_send(to, message(2, 101)).map(|_| ())));
    host.try_send(to, message(3, 50)).unwrap();
    host.try_send(to, message(4, 50)).unwrap();
    assert!(matches!(host.try_send(to, message(5, 1)), Err(SendError::Full { bytes: 1_000, messages: 3 })));
    let late = host.send_timeout(to, message(5, 1), Duration::from_millis(20));
    assert!(matches!(late, Err(SendError::Full { messages: 3, .. })));
    // As soon as there is room, the next goes.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| host.send(to, message(6, 400)));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        host.abort(first.id());
        assert!(waiting.join().unwrap().is_ok());
    });
    assert_eq!(first.wait(), Err(SendError::Aborted));
}

#[test]
fn a_message_that_is_longer_than_all_room_goes_alone() {
    let [a, b] = [(); 2].map(|()| bind(Limits { queued: 1_000, ..Limits::default() }));
    for number in 0..3 {
        a.send(Request::to(b.address()), message(number, 100_000)).unwrap();
        assert_eq!(b.recv().unwrap().bytes, message(number, 100_000));
    }
    assert!(a.flush(PATIENCE));
}

#[test]
fn an_application_that_does_not_receive_holds_up_its_senders_and_loses_nothing() {
    let [a, b] = [(); 2].map(|()| bind(Limits { arrived: 100_000, ..Limits::default() }));
    for number in 0..40 {
        a.send(Request::to(b.address()), message(number, 20_000)).unwrap();
    }
    eventually(|| b.stats().no_room > 0);
    std::thread::sleep(Duration::from_millis(100));
    assert!(b.stats().arrived < 10, "{:#?}", b.stats());
    let mut left: Vec<u64> = (0..40).collect();
    while !left.is_empty() {
        let came = b.recv_timeout(PATIENCE).unwrap().expect("another message");
        let number = u64::from_le_bytes(came.bytes[..8].try_into().unwrap());
        assert_eq!(came.bytes, message(number, 20_000));
        left.remove(left.iter().position(|&of| of == number).expect("one that was not received"));
    }
}

#[test]
fn an_aborted_message_is_forgotten_at_both_ends() {
    for name in ["dctcp", "top", "homa", "ndp", "phost"] {
        let [a, b] = [(); 2].map(|()| Host::bind(config(name)).unwrap());
        let receipt = a.send_with_receipt(Request::to(b.address()), message(1, 60_000_000)).unwrap();
        let began = Instant::now();
        while b.stats().receiving_bytes == 0 {
            assert!(began.elapsed() < PATIENCE, "{name}: nothing comes");
        }
        a.abort(receipt.id());
        assert_eq!(receipt.wait(), Err(SendError::Aborted));
        while b.stats().receiving_bytes > 0 {
            assert!(began.elapsed() < PATIENCE, "{name}: {:#?}", b.stats());
            std::thread::sleep(Duration::from_millis(1));
        }
        let next = a.send_with_receipt(Request::to(b.address()), message(2, 50_000)).unwrap();
        let outcome = next.wait_for(PATIENCE);
        outcome.unwrap_or_else(|| panic!("{name}: {:#?} {:#?}", a.stats(), b.stats())).unwrap();
        assert_eq!(
            (b.recv().unwrap().bytes, b.try_recv().unwrap()),
            (message(2, 50_000).to_vec(), None),
            "{name}"
        );
    }
}

#[test]
fn weights_and_classes_change_while_a_message_is_under_way_or_waits() {
    let [a, b] = [(); 2].map(|()| Host::bind(config("paccp")).unwrap());
    let weights = Weights { theta: None, w_milli: 2_000 };
    let request = Request::to(b.address()).class(3).weights(weights).deadline(Duration::from_secs(1));
    let receipt = a.send_with_receipt(request, message(1, 2_000_000)).unwrap();
    a.set_weights(receipt.id(), Weights { w_milli: 500, ..weights }).unwrap();
    a.set_class(receipt.id(), 1).unwrap();
    assert_eq!(b.recv().unwrap().bytes, message(1, 2_000_000));
    receipt.wait().unwrap();
    assert_eq!(a.set_weights(receipt.id(), Weights { w_milli: 0, ..weights }), Err(SendError::Weight));
    assert_eq!(a.set_class(receipt.id(), 16), Err(SendError::Class(16)));
}

#[test]
fn what_cannot_be_sent_is_refused_at_once_with_what_to_do() {
    let host = bind(Limits { message: 100, ..Limits::default() });
    let to = Request::to(nobody());
    let error_of = |request, bytes: Vec<u8>| host.try_send(request, bytes).unwrap_err().to_string();
    assert_eq!(error_of(to, vec![]), "a message has at least one byte");
    assert_eq!(
        error_of(to, vec![0; 101]),
        "a message of 101 bytes; the limit is 100: cut it, or raise limits.message at both hosts"
    );
    assert_eq!(error_of(to.class(16), vec![0]), "class 16: write one from 0, served first, to 15");
    let itself = host.address();
    assert_eq!(error_of(Request::to(itself), vec![0]), format!("{itself} is this host's own address"));
    let family = error_of(Request::to("[::1]:9".parse().unwrap()), vec![0]);
    assert!(family.ends_with("bind to an address of the same version of IP"), "{family}");
}

#[test]
fn a_host_that_nobody_answers_says_so_after_its_patience() {
    let patience = Patience { greeting: Duration::from_millis(200), ..Patience::default() };
    let host = Host::bind(Config { patience, ..config("homa") }).unwrap();
    let peer = nobody();
    let receipt = host.send_with_receipt(Request::to(peer), message(1, 10)).unwrap();
    assert_eq!(receipt.wait_for(Duration::from_millis(20)), None);
    assert_eq!(receipt.wait(), Err(SendError::NoAnswer { peer, after: patience.greeting }));
    assert_eq!((host.stats().peers, host.stats().failed), (0, 1));
}

#[test]
fn hosts_of_other_transports_refuse_each_other_with_their_names() {
    let [a, b] = ["homa", "dctcp"].map(|name| Host::bind(config(name)).unwrap());
    let receipt = a.send_with_receipt(Request::to(b.address()), message(1, 10)).unwrap();
    let error = receipt.wait().unwrap_err().to_string();
    let peer = b.address();
    let expected = format!(
        "{peer} speaks window with an MTU of 1500, this host homa with an MTU of 1500: bind both with the same transport and MTU"
    );
    assert_eq!(error, expected);
}

#[test]
fn dropping_a_host_ends_its_thread_and_what_waited_for_it() {
    let host = Arc::new(bind(Limits::default()));
    let receipt = host.send_with_receipt(Request::to(nobody()), message(1, 10)).unwrap();
    drop(host);
    assert_eq!(receipt.wait(), Err(SendError::Closed(RecvError::Dropped)));
}

#[test]
fn hosts_that_cannot_be_bound_say_what_to_do() {
    let taken = bind(Limits::default());
    let error = Host::bind(config("dctcp").at(taken.address())).unwrap_err();
    assert!(matches!(error, BindError::Address { .. }), "{error}");
    let bind = |limits, real_time| {
        Host::bind(Config { limits, real_time, ..config("dctcp") }).unwrap_err().to_string()
    };
    let limits = Limits::default();
    assert_eq!(bind(Limits { peers: 0, ..limits }, None), "limits.peers is 0: write at least 1");
    assert_eq!(bind(limits, Some(100)), "real_time is 100: write 1 to 99");
    let mtu = Host::bind(Config { mtu: 40, ..config("dctcp") }).unwrap_err().to_string();
    assert!(
        mtu.starts_with("the MTU does not fit: the MTU is 40 bytes, but format window supports 64 to "),
        "{mtu}"
    );
}

#[test]
fn a_host_says_whether_its_thread_is_real_time() {
    assert_eq!(*bind(Limits::default()).scheduling(), Scheduling::Ordinary);
    let host = Host::bind(Config { real_time: Some(10), ..config("dctcp") }).unwrap();
    match host.scheduling() {
        Scheduling::RealTime => {}
        Scheduling::Refused(why) => assert!(why.contains("CAP_SYS_NICE"), "{why}"),
        Scheduling::Ordinary => panic!("neither tried nor refused"),
    }
}

#[test]
fn an_idle_host_sleeps() {
    let [a, b] = [(); 2].map(|()| bind(Limits::default()));
    let wakeups = || {
        a.send_with_receipt(Request::to(b.address()), message(1, 10)).unwrap().wait().unwrap();
        a.stats().wakeups
    };
    let before = wakeups();
    std::thread::sleep(Duration::from_millis(500));
    let after = wakeups();
    // Those of a message, and one or two in which flows that ended are forgotten: not one each millisecond.
    assert!(after - before < 50, "{}", after - before);
}
