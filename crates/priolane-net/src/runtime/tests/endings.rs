//! Tests of the end of the thread, and of its next steps.

use super::*;
use crate::error::{RecvError, SendError};

#[test]
fn a_thread_that_ends_fails_what_is_under_way_waits_or_was_just_asked() {
    let mut driver = driver(config());
    let (peer, _) = Peer::known_to(&mut driver);
    driver.setup.limits.flows = 1;
    let receipts = [0, 1].map(|id| send(&mut driver, id, Request::to(peer.address), b"x"));
    let asked = Arc::new(Pending::default());
    let (content, receipt) = (Content::Whole(b"z"[..].into()), Some(Arc::clone(&asked)));
    let late = Outgoing { id: MessageId(2), request: Request::to(peer.address), content, receipt };
    driver.shared.reserve(1, (u64::MAX, usize::MAX)).unwrap();
    driver.shared.order(Order::Send(late));
    let shared = Arc::clone(&driver.shared);
    drop(driver);
    for receipt in receipts.iter().chain([&asked]) {
        assert_eq!(outcome(receipt), Some(Err(SendError::Closed(RecvError::Dropped))));
    }
    assert!(shared.is_flushed());
    assert_eq!(shared.closed(), Some(RecvError::Dropped));
}

#[test]
fn a_timer_is_served_once_it_is_due_and_not_before() {
    let mut driver = driver(config());
    let soon = driver.now() + Span::from_ms(3_600_000);
    driver.endpoint.timeout = Some(soon);
    for (now, served) in [(Time(soon.0 - 1), 0), (soon, 1)] {
        driver.given = now;
        driver.serve_timer();
        assert_eq!(driver.endpoint.timers.len(), served);
    }
    driver.serve_timer();
    assert_eq!(driver.endpoint.timers, [soon]);
}
