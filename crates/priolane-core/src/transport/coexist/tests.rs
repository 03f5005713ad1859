mod calls;

use super::*;
use crate::assign::DemotionThresholds;
use crate::host::SchedulerKind;
use crate::packet::Frame;
use crate::transport::{Controller, Transport, cubic, dctcp, homa, hpcc};

fn on_window(controller: Controller) -> Transport {
    let window = window::Config { class: DemotionThresholds::FLAT, ..window::Config::new(Frame::ETHERNET) };
    Transport::Window { window, controller, scheduler: SchedulerKind::RoundRobin }
}

fn dctcp() -> Transport {
    on_window(Controller::Dctcp(dctcp::Config::default()))
}

#[test]
fn transports_whose_packets_others_cannot_read_run_alone() {
    let cubic = || on_window(Controller::Cubic(cubic::Config::default()));
    let refused =
        |transports: Vec<Transport>, of_group: &[u8]| TransportsByGroup::new(transports, of_group).err();
    assert_eq!(refused(vec![dctcp(), cubic()], &[0, 1]), None);
    assert_eq!(refused(vec![dctcp(); 4], &[3]), None);
    assert_eq!(refused(vec![dctcp(); 5], &[]), Some(CoexistenceError::TooMany));
    assert_eq!(refused(Vec::new(), &[]), Some(CoexistenceError::TooMany));
    assert_eq!(refused(vec![dctcp(), cubic()], &[0, 2]), Some(CoexistenceError::NoTransport(1)));
    let homa = Transport::Homa(homa::Config::new(Frame::ETHERNET));
    assert_eq!(refused(vec![dctcp(), homa], &[0, 1]), Some(CoexistenceError::OtherPackets(1)));
    let hpcc = on_window(Controller::Hpcc(hpcc::Config::default()));
    assert_eq!(refused(vec![hpcc, dctcp()], &[0, 1]), Some(CoexistenceError::OtherPackets(0)));
}

#[test]
fn the_number_of_a_transport_changes_no_flag_and_no_flag_changes_it() {
    for bits in 0..=63 {
        let marks = Marks::from_bits(bits).unwrap();
        for number in 0..Marks::TRANSPORTS as u8 {
            let numbered = marks.of_transport(number);
            assert_eq!(numbered.transport(), number);
            assert_eq!(numbered.of_transport(0), marks);
            assert_eq!(numbered.with(Marks::CONGESTED).transport(), number);
            assert_eq!(numbered.has(Marks::ECHO), marks.has(Marks::ECHO));
        }
    }
}

#[test]
fn names_of_queued_packets_have_the_number_of_their_transport() {
    let id = |bits: u64| SendId(NonZeroU64::new(bits).unwrap());
    let sent = |number| numbered(Tx::Send { packet: Packet::<Segment>::default(), id: Some(id(77)) }, number);
    for number in 0..Marks::TRANSPORTS {
        let Tx::Send { packet, id: Some(SendId(bits)) } = sent(number) else { panic!("{number}") };
        assert_eq!(usize::from(packet.header.marks.transport()), number);
        assert_eq!((bits.get() >> SEND_ID_SHIFT) as usize, number);
        assert_eq!(bits.get() & !(u64::MAX << SEND_ID_SHIFT), 77);
    }
}
