//! Checks that lossless classes (PFC) are compatible with ports, transmit queues and buffer memory.

use priolane_core::host::Order;
use priolane_core::nic::Nic;
use priolane_core::part::{Capability, Row};
use priolane_core::port::pfc::HeadroomFrom;
use priolane_core::port::{BufferSpec, PortKind, WfqClock};
use priolane_core::scheme::find;

use crate::scheme::Scheme;
use crate::scheme::fabric::{Fabric, Fault};

/// Checks that ports and transmit queues can pause single classes, and that the memory holds their headroom.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let Some(pfc) = &scheme.port.pfc else { return Ok(()) };
    let name = scheme.port.kind.name();
    let refused = match &scheme.port.kind {
        PortKind::Wfq(keys) if keys.clock == WfqClock::AequitasCompat => {
            Some("a port with clock = \"aequitas_compat\" cannot pause a class".to_owned())
        }
        kind => (!is_pausable(kind)).then(|| format!("a port of kind {name} cannot pause a class")),
    };
    if let Some(what) = refused {
        return Err(Fault::new("port.pfc", what, "kind = \"fifo\", \"strict\" or \"wfq\""));
    }
    if matches!((&scheme.nic, &scheme.host), (Nic::Host(_), Order::Srpt(_))) {
        let what = "a transmit queue sorted by remaining bytes cannot pause a class".to_owned();
        return Err(Fault::new("nic", what, "nic = \"pull\", or a host row with levels"));
    }
    if let Some(port) = scheme.nic.part().port()
        && (matches!(port.keys.buffer, BufferSpec::PushOut { .. }) || !is_pausable(&port.keys.kind))
    {
        let what = "this transmit queue cannot pause a class".to_owned();
        return Err(Fault::new("nic.port", what, "kind = \"fifo\", \"strict\" or \"wfq\", without push_out"));
    }
    let Some(memory) = scheme.port.buffer.memory() else {
        let what = "lossless classes share the memory of a switch, but no memory is set".to_owned();
        return Err(Fault::new("port.buffer", what, "buffer = { dynamic = \"12MB\", alpha = 1 }"));
    };
    let spec = pfc.spec(memory);
    let classes = spec.lossless.iter().count();
    let needed = fabric.headroom(&spec) * classes as u64;
    let too_small = needed > memory.size;
    if pfc.headroom == HeadroomFrom::Memory && too_small {
        let what = format!("the headroom of {classes} lossless classes needs {needed} B of a switch");
        return Err(Fault::new(
            "port.buffer",
            what,
            "more memory, fewer classes, or pfc.headroom = \"free\"",
        ));
    }
    Ok(())
}

/// Whether ports of this kind can pause single classes.
fn is_pausable(kind: &PortKind) -> bool {
    let entry = find(Row::Port, kind.name());
    entry.is_some_and(|entry| entry.provides.iter().any(|p| p.capability == Capability::ClassPause))
}
