//! Tests that a port of the kernel's switch limits tokens and serves their classes in order. Rates follow from the
//! kernel's times of arrival, and the order follows from the tokens that are dropped.
#![expect(unsafe_code, reason = "system calls that no crate of the standard library makes")]

use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use priolane_linux::counters::counters;
use priolane_linux::network::{Network, Node};
use priolane_linux::plan::TestbedPlan;
use priolane_linux::port::Port;
use priolane_net::Dscp;
use priolane_net::core::port::{Buffer, TokenGroupSpec};
use priolane_net::core::units::Limit;
use serde_json::json;

use crate::made::{line, plan, up};
use crate::runs::{arrived, fct_ms, flow, job, measured, scheme};

/// A port with three classes of tokens, of which two may be sent at once and none expires.
const SPEC: TokenGroupSpec = TokenGroupSpec { classes: 3, expiry: None, ..TokenGroupSpec::TOP };
/// The class of data.
const DATA: u8 = 13;
/// The payload of a token in bytes, which makes 84 bytes on the wire, and the payload of a full frame.
const TOKEN: usize = 18;
const FRAME: usize = 1_472;

fn port() -> Port {
    let buffer = Buffer { limit: Limit::Packets(250), ..Buffer::UNLIMITED };
    Port::of(&SPEC.into(), &buffer).unwrap()
}

