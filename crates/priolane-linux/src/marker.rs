//! The BPF program that marks packets, compiled from `bpf/mark.bpf.c`, with the threshold of a port written into it.

use std::fmt;

use priolane_core::ids::CLASSES;
use priolane_net::Dscp;

use crate::port::{Amount, Backlog, FIRST_MINOR, Mark, Port};

/// The compiled program, which `make -C bpf` rebuilds.
const OBJECT: &[u8] = include_bytes!("../bpf/mark.bpf.o");
/// The number that begins the configuration of the program, and that occurs once in the object.
const MAGIC: u64 = 0x6b72_616d_6e6c_7270;
/// The number of DSCPs.
const DSCPS: usize = 64;

/// The input of a marking program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    mark: Mark,
    mtu: u16,
    /// The minor number of the HTB class of each DSCP.
    minor: [u8; DSCPS],
}

impl Marker {
    /// Creates the input for the port `port` with the marking `mark`, for packets of at most `mtu` bytes.
    pub fn new(port: &Port, mark: Mark, mtu: u16) -> Self {
        // Control messages and what is not of priolane join the first queue.
        let mut minor = [FIRST_MINOR; DSCPS];
        for class in 0..CLASSES {
            minor[usize::from(Dscp::DEFAULT.of(class as u8))] = FIRST_MINOR + port.of_class[class];
        }
        Self { mark, mtu, minor }
    }

    /// Returns the object to load, or `None` if the compiled program has another configuration.
    pub fn object(&self) -> Option<Vec<u8>> {
        let magic = MAGIC.to_le_bytes();
        let mut places = OBJECT.windows(magic.len()).enumerate().filter(|(_, bytes)| *bytes == magic);
        let (place, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        let (above, bytes) = match self.mark.above {
            Amount::Packets(packets) => (u64::from(packets), 0u32),
            bytes @ Amount::Bytes(_) => (bytes.linux_bytes(self.mtu), 1),
        };
        let per_queue = u32::from(self.mark.per == Backlog::Queue);
        let config =
            [&above.to_le_bytes()[..], &bytes.to_le_bytes(), &per_queue.to_le_bytes(), &self.minor].concat();
        let mut object = OBJECT.to_vec();
        let start = place + magic.len();
        object.get_mut(start..start + config.len())?.copy_from_slice(&config);
        Some(object)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = match self.mark.above {
            Amount::Packets(packets) => format!("{packets} packets"),
            Amount::Bytes(bytes) => format!("{bytes} bytes"),
        };
        let per = if self.mark.per == Backlog::Queue { "a queue" } else { "the port" };
        write!(f, "marks above {amount} of {per}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_and_the_class_of_each_dscp_are_written_into_the_program() {
        let mut of_class = [1; CLASSES];
        of_class[0] = 0;
        let port = Port { queues: 2, of_class, ..Port::fifo() };
        let mark = |above, per| Marker::new(&port, Mark { above, per }, 1_500).object().unwrap();
        let (packets, bytes) =
            (mark(Amount::Packets(10), Backlog::Queue), mark(Amount::Bytes(153_800), Backlog::Port));
        assert_eq!((packets.len(), bytes.len()), (OBJECT.len(), OBJECT.len()));
        let place = packets.windows(8).position(|bytes| bytes == MAGIC.to_le_bytes()).unwrap() + 8;
        let config = |object: &[u8]| {
            let number = |at: usize| u64::from_le_bytes(object[at..at + 8].try_into().unwrap());
            (number(place), number(place + 8))
        };
        // Packets, of one queue; then bytes as Linux counts them, of the port.
        assert_eq!((config(&packets), config(&bytes)), ((10, 1 << 32), (151_400, 1)));
        // DSCP 60 is class 0, 56 class 1, 1 none.
        assert_eq!([60, 56, 1].map(|dscp| packets[place + 16 + dscp]), [0x10, 0x11, 0x10]);
    }
}
