use std::net::SocketAddr;
use std::time::Duration;

use super::*;

fn bind(address: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(address.parse().unwrap(), 1 << 20).unwrap();
    let address = socket.local_address().unwrap();
    (socket, address)
}

/// A received datagram: its bytes, its TOS, whether the kernel gave a receive time, and its sender.
type Received = (Vec<u8>, u8, bool, SocketAddr);

/// Receives until `count` datagrams have arrived.
fn receive(socket: &UdpSocket, count: usize) -> Vec<Received> {
    receive_into(RecvBatch::new(100), socket, count).0
}

/// As [`receive`], with this batch; also returns the number of groups.
fn receive_into(mut batch: RecvBatch, socket: &UdpSocket, count: usize) -> (Vec<Received>, usize) {
    let (wakeup, mut all, mut groups) = (Wakeup::new().unwrap(), Vec::new(), 0);
    for _ in 0..100 {
        wait(socket, &wakeup, WaitFor::Datagrams, Some(Duration::from_millis(50)));
        batch.receive(socket).unwrap();
        let before = all.len();
        for got in batch.datagrams() {
            all.push((got.bytes.to_vec(), got.tos, got.real_ns.is_some(), got.from));
        }
        assert_eq!(all.len() - before, batch.count());
        groups += batch.groups();
        if all.len() >= count {
            break;
        }
    }
    (all, groups)
}

/// Waits until the kernel records receive times, which begins a moment after the first socket requests them.
fn wait_for_times(from: &UdpSocket, (to, destination): (&UdpSocket, SocketAddr)) {
    let mut batch = SendBatch::new(100, Grouping::Single);
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
    let mut batch = SendBatch::new(100, Grouping::Single);
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
    let mut batch = SendBatch::new(500, Grouping::Single);
    batch.push(&from, (destination, 0), |_| Some(400));
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!(receive(&to, 1)[0].0.len(), 101);
}

#[test]
fn what_the_system_refuses_is_dropped_and_the_rest_is_sent() {
    let ((from, _), (to, destination)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let mut batch = SendBatch::new(100, Grouping::Single);
    // Port 0 is nobody's.
    batch.push(&from, ("127.0.0.1:0".parse().unwrap(), 0), |_| Some(1));
    batch.push(&from, (destination, 0), |_| Some(2));
    assert!(matches!(batch.send(&from), SendOutcome::Refused));
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!(receive(&to, 1)[0].0.len(), 2);
}

/// Sends datagrams with these addresses, TOS and lengths in one batch. Each is filled with its number.
fn send_numbered(
    from: &UdpSocket,
    datagrams: &[(SocketAddr, u8, usize)],
) -> (SendBatch, impl Fn(usize) -> Vec<u8> + use<>) {
    let mut batch = SendBatch::new(1_000, Grouping::Segments);
    for (n, &(to, tos, len)) in datagrams.iter().enumerate() {
        batch.push(from, (to, tos), |out| {
            out[..len].fill(n as u8);
            Some(len)
        });
    }
    let lengths: Vec<usize> = datagrams.iter().map(|&(_, _, len)| len).collect();
    (batch, move |n| vec![n as u8; lengths[n].min(101)])
}

#[test]
fn segments_arrive_as_the_datagrams_that_they_were() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if UdpSocket::bind(address.parse().unwrap(), 1 << 16).is_err() {
            continue;
        }
        let ((from, _), (to, there), (other, elsewhere)) = (bind(address), bind(address), bind(address));
        // Groups: three and a shorter one; a longer one alone; two of another TOS; one elsewhere; two.
        let lengths = [(90, 8), (90, 8), (90, 8), (40, 8), (99, 8), (99, 16), (99, 16)];
        let mut datagrams: Vec<_> = lengths.map(|(len, tos)| (there, tos, len)).to_vec();
        datagrams.extend([(elsewhere, 16, 90), (there, 16, 90), (there, 16, 90)]);
        let (mut batch, bytes) = send_numbered(&from, &datagrams);
        assert!(matches!(batch.send(&from), SendOutcome::All));
        assert_eq!((batch.counts().segments, batch.counts().refused), (4 + 2 + 2, 0), "{address}");
        let came: Vec<_> = receive(&to, 9).into_iter().map(|(bytes, tos, ..)| (bytes, tos)).collect();
        let all = datagrams.iter().enumerate().filter(|(_, datagram)| datagram.0 == there);
        let expected: Vec<_> = all.map(|(n, &(_, tos, _))| (bytes(n), tos)).collect();
        assert_eq!(came, expected);
        assert_eq!(receive(&other, 1)[0].0, bytes(7));
    }
}

