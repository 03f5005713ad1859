//! The token discipline of the switch ports as a transmit queue.

use super::{HostNic, OtherRows, TransmitQueue};
use crate::keys::Keys;
use crate::part::Part;
use crate::port::{Buffer, DisciplineSpec, SortBy, TokenGroupSpec, UnscheduledData};

/// Parameters of the NIC `tokens`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "tokens",
    notation = Name,
    summary = "the token discipline of the switch ports as a transmit queue",
    source = "ExpressPass (SIGCOMM 2017) §3.1; docs/assumptions.md#token-nic",
    requires = [TokenPorts],
    provides = [TransmitQueue, TokenQueue],
    deploy = [KernelModule]
)]
pub struct Config;

impl HostNic for Config {
    /// Hosts rank tokens themselves, and do not drop their own packets before transmission.
    fn transmit_queue(&self, rows: &OtherRows<'_>) -> Option<TransmitQueue> {
        let discipline = match (rows.ports)(rows.buffer) {
            DisciplineSpec::Tokens(spec) => {
                let unscheduled = spec.unscheduled.map(|own| UnscheduledData { room: None, ..own });
                TokenGroupSpec { detour: None, unscheduled, ..spec }.into()
            }
            other => other,
        };
        Some(TransmitQueue { discipline, buffer: Buffer::UNLIMITED, sort_by: SortBy::Class })
    }
}