/// Returns a socket in the namespace of a host, which this thread enters.
fn socket_in(plan: &TestbedPlan, host: u16, port: u16) -> UdpSocket {
    let namespace = File::open(format!("/run/netns/{}", plan.namespace(Node::Host(host)))).unwrap();
    // SAFETY: the descriptor is open, and no memory is passed; only this thread changes its namespace.
    assert_eq!(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
    UdpSocket::bind((TestbedPlan::address(host), port)).unwrap()
}

fn set(socket: &UdpSocket, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` lives through the call and is `len` bytes long.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), len) };
    assert_eq!(answer, 0);
}

/// Datagrams of a class that are sent at a time.
#[derive(Clone, Copy)]
struct Burst {
    class: u8,
    len: usize,
    count: usize,
}

/// Sends a burst at a time, with a pause after it, until `stop` is set.
fn send(plan: &TestbedPlan, host: u16, burst: Burst, pause: Duration, stop: &AtomicBool) {
    let Burst { class, len, count } = burst;
    let socket = socket_in(plan, host, 0);
    set(&socket, libc::IPPROTO_IP, libc::IP_TOS, libc::c_int::from(Dscp::DEFAULT.of(class)) << 2);
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..count {
            let _ = socket.send_to(&vec![class; len], (TestbedPlan::address(2), 9_000));
        }
        std::thread::sleep(pause);
    }
}

/// Returns the class, the length and the time of arrival in nanoseconds of a datagram, or `None` if none arrives for
/// long.
fn receive(socket: &UdpSocket) -> Option<(u8, usize, u64)> {
    #[repr(align(8))]
    struct Control([u8; 64]);
    let (mut bytes, mut control) = ([0u8; 2_000], Control([0; 64]));
    let mut piece = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: an all-zero header is valid: null pointers with length 0.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut piece, 1);
    (message.msg_control, message.msg_controllen) = (control.0.as_mut_ptr().cast(), control.0.len());
    // SAFETY: the header names `piece`, and with it `bytes`, and `control`, which live through the call.
    let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let len = usize::try_from(len).ok()?;
    // SAFETY: recvmsg filled the header; the one message that was asked for is a timespec.
    let at = unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        assert!(!first.is_null(), "no time");
        libc::CMSG_DATA(first).cast::<libc::timespec>().read_unaligned()
    };
    Some((bytes[0], len, at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64))
}

/// Returns the datagrams that arrive at host 2 in `span`.
fn receive_all(plan: &TestbedPlan, span: Duration, stop: &AtomicBool) -> Vec<(u8, usize, u64)> {
    let socket = socket_in(plan, 2, 9_000);
    set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1);
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, 4 << 20);
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (began, mut all) = (Instant::now(), Vec::new());
    while let Some(came) = receive(&socket) {
        all.push(came);
        stop.store(began.elapsed() > span, Ordering::Relaxed);
    }
    stop.store(true, Ordering::Relaxed);
    all
}

/// Returns the largest number of bytes on the wire in any window of `window_ns`.
fn most_within(arrivals: &[(u64, u64)], window_ns: u64) -> u64 {
    let (mut first, mut sum, mut most) = (0, 0, 0);
    for &(at, bytes) in arrivals {
        sum += bytes;
        while arrivals[first].0 + window_ns < at {
            sum -= arrivals[first].1;
            first += 1;
        }
        most = most.max(sum);
    }
    most
}

/// Returns the datagrams that arrive at host 2 while two hosts send more tokens and more data than it may receive.
fn overload(plan: &TestbedPlan) -> Vec<(u8, usize, u64)> {
    let stop = AtomicBool::new(false);
    let ms = Duration::from_millis;
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive_all(plan, ms(1_500), &stop));
        // 5.18 Mbit/s are 7.7 tokens in a millisecond: less of class 0, and more than the rest of class 2; more data than all.
        scope.spawn(|| send(plan, 0, Burst { class: 0, len: TOKEN, count: 5 }, ms(2), &stop));
        scope.spawn(|| send(plan, 0, Burst { class: 2, len: TOKEN, count: 20 }, ms(1), &stop));
        scope.spawn(|| send(plan, 1, Burst { class: 2, len: TOKEN, count: 20 }, ms(1), &stop));
        scope.spawn(|| send(plan, 1, Burst { class: DATA, len: FRAME, count: 20 }, ms(1), &stop));
        receiver.join().unwrap()
    })
}

/// Returns the longest time without an arrival in nanoseconds, if that is more than a millisecond. The machine had then
/// stopped, and the datagrams that queued meanwhile arrive at once.
fn longest_stop(came: &[(u8, usize, u64)]) -> u64 {
    let gaps = came.windows(2).map(|pair| pair[1].2.saturating_sub(pair[0].2));
    gaps.filter(|&gap| gap > 1_000_000).max().unwrap_or(0)
}

/// Returns the windows in which more arrived than the rates of tokens and of data allow.
fn excesses(came: &[(u8, usize, u64)]) -> Vec<String> {
    let wire = |len: usize| (len as u64 + 66).max(84);
    let of = |wanted: fn(u8) -> bool| -> Vec<(u64, u64)> {
        came.iter().filter(|(class, ..)| wanted(*class)).map(|&(_, len, at)| (at, wire(len))).collect()
    };
    let (tokens, data) = (of(|class| class != DATA), of(|class| class == DATA));
    if tokens.len() <= 100 || data.len() <= 100 {
        return vec![format!("{} tokens and {} packets of data are too few", tokens.len(), data.len())];
    }
    // Two tokens at once, and two of each class that has not sent for a minute. Of data a packet at each end of the window, HTB's
    // burst of one, and one of the guarantee.
    let kinds = [("tokens", tokens, 5_178_791, 84 * (2 + 3 * 2)), ("data", data, 94_821_208, 4 * 1_538)];
    let stop_us = longest_stop(came) / 1_000;
    let mut found = Vec::new();
    for (kind, arrivals, bps, at_once) in kinds {
        for window_us in [1_000u64, 5_000, 50_000, 500_000] {
            let most = most_within(&arrivals, window_us * 1_000);
            let allowed = bps / 8 * (window_us + stop_us) / 1_000_000 + at_once;
            println!("{kind}: at most {most} B in {window_us} us of {allowed}");
            if most > allowed {
                found.push(format!("{most} B of {kind} in {window_us} us, not {allowed}"));
            }
        }
    }
    found
}

#[test]
fn tokens_never_exceed_their_rate_and_better_classes_of_tokens_lose_none() {
    let plan = plan("kt", Network::star(3, &line(port())));
    let Some(testbed) = up(plan.clone()) else { return };
    // Shorter stops bunch arrivals as well; one attempt of ten must be free of them.
    let found: Vec<Vec<String>> =
        (0..10).map(|_| excesses(&overload(&plan))).take_while(|found| !found.is_empty()).collect();
    assert!(found.len() < 10, "in each of ten attempts: {found:?}");
    let counts = counters(&plan).unwrap();
    let of = |queue: u8| counts.iter().find(|of| (of.cable, of.end, of.queue) == (2, 1, queue)).unwrap();
    let (best, worst) = (of(1), of(3));
    println!(
        "class 0: {} sent, {} dropped; class 2: {} sent, {} dropped",
        best.packets, best.dropped, worst.packets, worst.dropped
    );
    assert!(best.packets > 100 && best.dropped * 20 < best.packets, "{best:?}");
    assert!(worst.dropped > worst.packets, "{worst:?}");
    testbed.down();
}

#[test]
fn data_that_tokens_of_top_ask_for_finds_room_in_the_kernels_switch() {
    let top = scheme(
        json!({ "kind": "top", "classes": 3, "expiry": "end_host", "lifetime": "45ms", "min_rto": "500ms" }),
    );
    // Two senders to one host, 750 kB each.
    let flows = vec![flow(0, (0, 2), 750_000, 0), flow(1, (1, 2), 750_000, 0)];
    let job = job(plan("kr", Network::star(3, &line(port()))), top, flows);
    let Some(measured) = measured(&job) else { return };
    assert_eq!(arrived(&measured), [0, 1].into());
    // 1.5 MB in packets of at most 1452 of 1538 bytes at 94.8 Mbit/s take 134 ms. Hosts may be late, never early.
    let last = fct_ms(&measured, 0).max(fct_ms(&measured, 1));
    println!("1.5 MB from two hosts to one, called for by tokens: {last:.1} ms of 134");
    assert!(last > 132.0, "{last} ms");
    let queue = |cable, queue| measured.queues.iter().find(move |of| (of.cable, of.queue) == (cable, queue));
    let tokens: u64 =
        (0..2).flat_map(|cable| (1..=3).filter_map(move |of| queue(cable, of))).map(|of| of.packets).sum();
    assert!(tokens > 1_030, "{tokens} tokens went to the senders");
    let data = queue(2, 4).unwrap();
    assert!(data.packets > 1_030 && data.dropped == 0, "{data:?}");
}