/// Receives datagrams that were sent in groups, in groups. Returns the bytes and the TOS of each datagram, and the
/// number of groups.
fn receive_groups(to: &UdpSocket, count: usize) -> (Vec<(Vec<u8>, u8)>, usize) {
    let (came, groups) = receive_into(RecvBatch::of_groups(100), to, count);
    (came.into_iter().map(|(bytes, tos, ..)| (bytes, tos)).collect(), groups)
}

#[test]
fn groups_are_taken_apart_into_the_datagrams_that_they_were() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if UdpSocket::bind(address.parse().unwrap(), 1 << 16).is_err() {
            continue;
        }
        let ((from, _), (to, there)) = (bind(address), bind(address));
        to.receive_groups().unwrap();
        // Groups: three and a shorter one; two, three and two of other ECN codepoints. Alone: a longer one, one byte, one that is cut.
        let lengths =
            [(90, 8), (90, 8), (90, 8), (40, 8), (99, 8), (99, 9), (99, 9), (99, 11), (99, 11), (99, 11)];
        let mut datagrams: Vec<_> = lengths.map(|(len, tos)| (there, tos, len)).to_vec();
        datagrams.extend([(there, 10, 99), (there, 10, 98), (there, 8, 1), (there, 8, 900)]);
        let (mut batch, bytes) = send_numbered(&from, &datagrams);
        assert!(matches!(batch.send(&from), SendOutcome::All));
        let (came, groups) = receive_groups(&to, datagrams.len());
        let expected: Vec<_> = (0..).map(&bytes).zip(datagrams.iter().map(|&(_, tos, _)| tos)).collect();
        assert_eq!((came, groups), (expected, 4), "{address}");
    }
}

#[test]
fn more_groups_than_a_batch_has_room_for_arrive_in_order() {
    let ((from, _), (to, there)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    to.receive_groups().unwrap();
    for _ in 0..10 {
        let (mut batch, _) = send_numbered(&from, &[(there, 0, 1_000); 32]);
        assert!(matches!(batch.send(&from), SendOutcome::All));
    }
    // Of each datagram, 101 bytes are kept.
    let sent: Vec<_> = (0..320).map(|number| (vec![(number % 32) as u8; 101], 0)).collect();
    assert_eq!(receive_groups(&to, 320), (sent, 10));
}

#[test]
fn an_empty_datagram_is_one() {
    let ((from, _), (to, there)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    to.receive_groups().unwrap();
    let (mut batch, _) = send_numbered(&from, &[(there, 8, 0)]);
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!(receive_groups(&to, 1), (vec![(Vec::new(), 8)], 0));
}

#[test]
fn a_group_that_is_refused_goes_singly_and_only_a_kernel_that_does_not_segment_ends_groups() {
    let ((from, _), (to, there)) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let nobody = "127.0.0.1:0".parse().unwrap();
    let (mut batch, _) =
        send_numbered(&from, &[(nobody, 0, 9), (nobody, 0, 9), (there, 0, 9), (there, 0, 9)]);
    let refused = std::iter::from_fn(|| matches!(batch.send(&from), SendOutcome::Refused).then_some(()));
    assert_eq!(refused.count(), 2, "both that were for nobody");
    assert_eq!((batch.counts().segments, batch.counts().refused), (2, 1));
    assert_eq!(receive(&to, 2).len(), 2);
    // The kernel cuts nothing that leaves without a checksum.
    from.leave_checksums_out();
    let (mut batch, bytes) = send_numbered(&from, &[(there, 0, 9); 5]);
    assert!(matches!(batch.send(&from), SendOutcome::All));
    assert_eq!((batch.counts().segments, batch.counts().refused), (0, 1));
    let came: Vec<_> = receive(&to, 5).into_iter().map(|(bytes, ..)| bytes).collect();
    assert_eq!(came, (0..5).map(bytes).collect::<Vec<_>>());
    // It stays so, whatever is refused later.
    for to in [nobody, there, there] {
        batch.push(&from, (to, 0), |_| Some(9));
    }
    assert!(
        matches!(batch.send(&from), SendOutcome::Refused) && matches!(batch.send(&from), SendOutcome::All)
    );
    assert_eq!((batch.counts().segments, batch.counts().refused), (0, 1));
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
