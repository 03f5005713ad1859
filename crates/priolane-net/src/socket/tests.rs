use std::net::SocketAddr;
use std::time::Duration;

use super::*;

fn bind(address: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(address.parse().unwrap(), 1 << 20).unwrap();
    let address = socket.local_address().unwrap();
    (socket, address)
}

/// Receives until `count` datagrams came, each as (bytes, TOS, whether the kernel said when).
fn receive(socket: &UdpSocket, count: usize) -> Vec<(Vec<u8>, u8, bool, SocketAddr)> {
    let (mut batch, wakeup, mut all) = (RecvBatch::new(100), Wakeup::new().unwrap(), Vec::new());
    for _ in 0..100 {
        wait(socket, &wakeup, WaitFor::Datagrams, Some(Duration::from_millis(50)));
        let came = batch.receive(socket).unwrap();
        for place in 0..came {
            let got = batch.get(place).unwrap();
            all.push((got.bytes.to_vec(), got.tos, got.real_ns.is_some(), got.from));
        }
        if all.len() >= count {
            break;
        }
    }
    all
}

/// The kernel begins to take times a moment after the first socket asks for them.
fn wait_for_times(from: &UdpSocket, (to, destination): (&UdpSocket, SocketAddr)) {
    let mut batch = SendBatch::new(100);
    for _ in 0..100 {
        batch.push(from, (destination, 0), |_| Some(1));
        assert!(matches!(batch.send(from), SendOutcome::All));
        if receive(to, 1)[0].2 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the kernel says of no datagram when it came");
}

fn each_datagram_keeps_its_dscp_and_ecn(address: &str) {
    let ((from, name), (to, destination)) = (bind(address), bind(address));
    wait_for_times(&from, (&to, destination));
    let mut batch = SendBatch::new(100);
    let tos = [0b1010_1110, 0, 0b0000_0111, 0b1110_0001, 0b1111_1110];
    for (n, tos) in tos.into_iter().enumerate() {
        batch.push(&from, (destination, tos), |out| {
            out[..n + 1].fill(n as u8);
            Some(n + 1)
        });
    }
    batch.push(&from, (destination, 0), |_| None);
    assert!(!batch.is_empty() && matches!(batch.send(&from), SendOutcome::All) && batch.is_empty());
    let got = receive(&to, tos.len());
    let expected: Vec<_> =
        tos.into_iter().enumerate().map(|(n, tos)| (vec![n as u8; n + 1], tos, true, name)).collect();
    assert_eq!(got, expected);
}

#[test]
fn over_ipv4_each_datagram_of_a_batch_keeps_its_dscp_and_ecn_and_has_its_time() {
    each_datagram_keeps_its_dscp_and_ecn("127.0.0.1:0");
}

#[test]
fn over_ipv6_each_datagram_of_a_batch_keeps_its_dscp_and_ecn_and_has_its_time() {
    if UdpSocket::bind("[::1]:0".parse().unwrap(), 1 << 16).is_err() {
        // No IPv6 on this machine.
        return;
    }
    each_datagram_keeps_its_dscp_and_ecn("[::1]:0");
}

#[test]
fn a_datagram_that_is_too_long_is_cut_one_byte_beyond_what_was_asked() {
    let ((from, _), (to, destination)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let mut batch = SendBatch::new(500);
    batch.push(&from, (destination, 0), |_| Some(400));
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!(receive(&to, 1)[0].0.len(), 101);
}

#[test]
fn what_the_system_refuses_is_dropped_and_the_rest_is_sent() {
    let ((from, _), (to, destination)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let mut batch = SendBatch::new(100);
    // Port 0 is nobody's.
    batch.push(&from, ("127.0.0.1:0".parse().unwrap(), 0), |_| Some(1));
    batch.push(&from, (destination, 0), |_| Some(2));
    assert!(matches!(batch.send(&from), SendOutcome::Refused));
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!(receive(&to, 1)[0].0.len(), 2);
}

#[test]
fn a_wake_up_ends_one_wait() {
    let ((socket, _), wakeup) = (bind("127.0.0.1:0"), Wakeup::new().unwrap());
    wakeup.wake();
    wakeup.wake();
    // It returns at once: without an end of its own.
    wait(&socket, &wakeup, WaitFor::Datagrams, None);
    wait(&socket, &wakeup, WaitFor::Datagrams, Some(Duration::from_millis(1)));
}
