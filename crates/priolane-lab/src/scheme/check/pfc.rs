//! Whether lossless classes (PFC) fit ports, transmit queues and memory.

use priolane_core::host::Order;

use crate::scheme::buffer::Sharing;
use crate::scheme::fabric::{Fabric, Fault};
use crate::scheme::nic::{Nic, NicQueue};
use crate::scheme::port::{PortKind, WfqClock};
use crate::scheme::{Headroom, Scheme};

/// Lossless classes need ports and transmit queues that can be paused, and a memory that holds their headroom.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let Some(pfc) = &scheme.port.pfc else { return Ok(()) };
    let holds = match scheme.port.kind {
        PortKind::Fifo | PortKind::Strict { .. } => true,
        PortKind::Wfq { clock, .. } => clock == WfqClock::Virtual,
        _ => false,
    };
    if !holds {
        let what = match scheme.port.kind {
            PortKind::Wfq { .. } => {
                "a port with clock = \"aequitas_compat\" cannot hold a class back".to_owned()
            }
            kind => format!("a port of kind {} cannot hold a class back", kind.name()),
        };
        return Err(Fault::new("port.pfc", what, "kind = \"fifo\", \"strict\" or \"wfq\""));
    }
    if matches!((&scheme.nic, &scheme.host), (Nic::Queue { queue: NicQueue::Host, .. }, Order::Srpt(_))) {
        let what = "a transmit queue sorted by bytes left cannot hold a class back".to_owned();
        return Err(Fault::new("nic", what, "nic = \"pull\", or a host row with levels"));
    }
    if let Nic::Port { port, .. } = &scheme.nic
        && (port.buffer.sharing == Sharing::PushOut
            || !matches!(port.kind, PortKind::Fifo | PortKind::Strict { .. } | PortKind::Wfq { .. }))
    {
        let what = "this transmit queue cannot hold a class back".to_owned();
        return Err(Fault::new("nic.port", what, "kind = \"fifo\", \"strict\" or \"wfq\", without push_out"));
    }
    let Sharing::Dynamic(_) = scheme.port.buffer.sharing else {
        let what = "lossless classes share the memory of a switch, and none is stated".to_owned();
        return Err(Fault::new("port.buffer", what, "buffer = { dynamic = \"12MB\", alpha = 1 }"));
    };
    let mut classes = pfc.classes.clone();
    classes.sort_unstable();
    classes.dedup();
    let needed = fabric.headroom(pfc.headroom_least) * classes.len() as u64;
    let too_small = scheme.port.buffer.limit.exceeded(u32::MAX, needed);
    if pfc.headroom == Headroom::Charged && too_small {
        let what =
            format!("the headroom of {} lossless class(es) takes {needed} B of a switch", classes.len());
        return Err(Fault::new(
            "port.buffer",
            what,
            "more memory, fewer classes, or pfc.headroom = \"free\"",
        ));
    }
    Ok(())
}
