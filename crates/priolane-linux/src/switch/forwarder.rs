//! Forwarding: arrivals and departures of a switch, at times that the caller passes.

use std::fmt;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::packet::Header;
use priolane_core::port::{Discipline, Fill, PortFactory, SharedBuffer};
use priolane_core::units::{Rate, Time};
use priolane_core::wire::{EcnCodepoint, IpVersion, RecvMeta};
use priolane_net::{DatagramKind, Dscp, HeaderReader};

use super::counts::{ForwardCounts, PortCounts};
use super::frame::Layout;
use super::frames::Frames;
use super::item::Item;
use super::port::{CATCH_UP, OutPort, Shared};
use crate::network::Node;
use crate::plan::TestbedPlan;

/// The output of a switch.
pub trait Outlet {
    /// Sends a frame at the port with this index.
    fn send(&mut self, port: usize, frame: &[u8]);
}

/// The number of bits of a flow's number that the sender chooses. The remaining bits identify the sender.
const FLOW_BITS: u32 = 26;

/// A switch without clock and sockets. Ports are in the order of the cables of the switch.
pub struct Forwarder {
    ports: Vec<OutPort>,
    /// The cable of each port, and the end of the cable at which the switch is.
    places: Vec<(usize, usize)>,
    /// The index of the port towards each host.
    routes: Vec<usize>,
    memory: Option<SharedBuffer>,
    shared: Shared,
    /// The time until which all work is done.
    done: Time,
}

