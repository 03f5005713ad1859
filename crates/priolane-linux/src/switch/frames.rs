//! The frames of packets that wait.

use priolane_core::packet::Marks;
use priolane_core::wire::RecvMeta;

/// Frames at most: what a switch with unlimited ports keeps.
const MOST: usize = 1 << 16;

/// The frame of a packet, and what was read of it when it came.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    pub(super) meta: RecvMeta,
    /// The marks that it came with; `None` for what is not of priolane.
    pub(super) marks: Option<Marks>,
}

/// Frames by their slots.
#[derive(Debug, Default)]
pub(super) struct Frames {
    all: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    /// Keeps a frame; `None` if there is no room.
    pub(super) fn keep(&mut self, bytes: &[u8], meta: RecvMeta, marks: Option<Marks>) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            let frame = &mut self.all[slot as usize];
            frame.bytes.clear();
            frame.bytes.extend_from_slice(bytes);
            (frame.meta, frame.marks) = (meta, marks);
            return Some(slot);
        }
        if self.all.len() >= MOST {
            return None;
        }
        self.all.push(Frame { bytes: bytes.to_vec(), meta, marks });
        Some(self.all.len() as u32 - 1)
    }

    /// The frame of a slot in use.
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Frame {
        &mut self.all[slot as usize]
    }

    /// The slot is not in use any more.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Frames that are kept.
    pub(super) fn count(&self) -> usize {
        self.all.len() - self.free.len()
    }
}
