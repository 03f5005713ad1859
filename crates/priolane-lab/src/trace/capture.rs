//! Captures the flow's packets at one point of the network and writes them to a pcap file.
//!
//! The point is the near end of a link, as in a capture on the host or switch that it leaves. Outgoing packets are
//! recorded when their first bit is sent, even if the link loses them; packets of the reverse link when their last bit
//! has arrived.
//!
//! ```text
//! file    a1b23c4d  version 2.4  0  0  snaplen  linktype 1 (Ethernet)       24 bytes
//! packet  seconds  nanoseconds  bytes kept  bytes on the link               16 bytes, then the bytes kept
//! ```
//!
//! This is the classic pcap format with nanosecond resolution (draft-ietf-opsawg-pcap §4, §5), little-endian.

use std::io::{self, Write};

use priolane_core::ids::LinkId;
use priolane_core::units::Time;
use priolane_sim::scenario::Scenario;
use priolane_sim::trace::{Hop, Trace};

use super::frame::{self, OnLink};

/// Bytes captured of a frame: all headers fit.
pub(super) const SNAPLEN: usize = 96;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;

const ETHERNET: u32 = 1;

const PS_PER_NS: u64 = 1_000;

const NS_PER_S: u64 = 1_000_000_000;

/// A captured packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CapturedPacket {
    /// Timestamp.
    pub(super) at: Time,
    /// Its first bytes.
    pub(super) bytes: Vec<u8>,
    /// Original length in bytes.
    pub(super) length: usize,
}

/// Returns the packets that pass the near end of `at`, in order of time.
pub(super) fn find_captured(scenario: &Scenario, trace: &Trace, at: LinkId) -> Vec<CapturedPacket> {
    let back = scenario.topology.reverse(at);
    let mut taken = vec![0u8; trace.packets.len()];
    let mut passed: Vec<(Time, CapturedPacket)> = Vec::new();
    for hop in &trace.hops {
        let hops = &mut taken[hop.packet as usize];
        let seen = match hop.link {
            link if link == at => hop.fate.service().map(|service| service.start),
            link if link == back => hop.fate.arrived(),
            _ => None,
        };
        if let Some(time) = seen {
            passed.push((time, keep(scenario, trace, hop, *hops, time)));
        }
        *hops = hops.saturating_add(1);
    }
    passed.sort_by_key(|&(time, _)| time);
    passed.into_iter().map(|(_, captured)| captured).collect()
}

fn keep(scenario: &Scenario, trace: &Trace, hop: &Hop, hops: u8, at: Time) -> CapturedPacket {
    let packet = &trace.packets[hop.packet as usize];
    let flow = scenario.flows.at(packet.header.flow.index());
    let on_link = OnLink { flow: &flow, packet, number: hop.packet, marks: hop.marks, hops };
    let mut bytes = frame::bytes(&on_link, &scenario.frame);
    let length = bytes.len();
    bytes.truncate(SNAPLEN);
    CapturedPacket { at, bytes, length }
}

/// Writes a pcap file with the packets `find_captured`.
pub(super) fn write(captured: &[CapturedPacket], out: &mut impl Write) -> io::Result<()> {
    out.write_all(&MAGIC_NANOSECONDS.to_le_bytes())?;
    out.write_all(&[2, 0, 4, 0])?;
    out.write_all(&[0; 8])?;
    out.write_all(&(SNAPLEN as u32).to_le_bytes())?;
    out.write_all(&ETHERNET.to_le_bytes())?;
    for CapturedPacket { at, bytes, length } in captured {
        let ns = at.0 / PS_PER_NS;
        for word in [ns / NS_PER_S, ns % NS_PER_S, bytes.len() as u64, *length as u64] {
            let word = u32::try_from(word).map_err(io::Error::other)?;
            out.write_all(&word.to_le_bytes())?;
        }
        out.write_all(bytes)?;
    }
    Ok(())
}