impl fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarder")
            .field("places", &self.places)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Forwarder {
    /// Creates switch `switch` of a plan.
    ///
    /// # Errors
    /// Returns a text that says why the switch cannot be created.
    pub fn new(plan: &TestbedPlan, switch: u16) -> Result<Self, String> {
        let of = plan.user_ports().filter(|(node, ..)| *node == Node::Switch(switch));
        let (mut ports, mut places, mut memory) = (Vec::new(), Vec::new(), None);
        for (_, cable, end, port) in of {
            let rate = Rate::from_bps(plan.network.cables[cable].rate_bps).ok_or("a cable without a rate")?;
            let discipline = port.discipline()?.build(&port.context(rate));
            let (to, from) = (TestbedPlan::hardware(cable, 1 - end), TestbedPlan::hardware(cable, end));
            let mut hardware = [0; 12];
            hardware[..6].copy_from_slice(&to);
            hardware[6..].copy_from_slice(&from);
            ports.push(OutPort::new(discipline, rate, hardware));
            places.push((cable, end));
            memory = memory.or(port.shared_buffer());
        }
        if ports.is_empty() {
            return Err(format!("switch {switch} has no port in user space"));
        }
        let routes = plan.network.routes();
        let cables = routes.get(usize::from(switch)).ok_or("no route")?;
        let place = |cable: &usize| places.iter().position(|(of, _)| of == cable);
        let routes = cables.iter().map(place).collect::<Option<_>>().ok_or("a route over no cable")?;
        let reader = HeaderReader::new(plan.mtu, IpVersion::V4).map_err(|error| error.to_string())?;
        let shared = Shared { frames: Frames::default(), reader, counts: ForwardCounts::default() };
        Ok(Self { ports, places, routes, memory, shared, done: Time::ZERO })
    }

    /// Returns the cable of each port, in their order.
    pub fn cables(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|&(cable, _)| cable)
    }

    /// Returns the time of the next event if no frame arrives.
    pub fn next(&self) -> Time {
        self.ports.iter().map(OutPort::next).min().unwrap_or(Time::NEVER)
    }

    /// Returns whether a packet is being sent.
    pub fn is_sending(&self) -> bool {
        self.ports.iter().any(OutPort::is_sending)
    }

    /// Records that the process is awake at `now`. A delay beyond [`CATCH_UP`] is not made up for.
    pub fn wake(&mut self, now: Time) {
        let floor = Time(now.0.saturating_sub(CATCH_UP.0));
        let Self { ports, shared, .. } = self;
        ports.iter_mut().for_each(|port| port.give_up_before(floor, &mut shared.counts));
        self.done = self.done.max(floor);
    }

    /// Handles all events until `to`, inclusive.
    pub fn advance(&mut self, to: Time, out: &mut dyn Outlet) {
        for (place, port) in self.ports.iter_mut().enumerate() {
            port.serve(to, &mut self.shared, &mut |frame| out.send(place, frame));
        }
        self.done = self.done.max(to);
    }

    /// Handles a frame that arrives at `at`. Frames must be passed in order of their arrival.
    pub fn arrive(&mut self, at: Time, frame: &[u8], out: &mut dyn Outlet) {
        let at = at.max(self.done);
        self.advance(at, out);
        if let Some((place, item)) = self.read(at, frame) {
            self.enqueue(place, at, &item);
            // What finds the line free starts now.
            self.ports[place].serve(at, &mut self.shared, &mut |frame| out.send(place, frame));
            self.ports[place].grew(&item.header);
        }
    }

    fn enqueue(&mut self, place: usize, at: Time, item: &Item) {
        if !self.has_room(place, &item.header) {
            return self.ports[place].refuse(item, &mut self.shared);
        }
        let Some(back) = self.ports[place].offer(at, item, &mut self.shared) else { return };
        match self.routes.get(usize::from(back.header.dst.0)) {
            // A packet that was returned before is dropped.
            Some(&place) => drop(self.ports[place].offer(at, &back, &mut self.shared)),
            None => self.shared.frames.release(back.slot),
        }
    }

    /// Returns whether the buffer that all ports share has room for a packet in its queue.
    fn has_room(&self, place: usize, header: &Header) -> bool {
        self.memory.is_none_or(|memory| {
            let used = self.ports.iter().map(|port| port.discipline.bytes()).sum();
            let queue = self.ports[place].discipline.bytes_before(header);
            memory.admits(Fill { used, queue }, header.wire)
        })
    }

    /// Returns the port of a frame and the entry for its queue, or `None` if the frame is dropped.
    fn read(&mut self, at: Time, frame: &[u8]) -> Option<(usize, Item)> {
        let counts = &mut self.shared.counts;
        let layout = Layout::of(frame);
        let route = layout.and_then(|layout| {
            let (src, dst) = (TestbedPlan::host_of(layout.src), TestbedPlan::host_of(layout.dst)?);
            Some((layout, src, dst, *self.routes.get(usize::from(dst))?))
        });
        let Some((layout, src, dst, place)) = route else {
            counts.unroutable += 1;
            return None;
        };
        let meta = RecvMeta {
            src: HostId(src.unwrap_or(u16::MAX)),
            dst: HostId(dst),
            class: Dscp::DEFAULT.class(layout.tos),
            ecn: EcnCodepoint::from_bits(layout.tos),
            at,
        };
        let bytes = layout.datagram(frame).and_then(|range| frame.get(range)).filter(|_| src.is_some());
        let header =
            match bytes.map(|bytes| (DatagramKind::of(bytes), self.shared.reader.header(bytes, &meta))) {
                Some((DatagramKind::Sealed, _)) => {
                    counts.sealed += 1;
                    return None;
                }
                Some((_, Some(header))) => Some(header),
                Some((DatagramKind::Packet, None)) => {
                    counts.malformed += 1;
                    None
                }
                _ => {
                    counts.foreign += 1;
                    None
                }
            };
        let marks = header.map(|header| header.marks);
        let header = header.unwrap_or_else(|| self.shared.reader.foreign(layout.network as u16, &meta));
        // Numbers of flows are their senders' own.
        let own = header.flow.0 & ((1 << FLOW_BITS) - 1);
        let header = Header { flow: FlowId(u32::from(header.src.0) << FLOW_BITS | own), ..header };
        // Without the padding of a short frame.
        let whole = frame.get(..super::frame::ETHERNET + layout.network)?;
        let Some(slot) = self.shared.frames.keep(whole, meta, marks) else {
            self.shared.counts.no_room += 1;
            return None;
        };
        layout.finish_checksum(&mut self.shared.frames.get_mut(slot).bytes);
        Some((place, Item { header, slot, at }))
    }

    /// Returns the counters that do not belong to a port, including those of the sockets.
    pub fn counts(&self) -> ForwardCounts {
        self.shared.counts
    }

    /// Returns the counters of the ports.
    pub fn port_counts(&self) -> Vec<PortCounts> {
        let count = |(port, &(cable, end)): (&OutPort, &(usize, usize))| PortCounts {
            cable,
            end,
            classes: port.classes,
            longest_queue: port.longest,
        };
        self.ports.iter().zip(&self.places).map(count).collect()
    }

    /// Returns the number of frames that are stored, waiting or being sent.
    pub fn frames(&self) -> usize {
        self.shared.frames.count()
    }
}
